// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From operations to work requests whose entries name the pages directly. */
#include "fake_queue.h"
#include "fake_region.h"
#include "quirks.h"
#include "wr.h"

#define PAGES	3

/**
 * struct poster - posts operations
 * @fake: the queue
 * @pool: pool of MRs, which these operations do not need
 * @set: the lkey cache, which they do not need either
 * @region: scattered pages, from 40 bytes into the first
 */
struct poster {
	struct fake_queue *fake;
	struct kverbs_mr_pool pool;
	struct kverbs_lkey_cache set;
	struct fake_region *region;
};

static int wr_init(struct kunit *test)
{
	struct poster *poster = kunit_kzalloc(test, sizeof(*poster), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, poster);
	poster->fake = fake_queue_up(test, 16, 4);
	kverbs_mr_pool_init(&poster->pool);
	poster->pool.pd = &poster->fake->hca->pd;
	poster->pool.pages = FAKE_MR_PAGES;
	kverbs_lkey_cache_init(&poster->set, &poster->pool);
	poster->set.stride = FAKE_MR_PAGES * PAGE_SIZE;
	poster->region = fake_region_scattered(test, &poster->fake->hca->ib, 40, PAGES);
	test->priv = poster;
	return 0;
}

static void wr_exit(struct kunit *test)
{
	struct poster *poster = test->priv;

	if (!poster)
		return;
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_allocs);
	kverbs_queue_close(&poster->fake->queue);
	kverbs_queue_flush_remaining(&poster->fake->queue);
	kverbs_lkey_cache_destroy(&poster->set);
	kverbs_mr_pool_destroy(&poster->pool);
}

static struct fake_op *op_on(struct kunit *test, u8 opcode, u64 offset, u64 length)
{
	struct poster *poster = test->priv;
	struct fake_op *op = fake_op_create(test, opcode, length);

	op->req.offset = offset;
	op->req.remote_addr = 0x8000;
	op->req.rkey = 0x99;
	if (length) {
		op->req.region = &poster->region->region;
		kverbs_region_use(op->req.region);
	}
	return op;
}

static int post(struct poster *poster, struct fake_op *op)
{
	return kverbs_wr_post(&poster->fake->queue, &poster->set, &op->req,
			      poster->fake->chain);
}

static const struct fake_wr *posted(struct kunit *test, struct fake_op *op)
{
	struct poster *poster = test->priv;

	KUNIT_ASSERT_EQ(test, 0, post(poster, op));
	KUNIT_ASSERT_EQ(test, 1, poster->fake->hca->nr_sends);
	return &poster->fake->hca->sends[0];
}

static const struct opcode {
	const char *what;
	u8 opcode;
	enum ib_wr_opcode expected;
	u64 remote_addr;
} opcodes[] = {
	{ "SEND", KVERBS_OP_SEND, IB_WR_SEND, 0 },
	{ "WRITE", KVERBS_OP_WRITE, IB_WR_RDMA_WRITE, 0x8000 },
	{ "WRITE_IMM", KVERBS_OP_WRITE_IMM, IB_WR_RDMA_WRITE_WITH_IMM, 0x8000 },
	{ "READ", KVERBS_OP_READ, IB_WR_RDMA_READ, 0x8000 },
	{ "SEND_IMM", KVERBS_OP_SEND_IMM, IB_WR_SEND_WITH_IMM, 0 },
	{ "SEND_INV", KVERBS_OP_SEND_INV, IB_WR_SEND_WITH_INV, 0 },
	{ "CMP_SWAP", KVERBS_OP_CMP_SWAP, IB_WR_ATOMIC_CMP_AND_SWP, 0x8000 },
	{ "FETCH_ADD", KVERBS_OP_FETCH_ADD, IB_WR_ATOMIC_FETCH_AND_ADD, 0x8000 },
};

KUNIT_ARRAY_PARAM_DESC(opcodes, opcodes, what);

