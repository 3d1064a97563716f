// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a connection has on the HCA: made on the way up, taken down at the end. */
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "conn.h"
#include "drain.h"
#include "fault.h"
#include "region.h"
#include "workqueue.h"
#include "wr.h"

/*
 * 10.24 ms, so that a receiver that is not scheduled at once does not use up the
 * retries; the CM's own default is 655 ms.
 */
#define DEFAULT_RNR_TIMER	IB_RNR_TIMER_010_24
#define DEFAULT_RETRY		7
/* Not 7, which is for ever. */
#define DEFAULT_RNR_RETRY	6
#define DEFAULT_MAX_SGE		8
#define DEFAULT_MAX_READ	16
/* Send slots besides the user's: chains that are waited for, probes, the drain. */
#define OTHER_WRS		(KVERBS_CONTROL_WRS + KVERBS_PROBE_WRS + 1)
/* When siw gets its second message, if there was none. */
#define NUDGE_MS		50

/**
 * kverbs_conn_set_options() - what the CM must know before it begins
 * @conn: the connection, with its id
 *
 * Return: 0 or -errno.
 */
int kverbs_conn_set_options(struct kverbs_conn *conn)
{
	const struct kverbs_conn_param *param = &conn->attr.param;
	u8 timer = DEFAULT_RNR_TIMER;
	int ret;

	if (param->valid & KVERBS_PARAM_RNR_TIMER)
		timer = param->rnr_timer;
	ret = kverbs_fault() ?: rdma_set_min_rnr_timer(conn->id, timer);
	if (ret)
		return ret;
	if (param->valid & KVERBS_PARAM_ACK_TIMEOUT)
		ret = rdma_set_ack_timeout(conn->id, param->ack_timeout);
	if (param->valid & KVERBS_PARAM_TOS)
		rdma_set_service_type(conn->id, param->tos);
	return ret;
}

static u8 read_depth(u8 wanted, int device, u8 peer)
{
	int depth = min_t(int, wanted ?: DEFAULT_MAX_READ, device);

	return min_t(int, depth, peer);
}

/**
 * kverbs_conn_cm_param() - what to tell the peer's CM
 * @conn: the connection, with its device
 * @param: filled in
 */
void kverbs_conn_cm_param(struct kverbs_conn *conn, struct rdma_conn_param *param)
{
	const struct kverbs_conn_param *want = &conn->attr.param;
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	bool passive = READ_ONCE(conn->state) != KVERBS_CONN_CONNECTING;

	conn->responder_resources = read_depth(want->max_read, dev->max_qp_rd_atom,
					       passive ? conn->responder_resources :
							 U8_MAX);
	conn->initiator_depth = read_depth(want->max_read, dev->max_qp_init_rd_atom,
					   passive ? conn->initiator_depth : U8_MAX);
	*param = (struct rdma_conn_param) {
		.private_data = conn->attr.priv_len ? conn->attr.priv : NULL,
		.private_data_len = conn->attr.priv_len,
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.retry_count = want->valid & KVERBS_PARAM_RETRY ?
			       want->retry : DEFAULT_RETRY,
		.rnr_retry_count = want->valid & KVERBS_PARAM_RNR_RETRY ?
				   want->rnr_retry : DEFAULT_RNR_RETRY,
	};
}

/* On RoCE the CM does not say by which link a link-local address is reached. */
static void complete_scope(struct sockaddr_storage *ss, const struct rdma_cm_id *id)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

	if (ss->ss_family == AF_INET6 && !sin6->sin6_scope_id &&
	    ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		sin6->sin6_scope_id = id->route.addr.dev_addr.bound_dev_if;
}

/**
 * kverbs_conn_note_addresses() - keep what outlives the CM's id
 * @conn: the connection, whose id is bound to a device
 */
