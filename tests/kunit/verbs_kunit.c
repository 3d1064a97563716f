// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The checks that debug builds make of each work request before it is posted. */
#include "fake_queue.h"
#include "fake_region.h"
#include "mr.h"
#include "quirks.h"
#include "verbs.h"

#define PAGES	3

/**
 * struct gate - a work request and all that it names
 * @fake: where it would be posted
 * @region: scattered pages, from 40 bytes into the first
 * @op: the operation: READ of the first page, but for its last 8 bytes
 * @sges: its entries; the first is right
 * @wr: its work request
 */
struct gate {
	struct fake_queue *fake;
	struct fake_region *region;
	struct fake_op *op;
	struct ib_sge sges[8];
	struct ib_send_wr wr;
};

static int gate_init(struct kunit *test)
{
	struct gate *gate = kunit_kzalloc(test, sizeof(*gate), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, gate);
	gate->fake = fake_queue_up(test, 16, 4);
	gate->region = fake_region_scattered(test, &gate->fake->hca->ib, 40, PAGES);
	gate->op = fake_queue_send(test, gate->fake, 1);
	gate->op->req.opcode = KVERBS_OP_READ;
	gate->op->req.region = &gate->region->region;
	gate->op->req.length = PAGE_SIZE - 48;
	gate->sges[0] = (struct ib_sge) {
		.addr = fake_region_page(0) + 40,
		.length = PAGE_SIZE - 48,
		.lkey = FAKE_LKEY,
	};
	gate->wr = (struct ib_send_wr) {
		.opcode = IB_WR_RDMA_READ,
		.wr_cqe = &gate->op->req.last,
		.sg_list = gate->sges,
		.num_sge = 1,
	};
	test->priv = gate;
	return 0;
}

static const char *check(struct kunit *test)
{
	struct gate *gate = test->priv;

	return kverbs_check_send(&gate->fake->queue, &gate->wr);
}

static void gate_passes_valid_requests(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, check(test));
}

static const struct wrong {
	const char *what;
	u64 addr;
	u32 length;
	u32 lkey;
} wrongs[] = {
	{ "a byte before the buffer", -1, 8, FAKE_LKEY },
	{ "a byte behind the buffer", PAGE_SIZE - 48, 1, FAKE_LKEY },
	{ "over the end of the buffer", 0, PAGE_SIZE - 47, FAKE_LKEY },
	{ "memory of someone else", 1 << 30, 8, FAKE_LKEY },
	{ "wraps", -64, 128, FAKE_LKEY },
	{ "longer than an entry may be", 0, SZ_1G + 1, FAKE_LKEY },
	{ "a key of nothing", 0, 8, 0x777 },
};

KUNIT_ARRAY_PARAM_DESC(wrongs, wrongs, what);

