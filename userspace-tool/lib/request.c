// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of a request, and its callback.
 */
#include <errno.h>

#include "any.h"
#include "batch.h"
#include "conn.h"
#include "copy.h"
#include "fifo.h"
#include "internal.h"
#include "queue.h"
#include "request.h"
#include "wait.h"

static int load_state(const struct kverbs_req *req)
{
	return __atomic_load_n(&req->priv.state, __ATOMIC_ACQUIRE);
}

static void set_state(struct kverbs_req *req, enum kverbs_req_state state)
{
	__atomic_store_n(&req->priv.state, state, __ATOMIC_RELEASE);
}

bool kverbs_req_is_pending(const struct kverbs_req *req)
{
	return load_state(req) == KVERBS_REQ_PENDING;
}

static void link_req(struct kverbs_conn *conn, struct kverbs_req *req)
{
	req->priv.prev = NULL;
	req->priv.next = conn->reqs;
	if (conn->reqs)
		conn->reqs->priv.prev = req;
	conn->reqs = req;
}

static void unlink_req(struct kverbs_conn *conn, struct kverbs_req *req)
{
	if (req->priv.prev)
		req->priv.prev->priv.next = req->priv.next;
	else
		conn->reqs = req->priv.next;
	if (req->priv.next)
		req->priv.next->priv.prev = req->priv.prev;
}

static bool is_in_use(const struct kverbs_req *req)
{
	return req->priv.state == KVERBS_REQ_PENDING || req->priv.state == KVERBS_REQ_DUE;
}

static void begin(struct kverbs *kv, struct kverbs_req *req, unsigned int parts)
{
	req->result = 0;
	req->wc_status = 0;
	req->flags = 0;
	req->imm = 0;
	req->byte_len = 0;
	req->priv.kv = kv;
	req->priv.conn = NULL;
	req->priv.from = NULL;
	req->priv.slot = 0;
	req->priv.pending = parts;
	set_state(req, KVERBS_REQ_PENDING);
}

void kverbs_req_adopt(struct kverbs_conn *conn, struct kverbs_req *req)
{
	req->priv.conn = conn;
	req->priv.from = conn;
	link_req(conn, req);
}

int kverbs_req_begin(struct kverbs_conn *conn, struct kverbs_req *req,
		     unsigned int parts)
{
	if (is_in_use(req))
		return -EBUSY;
	if (conn->error)
		return conn->error;
	begin(conn->kv, req, parts);
	kverbs_req_adopt(conn, req);
	return 0;
}

int kverbs_req_begin_pooled(struct kverbs *kv, struct kverbs_req *req)
{
	if (is_in_use(req))
		return -EBUSY;
	begin(kv, req, 1);
	return 0;
}

void kverbs_req_abort_pooled(struct kverbs_req *req)
{
	set_state(req, KVERBS_REQ_IDLE);
}

void kverbs_req_abort(struct kverbs_conn *conn, struct kverbs_req *req)
{
	unlink_req(conn, req);
	kverbs_copy_put(conn->kv, req);
	req->priv.conn = NULL;
	set_state(req, KVERBS_REQ_IDLE);
}

void kverbs_req_release(struct kverbs_req *req)
{
	req->priv.conn = NULL;
	set_state(req, KVERBS_REQ_COMPLETE);
}

static void done_add(struct kverbs *kv, struct kverbs_req *req)
{
	fifo_add(&kv->done.due, req);
	req->priv.conn->callbacks++;
}

static void wake_waiters(struct kverbs *kv, const struct kverbs_req *req)
{
	kverbs_wake(kv, req);
	if (!list_empty(&kv->anys))
		kverbs_any_wake(kv, req);
}

static void run_one(struct kverbs *kv)
{
	struct kverbs_done *d = &kv->done;
	struct kverbs_req *req = fifo_pop(&d->due);
	kverbs_done_fn done = req->done;

	d->running = req;
	d->running_conn = req->priv.conn;
	/* The request belongs to the caller again: it may be freed or posted in done(). */
	kverbs_req_release(req);
	pthread_mutex_unlock(&kv->lock);
	done(req);
	pthread_mutex_lock(&kv->lock);

	d->running = NULL;
	if (d->running_conn) {
		d->running_conn->callbacks--;
		kverbs_wake(kv, d->running_conn);
	}
	wake_waiters(kv, req);
}