static void wr_names_the_pages_themselves(struct kunit *test)
{
	const struct opcode *expected = test->param_value;
	struct fake_op *op = op_on(test, expected->opcode, PAGE_SIZE - 50, 20);
	const struct fake_wr *wr = posted(test, op);

	KUNIT_EXPECT_EQ(test, expected->expected, wr->opcode);
	KUNIT_EXPECT_EQ(test, expected->remote_addr, wr->remote_addr);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, wr->send_flags);
	KUNIT_ASSERT_EQ(test, 2, wr->num_sge);
	KUNIT_EXPECT_EQ(test, fake_region_page(0) + PAGE_SIZE - 10, wr->sges[0].addr);
	KUNIT_EXPECT_EQ(test, 10, wr->sges[0].length);
	KUNIT_EXPECT_EQ(test, fake_region_page(1), wr->sges[1].addr);
	KUNIT_EXPECT_EQ(test, 10, wr->sges[1].length);
	KUNIT_EXPECT_EQ(test, FAKE_LKEY, wr->sges[0].lkey);
	KUNIT_EXPECT_EQ(test, FAKE_LKEY, wr->sges[1].lkey);
}

static unsigned int post_direct(struct poster *poster, struct fake_op *op, int *error)
{
	struct kverbs_req *req = &op->req;

	return kverbs_wr_post_direct(&poster->fake->queue, &req, 1, poster->fake->chain, error);
}

static void wr_direct_posts_what_needs_no_registration(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, PAGE_SIZE - 50, 20);
	int error;

	KUNIT_ASSERT_EQ(test, 1, post_direct(poster, op, &error));
	KUNIT_EXPECT_EQ(test, 0, error);
	KUNIT_ASSERT_EQ(test, 1, poster->fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 2, poster->fake->hca->sends[0].num_sge);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, poster->fake->hca->sends[0].send_flags);
}

static void wr_direct_leaves_what_must_be_registered(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, PAGES * PAGE_SIZE - 40);
	int error;

	poster->fake->queue.max_sge = PAGES - 1;
	KUNIT_EXPECT_EQ(test, 0, post_direct(poster, op, &error));
	KUNIT_EXPECT_EQ(test, 0, error);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_sends);
	kverbs_req_unuse(&op->req);
}

static void wr_direct_leaves_what_must_be_mapped(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, 20);
	int error;

	poster->fake->queue.ib = NULL;
	KUNIT_EXPECT_EQ(test, 0, post_direct(poster, op, &error));
	KUNIT_EXPECT_EQ(test, 0, error);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_sends);
	kverbs_req_unuse(&op->req);
}

/* The device may be gone by then, and the addresses of its maps with it. */
static void wr_direct_posts_nothing_on_a_closed_queue(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, 20);
	int error;

	kverbs_queue_close(&poster->fake->queue);
	KUNIT_EXPECT_EQ(test, 0, post_direct(poster, op, &error));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, error);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_sends);
	kverbs_req_unuse(&op->req);
}

static void wr_of_nothing_has_no_bytes(struct kunit *test)
{
	const struct opcode *expected = test->param_value;
	const struct fake_wr *wr = posted(test, op_on(test, expected->opcode, 0, 0));
	int i;

	KUNIT_EXPECT_EQ(test, expected->expected, wr->opcode);
	for (i = 0; i < wr->num_sge; i++)
		KUNIT_EXPECT_EQ(test, 0, wr->sges[i].length);
}

/* To mlx4 an entry of length 0 is one of 2^31 bytes, with a key that reaches all memory. */
static void wr_of_nothing_has_no_entry(struct kunit *test)
{
	const struct opcode *expected = test->param_value;

	KUNIT_EXPECT_EQ(test, 0, posted(test, op_on(test, expected->opcode, 0, 0))->num_sge);
}

/* irdma takes the first entry of a WRITE or READ, and cxgb4 of a READ, for real. */
static void wr_of_nothing_leaves_no_old_entry(struct kunit *test)
{
	const struct opcode *expected = test->param_value;
	struct poster *poster = test->priv;
	struct kverbs_chain *chain = poster->fake->chain;

	memset(chain->sges, 0xff, chain->max_sges * sizeof(*chain->sges));
	posted(test, op_on(test, expected->opcode, 0, 0));
	KUNIT_ASSERT_NOT_NULL(test, chain->wrs[0].wr.sg_list);
	KUNIT_EXPECT_EQ(test, 0, chain->wrs[0].wr.sg_list->length);
}