void kverbs_conn_note_addresses(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id = conn->id;

	conn->local = id->route.addr.src_addr;
	conn->remote = id->route.addr.dst_addr;
	complete_scope(&conn->local, id);
	complete_scope(&conn->remote, id);
	conn->port = id->port_num;
	WRITE_ONCE(conn->device_index, id->device->index);
	if (rdma_protocol_iwarp(id->device, id->port_num))
		conn->transport = KVERBS_TRANSPORT_IWARP;
	else if (rdma_protocol_roce(id->device, id->port_num))
		conn->transport = KVERBS_TRANSPORT_ROCE;
	else if (rdma_protocol_ib(id->device, id->port_num))
		conn->transport = KVERBS_TRANSPORT_IB;
}

/**
 * kverbs_conn_watch() - have an idle peer probed
 * @conn: the connection, which is up
 * @asked: this side asked for it
 *
 * A WRITE is answered by the peer's device, but on iWARP only by TCP: there a READ
 * is the probe, if the peer takes any. And siw may overlook what comes right after
 * its answer to a request until more comes, so it gets more.
 *
 * Context: the CM's handler.
 */
void kverbs_conn_watch(struct kverbs_conn *conn, bool asked)
{
	struct kverbs_keepalive *keepalive = &conn->keepalive;
	bool iwarp = conn->transport == KVERBS_TRANSPORT_IWARP;

	keepalive->cqs = conn->attr.cqs;
	keepalive->ms = conn->attr.param.keepalive_ms;
	keepalive->opcode = IB_WR_RDMA_WRITE;
	keepalive->always = iwarp;
	if (keepalive->ms && iwarp && conn->initiator_depth)
		keepalive->opcode = IB_WR_RDMA_READ;
	if (keepalive->ms)
		kverbs_keepalive_start(keepalive, keepalive->ms);
	else if (asked && conn->pool.pd->device->ops.driver_id == RDMA_DRIVER_SIW)
		kverbs_keepalive_start(keepalive, NUDGE_MS);
}

static bool may_establish(struct kverbs_conn *conn)
{
	return conn->state == KVERBS_CONN_ACCEPTING ||
	       conn->state == KVERBS_CONN_CONNECTING;
}

/* Atomic or not, and the id stays while the state says that it is used. */
static void qp_event(struct ib_event *event, void *context)
{
	struct kverbs_conn *conn = context;
	unsigned long flags;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		spin_lock_irqsave(&conn->lock, flags);
		if (may_establish(conn))
			rdma_notify(conn->id, IB_EVENT_COMM_EST);
		spin_unlock_irqrestore(&conn->lock, flags);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, -EIO, 0);
		break;
	default:
		break;
	}
}

static int choose_sges(struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	unsigned int limit = min3(dev->max_send_sge, dev->max_recv_sge,
				  KVERBS_RECV_SGES);
	unsigned int want = conn->attr.param.max_sge;
	struct kverbs_queue *queue = &conn->queue;

	if (want > limit)
		return -EINVAL;
	queue->max_sge = want ?: min_t(unsigned int, limit, DEFAULT_MAX_SGE);
	queue->max_read_sge = queue->max_sge;
	if (dev->max_sge_rd)
		queue->max_read_sge = min_t(unsigned int, queue->max_sge, dev->max_sge_rd);
	if (conn->transport == KVERBS_TRANSPORT_IWARP)
		queue->max_read_sge = 1;
	queue->max_local = queue->max_sge;
	return 0;
}

/*
 * siw forgets to start over when a request's second entry names another MR, and
 * sends whatever lies there. So give it one such entry, and let chunks overlap
 * so that one is enough for any message of half a chunk.
 */
static void choose_chunks(struct kverbs_conn *conn)
{
	struct kverbs_queue *queue = &conn->queue;
	u64 size = (u64)conn->pool.pages << PAGE_SHIFT;

	conn->locals.stride = size;
	if (conn->id->device->ops.driver_id != RDMA_DRIVER_SIW)
		return;
	conn->locals.stride = size / 2;
	queue->max_local = 1;
	queue->max_msg = min(queue->max_msg, conn->locals.stride);
}

