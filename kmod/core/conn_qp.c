// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PD, CQ and QP of a connection: created, drained and destroyed. */
#include <linux/delay.h>

#include "conn_io.h"
#include "conn_qp.h"
#include "group.h"
#include "quirks.h"
#include "srq.h"
#include "verbs.h"
#include "workqueue.h"

#define DEFAULT_MAX_SGE		8
/* Send slots besides the user's: synchronous chains, probes, the drain. */
#define OTHER_WRS		(KVERBS_SYNC_WRS + KVERBS_PROBE_WRS + 1)

static int status_error(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

/* Before a connection is up, the CM flushes the queue pair and then reports why it failed. */
static void queue_broken(struct kverbs_queue *queue, enum ib_wc_status status)
{
	struct kverbs_conn *conn = container_of(queue, struct kverbs_conn, queue);

	if (status == IB_WC_WR_FLUSH_ERR && !READ_ONCE(conn->was_up))
		return;
	kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, status_error(status), 0);
}

static void queue_revoked(struct kverbs_queue *queue, u32 rkey)
{
	struct kverbs_conn *conn = container_of(queue, struct kverbs_conn, queue);

	if (!kverbs_mr_revoke(&conn->pool, rkey) && conn->attr.group)
		kverbs_group_revoke(conn->attr.group, rkey);
}

static void queue_kick(struct kverbs_queue *queue)
{
	struct kverbs_conn *conn = container_of(queue, struct kverbs_conn, queue);

	queue_work(kverbs_post_workqueue, &conn->work);
}

const struct kverbs_queue_ops kverbs_conn_queue_ops = {
	.broken	= queue_broken,
	.revoked = queue_revoked,
	.kick	= queue_kick,
};

/* In atomic context or not. The id stays while the state is ACCEPTING or CONNECTING. */
static void qp_event(struct ib_event *event, void *context)
{
	struct kverbs_conn *conn = context;
	unsigned long flags;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		spin_lock_irqsave(&conn->lock, flags);
		if (conn->state == KVERBS_CONN_ACCEPTING ||
		    conn->state == KVERBS_CONN_CONNECTING)
			rdma_notify(conn->id, IB_EVENT_COMM_EST);
		spin_unlock_irqrestore(&conn->lock, flags);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, -EIO, 0);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		complete_all(&conn->last_recv);
		break;
	default:
		break;
	}
}

static int choose_sges(struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	unsigned int limit = min_t(unsigned int, dev->max_send_sge, KVERBS_RECV_SGES);
	unsigned int want = conn->attr.param.max_sge;
	struct kverbs_queue *queue = &conn->queue;

	if (want > limit)
		return -EINVAL;
	queue->max_sge = want ?: min_t(unsigned int, limit, DEFAULT_MAX_SGE);
	/* erdma takes six entries of a SEND, and one of a RECV. */
	queue->max_recv_sge = min_t(unsigned int, queue->max_sge, dev->max_recv_sge);
	queue->max_read_sge = queue->max_sge;
	if (dev->max_sge_rd)
		queue->max_read_sge = min_t(unsigned int, queue->max_sge, dev->max_sge_rd);
	if (queue->quirks & KVERBS_QUIRK_ONE_READ_SGE)
		queue->max_read_sge = 1;
	queue->max_local = queue->max_sge;
	return 0;
}

/*
 * With KVERBS_QUIRK_ONE_MR_PER_WR a work request has one SGE that names a registration, and
 * chunks overlap by half, so that one chunk covers any message of half its size.
 */
static void choose_chunks(struct kverbs_conn *conn)
{
	struct kverbs_queue *queue = &conn->queue;
	u64 size = (u64)conn->pool.pages << PAGE_SHIFT;

	conn->lkeys.stride = size;
	if (!(queue->quirks & KVERBS_QUIRK_ONE_MR_PER_WR))
		return;
	conn->lkeys.stride = size / 2;
	queue->max_local = 1;
	queue->max_msg = min(queue->max_msg, conn->lkeys.stride);
}

/* A READ and the registration of its sink take one of the user's slots. */
static unsigned int send_wrs(const struct kverbs_queue *queue)
{
	unsigned int sinks = queue->quirks & KVERBS_QUIRK_READ_SINK ? queue->sq_depth : 0;

	return queue->sq_depth + sinks + OTHER_WRS;
}

