// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of other modules, documented in include/kverbs/kverbs.h. */
#include <linux/limits.h>
#include <linux/slab.h>

#include "compat.h"
#include "conn_cm.h"
#include "k_conn.h"

#define DEFAULT_DEPTH		128
#define MAX_DEPTH		32768
#define DEFAULT_TIMEOUT_MS	10000
/* The limit of delayed work. */
#define MAX_KEEPALIVE_NS	((u64)INT_MAX * NSEC_PER_MSEC)

/**
 * struct acceptance - what one call of kverbs_k_conn_accept() asks for
 * @attr: of the connection
 * @ops: events for the module
 * @context: for the module
 * @context_of_cqs: where completions are handled
 */
struct acceptance {
	struct kverbs_conn_attr attr;
	const struct kverbs_k_conn_ops *ops;
	void *context;
	enum ib_poll_context context_of_cqs;
};

/* Before this, no completion queue was created, and no event reported. */
static void on_accepting(struct kverbs_conn *conn, struct kverbs_conn_attr *attr)
{
	struct acceptance *acceptance = container_of(attr, struct acceptance, attr);
	struct kverbs_k_conn *k_conn = attr->owner;

	k_conn->ops = acceptance->ops;
	k_conn->context = acceptance->context;
	kverbs_cq_set_choose(k_conn->cqs, acceptance->context_of_cqs);
}

static void on_established(struct kverbs_conn *conn)
{
	struct kverbs_k_conn *k_conn = conn->attr.owner;

	k_conn->ops->established(k_conn);
}

static void on_ended(struct kverbs_conn *conn)
{
	struct kverbs_k_conn *k_conn = conn->attr.owner;

	if (k_conn->ops)
		k_conn->ops->ended(k_conn, conn->end.error);
}

static const struct kverbs_conn_ops conn_ops = {
	.accepting	= on_accepting,
	.established	= on_established,
	.ended		= on_ended,
};

static enum ib_poll_context poll_context(const struct kverbs_k_conn_param *param)
{
	if (param->polled)
		return IB_POLL_DIRECT;
	return param->softirq ? IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE;
}

static int fill_attr(struct kverbs_conn_attr *attr, struct kverbs_k_conn *k_conn,
		     const struct kverbs_k_conn_param *param, u8 priv_max)
{
	if (param->sq_depth > MAX_DEPTH || param->rq_depth > MAX_DEPTH ||
	    param->max_sge > KVERBS_RECV_SGES || param->timeout_ms > INT_MAX ||
	    param->keepalive_ns > MAX_KEEPALIVE_NS || param->priv_len > priv_max ||
	    (param->polled && param->softirq))
		return -EINVAL;
	*attr = (struct kverbs_conn_attr) {
		.ops = &conn_ops,
		.owner = k_conn,
		.cqs = k_conn->cqs,
		.param.sq_depth = param->sq_depth ?: DEFAULT_DEPTH,
		.param.rq_depth = param->rq_depth ?: DEFAULT_DEPTH,
		.param.max_sge = param->max_sge,
		.param.max_read = param->max_read,
		.param.keepalive_ns = param->keepalive_ns,
		.timeout_ms = param->timeout_ms ?: DEFAULT_TIMEOUT_MS,
		.priv_len = param->priv_len,
	};
	if (param->priv_len)
		memcpy(attr->priv, param->priv, param->priv_len);
	return 0;
}

static struct kverbs_k_conn *alloc_k_conn(enum ib_poll_context context)
{
	struct kverbs_k_conn *k_conn = kzalloc(sizeof(*k_conn), GFP_KERNEL_ACCOUNT);

	if (!k_conn)
		return NULL;
	k_conn->cqs = &k_conn->own_cqs;
	kverbs_cq_set_init(k_conn->cqs, context);
	return k_conn;
}

static void free_k_conn(struct kverbs_k_conn *k_conn)
{
	kverbs_cq_set_exit(k_conn->cqs);
	kfree(k_conn);
}

struct kverbs_k_conn *kverbs_k_conn_create(struct net *net, const struct kverbs_k_conn_ops *ops,
					   void *context,
					   const struct kverbs_k_conn_param *param,
					   const struct sockaddr *src,
					   const struct sockaddr *dst)
{
	struct kverbs_k_conn *k_conn = alloc_k_conn(poll_context(param));
	struct kverbs_conn_attr attr;
	int ret;

	if (!k_conn)
		return ERR_PTR(-ENOMEM);
	k_conn->ops = ops;
	k_conn->context = context;
	ret = fill_attr(&attr, k_conn, param, KVERBS_PRIV_CONNECT_MAX);
	if (ret)
		goto out_free_k_conn;
	k_conn->conn = kverbs_conn_create(net, &attr, src, dst);
	if (IS_ERR(k_conn->conn)) {
		ret = PTR_ERR(k_conn->conn);
		goto out_free_k_conn;
	}
	return k_conn;

out_free_k_conn:
	free_k_conn(k_conn);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_create);

/**
 * kverbs_k_conn_lend() - let a module use an established connection of user space
 * @k_conn: filled in; there is nothing to undo
 * @conn: the connection, with no operation in flight, its queue reserved; its owner keeps it
 *
 * The module may query, poll and close the connection, and post on it by kverbs_k_post_list() in
 * process context.
 */
