/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_POOL_H
#define KVERBS_POOL_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

struct kverbs_conn;
struct kverbs_pool_taker;
struct kverbs_recv_pool;
struct kverbs_req;
struct work_struct;

/**
 * enum kverbs_pool_want - what a taker waits for, most urgent first
 * @KVERBS_POOL_WANT_BUFFER: it has no receive, and the pool has no buffer
 * @KVERBS_POOL_WANT_SLOT: it has no receive, and its owner has no room for a completion
 * @KVERBS_POOL_WANT_LOW: it has receives, but fewer than half of what its queue has room for
 * @KVERBS_POOL_WANT_MORE: it has half of its receives or more, but not all
 * @KVERBS_POOL_WANTS: number of these
 */
enum kverbs_pool_want {
	KVERBS_POOL_WANT_BUFFER,
	KVERBS_POOL_WANT_SLOT,
	KVERBS_POOL_WANT_LOW,
	KVERBS_POOL_WANT_MORE,
	KVERBS_POOL_WANTS,
};

/**
 * struct kverbs_pool_taker_ops - a receive queue that is filled from a pool
 * @room: receives that it has room for now; any context
 * @accept: post receives, or complete them; may sleep. Returns 0, or -ENOTCONN: it takes no more
 */
struct kverbs_pool_taker_ops {
	unsigned int (*room)(const struct kverbs_pool_taker *taker);
	int (*accept)(struct kverbs_pool_taker *taker, struct kverbs_req **reqs,
		      unsigned int nr);
};

/**
 * struct kverbs_pool_taker - what takes buffers: a connection, or a shared receive queue
 * @ops: its receive queue
 * @entry: in a list of the pool while it waits for buffers, under the lock of the pool
 * @work: fills it
 * @depth: receives that it has room for if it has none
 */
struct kverbs_pool_taker {
	const struct kverbs_pool_taker_ops *ops;
	struct list_head entry;
	struct work_struct *work;
	unsigned int depth;
};

/**
 * struct kverbs_recv_pool_ops - the owner of a pool, which has its buffers
 * @take: make receives of at most @max buffers, with their regions counted in uses, that
 *	complete where those of @conn do; sets @nr to the number of receives in @reqs. May
 *	sleep; the caller keeps @conn from DEAD. Returns the buffers taken, those included that
 *	were refused; -ENOBUFS if there is none, -EAGAIN if there is no room for a completion
 * @claim: a receive that was made for another connection is about to complete for @conn; any
 *	context but hardirq
 * @count: number of buffers in the pool now; any context
 * @waiting: whether a taker has fewer than half of its receives, so that it needs
 *	kverbs_recv_pool_wake() as soon as there are buffers or room; called with the lock of
 *	the pool held
 */
struct kverbs_recv_pool_ops {
	int (*take)(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		    struct kverbs_req **reqs, unsigned int max, unsigned int *nr);
	void (*claim)(struct kverbs_conn *conn, struct kverbs_req *req);
	unsigned int (*count)(struct kverbs_recv_pool *pool);
	void (*waiting)(struct kverbs_recv_pool *pool, bool waiting);
};

/**
 * struct kverbs_recv_pool - buffers that connections receive into
 * @ops: its owner
 * @entries: the most buffers that it holds
 * @lock: guards @waiting and @is_wanted; taken after the mutex of a connection
 * @waiting: struct kverbs_pool_taker by enum kverbs_pool_want, those first that waited longest
 * @is_wanted: what kverbs_recv_pool_ops.waiting was told last
 * @srq_lock: guards @srqs and the users of each; taken after the mutex of a connection
 * @srqs: struct kverbs_srq, those that failed included
 *
 * A taker is a connection that keeps its own receive queue filled, which works on every
 * device, or, where srq.c can have one, a shared receive queue.
 *
 * Its work item fills the queue: once there is a queue pair, and whenever a quarter of the
 * queue is free. If the pool is empty, the taker waits in the list that fits, and looks again
 * at its next completion. One that has fewer than half of its receives does not rely on that:
 * a burst could find it without any. The owner is told, and calls kverbs_recv_pool_wake()
 * after it has added buffers or room.
 *
 * A taker without a receive goes first, and takes one buffer at a time while another one
 * waits, so that none starves because idle ones hold the buffers.
 */
struct kverbs_recv_pool {
	const struct kverbs_recv_pool_ops *ops;
	unsigned int entries;
	spinlock_t lock;
	struct list_head waiting[KVERBS_POOL_WANTS];
	bool is_wanted;
	struct mutex srq_lock;
	struct list_head srqs;
};

static inline void kverbs_pool_taker_init(struct kverbs_pool_taker *taker,
					  const struct kverbs_pool_taker_ops *ops,
					  struct work_struct *work)
{
	taker->ops = ops;
	taker->work = work;
	INIT_LIST_HEAD(&taker->entry);
}

extern const struct kverbs_pool_taker_ops kverbs_conn_taker_ops;

void kverbs_recv_pool_init(struct kverbs_recv_pool *pool,
			   const struct kverbs_recv_pool_ops *ops, unsigned int entries);
void kverbs_recv_pool_fill_taker(struct kverbs_recv_pool *pool,
				 struct kverbs_pool_taker *taker, struct kverbs_conn *conn);
void kverbs_recv_pool_fill(struct kverbs_conn *conn);
void kverbs_recv_pool_wake(struct kverbs_recv_pool *pool);
void kverbs_recv_pool_forget(struct kverbs_recv_pool *pool, struct kverbs_pool_taker *taker);
void kverbs_recv_pool_leave(struct kverbs_conn *conn);

#endif /* KVERBS_POOL_H */
