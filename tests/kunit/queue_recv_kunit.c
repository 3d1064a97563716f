// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receives of a queue: deferring, posting, completions. */
#include <linux/kprobes.h>

#include "conn.h"
#include "conn_io.h"
#include "cq.h"
#include "fake_queue.h"
#include "mr.h"
#include "patience.h"

#define SLOTS	3

/* Completion queues that have a context of their own. */
static struct kverbs_cq_set not_polled;

static void expect_over(struct kunit *test, const struct fake_op *op, int result,
			enum ib_wc_status status)
{
	KUNIT_EXPECT_EQ(test, 1, op->done);
	KUNIT_EXPECT_EQ(test, result, op->req.result);
	KUNIT_EXPECT_EQ(test, status, op->req.wc_status);
}

static void recv_is_accepted_before_the_queue_pair_exists(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.rq_free);
	KUNIT_EXPECT_NULL(test, fake_queue_first_deferred(&fake->queue));
	KUNIT_EXPECT_EQ(test, 0, op->done);
}

static void recv_is_posted_before_the_connection_is_up(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post_parked(fake));
	KUNIT_ASSERT_EQ(test, 1, fake->hca->nr_recvs);
	KUNIT_EXPECT_PTR_EQ(test, &op->req.last, fake->hca->recvs[0].cqe);
}

static void recvs_are_posted_in_order(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op[SLOTS];
	int i;

	for (i = 0; i < SLOTS; i++)
		op[i] = fake_queue_park(test, fake);
	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post_parked(fake));
	KUNIT_ASSERT_EQ(test, SLOTS, fake->hca->nr_recvs);
	for (i = 0; i < SLOTS; i++)
		KUNIT_EXPECT_PTR_EQ(test, &op[i]->req.last, fake->hca->recvs[i].cqe);
	KUNIT_EXPECT_NULL(test, fake_queue_first_deferred(&fake->queue));
}

static void recv_that_is_refused_stays_first(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *first = fake_queue_park(test, fake);
	struct fake_op *second = fake_queue_park(test, fake);

	fake_hca_refuse(fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_queue_post_parked(fake));
	KUNIT_EXPECT_PTR_EQ(test, &first->req, fake_queue_first_deferred(&fake->queue));
	KUNIT_EXPECT_EQ(test, SLOTS - 2, fake->queue.rq_free);
	fake_hca_refuse(fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post_parked(fake));
	KUNIT_EXPECT_PTR_EQ(test, &first->req.last, fake->hca->recvs[0].cqe);
	KUNIT_EXPECT_PTR_EQ(test, &second->req.last, fake->hca->recvs[1].cqe);
}

static void recv_without_a_free_slot_returns_eagain(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);

	fake_queue_park(test, fake);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_queue_try_park(fake, op));
	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_queue_try_park(fake, op));
	fake_wr_complete(&fake->hca->recvs[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_try_park(fake, op));
	KUNIT_EXPECT_EQ(test, 0, op->done);
}

static void recv_is_refused_by_a_closed_queue(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);

	kverbs_queue_close(&fake->queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_try_park(fake, op));
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.rq_free);
	KUNIT_EXPECT_EQ(test, 0, op->done);
}

static void recv_is_not_posted_to_a_closed_queue(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	kverbs_queue_close(&fake->queue);
	KUNIT_EXPECT_NULL(test, fake_queue_first_deferred(&fake->queue));
	KUNIT_EXPECT_EQ(test, -ENOTCONN,
			kverbs_queue_post_recv(&fake->queue, &op->req, NULL, 0));
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_recvs);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->queue.deferred));
}

static void recv_reports_the_message(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.opcode = IB_WC_RECV,
		.byte_len = 77,
	});
	expect_over(test, op, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 77, op->req.byte_len);
	KUNIT_EXPECT_EQ(test, 0, op->req.flags);
	KUNIT_EXPECT_EQ(test, 77, fake->queue.bytes_in);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.ops_done);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.rq_free);
}

