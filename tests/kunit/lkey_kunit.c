// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From operations to work requests whose entries use local registrations. */
#include "fake_queue.h"
#include "fake_region.h"
#include "quirks.h"
#include "wr.h"

#define PAGES	10
#define OFFSET	40
#define CHUNK	(FAKE_MR_PAGES * PAGE_SIZE)
#define LENGTH	(PAGES * PAGE_SIZE - OFFSET)

/**
 * struct poster - posts operations
 * @fake: the queue: 4 scatter/gather entries per work request, 2 for a READ
 * @pool: pool of MRs, which cover 4 pages each
 * @set: the lkey cache
 * @region: scattered pages, too many for the entries of a work request
 */
struct poster {
	struct fake_queue *fake;
	struct kverbs_mr_pool pool;
	struct kverbs_lkey_cache set;
	struct fake_region *region;
};

static int lkey_init(struct kunit *test)
{
	struct poster *poster = kunit_kzalloc(test, sizeof(*poster), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, poster);
	poster->fake = fake_queue_up(test, 16, 4);
	kverbs_mr_pool_init(&poster->pool);
	poster->pool.pd = &poster->fake->hca->pd;
	poster->pool.pages = FAKE_MR_PAGES;
	kverbs_lkey_cache_init(&poster->set, &poster->pool);
	poster->set.stride = CHUNK;
	poster->region = fake_region_scattered(test, &poster->fake->hca->ib, OFFSET, PAGES);
	test->priv = poster;
	return 0;
}

static void lkey_exit(struct kunit *test)
{
	struct poster *poster = test->priv;

	if (!poster)
		return;
	kverbs_queue_close(&poster->fake->queue);
	kverbs_queue_flush_remaining(&poster->fake->queue);
	kverbs_lkey_cache_destroy(&poster->set);
	kverbs_mr_pool_destroy(&poster->pool);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&poster->fake->hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.cached));
}

static struct fake_op *op_on(struct kunit *test, u8 opcode, u64 offset, u64 length)
{
	struct poster *poster = test->priv;
	struct fake_op *op = fake_op_create(test, opcode, length);

	op->req.offset = offset;
	op->req.remote_addr = 0x8000;
	op->req.region = &poster->region->region;
	return op;
}

/* A refused operation holds no reference on its region. */
static int try_post(struct poster *poster, struct fake_op *op)
{
	int ret;

	kverbs_region_use(op->req.region);
	ret = kverbs_wr_post(&poster->fake->queue, &poster->set, &op->req,
			     poster->fake->chain);
	if (ret)
		kverbs_region_unuse(op->req.region);
	return ret;
}

/* Post an operation, which must be accepted; returns its first work request. */
static struct fake_wr *post(struct kunit *test, u8 opcode, u64 offset, u64 length)
{
	struct poster *poster = test->priv;
	struct fake_wr *first = &poster->fake->hca->sends[poster->fake->hca->nr_sends];

	KUNIT_ASSERT_EQ(test, 0, try_post(poster, op_on(test, opcode, offset, length)));
	return first;
}

static void complete_all_sends(struct poster *poster)
{
	schedule_work(&poster->fake->hca->work);
	flush_work(&poster->fake->hca->work);
}

static unsigned int nr_sends(struct kunit *test)
{
	struct poster *poster = test->priv;

	return poster->fake->hca->nr_sends;
}

/* Address of a byte of an entry, translated with the entry's key as a device does. */
static u64 resolve(struct kunit *test, const struct ib_sge *sge, u64 at)
{
	struct poster *poster = test->priv;
	struct fake_hca *hca = poster->fake->hca;
	unsigned int i;

	for (i = 0; i < hca->nr_sends; i++) {
		struct fake_wr *wr = &hca->sends[i];
		u64 pos = sge->addr + at;

		if (wr->opcode != IB_WR_REG_MR || wr->mr->lkey != sge->lkey)
			continue;
		KUNIT_ASSERT_GE(test, pos, wr->mr->iova);
		KUNIT_ASSERT_LT(test, pos, wr->mr->iova + wr->mr->length);
		at = pos - (wr->mr->iova & PAGE_MASK);
		return to_fake_mr(wr->mr)->pages[at / PAGE_SIZE] + at % PAGE_SIZE;
	}
	KUNIT_FAIL(test, "no registration has the key %x", sge->lkey);
	return 0;
}