void kverbs_done_run(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		     uint64_t deadline)
{
	struct kverbs_done *d = &kv->done;

	if (d->busy)
		return;
	d->busy = true;
	d->runner = pthread_self();
	while (d->due.first) {
		/* The leader, if it sleeps in the kernel, accepts the offer when it wakes. */
		if (d->offered && kverbs_wake_heir(kv))
			break;
		run_one(kv);
		if (!d->offered)
			d->offered = met(kv, arg) || kverbs_deadline_passed(deadline);
	}
	d->busy = false;
	/* A thread that has accepted the offer may find nothing left: it leads. */
	if (d->offered && !d->due.first && !kv->led)
		kverbs_wake_heir(kv);
	d->offered = false;
}

bool kverbs_done_is_offered(const struct kverbs *kv)
{
	return kv->done.busy && kv->done.offered && kv->done.due.first && !kverbs_done_here(kv);
}

bool kverbs_done_due(const struct kverbs *kv)
{
	return kv->done.due.first && !kv->done.busy;
}

bool kverbs_done_here(const struct kverbs *kv)
{
	return kv->done.busy && pthread_equal(kv->done.runner, pthread_self());
}

/* Let callbacks that are due run after @conn is freed. */
static void forget_conn(struct kverbs_done *d, const struct kverbs_conn *conn)
{
	struct kverbs_req *req;

	for (req = d->due.first; req; req = req->priv.next)
		if (req->priv.conn == conn)
			req->priv.conn = NULL;
	if (d->running_conn == conn)
		d->running_conn = NULL;
}

void kverbs_done_flush(struct kverbs *kv, struct kverbs_conn *conn)
{
	kverbs_done_run(kv, kverbs_at_once, NULL, 0);
	if (kverbs_done_here(kv)) {
		forget_conn(&kv->done, conn);
		return;
	}
	while (conn->callbacks)
		kverbs_wait_woken_nowake(kv, conn);
}

static void complete(struct kverbs_conn *conn, struct kverbs_req *req)
{
	unlink_req(conn, req);
	/* A callback finds the slot free. */
	kverbs_copy_put(conn->kv, req);
	if (req->done) {
		set_state(req, KVERBS_REQ_DUE);
		if (kverbs_is_queued(req))
			kverbs_queue_add(conn->kv, req);
		else
			done_add(conn->kv, req);
	} else {
		kverbs_req_release(req);
	}
	wake_waiters(conn->kv, req);
}

static void put_parts(struct kverbs_conn *conn, struct kverbs_req *req,
		      unsigned int parts)
{
	req->priv.pending -= parts;
	if (!req->priv.pending)
		complete(conn, req);
}

static int part_error(const struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	if (conn->freeing && cqe->wc_status == WC_WR_FLUSH_ERR)
		return -ECANCELED;
	/* The reason why the connection ended says more than -ENOTCONN. */
	if (cqe->result == -ENOTCONN && conn->error)
		return conn->error;
	return cqe->result;
}

void kverbs_req_silent_failed(struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	if (!cqe->wc_status && !conn->silent_error)
		conn->silent_error = cqe->result;
	if (!conn->silent_status)
		conn->silent_status = cqe->wc_status;
}

/* Report a failure of an earlier operation that had no request through the next request. */
static unsigned int part_status(struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	unsigned int status = conn->silent_status;

	if (!status || cqe->flags & KVERBS_CQE_F_RECV)
		return cqe->wc_status;
	conn->silent_status = 0;
	return status;
}

/*
 * Defer a completion until the connection is established, so that a callback can
 * answer the message that it reports.
 */
static void add_early(struct kverbs_conn *conn, struct kverbs_req *req)
{
	struct kverbs_req **end = &conn->early;

	while (*end)
		end = &(*end)->priv.early;
	req->priv.early = NULL;
	*end = req;
}

void kverbs_req_part_done(struct kverbs_conn *conn, struct kverbs_req *req,
			  const struct kverbs_cqe *cqe)
{
	req->flags |= cqe->flags;
	if (cqe->flags & KVERBS_CQE_F_IMM)
		req->imm = cqe->imm;
	if (cqe->flags & KVERBS_CQE_F_INV)
		req->imm = cqe->revoked_key;
	if (!cqe->result) {
		req->byte_len += cqe->byte_len;
	} else if (!req->result) {
		req->result = part_error(conn, cqe);
		req->wc_status = part_status(conn, cqe);
	}
	if (!conn->established && !conn->error && !req->result)
		add_early(conn, req);
	else
		put_parts(conn, req, 1);
}

