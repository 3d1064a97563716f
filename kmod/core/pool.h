/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_POOL_H
#define KVERBS_POOL_H

#include <linux/list.h>
#include <linux/spinlock.h>

struct kverbs_conn;
struct kverbs_recv_pool;
struct kverbs_req;

/**
 * enum kverbs_pool_want - what a connection waits for, most urgent first
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
 * struct kverbs_recv_pool_ops - the owner of a pool, which has its buffers
 * @take: make receives of at most @max buffers for @conn, with their regions counted in
 *	uses; sets @nr to the number of receives in @reqs. Called with the connection's mutex
 *	held, may sleep. Returns the buffers taken, those included that were refused;
 *	-ENOBUFS if there is none, -EAGAIN if there is no room for a completion
 * @count: number of buffers in the pool now; any context
 * @waiting: whether a connection has fewer than half of its receives, so that it needs
 *	kverbs_recv_pool_wake() as soon as there are buffers or room; called with the lock of
 *	the pool held
 */
struct kverbs_recv_pool_ops {
	int (*take)(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		    struct kverbs_req **reqs, unsigned int max, unsigned int *nr);
	unsigned int (*count)(struct kverbs_recv_pool *pool);
	void (*waiting)(struct kverbs_recv_pool *pool, bool waiting);
};

/**
 * struct kverbs_recv_pool - buffers that connections receive into
 * @ops: its owner
 * @lock: guards @waiting and @is_wanted; taken after the mutex of a connection
 * @waiting: struct kverbs_conn by enum kverbs_pool_want, those first that waited longest
 * @is_wanted: what kverbs_recv_pool_ops.waiting was told last
 *
 * Each connection keeps its own receive queue filled from the pool. That works on every
 * device, which a shared receive queue does not: iWARP adapters and some RoCE ones have
 * none, and its buffers need keys of one protection domain, while every connection has its
 * own domain.
 *
 * The connection's work item fills the queue: once there is a queue pair, and whenever a
 * quarter of the queue is free. If the pool is empty, the connection waits in the list
 * that fits, and looks again at its next completion. One that has fewer than half of its
 * receives does not rely on that: a burst could find it without any. The owner is told, and
 * calls kverbs_recv_pool_wake() after it has added buffers or room.
 *
 * A connection without a receive goes first, and takes one buffer at a time while another
 * one waits, so that none starves because idle ones hold the buffers.
 */
struct kverbs_recv_pool {
	const struct kverbs_recv_pool_ops *ops;
	spinlock_t lock;
	struct list_head waiting[KVERBS_POOL_WANTS];
	bool is_wanted;
};

void kverbs_recv_pool_init(struct kverbs_recv_pool *pool,
			   const struct kverbs_recv_pool_ops *ops);
void kverbs_recv_pool_fill(struct kverbs_conn *conn);
void kverbs_recv_pool_wake(struct kverbs_recv_pool *pool);
void kverbs_recv_pool_leave(struct kverbs_conn *conn);

#endif /* KVERBS_POOL_H */
