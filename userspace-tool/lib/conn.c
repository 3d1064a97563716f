// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections: their state as events tell it, their end, and what the kernel
 * knows of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "dispatch.h"
#include "internal.h"
#include "request.h"
#include "wait.h"

/* iWARP carries the most private data. */
#define PRIV_MAX 512

struct kverbs_conn *kverbs_conn_alloc(void)
{
	struct kverbs_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	list_init(&conn->node);
	list_init(&conn->request);
	return conn;
}

void kverbs_conn_publish(struct kverbs *kv, struct kverbs_conn *conn, uint32_t id)
{
	conn->kv = kv;
	conn->obj.id = id;
	conn->obj.type = KVERBS_OBJ_CONN;
	kverbs_table_add(&kv->table, &conn->obj);
	list_add_tail(&conn->node, &kv->conns);
}

void kverbs_conn_move(struct kverbs_conn *conn, struct kverbs *to)
{
	kverbs_table_del(&conn->kv->table, &conn->obj);
	list_del(&conn->node);
	kverbs_conn_publish(to, conn, conn->obj.id);
}

struct kverbs_conn *kverbs_conn_find(struct kverbs *kv, uint32_t id)
{
	struct kverbs_obj *obj = kverbs_table_find(&kv->table, id);

	if (!obj || obj->type != KVERBS_OBJ_CONN)
		return NULL;
	return list_entry(obj, struct kverbs_conn, obj);
}

/* The only setter of @error; the first reason stays. */
static void end_conn(struct kverbs_conn *conn, int error)
{
	if (conn->error)
		return;
	conn->error = error;
	kverbs_req_end_early(conn);
	kverbs_wake(conn->kv, conn);
	/* Wake threads that wait for room or a slot: a connection that ended needs none. */
	kverbs_wake(conn->kv, conn->kv);
	kverbs_wake(conn->kv, &conn->kv->copies);
}

static int end_reason(const struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	if (cqe->result)
		return cqe->result;
	switch (cqe->type) {
	case KVERBS_CQE_REJECTED:
		return -ECONNREFUSED;
	case KVERBS_CQE_DEVICE_REMOVED:
		return -ENODEV;
	default:
		return conn->disconnecting ? -ECANCELED : -ECONNRESET;
	}
}

void kverbs_conn_event(struct kverbs_conn *conn, const struct kverbs_cqe *cqe)
{
	switch (cqe->type) {
	case KVERBS_CQE_ESTABLISHED:
		conn->established = true;
		kverbs_wake(conn->kv, conn);
		kverbs_req_end_early(conn);
		break;
	case KVERBS_CQE_REJECTED:
		conn->reject_reason = cqe->reject_reason;
		end_conn(conn, end_reason(conn, cqe));
		break;
	case KVERBS_CQE_DISCONNECTED:
	case KVERBS_CQE_FAILED:
	case KVERBS_CQE_DEVICE_REMOVED:
		end_conn(conn, end_reason(conn, cqe));
		break;
	default:
		break;
	}
}

int kverbs_conn_silent_error(struct kverbs_conn *conn)
{
	int error = conn->silent_error;

	conn->silent_error = 0;
	return error;
}

static bool up_or_ended(struct kverbs *kv, const void *arg)
{
	const struct kverbs_conn *conn = arg;

	(void)kv;
	return conn->established || conn->error;
}

