// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reading the ring. A completion finds its object by id or, for a listener's
 * requests, by key: one that came too late for its object finds nothing.
 */
#include <errno.h>

#include "buf.h"
#include "conn.h"
#include "dispatch.h"
#include "internal.h"
#include "listener.h"
#include "pool.h"
#include "request.h"
#include "wait.h"

static void dispatch_buffer(struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	struct kverbs_req *req = kverbs_pool_take(conn, cqe->buf_id);

	if (req)
		kverbs_req_part_done(conn, req, cqe);
}

static void dispatch_work(struct kverbs *kv, const struct kverbs_cqe *cqe)
{
	struct kverbs_conn *conn = kverbs_conn_find(kv, cqe->id);

	if (conn && !conn->failed_status && cqe->wc_status != WC_WR_FLUSH_ERR)
		conn->failed_status = cqe->wc_status;
	if (cqe->flags & KVERBS_CQE_F_BUFFER) {
		if (conn)
			dispatch_buffer(conn, cqe);
		return;
	}
	/* The request is there as long as its connection is in the table. */
	if (conn && cqe->user_data)
		kverbs_req_part_done(conn, (void *)(uintptr_t)cqe->user_data, cqe);
	else if (conn)
		kverbs_req_silent_failed(conn, cqe);
}

static void dispatch_event(struct kverbs *kv, const struct kverbs_cqe *cqe)
{
	struct kverbs_obj *obj = kverbs_table_find(&kv->table, cqe->id);

	if (!obj)
		return;
	if (obj->type == KVERBS_OBJ_CONN)
		kverbs_conn_event(list_entry(obj, struct kverbs_conn, obj), cqe);
	else
		kverbs_listener_event(list_entry(obj, struct kverbs_listener, obj),
				      cqe);
}

static void dispatch(struct kverbs *kv, const struct kverbs_cqe *cqe)
{
	switch (cqe->type) {
	case KVERBS_CQE_WORK:
		dispatch_work(kv, cqe);
		break;
	case KVERBS_CQE_CONN_REQUEST:
		kverbs_listener_request(kv, cqe);
		break;
	default:
		dispatch_event(kv, cqe);
		break;
	}
}

unsigned int kverbs_reap(struct kverbs *kv)
{
	struct kverbs_cqe cqe;
	unsigned int n = 0;

	/* Their completions make kverbs_fd() readable, too. */
	kverbs_stale_reap(kv);
	while (kverbs_ring_next(&kv->ring, &cqe)) {
		dispatch(kv, &cqe);
		n++;
	}
	if (!n)
		return 0;
	kverbs_ring_seen(&kv->ring);
	kverbs_pools_wake(kv);
	__atomic_store_n(&kv->reaped, kv->reaped + n, __ATOMIC_RELEASE);
	/* There is room again for those who post, and news for process(). */
	kverbs_wake(kv, kv);
	return n;
}

static bool read_up_to(struct kverbs *kv, const void *arg)
{
	const uint32_t *target = arg;

	return (int32_t)(kv->ring.cq_head - *target) >= 0;
}

void kverbs_drain(struct kverbs *kv)
{
	uint32_t target = kverbs_ring_cq_tail(&kv->ring);

	/* Nothing but a signal can end it early: the ring is not empty. */
	while (kverbs_wait_met_nowake(kv, read_up_to, &target, kv))
		;
}

static bool reaped_more(struct kverbs *kv, const void *arg)
{
	const uint32_t *seen = arg;

	return kverbs_reaped(kv) != *seen;
}

int kverbs_process(struct kverbs *kv, int timeout_ms)
{
	uint64_t deadline = kverbs_deadline(timeout_ms);
	uint32_t seen, n;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	pthread_mutex_lock(&kv->lock);
	seen = kverbs_reaped(kv);
	if (kverbs_done_here(kv))
		ret = -EDEADLK;
	else
		ret = kverbs_wait_met(kv, reaped_more, &seen, kv, deadline);
	n = kverbs_reaped(kv) - seen;
	pthread_mutex_unlock(&kv->lock);
	if (n)
		return (int)n;
	return ret == -ETIMEDOUT ? 0 : ret;
}
