/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests: the caller's memory while the library has it. All under kv->lock.
 *
 * A request's address is its entries' user_data. It stands in its connection's
 * list until its last part has completed, and a connection leaves the table
 * only with that list empty: no completion can lead to a request that is gone.
 */
#ifndef KVERBS_REQUEST_H
#define KVERBS_REQUEST_H

#include <stdbool.h>

#include <kverbs.h>

struct kverbs;

enum kverbs_req_state {
	KVERBS_REQ_IDLE,
	KVERBS_REQ_PENDING,
	KVERBS_REQ_DUE,		/* complete, its callback has not begun */
	KVERBS_REQ_COMPLETE,	/* its owner's again */
};

/* Take a request for @parts completions; -EBUSY: it is in use. */
int kverbs_req_begin(struct kverbs_conn *conn, struct kverbs_req *req,
		     unsigned int parts);
/* Give it back as if it had never been posted. */
void kverbs_req_abort(struct kverbs_conn *conn, struct kverbs_req *req);
/* End those that completed before the connection was known to be up. */
void kverbs_req_end_early(struct kverbs_conn *conn);
/* A part has completed. */
void kverbs_req_part_done(struct kverbs_conn *conn, struct kverbs_req *req,
			  const struct kverbs_cqe *cqe);
/* An operation without a request has failed. */
void kverbs_req_silent_failed(struct kverbs_conn *conn, const struct kverbs_cqe *cqe);
/* @parts will never complete, for @error, or for none. */
void kverbs_req_drop_parts(struct kverbs_conn *conn, struct kverbs_req *req,
			   unsigned int parts, int error);
/* Complete all that @conn still has. */
void kverbs_req_cancel_all(struct kverbs_conn *conn);

/*
 * Run the callbacks that are due, unless a thread does so already, be it this
 * one: a callback that waits for room to post does not nest another.
 */
void kverbs_done_run(struct kverbs *kv);
/* Whether there is something to run, and nobody at it. */
bool kverbs_done_due(const struct kverbs *kv);
/* Whether this thread is in a callback. */
bool kverbs_done_here(const struct kverbs *kv);
/* Return when no callback of @conn's is due or running. */
void kverbs_done_flush(struct kverbs *kv, struct kverbs_conn *conn);

#endif /* KVERBS_REQUEST_H */