/* Check that the entries of @wr are the region's bytes from @offset on; returns their number. */
static u64 expect_bytes(struct kunit *test, const struct fake_wr *wr, u64 offset)
{
	u64 start = OFFSET + offset, pos = start;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sges[i];
		u64 last = pos + sge->length - 1;

		KUNIT_ASSERT_GT(test, sge->length, 0);
		KUNIT_EXPECT_EQ(test, fake_region_page(pos / PAGE_SIZE) + pos % PAGE_SIZE,
				resolve(test, sge, 0));
		KUNIT_EXPECT_EQ(test, fake_region_page(last / PAGE_SIZE) + last % PAGE_SIZE,
				resolve(test, sge, sge->length - 1));
		pos += sge->length;
	}
	return pos - start;
}

static void lkey_is_not_used_where_entries_suffice(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr = post(test, KVERBS_OP_SEND, 0, 4 * PAGE_SIZE - OFFSET);

	KUNIT_EXPECT_EQ(test, 1, nr_sends(test));
	KUNIT_EXPECT_EQ(test, 4, wr->num_sge);
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_allocs);
}

static void lkey_chunks_are_registered_before_they_are_used(struct kunit *test)
{
	struct fake_wr *wr = post(test, KVERBS_OP_SEND, 0, LENGTH);

	KUNIT_ASSERT_EQ(test, 4, nr_sends(test));
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wr[0].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wr[1].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wr[2].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, wr[3].opcode);
	KUNIT_EXPECT_EQ(test, 3, wr[3].num_sge);
	KUNIT_EXPECT_EQ(test, LENGTH, expect_bytes(test, &wr[3], 0));
}

static void lkey_chunks_cover_the_range_only(struct kunit *test)
{
	struct fake_wr *wr = post(test, KVERBS_OP_SEND, PAGE_SIZE, 5 * PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, 3, nr_sends(test));
	KUNIT_EXPECT_EQ(test, 2, wr[2].num_sge);
	KUNIT_EXPECT_EQ(test, CHUNK - OFFSET, wr[0].mr->length);
	KUNIT_EXPECT_EQ(test, CHUNK, wr[1].mr->length);
	KUNIT_EXPECT_EQ(test, 5 * PAGE_SIZE, expect_bytes(test, &wr[2], PAGE_SIZE));
}

static void lkey_chunks_are_registered_once(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;

	post(test, KVERBS_OP_SEND, 0, LENGTH);
	wr = post(test, KVERBS_OP_SEND, 8, LENGTH - 8);
	KUNIT_EXPECT_EQ(test, 5, nr_sends(test));
	KUNIT_EXPECT_EQ(test, LENGTH - 8, expect_bytes(test, wr, 8));
	complete_all_sends(poster);
	wr = post(test, KVERBS_OP_WRITE, 0, LENGTH);
	KUNIT_EXPECT_EQ(test, 6, nr_sends(test));
	KUNIT_EXPECT_EQ(test, LENGTH, expect_bytes(test, wr, 0));
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&poster->fake->hca->nr_mrs));
}

static const struct rights {
	const char *what;
	bool writable;
	int access;
} rights[] = {
	{ "a writable region", true, IB_ACCESS_LOCAL_WRITE },
	{ "a read-only region", false, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rights, rights, what);

static void lkey_chunks_have_no_more_rights_than_the_region(struct kunit *test)
{
	const struct rights *expected = test->param_value;
	struct poster *poster = test->priv;

	poster->region->region.writable = expected->writable;
	post(test, KVERBS_OP_SEND, 0, LENGTH);
	KUNIT_EXPECT_EQ(test, expected->access, poster->fake->chain->regs[0]->wr.access);
}

static void lkey_write_is_divided_into_requests(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;
	u64 done = 0;
	int i;

	poster->fake->queue.max_msg = 3 * PAGE_SIZE;
	wr = post(test, KVERBS_OP_WRITE, 0, LENGTH);
	KUNIT_ASSERT_EQ(test, 3 + 4, nr_sends(test));
	for (i = 3; i < 7; i++) {
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr[i].opcode);
		KUNIT_EXPECT_EQ(test, 0x8000 + done, wr[i].remote_addr);
		done += expect_bytes(test, &wr[i], done);
		KUNIT_EXPECT_EQ(test, min_t(u64, (i - 2) * 3 * PAGE_SIZE, LENGTH), done);
	}
}

