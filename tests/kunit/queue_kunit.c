// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sending through a queue: slots, refusals, completions. */
#include "fake_queue.h"
#include "fake_region.h"
#include "mr.h"

#define SLOTS	8

static void expect_over(struct kunit *test, const struct fake_op *op, int result,
			enum ib_wc_status status)
{
	KUNIT_EXPECT_EQ(test, 1, op->done);
	KUNIT_EXPECT_EQ(test, result, op->req.result);
	KUNIT_EXPECT_EQ(test, status, op->req.wc_status);
}

static void expect_untouched(struct kunit *test, struct fake_queue *fake,
			     const struct fake_op *op)
{
	KUNIT_EXPECT_EQ(test, 0, op->done);
	KUNIT_EXPECT_EQ(test, 0, fake->broken);
	KUNIT_EXPECT_EQ(test, fake->queue.sq_depth, fake->queue.sq_free);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->queue.posted));
}

static void queue_holds_slots_until_they_are_returned(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);

	fake_queue_send(test, fake, 3);
	KUNIT_EXPECT_EQ(test, SLOTS - 3, fake->queue.sq_free);
	fake_queue_send(test, fake, 1);
	KUNIT_EXPECT_EQ(test, SLOTS - 4, fake->queue.sq_free);
	fake_wr_complete(&fake->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.sq_free);
	fake_wr_complete(&fake->hca->sends[3], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
}

static void queue_without_a_free_slot_returns_eagain(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_queue_send(test, fake, SLOTS - 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_queue_post(fake, op, 2));
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, 0, fake->queue.sq_free);
}

static void queue_that_is_too_small_returns_emsgsize(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	KUNIT_EXPECT_EQ(test, -EMSGSIZE, fake_queue_post(fake, op, SLOTS + 1));
	expect_untouched(test, fake, op);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post(fake, op, SLOTS));
}

static void queue_sends_only_while_it_is_up(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_post(fake, op, 1));
	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_check_up(&fake->queue));
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_up(&fake->queue));
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_check_up(&fake->queue));
	kverbs_queue_close(&fake->queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_check_up(&fake->queue));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_sends);
	expect_untouched(test, fake, op);
}

static void queue_that_is_closed_stays_closed(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, SLOTS, 1);

	kverbs_queue_close(&fake->queue);
	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_up(&fake->queue));
	KUNIT_EXPECT_EQ(test, KVERBS_QUEUE_CLOSED, fake->queue.state);
}

static void queue_goes_up_only_with_a_queue_pair(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_create(test, SLOTS, 1);

	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_up(&fake->queue));
	KUNIT_EXPECT_EQ(test, KVERBS_QUEUE_NEW, fake->queue.state);
}

static void queue_signals_the_last_request_only(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);

	fake_queue_send(test, fake, 3);
	KUNIT_EXPECT_EQ(test, 0, fake->hca->sends[0].send_flags);
	KUNIT_EXPECT_EQ(test, 0, fake->hca->sends[1].send_flags);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, fake->hca->sends[2].send_flags);
}

static void queue_ends_an_operation_with_its_last_request(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 2);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_SUCCESS);
	expect_over(test, op, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->queue.posted));
	KUNIT_EXPECT_EQ(test, 0, fake->broken);
}

/* As at the end of a connection, when its queue pair is destroyed. */
static void end_connection(struct fake_queue *fake)
{
	kverbs_queue_close(&fake->queue);
	kverbs_queue_flush_remaining(&fake->queue);
}

static void queue_notifies_its_owner_of_a_failure(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 1);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, fake->status);
}

static void queue_ends_a_failed_operation_with_the_connection(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 1);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_REM_ACCESS_ERR);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
}

/* siw flushes a READ twice that is in flight when the connection closes. */
static void queue_ends_an_operation_that_is_flushed_twice_once(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 1);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_WR_FLUSH_ERR);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_WR_FLUSH_ERR);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.errors);
}

static void queue_remembers_a_failure_in_mid_chain(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 3);

	fake_wr_complete(&fake->hca->sends[1], IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	fake_wr_complete(&fake->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->req.byte_len);
}

static void queue_reports_the_first_failure(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 3);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_RETRY_EXC_ERR);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_WR_FLUSH_ERR);
	fake_wr_complete(&fake->hca->sends[2], IB_WC_WR_FLUSH_ERR);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, IB_WC_RETRY_EXC_ERR, fake->status);
}

static const enum fake_bad_wr vague[] = { FAKE_BAD_WR_UNSET, FAKE_BAD_WR_LATE };

