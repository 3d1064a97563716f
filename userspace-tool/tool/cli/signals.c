// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stddef.h>

#include "cli/signals.h"
#include "cli/util.h"

static const int ends[] = { SIGINT, SIGTERM };

/* Read by count_signal(), which may interrupt any thread. */
static int *counts[NSIG];

static void count_signal(int sig)
{
	int *count = __atomic_load_n(&counts[sig], __ATOMIC_RELAXED);

	if (count)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

void signals_handle(int sig, void (*handler)(int sig))
{
	struct sigaction sa = { .sa_handler = handler };

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void signals_count(int sig, int *count)
{
	__atomic_store_n(&counts[sig], count, __ATOMIC_RELAXED);
	signals_handle(sig, count_signal);
}

void signals_catch(struct signals *old, int *count)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		old->count[i] = counts[ends[i]];
		sigaction(ends[i], NULL, &old->action[i]);
		signals_count(ends[i], count);
	}
}

void signals_restore(const struct signals *old)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], &old->action[i], NULL);
		__atomic_store_n(&counts[ends[i]], old->count[i], __ATOMIC_RELAXED);
	}
}
