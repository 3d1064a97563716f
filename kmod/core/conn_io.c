// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting on a connection: which operations it supports, and when receives are posted. */
#include <linux/mm.h>

#include "conn_io.h"
#include "opcode.h"
#include "quirks.h"
#include "region.h"
#include "trace.h"
#include "workqueue.h"
#include "wr.h"

static void recvs_ready(struct kverbs_turn_waiter *waiter)
{
	struct kverbs_conn *conn = container_of(waiter, struct kverbs_conn, recv_waiter);

	queue_work(kverbs_post_workqueue, &conn->work);
}

static void held_ready(struct kverbs_turn_waiter *waiter)
{
	struct kverbs_conn *conn = container_of(waiter, struct kverbs_conn, held_waiter);

	queue_work(kverbs_post_workqueue, &conn->work);
}

/**
 * kverbs_conn_init_waiters() - let a connection wait for no region
 * @conn: the connection
 */
void kverbs_conn_init_waiters(struct kverbs_conn *conn)
{
	kverbs_turn_waiter_init(&conn->recv_waiter, recvs_ready);
	kverbs_turn_waiter_init(&conn->held_waiter, held_ready);
}

/**
 * kverbs_conn_cancel_waiters() - let a connection wait for no region any more
 * @conn: the connection, closed, with @use write-locked, so that nothing is posted afterwards
 */
void kverbs_conn_cancel_waiters(struct kverbs_conn *conn)
{
	kverbs_turn_cancel(&conn->recv_waiter);
	kverbs_turn_cancel(&conn->held_waiter);
}

/**
 * kverbs_conn_map() - map a region for the device of a connection, in the task of the caller
 * @conn: the connection, none of its locks held
 * @region: the region; the caller counts in its uses
 *
 * Nothing of the connection is held while another task maps the region, so that its teardown does
 * not wait for that.
 *
 * Context: process, may sleep and be killed.
 * Return: 0; -ENOTCONN if there is no queue pair; -EINTR; or as kverbs_map_try().
 */
int kverbs_conn_map(struct kverbs_conn *conn, struct kverbs_region *region)
{
	struct kverbs_map *map;
	int ret;

	do {
		map = ERR_PTR(-ENOTCONN);
		down_read(&conn->use);
		if (kverbs_queue_has_qp(&conn->queue))
			map = kverbs_map_try(region, conn->queue.ib, &conn->tenant, NULL);
		up_read(&conn->use);
		if (map != ERR_PTR(-EAGAIN))
			return PTR_ERR_OR_ZERO(map);
		ret = kverbs_map_await(region);
	} while (!ret);
	return ret;
}

static int map_extent(struct kverbs_conn *conn, struct kverbs_region *region,
		      struct kverbs_turn_waiter *waiter)
{
	/* Nothing keeps the device, which is only compared. */
	if (kverbs_map_lookup(region, READ_ONCE(conn->queue.ib), &conn->tenant))
		return 0;
	if (!waiter)
		return kverbs_conn_map(conn, region);
	return PTR_ERR_OR_ZERO(kverbs_map_try(region, conn->queue.ib, &conn->tenant, waiter));
}

static int map_req(struct kverbs_conn *conn, const struct kverbs_req *req,
		   struct kverbs_turn_waiter *waiter)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < kverbs_req_extents(req); i++)
		ret = map_extent(conn, kverbs_req_extent(req, i).region, waiter);
	return ret;
}

/**
 * map_reqs() - map the regions that operations name, unless that is done
 * @conn: the connection
 * @reqs: the operations
 * @nr: how many
 * @waiter: told when another task no longer maps one of them; the caller has @use read-locked. Or
 *	NULL: then the caller waits as in kverbs_conn_map().
 * @error: why not those of all: -EAGAIN if @waiter waits; as for kverbs_conn_map(); else 0
 *
 * A mapping stays until after the connection has left the device.
 *
 * Return: for how many operations they are mapped, from the first on.
 */
