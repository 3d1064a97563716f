// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations posted together: in one chain, of which the device may accept a part. */
#include "fake_queue.h"
#include "fake_region.h"
#include "quirks.h"
#include "wr.h"

#define SLOTS	64
#define OPS	6
#define PAGES	10

/**
 * struct poster - posts lists of operations
 * @fake: the queue: 4 scatter/gather entries per work request
 * @pool: pool of MRs
 * @set: the lkey cache
 * @region: scattered pages, too many for the entries of a work request
 * @ops: operations of the list
 * @error: why not all were posted
 */
struct poster {
	struct fake_queue *fake;
	struct kverbs_mr_pool pool;
	struct kverbs_lkey_cache set;
	struct fake_region *region;
	struct fake_op *ops[OPS];
	int error;
};

static int list_init(struct kunit *test)
{
	struct poster *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->fake = fake_queue_up(test, SLOTS, 1);
	kverbs_mr_pool_init(&p->pool);
	p->pool.pd = &p->fake->hca->pd;
	p->pool.pages = FAKE_MR_PAGES;
	kverbs_lkey_cache_init(&p->set, &p->pool);
	p->set.stride = FAKE_MR_PAGES * PAGE_SIZE;
	p->region = fake_region_scattered(test, &p->fake->hca->ib, 0, PAGES);
	for (i = 0; i < OPS; i++)
		p->ops[i] = fake_op_create(test, KVERBS_OP_WRITE, 0);
	test->priv = p;
	return 0;
}

static void end_connection(struct poster *p)
{
	kverbs_queue_close(&p->fake->queue);
	kverbs_queue_flush_remaining(&p->fake->queue);
}

static void list_exit(struct kunit *test)
{
	struct poster *p = test->priv;

	if (!p)
		return;
	end_connection(p);
	kverbs_lkey_cache_destroy(&p->set);
	kverbs_mr_pool_destroy(&p->pool);
	KUNIT_EXPECT_EQ(test, SLOTS, p->fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&p->region->region.uses));
}

static void all_silent(struct poster *p)
{
	int i;

	for (i = 0; i < OPS; i++)
		p->ops[i]->req.unsignalled = true;
}

/* Set a buffer of @pages pages; more than 4 need a registration. */
static void give_buffer(struct poster *p, int i, unsigned int pages)
{
	p->ops[i]->req.region = &p->region->region;
	p->ops[i]->req.length = pages * PAGE_SIZE;
	kverbs_req_use(&p->ops[i]->req);
}

static unsigned int post_some(struct poster *p, int from, unsigned int nr)
{
	struct kverbs_req *reqs[OPS];
	unsigned int i;

	for (i = 0; i < nr; i++)
		reqs[i] = &p->ops[from + i]->req;
	return kverbs_wr_post_list(&p->fake->queue, &p->set, reqs, nr, p->fake->chain,
				   &p->error);
}

static unsigned int post_all(struct poster *p)
{
	return post_some(p, 0, OPS);
}

static void expect_signals(struct kunit *test, const char *expected)
{
	struct poster *p = test->priv;
	struct fake_hca *hca = p->fake->hca;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, strlen(expected), hca->nr_sends);
	for (i = 0; i < hca->nr_sends; i++)
		KUNIT_EXPECT_EQ(test, expected[i] == 'x' ? IB_SEND_SIGNALED : 0,
				hca->sends[i].send_flags);
}

/* Check that exactly the first @nr operations have succeeded. */
static void expect_done(struct kunit *test, unsigned int nr)
{
	struct poster *p = test->priv;
	unsigned int i;

	for (i = 0; i < OPS; i++) {
		KUNIT_EXPECT_EQ(test, i < nr, p->ops[i]->done);
		KUNIT_EXPECT_EQ(test, 0, p->ops[i]->req.result);
	}
}

static void list_is_posted_at_once_and_in_order(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, OPS, post_all(p));
	KUNIT_EXPECT_EQ(test, 0, p->error);
	KUNIT_EXPECT_EQ(test, 1, p->fake->hca->nr_doorbells);
	KUNIT_EXPECT_EQ(test, SLOTS - OPS, p->fake->queue.sq_free);
	for (i = 0; i < OPS; i++)
		KUNIT_EXPECT_PTR_EQ(test, &p->ops[i]->req.last, p->fake->hca->sends[i].cqe);
}