static void vague_desc(const enum fake_bad_wr *bad_wr, char *desc)
{
	strscpy(desc, *bad_wr == FAKE_BAD_WR_LATE ? "all are posted" : "none is posted",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(vague, vague, vague_desc);

static void queue_refused_at_once_changes_nothing(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_hca_refuse(fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_queue_post(fake, op, 3));
	expect_untouched(test, fake, op);
}

/* Work requests that the HCA accepted cannot be cancelled: draining completes them. */
static void queue_refused_in_mid_chain_ends_with_the_connection(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_hca_refuse(fake->hca, 2, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post(fake, op, 3));
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_WR_FLUSH_ERR);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_GENERAL_ERR);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
}

/* Otherwise a later operation could succeed before an earlier failure is reported. */
static void queue_refused_in_mid_chain_accepts_nothing_more(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);
	struct fake_op *next = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_hca_refuse(fake->hca, 2, -ENOMEM);
	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, op, 3));
	fake_hca_refuse(fake->hca, SLOTS, 0);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_post(fake, next, 1));
	KUNIT_EXPECT_EQ(test, 2, fake->hca->nr_sends);
	end_connection(fake);
	KUNIT_EXPECT_EQ(test, 0, next->done);
}

/* As rdmavt and siw do: the first has posted nothing then, the second everything. */
static void queue_refused_in_an_unknown_place_ends_with_the_connection(struct kunit *test)
{
	const enum fake_bad_wr *bad_wr = test->param_value;
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);
	struct fake_op *next = fake_op_create(test, KVERBS_OP_SEND, 0);
	unsigned int i;

	fake->hca->bad_wr = *bad_wr;
	fake_hca_refuse(fake->hca, 0, -EINVAL);
	KUNIT_EXPECT_EQ(test, 0, fake_queue_post(fake, op, 3));
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	fake_hca_refuse(fake->hca, SLOTS, 0);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_queue_post(fake, next, 1));
	for (i = 0; i < fake->hca->nr_sends; i++)
		fake_wr_complete(&fake->hca->sends[i], IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 0, op->done);
	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_GENERAL_ERR);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
}

static void queue_sweep_flushes_outstanding_requests(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_queue_send(test, fake, 1);
	struct fake_op *other = fake_queue_send(test, fake, 2);

	end_connection(fake);
	expect_over(test, op, -EIO, IB_WC_WR_FLUSH_ERR);
	expect_over(test, other, -EIO, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->queue.posted));
}

static void queue_releases_the_region(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_region *region = fake_region_create(test, NULL, 0, PAGE_SIZE);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, PAGE_SIZE);

	op->req.region = &region->region;
	kverbs_region_use(&region->region);
	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->region.uses));
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->region.uses));
}

static const struct direction {
	const char *what;
	u8 opcode;
	u64 out;
	u64 in;
} directions[] = {
	{ "SEND", KVERBS_OP_SEND, 100, 0 },
	{ "WRITE", KVERBS_OP_WRITE, 100, 0 },
	{ "WRITE_IMM", KVERBS_OP_WRITE_IMM, 100, 0 },
	{ "READ", KVERBS_OP_READ, 0, 100 },
};

KUNIT_ARRAY_PARAM_DESC(directions, directions, what);

static void queue_counts_bytes_by_direction(struct kunit *test)
{
	const struct direction *expected = test->param_value;
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, expected->opcode, 100);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, 0, fake->queue.bytes_out + fake->queue.bytes_in);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 100, op->req.byte_len);
	KUNIT_EXPECT_EQ(test, expected->out, fake->queue.bytes_out);
	KUNIT_EXPECT_EQ(test, expected->in, fake->queue.bytes_in);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.ops_done);
}

static void queue_counts_no_bytes_of_failures(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_WRITE, 100);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, op, 1));
	fake_wr_complete(&fake->hca->sends[0], IB_WC_REM_ACCESS_ERR);
	end_connection(fake);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.errors);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.ops_done);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.bytes_out);
}

static void queue_counts_no_flushed_request_as_a_failure(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, 2 * SLOTS, 1);
	struct fake_op *failed = fake_op_create(test, KVERBS_OP_WRITE, 100);
	struct fake_op *flushed = fake_op_create(test, KVERBS_OP_WRITE, 100);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, failed, 1));
	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, flushed, 1));
	fake_wr_complete(&fake->hca->sends[0], IB_WC_REM_ACCESS_ERR);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_WR_FLUSH_ERR);
	end_connection(fake);
	KUNIT_EXPECT_EQ(test, 1, fake->queue.errors);
	KUNIT_EXPECT_EQ(test, 0, fake->queue.ops_done);
}

/* Registrations precede the operation, and each has its own slot. */
static struct kverbs_mr *add_reg(struct kunit *test, struct fake_queue *fake)
{
	struct kverbs_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->wr.wr.opcode = IB_WR_REG_MR;
	mr->state = KVERBS_MR_MAPPED;
	fake->chain->regs[fake->chain->nr_regs++] = mr;
	return mr;
}

