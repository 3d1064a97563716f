/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Threads that sleep until another one wakes them. */
#ifndef E2E_WAITER_H
#define E2E_WAITER_H

#include <pthread.h>

/**
 * struct waiter - a thread that waits
 * @thread: the thread
 * @tid: its id, 0 until it runs
 * @ret: what @wait has returned, once the thread has been joined
 * @wait: how it waits
 */
struct waiter {
	pthread_t thread;
	int tid;
	int ret;
	int (*wait)(void);
};

/* Returns when the thread sleeps. */
void waiter_start(struct waiter *waiter, int (*wait)(void));
/* How often the thread has gone to sleep. */
long waiter_sleeps(const struct waiter *waiter);
/* Returns when the thread has ended. */
int waiter_join(struct waiter *waiter);

#endif