/* A large operation is signalled, so that its completion does not wait for a later one. */
static void make_large(struct poster *p, int i)
{
	give_buffer(p, i, 4);
}

static void list_of_large_operations_completes_one_by_one(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	for (i = 0; i < OPS; i++)
		make_large(p, i);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, "xxxxxx");
	for (i = 0; i < OPS; i++) {
		expect_done(test, i);
		fake_wr_complete(&p->fake->hca->sends[i], IB_WC_SUCCESS);
	}
	expect_done(test, OPS);
}

static void list_of_small_operations_completes_with_its_last(struct kunit *test)
{
	struct poster *p = test->priv;

	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, ".....x");
	expect_done(test, 0);
	fake_wr_complete(&p->fake->hca->sends[OPS - 1], IB_WC_SUCCESS);
	expect_done(test, OPS);
}

static void list_of_small_operations_is_signalled_before_it_is_long(struct kunit *test)
{
	struct poster *p = test->priv;
	struct kverbs_req *reqs[36];
	int i;

	for (i = 0; i < 36; i++)
		reqs[i] = &fake_op_create(test, KVERBS_OP_WRITE, 0)->req;
	KUNIT_ASSERT_EQ(test, 36, kverbs_wr_post_list(&p->fake->queue, &p->set, reqs, 36,
						      p->fake->chain, &p->error));
	expect_signals(test, "...............................x...x");
}

static void list_is_signalled_before_its_bytes_are_many(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	for (i = 0; i < OPS; i++) {
		give_buffer(p, i, 2);
		p->ops[i]->req.length = SZ_8K;
	}
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, ".x.x.x");
}

static void list_of_unsignalled_operations_completes_with_its_last(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, ".....x");
	fake_wr_complete(&p->fake->hca->sends[OPS - 1], IB_WC_SUCCESS);
	expect_done(test, OPS);
	KUNIT_EXPECT_EQ(test, SLOTS, p->fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, OPS, p->fake->queue.ops_done);
}

static void unsignalled_operations_complete_with_the_next_signalled_one(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	p->ops[2]->req.unsignalled = false;
	make_large(p, 2);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, "..x..x");
	fake_wr_complete(&p->fake->hca->sends[2], IB_WC_SUCCESS);
	expect_done(test, 3);
	KUNIT_EXPECT_EQ(test, SLOTS - 3, p->fake->queue.sq_free);
}

static void list_counts_the_bytes_of_unsignalled_operations(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	give_buffer(p, 0, 1);
	give_buffer(p, 1, 2);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	KUNIT_EXPECT_EQ(test, 2, atomic_long_read(&p->region->region.uses));
	fake_wr_complete(&p->fake->hca->sends[OPS - 1], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 3 * PAGE_SIZE, p->fake->queue.bytes_out);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&p->region->region.uses));
}

/* Otherwise they would look like one operation that takes too long. */
static void unsignalled_operations_complete_after_so_many_bytes(struct kunit *test)
{
	struct poster *p = test->priv;
	struct fake_region *huge = fake_region_create(test, &p->fake->hca->ib, 0, SZ_8M);
	int i;

	fake_region_add_span(test, huge, fake_region_page(0), SZ_8M);
	all_silent(p);
	for (i = 0; i < OPS; i++) {
		p->ops[i]->req.region = &huge->region;
		p->ops[i]->req.length = i == 1 ? SZ_8M - 1 : SZ_8M;
		kverbs_req_use(&p->ops[i]->req);
	}
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	expect_signals(test, "..x.xx");
	fake_wr_complete(&p->fake->hca->sends[2], IB_WC_SUCCESS);
	expect_done(test, 3);
	KUNIT_EXPECT_EQ(test, 3, p->fake->queue.ops_done);
	fake_wr_complete(&p->fake->hca->sends[4], IB_WC_SUCCESS);
	fake_wr_complete(&p->fake->hca->sends[5], IB_WC_SUCCESS);
	expect_done(test, OPS);
}

