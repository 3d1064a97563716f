// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* After each test no object is left on the adapter, and no memory is mapped for it. */
#include <string.h>
#include <time.h>

#include "adapter.h"
#include "resources.h"

static char baseline[512];

static bool nothing_is_left(void)
{
	char now[sizeof(baseline)];

	resources_count(now, sizeof(now));
	return !strcmp(now, baseline) && !adapter_mappings();
}

/* The CM frees the ids of the other side asynchronously, and no event tells of it. */
static void check(const void *round)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + test_patience_ms();
	char now[sizeof(baseline)];

	(void)round;
	while (!nothing_is_left()) {
		if (test_now_ms() > end) {
			resources_count(now, sizeof(now));
			FAIL("left: %s, not %s, and %zu mappings", now, baseline,
			     adapter_mappings());
		}
		nanosleep(&soon, NULL);
	}
}

TEST_GROUP(left)
{
	resources_count(baseline, sizeof(baseline));
	test_after_each(check);
}