static void queue_posts_registrations_first(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct kverbs_mr *first = add_reg(test, fake);
	struct kverbs_mr *second = add_reg(test, fake);

	fake_queue_send(test, fake, 1);
	KUNIT_ASSERT_EQ(test, 3, fake->hca->nr_sends);
	KUNIT_EXPECT_PTR_EQ(test, &first->cqe, fake->hca->sends[0].cqe);
	KUNIT_EXPECT_PTR_EQ(test, &second->cqe, fake->hca->sends[1].cqe);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, fake->hca->sends[0].send_flags);
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, fake->hca->sends[2].opcode);
	KUNIT_EXPECT_EQ(test, SLOTS - 3, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, first->state);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, second->state);
}

static void queue_registration_is_valid_when_it_completes(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct kverbs_mr *mr = add_reg(test, fake);
	struct fake_op *op = fake_queue_send(test, fake, 1);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_VALID, mr->state);
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.sq_free);
	fake_wr_complete(&fake->hca->sends[1], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, SLOTS, fake->queue.sq_free);
	expect_over(test, op, 0, IB_WC_SUCCESS);
}

static void queue_registration_that_fails_is_never_valid(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct kverbs_mr *mr = add_reg(test, fake);

	fake_queue_send(test, fake, 1);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, mr->state);
	KUNIT_EXPECT_EQ(test, 1, fake->broken);
	KUNIT_EXPECT_EQ(test, IB_WC_MW_BIND_ERR, fake->status);
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.sq_free);
}

/* If only registrations were accepted, the caller still owns the operation. */
static void queue_refused_after_a_registration_can_be_retried(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct kverbs_mr *first = add_reg(test, fake);
	struct kverbs_mr *second = add_reg(test, fake);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_hca_refuse(fake->hca, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_queue_post(fake, op, 1));
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, first->state);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_MAPPED, second->state);
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, fake->broken);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	expect_untouched(test, fake, op);
}

static void queue_refused_behind_all_registrations_returns_slots(struct kunit *test)
{
	struct fake_queue *fake = fake_queue_up(test, SLOTS, 1);
	struct kverbs_mr *mr = add_reg(test, fake);
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	fake_hca_refuse(fake->hca, 1, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_queue_post(fake, op, 2));
	KUNIT_EXPECT_EQ(test, KVERBS_MR_POSTED, mr->state);
	KUNIT_EXPECT_EQ(test, SLOTS - 1, fake->queue.sq_free);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	expect_untouched(test, fake, op);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(queue_holds_slots_until_they_are_returned),
	KUNIT_CASE(queue_without_a_free_slot_returns_eagain),
	KUNIT_CASE(queue_that_is_too_small_returns_emsgsize),
	KUNIT_CASE(queue_sends_only_while_it_is_up),
	KUNIT_CASE(queue_that_is_closed_stays_closed),
	KUNIT_CASE(queue_goes_up_only_with_a_queue_pair),
	KUNIT_CASE(queue_signals_the_last_request_only),
	KUNIT_CASE(queue_ends_an_operation_with_its_last_request),
	KUNIT_CASE(queue_notifies_its_owner_of_a_failure),
	KUNIT_CASE(queue_ends_a_failed_operation_with_the_connection),
	KUNIT_CASE(queue_ends_an_operation_that_is_flushed_twice_once),
	KUNIT_CASE(queue_remembers_a_failure_in_mid_chain),
	KUNIT_CASE(queue_reports_the_first_failure),
	KUNIT_CASE(queue_refused_at_once_changes_nothing),
	KUNIT_CASE(queue_refused_in_mid_chain_ends_with_the_connection),
	KUNIT_CASE(queue_refused_in_mid_chain_accepts_nothing_more),
	KUNIT_CASE_PARAM(queue_refused_in_an_unknown_place_ends_with_the_connection,
			 vague_gen_params),
	KUNIT_CASE(queue_sweep_flushes_outstanding_requests),
	KUNIT_CASE(queue_releases_the_region),
	KUNIT_CASE_PARAM(queue_counts_bytes_by_direction, directions_gen_params),
	KUNIT_CASE(queue_counts_no_bytes_of_failures),
	KUNIT_CASE(queue_counts_no_flushed_request_as_a_failure),
	KUNIT_CASE(queue_posts_registrations_first),
	KUNIT_CASE(queue_registration_is_valid_when_it_completes),
	KUNIT_CASE(queue_registration_that_fails_is_never_valid),
	KUNIT_CASE(queue_refused_after_a_registration_can_be_retried),
	KUNIT_CASE(queue_refused_behind_all_registrations_returns_slots),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "kverbs_queue",
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
