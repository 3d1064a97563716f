// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: the connections of a group that receive into one pool have one, where
 * the device and its transport allow. A connection without messages then holds no buffer.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "conn.h"
#include "conn_io.h"
#include "group.h"
#include "quirks.h"
#include "region.h"
#include "srq.h"
#include "verbs.h"
#include "workqueue.h"
#include "wr.h"

/* How long a queue pair in ERR may take to tell that it has taken its last receive. */
#define LAST_TIMEOUT	HZ

static bool can_share(const struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;

	if (!conn->attr.recv_pool || !conn->attr.group ||
	    conn->queue.quirks & (KVERBS_QUIRK_NO_RNR | KVERBS_QUIRK_NO_SRQ))
		return false;
	return dev->max_srq > 0 && dev->max_srq_wr > 0 && dev->max_srq_sge > 0;
}

/* A receive of no connection that is known is given back with the queue. */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_req *req = container_of(wc->wr_cqe, struct kverbs_req, last);
	struct kverbs_srq *srq = req->srq;
	/* The queue pair may be destroyed already, if the drain timed out. */
	struct kverbs_conn *conn = xa_load(&srq->conns, (unsigned long)wc->qp);
	unsigned int nr;

	if (!conn)
		return;
	spin_lock_bh(&srq->posted_lock);
	list_del(&req->entry);
	nr = --srq->nr_posted;
	spin_unlock_bh(&srq->posted_lock);
	if (srq->taker.depth - nr >= DIV_ROUND_UP(srq->taker.depth, 4))
		queue_work(kverbs_post_workqueue, &srq->work);
	srq->pool->ops->claim(conn, req);
	kverbs_queue_end_shared(&conn->queue, req, wc);
}

static int post_wr(struct kverbs_srq *srq, struct kverbs_req *req, struct ib_sge *sges, int nr)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &req->last,
		.sg_list = sges,
		.num_sge = nr,
	};
	int ret;

	req->srq = srq;
	req->last.done = recv_done;
	spin_lock_bh(&srq->posted_lock);
	list_add_tail(&req->entry, &srq->posted);
	srq->nr_posted++;
	ret = kverbs_ib_post_srq_recv(srq, &wr);
	if (ret) {
		list_del(&req->entry);
		srq->nr_posted--;
	}
	spin_unlock_bh(&srq->posted_lock);
	return ret;
}

static int map_req(struct kverbs_srq *srq, const struct kverbs_req *req)
{
	struct kverbs_map *map;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < kverbs_req_extents(req); i++) {
		map = kverbs_map_get(kverbs_req_extent(req, i).region, srq->pd->device,
				     srq->tenant);
		ret = PTR_ERR_OR_ZERO(map);
	}
	return ret;
}

/*
 * Entries by the local DMA lkey only: an MR of the lkey cache belongs to a connection, which may
 * end before the receive is used.
 */
static noinline_for_stack int post_recv(struct kverbs_srq *srq, struct kverbs_req *req)
{
	struct ib_sge sges[KVERBS_RECV_SGES];
	int nr;

	if (req->length > srq->max_recv)
		return -EMSGSIZE;
	nr = map_req(srq, req);
	if (nr)
		return nr;
	nr = kverbs_wr_direct_recv(srq->pd, srq->tenant, req, sges, srq->max_sge);
	return nr < 0 ? nr : post_wr(srq, req, sges, nr);
}

static struct kverbs_srq *to_srq(const struct kverbs_pool_taker *taker)
{
	return container_of(taker, struct kverbs_srq, taker);
}

static unsigned int srq_room(const struct kverbs_pool_taker *taker)
{
	return taker->depth - kverbs_srq_posted(to_srq(taker));
}

static int srq_accept(struct kverbs_pool_taker *taker, struct kverbs_req **reqs,
		      unsigned int nr)
{
	struct kverbs_srq *srq = to_srq(taker);
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = post_recv(srq, reqs[i]);
		if (ret)
			kverbs_conn_refuse(srq->filler, reqs[i], ret);
	}
	return 0;
}

static const struct kverbs_pool_taker_ops taker_ops = {
	.room	= srq_room,
	.accept	= srq_accept,
};

/*
 * The event comes although completions of used receives are not handled yet, which takes until
 * user space polls if its ring is a BUSY_POLL one.
 */
static void arm(struct kverbs_srq *srq)
{
	struct ib_srq_attr attr = { .srq_limit = srq->taker.depth / 2 };

	lockdep_assert_held(&srq->lock);
	if (READ_ONCE(srq->armed) || !attr.srq_limit || kverbs_srq_posted(srq) < attr.srq_limit)
		return;
	WRITE_ONCE(srq->armed, true);
	if (ib_modify_srq(srq->ib, &attr, IB_SRQ_LIMIT))
		WRITE_ONCE(srq->armed, false);
}