static void wr_of_a_read_has_an_entry_where_the_driver_wants_one(struct kunit *test)
{
	struct poster *poster = test->priv;
	const struct fake_wr *wr;

	poster->fake->queue.quirks = KVERBS_QUIRK_READ_ENTRY;
	wr = posted(test, op_on(test, KVERBS_OP_READ, 0, 0));
	KUNIT_EXPECT_EQ(test, 1, wr->num_sge);
	KUNIT_EXPECT_EQ(test, 0, wr->sges[0].length);
}

static void wr_carries_the_key(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0x99, posted(test, op_on(test, KVERBS_OP_READ, 0, 1))->rkey);
}

static const struct immediate {
	const char *what;
	u8 opcode;
} immediates[] = {
	{ "WRITE_IMM", KVERBS_OP_WRITE_IMM },
	{ "SEND_IMM", KVERBS_OP_SEND_IMM },
};

KUNIT_ARRAY_PARAM_DESC(immediates, immediates, what);

static void wr_carries_the_immediate_as_it_is(struct kunit *test)
{
	const struct immediate *immediate = test->param_value;
	struct fake_op *op = op_on(test, immediate->opcode, 0, 1);

	op->req.imm = 0x12345678;
	KUNIT_EXPECT_EQ(test, 0x12345678, posted(test, op)->imm);
}

/* The key shares a union with the immediate data. */
static void wr_names_the_key_to_be_invalidated(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0x99,
			posted(test, op_on(test, KVERBS_OP_SEND_INV, 0, 1))->imm);
}

static const struct immediate atomics[] = {
	{ "CMP_SWAP", KVERBS_OP_CMP_SWAP },
	{ "FETCH_ADD", KVERBS_OP_FETCH_ADD },
};

KUNIT_ARRAY_PARAM_DESC(atomics, atomics, what);

static void wr_of_an_atomic_has_its_operands(struct kunit *test)
{
	const struct immediate *atomic = test->param_value;
	struct fake_op *op = op_on(test, atomic->opcode, 0, sizeof(u64));
	const struct fake_wr *wr;

	op->req.operand = 0x1122334455667788;
	op->req.swap = 0x99aabbccddeeff00;
	wr = posted(test, op);
	KUNIT_EXPECT_EQ(test, 0x1122334455667788, wr->operand);
	KUNIT_EXPECT_EQ(test, 0x99aabbccddeeff00, wr->swap);
	KUNIT_EXPECT_EQ(test, 0x8000, wr->remote_addr);
	KUNIT_EXPECT_EQ(test, 0x99, wr->rkey);
	KUNIT_EXPECT_EQ(test, 1, wr->num_sge);
	KUNIT_EXPECT_EQ(test, sizeof(u64), wr->sges[0].length);
}

static void add_piece(struct poster *poster, struct fake_op *op, u64 offset, u64 length)
{
	struct kverbs_req *req = &op->req;

	req->list[req->nr_list++] = (struct kverbs_extent) {
		.region = &poster->region->region,
		.offset = offset,
		.length = length,
	};
	kverbs_region_use(&poster->region->region);
	req->length += length;
}

static struct fake_op *op_on_list(struct kunit *test, u8 opcode)
{
	struct fake_op *op = op_on(test, opcode, 0, 0);

	op->req.list = kunit_kcalloc(test, 8, sizeof(*op->req.list), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, op->req.list);
	return op;
}