void kverbs_req_end_early(struct kverbs_conn *conn)
{
	struct kverbs_req *req;

	while ((req = conn->early)) {
		conn->early = req->priv.early;
		put_parts(conn, req, 1);
	}
}

void kverbs_req_drop_parts(struct kverbs_conn *conn, struct kverbs_req *req,
			   unsigned int parts, int error)
{
	if (!req->result)
		req->result = error;
	put_parts(conn, req, parts);
}

void kverbs_req_cancel_all(struct kverbs_conn *conn)
{
	struct kverbs_req *req;

	kverbs_req_end_early(conn);
	while ((req = conn->reqs))
		kverbs_req_drop_parts(conn, req, req->priv.pending, -ECANCELED);
}

struct kverbs_conn *kverbs_req_conn(const struct kverbs_req *req)
{
	return req->priv.from;
}

bool kverbs_complete(const struct kverbs_req *req)
{
	return load_state(req) == KVERBS_REQ_COMPLETE;
}

static bool not_pending(struct kverbs *kv, const void *arg)
{
	const struct kverbs_req *req = arg;

	(void)kv;
	return req->priv.state != KVERBS_REQ_PENDING;
}

static bool runs_elsewhere(const struct kverbs *kv, const struct kverbs_req *req)
{
	return kv->done.running == req && !kverbs_done_here(kv);
}

bool kverbs_req_is_settled(const struct kverbs *kv, const struct kverbs_req *req)
{
	return req->priv.state == KVERBS_REQ_COMPLETE && !runs_elsewhere(kv, req);
}

bool kverbs_req_is_due(const struct kverbs *kv, const struct kverbs_req *req)
{
	return req->priv.state == KVERBS_REQ_DUE ||
	       (req->priv.state == KVERBS_REQ_COMPLETE && runs_elsewhere(kv, req));
}

/*
 * Completions come by the ring, the end of a callback does not: leading would
 * be waiting for something else.
 */
static int wait_settled(struct kverbs *kv, struct kverbs_req *req, uint64_t deadline)
{
	int ret = 0;

	while (!ret && !kverbs_req_is_settled(kv, req)) {
		if (req->priv.state == KVERBS_REQ_PENDING)
			ret = kverbs_wait_met(kv, not_pending, req, req, deadline);
		else
			ret = kverbs_wait_woken(kv, req, deadline);
	}
	return ret;
}

static int wait_until(struct kverbs_req *req, uint64_t deadline)
{
	struct kverbs *kv = req->priv.kv;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	pthread_mutex_lock(&kv->lock);
	if (!kverbs_req_is_settled(kv, req) && kverbs_done_here(kv))
		ret = -EDEADLK;
	else
		ret = wait_settled(kv, req, deadline);
	if (!ret)
		ret = req->result;
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

bool kverbs_req_was_posted(const struct kverbs_req *req)
{
	return req->priv.kv && load_state(req) != KVERBS_REQ_IDLE;
}

/* A request that goes to the queue is kverbs_poll()'s. */
static bool may_await(const struct kverbs_req *req)
{
	return kverbs_req_was_posted(req) && !kverbs_is_queued(req);
}

int kverbs_wait(struct kverbs_req *req, int timeout_ms)
{
	if (kverbs_complete(req) && !req->done)
		return req->result;
	return may_await(req) ? wait_until(req, kverbs_deadline(timeout_ms)) : -EINVAL;
}

int kverbs_post_wait(struct kverbs_conn *conn, const struct kverbs_op *op,
		     struct kverbs_req *req, int timeout_ms)
{
	struct kverbs_batch_wait wait = {
		.req = req,
		.deadline = kverbs_deadline(timeout_ms),
	};
	struct kverbs_batch batch = { .conn = conn, .ops = op, .nr = 1, .wait = &wait };
	int ret;

	if (kverbs_is_queued(req))
		return -EINVAL;
	ret = kverbs_batch_post(&batch);
	if (ret < 0)
		return ret;
	if (kverbs_complete(req) && !req->done)
		return req->result;
	if (!may_await(req))
		return -EINVAL;
	if (wait.early && kverbs_req_is_pending(req) &&
	    !kverbs_deadline_passed(wait.deadline))
		return -EINTR;
	return wait_until(req, wait.deadline);
}