static void lkey_read_is_limited_to_the_entries_of_a_read(struct kunit *test)
{
	struct fake_wr *wr = post(test, KVERBS_OP_READ, 0, LENGTH);
	u64 first;

	KUNIT_ASSERT_EQ(test, 3 + 2, nr_sends(test));
	KUNIT_EXPECT_EQ(test, 2, wr[3].num_sge);
	KUNIT_EXPECT_EQ(test, 1, wr[4].num_sge);
	first = expect_bytes(test, &wr[3], 0);
	KUNIT_EXPECT_EQ(test, 2 * CHUNK - OFFSET, first);
	KUNIT_EXPECT_EQ(test, 0x8000 + first, wr[4].remote_addr);
	KUNIT_EXPECT_EQ(test, LENGTH - first, expect_bytes(test, &wr[4], first));
}

static void lkey_requests_name_no_more_chunks_than_allowed(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;
	int i;

	poster->fake->queue.max_local = 1;
	wr = post(test, KVERBS_OP_WRITE, 0, LENGTH);
	KUNIT_ASSERT_EQ(test, 3 + 3, nr_sends(test));
	for (i = 3; i < 6; i++)
		KUNIT_EXPECT_EQ(test, 1, wr[i].num_sge);
}

/* Chunks overlap by half: any message of half a chunk is within one. */
static void lkey_message_of_half_a_chunk_needs_one_entry(struct kunit *test)
{
	struct poster *poster = test->priv;
	const struct fake_wr *last;
	u64 offset;

	poster->set.stride = CHUNK / 2;
	poster->fake->queue.max_sge = 1;
	poster->fake->queue.max_local = 1;
	for (offset = 0; offset <= LENGTH - CHUNK / 2; offset += 1777) {
		post(test, KVERBS_OP_SEND, offset, CHUNK / 2);
		last = &poster->fake->hca->sends[nr_sends(test) - 1];
		KUNIT_EXPECT_EQ(test, CHUNK / 2, expect_bytes(test, last, offset));
		complete_all_sends(poster);
	}
}

/* Flags of an operation are set on its first or its last work request. */
static void lkey_flags_are_set_on_the_right_requests(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_WRITE_IMM, 0, LENGTH);
	struct fake_wr *wr = &poster->fake->hca->sends[3];

	poster->fake->queue.max_msg = 4 * PAGE_SIZE;
	op->req.fence = true;
	op->req.solicited = true;
	op->req.imm = 0x12345678;
	KUNIT_ASSERT_EQ(test, 0, try_post(poster, op));
	KUNIT_ASSERT_EQ(test, 3 + 3, nr_sends(test));
	KUNIT_EXPECT_EQ(test, IB_SEND_FENCE, wr[0].send_flags);
	KUNIT_EXPECT_EQ(test, 0, wr[1].send_flags);
	KUNIT_EXPECT_EQ(test, IB_SEND_SOLICITED | IB_SEND_SIGNALED, wr[2].send_flags);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr[0].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr[1].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE_WITH_IMM, wr[2].opcode);
	KUNIT_EXPECT_EQ(test, 0x12345678, wr[2].imm);
}

/* A message is one work request; it cannot be sent if it does not fit into one. */
static void lkey_message_is_not_divided(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, LENGTH);

	poster->fake->queue.max_msg = LENGTH - 1;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, try_post(poster, op));
	poster->fake->queue.max_msg = LENGTH;
	poster->fake->queue.max_sge = 2;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, try_post(poster, op));
	KUNIT_EXPECT_EQ(test, 0, nr_sends(test));
	poster->fake->queue.max_sge = 3;
	KUNIT_EXPECT_EQ(test, 0, try_post(poster, op));
}

static void lkey_operation_of_too_many_requests_is_refused(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_WRITE, 0, LENGTH);

	poster->fake->queue.sq_depth = 2 * KVERBS_OP_WRS;
	poster->fake->queue.sq_free = 2 * KVERBS_OP_WRS;
	poster->fake->queue.max_msg = LENGTH / KVERBS_OP_WRS;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, try_post(poster, op));
	KUNIT_EXPECT_EQ(test, 0, nr_sends(test));
	KUNIT_EXPECT_EQ(test, 2 * KVERBS_OP_WRS, poster->fake->queue.sq_free);
}

static void use_sinks(struct kunit *test)
{
	struct poster *poster = test->priv;

	poster->fake->queue.max_read_sge = 1;
	poster->fake->queue.quirks = KVERBS_QUIRK_READ_SINK;
}