/* siw reports a WRITE before the READ in front of it. */
static void list_on_iwarp_is_all_signalled(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	p->fake->queue.quirks = KVERBS_QUIRK_NO_COALESCING;
	KUNIT_ASSERT_EQ(test, 3, post_some(p, 0, 3));
	expect_signals(test, "xxx");
	fake_wr_complete(&p->fake->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, p->ops[0]->done);
	KUNIT_EXPECT_EQ(test, 0, p->ops[1]->done);
	KUNIT_EXPECT_EQ(test, 1, p->ops[2]->done);
}

static void list_of_which_half_is_refused_is_half_posted(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	for (i = 0; i < 3; i++)
		make_large(p, i);
	fake_hca_refuse(p->fake->hca, 3, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 3, post_all(p));
	KUNIT_EXPECT_EQ(test, -ENOMEM, p->error);
	KUNIT_EXPECT_EQ(test, 0, p->fake->broken);
	KUNIT_EXPECT_EQ(test, SLOTS - 3, p->fake->queue.sq_free);
	for (i = 0; i < 3; i++)
		fake_wr_complete(&p->fake->hca->sends[i], IB_WC_SUCCESS);
	expect_done(test, 3);
	fake_hca_refuse(p->fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 3, post_some(p, 3, 3));
	KUNIT_EXPECT_EQ(test, 6, p->fake->hca->nr_sends);
}

/* The operation that would report the coalesced ones may never be posted. */
static void list_refused_behind_coalesced_operations_ends_the_connection(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	fake_hca_refuse(p->fake->hca, 3, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 3, post_all(p));
	KUNIT_EXPECT_EQ(test, -ENOMEM, p->error);
	KUNIT_EXPECT_EQ(test, 1, p->fake->broken);
	KUNIT_EXPECT_EQ(test, 0, post_some(p, 3, 1));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, p->error);
	expect_done(test, 0);
	end_connection(p);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, -EIO, p->ops[i]->req.result);
}

static void list_refused_as_a_whole_is_as_if_never_posted(struct kunit *test)
{
	struct poster *p = test->priv;

	fake_hca_refuse(p->fake->hca, 0, -EINVAL);
	KUNIT_EXPECT_EQ(test, 0, post_all(p));
	KUNIT_EXPECT_EQ(test, -EINVAL, p->error);
	KUNIT_EXPECT_EQ(test, SLOTS, p->fake->queue.sq_free);
	KUNIT_EXPECT_TRUE(test, list_empty(&p->fake->queue.posted));
	end_connection(p);
	expect_done(test, 0);
}

/* Any of them may be with the device, so all of them are completed by the end. */
static void list_refused_in_an_unknown_place_ends_the_connection(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	p->fake->hca->bad_wr = FAKE_BAD_WR_UNSET;
	fake_hca_refuse(p->fake->hca, 0, -EINVAL);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	KUNIT_EXPECT_EQ(test, 0, p->error);
	KUNIT_EXPECT_EQ(test, 1, p->fake->broken);
	end_connection(p);
	for (i = 0; i < OPS; i++) {
		KUNIT_EXPECT_EQ(test, 1, p->ops[i]->done);
		KUNIT_EXPECT_EQ(test, -EIO, p->ops[i]->req.result);
	}
}

/* cxgb4 makes one request of a WRITE and a SEND, which has no flags of the SEND. */
static void list_begins_anew_with_the_flags_of_a_send_that_would_be_fused(struct kunit *test)
{
	struct poster *p = test->priv;

	p->fake->queue.quirks = KVERBS_QUIRK_FUSES_SENDS;
	p->ops[1]->req.opcode = KVERBS_OP_SEND;
	KUNIT_EXPECT_EQ(test, 2, post_some(p, 0, 2));
	KUNIT_EXPECT_EQ(test, 1, p->fake->hca->nr_doorbells);
	p->ops[3]->req.opcode = KVERBS_OP_SEND;
	p->ops[3]->req.fence = true;
	KUNIT_EXPECT_EQ(test, 2, post_some(p, 2, 2));
	KUNIT_EXPECT_EQ(test, 3, p->fake->hca->nr_doorbells);
	p->ops[5]->req.opcode = KVERBS_OP_SEND;
	p->ops[5]->req.solicited = true;
	KUNIT_EXPECT_EQ(test, 2, post_some(p, 4, 2));
	KUNIT_EXPECT_EQ(test, 5, p->fake->hca->nr_doorbells);
}