static unsigned int map_reqs(struct kverbs_conn *conn, struct kverbs_req **reqs,
			     unsigned int nr, struct kverbs_turn_waiter *waiter, int *error)
{
	const struct kverbs_region *last = NULL;
	unsigned int i;

	*error = 0;
	for (i = 0; i < nr; i++) {
		if (reqs[i]->region && reqs[i]->region == last)
			continue;
		*error = map_req(conn, reqs[i], waiter);
		if (*error)
			break;
		last = reqs[i]->region;
	}
	return i;
}

/*
 * Maps the regions of operations that may be posted later, so that a worker seldom has to. The
 * worker has to if the task is killed, or if there is no queue pair yet.
 */
static unsigned int map_ahead(struct kverbs_conn *conn, struct kverbs_req **reqs,
			      unsigned int nr, int *error)
{
	unsigned int mapped = map_reqs(conn, reqs, nr, NULL, error);

	if (*error != -EINTR && *error != -ENOTCONN)
		return mapped;
	*error = 0;
	return nr;
}

static int post_recv(struct kverbs_conn *conn, struct kverbs_req *req,
		     struct kverbs_turn_waiter *waiter, bool *waits)
{
	int ret;

	ret = kverbs_wr_recv(&conn->queue, &conn->lkeys, req);
	if (ret != -ENXIO)
		return ret;
	ret = map_req(conn, req, waiter);
	*waits = ret == -EAGAIN;
	return ret ?: kverbs_wr_recv(&conn->queue, &conn->lkeys, req);
}

/* Returns false if the first deferred receive has to wait, or none is left. */
static bool post_some_deferred(struct kverbs_conn *conn, struct kverbs_turn_waiter *waiter,
			       bool *waits)
{
	struct kverbs_req *reqs[KVERBS_RECV_LIST];
	unsigned int nr, posted;
	int error;

	nr = kverbs_queue_peek_deferred(&conn->queue, reqs, ARRAY_SIZE(reqs));
	if (!nr)
		return false;
	posted = kverbs_wr_recv_list(&conn->queue, reqs, nr, &error);
	if (!posted && !error)
		error = post_recv(conn, reqs[0], waiter, waits);
	if (error && error != -EAGAIN)
		kverbs_queue_fail_deferred(&conn->queue, reqs[posted], error);
	return error != -EAGAIN;
}

/**
 * kverbs_conn_post_deferred() - post the deferred receives that are ready
 * @conn: the connection
 * @waiter: told when another task no longer maps a region that a receive names; NULL: then the
 *	work of the connection goes on
 *
 * Context: process, may sleep, but not while another task maps a region.
 * Return: true if a receive waits for such a task.
 */
bool kverbs_conn_post_deferred(struct kverbs_conn *conn, struct kverbs_turn_waiter *waiter)
{
	bool waits = false;

	kverbs_queue_release_recvs(&conn->queue);
	down_read(&conn->use);
	mutex_lock(&conn->recv_lock);
	while (post_some_deferred(conn, waiter ?: &conn->recv_waiter, &waits))
		;
	mutex_unlock(&conn->recv_lock);
	up_read(&conn->use);
	return waits;
}

/* ACCEPT may change @attr until the queue is up; before that there is nothing to wait for. */
static void await_posted(struct kverbs_conn *conn, u32 ticket)
{
	if (!kverbs_queue_check_up(&conn->queue))
		kverbs_queue_await_posted(&conn->queue, conn->attr.cqs, ticket);
}

/**
 * kverbs_conn_recv_list() - accept receives, at any time before the end
 * @conn: the connection
 * @reqs: the receives; @done is called for those that are accepted
 * @nr: how many, at least 1
 * @error: why not all were accepted: -EAGAIN for want of a slot, -ENOTCONN, as for
 *	kverbs_map_try(); else 0
 *
 * Context: process, may sleep.
 * Return: how many were accepted, from the first on.
 */