/* The second piece crosses a page; the third one precedes the first in the region. */
static void wr_of_a_list_names_the_pieces_in_order(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on_list(test, KVERBS_OP_SEND);
	const struct fake_wr *wr;

	add_piece(poster, op, 100, 8);
	add_piece(poster, op, PAGE_SIZE - 50, 20);
	add_piece(poster, op, 0, 1);
	wr = posted(test, op);
	KUNIT_ASSERT_EQ(test, 4, wr->num_sge);
	KUNIT_EXPECT_EQ(test, fake_region_page(0) + 140, wr->sges[0].addr);
	KUNIT_EXPECT_EQ(test, 8, wr->sges[0].length);
	KUNIT_EXPECT_EQ(test, 10, wr->sges[1].length);
	KUNIT_EXPECT_EQ(test, fake_region_page(1), wr->sges[2].addr);
	KUNIT_EXPECT_EQ(test, fake_region_page(0) + 40, wr->sges[3].addr);
	KUNIT_EXPECT_EQ(test, 1, wr->sges[3].length);
}

static void wr_recv_takes_a_list(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on_list(test, KVERBS_OP_RECV);
	const struct fake_wr *wr = &poster->fake->hca->recvs[0];

	add_piece(poster, op, 7, 3);
	add_piece(poster, op, 100, 8);
	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(poster->fake, op));
	KUNIT_ASSERT_EQ(test, 0, kverbs_wr_recv(&poster->fake->queue, &poster->set,
						&op->req));
	KUNIT_ASSERT_EQ(test, 2, wr->num_sge);
	KUNIT_EXPECT_EQ(test, fake_region_page(0) + 47, wr->sges[0].addr);
	KUNIT_EXPECT_EQ(test, 8, wr->sges[1].length);
}

/* On iWARP READs are answered in order, and siw accepts no fence on one. */
static void wr_of_a_read_on_iwarp_is_not_fenced(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_READ, 0, 0);

	op->req.fence = true;
	poster->fake->queue.quirks = KVERBS_QUIRK_ORDERED_READS;
	KUNIT_ASSERT_EQ(test, 0, kverbs_wr_post(&poster->fake->queue, &poster->set,
						&op->req, poster->fake->chain));
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, poster->fake->hca->sends[0].send_flags);
}

static void wr_is_fenced_if_asked_for(struct kunit *test)
{
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, 1);

	op->req.fence = true;
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED | IB_SEND_FENCE, posted(test, op)->send_flags);
}

static void wr_is_solicited_if_asked_for(struct kunit *test)
{
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, 1);

	op->req.solicited = true;
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED | IB_SEND_SOLICITED,
			posted(test, op)->send_flags);
}

static void wr_without_a_receive_is_not_solicited(struct kunit *test)
{
	struct fake_op *op = op_on(test, KVERBS_OP_WRITE, 0, 1);

	op->req.solicited = true;
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, posted(test, op)->send_flags);
}

static void wr_without_a_region_may_not_have_a_length(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	op->req.length = poster->fake->queue.max_msg + 1;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, post(poster, op));
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_sends);
}

static void wr_post_returns_the_error_of_the_queue(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, 1);

	poster->fake->queue.sq_free = 0;
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(poster, op));
	poster->fake->queue.sq_free = poster->fake->queue.sq_depth;
	fake_hca_refuse(poster->fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(poster, op));
	fake_hca_refuse(poster->fake->hca, UINT_MAX, 0);
	kverbs_queue_close(&poster->fake->queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, post(poster, op));
}

static struct fake_op *park(struct kunit *test, u64 offset, u64 length)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_RECV, offset, length);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(poster->fake, op));
	return op;
}

static void wr_recv_names_the_pages_themselves(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = park(test, 0, PAGES * PAGE_SIZE - 40);
	const struct fake_wr *wr = &poster->fake->hca->recvs[0];

	KUNIT_ASSERT_EQ(test, 0, kverbs_wr_recv(&poster->fake->queue, &poster->set,
						&op->req));
	KUNIT_ASSERT_EQ(test, 1, poster->fake->hca->nr_recvs);
	KUNIT_ASSERT_EQ(test, PAGES, wr->num_sge);
	KUNIT_EXPECT_EQ(test, fake_region_page(0) + 40, wr->sges[0].addr);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE - 40, wr->sges[0].length);
	KUNIT_EXPECT_EQ(test, fake_region_page(2), wr->sges[2].addr);
	KUNIT_EXPECT_EQ(test, FAKE_LKEY, wr->sges[2].lkey);
}

