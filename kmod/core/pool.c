// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The receive pool: which connection takes a buffer next, and which ones wait for one. */
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
 */
void kverbs_recv_pool_init(struct kverbs_recv_pool *pool,
			   const struct kverbs_recv_pool_ops *ops)
{
	unsigned int i;

	pool->ops = ops;
	pool->is_wanted = false;
	spin_lock_init(&pool->lock);
	for (i = 0; i < KVERBS_POOL_WANTS; i++)
		INIT_LIST_HEAD(&pool->waiting[i]);
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

static void begin_wait(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		       enum kverbs_pool_want want)
{
	spin_lock(&pool->lock);
	list_move_tail(&conn->pool_entry, &pool->waiting[want]);
	update_wanted(pool);
	spin_unlock(&pool->lock);
	/* Pairs with that of user space between adding a buffer and reading the flags. */
	smp_mb();
}

static void end_wait(struct kverbs_recv_pool *pool, struct kverbs_conn *conn)
{
	spin_lock(&pool->lock);
	list_del_init(&conn->pool_entry);
	update_wanted(pool);
	spin_unlock(&pool->lock);
}

/**
 * kverbs_recv_pool_wake() - let waiting connections look for buffers again
 * @pool: the pool
 *
 * Wakes no more of them than there are buffers.
 *
 * Context: process.
 */
void kverbs_recv_pool_wake(struct kverbs_recv_pool *pool)
{
	unsigned int nr = pool->ops->count(pool), i;
	struct kverbs_conn *conn, *next;

	spin_lock(&pool->lock);
	for (i = 0; i < KVERBS_POOL_WANTS; i++)
		list_for_each_entry_safe(conn, next, &pool->waiting[i], pool_entry) {
			if (!nr--)
				goto out_update;
			list_del_init(&conn->pool_entry);
			queue_work(kverbs_post_workqueue, &conn->work);
		}
out_update:
	update_wanted(pool);
	spin_unlock(&pool->lock);
}

static bool has_receives(const struct kverbs_queue *queue)
{
	return READ_ONCE(queue->rq_free) < queue->rq_depth;
}

static bool is_low(const struct kverbs_queue *queue)
{
	return 2 * (queue->rq_depth - READ_ONCE(queue->rq_free)) < queue->rq_depth;
}

static bool must_yield(struct kverbs_recv_pool *pool, const struct kverbs_queue *queue)
{
	return has_receives(queue) && !list_empty(&pool->waiting[KVERBS_POOL_WANT_BUFFER]);
}

/* Returns the number of buffers taken, or why none was. */
static int take_some(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		     unsigned int max)
{
	struct kverbs_req *reqs[BATCH];
	unsigned int nr;
	int taken, ret = 0;

	if (must_yield(pool, &conn->queue))
		return -ENOBUFS;
	/* The first one alone: a connection that waits for its first one comes before the rest. */
	max = has_receives(&conn->queue) ? min_t(unsigned int, max, BATCH) : 1;
	taken = pool->ops->take(pool, conn, reqs, max, &nr);
	if (taken > 0 && nr)
		ret = kverbs_conn_recv_pooled(conn, reqs, nr);
	return ret ?: taken;
}

static enum kverbs_pool_want wanted_by(const struct kverbs_conn *conn, int error)
{
	if (has_receives(&conn->queue))
		return is_low(&conn->queue) ? KVERBS_POOL_WANT_LOW : KVERBS_POOL_WANT_MORE;
	return error == -EAGAIN ? KVERBS_POOL_WANT_SLOT : KVERBS_POOL_WANT_BUFFER;
}

/* Returns false if the connection waits, or has ended. */
static bool fill(struct kverbs_recv_pool *pool, struct kverbs_conn *conn)
{
	struct kverbs_queue *queue = &conn->queue;
	/* The owner may add buffers that are refused as fast as they are taken. */
	unsigned int budget = queue->rq_depth, room;
	bool waits = false;
	int ret;

	while ((room = READ_ONCE(queue->rq_free)) && budget) {
		ret = take_some(pool, conn, min(room, budget));
		if (ret == -ENOTCONN)
			return false;
		if (ret < 0 && waits)
			return false;
		/* Look once more: a buffer added meanwhile may have found no connection waiting. */
		waits = ret < 0;
		if (waits) {
			begin_wait(pool, conn, wanted_by(conn, ret));
			continue;
		}
		if (!list_empty(&conn->pool_entry))
			end_wait(pool, conn);
		budget -= ret;
	}
	if (room)
		queue_work(kverbs_post_workqueue, &conn->work);
	return true;
}

static bool some_want_more(const struct kverbs_recv_pool *pool)
{
	return !list_empty(&pool->waiting[KVERBS_POOL_WANT_LOW]) ||
	       !list_empty(&pool->waiting[KVERBS_POOL_WANT_MORE]);
}

/**
 * kverbs_recv_pool_fill() - fill the receive queue of a connection from its pool
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
	/* Others may wait for buffers that this connection has no room for. */
	if (fill(pool, conn) && some_want_more(pool))
		kverbs_recv_pool_wake(pool);
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
		end_wait(conn->attr.recv_pool, conn);
}