unsigned int kverbs_conn_recv_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, int *error)
{
	int unmapped;
	u32 ticket;

	*error = 0;
	nr = map_ahead(conn, reqs, nr, &unmapped);
	if (nr)
		nr = kverbs_queue_defer(&conn->queue, reqs, nr, &ticket, error);
	if (nr) {
		kverbs_conn_post_deferred(conn, NULL);
		if (!kverbs_queue_is_posted(&conn->queue, ticket))
			await_posted(conn, ticket);
	}
	if (!*error)
		*error = unmapped;
	return nr;
}

/**
 * kverbs_conn_recv() - accept a receive, at any time before the end
 * @conn: the connection
 * @req: the receive; @done is called if and only if this returns 0
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN if no slot is free; -ENOTCONN; or as kverbs_map_try().
 */
int kverbs_conn_recv(struct kverbs_conn *conn, struct kverbs_req *req)
{
	int error;

	kverbs_conn_recv_list(conn, &req, 1, &error);
	return error;
}

/**
 * kverbs_conn_has_atomics() - whether transport and device support atomics
 * @conn: the connection, with its device
 *
 * Return: true if so.
 */
bool kverbs_conn_has_atomics(const struct kverbs_conn *conn)
{
	return !(conn->queue.quirks & KVERBS_QUIRK_NO_ATOMICS) &&
	       conn->pool.pd->device->attrs.atomic_cap != IB_ATOMIC_NONE;
}

static bool can_do(const struct kverbs_conn *conn, const struct kverbs_req *req)
{
	u32 flags = kverbs_opdefs[req->opcode].flags;

	if (flags & KVERBS_OPF_IMM && conn->queue.quirks & KVERBS_QUIRK_NO_IMM)
		return false;
	if (flags & KVERBS_OPF_ATOMIC && conn->queue.quirks & KVERBS_QUIRK_NO_ATOMIC_WRS)
		return false;
	if (flags & KVERBS_OPF_RESPONSE && !conn->initiator_depth)
		return false;
	return !(flags & KVERBS_OPF_ATOMIC) || kverbs_conn_has_atomics(conn);
}

static unsigned int count_doable(const struct kverbs_conn *conn, struct kverbs_req **reqs,
				 unsigned int nr)
{
	unsigned int doable;

	for (doable = 0; doable < nr; doable++)
		if (!can_do(conn, reqs[doable]))
			break;
	return doable;
}

/* The first operations that need no HCA object but the queue pair: atomics look at the device. */
static unsigned int count_direct(const struct kverbs_conn *conn, struct kverbs_req **reqs,
				 unsigned int nr)
{
	unsigned int direct;

	for (direct = 0; direct < nr; direct++)
		if (kverbs_opcode_has(reqs[direct]->opcode, KVERBS_OPF_ATOMIC) ||
		    !can_do(conn, reqs[direct]))
			break;
	return direct;
}

static unsigned int post_any(struct kverbs_conn *conn, struct kverbs_req **reqs,
			     unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int doable, posted = 0;

	down_read(&conn->use);
	*error = kverbs_queue_check_up(&conn->queue);
	if (!*error) {
		doable = count_doable(conn, reqs, nr);
		posted = kverbs_wr_post_list(&conn->queue, &conn->lkeys, reqs, doable,
					     chain, error);
		if (!*error && doable < nr)
			*error = -EOPNOTSUPP;
	}
	up_read(&conn->use);
	return posted;
}

/* A killed task leaves the mapping to a worker. */
static unsigned int map_and_post(struct kverbs_conn *conn, struct kverbs_req **reqs,
				 unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int mapped, posted;
	int unmapped;

	mapped = map_reqs(conn, reqs, nr, NULL, &unmapped);
	posted = post_any(conn, reqs, mapped, chain, error);
	if (!*error)
		*error = unmapped == -EINTR ? -EAGAIN : unmapped;
	return posted;
}

