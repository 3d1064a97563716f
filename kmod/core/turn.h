/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TURN_H
#define KVERBS_TURN_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>

/**
 * struct kverbs_turn_waiter - waits for a turn without a thread
 * @entry: in the list of the turn, or in none; under the lock of turn.c
 * @ready: called once, when the turn is over and the owner should try again. It runs under the
 *	lock of turn.c, so it neither sleeps nor calls a function of turn.c.
 */
struct kverbs_turn_waiter {
	struct list_head entry;
	void (*ready)(struct kverbs_turn_waiter *waiter);
};

/**
 * struct kverbs_turn_sleeper - a waiter that is a task
 * @waiter: the waiter
 * @done: the turn is over
 */
struct kverbs_turn_sleeper {
	struct kverbs_turn_waiter waiter;
	struct completion done;
};

/**
 * struct kverbs_turn - a mutex that is held for long
 * @lock: the mutex
 * @waiters: struct kverbs_turn_waiter; under the lock of turn.c
 *
 * Many work items may want it at a time, and a worker each would be too many. So a work item
 * that finds it locked leaves a waiter, and is queued again by that. A task that waits can be
 * killed and frozen, which it cannot in mutex_lock_killable(). All waiters are told at a time,
 * since one that is frozen would not pass it on.
 *
 * A waiter is in the list only while a task has the lock, or has released it and is about to
 * empty the list. That task keeps the turn until kverbs_turn_unlock() has returned, so a waiter
 * needs no reference to it. The owner of a waiter calls kverbs_turn_cancel() before it goes.
 */
struct kverbs_turn {
	struct mutex lock;
	struct list_head waiters;
};

#define kverbs_turn_init(turn)						\
do {									\
	mutex_init(&(turn)->lock);					\
	INIT_LIST_HEAD(&(turn)->waiters);				\
} while (0)

static inline void kverbs_turn_waiter_init(struct kverbs_turn_waiter *waiter,
					   void (*ready)(struct kverbs_turn_waiter *waiter))
{
	INIT_LIST_HEAD(&waiter->entry);
	waiter->ready = ready;
}

void kverbs_turn_lock(struct kverbs_turn *turn);
int kverbs_turn_lock_killable(struct kverbs_turn *turn);
bool kverbs_turn_trylock(struct kverbs_turn *turn, struct kverbs_turn_waiter *waiter);
void kverbs_turn_unlock(struct kverbs_turn *turn);
void kverbs_turn_cancel(struct kverbs_turn_waiter *waiter);

void kverbs_turn_sleeper_init(struct kverbs_turn_sleeper *sleeper);
int kverbs_turn_sleep(struct kverbs_turn_sleeper *sleeper);

#endif /* KVERBS_TURN_H */