/* A slot is left for it, since the list had reserved one for each operation. */
static void list_refused_behind_unsignalled_operations_leaves_them_to_the_next(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	fake_hca_refuse(p->fake->hca, 3, -ENOMEM);
	KUNIT_ASSERT_EQ(test, 3, post_all(p));
	expect_signals(test, "...");
	fake_hca_refuse(p->fake->hca, UINT_MAX, 0);
	KUNIT_ASSERT_EQ(test, 1, post_some(p, 3, 1));
	expect_signals(test, "...x");
	fake_wr_complete(&p->fake->hca->sends[3], IB_WC_SUCCESS);
	expect_done(test, 4);
}

static void list_longer_than_the_queue_is_posted_as_far_as_there_is_room(struct kunit *test)
{
	struct poster *p = test->priv;

	all_silent(p);
	p->fake->queue.sq_free = 4;
	KUNIT_EXPECT_EQ(test, 4, post_all(p));
	KUNIT_EXPECT_EQ(test, -EAGAIN, p->error);
	expect_signals(test, "...x");
	KUNIT_EXPECT_EQ(test, 0, p->fake->queue.sq_free);
	fake_wr_complete(&p->fake->hca->sends[3], IB_WC_SUCCESS);
	expect_done(test, 4);
	KUNIT_EXPECT_EQ(test, 2, post_some(p, 4, 2));
	p->fake->queue.sq_free += SLOTS - 4;
}

/* Other posters may have taken slots since the chain was built. */
static void list_built_for_more_slots_than_there_are_is_cut(struct kunit *test)
{
	struct poster *p = test->priv;
	struct kverbs_req *reqs[OPS];
	int i;

	for (i = 0; i < OPS; i++)
		reqs[i] = &p->ops[i]->req;
	memset(p->fake->chain->wrs, 0, OPS * sizeof(*p->fake->chain->wrs));
	p->fake->queue.sq_free = 4;
	KUNIT_EXPECT_EQ(test, 4, kverbs_queue_post_list(&p->fake->queue, reqs, OPS,
							p->fake->chain, &p->error));
	KUNIT_EXPECT_EQ(test, -EAGAIN, p->error);
	KUNIT_EXPECT_EQ(test, 4, p->fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, p->fake->hca->sends[3].send_flags);
	KUNIT_EXPECT_EQ(test, 0, p->fake->queue.sq_free);
	p->fake->queue.sq_free += SLOTS - 4;
}

static void list_is_posted_only_while_the_queue_is_up(struct kunit *test)
{
	struct poster *p = test->priv;

	kverbs_queue_close(&p->fake->queue);
	KUNIT_EXPECT_EQ(test, 0, post_all(p));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, p->error);
	KUNIT_EXPECT_EQ(test, 0, p->fake->hca->nr_sends);
}

static void expect_over(struct kunit *test, int i, int result, enum ib_wc_status status)
{
	struct poster *p = test->priv;

	KUNIT_EXPECT_EQ(test, 1, p->ops[i]->done);
	KUNIT_EXPECT_EQ(test, result, p->ops[i]->req.result);
	KUNIT_EXPECT_EQ(test, status, p->ops[i]->req.wc_status);
}

/* A queue pair works in order, so earlier operations have succeeded. */
static void list_that_fails_in_the_middle_fails_from_there_on(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	all_silent(p);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	fake_wr_complete(&p->fake->hca->sends[2], IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, 1, p->fake->broken);
	expect_over(test, 0, 0, IB_WC_SUCCESS);
	expect_over(test, 1, 0, IB_WC_SUCCESS);
	for (i = 3; i < OPS; i++)
		fake_wr_complete(&p->fake->hca->sends[i], IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 0, p->ops[2]->done);
	end_connection(p);
	expect_over(test, 2, -EIO, IB_WC_REM_ACCESS_ERR);
	for (i = 3; i < OPS; i++)
		expect_over(test, i, -EIO, IB_WC_WR_FLUSH_ERR);
}

/* Some devices do not flush everything: an operation without proof of success has failed. */
static void list_that_is_flushed_has_failed(struct kunit *test)
{
	struct poster *p = test->priv;
	int i;

	all_silent(p);
	KUNIT_ASSERT_EQ(test, OPS, post_all(p));
	fake_wr_complete(&p->fake->hca->sends[2], IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 0, p->ops[0]->done);
	end_connection(p);
	for (i = 0; i < OPS; i++)
		expect_over(test, i, -EIO, IB_WC_WR_FLUSH_ERR);
}