/**
 * kverbs_conn_post_list() - post operations other than receives
 * @conn: the connection
 * @reqs: the operations; @done is called for those that are posted
 * @nr: how many
 * @chain: room to build them in
 * @error: why not all were posted: -EOPNOTSUPP if the device or the transport lacks the
 *	operation, or as for kverbs_wr_post_list(); else 0
 *
 * Context: process, may sleep.
 * Return: how many were posted, from the first on.
 */
unsigned int kverbs_conn_post_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int posted = 0;

	*error = kverbs_queue_check_up(&conn->queue);
	if (!*error)
		posted = kverbs_wr_post_direct(&conn->queue, reqs, count_direct(conn, reqs, nr),
					       chain, error);
	if (!*error && posted < nr)
		posted += map_and_post(conn, reqs + posted, nr - posted, chain, error);
	return posted;
}

static struct kverbs_chain *held_chain(struct kverbs_conn *conn)
{
	lockdep_assert_held(&conn->held_lock);
	if (!conn->held_chain)
		conn->held_chain = kverbs_chain_alloc_max(conn->node);
	return conn->held_chain;
}

/* Returns false if the first held operation has to wait, or none is left. */
static bool post_some_held(struct kverbs_conn *conn)
{
	struct kverbs_chain *chain = conn->held_chain;
	unsigned int held, nr, posted = 0;
	int error;

	held = kverbs_queue_peek_held(&conn->queue, chain->reqs, chain->max_wrs);
	nr = map_reqs(conn, chain->reqs, held, &conn->held_waiter, &error);
	if (nr)
		posted = kverbs_wr_post_list(&conn->queue, &conn->lkeys, chain->reqs, nr,
					     chain, &error);
	/* A closed queue completes what it holds in kverbs_queue_flush_remaining(). */
	if (!held || error == -EAGAIN || error == -ENOTCONN)
		return false;
	if (!error)
		return true;
	/* Nothing may overtake an operation that failed, so the rest is flushed. */
	kverbs_queue_fail_held(&conn->queue, chain->reqs[posted], error);
	return false;
}

/**
 * kverbs_conn_post_held() - post the held operations for which there are slots
 * @conn: the connection
 *
 * Context: process, may sleep, but not while another task maps a region.
 */
void kverbs_conn_post_held(struct kverbs_conn *conn)
{
	down_read(&conn->use);
	mutex_lock(&conn->held_lock);
	while (conn->held_chain && post_some_held(conn))
		cond_resched();
	mutex_unlock(&conn->held_lock);
	up_read(&conn->use);
}

/**
 * kverbs_conn_refuse() - complete an operation that was never accepted by a queue
 * @conn: the connection
 * @req: the operation, in no list
 * @result: why, -errno
 *
 * Context: any but hardirq.
 */
void kverbs_conn_refuse(struct kverbs_conn *conn, struct kverbs_req *req, int result)
{
	LIST_HEAD(done_list);

	req->queue = &conn->queue;
	req->result = result;
	trace_kverbs_complete(req);
	kverbs_req_unuse(req);
	list_add(&req->entry, &done_list);
	req->done(&done_list);
}

static void refuse_all(struct kverbs_conn *conn, struct kverbs_req **reqs, unsigned int nr,
		       int result)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		kverbs_conn_refuse(conn, reqs[i], result);
}

static int hold(struct kverbs_conn *conn, struct kverbs_req **reqs, unsigned int nr)
{
	int ret = 0;

	mutex_lock(&conn->held_lock);
	if (!held_chain(conn))
		ret = -ENOMEM;
	mutex_unlock(&conn->held_lock);
	if (!ret)
		ret = kverbs_queue_hold(&conn->queue, reqs, nr);
	if (!ret)
		kverbs_conn_post_held(conn);
	return ret;
}

