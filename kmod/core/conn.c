// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection's life: the CM's events, its states, its end. */
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "conn.h"
#include "fault.h"
#include "region.h"
#include "trace.h"
#include "workqueue.h"

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

static void set_state(struct kverbs_conn *conn, enum kverbs_conn_state state)
{
	lockdep_assert_held(&conn->lock);
	trace_kverbs_conn_state(conn, state);
	conn->state = state;
}

/* True if the connection was in @from, and now is in @to. */
static bool move_state(struct kverbs_conn *conn, enum kverbs_conn_state from,
		       enum kverbs_conn_state to)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&conn->lock, flags);
	moved = conn->state == from;
	if (moved)
		set_state(conn, to);
	spin_unlock_irqrestore(&conn->lock, flags);
	return moved;
}

static u8 end_type(const struct kverbs_conn *conn, enum kverbs_cqe_type type)
{
	if (type == KVERBS_CQE_DEVICE_REMOVED || type == KVERBS_CQE_REJECTED)
		return type;
	return conn->was_up ? KVERBS_CQE_DISCONNECTED : KVERBS_CQE_FAILED;
}

static bool begin_end(struct kverbs_conn *conn, enum kverbs_cqe_type type, int error,
		      u32 reason)
{
	lockdep_assert_held(&conn->lock);
	if (conn->state >= KVERBS_CONN_CLOSING)
		return false;
	conn->end.type = end_type(conn, type);
	conn->end.error = error || conn->was_up ? error : -ECANCELED;
	conn->end.reason = reason;
	trace_kverbs_conn_end(conn);
	kverbs_conn_tell_end(conn);
	set_state(conn, KVERBS_CONN_CLOSING);
	queue_work(kverbs_workqueue, &conn->close_work);
	return true;
}

/**
 * kverbs_conn_end() - begin to end a connection
 * @conn: the connection, in any state
 * @type: DEVICE_REMOVED, REJECTED, or anything else for what the state says
 * @error: why, -errno, or 0 if it was asked for
 * @reason: of a REJECTED
 *
 * The first caller says why; teardown follows on the workqueue.
 *
 * Context: any.
 * Return: true for the first caller.
 */
bool kverbs_conn_end(struct kverbs_conn *conn, enum kverbs_cqe_type type, int error,
		     u32 reason)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&conn->lock, flags);
	first = begin_end(conn, type, error, reason);
	spin_unlock_irqrestore(&conn->lock, flags);
	return first;
}

static void fail(struct kverbs_conn *conn, int error)
{
	kverbs_conn_end(conn, KVERBS_CQE_FAILED, error, 0);
}

static void teardown(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id;
	unsigned long flags;

	mutex_lock(&conn->mutex);
	if (READ_ONCE(conn->state) == KVERBS_CONN_DEAD)
		goto out_unlock;
	cancel_delayed_work(&conn->deadline);
	kverbs_dial_stop(&conn->dial);
	kverbs_keepalive_stop(&conn->keepalive);
	kverbs_conn_quiesce(conn);
	id = conn->id;
	conn->id = NULL;
	if (id)
		rdma_destroy_id(id);
	/* Its handler may just have started that. */
	kverbs_keepalive_stop(&conn->keepalive);
	kverbs_conn_destroy_qp(conn);
	kverbs_backlog_leave(&conn->backlog);
	kverbs_device_leave(&conn->tenant);

	spin_lock_irqsave(&conn->lock, flags);
	set_state(conn, KVERBS_CONN_DEAD);
	spin_unlock_irqrestore(&conn->lock, flags);
	conn->attr.ops->ended(conn);
out_unlock:
	mutex_unlock(&conn->mutex);
}

static void close_work(struct work_struct *work)
{
	teardown(container_of(work, struct kverbs_conn, close_work));
}

