// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections, as user space makes, answers and ends them. */
#include <linux/capability.h>
#include <linux/nsproxy.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "addr.h"
#include "conn_cm.h"
#include "conn_cmd.h"
#include "file.h"
#include "group.h"
#include "group_cmd.h"
#include "pool_obj.h"
#include "ring.h"
#include "srq.h"
#include "timeout.h"

#define DEFAULT_DEPTH		128
/* Less would be noise. */
#define MIN_KEEPALIVE_NS	(10 * NSEC_PER_MSEC)
/* The limit of delayed work. */
#define MAX_KEEPALIVE_NS	((u64)INT_MAX * NSEC_PER_MSEC)
/* The least for a user without CAP_NET_ADMIN, since probes are charged to no user. */
#define USER_KEEPALIVE_NS	((u64)NSEC_PER_SEC)
#define DEFAULT_TIMEOUT_MS	10000
/* ESTABLISHED and the end. */
#define EVENT_SLOTS		2

#define PARAM_BITS	(KVERBS_PARAM_RETRY | KVERBS_PARAM_RNR_RETRY | \
			 KVERBS_PARAM_RNR_TIMER | KVERBS_PARAM_ACK_TIMEOUT | \
			 KVERBS_PARAM_TOS)

static struct kverbs_conn_obj *to_conn_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_conn_obj, obj);
}

/**
 * kverbs_conn_obj_get() - find a connection for this ioctl
 * @file: where it belongs
 * @id: its id
 *
 * Return: the object, to be kverbs_object_put(), or ERR_PTR(-ENOENT).
 */
struct kverbs_conn_obj *kverbs_conn_obj_get(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get(file, id, KVERBS_OBJ_CONN);

	return IS_ERR(obj) ? ERR_CAST(obj) : to_conn_obj(obj);
}

static void conn_obj_release(struct kref *ref)
{
	struct kverbs_conn_obj *conn_obj = container_of(ref, struct kverbs_conn_obj, ref);

	kverbs_conn_free(conn_obj->conn);
	kfree_rcu(conn_obj, obj.rcu);
}

/**
 * kverbs_conn_obj_put_ref() - drop a reference that outlasts an ioctl
 * @conn_obj: the connection
 *
 * Context: process, may sleep.
 */
void kverbs_conn_obj_put_ref(struct kverbs_conn_obj *conn_obj)
{
	kref_put(&conn_obj->ref, conn_obj_release);
}

/**
 * kverbs_conn_obj_group_id() - find the id of a connection's group
 * @conn_obj: the connection
 *
 * Return: the id, 0 for none.
 */
u32 kverbs_conn_obj_group_id(struct kverbs_conn_obj *conn_obj)
{
	u32 id;

	spin_lock(&conn_obj->lock);
	id = conn_obj->group_obj ? conn_obj->group_obj->obj.id : 0;
	spin_unlock(&conn_obj->lock);
	return id;
}

/**
 * struct sharing - objects that a connection shares with others
 * @group_obj: its group, or NULL
 * @pool_obj: its receive pool, or NULL
 */
struct sharing {
	struct kverbs_group_obj *group_obj;
	struct kverbs_pool_obj *pool_obj;
};

static void put_sharing(const struct sharing *sharing)
{
	if (sharing->pool_obj)
		kverbs_object_put(&sharing->pool_obj->obj);
	kverbs_group_obj_put(sharing->group_obj);
}

/* Looks up the objects with these ids, 0 for none, for this ioctl. */
static int get_sharing(struct kverbs_file *file, u32 group_id, u32 pool_id,
		       struct sharing *sharing, struct kverbs_conn_attr *attr)
{
	struct kverbs_group_obj *group_obj = kverbs_group_obj_get(file, group_id);
	struct kverbs_pool_obj *pool_obj = NULL;

	if (IS_ERR(group_obj))
		return PTR_ERR(group_obj);
	if (pool_id)
		pool_obj = kverbs_pool_obj_get(file, pool_id);
	if (IS_ERR(pool_obj)) {
		kverbs_group_obj_put(group_obj);
		return PTR_ERR(pool_obj);
	}
	*sharing = (struct sharing) { .group_obj = group_obj, .pool_obj = pool_obj };
	attr->group = kverbs_group_of(group_obj);
	attr->recv_pool = pool_obj ? &pool_obj->pool : NULL;
	return 0;
}