static struct kverbs_conn *choose_filler(const struct kverbs_srq *srq)
{
	struct kverbs_conn *conn;

	lockdep_assert_held(&srq->lock);
	list_for_each_entry(conn, &srq->members, srq_entry)
		if (!kverbs_conn_is_ending(conn))
			return conn;
	return NULL;
}

static void fill_for(struct kverbs_srq *srq, struct kverbs_conn *conn)
{
	struct mem_cgroup *before = set_active_memcg(conn->memcg);

	srq->filler = conn;
	kverbs_recv_pool_fill_taker(srq->pool, &srq->taker, conn);
	arm(srq);
	set_active_memcg(before);
}

static void end_members(struct kverbs_srq *srq)
{
	struct kverbs_conn *conn;

	lockdep_assert_held(&srq->lock);
	list_for_each_entry(conn, &srq->members, srq_entry)
		kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, -EIO, 0);
}

/**
 * kverbs_srq_fill() - fill a shared receive queue from its pool
 * @srq: the queue; the caller keeps one of its connections from leaving
 *
 * Nothing is done if all its connections are ending.
 *
 * Context: process, may sleep.
 */
void kverbs_srq_fill(struct kverbs_srq *srq)
{
	struct kverbs_conn *conn;

	mutex_lock(&srq->lock);
	conn = choose_filler(srq);
	if (READ_ONCE(srq->failed))
		end_members(srq);
	else if (conn)
		fill_for(srq, conn);
	mutex_unlock(&srq->lock);
}

static void srq_work(struct work_struct *work)
{
	kverbs_srq_fill(container_of(work, struct kverbs_srq, work));
}

/* In atomic context or not. */
static void srq_event(struct ib_event *event, void *context)
{
	struct kverbs_srq *srq = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		WRITE_ONCE(srq->armed, false);
	else
		WRITE_ONCE(srq->failed, true);
	queue_work(kverbs_post_workqueue, &srq->work);
}

static int make_queue(struct kverbs_srq *srq)
{
	struct ib_srq_init_attr attr = {
		.event_handler = srq_event,
		.srq_context = srq,
		.attr.max_wr = srq->taker.depth,
		.attr.max_sge = srq->max_sge,
		.srq_type = IB_SRQT_BASIC,
	};

	srq->ib = kverbs_ib_create_srq(srq->pd, &attr);
	return PTR_ERR_OR_ZERO(srq->ib);
}

/* A completion queue has as much room for the sends of a connection as for all receives. */
static unsigned int max_depth(const struct kverbs_cq_set *set, const struct ib_device_attr *dev)
{
	unsigned int max = kverbs_cq_set_shares(set) ? KVERBS_SRQ_DEPTH : KVERBS_SRQ_DEPTH_ALONE;

	return min3(max, (unsigned int)dev->max_srq_wr, (unsigned int)dev->max_cqe / 2);
}

static struct kverbs_srq *create(struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	struct kverbs_recv_pool *pool = conn->attr.recv_pool;
	struct kverbs_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL_ACCOUNT);

	if (!srq)
		return NULL;
	srq->pool = pool;
	srq->pd = conn->pool.pd;
	srq->tenant = &conn->attr.group->tenant;
	srq->cqs = conn->attr.cqs;
	srq->max_sge = min_t(int, dev->max_srq_sge, KVERBS_RECV_SGES);
	srq->max_recv = conn->queue.max_recv;
	mutex_init(&srq->lock);
	INIT_LIST_HEAD(&srq->members);
	INIT_WORK(&srq->work, srq_work);
	kverbs_pool_taker_init(&srq->taker, &taker_ops, &srq->work);
	srq->taker.depth = min(pool->entries, max_depth(srq->cqs, dev));
	spin_lock_init(&srq->posted_lock);
	INIT_LIST_HEAD(&srq->posted);
	xa_init(&srq->conns);
	init_waitqueue_head(&srq->left);
	if (make_queue(srq)) {
		kfree(srq);
		return NULL;
	}
	list_add(&srq->entry, &pool->srqs);
	return srq;
}

static struct kverbs_srq *find(const struct kverbs_conn *conn)
{
	struct kverbs_srq *srq;

	list_for_each_entry(srq, &conn->attr.recv_pool->srqs, entry)
		if (srq->pd == conn->pool.pd && srq->cqs == conn->attr.cqs &&
		    !READ_ONCE(srq->failed))
			return srq;
	return NULL;
}