static void deadline_work(struct work_struct *work)
{
	struct kverbs_conn *conn = container_of(work, struct kverbs_conn, deadline.work);
	unsigned long flags;

	/* It may have come up after the time was over, and before this began. */
	spin_lock_irqsave(&conn->lock, flags);
	if (!conn->was_up)
		begin_end(conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_evict() - the device goes: so does the connection
 * @tenant: its
 */
void kverbs_conn_evict(struct kverbs_tenant *tenant)
{
	kverbs_conn_end(container_of(tenant, struct kverbs_conn, tenant),
			KVERBS_CQE_DEVICE_REMOVED, -ENODEV, 0);
}

static struct kverbs_conn *new_conn(enum kverbs_conn_state state)
{
	struct kverbs_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);

	if (!conn)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&conn->lock);
	mutex_init(&conn->mutex);
	init_rwsem(&conn->use);
	mutex_init(&conn->recv_lock);
	mutex_init(&conn->control_lock);
	kverbs_mr_pool_init(&conn->pool);
	kverbs_local_set_init(&conn->locals, &conn->pool);
	INIT_WORK(&conn->work, kverbs_conn_work);
	INIT_WORK(&conn->close_work, close_work);
	INIT_DELAYED_WORK(&conn->deadline, deadline_work);
	conn->state = state;
	conn->tenant.count = kverbs_conn_count;
	conn->device_index = U32_MAX;
	kverbs_conn_mark(conn, KVERBS_MARK_BEGIN);
	return conn;
}

static void set_attr(struct kverbs_conn *conn, const struct kverbs_conn_attr *attr)
{
	conn->attr = *attr;
	kverbs_queue_init(&conn->queue, &kverbs_conn_queue_ops, attr->param.sq_depth,
			  attr->param.rq_depth);
	kverbs_keepalive_init(&conn->keepalive, &conn->queue);
}

/**
 * kverbs_conn_create() - make a connection that will ask a peer
 * @net: network namespace
 * @attr: what it is made of; copied
 * @src: local address, or NULL
 * @dst: the peer
 *
 * Context: process, may sleep; @src is bound with the caller's rights.
 * Return: the connection, not started, or an ERR_PTR.
 */
struct kverbs_conn *kverbs_conn_create(struct net *net,
				       const struct kverbs_conn_attr *attr,
				       const struct sockaddr *src,
				       const struct sockaddr *dst)
{
	struct kverbs_conn *conn;
	int ret;

	conn = new_conn(KVERBS_CONN_CONNECTING);
	if (IS_ERR(conn))
		return conn;
	set_attr(conn, attr);
	memcpy(&conn->remote, dst, rdma_addr_size((struct sockaddr *)dst));
	conn->id = kverbs_fault() ? ERR_PTR(-ENOMEM) :
		   rdma_create_id(net, cm_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(conn->id)) {
		ret = PTR_ERR(conn->id);
		goto out_free_conn;
	}
	ret = kverbs_conn_set_options(conn);
	if (!ret && src)
		ret = kverbs_fault() ?: rdma_bind_addr(conn->id, (struct sockaddr *)src);
	if (ret)
		goto out_destroy_id;
	return conn;

out_destroy_id:
	rdma_destroy_id(conn->id);
out_free_conn:
	kfree(conn);
	return ERR_PTR(ret);
}

/**
 * kverbs_conn_start() - set a connection going
 * @conn: from kverbs_conn_create()
 *
 * Whatever comes of it is told by the ops, even if it is told at once.
 */
void kverbs_conn_start(struct kverbs_conn *conn)
{
	int ret = 0;

	mutex_lock(&conn->mutex);
	if (conn->id) {
		mod_delayed_work(kverbs_workqueue, &conn->deadline,
				 msecs_to_jiffies(conn->attr.timeout_ms));
		ret = kverbs_conn_begin_addr(conn);
	}
	mutex_unlock(&conn->mutex);
	if (ret)
		fail(conn, ret);
}

static void save_priv(struct kverbs_conn *conn, const void *data, u8 len)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->peer_priv_len = data ? min_t(u8, len, sizeof(conn->peer_priv)) : 0;
	memcpy(conn->peer_priv, data, conn->peer_priv_len);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_adopt() - make a connection of a peer's request
 * @id: the request's id
 * @event: the request
 * @backlog: where it counts until it is answered
 * @attr: its owner, and depths that hold until it is accepted; copied
 *
 * Context: the CM's handler of the request, which must then either call
 * kverbs_conn_enter(), or kverbs_conn_abandon() and return an error.
 * Return: the connection, in REQUESTED, or an ERR_PTR.
 */