static void recv_reports_an_immediate(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.opcode = IB_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IB_WC_WITH_IMM,
		.ex.imm_data = (__force __be32)0x12345678,
		.byte_len = 9,
	});
	expect_over(test, op, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE, op->req.flags);
	KUNIT_EXPECT_EQ(test, 0x12345678, op->req.imm);
}

static void recv_reports_the_invalidated_key(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.opcode = IB_WC_RECV,
		.wc_flags = IB_WC_WITH_INVALIDATE,
		.ex.invalidate_rkey = 0x4711,
	});
	expect_over(test, op, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_INV, op->req.flags);
	KUNIT_EXPECT_EQ(test, 0x4711, op->req.imm);
	KUNIT_EXPECT_EQ(test, 0x4711, fake->revoked);
}

static void recv_that_fails_reports_nothing_else(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.status = IB_WC_LOC_LEN_ERR,
		.wc_flags = IB_WC_WITH_IMM,
		.byte_len = 77,
	});
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	kverbs_queue_close(&fake->queue);
	kverbs_queue_flush_remaining(&fake->queue);
	expect_over(test, op, -EIO, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->req.byte_len);
	KUNIT_EXPECT_EQ(test, 0, op->req.flags);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.errors);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.bytes_in);
}

/* A receive that can never be posted fails alone; the connection stays up. */
static void recv_that_cannot_be_posted_ends_alone(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *first = fake_queue_park(test, fake);
	struct fake_op *second = fake_queue_park(test, fake);

	kverbs_queue_fail_deferred(&fake->queue, &first->req, -ENOMEM);
	expect_over(test, first, -ENOMEM, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, fake->broken);
	KUNIT_EXPECT_PTR_EQ(test, &second->req, fake_queue_first_deferred(&fake->queue));
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.rq_free);
}

static void recvs_are_all_flushed_by_a_sweep(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);
	struct fake_op *posted = fake_queue_park(test, fake);
	struct fake_op *parked;

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post_parked(fake));
	parked = fake_queue_park(test, fake);
	kverbs_queue_close(&fake->queue);
	kverbs_queue_flush_remaining(&fake->queue);
	expect_over(test, posted, -EIO, IB_WC_WR_FLUSH_ERR);
	expect_over(test, parked, -EIO, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.rq_free);
	KUNIT_EXPECT_EQ(test, 0, fake->kicks);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.errors);
}

static void recvs_of_a_queue_without_a_queue_pair_are_flushed(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	kverbs_queue_close(&fake->queue);
	kverbs_queue_flush_remaining(&fake->queue);
	expect_over(test, op, -EIO, IB_WC_WR_FLUSH_ERR);
}

/* A deferred receive may wait for slots, so freeing some kicks the owner. */
static void deferred_recv_kicks_the_owner(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 2, SLOTS);

	fake_queue_send(test, fake, 1);
	fake_queue_send(test, fake, 1);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, fake->kicks);
	fake_queue_park(test, fake);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 1, fake->kicks);
}

static struct kverbs_mr *post_reg(struct kunit *test, struct fake_queue *fake)
{
	struct kverbs_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->wr.wr.opcode = IB_WR_REG_MR;
	mr->state = KVERBS_MR_MAPPED;
	fake->chain->regs[0] = mr;
	fake->chain->nr_regs = 1;
	KUNIT_ASSERT_EQ(test, 0, kverbs_queue_post_regs(&fake->queue, fake->chain));
	return mr;
}

static void deferred_recv_is_posted_when_its_registration_is_valid(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 2, SLOTS);
	struct kverbs_mr *mr;

	fake_queue_park(test, fake);
	mr = post_reg(test, fake);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, mr->state);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, fake->kicks);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_VALID, mr->state);
	KUNIT_EXPECT_EQ(test, 1, fake->kicks);
	KUNIT_EXPECT_EQ(test, 2, fake->queue.sq_free);
}

