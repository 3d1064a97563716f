/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Signals that ask a command to end, or to do something. */
#ifndef KVERBS_TOOL_SIGNALS_H
#define KVERBS_TOOL_SIGNALS_H

#include <signal.h>

/**
 * struct signals - what SIGINT and SIGTERM did before signals_catch()
 * @action: their actions
 * @count: their counters
 */
struct signals {
	struct sigaction action[2];
	int *count[2];
};

/* Install @handler without SA_RESTART, so that @sig ends a wait. */
void signals_handle(int sig, void (*handler)(int sig));
/* Increment @count, atomically, for each @sig. */
void signals_count(int sig, int *count);
/* Count SIGINT and SIGTERM in @count until signals_restore(). */
void signals_catch(struct signals *old, int *count);
void signals_restore(const struct signals *old);

static inline int signals_seen(const int *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

#endif /* KVERBS_TOOL_SIGNALS_H */