struct kverbs_conn *kverbs_conn_adopt(struct rdma_cm_id *id,
				      const struct rdma_cm_event *event,
				      struct kverbs_backlog *backlog,
				      const struct kverbs_conn_attr *attr)
{
	struct kverbs_conn *conn;
	int ret;

	conn = new_conn(KVERBS_CONN_REQUESTED);
	if (IS_ERR(conn))
		return conn;
	ret = kverbs_backlog_enter(backlog);
	if (ret) {
		kfree(conn);
		return ERR_PTR(ret);
	}
	conn->backlog = backlog;
	set_attr(conn, attr);
	conn->id = id;
	conn->responder_resources = event->param.conn.responder_resources;
	conn->initiator_depth = event->param.conn.initiator_depth;
	save_priv(conn, event->param.conn.private_data,
		  event->param.conn.private_data_len);
	kverbs_conn_note_addresses(conn);
	return conn;
}

/**
 * kverbs_conn_enter() - let an adopted connection live
 * @conn: from kverbs_conn_adopt(), in the same handler
 *
 * From here on it may end at any time; that waits for the handler.
 *
 * Return: 0 or -ENODEV, and then it must be abandoned.
 */
int kverbs_conn_enter(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id = conn->id;
	int ret;

	ret = kverbs_device_enter(id->device, &conn->tenant, KVERBS_TENANT_CM,
				  kverbs_conn_evict);
	if (ret)
		return ret;
	id->context = conn;
	id->event_handler = cm_handler;
	return 0;
}

/**
 * kverbs_conn_abandon() - undo kverbs_conn_adopt()
 * @conn: the connection; the CM destroys its id when the handler returns
 */
void kverbs_conn_abandon(struct kverbs_conn *conn)
{
	kverbs_backlog_leave(&conn->backlog);
	kfree(conn);
}

static int answer_request(struct kverbs_conn *conn)
{
	struct rdma_conn_param param;
	int ret;

	ret = kverbs_conn_set_options(conn);
	if (!ret)
		ret = kverbs_conn_setup_qp(conn);
	if (ret)
		return ret;
	kverbs_conn_post_parked(conn);
	kverbs_conn_cm_param(conn, &param);
	mod_delayed_work(kverbs_workqueue, &conn->deadline,
			 msecs_to_jiffies(conn->attr.timeout_ms));
	rdma_lock_handler(conn->id);
	if (READ_ONCE(conn->state) == KVERBS_CONN_ACCEPTING)
		ret = kverbs_fault() ?: rdma_accept(conn->id, &param);
	else
		ret = -ENOTCONN;
	rdma_unlock_handler(conn->id);
	return ret;
}

/**
 * kverbs_conn_accept() - accept a request
 * @conn: the connection
 * @attr: what it is made of
 *
 * Context: process, may sleep.
 * Return: 0; -ENOTCONN if it does not wait for an answer; after any other error
 * it ends.
 */
int kverbs_conn_accept(struct kverbs_conn *conn, struct kverbs_conn_attr *attr)
{
	int ret = -ENOTCONN;

	mutex_lock(&conn->mutex);
	if (move_state(conn, KVERBS_CONN_REQUESTED, KVERBS_CONN_ACCEPTING)) {
		kverbs_backlog_leave(&conn->backlog);
		conn->attr = *attr;
		if (attr->ops->accepting)
			attr->ops->accepting(conn, attr);
		ret = kverbs_queue_resize(&conn->queue, attr->param.sq_depth,
					  attr->param.rq_depth);
		if (!ret)
			ret = answer_request(conn);
		if (ret)
			fail(conn, ret);
	}
	mutex_unlock(&conn->mutex);
	return ret;
}

/**
 * kverbs_conn_reject() - refuse a request
 * @conn: the connection
 * @priv: private data for the peer
 * @len: bytes of it
 *
 * Return: 0; -ENOTCONN if it does not wait for an answer.
 */
