// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of a group that receive from one pool, by a shared receive queue if they can. */
#include "fake_conn.h"
#include "fake_pool.h"
#include "fake_qp.h"
#include "group_cmd.h"
#include "srq.h"

#define ENTRIES		FAKE_POOL_ENTRIES
#define DEPTH		4
#define RING		64

static u32 create_group(struct fake_pool *p)
{
	struct kverbs_cmd_group_create cmd = { .device_index = p->hca->ib.index };
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_group_create(&ucmd));
	kverbs_object_publish(ucmd.new);
	return ucmd.new->id;
}

/* A device with shared receive queues, and messages that are retried. */
static struct fake_hca *new_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);

	hca->limits.device_cap_flags |= IB_DEVICE_RC_RNR_NAK_GEN;
	hca->limits.max_srq = 4;
	hca->limits.max_srq_wr = 64;
	hca->limits.max_srq_sge = 2;
	return hca;
}

static struct fake_pool *create_on(struct kunit *test, struct fake_hca *hca)
{
	struct fake_pool *p;

	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	p = fake_pool_create(test, hca, RING);
	p->group_id = create_group(p);
	return p;
}

static struct fake_pool *create(struct kunit *test)
{
	return create_on(test, new_device(test));
}

static struct kverbs_conn_obj *establish(struct fake_pool *p)
{
	return fake_pool_establish(p, DEPTH);
}

static int nr_queues(struct fake_pool *p)
{
	return atomic_read(&p->hca->nr_srqs);
}

/* Receives that no message has taken: of a shared queue if @qp is NULL, else of its own. */
static unsigned int count_free(struct fake_pool *p, const struct ib_qp *qp)
{
	unsigned long flags;
	unsigned int i, nr = 0;

	spin_lock_irqsave(&p->hca->lock, flags);
	for (i = 0; i < p->hca->nr_recvs; i++)
		nr += p->hca->recvs[i].qp == qp && !p->hca->recvs[i].ended;
	spin_unlock_irqrestore(&p->hca->lock, flags);
	return nr;
}

/* Waits until so many receives are left for any connection, and no more are posted. */
static void expect_free(struct fake_pool *p, const struct kverbs_conn_obj *conn_obj,
			unsigned int nr)
{
	KUNIT_EXPECT_TRUE(p->test, FAKE_SOON(count_free(p, NULL) == nr));
	flush_work(&conn_obj->conn->srq->work);
	KUNIT_EXPECT_EQ(p->test, nr, count_free(p, NULL));
}

/* A message begins to arrive. */
static struct fake_wr *begin(struct fake_pool *p, const struct kverbs_conn_obj *conn_obj)
{
	struct fake_wr *wr = fake_srq_take(conn_obj->conn->qp);

	KUNIT_ASSERT_NOT_NULL(p->test, wr);
	return wr;
}

/* A message arrives; returns its completion. */
static struct kverbs_cqe arrive(struct fake_pool *p, const struct kverbs_conn_obj *conn_obj,
				u32 bytes)
{
	const struct ib_wc wc = {
		.status = IB_WC_SUCCESS, .opcode = IB_WC_RECV, .byte_len = bytes,
	};
	struct kverbs_cqe cqe;

	fake_wr_end(begin(p, conn_obj), wc);
	cqe = fake_pool_cqe(p);
	flush_work(&conn_obj->conn->srq->work);
	return cqe;
}

static void expect_flushed_up_to(struct fake_pool *p, u16 end)
{
	u16 id;

	for (id = 0; id < end; id++)
		fake_pool_expect_flushed(p, id);
}

static void close_by_peer(struct fake_pool *p, const struct kverbs_conn_obj *conn_obj)
{
	fake_iw_close(conn_obj->conn->qp);
}

static void destroy(struct fake_pool *p, u32 id)
{
	KUNIT_EXPECT_EQ(p->test, 0, kverbs_object_destroy(p->file, id));
}

/* ---- which connections share ----------------------------------------------- */

