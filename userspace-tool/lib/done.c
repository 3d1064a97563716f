// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of callbacks that are due, and running them.
 */
#include "conn.h"
#include "done.h"
#include "internal.h"
#include "request.h"

void kverbs_done_add(struct kverbs *kv, struct kverbs_req *req)
{
	struct kverbs_done *d = &kv->done;

	req->priv.next = NULL;
	if (d->last)
		d->last->priv.next = req;
	else
		d->first = req;
	d->last = req;
	req->priv.conn->callbacks++;
}

static struct kverbs_req *pop(struct kverbs_done *d)
{
	struct kverbs_req *req = d->first;

	d->first = req->priv.next;
	if (!d->first)
		d->last = NULL;
	return req;
}

/* From here on the request is its owner's again. */
static kverbs_done_fn release(struct kverbs_done *d, struct kverbs_req *req)
{
	kverbs_done_fn done = req->done;

	d->running = req;
	d->running_conn = req->priv.conn;
	kverbs_req_release(req);
	return done;
}

static void run_one(struct kverbs *kv)
{
	struct kverbs_done *d = &kv->done;
	struct kverbs_req *req = pop(d);
	kverbs_done_fn done = release(d, req);

	pthread_mutex_unlock(&kv->lock);
	done(req);
	pthread_mutex_lock(&kv->lock);

	d->running = NULL;
	if (d->running_conn) {
		d->running_conn->callbacks--;
		kverbs_wake(kv, d->running_conn);
	}
	kverbs_wake(kv, req);
}

void kverbs_done_run(struct kverbs *kv)
{
	struct kverbs_done *d = &kv->done;

	if (d->busy)
		return;
	d->busy = true;
	d->runner = pthread_self();
	while (d->first)
		run_one(kv);
	d->busy = false;
}

bool kverbs_done_due(const struct kverbs *kv)
{
	return kv->done.first && !kv->done.busy;
}

bool kverbs_done_here(const struct kverbs *kv)
{
	return kv->done.busy && pthread_equal(kv->done.runner, pthread_self());
}

bool kverbs_done_running(const struct kverbs *kv, const struct kverbs_req *req)
{
	return kv->done.running == req && !kverbs_done_here(kv);
}

/* What is due will run without its connection. */
static void forget_conn(struct kverbs_done *d, const struct kverbs_conn *conn)
{
	struct kverbs_req *req;

	for (req = d->first; req; req = req->priv.next)
		if (req->priv.conn == conn)
			req->priv.conn = NULL;
	if (d->running_conn == conn)
		d->running_conn = NULL;
}

void kverbs_done_flush(struct kverbs *kv, struct kverbs_conn *conn)
{
	kverbs_done_run(kv);
	if (kverbs_done_here(kv)) {
		forget_conn(&kv->done, conn);
		return;
	}
	while (conn->callbacks)
		kverbs_wait_woken(kv, conn, 0);
}