/* Holds an operation that has to wait and those behind it, as kverbs_conn_post_list() posts. */
static unsigned int hold_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
			      unsigned int nr, int *error)
{
	unsigned int doable = count_doable(conn, reqs, nr), mapped;
	int unmapped;

	mapped = map_ahead(conn, reqs, doable, &unmapped);
	*error = mapped ? hold(conn, reqs, mapped) : 0;
	if (*error)
		return 0;
	if (unmapped)
		*error = unmapped;
	else if (doable < nr)
		*error = -EOPNOTSUPP;
	return mapped;
}

/**
 * kverbs_conn_submit_list() - accept operations other than receives
 * @conn: the connection
 * @reqs: the operations; @done is called for each of them, maybe before this returns
 * @nr: how many
 * @chain: room to build them in; @reqs may be its own
 *
 * Operations for which the send queue has no room are held until it has. An operation that
 * cannot be posted completes with the error of kverbs_conn_post_list(), and those behind it
 * with -ECANCELED, so that none overtakes one that failed.
 *
 * Context: process, may sleep.
 * Return: false if an operation was refused.
 */
bool kverbs_conn_submit_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
			     unsigned int nr, struct kverbs_chain *chain)
{
	unsigned int done;
	int error;

	done = kverbs_conn_post_list(conn, reqs, nr, chain, &error);
	if (error == -EAGAIN)
		done += hold_list(conn, reqs + done, nr - done, &error);
	if (!error)
		return true;
	kverbs_conn_refuse(conn, reqs[done++], error);
	refuse_all(conn, reqs + done, nr - done, -ECANCELED);
	return false;
}

static void hold_recvs(struct kverbs_conn *conn, struct kverbs_req **reqs, unsigned int nr)
{
	int error = kverbs_queue_hold(&conn->queue, reqs, nr);

	if (error)
		refuse_all(conn, reqs, nr, error);
	else
		kverbs_conn_post_deferred(conn, NULL);
}

/**
 * kverbs_conn_submit_recvs() - accept receives, at any time before the end
 * @conn: the connection
 * @reqs: the receives; @done is called for each of them, maybe before this returns
 * @nr: how many, at least 1
 *
 * Receives for which the receive queue has no room are held until it has.
 *
 * Context: process, may sleep.
 */
void kverbs_conn_submit_recvs(struct kverbs_conn *conn, struct kverbs_req **reqs,
			      unsigned int nr)
{
	unsigned int done;
	int error;

	for (;;) {
		done = kverbs_conn_recv_list(conn, reqs, nr, &error);
		reqs += done;
		nr -= done;
		if (!error || error == -EAGAIN)
			break;
		/* The next one may be in a region that can be mapped. */
		kverbs_conn_refuse(conn, *reqs++, error);
		if (!--nr)
			return;
	}
	if (nr)
		hold_recvs(conn, reqs, nr);
}

/**
 * kverbs_conn_recv_pooled() - accept receives into buffers of the pool
 * @conn: the connection, its mutex held
 * @reqs: the receives; @done is called for each of them, maybe before this returns
 * @nr: how many, at most as many as there are free slots
 *
 * kverbs_conn_post_deferred() posts them.
 *
 * Return: 0, or -ENOTCONN if the connection ends: then all are flushed.
 */
int kverbs_conn_recv_pooled(struct kverbs_conn *conn, struct kverbs_req **reqs,
			    unsigned int nr)
{
	unsigned int i;
	u32 ticket;
	int error;

	lockdep_assert_held(&conn->mutex);
	i = kverbs_queue_defer(&conn->queue, reqs, nr, &ticket, &error);
	for (; i < nr; i++) {
		reqs[i]->wc_status = IB_WC_WR_FLUSH_ERR;
		kverbs_conn_refuse(conn, reqs[i], -EIO);
	}
	return error ? -ENOTCONN : 0;
}