static void connections_of_a_group_share_the_receives(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	second = establish(p);
	KUNIT_EXPECT_EQ(test, 1, nr_queues(p));
	KUNIT_EXPECT_PTR_EQ(test, first->conn->qp->srq, second->conn->qp->srq);
	KUNIT_EXPECT_EQ(test, ENTRIES, count_free(p, NULL));
	KUNIT_EXPECT_EQ(test, 0, count_free(p, first->conn->qp));
	KUNIT_EXPECT_EQ(test, ENTRIES, fake_pool_kernel(p)->head);
	KUNIT_EXPECT_EQ(test, ENTRIES, fake_pool_uses(p));
}

/* Each would need room for all receives in a queue of its own. */
static void connections_that_share_receives_share_a_completion_queue(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_cmd_pool_create pool = { .entries = 64 };
	struct kverbs_conn_obj *first, *second;
	unsigned int used;

	KUNIT_ASSERT_EQ(test, 0, fake_pool_try_create(p, &pool));
	first = establish(p);
	used = first->conn->cq->used;
	second = establish(p);
	KUNIT_EXPECT_PTR_EQ(test, first->conn->cq, second->conn->cq);
	KUNIT_EXPECT_EQ(test, used + second->conn->cq_need.nr, first->conn->cq->used);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&p->hca->nr_cqs));
	destroy(p, first->obj.id);
	fake_pool_add(p, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
	expect_free(p, second, 1);
	KUNIT_EXPECT_EQ(test, second->obj.id, arrive(p, second, 1).id);
}

static const struct room {
	const char *what;
	u32 flags;
	bool shares;
	unsigned int depth;
} rooms[] = {
	{ "polled by work items", 0, true, KVERBS_SRQ_DEPTH },
	{ "polled by tasks", KVERBS_RING_BUSY_POLL, true, KVERBS_SRQ_DEPTH },
	{ "in softirqs", KVERBS_RING_SOFTIRQ, false, KVERBS_SRQ_DEPTH_ALONE },
};

KUNIT_ARRAY_PARAM_DESC(rooms, rooms, what);

static void queue_is_as_long_as_all_completion_queues_have_room_for(struct kunit *test)
{
	const struct room *room = test->param_value;
	struct fake_hca *hca = new_device(test);
	struct kverbs_cmd_pool_create pool = { .entries = 2 * KVERBS_SRQ_DEPTH };
	struct kverbs_cmd_ring_create ring = {
		.flags = room->flags, .sq_entries = 4, .cq_entries = RING,
	};
	struct kverbs_conn_obj *first, *second;
	struct fake_pool *p;

	hca->limits.max_srq_wr = 2 * KVERBS_SRQ_DEPTH;
	p = create_on(test, hca);
	KUNIT_ASSERT_EQ(test, 0, fake_pool_try_create(p, &pool));
	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(p->file, &ring, &p->ring));
	first = establish(p);
	second = establish(p);
	KUNIT_EXPECT_PTR_EQ(test, first->conn->srq, second->conn->srq);
	KUNIT_EXPECT_EQ(test, room->depth, first->conn->srq->taker.depth);
	KUNIT_EXPECT_EQ(test, room->shares, first->conn->cq == second->conn->cq);
}