int kverbs_conn_wait(struct kverbs_conn *conn, int timeout_ms)
{
	uint64_t deadline = kverbs_deadline(timeout_ms);
	struct kverbs *kv = conn->kv;
	int ret = 0;

	if (kverbs_is_child(kv))
		return -ECHILD;
	pthread_mutex_lock(&kv->lock);
	if (!up_or_ended(kv, conn) && kverbs_done_here(kv))
		ret = -EDEADLK;
	else
		ret = kverbs_wait_met(kv, up_or_ended, conn, conn, deadline);
	if (!ret)
		ret = conn->error;
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

bool kverbs_conn_was_up(struct kverbs_conn *conn)
{
	bool was_up;

	pthread_mutex_lock(&conn->kv->lock);
	was_up = conn->established;
	pthread_mutex_unlock(&conn->kv->lock);
	return was_up;
}

int kverbs_conn_error(struct kverbs_conn *conn)
{
	int error;

	if (kverbs_is_child(conn->kv))
		return -ECHILD;
	pthread_mutex_lock(&conn->kv->lock);
	error = conn->error;
	pthread_mutex_unlock(&conn->kv->lock);
	return error;
}

int kverbs_disconnect(struct kverbs_conn *conn)
{
	struct kverbs_cmd_disconnect cmd = {
		.size = sizeof(cmd),
		.conn_id = conn->obj.id,
	};

	if (kverbs_is_child(conn->kv))
		return -ECHILD;
	pthread_mutex_lock(&conn->kv->lock);
	conn->disconnecting = true;
	pthread_mutex_unlock(&conn->kv->lock);
	return kverbs_ioctl(conn->kv, KVERBS_DISCONNECT, &cmd);
}

int kverbs_reject(struct kverbs_conn *conn, const void *priv, size_t priv_len)
{
	struct kverbs_cmd_reject cmd = {
		.size = sizeof(cmd),
		.conn_id = conn->obj.id,
		.priv_uptr = (uintptr_t)priv,
		.priv_len = (uint32_t)priv_len,
	};
	int ret = -EINVAL;

	if (priv_len <= KVERBS_PRIV_REJECT_MAX)
		ret = kverbs_ioctl(conn->kv, KVERBS_REJECT, &cmd);
	kverbs_conn_free(conn);
	return ret;
}

/*
 * The HCA is quiet and all that the kernel had to say has been read: what is
 * still pending stays so for ever. A callback that runs may be about to post;
 * those that begin from now on find that the connection has ended.
 */
static void unpublish(struct kverbs *kv, struct kverbs_conn *conn)
{
	kverbs_done_flush(kv, conn);
	kverbs_req_cancel_all(conn);
	kverbs_done_flush(kv, conn);
	kverbs_table_del(&kv->table, &conn->obj);
	list_del(&conn->request);
	list_del(&conn->node);
}

void kverbs_conn_free(struct kverbs_conn *conn)
{
	struct kverbs *kv;

	if (!conn || kverbs_is_child(conn->kv))
		return;
	kv = conn->kv;
	pthread_mutex_lock(&kv->lock);
	conn->freeing = true;
	end_conn(conn, -ECANCELED);
	pthread_mutex_unlock(&kv->lock);

	kverbs_destroy(kv, conn->obj.id);

	pthread_mutex_lock(&kv->lock);
	kverbs_drain(kv);
	unpublish(kv, conn);
	pthread_mutex_unlock(&kv->lock);
	free(conn);
}

/* Asks for all of the private data: less room would be an error. */
static int query(const struct kverbs_conn *conn, struct kverbs_cmd_conn_query *cmd,
		 uint8_t *priv)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->size = sizeof(*cmd);
	cmd->conn_id = conn->obj.id;
	cmd->priv_uptr = (uintptr_t)priv;
	cmd->inout_priv_len = PRIV_MAX;
	return kverbs_ioctl(conn->kv, KVERBS_CONN_QUERY, cmd);
}

int kverbs_conn_query(struct kverbs_conn *conn, struct kverbs_cmd_conn_query *answer,
		      size_t sz)
{
	struct kverbs_cmd_conn_query cmd;
	uint8_t priv[PRIV_MAX];
	int ret = query(conn, &cmd, priv);

	cmd.priv_uptr = 0;
	cmd.inout_priv_len = 0;
	kverbs_answer(answer, sz, &cmd, sizeof(cmd));
	return ret;
}

int kverbs_conn_priv(struct kverbs_conn *conn, void *buf, size_t len)
{
	struct kverbs_cmd_conn_query cmd;
	uint8_t priv[PRIV_MAX];
	int ret = query(conn, &cmd, priv);

	if (ret)
		return ret;
	if (len > cmd.inout_priv_len)
		len = cmd.inout_priv_len;
	if (len)
		memcpy(buf, priv, len);
	return (int)len;
}

int kverbs_conn_max_msg(struct kverbs_conn *conn, uint64_t *max_msg)
{
	struct kverbs_cmd_conn_query cmd;
	int ret;

	*max_msg = __atomic_load_n(&conn->max_msg, __ATOMIC_RELAXED);
	if (*max_msg)
		return 0;
	ret = kverbs_conn_query(conn, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	*max_msg = cmd.out_max_msg ? cmd.out_max_msg : UINT64_MAX;
	/* Before it is up the answer may be another one. */
	if (cmd.out_state == KVERBS_CONN_ESTABLISHED)
		__atomic_store_n(&conn->max_msg, *max_msg, __ATOMIC_RELAXED);
	return 0;
}

void kverbs_conn_set_data(struct kverbs_conn *conn, void *data)
{
	__atomic_store_n(&conn->data, data, __ATOMIC_RELEASE);
}

void *kverbs_conn_data(const struct kverbs_conn *conn)
{
	return __atomic_load_n(&conn->data, __ATOMIC_ACQUIRE);
}
