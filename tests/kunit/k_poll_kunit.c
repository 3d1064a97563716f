// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of another module whose completions are polled by the module. */
#include "fake_k.h"
#include "fake_qp.h"

static const struct kverbs_k_req_size plain;

static struct fake_k *make_polled(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake->param.polled = true;
	fake_k_connect(fake);
	return fake;
}

/* On return the completions are in the queue. */
static void complete_sends(struct fake_k *fake)
{
	schedule_work(&fake->hca->work);
	flush_work(&fake->hca->work);
}

static void k_poll_completes_requests_in_the_task_that_polls(struct kunit *test)
{
	struct fake_k *fake = make_polled(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, plain);

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_poll(fake->conn));
	complete_sends(fake);
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conn_poll(fake->conn));
	KUNIT_EXPECT_EQ(test, 1, req->nr_done);
	KUNIT_EXPECT_EQ(test, 0, req->k->result);
	KUNIT_EXPECT_PTR_EQ(test, current, req->task);
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_poll(fake->conn));
}

static void k_poll_does_nothing_if_the_connection_has_interrupts(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);

	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_poll(fake->conn));
}

static void k_poll_of_a_connection_that_has_not_begun_or_has_ended(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake->param.polled = true;
	fake_k_make(fake);
	KUNIT_EXPECT_FALSE(test, kverbs_k_conn_is_up(fake->conn));
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_poll(fake->conn));
	kverbs_k_conn_close(fake->conn);
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_poll(fake->conn));
	KUNIT_EXPECT_FALSE(test, kverbs_k_conn_is_up(fake->conn));
}

/* The end of a connection needs no poll of the module. */
static void k_polled_conn_ends_by_itself(struct kunit *test)
{
	struct fake_k *fake = make_polled(test);
	struct fake_k_req *send = fake_k_req(fake, KVERBS_K_SEND, plain);
	struct fake_k_req *recv = fake_k_req(fake, KVERBS_K_RECV, plain);

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(send));
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(recv));
	KUNIT_EXPECT_TRUE(test, kverbs_k_conn_is_up(fake->conn));
	kverbs_k_conn_end(fake->conn);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->ended));
	KUNIT_EXPECT_FALSE(test, kverbs_k_conn_is_up(fake->conn));
	KUNIT_EXPECT_EQ(test, -EIO, send->k->result);
	KUNIT_EXPECT_EQ(test, 1, send->nr_done);
	KUNIT_EXPECT_EQ(test, 1, recv->nr_done);
}

static void k_polled_conn_ends_when_a_poll_finds_an_error(struct kunit *test)
{
	struct fake_k *fake = make_polled(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, plain);

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	fake_wr_complete(&fake->hca->sends[0], IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	kverbs_k_conn_poll(fake->conn);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -EIO, fake->error);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, req->k->wc_status);
}

/* The caller waits for the registration, and cannot poll meanwhile. */
static void k_polled_conn_exports_without_a_poll(struct kunit *test)
{
	struct fake_k *fake = make_polled(test);
	struct kverbs_k_segment segment;
	struct kverbs_export *export;
	unsigned int nr = 1;

	fake->hca->work_queued = true;
	export = kverbs_k_export_create(fake->conn, fake->region, 0, PAGE_SIZE,
					KVERBS_K_REMOTE_READ, &segment, &nr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_export_destroy(export));
}

static void k_polled_conn_may_be_accepted(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct fake_k_req *req;

	fake->param.polled = true;
	fake->answer = 1;
	fake_k_listen(fake);
	fake_iw_request(fake->hca, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->requested));
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->up));
	req = fake_k_req(fake, KVERBS_K_SEND, plain);
	req->k->length = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	complete_sends(fake);
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conn_poll(fake->conn));
	KUNIT_EXPECT_EQ(test, 1, req->nr_done);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(k_poll_completes_requests_in_the_task_that_polls),
	KUNIT_CASE(k_poll_does_nothing_if_the_connection_has_interrupts),
	KUNIT_CASE(k_poll_of_a_connection_that_has_not_begun_or_has_ended),
	KUNIT_CASE(k_polled_conn_ends_by_itself),
	KUNIT_CASE(k_polled_conn_ends_when_a_poll_finds_an_error),
	KUNIT_CASE(k_polled_conn_exports_without_a_poll),
	KUNIT_CASE(k_polled_conn_may_be_accepted),
	{}
};

static struct kunit_suite suite = {
	.name		= "kverbs_k_poll",
	.test_cases	= cases,
};

kunit_test_suite(suite);