static void registrations_that_are_refused_take_no_slots(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 2, SLOTS);
	struct kverbs_mr mr = { .wr.wr.opcode = IB_WR_REG_MR, .state = KVERBS_MR_MAPPED };

	fake->chain->regs[0] = &mr;
	fake->chain->nr_regs = 1;
	fake_hca_refuse(fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, kverbs_queue_post_regs(&fake->queue, fake->chain));
	KUNIT_EXPECT_EQ(test, 2, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_MAPPED, mr.state);
	kverbs_queue_close(&fake->queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN,
			kverbs_queue_post_regs(&fake->queue, fake->chain));
}

static void registrations_that_may_be_posted_end_the_connection(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 2, SLOTS);
	struct kverbs_mr mr = { .wr.wr.opcode = IB_WR_REG_MR, .state = KVERBS_MR_MAPPED };

	fake->chain->regs[0] = &mr;
	fake->chain->nr_regs = 1;
	fake->hca->bad_wr = FAKE_BAD_WR_UNSET;
	fake_hca_refuse(fake->hca, 0, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_queue_post_regs(&fake->queue, fake->chain));
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, mr.state);
}

/**
 * struct later - receives that are posted or flushed while another thread waits for them
 * @work: runs it
 * @fake: the queue
 * @sweep: flush them
 */
struct later {
	struct work_struct work;
	struct fake_queue *fake;
	bool sweep;
};

static void end_wait(struct work_struct *work)
{
	struct later *later = container_of(work, struct later, work);

	FAKE_SOON(wq_has_sleeper(&later->fake->queue.released));
	if (!later->sweep) {
		fake_queue_post_parked(later->fake);
		return;
	}
	kverbs_queue_close(&later->fake->queue);
	kverbs_queue_flush_remaining(&later->fake->queue);
}

static void await_later(struct kunit *test, struct fake_queue *fake, bool sweep)
{
	struct later *later = kunit_kzalloc(test, sizeof(*later), GFP_KERNEL);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);
	u32 ticket;

	KUNIT_ASSERT_NOT_NULL(test, later);
	later->fake = fake;
	later->sweep = sweep;
	INIT_WORK(&later->work, end_wait);
	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(fake, op));
	ticket = fake->queue.nr_deferred;
	queue_work(system_unbound_wq, &later->work);
	kverbs_queue_await_posted(&fake->queue, &not_polled, ticket);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->queue.deferred));
	flush_work(&later->work);
}

/* As many as there are slots for. */
static void recv_list_is_accepted_as_far_as_there_is_room(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, 2);
	struct kverbs_req *reqs[3];
	int i, error;
	u32 ticket;

	for (i = 0; i < 3; i++)
		reqs[i] = &fake_op_create(test, KVERBS_OP_RECV, 0)->req;
	KUNIT_EXPECT_EQ(test, 2, kverbs_queue_defer(&fake->queue, reqs, 3, &ticket, &error));
	KUNIT_EXPECT_EQ(test, -EAGAIN, error);
	KUNIT_EXPECT_EQ(test, 2, ticket);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post_parked(fake));
	KUNIT_EXPECT_TRUE(test, kverbs_queue_is_posted(&fake->queue, ticket));
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_defer(&fake->queue, reqs + 2, 1, &ticket, &error));
	KUNIT_EXPECT_EQ(test, -EAGAIN, error);
	fake_wr_complete(&fake->hca->recvs[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 1, kverbs_queue_defer(&fake->queue, reqs + 2, 1, &ticket, &error));
	KUNIT_EXPECT_EQ(test, 0, error);
	kverbs_queue_close(&fake->queue);
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_defer(&fake->queue, reqs, 1, &ticket, &error));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, error);
	kverbs_queue_flush_remaining(&fake->queue);
}

