/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SRQ_H
#define KVERBS_SRQ_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "pool.h"

struct kverbs_conn;
struct kverbs_cq_set;

/* The most receives of a shared queue: each completion queue has room to complete them all. */
#define KVERBS_SRQ_DEPTH	1024
/* The same if each connection has a completion queue of its own. */
#define KVERBS_SRQ_DEPTH_ALONE	256

/**
 * struct kverbs_srq - a shared receive queue, filled from a pool
 * @entry: in the list of the pool, under its srq_lock
 * @pool: the pool
 * @pd: protection domain of the group
 * @tenant: the group, since the device may use a receive for any of the connections
 * @cqs: where its connections complete, which is where their owner has room for completions
 * @ib: the queue
 * @max_sge: entries of one receive
 * @max_recv: bytes of one receive
 * @users: its connections, under the srq_lock of the pool
 * @lock: guards @members; held while it is filled
 * @members: its connections, by their srq_entry
 * @filler: the connection whose receives are made, under @lock
 * @taker: takes the buffers
 * @work: fills it, or ends its connections once it has failed
 * @posted_lock: guards @posted and @nr_posted; taken by completions: bottom halves off
 * @posted: receives that are with the device
 * @nr_posted: length of @posted
 * @conns: its connections by the address of their queue pair
 * @left: woken when an address leaves @conns
 * @armed: the device will tell when few receives are left
 * @failed: the device has given it up; no connection joins any more
 * @mute: the device does not tell when it has taken its last receive for a queue pair
 *
 * One for each group, and each set of completion queues, in which connections name the pool: so
 * a receive is posted with a key of the domain of its connections, and with room for its
 * completion. Connections without a group have a domain each, and share no queue. The last
 * connection that leaves destroys it: what is posted then completes as flushed, and so do
 * receives that the device took for a queue pair and never completed, as rxe's does if a
 * queue pair fails in the middle of a message.
 *
 * The mutexes come after the mutex of a connection, @lock before the locks of a pool's owner.
 */
struct kverbs_srq {
	struct list_head entry;
	struct kverbs_recv_pool *pool;
	struct ib_pd *pd;
	struct kverbs_tenant *tenant;
	struct kverbs_cq_set *cqs;
	struct ib_srq *ib;
	int max_sge;
	u64 max_recv;
	unsigned int users;
	struct mutex lock;
	struct list_head members;
	struct kverbs_conn *filler;
	struct kverbs_pool_taker taker;
	struct work_struct work;
	spinlock_t posted_lock;
	struct list_head posted;
	unsigned int nr_posted;
	struct xarray conns;
	wait_queue_head_t left;
	bool armed;
	bool failed;
	bool mute;
};

void kverbs_srq_join(struct kverbs_conn *conn);
int kverbs_srq_add_qp(struct kverbs_conn *conn);
void kverbs_srq_leave(struct kverbs_conn *conn);
void kverbs_srq_fill(struct kverbs_srq *srq);
void kverbs_srq_await_last(struct kverbs_srq *srq, struct completion *last);

/* Receives that any of its connections can use. */
static inline unsigned int kverbs_srq_posted(const struct kverbs_srq *srq)
{
	return READ_ONCE(srq->nr_posted);
}

#endif /* KVERBS_SRQ_H */
