// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ending a connection when its operations are complete. They complete in order, so a WRITE of
 * no bytes behind them tells of all. The peer's program takes no part, and there is no key.
 */
#include <errno.h>

#include "batch.h"
#include "conn.h"
#include "internal.h"
#include "request.h"
#include "wait.h"

static struct kverbs_segment nothing;

static const struct kverbs_token no_bytes = {
	.access = KVERBS_REMOTE_WRITE,
	.nr_segs = 1,
	.segs = &nothing,
};

/* The fence is for devices that complete a WRITE before an earlier READ. */
static int post_flush(struct kverbs_conn *conn, uint64_t deadline)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE,
		.flags = KVERBS_SQE_FENCE,
		.token = &no_bytes,
		.req = &conn->flush,
	};
	const struct kverbs_batch batch = {
		.conn = conn, .ops = &op, .nr = 1, .deadline = deadline,
	};
	int ret = kverbs_batch_post(&batch);

	return ret < 0 ? ret : 0;
}

static bool flush_is_over(struct kverbs *kv, const void *arg)
{
	const struct kverbs_conn *conn = arg;

	(void)kv;
	return !kverbs_req_is_pending(&conn->flush);
}

static bool has_ended(struct kverbs *kv, const void *arg)
{
	const struct kverbs_conn *conn = arg;

	(void)kv;
	return conn->error;
}

static int wait_for_end(struct kverbs_conn *conn, uint64_t deadline)
{
	struct kverbs *kv = conn->kv;

	if (!conn->error && kverbs_done_here(kv))
		return -EDEADLK;
	return kverbs_wait_met(kv, has_ended, conn, conn, deadline);
}

/* The flush has failed: the connection ends, or the kernel has refused just this operation. */
static int failure(struct kverbs_conn *conn, uint64_t deadline)
{
	int error = conn->flush.result, ret = 0;

	if (error == -EIO || (error == -ENOTCONN && conn->established))
		ret = wait_for_end(conn, deadline);
	if (ret)
		return ret;
	return conn->error ? conn->error : error;
}

/*
 * Wait until no flush is in flight, and set *flushed if that was behind all operations: one of
 * this call, or an earlier one that no operation has followed.
 */
static int wait_for_flush(struct kverbs_conn *conn, uint64_t deadline, bool posted,
			  bool *flushed)
{
	struct kverbs *kv = conn->kv;
	int ret;

	if (conn->error)
		return conn->error;
	if (kverbs_done_here(kv))
		return -EDEADLK;
	ret = kverbs_wait_met(kv, flush_is_over, conn, &conn->flush, deadline);
	if (ret)
		return ret;
	if (posted && conn->flush.result)
		return failure(conn, deadline);
	*flushed = posted || (kverbs_complete(&conn->flush) && !conn->flush.result &&
			      !conn->unflushed);
	return 0;
}

static int flush(struct kverbs_conn *conn, uint64_t deadline)
{
	bool posted = false, flushed = false;
	int ret;

	for (;;) {
		pthread_mutex_lock(&conn->kv->lock);
		ret = wait_for_flush(conn, deadline, posted, &flushed);
		pthread_mutex_unlock(&conn->kv->lock);
		if (ret || flushed)
			return ret;
		ret = post_flush(conn, deadline);
		posted = !ret;
		/* Another thread was faster. */
		if (ret && ret != -EBUSY)
			return ret;
	}
}

/* -ENOTCONN: the connection ends already, and the reason is awaited. */
static int disconnect(struct kverbs_conn *conn)
{
	int ret = kverbs_disconnect(conn);

	if (ret)
		return ret == -ENOTCONN ? 0 : ret;
	pthread_mutex_lock(&conn->kv->lock);
	conn->shut = true;
	pthread_mutex_unlock(&conn->kv->lock);
	return 0;
}

static bool is_shut(struct kverbs_conn *conn)
{
	bool shut;

	pthread_mutex_lock(&conn->kv->lock);
	shut = conn->shut;
	pthread_mutex_unlock(&conn->kv->lock);
	return shut;
}

int kverbs_shutdown(struct kverbs_conn *conn, int timeout_ms)
{
	uint64_t deadline = kverbs_deadline(timeout_ms);
	int ret = 0;

	if (kverbs_is_child(conn->kv))
		return -ECHILD;
	if (!is_shut(conn)) {
		ret = flush(conn, deadline);
		if (!ret)
			ret = disconnect(conn);
	}
	if (ret)
		return ret;
	pthread_mutex_lock(&conn->kv->lock);
	ret = wait_for_end(conn, deadline);
	if (!ret && !conn->shut)
		ret = conn->error;
	pthread_mutex_unlock(&conn->kv->lock);
	return ret;
}
