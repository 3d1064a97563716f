// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting on a connection: which operations it supports, and when receives are posted. */
#include "conn_io.h"
#include "opcode.h"
#include "quirks.h"
#include "wr.h"

/**
 * kverbs_conn_post_deferred() - post the deferred receives that are ready
 * @conn: the connection
 *
 * Context: process, may sleep.
 */
void kverbs_conn_post_deferred(struct kverbs_conn *conn)
{
	struct kverbs_req *req;
	int ret = 0;

	down_read(&conn->use);
	mutex_lock(&conn->recv_lock);
	while (ret != -EAGAIN) {
		req = kverbs_queue_first_deferred(&conn->queue);
		if (!req)
			break;
		ret = kverbs_wr_recv(&conn->queue, &conn->lkeys, req);
		if (ret && ret != -EAGAIN)
			kverbs_queue_fail_deferred(&conn->queue, req, ret);
	}
	mutex_unlock(&conn->recv_lock);
	up_read(&conn->use);
}

/**
 * kverbs_conn_recv_list() - accept receives, at any time before the end
 * @conn: the connection
 * @reqs: the receives; @done is called for those that are accepted
 * @nr: how many, at least 1
 * @error: why not all were accepted: -EAGAIN for want of a slot, -ENOTCONN; else 0
 *
 * Context: process, may sleep.
 * Return: how many were accepted, from the first on.
 */
unsigned int kverbs_conn_recv_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, int *error)
{
	/* Read once, since ACCEPT may change it. The caller holds the ring of the old set. */
	struct kverbs_cq_set *cqs = READ_ONCE(conn->attr.cqs);
	u32 ticket;

	nr = kverbs_queue_defer(&conn->queue, reqs, nr, &ticket, error);
	if (nr) {
		kverbs_conn_post_deferred(conn);
		if (!kverbs_queue_is_posted(&conn->queue, ticket))
			kverbs_queue_await_posted(&conn->queue, cqs, ticket);
	}
	return nr;
}

/**
 * kverbs_conn_recv() - accept a receive, at any time before the end
 * @conn: the connection
 * @req: the receive; @done is called if and only if this returns 0
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN if no slot is free; -ENOTCONN.
 */
int kverbs_conn_recv(struct kverbs_conn *conn, struct kverbs_req *req)
{
	int error;

	kverbs_conn_recv_list(conn, &req, 1, &error);
	return error;
}

/**
 * kverbs_conn_has_atomics() - whether transport and device support atomics
 * @conn: the connection, with its device
 *
 * Return: true if so.
 */
bool kverbs_conn_has_atomics(const struct kverbs_conn *conn)
{
	return !(conn->queue.quirks & KVERBS_QUIRK_NO_ATOMICS) &&
	       conn->pool.pd->device->attrs.atomic_cap != IB_ATOMIC_NONE;
}

static bool can_do(const struct kverbs_conn *conn, const struct kverbs_req *req)
{
	u16 flags = kverbs_opdefs[req->opcode].flags;

	if (flags & KVERBS_OPF_IMM && conn->queue.quirks & KVERBS_QUIRK_NO_IMM)
		return false;
	if (flags & KVERBS_OPF_ATOMIC && conn->queue.quirks & KVERBS_QUIRK_NO_ATOMIC_WRS)
		return false;
	if (flags & KVERBS_OPF_RESPONSE && !conn->initiator_depth)
		return false;
	return !(flags & KVERBS_OPF_ATOMIC) || kverbs_conn_has_atomics(conn);
}

/**
 * kverbs_conn_post_list() - post operations other than receives
 * @conn: the connection
 * @reqs: the operations; @done is called for those that are posted
 * @nr: how many
 * @chain: room to build them in
 * @error: why not all were posted: -EOPNOTSUPP if the device or the transport lacks the
 *	operation, or as for kverbs_wr_post_list(); else 0
 *
 * Context: process, may sleep.
 * Return: how many were posted, from the first on.
 */
unsigned int kverbs_conn_post_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int doable, posted = 0;

	down_read(&conn->use);
	*error = kverbs_queue_check_up(&conn->queue);
	if (!*error) {
		for (doable = 0; doable < nr; doable++)
			if (!can_do(conn, reqs[doable]))
				break;
		posted = kverbs_wr_post_list(&conn->queue, &conn->lkeys, reqs, doable,
					     chain, error);
		if (!*error && doable < nr)
			*error = -EOPNOTSUPP;
	}
	up_read(&conn->use);
	return posted;
}
