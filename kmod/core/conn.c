// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A connection's state and why it ended. All changes of the state are made here, under
 * conn->lock; conn_cm.c, conn_qp.c and conn_io.c ask for them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>

#include "conn.h"
#include "quirks.h"
#include "trace.h"
#include "workqueue.h"

static void set_state(struct kverbs_conn *conn, enum kverbs_conn_state state)
{
	lockdep_assert_held(&conn->lock);
	trace_kverbs_conn_state(conn, state);
	conn->state = state;
}

/* Adds what the connection has moved to the device's statistics. */
static void count(struct kverbs_tenant *tenant, struct kverbs_moved *sum)
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

static void revoke(struct kverbs_tenant *tenant)
{
	kverbs_conn_end(container_of(tenant, struct kverbs_conn, tenant),
			KVERBS_CQE_DISCONNECTED, -ESTALE, 0);
}

/**
 * kverbs_conn_alloc() - allocate a connection that is on no device yet
 * @state: CONNECTING or REQUESTED
 * @node: NUMA node of the device, NUMA_NO_NODE if that is not known yet
 *
 * The caller sets up @attr, @queue and the works.
 *
 * Return: the connection or ERR_PTR(-ENOMEM).
 */
struct kverbs_conn *kverbs_conn_alloc(enum kverbs_conn_state state, int node)
{
	struct kverbs_conn *conn = kzalloc_node(sizeof(*conn), GFP_KERNEL_ACCOUNT, node);

	if (!conn)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&conn->lock);
	mutex_init(&conn->mutex);
	init_waitqueue_head(&conn->answered);
	init_rwsem(&conn->use);
	INIT_LIST_HEAD(&conn->reserved);
	INIT_LIST_HEAD(&conn->group_entry);
	kverbs_pool_taker_init(&conn->taker, &kverbs_conn_taker_ops, &conn->work);
	INIT_LIST_HEAD(&conn->srq_entry);
	init_completion(&conn->last_recv);
	mutex_init(&conn->recv_lock);
	mutex_init(&conn->held_lock);
	kverbs_turn_init(&conn->sync_turn);
	kverbs_mr_pool_init(&conn->pool);
	kverbs_lkey_cache_init(&conn->lkeys, &conn->pool);
	conn->state = state;
	conn->tenant.count = count;
	conn->tenant.revoke = revoke;
	conn->pool.tenant = &conn->tenant;
	conn->device_index = U32_MAX;
	conn->node = node;
	/* The active one, if the caller has set it, else that of the task. */
	conn->memcg = get_mem_cgroup_from_mm(NULL);
	kverbs_conn_stamp(conn, KVERBS_STAMP_BEGIN);
	return conn;
}

/**
 * kverbs_conn_release() - undo kverbs_conn_alloc()
 * @conn: the connection, whose works will not run any more
 */
void kverbs_conn_release(struct kverbs_conn *conn)
{
	kverbs_device_unreserve(&conn->reserved);
	mem_cgroup_put(conn->memcg);
	kverbs_chain_free(conn->held_chain);
	kfree(conn);
}

/**
 * kverbs_conn_move() - change the state, if it is the expected one
 * @conn: the connection
 * @from: the expected state
 * @to: the new state, before CLOSING
 *
 * Return: true if the state was @from and is now @to.
 */
bool kverbs_conn_move(struct kverbs_conn *conn, enum kverbs_conn_state from,
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

/**
 * kverbs_conn_set_up() - enter ESTABLISHED
 * @conn: the connection
 *
 * Return: false if the connection has no queue pair or is already ending.
 */
bool kverbs_conn_set_up(struct kverbs_conn *conn)
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
	pr_debug_ratelimited("the connection with %pISpc ends: %pe, reason %u\n",
			     &conn->remote, ERR_PTR(conn->end.error), reason);
	set_state(conn, KVERBS_CONN_CLOSING);
	queue_work(kverbs_teardown_workqueue, &conn->close_work);
	return true;
}

/**
 * kverbs_conn_end() - begin to end a connection
 * @conn: the connection, in any state
 * @type: DEVICE_REMOVED or REJECTED; any other becomes DISCONNECTED or FAILED by the state
 * @error: why, -errno, or 0 if this side asked for it
 * @reason: of a REJECTED
 *
 * The first call decides why the connection ended; teardown follows on the workqueue.
 *
 * Context: any.
 * Return: true for the first call.
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

/**
 * kverbs_conn_expire() - begin to end a connection that was not established in time
 * @conn: the connection
 *
 * Does nothing if the connection came up between the timeout and this call.
 */
void kverbs_conn_expire(struct kverbs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (!conn->was_up)
		begin_end(conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_set_dead() - enter DEAD, when teardown is complete
 * @conn: the connection
 */
void kverbs_conn_set_dead(struct kverbs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	set_state(conn, KVERBS_CONN_DEAD);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_note_asked() - note that the peer is about to be asked or told
 * @conn: the connection
 *
 * Pairs with kverbs_conn_note_answer(). Does nothing without KVERBS_QUIRK_AWAITS_ANSWER.
 */
void kverbs_conn_note_asked(struct kverbs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->unanswered = conn->queue.quirks & KVERBS_QUIRK_AWAITS_ANSWER;
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_note_answer() - note that the CM waits for the peer no longer
 * @conn: the connection
 *
 * If the teardown was put off, it continues.
 *
 * Context: any.
 */
void kverbs_conn_note_answer(struct kverbs_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->unanswered && conn->state == KVERBS_CONN_CLOSING)
		queue_work(kverbs_teardown_workqueue, &conn->close_work);
	conn->unanswered = false;
	wake_up_all(&conn->answered);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_is_unanswered() - whether tearing down would wait for the peer
 * @conn: the connection
 *
 * Return: true if so; kverbs_conn_note_answer() then queues the teardown.
 */
bool kverbs_conn_is_unanswered(struct kverbs_conn *conn)
{
	unsigned long flags;
	bool unanswered;

	spin_lock_irqsave(&conn->lock, flags);
	unanswered = conn->unanswered;
	spin_unlock_irqrestore(&conn->lock, flags);
	return unanswered;
}

/**
 * kverbs_conn_stamp() - take a timestamp
 * @conn: the connection
 * @what: what the connection has reached
 *
 * Context: any.
 */
void kverbs_conn_stamp(struct kverbs_conn *conn, enum kverbs_conn_stamp what)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->stamps[what] = ktime_get_ns();
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * kverbs_conn_set_step() - set the next step, since the last one is complete
 * @conn: the connection
 * @step: the next step
 *
 * Context: any.
 */
void kverbs_conn_set_step(struct kverbs_conn *conn, enum kverbs_conn_step step)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->step = step;
	if (step == KVERBS_STEP_ROUTE)
		conn->stamps[KVERBS_STAMP_ADDR] = ktime_get_ns();
	else if (step == KVERBS_STEP_CONNECT)
		conn->stamps[KVERBS_STAMP_ROUTE] = ktime_get_ns();
	spin_unlock_irqrestore(&conn->lock, flags);
}
