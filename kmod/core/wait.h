/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Waits of system calls that may take long: a task can be killed in them, unless the name says
 * otherwise, and they do not keep the host from suspend. A task that is frozen may hold locks of
 * its connection, which workqueues, which are not frozen, and tasks that wait in the same way may
 * need. If the connection ends while such a task is frozen, another task that begins to use the
 * connection sleeps in a lock until the first one is thawed, and that suspend fails.
 */
#ifndef KVERBS_WAIT_H
#define KVERBS_WAIT_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/swait.h>
#include <linux/wait.h>

#include "compat.h"

#define KVERBS_WAIT_STATE	(TASK_KILLABLE | TASK_FREEZABLE_UNSAFE)
#define KVERBS_UNKILLABLE_STATE	(TASK_UNINTERRUPTIBLE | TASK_FREEZABLE_UNSAFE)

/* As wait_event_killable_timeout(). */
#define kverbs_wait_event_timeout(wq_head, condition, timeout)			\
({										\
	long __ret = timeout;							\
										\
	if (!___wait_cond_timeout(condition))					\
		__ret = ___wait_event(wq_head, ___wait_cond_timeout(condition),	\
				      KVERBS_WAIT_STATE, 0, timeout,		\
				      __ret = schedule_timeout(__ret));		\
	__ret;									\
})

/* As wait_event_killable(). */
#define kverbs_wait_event(wq_head, condition)					\
	((condition) ? 0 : ___wait_event(wq_head, condition, KVERBS_WAIT_STATE,	\
					 0, 0, schedule()))

/* As wait_event(). */
#define kverbs_wait_event_unkillable(wq_head, condition)			\
do {										\
	if (!(condition))							\
		___wait_event(wq_head, condition, KVERBS_UNKILLABLE_STATE,	\
			      0, 0, schedule());				\
} while (0)

/* As wait_for_completion_killable_timeout(). */
static inline long kverbs_wait_for_completion(struct completion *done, unsigned long timeout)
{
	long __ret = timeout;

	if (!___wait_cond_timeout(try_wait_for_completion(done)))
		__ret = ___swait_event(done->wait,
				       ___wait_cond_timeout(try_wait_for_completion(done)),
				       KVERBS_WAIT_STATE, timeout,
				       __ret = schedule_timeout(__ret));
	return __ret;
}

/* Sleeps between two polls. */
static inline void kverbs_wait_us(unsigned int us)
{
	ktime_t time = ns_to_ktime((u64)us * NSEC_PER_USEC);

	set_current_state(KVERBS_WAIT_STATE);
	schedule_hrtimeout_range(&time, us * NSEC_PER_USEC, HRTIMER_MODE_REL);
}

#endif /* KVERBS_WAIT_H */