/**
 * kverbs_conn_post_now() - post an operation without sleeping
 * @conn: the connection
 * @req: the operation, none that receives; its @done is called if and only if this returns 0
 * @chain: room to build it in
 * @mr: as for kverbs_wr_post_now()
 *
 * Context: process or softirq.
 * Return: as kverbs_wr_post_now(); -EOPNOTSUPP.
 */
int kverbs_conn_post_now(struct kverbs_conn *conn, struct kverbs_req *req,
			 struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	int ret;

	/* Only the teardown writes, when the queue is closed. */
	if (!down_read_trylock(&conn->use))
		return -ENOTCONN;
	ret = kverbs_queue_check_up(&conn->queue);
	if (!ret && !can_do(conn, req))
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = kverbs_wr_post_now(&conn->queue, &conn->pool, req, chain, mr);
	up_read(&conn->use);
	return ret;
}

/**
 * kverbs_conn_post_list_now() - post the first of some operations together, without sleeping
 * @conn: the connection
 * @reqs: the operations, none that receives or has an MR; @done is called for those that are
 *	posted
 * @nr: how many, at least 1
 * @chain: room to build them in
 * @error: as for kverbs_wr_post_direct(); -ENOTCONN
 *
 * Context: process or softirq.
 * Return: how many were posted. If that is less than @nr, and @error is 0, the next one is for
 * kverbs_conn_post_now().
 */
unsigned int kverbs_conn_post_list_now(struct kverbs_conn *conn, struct kverbs_req **reqs,
				       unsigned int nr, struct kverbs_chain *chain, int *error)
{
	*error = kverbs_queue_check_up(&conn->queue);
	if (*error)
		return 0;
	return kverbs_wr_post_direct(&conn->queue, reqs, count_direct(conn, reqs, nr), chain,
				     error);
}

/* Before the queue pair exists the connection's work posts the receive. */
static int recv_early(struct kverbs_conn *conn, struct kverbs_req *req)
{
	u32 ticket;
	int error;

	kverbs_queue_defer(&conn->queue, &req, 1, &ticket, &error);
	if (!error)
		conn->queue.ops->kick(&conn->queue);
	return error;
}

/**
 * kverbs_conn_recv_now() - accept a receive without sleeping, at any time before the end
 * @conn: the connection
 * @req: the receive, one that is @direct; its @done is called if and only if this returns 0
 * @chain: room to build it in
 *
 * A receive that is accepted before the queue pair exists completes with -EMSGSIZE if it takes
 * too many entries.
 *
 * Context: process or softirq.
 * Return: as kverbs_wr_recv_now().
 */
int kverbs_conn_recv_now(struct kverbs_conn *conn, struct kverbs_req *req,
			 struct kverbs_chain *chain)
{
	int ret;

	if (!down_read_trylock(&conn->use))
		return -ENOTCONN;
	if (kverbs_queue_has_qp(&conn->queue))
		ret = kverbs_wr_recv_now(&conn->queue, conn->pool.pd, req, chain);
	else
		ret = recv_early(conn, req);
	up_read(&conn->use);
	return ret;
}

/**
 * kverbs_conn_invalidate_now() - invalidate a reserved MR without sleeping
 * @conn: the connection
 * @req: an operation of KVERBS_OP_NONE; its @done is called if and only if this returns 0
 * @chain: room to build it in
 * @mr: the MR
 *
 * Context: process or softirq.
 * Return: as kverbs_wr_invalidate_now().
 */
int kverbs_conn_invalidate_now(struct kverbs_conn *conn, struct kverbs_req *req,
			       struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	int ret;

	if (!down_read_trylock(&conn->use))
		return -ENOTCONN;
	ret = kverbs_queue_check_up(&conn->queue);
	if (!ret)
		ret = kverbs_wr_invalidate_now(&conn->queue, req, chain, mr);
	up_read(&conn->use);
	return ret;
}
