// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is told of a connection to who watches. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "conn.h"

/**
 * kverbs_conn_count() - add what a connection has moved
 * @tenant: the connection's
 * @sum: to what
 *
 * Context: any that completions may interrupt.
 */
void kverbs_conn_count(struct kverbs_tenant *tenant, struct kverbs_moved *sum)
{
	struct kverbs_conn *conn = container_of(tenant, struct kverbs_conn, tenant);
	struct kverbs_queue *queue = &conn->queue;

	spin_lock_bh(&queue->lock);
	sum->ops += queue->ops_done;
	sum->errors += queue->errors;
	sum->bytes_out += queue->bytes_out;
	sum->bytes_in += queue->bytes_in;
	spin_unlock_bh(&queue->lock);
}

/**
 * kverbs_conn_tell_end() - let dynamic debug tell why a connection ends
 * @conn: the connection
 *
 * Context: any.
 */
void kverbs_conn_tell_end(const struct kverbs_conn *conn)
{
	pr_debug_ratelimited("the connection with %pISpc ends: %pe, reason %u\n",
			     &conn->remote, ERR_PTR(conn->end.error), conn->end.reason);
}
