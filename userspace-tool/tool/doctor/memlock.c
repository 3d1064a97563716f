// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: how much memory this user may register.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "doctor/host.h"

#define CAP_IPC_LOCK 14
/* Locked memory that cp needs, and that lets most programs run at full speed. */
#define LEAST (4ull << 20)
#define PLENTY (64ull << 20)

/* CAP_IPC_LOCK knows no limit. */
static bool is_exempt(const struct doctor *d)
{
	char status[4096];
	const char *caps;

	doctor_read(d->root, status, sizeof(status), "/proc/self/status");
	caps = strstr(status, "CapEff:");
	return caps && strtoull(caps + strlen("CapEff:"), NULL, 16) >> CAP_IPC_LOCK & 1;
}

static uint64_t limit_of(const char *word)
{
	return *word == 'u' ? UINT64_MAX : strtoull(word, NULL, 10);
}

/* "Max locked memory    8388608    8388608    bytes" */
static int read_limits(const struct doctor *d, uint64_t *soft, uint64_t *hard)
{
	char limits[4096], one[32], other[32];
	const char *line;

	doctor_read(d->root, limits, sizeof(limits), "/proc/self/limits");
	line = strstr(limits, "Max locked memory");
	if (!line || sscanf(line, "Max locked memory %31s %31s", one, other) != 2)
		return -1;
	*soft = limit_of(one);
	*hard = limit_of(other);
	return 0;
}

/* For this shell at once, as far as its user may; and for good. */
static void mend(struct finding *f, uint64_t hard)
{
	if (hard == UINT64_MAX)
		finding_mend(f, "ulimit -l unlimited");
	else if (hard >= LEAST)
		finding_mend(f, "ulimit -l %" PRIu64, hard >> 10);
	else
		finding_mend(f, "prlimit --pid %d --memlock=unlimited", (int)getppid());
	finding_advise(f, "LimitMEMLOCK= sets it for a service, /etc/security/limits.d ");
	finding_advise(f, "for logins, and this command for this shell%s:",
		       hard < LEAST ? ", as root" : "");
}

void doctor_memlock(struct doctor *d, struct finding *f)
{
	uint64_t soft, hard;

	if (is_exempt(d)) {
		finding_ok(f, "this user has no limit of locked memory");
		return;
	}
	if (read_limits(d, &soft, &hard)) {
		finding_skip(f, "/proc/self/limits does not show it");
		return;
	}
	if (soft == UINT64_MAX)
		finding_ok(f, "all memory may be locked");
	else if (soft >= PLENTY)
		finding_ok(f, "%" PRIu64 " MiB may be locked", soft >> 20);
	else if (soft >= LEAST)
		finding_ok(f, "%" PRIu64 " MiB may be locked, enough for kverbs itself",
			   soft >> 20);
	else
		finding_fail(f, "only %" PRIu64 " KiB may be locked; kverbs cp needs 4096",
			     soft >> 10);
	if (f->verdict == FINDING_FAIL)
		mend(f, hard);
}