static int choose_limits(struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	struct kverbs_queue *queue = &conn->queue;
	struct ib_port_attr port;
	int ret;

	if (send_wrs(queue) > dev->max_qp_wr ||
	    queue->rq_depth + 1 > dev->max_qp_wr)
		return -EINVAL;
	ret = kverbs_ib_query_port(conn->id->device, conn->id->port_num, &port);
	if (ret)
		return ret;
	queue->max_msg = port.max_msg_sz ?: U32_MAX;
	queue->max_recv = queue->max_msg;
	return choose_sges(conn);
}

static int make_qp(struct kverbs_conn *conn)
{
	struct kverbs_queue *queue = &conn->queue;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = conn,
		.send_cq = conn->cq->ib,
		.recv_cq = conn->cq->ib,
		.cap.max_send_wr = send_wrs(queue),
		.cap.max_send_sge = queue->max_sge,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = conn->id->port_num,
	};
	int ret;

	/* mlx4 refuses a queue pair that has both receive queues. */
	if (conn->srq) {
		attr.srq = conn->srq->ib;
	} else {
		attr.cap.max_recv_wr = queue->rq_depth + 1;
		attr.cap.max_recv_sge = queue->max_recv_sge;
	}
	ret = kverbs_rdma_create_qp(conn->id, conn->pool.pd, &attr);
	if (ret)
		return ret;
	conn->qp = conn->id->qp;
	if (conn->srq)
		ret = kverbs_srq_add_qp(conn);
	if (!ret)
		kverbs_queue_open(queue, conn->qp);
	return ret;
}

static struct kverbs_cq_need cq_need(const struct kverbs_conn *conn)
{
	const struct kverbs_queue *queue = &conn->queue;

	if (!conn->srq)
		return (struct kverbs_cq_need) { .nr = send_wrs(queue) + queue->rq_depth + 1 };
	return (struct kverbs_cq_need) {
		.nr = send_wrs(queue),
		.srq = conn->srq,
		.srq_depth = conn->srq->taker.depth,
	};
}

static int take_domain(struct kverbs_conn *conn)
{
	struct ib_pd *pd;

	if (conn->attr.group)
		return kverbs_group_join(conn->attr.group, conn);
	pd = kverbs_ib_alloc_pd(conn->id->device);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->pool.pd = pd;
	return 0;
}

static void give_domain_back(struct kverbs_conn *conn)
{
	struct ib_pd *pd = conn->pool.pd;

	conn->pool.pd = NULL;
	if (pd && conn->attr.group)
		kverbs_group_leave(conn->attr.group, conn);
	else if (pd)
		ib_dealloc_pd(pd);
}

/**
 * kverbs_conn_setup_qp() - create CQ, QP and, unless a group has it, PD
 * @conn: the connection, its mutex held, its id bound to a device
 *
 * Return: 0 or -errno; the teardown destroys what was created.
 */
int kverbs_conn_setup_qp(struct kverbs_conn *conn)
{
	struct ib_device *ib = conn->id->device;
	struct kverbs_cq *cq;
	int ret;

	lockdep_assert_held(&conn->mutex);
	ret = choose_limits(conn);
	if (!ret)
		ret = take_domain(conn);
	if (ret)
		return ret;
	conn->pool.pages = kverbs_device_mr_pages(ib);
	choose_chunks(conn);
	kverbs_srq_join(conn);

	conn->cq_need = cq_need(conn);
	cq = kverbs_cq_get(conn->attr.cqs, ib, &conn->cq_need);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	ret = make_qp(conn);
	if (!ret)
		kverbs_conn_stamp(conn, KVERBS_STAMP_QP);
	return ret;
}

/**
 * struct last - the last work request of a queue
 * @cqe: its completion
 * @done: it has completed, and so have all before it
 */
struct last {
	struct ib_cqe cqe;
	struct completion done;
};

static void last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct last, cqe)->done);
}

static void init_last(struct last *last)
{
	last->cqe.done = last_done;
	init_completion(&last->done);
}

static void await(struct last *last, struct kverbs_cq_set *set)
{
	for (;;) {
		kverbs_cq_set_poll(set);
		if (try_wait_for_completion(&last->done))
			return;
		usleep_range(10, 20);
	}
}