static void enter_group(struct kverbs_conn_obj *conn_obj, struct kverbs_group_obj *group_obj)
{
	if (!group_obj)
		return;
	atomic_inc(&group_obj->conns);
	spin_lock(&conn_obj->lock);
	conn_obj->group_obj = group_obj;
	spin_unlock(&conn_obj->lock);
}

static void leave_group(struct kverbs_conn_obj *conn_obj)
{
	kverbs_group_reclaim(conn_obj->conn);
	if (conn_obj->group_obj)
		atomic_dec(&conn_obj->group_obj->conns);
}

/*
 * Writes an event; the @last one gives the remaining slots of the connection back. DESTROY
 * leaves that to detach_ring().
 */
static void post_event(struct kverbs_conn_obj *conn_obj, u8 type, int result, u32 imm,
		       bool last)
{
	struct kverbs_cqe cqe = {
		.id = conn_obj->obj.id,
		.result = result,
		.type = type,
		.imm = imm,
	};

	spin_lock(&conn_obj->lock);
	if (conn_obj->slots && !conn_obj->silent) {
		cqe.user_data = conn_obj->user_data;
		if (last)
			kverbs_ring_unreserve(conn_obj->ring, conn_obj->slots - 1);
		conn_obj->slots = last ? 0 : conn_obj->slots - 1;
		kverbs_ring_event(conn_obj->ring, &cqe);
	}
	spin_unlock(&conn_obj->lock);
}

/**
 * struct acceptance - what one ACCEPT, of maybe several at a time, asks for
 * @attr: of the connection
 * @ring: where its completions shall go, with slots for its events; afterwards the one
 *	whose slots are to be given back
 * @sharing: what the connection shall share
 * @user_data: what the user will call it
 */
struct acceptance {
	struct kverbs_conn_attr attr;
	struct kverbs_ring *ring;
	struct sharing sharing;
	u64 user_data;
};

static void attach_pool(struct kverbs_conn_obj *conn_obj, struct kverbs_pool_obj *pool_obj)
{
	conn_obj->pool_obj = pool_obj;
	if (pool_obj)
		atomic_inc(&pool_obj->users);
}

static void detach_pool(struct kverbs_conn_obj *conn_obj)
{
	if (conn_obj->pool_obj)
		atomic_dec(&conn_obj->pool_obj->users);
	conn_obj->pool_obj = NULL;
}

/* Entries that were submitted to the old ring complete there, and keep it. */
static void conn_accepting(struct kverbs_conn *conn, struct kverbs_conn_attr *attr)
{
	struct acceptance *acceptance = container_of(attr, struct acceptance, attr);
	struct kverbs_conn_obj *conn_obj = attr->owner;

	attach_pool(conn_obj, acceptance->sharing.pool_obj);
	spin_lock(&conn_obj->lock);
	swap(conn_obj->ring, acceptance->ring);
	conn_obj->user_data = acceptance->user_data;
	atomic_inc(&conn_obj->ring->users);
	atomic_dec(&acceptance->ring->users);
	spin_unlock(&conn_obj->lock);
	enter_group(conn_obj, acceptance->sharing.group_obj);
}

static void conn_established(struct kverbs_conn *conn)
{
	post_event(conn->attr.owner, KVERBS_CQE_ESTABLISHED, 0, 0, false);
}

static void conn_ended(struct kverbs_conn *conn)
{
	struct kverbs_conn_obj *conn_obj = conn->attr.owner;

	post_event(conn_obj, conn->end.type, conn->end.error, conn->end.reason, true);
	/* A CONNECT that fails attaches none. */
	if (conn_obj->ring)
		kverbs_file_put_conn(conn_obj->ring->obj.file);
}

static const struct kverbs_conn_ops conn_ops = {
	.accepting	= conn_accepting,
	.established	= conn_established,
	.ended		= conn_ended,
};

static void attach_ring(struct kverbs_conn_obj *conn_obj, struct kverbs_ring *ring,
			u32 slots, u64 user_data)
{
	spin_lock(&conn_obj->lock);
	conn_obj->ring = ring;
	conn_obj->slots = slots;
	conn_obj->user_data = user_data;
	spin_unlock(&conn_obj->lock);
	atomic_inc(&ring->users);
	kverbs_file_get_conn(ring->obj.file);
}

