/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests: memory of the caller that the library owns until completion. All under kv->lock.
 *
 * A request's address is its entries' user_data. It stands in its connection's
 * list until its last part has completed, and a connection leaves the table
 * only with that list empty: no completion can lead to a request that is gone.
 */
#ifndef KVERBS_REQUEST_H
#define KVERBS_REQUEST_H

#include <stdbool.h>

#include <kverbs.h>

#include "wait.h"

/* enum ib_wc_status: flushed because its connection ended */
#define WC_WR_FLUSH_ERR 5

struct kverbs;

enum kverbs_req_state {
	KVERBS_REQ_IDLE,
	KVERBS_REQ_PENDING,
	KVERBS_REQ_DUE,		/* complete, its callback has not begun, or it is in the queue */
	KVERBS_REQ_COMPLETE,	/* owned by the caller again */
};

/* Own @req until @parts completions; -EBUSY: it is in use. */
int kverbs_req_begin(struct kverbs_conn *conn, struct kverbs_req *req,
		     unsigned int parts);
/* True from kverbs_req_begin() until the completion of the last part has been read. */
bool kverbs_req_is_pending(const struct kverbs_req *req);
/* False: @req is not in use, and waiting for it would be an error. */
bool kverbs_req_was_posted(const struct kverbs_req *req);
/* True if @req is complete and its callback has returned, or is the caller. */
bool kverbs_req_is_settled(const struct kverbs *kv, const struct kverbs_req *req);
/* True if @req is complete, but its callback is due or running in another thread. */
bool kverbs_req_is_due(const struct kverbs *kv, const struct kverbs_req *req);
/* Return @req to the caller as if it had never been posted. */
void kverbs_req_abort(struct kverbs_conn *conn, struct kverbs_req *req);
/* Own @req, which a buffer of a pool has, until its completion on a connection not known yet. */
int kverbs_req_begin_pooled(struct kverbs *kv, struct kverbs_req *req);
/* The buffer of @req has completed on @conn. */
void kverbs_req_adopt(struct kverbs_conn *conn, struct kverbs_req *req);
/* kverbs_req_abort() for a request that no connection has adopted. */
void kverbs_req_abort_pooled(struct kverbs_req *req);
/* Complete requests deferred until the connection was established. */
void kverbs_req_end_early(struct kverbs_conn *conn);
/* Account a completion of one part of @req. */
void kverbs_req_part_done(struct kverbs_conn *conn, struct kverbs_req *req,
			  const struct kverbs_cqe *cqe);
/* Remember the failure of an operation without a request. */
void kverbs_req_silent_failed(struct kverbs_conn *conn, const struct kverbs_cqe *cqe);
/* Drop @parts of @req that will never complete; @error may be 0. */
void kverbs_req_drop_parts(struct kverbs_conn *conn, struct kverbs_req *req,
			   unsigned int parts, int error);
/* Return @req, which is complete, to the caller. */
void kverbs_req_release(struct kverbs_req *req);
/* Cancel all requests of @conn. */
void kverbs_req_cancel_all(struct kverbs_conn *conn);

/*
 * Run the callbacks that are due, unless a thread does so already. That may be the
 * calling thread: a callback that waits for room to post does not nest another. When
 * met() holds or @deadline has passed, the rest is left to another thread that waits.
 */
void kverbs_done_run(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		     uint64_t deadline);
/* True if another thread runs callbacks and wants to leave the rest to this one. */
bool kverbs_done_is_offered(const struct kverbs *kv);
/* True if a callback is due and no thread runs callbacks. */
bool kverbs_done_due(const struct kverbs *kv);
/* True in a callback. */
bool kverbs_done_here(const struct kverbs *kv);
/* Wait until no callback of @conn is due or running. */
void kverbs_done_flush(struct kverbs *kv, struct kverbs_conn *conn);

#endif /* KVERBS_REQUEST_H */