static int choose_limits(struct kverbs_conn *conn)
{
	const struct ib_device_attr *dev = &conn->id->device->attrs;
	struct kverbs_queue *queue = &conn->queue;
	struct ib_port_attr port;
	int ret;

	if (queue->sq_depth + OTHER_WRS > dev->max_qp_wr ||
	    queue->rq_depth + 1 > dev->max_qp_wr)
		return -EINVAL;
	ret = kverbs_fault() ?: ib_query_port(conn->id->device, conn->id->port_num, &port);
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
		.cap.max_send_wr = queue->sq_depth + OTHER_WRS,
		.cap.max_recv_wr = queue->rq_depth + 1,
		.cap.max_send_sge = queue->max_sge,
		.cap.max_recv_sge = queue->max_sge,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = conn->id->port_num,
	};
	int ret;

	ret = kverbs_fault() ?: rdma_create_qp(conn->id, conn->pool.pd, &attr);
	if (ret)
		return ret;
	conn->qp = conn->id->qp;
	/* Else "rdma resource" would call it the CM's, which made it for us. */
	conn->qp->res.kern_name = KBUILD_MODNAME;
	kverbs_queue_open(queue, conn->qp);
	return 0;
}

/**
 * kverbs_conn_setup_qp() - make PD, CQ and QP
 * @conn: the connection, its mutex held, its id bound to a device
 *
 * Return: 0 or -errno; what was made stays for the teardown.
 */