static void recv_can_be_waited_for_until_it_is_posted(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);

	fake_queue_park(test, fake);
	await_later(test, fake, false);
	KUNIT_EXPECT_EQ(test, 2, fake->hca->nr_recvs);
	await_later(test, fake, false);
	KUNIT_EXPECT_EQ(test, 3, fake->hca->nr_recvs);
}

static void flushed_recv_ends_the_wait_for_it(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 1, SLOTS);

	fake_queue_park(test, fake);
	await_later(test, fake, true);
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_recvs);
}

static void recv_is_not_waited_for_before_the_connection_is_up(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);
	u32 ticket;

	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(fake, op));
	ticket = fake->queue.nr_deferred;
	kverbs_queue_await_posted(&fake->queue, &not_polled, ticket);
	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	kverbs_queue_await_posted(&fake->queue, &not_polled, ticket);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->queue.deferred));
}

/**
 * struct request - a request to which ACCEPT gives another ring while a receive is submitted
 * @conn: the connection
 * @asked: completion queues of the listener's ring
 * @asked_cq: the queue in @asked
 * @accepted: completion queues of the ring that ACCEPT names
 * @accepted_cq: the queue in @accepted
 * @polled: the queue that was polled
 * @probes: where ACCEPT comes between
 */
struct request {
	struct kverbs_conn conn;
	struct kverbs_cq_set asked;
	struct kverbs_cq *asked_cq;
	struct kverbs_cq_set accepted;
	struct kverbs_cq *accepted_cq;
	struct ib_cq *polled;
	struct kprobe probes[2];
};

static struct request *request;

/* ACCEPT is complete, and the connection is up, just before the queue is looked at. */
static int accept_request(struct kprobe *probe, struct pt_regs *regs)
{
	request->conn.attr.cqs = &request->accepted;
	request->conn.queue.state = KVERBS_QUEUE_UP;
	return 0;
}

/* Takes the receive off the list, so that the wait ends. */
static int note_poll(struct ib_cq *ib, int room, struct ib_wc *wcs)
{
	struct kverbs_queue *queue = &request->conn.queue;
	struct kverbs_req *req = fake_queue_first_deferred(queue);

	if (req) {
		request->polled = ib;
		kverbs_queue_fail_deferred(queue, req, -EIO);
	}
	return 0;
}

static const struct kverbs_cq_need one = { .nr = 1 };

static struct kverbs_cq *get_direct(struct kunit *test, struct kverbs_cq_set *set,
				    struct fake_hca *hca)
{
	struct kverbs_cq *cq;

	kverbs_cq_set_init(set, IB_POLL_DIRECT);
	cq = kverbs_cq_get(set, &hca->ib, &one);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	return cq;
}

static void put_direct(struct kverbs_cq_set *set, struct kverbs_cq *cq)
{
	kverbs_cq_put(set, cq, &one);
	kverbs_cq_set_exit(set);
}

/* Both are probed, because the compiler may inline the first into the second. */
static int probe_queue(struct kprobe *probes)
{
	struct kprobe *both[] = { &probes[0], &probes[1] };

	probes[0].symbol_name = "kverbs_queue_check_up";
	probes[0].pre_handler = accept_request;
	probes[1].symbol_name = "kverbs_queue_await_posted";
	probes[1].pre_handler = accept_request;
	return register_kprobes(both, ARRAY_SIZE(both));
}

static void unprobe_queue(struct kprobe *probes)
{
	struct kprobe *both[] = { &probes[0], &probes[1] };

	unregister_kprobes(both, ARRAY_SIZE(both));
}

