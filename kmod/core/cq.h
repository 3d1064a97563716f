/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CQ_H
#define KVERBS_CQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct kverbs_srq;

/* Completions that one ib_poll_cq() takes of a queue that is polled here. */
#define KVERBS_CQ_BATCH	8

/**
 * struct kverbs_cq_need - completions that a connection may have outstanding
 * @nr: of its own work requests
 * @srq: whose receives complete, too, or NULL
 * @srq_depth: receives of @srq, any of which may complete for any of its connections
 */
struct kverbs_cq_need {
	unsigned int nr;
	const struct kverbs_srq *srq;
	unsigned int srq_depth;
};

/**
 * struct kverbs_cq_share - completions that connections in a queue have in common
 * @entry: in the list of the queue
 * @srq: whose receives they are
 * @users: connections
 */
struct kverbs_cq_share {
	struct list_head entry;
	const struct kverbs_srq *srq;
	unsigned int users;
};

/**
 * struct kverbs_cq - a completion queue and the completions promised of it
 * @entry: in its set
 * @ib: the queue
 * @size: completions it can hold
 * @used: completions promised to connections, and once to each of @shares
 * @users: connections
 * @shares: struct kverbs_cq_share
 * @work: polls a queue that connections of a shared receive queue share; no function if it is
 *	direct, or belongs to one connection
 * @poll_lock: held while @work polls
 * @closing: @work polls no more
 * @wcs: for polling; under the lock of the set if that is direct, else under @poll_lock
 */
struct kverbs_cq {
	struct list_head entry;
	struct ib_cq *ib;
	unsigned int size;
	unsigned int used;
	unsigned int users;
	struct list_head shares;
	struct work_struct work;
	struct mutex poll_lock;
	bool closing;
	struct ib_wc wcs[KVERBS_CQ_BATCH];
};

/**
 * struct kverbs_cq_set - completion queues of a few connections
 * @lock: guards @cqs; held while direct ones are polled, so that completions stay in order
 * @cqs: struct kverbs_cq, of all devices; an unused one is freed
 * @context: where completions are handled: IB_POLL_WORKQUEUE, _SOFTIRQ or _DIRECT
 * @direct: IB_POLL_DIRECT: there is no interrupt, and a waiting task polls
 *
 * A queue never overflows: every work request that can be outstanding has its
 * completion promised before the QP is created. Connections share the queues of a direct
 * set, as a poll then looks at fewer; if one is too small for all, the set gets another.
 * In a set of IB_POLL_WORKQUEUE the connections of a shared receive queue share some, since each
 * must have room for all receives. Every other connection has a queue of its own.
 */
struct kverbs_cq_set {
	struct mutex lock;
	struct list_head cqs;
	enum ib_poll_context context;
	bool direct;
};

void kverbs_cq_set_init(struct kverbs_cq_set *set, enum ib_poll_context context);
void kverbs_cq_set_choose(struct kverbs_cq_set *set, enum ib_poll_context context);
void kverbs_cq_set_exit(struct kverbs_cq_set *set);
unsigned int kverbs_cq_set_poll(struct kverbs_cq_set *set);
void kverbs_cq_set_poll_all(struct kverbs_cq_set *set);
bool kverbs_cq_has_passed(u64 deadline_ns);
int kverbs_cq_set_await(struct kverbs_cq_set *set, bool (*check)(void *arg), void *arg,
			unsigned long timeout);
struct kverbs_cq *kverbs_cq_get(struct kverbs_cq_set *set, struct ib_device *ib,
				const struct kverbs_cq_need *need);
void kverbs_cq_put(struct kverbs_cq_set *set, struct kverbs_cq *cq,
		   const struct kverbs_cq_need *need);

/* True if connections of a shared receive queue share completion queues. */
static inline bool kverbs_cq_set_shares(const struct kverbs_cq_set *set)
{
	return set->context != IB_POLL_SOFTIRQ;
}

/* Between two polls: lets a task run that the scheduler prefers to the one that polls. */
static inline void kverbs_cq_relax(void)
{
	if (need_resched())
		cond_resched();
	else
		cpu_relax();
}

/**
 * kverbs_cq_poll_until() - poll until a condition holds
 * @set: polled in every round, if it is direct
 * @deadline_ns: ktime_get_ns() at which to give up, 0: never
 * @check: the condition: 1 met, 0 not yet, -errno give up
 * @arg: for @check
 *
 * Inlined, so that @check is no indirect call.
 *
 * Context: process, may sleep.
 * Return: 0, what @check gave up with, or -ETIME.
 */
static __always_inline int kverbs_cq_poll_until(struct kverbs_cq_set *set, u64 deadline_ns,
						int (*check)(void *arg), void *arg)
{
	int ret;

	for (;;) {
		if (set->direct)
			kverbs_cq_set_poll(set);
		ret = check(arg);
		if (ret)
			return min(ret, 0);
		if (kverbs_cq_has_passed(deadline_ns))
			return -ETIME;
		kverbs_cq_relax();
	}
}

#endif /* KVERBS_CQ_H */