/* A receive reserves its completion slot of one ring. */
static void connections_of_another_ring_have_a_queue_of_their_own(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	fake_pool_add(p, 0, 1);
	first = establish(p);
	p->ring = fake_ring_create(test, p->file, 4, RING);
	p->nr_read = 0;
	second = establish(p);
	KUNIT_EXPECT_EQ(test, 2, nr_queues(p));
	KUNIT_EXPECT_PTR_NE(test, first->conn->qp->srq, second->conn->qp->srq);
	fake_pool_add(p, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
	expect_free(p, second, 2);
	KUNIT_EXPECT_EQ(test, second->obj.id, arrive(p, second, 1).id);
}

static const struct ground {
	const char *what;
	bool no_group;
	bool no_retry;
	bool no_queues;
	bool fails;
} grounds[] = {
	{ "no group, so a domain of its own", .no_group = true },
	{ "no retry of messages", .no_retry = true },
	{ "no shared queues", .no_queues = true },
	{ "no shared queue left", .fails = true },
};

KUNIT_ARRAY_PARAM_DESC(grounds, grounds, what);

static void connection_that_cannot_share_fills_its_own_queue(struct kunit *test)
{
	const struct ground *ground = test->param_value;
	struct fake_hca *hca = new_device(test);
	struct kverbs_conn_obj *conn_obj;
	struct fake_pool *p;

	if (ground->no_retry)
		hca->limits.device_cap_flags &= ~IB_DEVICE_RC_RNR_NAK_GEN;
	if (ground->no_queues)
		hca->limits.max_srq = 0;
	if (ground->fails)
		hca->errors[FAKE_CREATE_SRQ] = -ENOMEM;
	p = create_on(test, hca);
	if (ground->no_group)
		p->group_id = 0;
	fake_pool_add(p, 0, ENTRIES);
	conn_obj = establish(p);
	KUNIT_EXPECT_NULL(test, conn_obj->conn->srq);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	KUNIT_EXPECT_EQ(test, DEPTH, count_free(p, conn_obj->conn->qp));
}

static void queue_is_no_larger_than_the_device_allows(struct kunit *test)
{
	struct fake_hca *hca = new_device(test);
	struct fake_pool *p;

	hca->limits.max_srq_wr = 3;
	p = create_on(test, hca);
	fake_pool_add(p, 0, ENTRIES);
	establish(p);
	KUNIT_EXPECT_EQ(test, 3, count_free(p, NULL));
}

/* ---- messages ------------------------------------------------------------------ */

static void message_completes_for_the_connection_that_it_is_for(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;
	struct kverbs_cqe cqe;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	second = establish(p);
	second->user_data = 0x5678;
	cqe = arrive(p, second, 17);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_WORK, cqe.type);
	KUNIT_EXPECT_EQ(test, 0, cqe.result);
	KUNIT_EXPECT_EQ(test, second->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, 0x5678, cqe.user_data);
	KUNIT_EXPECT_EQ(test, 0, cqe.buf_id);
	KUNIT_EXPECT_EQ(test, 17, cqe.byte_len);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER | KVERBS_CQE_F_MORE,
			cqe.flags);
	cqe = arrive(p, first, 1);
	KUNIT_EXPECT_EQ(test, first->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, FAKE_POOL_DATA, cqe.user_data);
	KUNIT_EXPECT_EQ(test, 1, cqe.buf_id);
	KUNIT_EXPECT_EQ(test, 17, second->conn->queue.bytes_in);
	KUNIT_EXPECT_EQ(test, ENTRIES - 2, fake_pool_uses(p));
}

static void pool_serves_more_connections_than_it_has_buffers(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conns[6];
	unsigned int i, round;

	fake_pool_add(p, 0, 2);
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		conns[i] = establish(p);
	for (round = 0; round < 3; round++)
		for (i = 0; i < ARRAY_SIZE(conns); i++) {
			struct kverbs_cqe cqe = arrive(p, conns[i], 1);

			KUNIT_EXPECT_EQ(test, conns[i]->obj.id, cqe.id);
			fake_pool_add(p, cqe.buf_id, 1);
			KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
			expect_free(p, conns[i], 2);
		}
}

static void queue_is_refilled_a_quarter_at_a_time(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj;

	fake_pool_add(p, 0, ENTRIES);
	conn_obj = establish(p);
	fake_pool_add(p, 0, ENTRIES);
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_EQ(test, ENTRIES - 1, count_free(p, NULL));
	arrive(p, conn_obj, 1);
	expect_free(p, conn_obj, ENTRIES);
}