static void wr_recv_of_nothing_has_no_entries(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = park(test, 0, 0);

	KUNIT_ASSERT_EQ(test, 0, kverbs_wr_recv(&poster->fake->queue, &poster->set,
						&op->req));
	KUNIT_ASSERT_EQ(test, 1, poster->fake->hca->nr_recvs);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->recvs[0].num_sge);
	/* irdma takes the first entry for real. */
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->recvs[0].sges[0].length);
}

static void wr_recv_to_a_closed_queue_is_left_to_its_end(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = park(test, 0, 1);

	kverbs_queue_close(&poster->fake->queue);
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_wr_recv(&poster->fake->queue, &poster->set,
						      &op->req));
	KUNIT_EXPECT_EQ(test, 0, op->done);
}

static void park_three(struct kunit *test, struct kverbs_req **reqs, u64 last_length)
{
	const u64 lengths[] = { 10, 20, last_length };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		reqs[i] = &park(test, 100 * i, lengths[i])->req;
}

static void expect_posted(struct kunit *test, struct kverbs_req **reqs, unsigned int nr,
			  unsigned int posted, int error)
{
	struct poster *poster = test->priv;
	int ret;

	KUNIT_EXPECT_EQ(test, posted, kverbs_wr_recv_list(&poster->fake->queue, reqs, nr, &ret));
	KUNIT_EXPECT_EQ(test, error, ret);
}

static void wr_recvs_of_one_entry_are_posted_together(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_hca *hca = poster->fake->hca;
	struct kverbs_req *reqs[3];
	unsigned int i;

	park_three(test, reqs, 30);
	expect_posted(test, reqs, 3, 3, 0);
	KUNIT_EXPECT_EQ(test, 1, hca->nr_recv_doorbells);
	KUNIT_ASSERT_EQ(test, 3, hca->nr_recvs);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, &reqs[i]->last, hca->recvs[i].cqe);
		KUNIT_ASSERT_EQ(test, 1, hca->recvs[i].num_sge);
		KUNIT_EXPECT_EQ(test, fake_region_page(0) + 40 + 100 * i,
				hca->recvs[i].sges[0].addr);
		KUNIT_EXPECT_EQ(test, 10 * (i + 1), hca->recvs[i].sges[0].length);
		KUNIT_EXPECT_EQ(test, FAKE_LKEY, hca->recvs[i].sges[0].lkey);
	}
	KUNIT_EXPECT_NULL(test, fake_queue_first_deferred(&poster->fake->queue));
}

static void wr_recvs_are_posted_together_up_to_one_of_several_entries(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_req *reqs[3];

	park_three(test, reqs, PAGE_SIZE);
	expect_posted(test, reqs, 3, 2, 0);
	KUNIT_EXPECT_PTR_EQ(test, reqs[2], fake_queue_first_deferred(&poster->fake->queue));
	expect_posted(test, reqs + 2, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, kverbs_wr_recv(&poster->fake->queue, &poster->set, reqs[2]));
	KUNIT_EXPECT_EQ(test, 2, poster->fake->hca->recvs[2].num_sge);
}

static void wr_recvs_that_must_be_mapped_are_not_posted_together(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_req *reqs[3];

	park_three(test, reqs, 30);
	poster->fake->queue.ib = NULL;
	expect_posted(test, reqs, 3, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, reqs[0], fake_queue_first_deferred(&poster->fake->queue));
}

static void wr_recvs_that_are_refused_stay_in_order(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_queue *queue = &poster->fake->queue;
	struct kverbs_req *reqs[3], *left[3];

	park_three(test, reqs, 30);
	fake_hca_refuse(poster->fake->hca, 1, -ENOMEM);
	expect_posted(test, reqs, 3, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 1, poster->fake->hca->nr_recvs);
	KUNIT_ASSERT_EQ(test, 2, kverbs_queue_peek_deferred(queue, left, 3));
	KUNIT_EXPECT_PTR_EQ(test, reqs[1], left[0]);
	KUNIT_EXPECT_PTR_EQ(test, reqs[2], left[1]);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->broken);
	fake_hca_refuse(poster->fake->hca, UINT_MAX, 0);
	expect_posted(test, left, 2, 2, 0);
	KUNIT_EXPECT_PTR_EQ(test, &reqs[2]->last, poster->fake->hca->recvs[2].cqe);
}

