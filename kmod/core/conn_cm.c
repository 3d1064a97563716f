// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A connection and the connection manager: created or adopted, resolved, connected,
 * accepted or rejected, and torn down. cm_handler() takes the CM's events.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>

#include "conn_cm.h"
#include "conn_io.h"
#include "conn_qp.h"
#include "group.h"
#include "pool.h"
#include "quirks.h"
#include "srq.h"
#include "trace.h"
#include "verbs.h"
#include "wait.h"
#include "workqueue.h"

/*
 * 10.24 ms, so that a receiver that is not scheduled at once does not use up the
 * retries; the CM's own default is 655 ms.
 */
#define DEFAULT_RNR_TIMER	IB_RNR_TIMER_010_24
#define DEFAULT_RETRY		7
/* Not 7, which is for ever. */
#define DEFAULT_RNR_RETRY	6
#define DEFAULT_MAX_READ	16
/* Delay of the probe for KVERBS_QUIRK_NUDGE. */
#define NUDGE_MS		50
/* ib_core misses the quick answer of a neighbour, and checks again after this timeout. */
#define RESOLVE_MS		200

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* Sets the options of the CM id that must precede resolving or accepting. */
static int set_options(struct kverbs_conn *conn)
{
	const struct kverbs_conn_param *param = &conn->attr.param;
	u8 timer = DEFAULT_RNR_TIMER;
	int ret;

	if (param->valid & KVERBS_PARAM_RNR_TIMER)
		timer = param->rnr_timer;
	ret = kverbs_rdma_set_min_rnr_timer(conn->id, timer);
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

static void fill_cm_param(struct kverbs_conn *conn, struct rdma_conn_param *param)
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

/* On RoCE the CM does not fill in the interface of a link-local address. */
static void complete_scope(struct sockaddr_storage *ss, const struct rdma_cm_id *id)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

	if (ss->ss_family == AF_INET6 && !sin6->sin6_scope_id &&
	    ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		sin6->sin6_scope_id = id->route.addr.dev_addr.bound_dev_if;
}

/* Keeps what outlives the CM id, once that is bound to a device. */
static void note_addresses(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id = conn->id;

	conn->local = id->route.addr.src_addr;
	conn->remote = id->route.addr.dst_addr;
	complete_scope(&conn->local, id);
	complete_scope(&conn->remote, id);
	conn->port = id->port_num;
	WRITE_ONCE(conn->device_index, id->device->index);
	conn->node = ibdev_to_node(id->device);
	conn->transport = kverbs_port_transport(id->device, id->port_num);
	conn->queue.quirks = kverbs_quirks(id->device, id->port_num);
}

static void evict(struct kverbs_tenant *tenant)
{
	kverbs_conn_end(container_of(tenant, struct kverbs_conn, tenant),
			KVERBS_CQE_DEVICE_REMOVED, -ENODEV, 0);
}

static int begin_addr(struct kverbs_conn *conn)
{
	unsigned int ms = min_t(unsigned int, conn->attr.timeout_ms, RESOLVE_MS);

	return kverbs_rdma_resolve_addr(conn->id, (struct sockaddr *)&conn->remote, ms);
}

static int begin_route(struct kverbs_conn *conn)
{
	int ret;

	ret = kverbs_device_enter(conn->id->device, &conn->tenant, KVERBS_TENANT_CM,
				  evict);
	if (!ret)
		ret = kverbs_device_claim(&conn->reserved, conn->id->device, conn->quotas);
	if (ret)
		return ret;
	note_addresses(conn);
	return kverbs_rdma_resolve_route(conn->id, conn->attr.timeout_ms);
}

static void connect_failed(struct kverbs_connect *connect, int error)
{
	kverbs_conn_end(container_of(connect, struct kverbs_conn, connect), KVERBS_CQE_FAILED,
			error, 0);
}

/* Returns true if a receive waits for another task that maps its region, as @waiter does. */
static bool post_recvs(struct kverbs_conn *conn, struct kverbs_turn_waiter *waiter)
{
	if (conn->srq)
		kverbs_srq_fill(conn->srq);
	else
		kverbs_recv_pool_fill(conn);
	return kverbs_conn_post_deferred(conn, waiter);
}

/* True if receives were accepted before there was a queue pair, or come from a pool. */
static bool has_recvs(struct kverbs_conn *conn)
{
	return conn->attr.recv_pool || kverbs_queue_has_deferred(&conn->queue);
}

/*
 * Receives are posted before the peer can send. That may map their region, so it is done in
 * further calls, on the workqueue for that.
 */
static int begin_connect(struct kverbs_conn *conn)
{
	int ret;

	if (!conn->qp) {
		ret = kverbs_conn_setup_qp(conn);
		if (ret)
			return ret;
		/* From here on each receive is posted by the task that submits it. */
		if (has_recvs(conn)) {
			queue_work(kverbs_post_workqueue, &conn->work);
			return 0;
		}
	}
	/* Then this is called once more when the region is mapped. */
	if (post_recvs(conn, NULL))
		return 0;
	fill_cm_param(conn, &conn->connect.param);
	conn->connect.id = conn->id;
	conn->connect.blocks = conn->queue.quirks & KVERBS_QUIRK_BLOCKING_CONNECT;
	conn->connect.failed = connect_failed;
	kverbs_conn_note_asked(conn);
	ret = kverbs_connect_start(&conn->connect);
	if (ret)
		kverbs_conn_note_answer(conn);
	return ret;
}

/* False if the event that caused the step came too early or too late. */
static bool is_due(const struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	return step == KVERBS_STEP_CONNECT ? conn->tenant.dev && !conn->connect.id :
	       !conn->tenant.dev && (step != KVERBS_STEP_ROUTE || conn->id->device);
}

static enum kverbs_conn_step take_step(struct kverbs_conn *conn)
{
	enum kverbs_conn_step step = KVERBS_STEP_NONE;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->state == KVERBS_CONN_CONNECTING) {
		swap(step, conn->step);
		/* begin_connect() has made the queue pair, and goes on. */
		if (conn->qp && !conn->connect.id)
			step = KVERBS_STEP_CONNECT;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return is_due(conn, step) ? step : KVERBS_STEP_NONE;
}

/* Takes the next step of the active side, or posts what waits for slots. */
static void step_work(struct work_struct *work)
{
	struct kverbs_conn *conn = container_of(work, struct kverbs_conn, work);
	struct mem_cgroup *before;
	int ret = 0;

	if (kverbs_conn_is_ending(conn))
		return;
	before = set_active_memcg(conn->memcg);
	mutex_lock(&conn->mutex);
	switch (take_step(conn)) {
	case KVERBS_STEP_ADDR:
		ret = begin_addr(conn);
		break;
	case KVERBS_STEP_ROUTE:
		ret = begin_route(conn);
		break;
	case KVERBS_STEP_CONNECT:
		ret = begin_connect(conn);
		break;
	case KVERBS_STEP_NONE:
		post_recvs(conn, NULL);
		kverbs_conn_post_held(conn);
		break;
	}
	mutex_unlock(&conn->mutex);
	set_active_memcg(before);
	if (ret)
		kverbs_conn_end(conn, KVERBS_CQE_FAILED, ret, 0);
}

static void next_step(struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	kverbs_conn_set_step(conn, step);
	queue_work(kverbs_workqueue, &conn->work);
}

static void fail(struct kverbs_conn *conn, int error)
{
	kverbs_conn_end(conn, KVERBS_CQE_FAILED, error, 0);
}

static void leave_device(struct kverbs_conn *conn)
{
	struct kverbs_device *dev = conn->tenant.dev;

	if (dev)
		kverbs_quota_uncharge(conn->quotas, KVERBS_CONN_OBJECTS, dev->ib);
	kverbs_device_leave(&conn->tenant);
	kverbs_device_unreserve(&conn->reserved);
}

/* Does not wait for the peer: if it had to, kverbs_conn_note_answer() lets it be repeated. */
static void teardown(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id;

	mutex_lock(&conn->mutex);
	if (READ_ONCE(conn->state) == KVERBS_CONN_DEAD)
		goto out_unlock;
	cancel_delayed_work(&conn->deadline);
	if (kverbs_connect_stop(&conn->connect))
		kverbs_conn_note_answer(conn);
	kverbs_keepalive_stop(&conn->keepalive);
	kverbs_queue_close(&conn->queue);
	if (kverbs_conn_is_unanswered(conn))
		goto out_unlock;
	kverbs_conn_quiesce(conn);
	id = conn->id;
	conn->id = NULL;
	if (id)
		rdma_destroy_id(id);
	/* The handler, which has returned by now, may have started it again. */
	kverbs_keepalive_stop(&conn->keepalive);
	kverbs_recv_pool_leave(conn);
	kverbs_conn_destroy_qp(conn);
	kverbs_backlog_leave(&conn->backlog);
	leave_device(conn);
	kverbs_conn_set_dead(conn);
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
	kverbs_conn_expire(container_of(work, struct kverbs_conn, deadline.work));
}

/*
 * The PD of a group is charged to the group. In its place a connection may have a shared
 * receive queue: each of those that share one is charged for it.
 */
static unsigned int count_objects(const struct kverbs_conn *conn)
{
	return KVERBS_CONN_OBJECTS - (conn->attr.group && !conn->attr.recv_pool);
}

static struct kverbs_conn *new_conn(enum kverbs_conn_state state, int node,
				    const struct kverbs_conn_attr *attr)
{
	struct kverbs_conn *conn = kverbs_conn_alloc(state, node);

	if (IS_ERR(conn))
		return conn;
	INIT_WORK(&conn->work, step_work);
	INIT_WORK(&conn->close_work, close_work);
	INIT_DELAYED_WORK(&conn->deadline, deadline_work);
	conn->attr = *attr;
	kverbs_queue_init(&conn->queue, &kverbs_conn_queue_ops, attr->param.sq_depth,
			  attr->param.rq_depth);
	conn->queue.tenant = &conn->tenant;
	conn->queue.pooled = attr->recv_pool;
	kverbs_conn_init_waiters(conn);
	kverbs_sync_init(&conn->sync, &conn->queue);
	kverbs_keepalive_init(&conn->keepalive, &conn->queue);
	return conn;
}

/**
 * kverbs_conn_create() - create a connection of the active side
 * @net: network namespace
 * @attr: its parameters; copied
 * @src: local address, or NULL
 * @dst: the peer
 *
 * Context: process, may sleep; @src is bound with the caller's rights, and the caller's
 * control group is charged.
 * Return: the connection, not started, or an ERR_PTR.
 */
struct kverbs_conn *kverbs_conn_create(struct net *net,
				       const struct kverbs_conn_attr *attr,
				       const struct sockaddr *src,
				       const struct sockaddr *dst)
{
	struct kverbs_conn *conn;
	int ret;

	conn = new_conn(KVERBS_CONN_CONNECTING, NUMA_NO_NODE, attr);
	if (IS_ERR(conn))
		return conn;
	memcpy(&conn->remote, dst, rdma_addr_size((struct sockaddr *)dst));
	conn->id = kverbs_rdma_create_id(net, cm_handler, conn);
	if (IS_ERR(conn->id)) {
		ret = PTR_ERR(conn->id);
		goto out_free_conn;
	}
	/* Once the id is bound, its device may go: teardown() must wait, or has no work. */
	mutex_lock(&conn->mutex);
	ret = set_options(conn);
	if (!ret && src)
		ret = kverbs_rdma_bind_addr(conn->id, (struct sockaddr *)src);
	if (!ret)
		ret = kverbs_device_reserve(&conn->reserved, count_objects(conn),
					    conn->id->device, net);
	if (ret) {
		rdma_destroy_id(conn->id);
		kverbs_conn_set_dead(conn);
	}
	mutex_unlock(&conn->mutex);
	if (ret)
		goto out_cancel_work;
	return conn;

out_cancel_work:
	cancel_work_sync(&conn->close_work);
out_free_conn:
	kverbs_conn_release(conn);
	return ERR_PTR(ret);
}

/**
 * kverbs_conn_start() - begin to connect
 * @conn: from kverbs_conn_create()
 *
 * The outcome is reported by kverbs_conn_ops, even if this fails at once.
 */
void kverbs_conn_start(struct kverbs_conn *conn)
{
	int ret = 0;

	mutex_lock(&conn->mutex);
	if (conn->id) {
		mod_delayed_work(kverbs_workqueue, &conn->deadline,
				 msecs_to_jiffies(conn->attr.timeout_ms));
		ret = begin_addr(conn);
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
 * kverbs_conn_adopt() - create a connection for the request of a peer
 * @id: the request's id
 * @event: the request
 * @backlog: counts the request until it is answered
 * @attr: the owner, and depths that hold until the request is accepted; copied
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

	conn = new_conn(KVERBS_CONN_REQUESTED, ibdev_to_node(id->device), attr);
	if (IS_ERR(conn))
		return conn;
	ret = kverbs_backlog_enter(backlog);
	if (ret) {
		kverbs_conn_release(conn);
		return ERR_PTR(ret);
	}
	conn->backlog = backlog;
	conn->id = id;
	conn->responder_resources = event->param.conn.responder_resources;
	conn->initiator_depth = event->param.conn.initiator_depth;
	save_priv(conn, event->param.conn.private_data,
		  event->param.conn.private_data_len);
	note_addresses(conn);
	return conn;
}

/**
 * kverbs_conn_enter() - put an adopted connection into service
 * @conn: from kverbs_conn_adopt(), in the same handler
 *
 * From here on the connection may end at any time; teardown waits for the handler.
 *
 * Return: 0, or -ENODEV: the caller must call kverbs_conn_abandon().
 */
int kverbs_conn_enter(struct kverbs_conn *conn)
{
	struct rdma_cm_id *id = conn->id;
	int ret;

	ret = kverbs_device_enter(id->device, &conn->tenant, KVERBS_TENANT_CM,
				  evict);
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
	kverbs_conn_release(conn);
}

/*
 * Posts the receives from before ACCEPT in the task of that, which releases the mutex while another
 * task maps a region, so that the teardown does not wait for it.
 */
static int post_early_recvs(struct kverbs_conn *conn)
{
	struct kverbs_turn_sleeper sleeper;
	int ret = 0;

	kverbs_turn_sleeper_init(&sleeper);
	while (!ret && post_recvs(conn, &sleeper.waiter)) {
		mutex_unlock(&conn->mutex);
		ret = kverbs_turn_sleep(&sleeper);
		mutex_lock(&conn->mutex);
		if (!ret && READ_ONCE(conn->state) != KVERBS_CONN_ACCEPTING)
			ret = -ENOTCONN;
	}
	return ret;
}

static int answer_request(struct kverbs_conn *conn)
{
	struct rdma_conn_param param;
	int ret;

	ret = set_options(conn);
	if (!ret)
		ret = kverbs_conn_setup_qp(conn);
	if (!ret)
		ret = post_early_recvs(conn);
	if (ret)
		return ret;
	fill_cm_param(conn, &param);
	mod_delayed_work(kverbs_workqueue, &conn->deadline,
			 msecs_to_jiffies(conn->attr.timeout_ms));
	kverbs_conn_note_asked(conn);
	rdma_lock_handler(conn->id);
	if (READ_ONCE(conn->state) == KVERBS_CONN_ACCEPTING)
		ret = kverbs_rdma_accept(conn->id, &param);
	else
		ret = -ENOTCONN;
	rdma_unlock_handler(conn->id);
	if (ret)
		kverbs_conn_note_answer(conn);
	return ret;
}

static bool is_apart(const struct kverbs_conn *conn, struct kverbs_group *group)
{
	return group && conn->id && !kverbs_group_is_on(group, conn->id->device);
}

static bool has_other_recvs(struct kverbs_conn *conn, const struct kverbs_recv_pool *pool)
{
	return pool && READ_ONCE(conn->state) == KVERBS_CONN_REQUESTED &&
	       kverbs_queue_set_pooled(&conn->queue);
}

/**
 * kverbs_conn_accept() - accept a request
 * @conn: the connection
 * @attr: its parameters; copied
 *
 * Context: process, may sleep and be killed.
 * Return: 0; -ENOTCONN if the connection is not REQUESTED; -EINVAL if the group is not on its
 * device, or if receives without the pool of @attr were accepted before; -EINTR, after which it
 * may end; after any other error, such as -EDQUOT, it ends.
 */
int kverbs_conn_accept(struct kverbs_conn *conn, struct kverbs_conn_attr *attr)
{
	int ret = -ENOTCONN;

	if (mutex_lock_killable(&conn->mutex))
		return -EINTR;
	if (is_apart(conn, attr->group) || has_other_recvs(conn, attr->recv_pool)) {
		ret = -EINVAL;
	} else if (kverbs_conn_move(conn, KVERBS_CONN_REQUESTED, KVERBS_CONN_ACCEPTING)) {
		kverbs_backlog_leave(&conn->backlog);
		conn->attr = *attr;
		if (attr->ops->accepting)
			attr->ops->accepting(conn, attr);
		ret = kverbs_queue_resize(&conn->queue, attr->param.sq_depth,
					  attr->param.rq_depth);
		if (!ret)
			ret = kverbs_quota_charge(conn->quotas, count_objects(conn),
						  conn->id->device);
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
 * Context: process, may sleep and be killed.
 * Return: 0, -EINTR, or -ENOTCONN if the connection is not REQUESTED.
 */
int kverbs_conn_reject(struct kverbs_conn *conn, const void *priv, u8 len)
{
	int ret = -ENOTCONN;

	if (mutex_lock_killable(&conn->mutex))
		return -EINTR;
	if (kverbs_conn_move(conn, KVERBS_CONN_REQUESTED, KVERBS_CONN_ACCEPTING)) {
		kverbs_backlog_leave(&conn->backlog);
		/* If this fails, destroying the id rejects as well. */
		rdma_reject(conn->id, priv, len, IB_CM_REJ_CONSUMER_DEFINED);
		fail(conn, -ECANCELED);
		ret = 0;
	}
	mutex_unlock(&conn->mutex);
	return ret;
}

/**
 * kverbs_conn_close() - end a connection and wait until it is DEAD
 * @conn: the connection
 *
 * Waits for the HCA and, with KVERBS_QUIRK_AWAITS_ANSWER, until the peer has answered or
 * the driver does not wait for it any more, as rdma_destroy_id() does; but under no lock, and
 * without keeping the host from suspend.
 *
 * Context: process, may sleep.
 */
void kverbs_conn_close(struct kverbs_conn *conn)
{
	fail(conn, 0);
	/* Once more at least: a killed task interrupts a connect that blocks. */
	teardown(conn);
	kverbs_wait_event_unkillable(conn->answered, !READ_ONCE(conn->unanswered));
	teardown(conn);
}

static int await_answer(struct kverbs_conn *conn, bool may_wait)
{
	if (!may_wait)
		return kverbs_conn_is_unanswered(conn) ? -EINTR : 0;
	return kverbs_wait_event(conn->answered, !READ_ONCE(conn->unanswered)) ? -EINTR : 0;
}

/**
 * kverbs_conn_close_killable() - end a connection, and wait until it is DEAD or the task is killed
 * @conn: the connection
 * @may_wait: false if the task does not wait for the peer at all
 *
 * Waits as kverbs_conn_close() does, but for the peer only until the task is killed.
 *
 * Context: process, may sleep.
 * Return: 0, or -EINTR: the connection becomes DEAD when the peer has answered.
 */
int kverbs_conn_close_killable(struct kverbs_conn *conn, bool may_wait)
{
	int ret;

	fail(conn, 0);
	/* Once more at least, as in kverbs_conn_close(). */
	teardown(conn);
	ret = await_answer(conn, may_wait);
	if (!ret)
		teardown(conn);
	return ret;
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
	kverbs_group_reclaim(conn);
	kverbs_conn_release(conn);
}

/**
 * kverbs_conn_forget() - drop the registrations of a region from the lkey cache
 * @conn: the connection
 * @region: the region, which no operation uses any more
 *
 * Context: process, may sleep.
 */
void kverbs_conn_forget(struct kverbs_conn *conn, struct kverbs_region *region)
{
	int ret;

	down_read(&conn->use);
	ret = kverbs_lkey_cache_forget(&conn->lkeys, region);
	up_read(&conn->use);
	if (ret)
		kverbs_conn_close(conn);
}

/*
 * With KVERBS_QUIRK_READ_PROBE the probe is a READ, if the peer accepts READs at all. With
 * KVERBS_QUIRK_NUDGE the active side sends one probe even if keepalive is off.
 */
static void start_keepalive(struct kverbs_conn *conn, bool asked)
{
	struct kverbs_keepalive *keepalive = &conn->keepalive;
	u32 quirks = conn->queue.quirks;

	keepalive->cqs = conn->attr.cqs;
	keepalive->ms = DIV_ROUND_UP_ULL(conn->attr.param.keepalive_ns, NSEC_PER_MSEC);
	keepalive->opcode = IB_WR_RDMA_WRITE;
	keepalive->always = quirks & KVERBS_QUIRK_READ_PROBE;
	if (keepalive->ms && keepalive->always && conn->initiator_depth)
		keepalive->opcode = IB_WR_RDMA_READ;
	if (keepalive->ms)
		kverbs_keepalive_start(keepalive, keepalive->ms);
	else if (asked && quirks & KVERBS_QUIRK_NUDGE)
		kverbs_keepalive_start(keepalive, NUDGE_MS);
}

/*
 * Keeps path MTU and depth of READs. @answer is the peer's, NULL on the passive side: the
 * CM gives the queue pair no more READs than the peer accepts at a time.
 */
static void note_path(struct kverbs_conn *conn, struct rdma_cm_id *id,
		      const struct rdma_cm_event *answer)
{
	kverbs_conn_stamp(conn, KVERBS_STAMP_UP);
	if (answer && !(conn->queue.quirks & KVERBS_QUIRK_VAGUE_ANSWER))
		conn->initiator_depth = min(conn->initiator_depth,
					    answer->param.conn.initiator_depth);
	if (id->route.path_rec)
		WRITE_ONCE(conn->mtu, ib_mtu_enum_to_int(id->route.path_rec->mtu));
}

/* @ended cannot overtake @established: teardown waits for this handler to return. */
static void established(struct kverbs_conn *conn, struct rdma_cm_id *id,
			const struct rdma_cm_event *event)
{
	bool asked = READ_ONCE(conn->state) == KVERBS_CONN_CONNECTING;

	if (asked)
		save_priv(conn, event->param.conn.private_data,
			  event->param.conn.private_data_len);
	if (!kverbs_conn_set_up(conn))
		return;
	cancel_delayed_work(&conn->deadline);
	note_path(conn, id, asked ? event : NULL);
	kverbs_queue_up(&conn->queue);
	conn->attr.ops->established(conn);
	start_keepalive(conn, asked);
	queue_work(kverbs_post_workqueue, &conn->work);
}

/* A connection that was requested keeps the private data of its request. */
static void rejected(struct kverbs_conn *conn, struct rdma_cm_id *id,
		     struct rdma_cm_event *event)
{
	bool asked = READ_ONCE(conn->state) == KVERBS_CONN_CONNECTING && READ_ONCE(conn->qp);
	const void *data = event->param.conn.private_data;
	u8 len = event->param.conn.private_data_len;

	if (asked && !(conn->queue.quirks & KVERBS_QUIRK_VAGUE_ANSWER))
		data = rdma_consumer_reject_data(id, event, &len);
	if (asked)
		save_priv(conn, data, data ? len : 0);
	/* A peer that leaves before it knows that this side is up sends a reject, too. */
	if (READ_ONCE(conn->was_up))
		fail(conn, -ECONNRESET);
	else
		kverbs_conn_end(conn, KVERBS_CQE_REJECTED, -ECONNREFUSED, abs(event->status));
}

static int event_error(const struct rdma_cm_event *event)
{
	return event->status < 0 ? event->status : -EHOSTUNREACH;
}

/* After a removal the CM reports no answer any more, but waits for it. */
static bool is_answer(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return true;
	default:
		return false;
	}
}

/* Is short, never waits, and accepts any event in any state. */
static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_conn *conn = id->context;

	trace_kverbs_cm_event(conn, event);
	if (is_answer(event))
		kverbs_conn_note_answer(conn);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		next_step(conn, KVERBS_STEP_ROUTE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		next_step(conn, KVERBS_STEP_CONNECT);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(conn, id, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		/* Try again until the deadline ends the connection. */
		if (event->status == -ETIMEDOUT)
			next_step(conn, KVERBS_STEP_ADDR);
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
