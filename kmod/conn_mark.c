// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When a connection reached what, on its way up: for who asks what took so long. */
#include <linux/ktime.h>

#include "conn.h"

/**
 * kverbs_conn_mark() - note that something is reached
 * @conn: the connection
 * @what: that
 *
 * Context: any.
 */
void kverbs_conn_mark(struct kverbs_conn *conn, enum kverbs_conn_mark what)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->marks[what] = ktime_get_ns();
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_set_step() - say what is to be done next, since the last step is over
 * @conn: the connection
 * @step: the next one
 *
 * Context: any.
 */
void kverbs_conn_set_step(struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->step = step;
	if (step == KVERBS_STEP_ROUTE)
		conn->marks[KVERBS_MARK_ADDR] = ktime_get_ns();
	else if (step == KVERBS_STEP_CONNECT)
		conn->marks[KVERBS_MARK_ROUTE] = ktime_get_ns();
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_note_path() - keep the path MTU, and when it was up
 * @conn: the connection
 * @id: its id, with the route
 */
void kverbs_conn_note_path(struct kverbs_conn *conn, struct rdma_cm_id *id)
{
	kverbs_conn_mark(conn, KVERBS_MARK_UP);
	if (id->route.path_rec)
		WRITE_ONCE(conn->mtu, ib_mtu_enum_to_int(id->route.path_rec->mtu));
}