static void wr_recvs_that_may_be_posted_end_the_connection(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_req *reqs[3];

	park_three(test, reqs, 30);
	fake_hca_refuse(poster->fake->hca, 1, -ENOMEM);
	poster->fake->hca->recv_bad_unset = true;
	expect_posted(test, reqs, 3, 3, 0);
	KUNIT_EXPECT_EQ(test, 1, poster->fake->broken);
	KUNIT_EXPECT_EQ(test, KVERBS_QUEUE_CLOSED, poster->fake->queue.state);
	KUNIT_EXPECT_TRUE(test, list_empty(&poster->fake->queue.deferred));
}

static void wr_recvs_to_a_closed_queue_are_left_to_its_end(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_req *reqs[3];

	park_three(test, reqs, 30);
	kverbs_queue_close(&poster->fake->queue);
	expect_posted(test, reqs, 3, 0, -EAGAIN);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_recvs);
	KUNIT_EXPECT_FALSE(test, list_empty(&poster->fake->queue.deferred));
}

static struct kunit_case wr_cases[] = {
	KUNIT_CASE_PARAM(wr_names_the_pages_themselves, opcodes_gen_params),
	KUNIT_CASE(wr_direct_posts_what_needs_no_registration),
	KUNIT_CASE(wr_direct_leaves_what_must_be_registered),
	KUNIT_CASE(wr_direct_leaves_what_must_be_mapped),
	KUNIT_CASE(wr_direct_posts_nothing_on_a_closed_queue),
	KUNIT_CASE_PARAM(wr_of_nothing_has_no_bytes, opcodes_gen_params),
	KUNIT_CASE_PARAM(wr_of_nothing_has_no_entry, opcodes_gen_params),
	KUNIT_CASE_PARAM(wr_of_nothing_leaves_no_old_entry, opcodes_gen_params),
	KUNIT_CASE(wr_of_a_read_has_an_entry_where_the_driver_wants_one),
	KUNIT_CASE(wr_carries_the_key),
	KUNIT_CASE_PARAM(wr_carries_the_immediate_as_it_is, immediates_gen_params),
	KUNIT_CASE(wr_names_the_key_to_be_invalidated),
	KUNIT_CASE_PARAM(wr_of_an_atomic_has_its_operands, atomics_gen_params),
	KUNIT_CASE(wr_of_a_list_names_the_pieces_in_order),
	KUNIT_CASE(wr_recv_takes_a_list),
	KUNIT_CASE(wr_of_a_read_on_iwarp_is_not_fenced),
	KUNIT_CASE(wr_is_fenced_if_asked_for),
	KUNIT_CASE(wr_is_solicited_if_asked_for),
	KUNIT_CASE(wr_without_a_receive_is_not_solicited),
	KUNIT_CASE(wr_without_a_region_may_not_have_a_length),
	KUNIT_CASE(wr_post_returns_the_error_of_the_queue),
	KUNIT_CASE(wr_recv_names_the_pages_themselves),
	KUNIT_CASE(wr_recv_of_nothing_has_no_entries),
	KUNIT_CASE(wr_recv_to_a_closed_queue_is_left_to_its_end),
	KUNIT_CASE(wr_recvs_of_one_entry_are_posted_together),
	KUNIT_CASE(wr_recvs_are_posted_together_up_to_one_of_several_entries),
	KUNIT_CASE(wr_recvs_that_must_be_mapped_are_not_posted_together),
	KUNIT_CASE(wr_recvs_that_are_refused_stay_in_order),
	KUNIT_CASE(wr_recvs_that_may_be_posted_end_the_connection),
	KUNIT_CASE(wr_recvs_to_a_closed_queue_are_left_to_its_end),
	{}
};

static struct kunit_suite wr_suite = {
	.name = "kverbs_wr",
	.init = wr_init,
	.exit = wr_exit,
	.test_cases = wr_cases,
};

kunit_test_suite(wr_suite);