int kverbs_conn_reject(struct kverbs_conn *conn, const void *priv, u8 len)
{
	int ret = -ENOTCONN;

	mutex_lock(&conn->mutex);
	if (move_state(conn, KVERBS_CONN_REQUESTED, KVERBS_CONN_ACCEPTING)) {
		kverbs_backlog_leave(&conn->backlog);
		/* If it fails, destroying the id refuses as well. */
		rdma_reject(conn->id, priv, len, IB_CM_REJ_CONSUMER_DEFINED);
		fail(conn, -ECANCELED);
		ret = 0;
	}
	mutex_unlock(&conn->mutex);
	return ret;
}

/**
 * kverbs_conn_close() - end a connection and wait until nothing is on the HCA
 * @conn: the connection
 *
 * Context: process, may sleep; waits for the HCA, not for the peer.
 */
void kverbs_conn_close(struct kverbs_conn *conn)
{
	fail(conn, 0);
	teardown(conn);
}

/**
 * kverbs_conn_free() - close and free a connection
 * @conn: the connection
 *
 * Context: process, may sleep.
 */
void kverbs_conn_free(struct kverbs_conn *conn)
{
	kverbs_conn_close(conn);
	cancel_delayed_work_sync(&conn->deadline);
	cancel_work_sync(&conn->work);
	cancel_work_sync(&conn->close_work);
	kfree(conn);
}

static bool mark_up(struct kverbs_conn *conn)
{
	unsigned long flags;
	bool up;

	spin_lock_irqsave(&conn->lock, flags);
	up = conn->qp && (conn->state == KVERBS_CONN_CONNECTING ||
			  conn->state == KVERBS_CONN_ACCEPTING);
	if (up) {
		conn->was_up = true;
		set_state(conn, KVERBS_CONN_ESTABLISHED);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return up;
}

/* The end cannot overtake it: teardown waits for this handler to return. */
static void established(struct kverbs_conn *conn, struct rdma_cm_id *id,
			const struct rdma_cm_event *event)
{
	bool asked = READ_ONCE(conn->state) == KVERBS_CONN_CONNECTING;

	if (asked)
		save_priv(conn, event->param.conn.private_data,
			  event->param.conn.private_data_len);
	if (!mark_up(conn))
		return;
	cancel_delayed_work(&conn->deadline);
	kverbs_conn_note_path(conn, id, asked ? event : NULL);
	kverbs_queue_up(&conn->queue);
	conn->attr.ops->established(conn);
	kverbs_conn_watch(conn, asked);
	queue_work(kverbs_workqueue, &conn->work);
}

/* A request keeps its data. iWARP drivers differ in the status of a peer's refusal. */
static void rejected(struct kverbs_conn *conn, struct rdma_cm_id *id,
		     struct rdma_cm_event *event)
{
	bool asked = READ_ONCE(conn->state) == KVERBS_CONN_CONNECTING && READ_ONCE(conn->qp);
	const void *data = event->param.conn.private_data;
	u8 len = event->param.conn.private_data_len;

	if (asked && conn->transport != KVERBS_TRANSPORT_IWARP)
		data = rdma_consumer_reject_data(id, event, &len);
	if (asked)
		save_priv(conn, data, data ? len : 0);
	/* A peer that leaves before it knows that all is up here refuses, too. */
	if (READ_ONCE(conn->was_up))
		fail(conn, -ECONNRESET);
	else
		kverbs_conn_end(conn, KVERBS_CQE_REJECTED, -ECONNREFUSED, abs(event->status));
}

static int event_error(const struct rdma_cm_event *event)
{
	return event->status < 0 ? event->status : -EHOSTUNREACH;
}

/* Short, never waits, and takes any event in any state. */
static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_conn *conn = id->context;

	trace_kverbs_cm_event(conn, event);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		kverbs_conn_next_step(conn, KVERBS_STEP_ROUTE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		kverbs_conn_next_step(conn, KVERBS_STEP_CONNECT);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(conn, id, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		/* The deadline ends it. */
		if (event->status == -ETIMEDOUT)
			kverbs_conn_next_step(conn, KVERBS_STEP_ADDR);
		else
			fail(conn, event_error(event));
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		fail(conn, event_error(event));
		break;
	case RDMA_CM_EVENT_REJECTED:
		rejected(conn, id, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		fail(conn, -ECONNRESET);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		kverbs_conn_end(conn, KVERBS_CQE_DEVICE_REMOVED, -ENODEV, 0);
		break;
	default:
		break;
	}
	return 0;
}