static int drain_recvs(struct kverbs_queue *queue, struct kverbs_cq_set *set)
{
	struct last last;
	struct ib_recv_wr wr = { .wr_cqe = &last.cqe };
	const struct ib_recv_wr *bad;
	int ret;

	init_last(&last);
	ret = kverbs_post_recv(queue, &wr, &bad);
	if (!ret)
		await(&last, set);
	return ret;
}

static int drain_sends(struct kverbs_queue *queue, struct kverbs_cq_set *set)
{
	struct last last;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &last.cqe, .opcode = IB_WR_RDMA_WRITE },
	};
	const struct ib_send_wr *bad;
	int ret;

	init_last(&last);
	ret = kverbs_post_send(queue, &wr.wr, &bad);
	if (!ret)
		await(&last, set);
	return ret;
}

static int enter_error(struct kverbs_queue *queue)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
}

/* Receives first, since their completions may cause sends. */
static int drain_polling(struct kverbs_queue *queue, struct kverbs_cq_set *set)
{
	int ret;

	ret = enter_error(queue);
	if (!ret && !queue->shared)
		ret = drain_recvs(queue, set);
	if (!ret)
		ret = drain_sends(queue, set);
	return ret;
}

/*
 * Waits until all work of a queue pair, to which nothing is posted any more, is complete.
 * There is a free slot in each queue.
 *
 * ib_drain_qp() polls a direct queue itself, so that its completions and those of the tasks
 * that poll would overtake each other. drain_polling() does the same by
 * kverbs_cq_set_poll(). If the device refuses its work requests, ib_drain_qp() may know more
 * of the device; then the lock keeps others from polling.
 */
static void drain(struct kverbs_queue *queue, struct kverbs_cq_set *set)
{
	if (set->direct && !drain_polling(queue, set))
		return;
	if (set->direct)
		mutex_lock(&set->lock);
	if (!queue->shared)
		ib_drain_rq(queue->qp);
	ib_drain_sq(queue->qp);
	if (set->direct)
		mutex_unlock(&set->lock);
}

/* Shared receives that the device has taken complete before the last send, awaited by drain(). */
static void await_last_recv(struct kverbs_conn *conn)
{
	if (!enter_error(&conn->queue))
		kverbs_srq_await_last(conn->srq, &conn->last_recv);
}

/**
 * kverbs_conn_quiesce() - let the HCA begin no more work of a connection
 * @conn: the connection, its mutex held, in CLOSING
 *
 * A queue pair that has never been up is not drained. It may flush nothing: rxe's does not
 * if it ran out of memory on the way to RTS. It can have no work but receives, which
 * kverbs_queue_flush_remaining() completes.
 */
void kverbs_conn_quiesce(struct kverbs_conn *conn)
{
	lockdep_assert_held(&conn->mutex);
	kverbs_queue_close(&conn->queue);
	if (conn->qp) {
		rdma_disconnect(conn->id);
		if (conn->was_up && conn->srq)
			await_last_recv(conn);
		if (conn->was_up)
			drain(&conn->queue, conn->attr.cqs);
	}
	kverbs_sync_abort(&conn->sync);
}

/**
 * kverbs_conn_destroy_qp() - undo kverbs_conn_setup_qp()
 * @conn: the connection, quiesced, its id destroyed
 *
 * siw may leave READs unflushed by the drain, so their memory stays until the queue pair is
 * destroyed and the completion queue is given back.
 */
void kverbs_conn_destroy_qp(struct kverbs_conn *conn)
{
	down_write(&conn->use);
	if (conn->qp)
		ib_destroy_qp(conn->qp);
	conn->qp = NULL;
	if (conn->cq)
		kverbs_cq_put(conn->attr.cqs, conn->cq, &conn->cq_need);
	conn->cq = NULL;
	kverbs_srq_leave(conn);
	kverbs_conn_cancel_waiters(conn);
	kverbs_queue_flush_remaining(&conn->queue);
	kverbs_lkey_cache_destroy(&conn->lkeys);
	kverbs_mr_pool_destroy(&conn->pool);
	up_write(&conn->use);
	give_domain_back(conn);
}
