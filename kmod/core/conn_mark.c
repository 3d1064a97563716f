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

/*
 * The CM gives the queue pair no more READs than the peer answers at a time. iWARP's
 * drivers differ in which of the two depths they call which, so there it is left.
 */
static void note_depth(struct kverbs_conn *conn, const struct rdma_cm_event *event)
{
	if (conn->transport != KVERBS_TRANSPORT_IWARP)
		conn->initiator_depth = min(conn->initiator_depth,
					    event->param.conn.initiator_depth);
}

/**
 * kverbs_conn_note_path() - keep what it has become: path MTU, READs, and when
 * @conn: the connection
 * @id: its id, with the route
 * @answer: the peer's, NULL: this side was asked
 */
void kverbs_conn_note_path(struct kverbs_conn *conn, struct rdma_cm_id *id,
			   const struct rdma_cm_event *answer)
{
	kverbs_conn_mark(conn, KVERBS_MARK_UP);
	if (answer)
		note_depth(conn, answer);
	if (id->route.path_rec)
		WRITE_ONCE(conn->mtu, ib_mtu_enum_to_int(id->route.path_rec->mtu));
}