/* An operation that needs a registration is posted alone, in order with the others. */
static void list_keeps_its_order_around_registrations(struct kunit *test)
{
	struct poster *p = test->priv;
	struct fake_wr *sends = p->fake->hca->sends;

	give_buffer(p, 0, 1);
	give_buffer(p, 1, 1);
	give_buffer(p, 2, FAKE_MR_PAGES + 1);
	give_buffer(p, 3, 1);
	KUNIT_ASSERT_EQ(test, 4, post_some(p, 0, 4));
	KUNIT_EXPECT_EQ(test, 3, p->fake->hca->nr_doorbells);
	KUNIT_ASSERT_EQ(test, 6, p->fake->hca->nr_sends);
	KUNIT_EXPECT_PTR_EQ(test, &p->ops[0]->req.last, sends[0].cqe);
	KUNIT_EXPECT_PTR_EQ(test, &p->ops[1]->req.last, sends[1].cqe);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[2].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[3].opcode);
	KUNIT_EXPECT_PTR_EQ(test, &p->ops[2]->req.last, sends[4].cqe);
	KUNIT_EXPECT_PTR_EQ(test, &p->ops[3]->req.last, sends[5].cqe);
	KUNIT_EXPECT_EQ(test, SLOTS - 6, p->fake->queue.sq_free);
	fake_wr_complete(&sends[2], IB_WC_SUCCESS);
	fake_wr_complete(&sends[3], IB_WC_SUCCESS);
}

static void list_ends_at_an_operation_that_never_fits(struct kunit *test)
{
	struct poster *p = test->priv;

	p->ops[2]->req.length = p->fake->queue.max_msg + 1;
	KUNIT_EXPECT_EQ(test, 2, post_all(p));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, p->error);
	KUNIT_EXPECT_EQ(test, 2, p->fake->hca->nr_sends);
}

static struct kunit_case list_cases[] = {
	KUNIT_CASE(list_is_posted_at_once_and_in_order),
	KUNIT_CASE(list_of_large_operations_completes_one_by_one),
	KUNIT_CASE(list_of_small_operations_completes_with_its_last),
	KUNIT_CASE(list_of_small_operations_is_signalled_before_it_is_long),
	KUNIT_CASE(list_is_signalled_before_its_bytes_are_many),
	KUNIT_CASE(list_of_unsignalled_operations_completes_with_its_last),
	KUNIT_CASE(unsignalled_operations_complete_with_the_next_signalled_one),
	KUNIT_CASE(list_counts_the_bytes_of_unsignalled_operations),
	KUNIT_CASE(unsignalled_operations_complete_after_so_many_bytes),
	KUNIT_CASE(list_on_iwarp_is_all_signalled),
	KUNIT_CASE(list_of_which_half_is_refused_is_half_posted),
	KUNIT_CASE(list_refused_behind_coalesced_operations_ends_the_connection),
	KUNIT_CASE(list_refused_as_a_whole_is_as_if_never_posted),
	KUNIT_CASE(list_refused_in_an_unknown_place_ends_the_connection),
	KUNIT_CASE(list_begins_anew_with_the_flags_of_a_send_that_would_be_fused),
	KUNIT_CASE(list_refused_behind_unsignalled_operations_leaves_them_to_the_next),
	KUNIT_CASE(list_longer_than_the_queue_is_posted_as_far_as_there_is_room),
	KUNIT_CASE(list_built_for_more_slots_than_there_are_is_cut),
	KUNIT_CASE(list_is_posted_only_while_the_queue_is_up),
	KUNIT_CASE(list_that_fails_in_the_middle_fails_from_there_on),
	KUNIT_CASE(list_that_is_flushed_has_failed),
	KUNIT_CASE(list_keeps_its_order_around_registrations),
	KUNIT_CASE(list_ends_at_an_operation_that_never_fits),
	{}
};

static struct kunit_suite list_suite = {
	.name = "kverbs_list",
	.init = list_init,
	.exit = list_exit,
	.test_cases = list_cases,
};

kunit_test_suite(list_suite);