/* On iWARP the peer writes the response: to just these bytes, and not after the READ. */
static void lkey_sink_of_an_iwarp_read_lets_the_peer_write(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;

	use_sinks(test);
	wr = post(test, KVERBS_OP_READ, PAGE_SIZE, 100);
	KUNIT_ASSERT_EQ(test, 2, nr_sends(test));
	KUNIT_EXPECT_EQ(test, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
			poster->fake->chain->regs[0]->wr.access);
	KUNIT_EXPECT_EQ(test, 100, wr[0].mr->length);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ_WITH_INV, wr[1].opcode);
	KUNIT_EXPECT_EQ(test, wr[0].mr->lkey, wr[1].imm);
	KUNIT_EXPECT_EQ(test, 100, expect_bytes(test, &wr[1], PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 15, poster->fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&poster->region->region.cached));
	complete_all_sends(poster);
	KUNIT_EXPECT_EQ(test, 16, poster->fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.cached));
}

/* The next READ has the MR, but not its key, since the peer knows that. */
static void lkey_sink_is_used_again_with_another_key(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;
	u32 key;

	use_sinks(test);
	wr = post(test, KVERBS_OP_READ, 0, 100);
	key = wr[1].sges[0].lkey;
	complete_all_sends(poster);
	wr = post(test, KVERBS_OP_READ, 0, 100);
	KUNIT_EXPECT_EQ(test, 4, nr_sends(test));
	KUNIT_EXPECT_NE(test, key, wr[1].sges[0].lkey);
	KUNIT_EXPECT_EQ(test, 1, poster->fake->hca->nr_allocs);
}

static void lkey_sink_is_one_per_request(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_wr *wr;
	u64 done = 0;
	int i;

	use_sinks(test);
	wr = post(test, KVERBS_OP_READ, 0, LENGTH);
	KUNIT_ASSERT_EQ(test, 3 + 3, nr_sends(test));
	KUNIT_EXPECT_EQ(test, 13, poster->fake->queue.sq_free);
	for (i = 3; i < 6; i++) {
		KUNIT_EXPECT_EQ(test, 0x8000 + done, wr[i].remote_addr);
		KUNIT_EXPECT_EQ(test, wr[i - 3].mr->length, wr[i].sges[0].length);
		KUNIT_EXPECT_EQ(test, wr[i].sges[0].lkey, wr[i].imm);
		KUNIT_EXPECT_EQ(test, i == 5 ? IB_SEND_SIGNALED : 0, wr[i].send_flags);
		done += expect_bytes(test, &wr[i], done);
	}
	KUNIT_EXPECT_EQ(test, LENGTH, done);
	complete_all_sends(poster);
	KUNIT_EXPECT_EQ(test, 16, poster->fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.uses));
}

static void lkey_sink_of_a_refused_read_is_returned(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_READ, 0, LENGTH);

	use_sinks(test);
	fake_hca_refuse(poster->fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_post(poster, op));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&poster->region->region.uses));
	KUNIT_EXPECT_EQ(test, 16, poster->fake->queue.sq_free);
	fake_hca_refuse(poster->fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, try_post(poster, op));
	KUNIT_EXPECT_EQ(test, 3, poster->fake->hca->nr_allocs);
}

/* Whether the MR is valid is unknown then; the connection ends. */
static void lkey_sink_stays_after_a_failure(struct kunit *test)
{
	struct poster *poster = test->priv;

	use_sinks(test);
	post(test, KVERBS_OP_READ, 0, 100);
	fake_wr_complete(&poster->fake->hca->sends[1], IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, 1, poster->fake->broken);
	kverbs_queue_close(&poster->fake->queue);
	kverbs_queue_flush_remaining(&poster->fake->queue);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&poster->region->region.uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&poster->region->region.cached));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&poster->fake->hca->nr_mrs));
}

/* A key that permits remote writes is used for READs only. */
static void lkey_sink_is_not_used_to_send(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_READ, 0, 100);
	u32 sink;

	poster->fake->queue.quirks = KVERBS_QUIRK_READ_SINK;
	KUNIT_ASSERT_EQ(test, 0, try_post(poster, op));
	sink = poster->fake->hca->sends[1].sges[0].lkey;
	post(test, KVERBS_OP_SEND, 0, LENGTH);
	KUNIT_EXPECT_NE(test, sink,
			poster->fake->hca->sends[nr_sends(test) - 1].sges[0].lkey);
	KUNIT_EXPECT_EQ(test, IB_ACCESS_LOCAL_WRITE, poster->fake->chain->regs[0]->wr.access);
}

