// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The receive pool: which taker gets a buffer next, and which ones wait for one. */
#include "conn.h"
#include "conn_io.h"
#include "pool.h"
#include "workqueue.h"

/* Buffers taken at a time. */
#define BATCH	16

/**
 * kverbs_recv_pool_init() - make a pool that no connection uses
 * @pool: the pool
 * @ops: its owner
 * @entries: the most buffers that it holds
 */
void kverbs_recv_pool_init(struct kverbs_recv_pool *pool,
			   const struct kverbs_recv_pool_ops *ops, unsigned int entries)
{
	unsigned int i;

	pool->ops = ops;
	pool->entries = entries;
	pool->is_wanted = false;
	spin_lock_init(&pool->lock);
	for (i = 0; i < KVERBS_POOL_WANTS; i++)
		INIT_LIST_HEAD(&pool->waiting[i]);
	mutex_init(&pool->srq_lock);
	INIT_LIST_HEAD(&pool->srqs);
}

static void update_wanted(struct kverbs_recv_pool *pool)
{
	bool wanted = false;
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	for (i = 0; i < KVERBS_POOL_WANT_MORE; i++)
		wanted |= !list_empty(&pool->waiting[i]);
	if (wanted == pool->is_wanted)
		return;
	pool->is_wanted = wanted;
	pool->ops->waiting(pool, wanted);
}

static void begin_wait(struct kverbs_recv_pool *pool, struct kverbs_pool_taker *taker,
		       enum kverbs_pool_want want)
{
	spin_lock(&pool->lock);
	list_move_tail(&taker->entry, &pool->waiting[want]);
	update_wanted(pool);
	spin_unlock(&pool->lock);
	/* Pairs with that of user space between adding a buffer and reading the flags. */
	smp_mb();
}

/**
 * kverbs_recv_pool_forget() - let a taker wait for buffers no longer
 * @pool: the pool
 * @taker: the taker
 *
 * Context: process.
 */
void kverbs_recv_pool_forget(struct kverbs_recv_pool *pool, struct kverbs_pool_taker *taker)
{
	spin_lock(&pool->lock);
	list_del_init(&taker->entry);
	update_wanted(pool);
	spin_unlock(&pool->lock);
}

/**
 * kverbs_recv_pool_wake() - let waiting takers look for buffers again
 * @pool: the pool
 *
 * Wakes no more of them than there are buffers.
 *
 * Context: process.
 */
void kverbs_recv_pool_wake(struct kverbs_recv_pool *pool)
{
	unsigned int nr = pool->ops->count(pool), i;
	struct kverbs_pool_taker *taker, *next;

	spin_lock(&pool->lock);
	for (i = 0; i < KVERBS_POOL_WANTS; i++)
		list_for_each_entry_safe(taker, next, &pool->waiting[i], entry) {
			if (!nr--)
				goto out_update;
			list_del_init(&taker->entry);
			queue_work(kverbs_post_workqueue, taker->work);
		}
out_update:
	update_wanted(pool);
	spin_unlock(&pool->lock);
}

static unsigned int room_of(const struct kverbs_pool_taker *taker)
{
	return taker->ops->room(taker);
}

static bool has_receives(const struct kverbs_pool_taker *taker)
{
	return room_of(taker) < taker->depth;
}

static bool is_low(const struct kverbs_pool_taker *taker)
{
	return 2 * room_of(taker) > taker->depth;
}

static bool must_yield(struct kverbs_recv_pool *pool, const struct kverbs_pool_taker *taker)
{
	return has_receives(taker) && !list_empty(&pool->waiting[KVERBS_POOL_WANT_BUFFER]);
}

/* Returns the number of buffers taken, or why none was. */
static int take_some(struct kverbs_recv_pool *pool, struct kverbs_pool_taker *taker,
		     struct kverbs_conn *conn, unsigned int max)
{
	struct kverbs_req *reqs[BATCH];
	unsigned int nr;
	int taken, ret = 0;

	if (must_yield(pool, taker))
		return -ENOBUFS;
	/* The first one alone: a taker that waits for its first one comes before the rest. */
	max = has_receives(taker) ? min_t(unsigned int, max, BATCH) : 1;
	taken = pool->ops->take(pool, conn, reqs, max, &nr);
	if (taken > 0 && nr)
		ret = taker->ops->accept(taker, reqs, nr);
	return ret ?: taken;
}