void kverbs_k_conn_lend(struct kverbs_k_conn *k_conn, struct kverbs_conn *conn)
{
	*k_conn = (struct kverbs_k_conn) { .conn = conn, .cqs = conn->attr.cqs, .lent = true };
}

void kverbs_k_conn_start(struct kverbs_k_conn *k_conn)
{
	kverbs_conn_start(k_conn->conn);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_start);

/**
 * kverbs_k_conn_adopt() - make a connection of the request of a peer
 * @id: the request's id
 * @event: the request
 * @backlog: counts the request until it is answered
 *
 * Context: the CM's handler of the request.
 * Return: the connection, which may end at any time, or an ERR_PTR to have it rejected.
 */
struct kverbs_k_conn *kverbs_k_conn_adopt(struct rdma_cm_id *id,
					  const struct rdma_cm_event *event,
					  struct kverbs_backlog *backlog)
{
	struct kverbs_k_conn *k_conn = alloc_k_conn(IB_POLL_WORKQUEUE);
	struct kverbs_k_conn_param param = {};
	struct kverbs_conn_attr attr;
	int ret;

	if (!k_conn)
		return ERR_PTR(-ENOMEM);
	fill_attr(&attr, k_conn, &param, 0);
	k_conn->conn = kverbs_conn_adopt(id, event, backlog, &attr);
	if (IS_ERR(k_conn->conn)) {
		ret = PTR_ERR(k_conn->conn);
		goto out_free_k_conn;
	}
	ret = kverbs_conn_enter(k_conn->conn);
	if (ret)
		goto out_abandon;
	return k_conn;

out_abandon:
	kverbs_conn_abandon(k_conn->conn);
out_free_k_conn:
	free_k_conn(k_conn);
	return ERR_PTR(ret);
}

int kverbs_k_conn_accept(struct kverbs_k_conn *k_conn, const struct kverbs_k_conn_ops *ops,
			 void *context, const struct kverbs_k_conn_param *param)
{
	struct acceptance acceptance = {
		.ops = ops,
		.context = context,
		.context_of_cqs = poll_context(param),
	};
	int ret;

	ret = fill_attr(&acceptance.attr, k_conn, param, KVERBS_PRIV_ACCEPT_MAX);
	return ret ?: kverbs_conn_accept(k_conn->conn, &acceptance.attr);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_accept);

int kverbs_k_conn_reject(struct kverbs_k_conn *k_conn, const void *priv, u8 priv_len)
{
	if (priv_len > KVERBS_PRIV_REJECT_MAX)
		return -EINVAL;
	return kverbs_conn_reject(k_conn->conn, priv, priv_len);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_reject);

void kverbs_k_conn_end(struct kverbs_k_conn *k_conn)
{
	kverbs_conn_end(k_conn->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_end);

void kverbs_k_conn_close(struct kverbs_k_conn *k_conn)
{
	kverbs_conn_close(k_conn->conn);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_close);

void kverbs_k_conn_free(struct kverbs_k_conn *k_conn)
{
	kverbs_conn_free(k_conn->conn);
	free_k_conn(k_conn);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_free);

void *kverbs_k_conn_context(const struct kverbs_k_conn *k_conn)
{
	return k_conn->context;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_context);

bool kverbs_k_conn_is_up(const struct kverbs_k_conn *k_conn)
{
	return !kverbs_queue_check_up(&k_conn->conn->queue) &&
	       !kverbs_conn_is_ending(k_conn->conn);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_is_up);

unsigned int kverbs_k_conn_poll(struct kverbs_k_conn *k_conn)
{
	return k_conn->cqs->direct ? kverbs_cq_set_poll(k_conn->cqs) : 0;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_poll);

static void query_limits(const struct kverbs_conn *conn, struct kverbs_k_conn_info *info)
{
	info->max_sge = conn->queue.max_sge;
	info->max_recv_sge = conn->queue.max_recv_sge;
	info->max_read_sge = conn->queue.max_read_sge;
	info->mr_pages = conn->pool.pages;
	info->max_msg = conn->queue.max_msg;
	info->is_iwarp = conn->transport == KVERBS_TRANSPORT_IWARP;
}

void kverbs_k_conn_query(struct kverbs_k_conn *k_conn, struct kverbs_k_conn_info *info)
{
	struct kverbs_conn *conn = k_conn->conn;
	unsigned long flags;

	memset(info, 0, sizeof(*info));
	BUILD_BUG_ON(sizeof(info->priv) != sizeof(conn->peer_priv));
	spin_lock_irqsave(&conn->lock, flags);
	info->priv_len = conn->peer_priv_len;
	memcpy(info->priv, conn->peer_priv, conn->peer_priv_len);
	spin_unlock_irqrestore(&conn->lock, flags);
	info->local = conn->local;
	info->remote = conn->remote;
	info->node = conn->node;
	info->is_polled = k_conn->cqs->direct;
	if (!kverbs_queue_check_up(&conn->queue))
		query_limits(conn, info);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conn_query);
