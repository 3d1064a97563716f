// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Draining a queue pair keeps its completions in order, on polled queues, too. */
#include "fake_conn.h"
#include "fake_qp.h"

/*
 * ib_drain_qp() itself polls after a fifth of this time, and no event signals it. On a machine that
 * is too slow the test covers less, but does not fail.
 */
#define LONG	(HZ / 2)

static struct fake_conn *polling(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_create(test, fake_device_create(test));

	kverbs_cq_set_exit(&fake->cqs);
	kverbs_cq_set_init(&fake->cqs, IB_POLL_DIRECT);
	fake_conn_go(fake, FAKE_UP);
	return fake;
}

static void drain_leaves_completions_to_the_task_that_polls(struct kunit *test)
{
	struct fake_conn *fake = polling(test);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);

	mutex_lock(&fake->cqs.lock);
	fake_wr_complete(&fake->hca->recvs[0], IB_WC_SUCCESS);
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, wait_for_completion_timeout(&recv->done, LONG));
	mutex_unlock(&fake->cqs.lock);
	KUNIT_EXPECT_TRUE(test, fake_await(&recv->done));
	KUNIT_EXPECT_EQ(test, 0, recv->req.result);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
}

static void drain_waits_for_all_work(struct kunit *test)
{
	struct fake_conn *fake = polling(test);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	struct fake_work *send = fake_conn_post(fake, KVERBS_OP_SEND, 0, 100);

	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, 0, send->req.result);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, recv->req.wc_status);
}

static int refuse(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	*bad = wr;
	return -EIO;
}

static struct kverbs_cq_set *drained_set;
static unsigned int nr_alone;

static void drain_alone(struct ib_qp *qp)
{
	nr_alone += mutex_is_locked(&drained_set->lock);
}

static void drain_falls_back_to_that_of_the_driver(struct kunit *test)
{
	struct fake_conn *fake = polling(test);

	drained_set = &fake->cqs;
	nr_alone = 0;
	fake->hca->ib.ops.post_recv = refuse;
	fake->hca->ib.ops.drain_rq = drain_alone;
	fake->hca->ib.ops.drain_sq = drain_alone;
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, 2, nr_alone);
}

/* Registrations of the lkey cache do not keep a region busy, nor does the end of one. */
static void region_is_not_busy_while_registrations_end(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_CLOSING);
	struct kverbs_region *region = fake->region;

	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->cached));
	fake_hca_let_dereg(fake->hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->cached));
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(drain_leaves_completions_to_the_task_that_polls),
	KUNIT_CASE(drain_waits_for_all_work),
	KUNIT_CASE(drain_falls_back_to_that_of_the_driver),
	KUNIT_CASE(region_is_not_busy_while_registrations_end),
	{}
};

static struct kunit_suite drain_suite = {
	.name = "kverbs_drain",
	.test_cases = drain_cases,
};

kunit_test_suite(drain_suite);