static void lkey_registration_that_was_refused_is_posted_next_time(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, LENGTH);

	fake_hca_refuse(poster->fake->hca, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_post(poster, op));
	fake_hca_refuse(poster->fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, try_post(poster, op));
	KUNIT_ASSERT_EQ(test, 4, nr_sends(test));
	KUNIT_EXPECT_EQ(test, LENGTH, expect_bytes(test, &poster->fake->hca->sends[3], 0));
	KUNIT_EXPECT_EQ(test, 3, poster->fake->hca->nr_allocs);
}

static void lkey_without_memory_leaves_nothing_half_done(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_SEND, 0, LENGTH);

	poster->fake->hca->errors[FAKE_ALLOC_MR] = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_post(poster, op));
	KUNIT_EXPECT_EQ(test, 0, nr_sends(test));
	poster->fake->hca->errors[FAKE_ALLOC_MR] = 0;
	KUNIT_EXPECT_EQ(test, 0, try_post(poster, op));
}

static struct fake_op *park(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = op_on(test, KVERBS_OP_RECV, 0, LENGTH);

	kverbs_region_use(op->req.region);
	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(poster->fake, op));
	return op;
}

static void lkey_receive_waits_until_its_chunks_are_valid(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_queue *queue = &poster->fake->queue;
	struct fake_op *op = park(test);

	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_wr_recv(queue, &poster->set, &op->req));
	KUNIT_ASSERT_EQ(test, 3, nr_sends(test));
	fake_wr_complete(&poster->fake->hca->sends[0], IB_WC_SUCCESS);
	fake_wr_complete(&poster->fake->hca->sends[1], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_wr_recv(queue, &poster->set, &op->req));
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_recvs);
	fake_wr_complete(&poster->fake->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 3, poster->fake->kicks);
	KUNIT_EXPECT_EQ(test, 0, kverbs_wr_recv(queue, &poster->set, &op->req));
	KUNIT_EXPECT_EQ(test, 3, nr_sends(test));
	KUNIT_ASSERT_EQ(test, 1, poster->fake->hca->nr_recvs);
	KUNIT_EXPECT_EQ(test, LENGTH, expect_bytes(test, &poster->fake->hca->recvs[0], 0));
}

static void lkey_receive_of_too_many_chunks_cannot_be_posted(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = park(test);

	poster->fake->queue.max_recv_sge = 2;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, kverbs_wr_recv(&poster->fake->queue, &poster->set,
							&op->req));
	KUNIT_EXPECT_EQ(test, 0, poster->fake->hca->nr_recvs);
}

static void lkey_receive_of_more_than_a_message_cannot_be_posted(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_op *op = park(test);

	poster->fake->queue.max_recv = LENGTH - 1;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, kverbs_wr_recv(&poster->fake->queue, &poster->set,
							&op->req));
	KUNIT_EXPECT_EQ(test, 0, nr_sends(test));
	poster->fake->queue.max_recv = LENGTH;
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_wr_recv(&poster->fake->queue, &poster->set,
						      &op->req));
}

static void lkey_forget_deregisters_the_chunks(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_region *region = &poster->region->region;

	post(test, KVERBS_OP_SEND, 0, LENGTH);
	complete_all_sends(poster);
	KUNIT_EXPECT_EQ(test, 1 + 3, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 1 + 3, atomic_long_read(&region->cached));
	KUNIT_EXPECT_EQ(test, 0, kverbs_lkey_cache_forget(&poster->set, region));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->cached));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&poster->fake->hca->nr_mrs));
}

/* Otherwise another region at the same address could be taken for it. */
static void lkey_region_is_known_by_its_set_even_without_registrations(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_region *region = &poster->region->region;

	poster->fake->hca->errors[FAKE_ALLOC_MR] = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			try_post(poster, op_on(test, KVERBS_OP_SEND, 0, LENGTH)));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->cached));
	KUNIT_EXPECT_EQ(test, 0, kverbs_lkey_cache_forget(&poster->set, region));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	KUNIT_EXPECT_TRUE(test, list_empty(&poster->set.entries));
}

static void lkey_forget_leaves_other_regions_alone(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct fake_region *other = fake_region_scattered(test, &poster->fake->hca->ib, 0,
							  PAGES);

	post(test, KVERBS_OP_SEND, 0, LENGTH);
	complete_all_sends(poster);
	KUNIT_EXPECT_EQ(test, 0, kverbs_lkey_cache_forget(&poster->set, &other->region));
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&poster->fake->hca->nr_mrs));
}