static void recv_is_waited_for_on_the_ring_that_accept_names(struct kunit *test)
{
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);
	struct fake_hca *hca = fake_hca_create(test);
	struct kverbs_conn *conn;

	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "this kernel has no kprobes");
	request = kunit_kzalloc(test, sizeof(*request), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, request);
	conn = &request->conn;
	fake_queue_conn(conn, hca, SLOTS);
	conn->queue.state = KVERBS_QUEUE_NEW;
	conn->attr.cqs = &request->asked;
	hca->ib.attrs.max_cqe = 1;
	request->asked_cq = get_direct(test, &request->asked, hca);
	request->accepted_cq = get_direct(test, &request->accepted, hca);
	hca->ib.ops.poll_cq = note_poll;
	KUNIT_ASSERT_EQ(test, 0, probe_queue(request->probes));
	KUNIT_EXPECT_EQ(test, 0, kverbs_conn_recv(conn, &op->req));
	unprobe_queue(request->probes);
	KUNIT_EXPECT_EQ(test, 1, op->done);
	KUNIT_EXPECT_PTR_EQ(test, request->accepted_cq->ib, request->polled);
	put_direct(&request->asked, request->asked_cq);
	put_direct(&request->accepted, request->accepted_cq);
}

static void resize_keeps_deferred_receives(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);
	struct fake_op *op = fake_queue_park(test, fake);

	fake_queue_park(test, fake);
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_resize(&fake->queue, 16, 2));
	KUNIT_EXPECT_EQ(test, 16, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.rq_free);
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_resize(&fake->queue, 16, 32));
	KUNIT_EXPECT_EQ(test, 30, fake->queue.rq_free);
	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_EXPECT_PTR_EQ(test, &op->req, fake_queue_first_deferred(&fake->queue));
}

static void resize_below_the_deferred_receives_changes_nothing(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, 1, SLOTS);

	fake_queue_park(test, fake);
	fake_queue_park(test, fake);
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_queue_resize(&fake->queue, 16, 1));
	KUNIT_EXPECT_EQ(test, 1, fake->queue.sq_depth);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.rq_depth);
	KUNIT_EXPECT_EQ(test, SLOTS - 2, fake->queue.rq_free);
}

static struct kunit_case recv_cases[] = {
	KUNIT_CASE(recv_is_accepted_before_the_queue_pair_exists),
	KUNIT_CASE(recv_is_posted_before_the_connection_is_up),
	KUNIT_CASE(recvs_are_posted_in_order),
	KUNIT_CASE(recv_that_is_refused_stays_first),
	KUNIT_CASE(recv_without_a_free_slot_returns_eagain),
	KUNIT_CASE(recv_is_refused_by_a_closed_queue),
	KUNIT_CASE(recv_is_not_posted_to_a_closed_queue),
	KUNIT_CASE(recv_reports_the_message),
	KUNIT_CASE(recv_reports_an_immediate),
	KUNIT_CASE(recv_reports_the_invalidated_key),
	KUNIT_CASE(recv_that_fails_reports_nothing_else),
	KUNIT_CASE(recv_that_cannot_be_posted_ends_alone),
	KUNIT_CASE(recvs_are_all_flushed_by_a_sweep),
	KUNIT_CASE(recvs_of_a_queue_without_a_queue_pair_are_flushed),
	KUNIT_CASE(deferred_recv_kicks_the_owner),
	KUNIT_CASE(deferred_recv_is_posted_when_its_registration_is_valid),
	KUNIT_CASE(registrations_that_are_refused_take_no_slots),
	KUNIT_CASE(registrations_that_may_be_posted_end_the_connection),
	KUNIT_CASE(recv_list_is_accepted_as_far_as_there_is_room),
	KUNIT_CASE(recv_can_be_waited_for_until_it_is_posted),
	KUNIT_CASE(flushed_recv_ends_the_wait_for_it),
	KUNIT_CASE(recv_is_not_waited_for_before_the_connection_is_up),
	KUNIT_CASE(recv_is_waited_for_on_the_ring_that_accept_names),
	KUNIT_CASE(resize_keeps_deferred_receives),
	KUNIT_CASE(resize_below_the_deferred_receives_changes_nothing),
	{}
};

static struct kunit_suite recv_suite = {
	.name = "kverbs_queue_recv",
	.test_cases = recv_cases,
};

kunit_test_suite(recv_suite);
