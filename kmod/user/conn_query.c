// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What there is to know of a connection. */
#include <linux/uaccess.h>

#include "chardev.h"
#include "conn_cmd.h"

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

/* Who was asked has resolved nothing, and what comes too early counts for nothing. */
static u64 since_begin(const struct kverbs_conn *conn, enum kverbs_conn_mark what)
{
	if (!conn->marks[KVERBS_MARK_ADDR] || !conn->marks[what])
		return 0;
	return conn->marks[what] - conn->marks[KVERBS_MARK_BEGIN];
}

static void query_marks(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	cmd->out_addr_ns = since_begin(conn, KVERBS_MARK_ADDR);
	cmd->out_route_ns = since_begin(conn, KVERBS_MARK_ROUTE);
	cmd->out_qp_ns = since_begin(conn, KVERBS_MARK_QP);
	cmd->out_up_ns = since_begin(conn, KVERBS_MARK_UP);
	spin_unlock_irqrestore(&conn->lock, flags);
}

static void query_path(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd)
{
	mutex_lock(&conn->mutex);
	cmd->out_device_index = conn->device_index;
	cmd->out_port = conn->port;
	cmd->out_transport = conn->transport;
	cmd->out_mtu = conn->mtu;
	cmd->out_max_read = conn->initiator_depth;
	cmd->out_max_segment = (u64)conn->pool.pages << PAGE_SHIFT;
	kverbs_addr_out(&conn->local, &cmd->out_local);
	kverbs_addr_out(&conn->remote, &cmd->out_remote);
	mutex_unlock(&conn->mutex);
}

static void query_queue(struct kverbs_queue *queue, struct kverbs_cmd_conn_query *cmd)
{
	spin_lock_bh(&queue->lock);
	cmd->out_sq_depth = queue->sq_depth;
	cmd->out_rq_depth = queue->rq_depth;
	cmd->out_max_sge = queue->max_sge;
	cmd->out_max_msg = queue->max_msg;
	cmd->out_sq_used = queue->sq_depth - queue->sq_free;
	cmd->out_rq_used = queue->rq_depth - queue->rq_free;
	cmd->out_ops = queue->ops_done;
	cmd->out_errors = queue->errors;
	cmd->out_bytes_out = queue->bytes_out;
	cmd->out_bytes_in = queue->bytes_in;
	spin_unlock_bh(&queue->lock);
}

static int copy_priv(struct kverbs_cmd_conn_query *cmd, const u8 *priv, u8 priv_len)
{
	u32 room = cmd->priv_len;

	cmd->priv_len = priv_len;
	if (copy_to_user(u64_to_user_ptr(cmd->priv_uptr), priv, min_t(u32, room, priv_len)))
		return -EFAULT;
	/* Room for nothing is how to ask for everything else. */
	return room && room < priv_len ? -EMSGSIZE : 0;
}

/**
 * kverbs_cmd_conn_query() - KVERBS_CONN_QUERY
 * @ucmd: the ioctl
 *
 * Return: 0 or -errno.
 */
int kverbs_cmd_conn_query(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_conn_query *cmd = ucmd->cmd;
	struct kverbs_conn_obj *conn_obj;
	u8 priv[KVERBS_PEER_PRIV_MAX];
	u8 priv_len;

	if (cmd->flags)
		return -EINVAL;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	query_state(conn_obj->conn, cmd, priv, &priv_len);
	query_marks(conn_obj->conn, cmd);
	query_path(conn_obj->conn, cmd);
	query_queue(&conn_obj->conn->queue, cmd);
	kverbs_object_put(&conn_obj->obj);
	return copy_priv(cmd, priv, priv_len);
}