static void gate_stops_an_entry(struct kunit *test)
{
	const struct wrong *wrong = test->param_value;
	struct gate *gate = test->priv;

	gate->sges[0].addr += wrong->addr;
	gate->sges[0].length = wrong->length;
	gate->sges[0].lkey = wrong->lkey;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_stops_an_empty_entry(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->sges[0].length = 0;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->fake->queue.quirks = KVERBS_QUIRK_READ_ENTRY;
	KUNIT_EXPECT_NULL(test, check(test));
	gate->wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_stops_an_entry_that_is_not_counted(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->wr.num_sge = 0;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->sges[0].length = 0;
	KUNIT_EXPECT_NULL(test, check(test));
	gate->wr.sg_list = NULL;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

/* The peer knows the key of an iWARP READ's buffer. */
static void gate_stops_a_read_that_leaves_its_sink_valid(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->fake->queue.quirks = KVERBS_QUIRK_READ_SINK;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	gate->wr.ex.invalidate_rkey = FAKE_LKEY + 1;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->wr.ex.invalidate_rkey = FAKE_LKEY;
	KUNIT_EXPECT_NULL(test, check(test));
}

static void gate_stops_too_many_entries(struct kunit *test)
{
	struct gate *gate = test->priv;
	unsigned int i;

	for (i = 1; i < 8; i++)
		gate->sges[i] = gate->sges[0];
	gate->wr.num_sge = 3;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_NULL(test, check(test));
	gate->wr.num_sge = 5;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_stops_more_bytes_than_a_message(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->fake->queue.max_msg = PAGE_SIZE - 49;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

/* Operations are built without the lock under which the queue comes up. */
static void gate_stops_what_is_built_before_the_limits_are_known(struct kunit *test)
{
	struct gate *gate = test->priv;
	struct kverbs_queue *queue = &gate->fake->queue;
	struct ib_recv_wr recv = { .wr_cqe = &gate->op->req.last };

	gate->wr.num_sge = 0;
	gate->sges[0].length = 0;
	KUNIT_EXPECT_NULL(test, check(test));
	KUNIT_EXPECT_NULL(test, kverbs_check_recv(queue, &recv));
	queue->max_msg = 0;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_recv(queue, &recv));
	queue->max_msg = SZ_1G;
	queue->max_read_sge = 0;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_stops_a_read_into_read_only_memory(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->region->region.writable = false;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->op->req.opcode = KVERBS_OP_SEND;
	KUNIT_EXPECT_NULL(test, check(test));
}

static void gate_stops_an_entry_of_no_operation(struct kunit *test)
{
	struct gate *gate = test->priv;

	gate->wr.wr_cqe = NULL;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_knows_the_registrations(struct kunit *test)
{
	struct gate *gate = test->priv;
	struct kverbs_mr_pool pool;
	struct kverbs_mr *mr;

	kverbs_mr_pool_init(&pool);
	pool.pd = &gate->fake->hca->pd;
	pool.pages = FAKE_MR_PAGES;
	mr = kverbs_mr_get(&pool, &gate->region->map, 0, 100, IB_ACCESS_LOCAL_WRITE, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	gate->sges[0] = (struct ib_sge) {
		.addr = mr->ib->iova, .length = 100, .lkey = mr->ib->lkey,
	};
	KUNIT_EXPECT_NULL(test, check(test));
	gate->sges[0].length = 101;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->sges[0].length = 100;
	mr->wr.access = 0;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	mr->wr.access = IB_ACCESS_LOCAL_WRITE;
	gate->op->req.region = NULL;
	KUNIT_EXPECT_NOT_NULL(test, check(test));
	gate->op->req.region = &gate->region->region;
	kverbs_mr_free(&pool, mr);
	KUNIT_EXPECT_NOT_NULL(test, check(test));
}

static void gate_checks_receives_too(struct kunit *test)
{
	struct gate *gate = test->priv;
	struct kverbs_queue *queue = &gate->fake->queue;
	struct fake_op *op = fake_queue_park(test, gate->fake);
	struct ib_recv_wr wr = {
		.wr_cqe = &op->req.last, .sg_list = gate->sges, .num_sge = 1,
	};

	op->req.region = &gate->region->region;
	op->req.length = PAGE_SIZE - 48;
	KUNIT_EXPECT_NULL(test, kverbs_check_recv(queue, &wr));
	gate->sges[0].length++;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_recv(queue, &wr));
	gate->sges[0].length = 0;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_recv(queue, &wr));
	op->req.region = NULL;
	op->req.length = 0;
	kverbs_queue_flush_remaining(queue);
}

static void gate_checks_receives_of_a_shared_queue_too(struct kunit *test)
{
	struct gate *gate = test->priv;
	struct kverbs_srq srq = {
		.pd = &gate->fake->hca->pd, .max_sge = 1, .max_recv = PAGE_SIZE - 48,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &gate->op->req.last, .sg_list = gate->sges, .num_sge = 1,
	};

	gate->op->req.opcode = KVERBS_OP_RECV;
	KUNIT_EXPECT_NULL(test, kverbs_check_srq_recv(&srq, &wr));
	gate->sges[0].length++;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_srq_recv(&srq, &wr));
	gate->sges[0].length--;
	wr.num_sge = 0;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_srq_recv(&srq, &wr));
	wr.num_sge = 2;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_srq_recv(&srq, &wr));
	wr.num_sge = 1;
	srq.max_recv--;
	KUNIT_EXPECT_NOT_NULL(test, kverbs_check_srq_recv(&srq, &wr));
}

static struct kunit_case gate_cases[] = {
	KUNIT_CASE(gate_passes_valid_requests),
	KUNIT_CASE_PARAM(gate_stops_an_entry, wrongs_gen_params),
	KUNIT_CASE(gate_stops_an_empty_entry),
	KUNIT_CASE(gate_stops_an_entry_that_is_not_counted),
	KUNIT_CASE(gate_stops_a_read_that_leaves_its_sink_valid),
	KUNIT_CASE(gate_stops_too_many_entries),
	KUNIT_CASE(gate_stops_more_bytes_than_a_message),
	KUNIT_CASE(gate_stops_what_is_built_before_the_limits_are_known),
	KUNIT_CASE(gate_stops_a_read_into_read_only_memory),
	KUNIT_CASE(gate_stops_an_entry_of_no_operation),
	KUNIT_CASE(gate_knows_the_registrations),
	KUNIT_CASE(gate_checks_receives_too),
	KUNIT_CASE(gate_checks_receives_of_a_shared_queue_too),
	{}
};

static struct kunit_suite gate_suite = {
	.name = "kverbs_gate",
	.init = gate_init,
	.test_cases = gate_cases,
};

kunit_test_suite(gate_suite);
