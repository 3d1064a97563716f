/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_H
#define KVERBS_CONN_H

#include <kverbs.h>

#include "list.h"
#include "table.h"

/*
 * @kv: the context; its lock covers what follows
 * @obj: place in the table
 * @node: in the context's list
 * @request: in its listener's list, until it is taken from there
 * @reqs: requests that are not complete
 * @early: receives that ended before the connection was known to be up, in order
 * @callbacks: of requests that are complete, due or running
 * @established: it was up
 * @disconnecting: this side ends it
 * @freeing: kverbs_conn_free() is at it
 * @error: why it ended, 0 while it has not
 * @reject_reason: of the CM, if the peer refused
 * @failed_status: of the first operation that failed, but for one flushed
 * @silent_status: of the first operation without a request that failed, until the
 *	request after it has it
 * @silent_error: -errno of an operation without a request that the kernel refused, until the
 *	next call that posts without a request returns it
 * @flush: the request of kverbs_shutdown(), which may be in flight when that has returned
 * @unflushed: an operation other than a receive was posted after @flush
 * @shut: kverbs_shutdown() has ended it
 * @max_msg: the most that one entry may carry, 0: not asked yet; atomic
 * @pool: where its receives come from, or NULL
 * @data: the caller's
 */
struct kverbs_conn {
	struct kverbs *kv;
	struct kverbs_obj obj;
	struct list_head node;
	struct list_head request;
	struct kverbs_req *reqs;
	struct kverbs_req *early;
	unsigned int callbacks;
	bool established;
	bool disconnecting;
	bool freeing;
	int error;
	uint32_t reject_reason;
	unsigned int failed_status;
	unsigned int silent_status;
	int silent_error;
	struct kverbs_req flush;
	bool unflushed;
	bool shut;
	uint64_t max_msg;
	struct kverbs_pool *pool;
	void *data;
};

/* These are called with kv->lock held. */
struct kverbs_conn *kverbs_conn_find(struct kverbs *kv, uint32_t id);
void kverbs_conn_publish(struct kverbs *kv, struct kverbs_conn *conn, uint32_t id);
/* Let @conn belong to another worker of its context; with the locks of both held. */
void kverbs_conn_move(struct kverbs_conn *conn, struct kverbs *to);
void kverbs_conn_event(struct kverbs_conn *conn, const struct kverbs_cqe *cqe);
/* Takes @silent_error. */
int kverbs_conn_silent_error(struct kverbs_conn *conn);

/* These without. */
bool kverbs_conn_was_up(struct kverbs_conn *conn);
struct kverbs_conn *kverbs_conn_alloc(void);
/* The most that one entry may carry, or -errno. */
int kverbs_conn_max_msg(struct kverbs_conn *conn, uint64_t *max_msg);

#endif /* KVERBS_CONN_H */