static void queue_with_fewer_than_half_its_receives_waits(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj;

	conn_obj = establish(p);
	KUNIT_EXPECT_TRUE(test, fake_pool_is_waiting(p));
	fake_pool_add(p, 0, ENTRIES / 2 - 1);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
	expect_free(p, conn_obj, ENTRIES / 2 - 1);
	KUNIT_EXPECT_TRUE(test, fake_pool_is_waiting(p));
	fake_pool_add(p, ENTRIES / 2 - 1, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
	expect_free(p, conn_obj, ENTRIES / 2);
	KUNIT_EXPECT_FALSE(test, fake_pool_is_waiting(p));
}

/* The completions of what was used up may be handled late. */
static void device_tells_when_few_receives_are_left(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj;

	fake_pool_add(p, 0, ENTRIES / 2);
	conn_obj = establish(p);
	KUNIT_EXPECT_EQ(test, ENTRIES / 2, fake_srq_limit(conn_obj->conn->qp->srq));
	KUNIT_EXPECT_FALSE(test, fake_pool_is_waiting(p));
	fake_pool_add(p, ENTRIES / 2, ENTRIES / 2);
	begin(p, conn_obj);
	expect_free(p, conn_obj, ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, ENTRIES / 2, fake_srq_limit(conn_obj->conn->qp->srq));
}

static void device_without_a_limit_is_refilled_by_completions(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj;

	p->hca->errors[FAKE_MODIFY_SRQ] = -EOPNOTSUPP;
	fake_pool_add(p, 0, ENTRIES);
	conn_obj = establish(p);
	fake_pool_add(p, 0, 2);
	arrive(p, conn_obj, 1);
	arrive(p, conn_obj, 1);
	expect_free(p, conn_obj, ENTRIES);
}

/* ---- errors ------------------------------------------------------------------ */

static void buffer_that_the_device_refuses_completes(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_cqe cqe;

	fake_pool_add(p, 0, 3);
	p->hca->fail_verb = FAKE_POST_SRQ_RECV;
	p->hca->fail_at = 2;
	fake_pool_start(p, DEPTH);
	cqe = fake_pool_cqe(p);
	KUNIT_EXPECT_EQ(test, -EIO, cqe.result);
	KUNIT_EXPECT_EQ(test, 0, cqe.wc_status);
	KUNIT_EXPECT_EQ(test, 1, cqe.buf_id);
	KUNIT_EXPECT_TRUE(test, cqe.flags & KVERBS_CQE_F_MORE);
	KUNIT_EXPECT_EQ(test, 2, count_free(p, NULL));
	KUNIT_EXPECT_EQ(test, 2, fake_pool_uses(p));
}

static void buffer_longer_than_a_message_completes(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj = establish(p);
	struct kverbs_cqe cqe;

	conn_obj->conn->srq->max_recv = FAKE_POOL_BUF - 1;
	fake_pool_add(p, 3, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_wake(p));
	cqe = fake_pool_cqe(p);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, cqe.result);
	KUNIT_EXPECT_EQ(test, 3, cqe.buf_id);
	KUNIT_EXPECT_EQ(test, conn_obj->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_uses(p));
}

static void failed_message_ends_its_connection_and_no_other(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;
	struct kverbs_cqe cqe;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	second = establish(p);
	fake_wr_complete(begin(p, first), IB_WC_LOC_LEN_ERR);
	cqe = fake_pool_cqe(p);
	KUNIT_EXPECT_EQ(test, -EIO, cqe.result);
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_LEN_ERR, cqe.wc_status);
	KUNIT_EXPECT_EQ(test, first->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, 0, cqe.buf_id);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	cqe = arrive(p, second, 1);
	KUNIT_EXPECT_EQ(test, second->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, 1, cqe.buf_id);
}

static void queue_that_fails_ends_its_connections_and_is_used_no_more(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	first = establish(p);
	second = establish(p);
	fake_srq_fail(first->conn->qp->srq);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_NULL(test, second->conn->srq);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	fake_pool_add(p, 0, 1);
	first = establish(p);
	KUNIT_EXPECT_EQ(test, 1, nr_queues(p));
	KUNIT_EXPECT_EQ(test, 0, arrive(p, first, 1).buf_id);
}

