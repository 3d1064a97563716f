// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection's way up, on the side that asks: address, route, queue pair, request. */
#include "conn.h"
#include "fault.h"
#include "workqueue.h"

/* ib_core misses a neighbour's quick answer, and looks again when this is over. */
#define RESOLVE_MS	200

/**
 * kverbs_conn_begin_addr() - have the peer's address resolved
 * @conn: the connection, its mutex held
 *
 * Return: 0 or -errno.
 */
int kverbs_conn_begin_addr(struct kverbs_conn *conn)
{
	unsigned int ms = min_t(unsigned int, conn->attr.timeout_ms, RESOLVE_MS);

	return kverbs_fault() ?: rdma_resolve_addr(conn->id, NULL,
						   (struct sockaddr *)&conn->remote, ms);
}

static int begin_route(struct kverbs_conn *conn)
{
	int ret;

	ret = kverbs_device_enter(conn->id->device, &conn->tenant, KVERBS_TENANT_CM,
				  kverbs_conn_evict);
	if (ret)
		return ret;
	kverbs_conn_note_addresses(conn);
	return kverbs_fault() ?: rdma_resolve_route(conn->id, conn->attr.timeout_ms);
}

static void dial_failed(struct kverbs_dial *dial, int error)
{
	kverbs_conn_end(container_of(dial, struct kverbs_conn, dial), KVERBS_CQE_FAILED, error, 0);
}

static int begin_connect(struct kverbs_conn *conn)
{
	int ret;

	ret = kverbs_conn_setup_qp(conn);
	if (ret)
		return ret;
	kverbs_conn_post_parked(conn);
	kverbs_conn_cm_param(conn, &conn->dial.param);
	conn->dial.id = conn->id;
	conn->dial.failed = dial_failed;
	return kverbs_dial_start(&conn->dial);
}

/* Whatever else the CM says comes too early or too late. */
static bool is_due(const struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	return step == KVERBS_STEP_CONNECT ? conn->tenant.dev && !conn->qp :
	       !conn->tenant.dev && (step != KVERBS_STEP_ROUTE || conn->id->device);
}

static enum kverbs_conn_step take_step(struct kverbs_conn *conn)
{
	enum kverbs_conn_step step = KVERBS_STEP_NONE;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->state == KVERBS_CONN_CONNECTING)
		swap(step, conn->step);
	spin_unlock_irqrestore(&conn->lock, flags);
	return is_due(conn, step) ? step : KVERBS_STEP_NONE;
}

/**
 * kverbs_conn_work() - take the next step, or post parked receives
 * @work: a connection's
 */
void kverbs_conn_work(struct work_struct *work)
{
	struct kverbs_conn *conn = container_of(work, struct kverbs_conn, work);
	int ret = 0;

	mutex_lock(&conn->mutex);
	switch (take_step(conn)) {
	case KVERBS_STEP_ADDR:
		ret = kverbs_conn_begin_addr(conn);
		break;
	case KVERBS_STEP_ROUTE:
		ret = begin_route(conn);
		break;
	case KVERBS_STEP_CONNECT:
		ret = begin_connect(conn);
		break;
	case KVERBS_STEP_NONE:
		kverbs_conn_post_parked(conn);
		break;
	}
	mutex_unlock(&conn->mutex);
	if (ret)
		kverbs_conn_end(conn, KVERBS_CQE_FAILED, ret, 0);
}

/**
 * kverbs_conn_next_step() - have the next step taken, since the last one is over
 * @conn: the connection
 * @step: the next one
 *
 * Context: any.
 */
void kverbs_conn_next_step(struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	kverbs_conn_set_step(conn, step);
	queue_work(kverbs_workqueue, &conn->work);
}