int kverbs_conn_setup_qp(struct kverbs_conn *conn)
{
	struct ib_device *ib = conn->id->device;
	struct kverbs_cq *cq;
	struct ib_pd *pd;
	int ret;

	lockdep_assert_held(&conn->mutex);
	ret = choose_limits(conn);
	if (ret)
		return ret;
	pd = kverbs_fault() ? ERR_PTR(-ENOMEM) : ib_alloc_pd(ib, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->pool.pd = pd;
	conn->pool.pages = kverbs_device_mr_pages(ib);
	choose_chunks(conn);

	conn->nr_cqe = conn->queue.sq_depth + OTHER_WRS + conn->queue.rq_depth + 1;
	cq = kverbs_cq_get(conn->attr.cqs, ib, conn->nr_cqe);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	ret = make_qp(conn);
	if (!ret)
		kverbs_conn_mark(conn, KVERBS_MARK_QP);
	return ret;
}

/**
 * kverbs_conn_quiesce() - the HCA begins nothing of it after this
 * @conn: the connection, its mutex held, on its way to an end
 *
 * A queue pair that never was up may flush nothing: rxe's does not, if it found no
 * memory on its way to RTS. Nor need it, since none of its work can have been done
 * but receives; they end with the queue pair.
 */
void kverbs_conn_quiesce(struct kverbs_conn *conn)
{
	lockdep_assert_held(&conn->mutex);
	kverbs_queue_close(&conn->queue);
	if (conn->qp) {
		rdma_disconnect(conn->id);
		if (conn->was_up)
			kverbs_drain(conn->qp, conn->attr.cqs);
	}
	kverbs_queue_abort_control(&conn->queue);
}

/**
 * kverbs_conn_destroy_qp() - undo kverbs_conn_setup_qp()
 * @conn: the connection, quiesced, its id destroyed
 *
 * siw's drain may end while READs are not flushed, so their memory and whoever
 * takes their completions stay until the queue pair is gone.
 */
void kverbs_conn_destroy_qp(struct kverbs_conn *conn)
{
	down_write(&conn->use);
	if (conn->qp) {
		ib_destroy_qp(conn->qp);
		kverbs_cq_flush(conn->attr.cqs, conn->cq);
	}
	conn->qp = NULL;
	kverbs_queue_sweep(&conn->queue);
	kverbs_local_set_destroy(&conn->locals);
	kverbs_mr_pool_destroy(&conn->pool);
	up_write(&conn->use);

	if (conn->cq)
		kverbs_cq_put(conn->attr.cqs, conn->cq, conn->nr_cqe);
	conn->cq = NULL;
	if (conn->pool.pd)
		ib_dealloc_pd(conn->pool.pd);
	conn->pool.pd = NULL;
}

/**
 * kverbs_conn_post_parked() - post the receives that can be posted by now
 * @conn: the connection
 *
 * Context: process, may sleep.
 */
void kverbs_conn_post_parked(struct kverbs_conn *conn)
{
	struct kverbs_req *req;
	int ret = 0;

	down_read(&conn->use);
	mutex_lock(&conn->recv_lock);
	while (ret != -EAGAIN) {
		req = kverbs_queue_first_parked(&conn->queue);
		if (!req)
			break;
		ret = kverbs_wr_recv(&conn->queue, &conn->locals, req);
		if (ret && ret != -EAGAIN)
			kverbs_queue_fail_parked(&conn->queue, req, ret);
	}
	mutex_unlock(&conn->recv_lock);
	up_read(&conn->use);
}

static void await_posted(struct kverbs_conn *conn, struct kverbs_cq_set *cqs, u32 ticket)
{
	if (kverbs_queue_is_posted(&conn->queue, ticket))
		return;
	kverbs_cq_set_attend(cqs);
	kverbs_queue_await_posted(&conn->queue, ticket);
	kverbs_cq_set_leave(cqs);
}

/**
 * kverbs_conn_recv_list() - take receives, at any time before the end
 * @conn: the connection
 * @reqs: the receives; done is called of those that are taken
 * @nr: how many, at least 1
 * @error: why not all were: -EAGAIN no slot, -ENOTCONN; else 0
 *
 * Context: process, may sleep.
 * Return: how many were taken, from the first on.
 */
unsigned int kverbs_conn_recv_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, int *error)
{
	/* Of the ring that the caller holds, or of the one that ACCEPT put there. */
	struct kverbs_cq_set *cqs = READ_ONCE(conn->attr.cqs);
	u32 ticket;

	nr = kverbs_queue_park(&conn->queue, reqs, nr, &ticket, error);
	if (nr) {
		kverbs_conn_post_parked(conn);
		await_posted(conn, cqs, ticket);
	}
	return nr;
}

/**
 * kverbs_conn_recv() - take a receive, at any time before the end
 * @conn: the connection
 * @req: the receive; its done is called if and only if this returns 0
 *
 * Context: process, may sleep.
 * Return: 0, -EAGAIN no slot, -ENOTCONN.
 */
int kverbs_conn_recv(struct kverbs_conn *conn, struct kverbs_req *req)
{
	int error;

	kverbs_conn_recv_list(conn, &req, 1, &error);
	return error;
}

/**
 * kverbs_conn_has_atomics() - whether the peers can use atomics
 * @conn: the connection, with its device
 *
 * Return: true if so.
 */
bool kverbs_conn_has_atomics(const struct kverbs_conn *conn)
{
	return conn->transport != KVERBS_TRANSPORT_IWARP &&
	       conn->pool.pd->device->attrs.atomic_cap != IB_ATOMIC_NONE;
}

static bool can_do(const struct kverbs_conn *conn, const struct kverbs_req *req)
{
	switch (req->opcode) {
	case KVERBS_OP_WRITE_IMM:
	case KVERBS_OP_SEND_IMM:
		return conn->transport != KVERBS_TRANSPORT_IWARP;
	case KVERBS_OP_READ:
		return conn->initiator_depth;
	case KVERBS_OP_CMP_SWAP:
	case KVERBS_OP_FETCH_ADD:
		return conn->initiator_depth && kverbs_conn_has_atomics(conn);
	default:
		return true;
	}
}