/* Gives the slots back; a later event is not written. */
static void detach_ring(struct kverbs_conn_obj *conn_obj)
{
	struct kverbs_ring *ring = conn_obj->ring;

	spin_lock(&conn_obj->lock);
	kverbs_ring_unreserve(ring, conn_obj->slots);
	conn_obj->slots = 0;
	spin_unlock(&conn_obj->lock);
}

static void end_exports(struct kverbs_conn_obj *conn_obj)
{
	struct kverbs_export_obj *export_obj;
	u32 id;

	mutex_lock(&conn_obj->export_lock);
	while (!list_empty(&conn_obj->exports)) {
		export_obj = list_first_entry(&conn_obj->exports,
					      struct kverbs_export_obj, entry);
		list_del_init(&export_obj->entry);
		id = export_obj->obj.id;
		mutex_unlock(&conn_obj->export_lock);
		/* Fails if another task is already destroying the export. */
		kverbs_object_destroy(conn_obj->obj.file, id);
		mutex_lock(&conn_obj->export_lock);
	}
	mutex_unlock(&conn_obj->export_lock);
}

static void conn_shutdown(struct kverbs_object *obj)
{
	struct kverbs_conn_obj *conn_obj = to_conn_obj(obj);

	/* The connection may be DEAD before its ring is detached. */
	spin_lock(&conn_obj->lock);
	conn_obj->silent = true;
	spin_unlock(&conn_obj->lock);
	kverbs_conn_end(conn_obj->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	kverbs_rings_forget(obj);
}

/* A task that exits cannot be killed any more, so it does not wait at all. */
static int conn_quiesce(struct kverbs_object *obj)
{
	bool may_wait = !obj->file->impatient && !(current->flags & PF_EXITING);

	return kverbs_conn_close_killable(to_conn_obj(obj)->conn, may_wait);
}

static int conn_destroy(struct kverbs_object *obj)
{
	struct kverbs_conn_obj *conn_obj = to_conn_obj(obj);
	struct kverbs_ring *ring = conn_obj->ring;

	detach_ring(conn_obj);
	kverbs_conn_close(conn_obj->conn);
	end_exports(conn_obj);
	detach_pool(conn_obj);
	leave_group(conn_obj);
	atomic_dec(&ring->users);
	kverbs_conn_obj_put_ref(conn_obj);
	return 0;
}

static const struct kverbs_object_ops conn_obj_ops = {
	.shutdown	= conn_shutdown,
	.quiesce	= conn_quiesce,
	.destroy	= conn_destroy,
};

static struct kverbs_conn_obj *new_conn_obj(void)
{
	struct kverbs_conn_obj *conn_obj = kzalloc(sizeof(*conn_obj), GFP_KERNEL_ACCOUNT);

	if (!conn_obj)
		return NULL;
	kref_init(&conn_obj->ref);
	spin_lock_init(&conn_obj->lock);
	mutex_init(&conn_obj->export_lock);
	INIT_LIST_HEAD(&conn_obj->exports);
	return conn_obj;
}

static int check_value(const struct kverbs_conn_param *param, u32 bit, u8 value, u8 max)
{
	if (!(param->valid & bit))
		return value ? -EINVAL : 0;
	return value > max ? -EINVAL : 0;
}

static int check_param(const struct kverbs_conn_param *param)
{
	if (param->valid & ~PARAM_BITS)
		return -EINVAL;
	if (memchr_inv(param->__reserved, 0, sizeof(param->__reserved)))
		return -EINVAL;
	if (param->keepalive_ns && (param->keepalive_ns < MIN_KEEPALIVE_NS ||
				    param->keepalive_ns > MAX_KEEPALIVE_NS))
		return -EINVAL;
	if (param->sq_depth > KVERBS_MAX_DEPTH || param->rq_depth > KVERBS_MAX_DEPTH)
		return -EINVAL;
	return check_value(param, KVERBS_PARAM_RETRY, param->retry, 7) ?:
	       check_value(param, KVERBS_PARAM_RNR_RETRY, param->rnr_retry, 7) ?:
	       check_value(param, KVERBS_PARAM_RNR_TIMER, param->rnr_timer, 31) ?:
	       check_value(param, KVERBS_PARAM_ACK_TIMEOUT, param->ack_timeout, 31) ?:
	       check_value(param, KVERBS_PARAM_TOS, param->tos, U8_MAX);
}

static u64 keepalive_ns(u64 asked)
{
	if (!asked || asked >= USER_KEEPALIVE_NS || capable(CAP_NET_ADMIN))
		return asked;
	return USER_KEEPALIVE_NS;
}

static int copy_param(struct kverbs_conn_param *param, u64 uptr, u32 size)
{
	if (!uptr && !size)
		return 0;
	if (size < sizeof(*param))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(param, sizeof(*param), u64_to_user_ptr(uptr), size);
}

static int fill_attr(struct kverbs_conn_attr *attr, u64 param_uptr, u32 param_size)
{
	struct kverbs_conn_param *param = &attr->param;
	int ret;

	ret = copy_param(param, param_uptr, param_size);
	if (!ret)
		ret = check_param(param);
	if (ret)
		return ret;
	attr->ops = &conn_ops;
	param->sq_depth = param->sq_depth ?: DEFAULT_DEPTH;
	param->rq_depth = param->rq_depth ?: DEFAULT_DEPTH;
	param->keepalive_ns = keepalive_ns(param->keepalive_ns);
	return 0;
}

static int set_timeout(struct kverbs_conn_attr *attr, u32 flags, u64 timeout_ns)
{
	attr->timeout_ms = DEFAULT_TIMEOUT_MS;
	if (!timeout_ns)
		return 0;
	return kverbs_timeout_ms(flags, timeout_ns, &attr->timeout_ms);
}

static int copy_priv(void *priv, u64 uptr, u32 len, u32 max)
{
	if (len > max)
		return -EINVAL;
	return copy_from_user(priv, u64_to_user_ptr(uptr), len) ? -EFAULT : 0;
}

static struct kverbs_conn *create_conn(const struct kverbs_cmd_connect *cmd,
				       struct kverbs_conn_attr *attr)
{
	struct sockaddr_storage src, dst;
	int ret;

	ret = kverbs_addr_in(&cmd->dst, &dst);
	if (!ret && cmd->src.family)
		ret = kverbs_addr_in(&cmd->src, &src);
	else if (!ret && memchr_inv(&cmd->src, 0, sizeof(cmd->src)))
		ret = -EINVAL;
	if (!ret && cmd->src.family && cmd->src.family != cmd->dst.family)
		ret = -EINVAL;
	if (ret)
		return ERR_PTR(ret);
	return kverbs_conn_create(current->nsproxy->net_ns, attr,
				  cmd->src.family ? (struct sockaddr *)&src : NULL,
				  (struct sockaddr *)&dst);
}

static void start_conn(struct kverbs_object *obj)
{
	kverbs_conn_start(to_conn_obj(obj)->conn);
}

static int connect_on_ring(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring,
			   const struct sharing *sharing, struct kverbs_conn_attr *attr)
{
	struct kverbs_cmd_connect *cmd = ucmd->cmd;
	struct kverbs_conn_obj *conn_obj;
	int ret;

	conn_obj = new_conn_obj();
	if (!conn_obj)
		return -ENOMEM;
	attr->owner = conn_obj;
	attr->cqs = &ring->cqs;
	conn_obj->conn = create_conn(cmd, attr);
	if (IS_ERR(conn_obj->conn)) {
		ret = PTR_ERR(conn_obj->conn);
		goto out_free_obj;
	}
	ret = kverbs_object_reserve(ucmd->file, &conn_obj->obj, KVERBS_OBJ_CONN,
				    &conn_obj_ops);
	if (ret)
		goto out_free_conn;
	ret = kverbs_ring_reserve(ring, EVENT_SLOTS);
	if (ret)
		goto out_unreserve;
	attach_ring(conn_obj, ring, EVENT_SLOTS, cmd->user_data);
	enter_group(conn_obj, sharing->group_obj);
	attach_pool(conn_obj, sharing->pool_obj);
	cmd->out_id = conn_obj->obj.id;
	ucmd->new = &conn_obj->obj;
	ucmd->start = start_conn;
	return 0;

out_unreserve:
	kverbs_object_unreserve(&conn_obj->obj);
out_free_conn:
	kverbs_conn_free(conn_obj->conn);
out_free_obj:
	kfree(conn_obj);
	return ret;
}

static int connect_sharing(struct kverbs_ucmd *ucmd, const struct sharing *sharing,
			   struct kverbs_conn_attr *attr)
{
	struct kverbs_cmd_connect *cmd = ucmd->cmd;
	struct kverbs_ring *ring;
	int ret;

	ring = kverbs_ring_get(ucmd->file, cmd->ring_id);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = connect_on_ring(ucmd, ring, sharing, attr);
	kverbs_object_put(&ring->obj);
	return ret;
}

int kverbs_cmd_connect(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_connect *cmd = ucmd->cmd;
	struct kverbs_conn_attr attr = { };
	struct sharing sharing;
	int ret;

	if (cmd->flags & ~KVERBS_TIME_ABSOLUTE)
		return -EINVAL;
	ret = fill_attr(&attr, cmd->param_uptr, cmd->param_size);
	if (!ret)
		ret = set_timeout(&attr, cmd->flags, cmd->timeout_ns);
	if (!ret)
		ret = copy_priv(attr.priv, cmd->priv_uptr, cmd->priv_len,
				KVERBS_PRIV_CONNECT_MAX);
	if (ret)
		return ret;
	attr.priv_len = cmd->priv_len;
	ret = get_sharing(ucmd->file, cmd->group_id, cmd->pool_id, &sharing, &attr);
	if (ret)
		return ret;
	ret = connect_sharing(ucmd, &sharing, &attr);
	put_sharing(&sharing);
	return ret;
}

/* Writes to the ring where the slot was reserved: ACCEPT may have moved the connection. */
static void post_request(struct kverbs_ring *ring, const struct kverbs_conn_obj *conn_obj,
			 u64 listener_data)
{
	struct kverbs_cqe cqe = {
		.user_data = listener_data,
		.id = conn_obj->obj.id,
		.type = KVERBS_CQE_CONN_REQUEST,
	};

	kverbs_ring_event(ring, &cqe);
}

static int adopt(struct kverbs_conn_obj *conn_obj, struct kverbs_ring *ring,
		 struct rdma_cm_id *id, const struct rdma_cm_event *event,
		 struct kverbs_backlog *backlog)
{
	struct kverbs_conn_attr attr = {
		.ops = &conn_ops,
		.owner = conn_obj,
		.cqs = &ring->cqs,
		.param.sq_depth = DEFAULT_DEPTH,
		.param.rq_depth = DEFAULT_DEPTH,
		.timeout_ms = DEFAULT_TIMEOUT_MS,
	};
	int ret;

	conn_obj->conn = kverbs_conn_adopt(id, event, backlog, &attr);
	if (IS_ERR(conn_obj->conn))
		return PTR_ERR(conn_obj->conn);
	ret = kverbs_object_reserve(ring->obj.file, &conn_obj->obj, KVERBS_OBJ_CONN,
				    &conn_obj_ops);
	if (ret)
		goto out_abandon;
	attach_ring(conn_obj, ring, EVENT_SLOTS, 0);
	ret = kverbs_conn_enter(conn_obj->conn);
	if (ret)
		goto out_detach;
	return 0;

out_detach:
	kverbs_file_put_conn(ring->obj.file);
	atomic_dec(&ring->users);
	kverbs_object_unreserve(&conn_obj->obj);
out_abandon:
	kverbs_conn_abandon(conn_obj->conn);
	return ret;
}

/**
 * kverbs_conn_obj_request() - announce a peer's request to user space
 * @ring: where
 * @user_data: what the user calls the listener
 * @id: the request's id
 * @event: the request
 * @backlog: where it counts until it is answered
 *
 * Context: the CM's handler of the request.
 * Return: 0, or an error that makes the CM refuse it.
 */
int kverbs_conn_obj_request(struct kverbs_ring *ring, u64 user_data,
			    struct rdma_cm_id *id, const struct rdma_cm_event *event,
			    struct kverbs_backlog *backlog)
{
	struct kverbs_conn_obj *conn_obj;
	struct mem_cgroup *before;
	int ret;

	ret = kverbs_ring_reserve(ring, EVENT_SLOTS + 1);
	if (ret)
		return ret;
	/* The handler runs in a kernel thread, which is in no group. */
	before = set_active_memcg(ring->obj.file->memcg);
	conn_obj = new_conn_obj();
	ret = conn_obj ? adopt(conn_obj, ring, id, event, backlog) : -ENOMEM;
	set_active_memcg(before);
	if (ret) {
		kverbs_ring_unreserve(ring, EVENT_SLOTS + 1);
		kfree(conn_obj);
		/* On -ENOMEM the IB CM says nothing, and the peer waits in vain. */
		return ret == -ENOMEM ? -EBUSY : ret;
	}
	kverbs_object_publish(&conn_obj->obj);
	post_request(ring, conn_obj, user_data);
	return 0;
}

/* Another ACCEPT may move it, and then nothing keeps the ring. */
static u32 ring_id_of(struct kverbs_conn_obj *conn_obj)
{
	u32 id;

	spin_lock(&conn_obj->lock);
	id = conn_obj->ring->obj.id;
	spin_unlock(&conn_obj->lock);
	return id;
}

static int accept_on_ring(struct kverbs_ucmd *ucmd, struct kverbs_conn_obj *conn_obj,
			  struct acceptance *acceptance)
{
	struct kverbs_cmd_accept *cmd = ucmd->cmd;
	struct kverbs_ring *ring;
	int ret;

	if (READ_ONCE(conn_obj->conn->state) != KVERBS_CONN_REQUESTED)
		return -ENOTCONN;
	ring = kverbs_ring_get(ucmd->file, cmd->ring_id ?: ring_id_of(conn_obj));
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = kverbs_ring_reserve(ring, EVENT_SLOTS);
	if (!ret) {
		acceptance->ring = ring;
		acceptance->attr.owner = conn_obj;
		acceptance->attr.cqs = &ring->cqs;
		ret = kverbs_conn_accept(conn_obj->conn, &acceptance->attr);
		kverbs_ring_unreserve(acceptance->ring, EVENT_SLOTS);
	}
	kverbs_object_put(&ring->obj);
	return ret;
}

int kverbs_cmd_accept(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_accept *cmd = ucmd->cmd;
	struct acceptance acceptance = { .user_data = cmd->user_data };
	struct kverbs_conn_attr *attr = &acceptance.attr;
	struct kverbs_conn_obj *conn_obj;
	int ret;

	if (cmd->flags & ~KVERBS_TIME_ABSOLUTE)
		return -EINVAL;
	ret = fill_attr(attr, cmd->param_uptr, cmd->param_size);
	/* The CM takes both from the peer's request. */
	if (!ret && attr->param.valid & (KVERBS_PARAM_TOS | KVERBS_PARAM_RETRY))
		ret = -EINVAL;
	if (!ret)
		ret = set_timeout(attr, cmd->flags, cmd->timeout_ns);
	if (!ret)
		ret = copy_priv(attr->priv, cmd->priv_uptr, cmd->priv_len,
				KVERBS_PRIV_ACCEPT_MAX);
	if (ret)
		return ret;
	attr->priv_len = cmd->priv_len;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	ret = get_sharing(ucmd->file, cmd->group_id, cmd->pool_id, &acceptance.sharing, attr);
	if (!ret) {
		ret = accept_on_ring(ucmd, conn_obj, &acceptance);
		put_sharing(&acceptance.sharing);
	}
	kverbs_object_put(&conn_obj->obj);
	return ret;
}

int kverbs_cmd_reject(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_reject *cmd = ucmd->cmd;
	struct kverbs_conn_obj *conn_obj;
	u8 priv[KVERBS_PRIV_REJECT_MAX];
	int ret;

	if (cmd->flags)
		return -EINVAL;
	ret = copy_priv(priv, cmd->priv_uptr, cmd->priv_len, sizeof(priv));
	if (ret)
		return ret;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	ret = kverbs_conn_reject(conn_obj->conn, cmd->priv_len ? priv : NULL,
				 cmd->priv_len);
	kverbs_object_put(&conn_obj->obj);
	return ret;
}

int kverbs_cmd_disconnect(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_disconnect *cmd = ucmd->cmd;
	struct kverbs_conn_obj *conn_obj;
	bool first;

	if (cmd->flags || cmd->__reserved)
		return -EINVAL;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	first = kverbs_conn_end(conn_obj->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	kverbs_object_put(&conn_obj->obj);
	return first ? 0 : -ENOTCONN;
}

/**
 * kverbs_conn_forget_all() - drop a region's local registrations everywhere
 * @file: where it belongs
 * @region: the region, which no work uses any more
 */
void kverbs_conn_forget_all(struct kverbs_file *file, struct kverbs_region *region)
{
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_object *obj;
	unsigned long id;

	xa_for_each(&file->objects.xa, id, obj) {
		conn_obj = kverbs_conn_obj_get(file, id);
		if (IS_ERR(conn_obj))
			continue;
		kverbs_conn_forget(conn_obj->conn, region);
		kverbs_object_put(&conn_obj->obj);
	}
}

static void query_state(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd,
			u8 *priv, u8 *priv_len)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	cmd->out_state = conn->state;
	cmd->out_error = conn->end.error;
	*priv_len = conn->peer_priv_len;
	memcpy(priv, conn->peer_priv, conn->peer_priv_len);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/* 0 on the passive side, which resolves nothing, and for steps not reached yet. */
static u64 since_begin(const struct kverbs_conn *conn, enum kverbs_conn_stamp what)
{
	if (!conn->stamps[KVERBS_STAMP_ADDR] || !conn->stamps[what])
		return 0;
	return conn->stamps[what] - conn->stamps[KVERBS_STAMP_BEGIN];
}

static void query_stamps(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	cmd->out_addr_ns = since_begin(conn, KVERBS_STAMP_ADDR);
	cmd->out_route_ns = since_begin(conn, KVERBS_STAMP_ROUTE);
	cmd->out_qp_ns = since_begin(conn, KVERBS_STAMP_QP);
	cmd->out_up_ns = since_begin(conn, KVERBS_STAMP_UP);
	spin_unlock_irqrestore(&conn->lock, flags);
}

static int query_path(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd)
{
	if (mutex_lock_killable(&conn->mutex))
		return -EINTR;
	cmd->out_device_index = conn->device_index;
	cmd->out_port = conn->port;
	cmd->out_transport = conn->transport;
	cmd->out_mtu = conn->mtu;
	cmd->out_max_read = conn->initiator_depth;
	cmd->out_max_segment = (u64)conn->pool.pages << PAGE_SHIFT;
	cmd->out_rq_used = conn->srq ? kverbs_srq_posted(conn->srq) : 0;
	kverbs_addr_out(&conn->local, &cmd->out_local);
	kverbs_addr_out(&conn->remote, &cmd->out_remote);
	mutex_unlock(&conn->mutex);
	return 0;
}

static void query_queue(struct kverbs_queue *queue, struct kverbs_cmd_conn_query *cmd)
{
	spin_lock_bh(&queue->lock);
	cmd->out_sq_depth = queue->sq_depth;
	cmd->out_rq_depth = queue->rq_depth;
	cmd->out_max_sge = queue->max_sge;
	cmd->out_max_msg = queue->max_msg;
	cmd->out_sq_used = queue->sq_depth - queue->sq_free;
	if (!queue->shared)
		cmd->out_rq_used = queue->rq_depth - queue->rq_free;
	cmd->out_ops = queue->ops_done;
	cmd->out_errors = queue->errors;
	cmd->out_bytes_out = queue->bytes_out;
	cmd->out_bytes_in = queue->bytes_in;
	spin_unlock_bh(&queue->lock);
}

static int copy_peer_priv(struct kverbs_cmd_conn_query *cmd, const u8 *priv, u8 priv_len)
{
	u32 room = cmd->inout_priv_len;

	cmd->inout_priv_len = priv_len;
	if (copy_to_user(u64_to_user_ptr(cmd->priv_uptr), priv, min_t(u32, room, priv_len)))
		return -EFAULT;
	/* Room for nothing is how to ask for everything else. */
	return room && room < priv_len ? -EMSGSIZE : 0;
}

int kverbs_cmd_conn_query(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_conn_query *cmd = ucmd->cmd;
	struct kverbs_conn_obj *conn_obj;
	u8 priv[KVERBS_PEER_PRIV_MAX];
	u8 priv_len;
	int ret;

	if (cmd->flags)
		return -EINVAL;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	query_state(conn_obj->conn, cmd, priv, &priv_len);
	query_stamps(conn_obj->conn, cmd);
	ret = query_path(conn_obj->conn, cmd);
	query_queue(&conn_obj->conn->queue, cmd);
	cmd->out_group_id = kverbs_conn_obj_group_id(conn_obj);
	cmd->__reserved = 0;
	kverbs_object_put(&conn_obj->obj);
	return ret ?: copy_peer_priv(cmd, priv, priv_len);
}