static void lkey_forget_leaves_posted_registrations_alone(struct kunit *test)
{
	struct poster *poster = test->priv;

	post(test, KVERBS_OP_SEND, 0, LENGTH);
	KUNIT_EXPECT_EQ(test, -EBUSY,
			kverbs_lkey_cache_forget(&poster->set, &poster->region->region));
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&poster->fake->hca->nr_mrs));
}

/* Chunk 0, chunk 1 and chunk 0 again, in six pages. */
static void lkey_list_that_names_a_region_twice_registers_a_chunk_once(struct kunit *test)
{
	struct poster *poster = test->priv;
	struct kverbs_region *region = &poster->region->region;
	struct kverbs_extent list[] = {
		{ region, 0, 2 * PAGE_SIZE - OFFSET },
		{ region, CHUNK - OFFSET, 2 * PAGE_SIZE },
		{ region, 2 * PAGE_SIZE - OFFSET, 2 * PAGE_SIZE },
	};
	struct fake_op *op = fake_op_create(test, KVERBS_OP_WRITE, 6 * PAGE_SIZE - OFFSET);
	struct fake_wr *sends = poster->fake->hca->sends;

	op->req.list = list;
	op->req.nr_list = ARRAY_SIZE(list);
	kverbs_req_use(&op->req);
	KUNIT_ASSERT_EQ(test, 0, kverbs_wr_post(&poster->fake->queue, &poster->set, &op->req,
						poster->fake->chain));
	KUNIT_ASSERT_EQ(test, 3, nr_sends(test));
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[0].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[1].opcode);
	KUNIT_EXPECT_PTR_NE(test, sends[0].mr, sends[1].mr);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, sends[2].opcode);
	KUNIT_ASSERT_EQ(test, 3, sends[2].num_sge);
	KUNIT_EXPECT_EQ(test, sends[2].sges[0].lkey, sends[2].sges[2].lkey);
	kverbs_queue_close(&poster->fake->queue);
	kverbs_queue_flush_remaining(&poster->fake->queue);
}

static struct kunit_case lkey_cases[] = {
	KUNIT_CASE(lkey_is_not_used_where_entries_suffice),
	KUNIT_CASE(lkey_chunks_are_registered_before_they_are_used),
	KUNIT_CASE(lkey_chunks_cover_the_range_only),
	KUNIT_CASE(lkey_chunks_are_registered_once),
	KUNIT_CASE_PARAM(lkey_chunks_have_no_more_rights_than_the_region,
			 rights_gen_params),
	KUNIT_CASE(lkey_write_is_divided_into_requests),
	KUNIT_CASE(lkey_read_is_limited_to_the_entries_of_a_read),
	KUNIT_CASE(lkey_requests_name_no_more_chunks_than_allowed),
	KUNIT_CASE(lkey_message_of_half_a_chunk_needs_one_entry),
	KUNIT_CASE(lkey_flags_are_set_on_the_right_requests),
	KUNIT_CASE(lkey_message_is_not_divided),
	KUNIT_CASE(lkey_operation_of_too_many_requests_is_refused),
	KUNIT_CASE(lkey_sink_of_an_iwarp_read_lets_the_peer_write),
	KUNIT_CASE(lkey_sink_is_used_again_with_another_key),
	KUNIT_CASE(lkey_sink_is_one_per_request),
	KUNIT_CASE(lkey_sink_of_a_refused_read_is_returned),
	KUNIT_CASE(lkey_sink_stays_after_a_failure),
	KUNIT_CASE(lkey_sink_is_not_used_to_send),
	KUNIT_CASE(lkey_registration_that_was_refused_is_posted_next_time),
	KUNIT_CASE(lkey_without_memory_leaves_nothing_half_done),
	KUNIT_CASE(lkey_receive_waits_until_its_chunks_are_valid),
	KUNIT_CASE(lkey_receive_of_too_many_chunks_cannot_be_posted),
	KUNIT_CASE(lkey_receive_of_more_than_a_message_cannot_be_posted),
	KUNIT_CASE(lkey_list_that_names_a_region_twice_registers_a_chunk_once),
	KUNIT_CASE(lkey_forget_deregisters_the_chunks),
	KUNIT_CASE(lkey_region_is_known_by_its_set_even_without_registrations),
	KUNIT_CASE(lkey_forget_leaves_other_regions_alone),
	KUNIT_CASE(lkey_forget_leaves_posted_registrations_alone),
	{}
};

static struct kunit_suite lkey_suite = {
	.name = "kverbs_lkeys",
	.init = lkey_init,
	.exit = lkey_exit,
	.test_cases = lkey_cases,
};

kunit_test_suite(lkey_suite);