/**
 * kverbs_srq_join() - let a connection receive into a shared queue, if it can
 * @conn: the connection, its mutex held, with its domain and without a queue pair
 *
 * Sets the queue of @conn. A connection that gets none, because of its device or because the
 * device has no more of them, fills its own receive queue.
 *
 * Context: process, may sleep.
 */
void kverbs_srq_join(struct kverbs_conn *conn)
{
	struct kverbs_recv_pool *pool = conn->attr.recv_pool;
	struct kverbs_srq *srq;

	lockdep_assert_held(&conn->mutex);
	if (!can_share(conn))
		return;
	mutex_lock(&pool->srq_lock);
	srq = find(conn) ?: create(conn);
	if (srq) {
		srq->users++;
		mutex_lock(&srq->lock);
		list_add_tail(&conn->srq_entry, &srq->members);
		mutex_unlock(&srq->lock);
		conn->srq = srq;
		conn->queue.shared = true;
	}
	mutex_unlock(&pool->srq_lock);
}

/**
 * kverbs_srq_add_qp() - let messages for a queue pair complete for its connection
 * @conn: the connection, its mutex held, of a shared queue
 *
 * A connection that is torn down may still have the address of its queue pair, until its
 * completions are handled.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kverbs_srq_add_qp(struct kverbs_conn *conn)
{
	struct kverbs_srq *srq = conn->srq;
	unsigned long index = (unsigned long)conn->qp;
	int ret;

	for (;;) {
		ret = xa_insert(&srq->conns, index, conn, GFP_KERNEL_ACCOUNT);
		if (ret != -EBUSY)
			break;
		wait_event(srq->left, !xa_load(&srq->conns, index));
	}
	if (!ret)
		conn->srq_index = index;
	return ret;
}

static struct kverbs_req *pop_posted(struct kverbs_srq *srq)
{
	struct kverbs_req *req;

	spin_lock_bh(&srq->posted_lock);
	req = list_first_entry_or_null(&srq->posted, struct kverbs_req, entry);
	if (req) {
		list_del(&req->entry);
		srq->nr_posted--;
	}
	spin_unlock_bh(&srq->posted_lock);
	return req;
}

/* No connection is left, so nothing completes, and nothing but an event queues the work. */
static void destroy(struct kverbs_srq *srq, struct kverbs_conn *last)
{
	struct kverbs_req *req;

	kverbs_recv_pool_forget(srq->pool, &srq->taker);
	ib_destroy_srq(srq->ib);
	cancel_work_sync(&srq->work);
	while ((req = pop_posted(srq))) {
		srq->pool->ops->claim(last, req);
		kverbs_queue_end_shared(&last->queue, req, NULL);
	}
	xa_destroy(&srq->conns);
	kfree(srq);
}

/**
 * kverbs_srq_leave() - undo kverbs_srq_join() and kverbs_srq_add_qp()
 * @conn: the connection, its mutex held, whose queue pair is destroyed and whose completions
 *	are handled; nothing is done if it shares no queue
 *
 * The last connection completes the receives that are left.
 *
 * Context: process, may sleep.
 */
void kverbs_srq_leave(struct kverbs_conn *conn)
{
	struct kverbs_srq *srq = conn->srq;
	bool last;

	if (!srq)
		return;
	if (conn->srq_index)
		xa_erase(&srq->conns, conn->srq_index);
	conn->srq_index = 0;
	wake_up_all(&srq->left);
	mutex_lock(&srq->pool->srq_lock);
	mutex_lock(&srq->lock);
	list_del_init(&conn->srq_entry);
	mutex_unlock(&srq->lock);
	last = !--srq->users;
	if (last)
		list_del(&srq->entry);
	mutex_unlock(&srq->pool->srq_lock);
	conn->srq = NULL;
	if (last)
		destroy(srq, conn);
}

/**
 * kverbs_srq_await_last() - wait until a queue pair takes no more receives
 * @srq: its shared queue
 * @last: completed by IB_EVENT_QP_LAST_WQE_REACHED of the queue pair, which is in ERR
 *
 * Destroying the queue pair without that could lose receives that the device has taken: they
 * are then given back with the queue. Not every driver tells, so a device that does not in
 * time is not waited for again.
 *
 * Context: process, may sleep.
 */
void kverbs_srq_await_last(struct kverbs_srq *srq, struct completion *last)
{
	if (!READ_ONCE(srq->mute) && !wait_for_completion_timeout(last, LAST_TIMEOUT))
		WRITE_ONCE(srq->mute, true);
}