/**
 * kverbs_conn_post() - post any operation but a receive
 * @conn: the connection
 * @req: the operation; its done is called if and only if this returns 0
 * @chain: room to build it in
 *
 * Context: process, may sleep.
 * Return: 0; -EOPNOTSUPP not on this device or transport; see kverbs_wr_post().
 */
int kverbs_conn_post(struct kverbs_conn *conn, struct kverbs_req *req,
		     struct kverbs_chain *chain)
{
	bool iwarp = conn->transport == KVERBS_TRANSPORT_IWARP;
	int ret;

	down_read(&conn->use);
	ret = kverbs_queue_check_up(&conn->queue);
	if (!ret && !can_do(conn, req))
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = kverbs_wr_post(&conn->queue, &conn->locals, req, chain, iwarp);
	up_read(&conn->use);
	return ret;
}

/* Up to the first that this connection cannot do. */
static unsigned int count_doable(const struct kverbs_conn *conn, struct kverbs_req **reqs,
				 unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!can_do(conn, reqs[i]))
			break;
	return i;
}

/**
 * kverbs_conn_post_list() - post any operations but receives
 * @conn: the connection
 * @reqs: the operations; done is called of those that are posted
 * @nr: how many
 * @chain: room to build them in
 * @error: why not all were posted, as kverbs_conn_post() has it; else 0
 *
 * Context: process, may sleep.
 * Return: how many were posted, from the first on.
 */
unsigned int kverbs_conn_post_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error)
{
	bool iwarp = conn->transport == KVERBS_TRANSPORT_IWARP;
	unsigned int doable, posted = 0;

	down_read(&conn->use);
	*error = kverbs_queue_check_up(&conn->queue);
	if (!*error) {
		doable = count_doable(conn, reqs, nr);
		posted = kverbs_wr_post_list(&conn->queue, &conn->locals, reqs, doable,
					     chain, iwarp, error);
		if (!*error && doable < nr)
			*error = -EOPNOTSUPP;
	}
	up_read(&conn->use);
	return posted;
}

/**
 * kverbs_conn_forget() - drop the local registrations of a region
 * @conn: the connection
 * @region: the region, which no work uses any more
 *
 * Context: process, may sleep.
 */
void kverbs_conn_forget(struct kverbs_conn *conn, struct kverbs_region *region)
{
	int ret;

	down_read(&conn->use);
	ret = kverbs_local_forget(&conn->locals, region);
	up_read(&conn->use);
	if (ret)
		kverbs_conn_close(conn);
}

/**
 * kverbs_conn_flush() - wait until whoever was told of a completion has been
 * @conn: the connection
 *
 * So that he can go once he has seen that nothing of his is under way.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_conn_flush(struct kverbs_conn *conn)
{
	mutex_lock(&conn->mutex);
	if (conn->cq)
		kverbs_cq_flush(conn->attr.cqs, conn->cq);
	mutex_unlock(&conn->mutex);
}

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

/* The CM flushes what will not come up before it says why; its event is what to tell. */
static void queue_broken(struct kverbs_queue *queue, enum ib_wc_status status)
{
	struct kverbs_conn *conn = container_of(queue, struct kverbs_conn, queue);

	if (status == IB_WC_WR_FLUSH_ERR && !READ_ONCE(conn->was_up))
		return;
	kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, status_error(status), 0);
}

static void queue_revoked(struct kverbs_queue *queue, u32 rkey)
{
	kverbs_mr_revoke(&container_of(queue, struct kverbs_conn, queue)->pool, rkey);
}

static void queue_kick(struct kverbs_queue *queue)
{
	struct kverbs_conn *conn = container_of(queue, struct kverbs_conn, queue);

	queue_work(kverbs_workqueue, &conn->work);
}

const struct kverbs_queue_ops kverbs_conn_queue_ops = {
	.broken	= queue_broken,
	.revoked = queue_revoked,
	.kick	= queue_kick,
};