static const struct fault {
	const char *what;
	enum fake_verb verb;
} faults[] = {
	{ "no completion queue", FAKE_CREATE_CQ },
	{ "no queue pair", FAKE_CREATE_QP },
};

KUNIT_ARRAY_PARAM_DESC(faults, faults, what);

static void failed_setup_leaves_no_queue(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	struct fake_pool *p = create(test);

	p->hca->errors[fault->verb] = -ENOMEM;
	fake_pool_add(p, 0, 2);
	fake_pool_connect(p, DEPTH);
	fake_pool_expect_event(p, KVERBS_CQE_FAILED);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	KUNIT_EXPECT_EQ(test, 0, fake_pool_uses(p));
	KUNIT_EXPECT_FALSE(test, fake_pool_is_waiting(p));
}

/* ---- the end ------------------------------------------------------------------ */

static void end_of_a_connection_leaves_the_receives_to_the_others(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	second = establish(p);
	close_by_peer(p, first);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, ENTRIES, count_free(p, NULL));
	KUNIT_EXPECT_EQ(test, 0, arrive(p, second, 1).buf_id);
}

static void last_connection_returns_the_buffers(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	fake_pool_add(p, 0, 3);
	first = establish(p);
	second = establish(p);
	close_by_peer(p, second);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(p->file, p->region->obj.id));
	close_by_peer(p, first);
	expect_flushed_up_to(p, 3);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	destroy(p, p->region->obj.id);
	KUNIT_EXPECT_FALSE(test, fake_pool_is_waiting(p));
}

static void connection_after_the_last_one_gets_a_new_queue(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *conn_obj = establish(p);

	destroy(p, conn_obj->obj.id);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	fake_pool_add(p, 5, 1);
	conn_obj = establish(p);
	KUNIT_EXPECT_EQ(test, 5, arrive(p, conn_obj, 1).buf_id);
}

static void buffer_of_a_message_in_flight_returns_with_its_connection(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first;

	fake_pool_add(p, 0, 3);
	first = establish(p);
	establish(p);
	begin(p, first);
	close_by_peer(p, first);
	fake_pool_expect_flushed(p, 0);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, 2, count_free(p, NULL));
	KUNIT_EXPECT_EQ(test, 2, fake_pool_uses(p));
}

/* rxe loses it if its queue pair fails in the middle of the message. */
static void buffer_that_the_device_loses_returns_with_the_queue(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	p->hca->loses_recvs = true;
	fake_pool_add(p, 0, 3);
	first = establish(p);
	second = establish(p);
	begin(p, first);
	close_by_peer(p, first);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, 3, fake_pool_uses(p));
	close_by_peer(p, second);
	expect_flushed_up_to(p, 3);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, 0, fake_pool_uses(p));
}

static void device_that_does_not_tell_of_the_last_receive_is_awaited_once(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	p->hca->mute = true;
	fake_pool_add(p, 0, 1);
	first = establish(p);
	second = establish(p);
	KUNIT_EXPECT_FALSE(test, second->conn->srq->mute);
	close_by_peer(p, first);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_TRUE(test, second->conn->srq->mute);
	close_by_peer(p, second);
	fake_pool_expect_flushed(p, 0);
	fake_pool_expect_event(p, KVERBS_CQE_DISCONNECTED);
}

static void refused_connection_returns_the_buffers(struct kunit *test)
{
	struct fake_pool *p = create(test);

	fake_pool_add(p, 0, 2);
	fake_pool_start(p, DEPTH);
	fake_iw_answer(p->hca, -ECONNREFUSED, NULL, 0);
	expect_flushed_up_to(p, 2);
	fake_pool_expect_event(p, KVERBS_CQE_REJECTED);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
	KUNIT_EXPECT_EQ(test, 0, fake_pool_uses(p));
}

