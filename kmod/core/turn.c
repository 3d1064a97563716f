// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Mutexes for which work items wait without a worker. */
#include <linux/spinlock.h>

#include "turn.h"
#include "wait.h"

/*
 * Guards the waiters of all turns, of which there are few at a time. A waiter can thus be
 * cancelled by its owner, which does not know whether its turn still exists.
 */
static DEFINE_SPINLOCK(waiters_lock);

/**
 * kverbs_turn_lock() - lock a turn, however long that takes
 * @turn: the turn
 *
 * Context: process, may sleep.
 */
void kverbs_turn_lock(struct kverbs_turn *turn)
{
	mutex_lock(&turn->lock);
}

/**
 * kverbs_turn_trylock() - lock a turn unless another task has it
 * @turn: the turn
 * @waiter: told when that task has released it; or NULL. If it still waits for another turn, it
 *	waits for this one from now on.
 *
 * Context: process.
 * Return: true if the turn is locked. Else @waiter is called, unless it is cancelled.
 */
bool kverbs_turn_trylock(struct kverbs_turn *turn, struct kverbs_turn_waiter *waiter)
{
	if (mutex_trylock(&turn->lock))
		return true;
	if (!waiter)
		return false;
	spin_lock(&waiters_lock);
	list_move_tail(&waiter->entry, &turn->waiters);
	spin_unlock(&waiters_lock);
	/* The task may have emptied the list before the waiter was in it. */
	if (!mutex_trylock(&turn->lock))
		return false;
	kverbs_turn_cancel(waiter);
	return true;
}

/**
 * kverbs_turn_unlock() - release a turn, and tell all waiters
 * @turn: the turn
 *
 * Context: process.
 */
void kverbs_turn_unlock(struct kverbs_turn *turn)
{
	struct kverbs_turn_waiter *waiter, *next;

	mutex_unlock(&turn->lock);
	spin_lock(&waiters_lock);
	list_for_each_entry_safe(waiter, next, &turn->waiters, entry) {
		list_del_init(&waiter->entry);
		waiter->ready(waiter);
	}
	spin_unlock(&waiters_lock);
}

/**
 * kverbs_turn_cancel() - let a waiter wait no longer
 * @waiter: the waiter, whether it waits or not; its turn may be gone if it does not
 *
 * After this @ready neither is called nor runs.
 *
 * Context: process.
 */
void kverbs_turn_cancel(struct kverbs_turn_waiter *waiter)
{
	spin_lock(&waiters_lock);
	list_del_init(&waiter->entry);
	spin_unlock(&waiters_lock);
}

static void wake(struct kverbs_turn_waiter *waiter)
{
	complete(&container_of(waiter, struct kverbs_turn_sleeper, waiter)->done);
}

/**
 * kverbs_turn_sleeper_init() - prepare the current task to wait for a turn
 * @sleeper: on the stack
 *
 * kverbs_turn_sleep() is due once its waiter was left.
 */
void kverbs_turn_sleeper_init(struct kverbs_turn_sleeper *sleeper)
{
	kverbs_turn_waiter_init(&sleeper->waiter, wake);
	init_completion(&sleeper->done);
}

/**
 * kverbs_turn_sleep() - wait until a turn is over
 * @sleeper: waits since kverbs_turn_trylock(), and can be left again afterwards
 *
 * Context: process; sleeps, can be killed, and does not keep the host from suspend.
 * Return: 0 or -EINTR; the waiter does not wait any more.
 */
int kverbs_turn_sleep(struct kverbs_turn_sleeper *sleeper)
{
	long left = kverbs_wait_for_completion(&sleeper->done, MAX_SCHEDULE_TIMEOUT);

	if (left < 0)
		kverbs_turn_cancel(&sleeper->waiter);
	return left < 0 ? -EINTR : 0;
}

/**
 * kverbs_turn_lock_killable() - lock a turn
 * @turn: the turn
 *
 * Context: process; as kverbs_turn_sleep().
 * Return: 0 or -EINTR.
 */
int kverbs_turn_lock_killable(struct kverbs_turn *turn)
{
	struct kverbs_turn_sleeper sleeper;
	int ret = 0;

	kverbs_turn_sleeper_init(&sleeper);
	while (!ret && !kverbs_turn_trylock(turn, &sleeper.waiter))
		ret = kverbs_turn_sleep(&sleeper);
	return ret;
}