static enum kverbs_pool_want wanted_by(const struct kverbs_pool_taker *taker, int error)
{
	if (has_receives(taker))
		return is_low(taker) ? KVERBS_POOL_WANT_LOW : KVERBS_POOL_WANT_MORE;
	return error == -EAGAIN ? KVERBS_POOL_WANT_SLOT : KVERBS_POOL_WANT_BUFFER;
}

/* Returns false if the taker waits, or has ended. */
static bool fill(struct kverbs_recv_pool *pool, struct kverbs_pool_taker *taker,
		 struct kverbs_conn *conn)
{
	/* The owner may add buffers that are refused as fast as they are taken. */
	unsigned int budget = taker->depth, room;
	bool waits = false;
	int ret;

	while ((room = room_of(taker)) && budget) {
		ret = take_some(pool, taker, conn, min(room, budget));
		if (ret == -ENOTCONN)
			return false;
		if (ret < 0 && waits)
			return false;
		/* Look once more: a buffer added since then may have found no taker waiting. */
		waits = ret < 0;
		if (waits) {
			begin_wait(pool, taker, wanted_by(taker, ret));
			continue;
		}
		if (!list_empty(&taker->entry))
			kverbs_recv_pool_forget(pool, taker);
		budget -= ret;
	}
	if (room)
		queue_work(kverbs_post_workqueue, taker->work);
	return true;
}

static bool some_want_more(const struct kverbs_recv_pool *pool)
{
	return !list_empty(&pool->waiting[KVERBS_POOL_WANT_LOW]) ||
	       !list_empty(&pool->waiting[KVERBS_POOL_WANT_MORE]);
}

/**
 * kverbs_recv_pool_fill_taker() - fill a receive queue from a pool
 * @pool: the pool
 * @taker: the queue; the caller serialises the calls for one
 * @conn: the connection whose receives are made, as for kverbs_recv_pool_ops.take
 *
 * Context: process, may sleep.
 */
void kverbs_recv_pool_fill_taker(struct kverbs_recv_pool *pool,
				 struct kverbs_pool_taker *taker, struct kverbs_conn *conn)
{
	/* Others may wait for buffers that this one has no room for. */
	if (fill(pool, taker, conn) && some_want_more(pool))
		kverbs_recv_pool_wake(pool);
}

static struct kverbs_conn *to_conn(const struct kverbs_pool_taker *taker)
{
	return container_of(taker, struct kverbs_conn, taker);
}

static unsigned int conn_room(const struct kverbs_pool_taker *taker)
{
	return READ_ONCE(to_conn(taker)->queue.rq_free);
}

static int conn_accept(struct kverbs_pool_taker *taker, struct kverbs_req **reqs,
		       unsigned int nr)
{
	return kverbs_conn_recv_pooled(to_conn(taker), reqs, nr);
}

const struct kverbs_pool_taker_ops kverbs_conn_taker_ops = {
	.room	= conn_room,
	.accept	= conn_accept,
};

/**
 * kverbs_recv_pool_fill() - fill the own receive queue of a connection from its pool
 * @conn: the connection, its mutex held; nothing is done if it has no pool
 *
 * The receives are deferred: kverbs_conn_post_deferred() posts them.
 *
 * Context: process, may sleep.
 */
void kverbs_recv_pool_fill(struct kverbs_conn *conn)
{
	struct kverbs_recv_pool *pool = conn->attr.recv_pool;

	lockdep_assert_held(&conn->mutex);
	if (!pool || kverbs_conn_is_ending(conn))
		return;
	conn->taker.depth = conn->queue.rq_depth;
	kverbs_recv_pool_fill_taker(pool, &conn->taker, conn);
}

/**
 * kverbs_recv_pool_leave() - let a connection wait for buffers no longer
 * @conn: the connection, its mutex held, closed for good
 *
 * Context: process.
 */
void kverbs_recv_pool_leave(struct kverbs_conn *conn)
{
	lockdep_assert_held(&conn->mutex);
	if (conn->attr.recv_pool)
		kverbs_recv_pool_forget(conn->attr.recv_pool, &conn->taker);
}