static void removal_of_the_device_returns_everything(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first;
	unsigned int events = 0, flushed = 0;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	establish(p);
	begin(p, first);
	fake_device_remove(p->hca);
	while (events < 2) {
		if (fake_pool_cqe(p).type == KVERBS_CQE_DEVICE_REMOVED)
			events++;
		else
			flushed++;
	}
	KUNIT_EXPECT_EQ(test, ENTRIES, flushed);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(p->hca));
	KUNIT_EXPECT_EQ(test, 0, fake_pool_uses(p));
	KUNIT_EXPECT_FALSE(test, fake_pool_is_waiting(p));
}

static void destroying_everything_leaves_nothing(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_conn_obj *first, *second;

	fake_pool_add(p, 0, ENTRIES);
	first = establish(p);
	second = establish(p);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(p->file, p->pool->obj.id));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(p->file, p->group_id));
	destroy(p, first->obj.id);
	destroy(p, second->obj.id);
	destroy(p, p->pool->obj.id);
	destroy(p, p->group_id);
	KUNIT_EXPECT_EQ(test, 0, p->ring->reserved);
	destroy(p, p->region->obj.id);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(p->hca));
}

/* Only the teardown polls the completion queue. */
static void connection_of_a_polled_ring_ends(struct kunit *test)
{
	struct fake_pool *p = create(test);
	struct kverbs_cmd_ring_create cmd = {
		.flags = KVERBS_RING_BUSY_POLL, .sq_entries = 4, .cq_entries = RING,
	};
	struct kverbs_conn_obj *conn_obj;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(p->file, &cmd, &p->ring));
	fake_pool_add(p, 0, 2);
	conn_obj = establish(p);
	KUNIT_ASSERT_NOT_NULL(test, conn_obj->conn->srq);
	begin(p, conn_obj);
	destroy(p, conn_obj->obj.id);
	expect_flushed_up_to(p, 2);
	KUNIT_EXPECT_EQ(test, 0, p->ring->reserved);
	KUNIT_EXPECT_EQ(test, 0, nr_queues(p));
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(connections_of_a_group_share_the_receives),
	KUNIT_CASE(connections_that_share_receives_share_a_completion_queue),
	KUNIT_CASE_PARAM(queue_is_as_long_as_all_completion_queues_have_room_for, rooms_gen_params),
	KUNIT_CASE(connections_of_another_ring_have_a_queue_of_their_own),
	KUNIT_CASE_PARAM(connection_that_cannot_share_fills_its_own_queue, grounds_gen_params),
	KUNIT_CASE(queue_is_no_larger_than_the_device_allows),
	KUNIT_CASE(message_completes_for_the_connection_that_it_is_for),
	KUNIT_CASE(pool_serves_more_connections_than_it_has_buffers),
	KUNIT_CASE(queue_is_refilled_a_quarter_at_a_time),
	KUNIT_CASE(queue_with_fewer_than_half_its_receives_waits),
	KUNIT_CASE(device_tells_when_few_receives_are_left),
	KUNIT_CASE(device_without_a_limit_is_refilled_by_completions),
	KUNIT_CASE(buffer_that_the_device_refuses_completes),
	KUNIT_CASE(buffer_longer_than_a_message_completes),
	KUNIT_CASE(failed_message_ends_its_connection_and_no_other),
	KUNIT_CASE(queue_that_fails_ends_its_connections_and_is_used_no_more),
	KUNIT_CASE_PARAM(failed_setup_leaves_no_queue, faults_gen_params),
	KUNIT_CASE(end_of_a_connection_leaves_the_receives_to_the_others),
	KUNIT_CASE(last_connection_returns_the_buffers),
	KUNIT_CASE(connection_after_the_last_one_gets_a_new_queue),
	KUNIT_CASE(buffer_of_a_message_in_flight_returns_with_its_connection),
	KUNIT_CASE(buffer_that_the_device_loses_returns_with_the_queue),
	KUNIT_CASE(device_that_does_not_tell_of_the_last_receive_is_awaited_once),
	KUNIT_CASE(refused_connection_returns_the_buffers),
	KUNIT_CASE(removal_of_the_device_returns_everything),
	KUNIT_CASE(destroying_everything_leaves_nothing),
	KUNIT_CASE(connection_of_a_polled_ring_ends),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "kverbs_srq",
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
