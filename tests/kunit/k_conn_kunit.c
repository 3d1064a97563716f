// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections and listeners as another module has them. */
#include <net/net_namespace.h>

#include "fake_k.h"
#include "fake_qp.h"

static void k_conn_reports_when_it_is_up_and_when_it_has_ended(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);

	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	kverbs_k_conn_close(fake->conn);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_ended);
	KUNIT_EXPECT_EQ(test, 0, fake->error);
}

static void k_conn_that_was_never_started_can_be_freed(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake_k_make(fake);
	kverbs_k_conn_close(fake->conn);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_ended);
}

static void k_conn_has_the_private_data_of_the_peer(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct kverbs_k_conn_info *info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, info);
	fake_k_make(fake);
	fake_k_ask(fake);
	kverbs_k_conn_query(fake->conn, info);
	KUNIT_EXPECT_EQ(test, 0, info->max_sge);
	fake_iw_answer(fake->hca, 0, "hello", 5);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->up));
	kverbs_k_conn_query(fake->conn, info);
	KUNIT_EXPECT_EQ(test, 5, info->priv_len);
	KUNIT_EXPECT_EQ(test, 0, memcmp(info->priv, "hello", 5));
	KUNIT_EXPECT_EQ(test, fake->hca->limits.max_send_sge, info->max_sge);
	KUNIT_EXPECT_EQ(test, FAKE_MR_ROOM, info->mr_pages);
	KUNIT_EXPECT_TRUE(test, info->is_iwarp);
	KUNIT_EXPECT_EQ(test, ibdev_to_node(&fake->hca->ib), info->node);
}

static void k_conn_tells_that_it_was_rejected(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake_k_make(fake);
	fake_k_ask(fake);
	fake_iw_answer(fake->hca, -ECONNREFUSED, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, fake->error);
}

static void k_conn_ends_when_the_peer_leaves(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct ib_qp *qp = xa_load(&fake->hca->qps, fake->hca->last_qpn);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	fake_iw_close(qp);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, fake->error);
}

static void k_conn_ends_when_its_device_is_removed(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *exposing = fake_k_req(fake, KVERBS_K_SEND,
						 (struct kverbs_k_req_size) { .expose_pages = 1 });
	struct kverbs_k_segment segment;

	KUNIT_ASSERT_EQ(test, 0, kverbs_k_expose(exposing->k, fake->region, 0, PAGE_SIZE,
						 KVERBS_K_REMOTE_READ, &segment));
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(exposing));
	fake_device_remove(fake->hca);
	/* The last thing that a connection does, after it has left the device. */
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ENODEV, fake->error);
	KUNIT_EXPECT_EQ(test, 1, exposing->nr_done);
	KUNIT_EXPECT_EQ(test, -EIO, exposing->k->result);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(fake->hca));
}

/**
 * struct excess - parameters that are refused
 * @what: the parameter, for the test's name
 * @param: all of them
 */
struct excess {
	const char *what;
	struct kverbs_k_conn_param param;
};

static const struct excess excesses[] = {
	{ "send slots", { .sq_depth = 32769 } },
	{ "receive slots", { .rq_depth = 32769 } },
	{ "entries", { .max_sge = 33 } },
	{ "time to become established", { .timeout_ms = (u32)INT_MAX + 1 } },
	{ "interval of probes", { .keepalive_ns = U64_MAX } },
	{ "private data", { .priv = "", .priv_len = 57 } },
	{ "softirq context and polls", { .softirq = true, .polled = true } },
};

KUNIT_ARRAY_PARAM_DESC(excesses, excesses, what);

static void k_conn_has_limits(struct kunit *test)
{
	static const struct kverbs_k_conn_ops ops;
	const struct excess *excess = test->param_value;
	struct sockaddr_storage addr = { .ss_family = AF_INET };
	struct kverbs_k_conn *conn;

	conn = kverbs_k_conn_create(&init_net, &ops, NULL, &excess->param, NULL,
				    (struct sockaddr *)&addr);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL), (void *)conn);
}

/* ---- listeners ----------------------------------------------------------- */

static void be_asked(struct fake_k *fake, int answer)
{
	fake->answer = answer;
	fake_k_listen(fake);
	fake_iw_request(fake->hca, "hello", 5);
	KUNIT_ASSERT_TRUE(fake->test, fake_k_await(&fake->requested));
	KUNIT_EXPECT_EQ(fake->test, 0, fake->answered);
}

static void k_listener_has_a_limit_of_requests_that_wait(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_try_listen(fake, 4097));
	KUNIT_EXPECT_EQ(test, 0, fake_k_try_listen(fake, 4096));
}

static void k_listener_that_cannot_listen_leaves_nothing(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake->hca->errors[FAKE_LISTEN] = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, -EADDRINUSE, fake_k_try_listen(fake, 0));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(fake->hca));
	fake->hca->errors[FAKE_LISTEN] = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_k_try_listen(fake, 0));
}

static void k_listener_tells_that_its_device_is_removed(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake_k_listen(fake);
	KUNIT_EXPECT_FALSE(test, completion_done(&fake->removed));
	fake_device_remove(fake->hca);
	KUNIT_EXPECT_TRUE(test, fake_k_await(&fake->removed));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(fake->hca));
}

static void k_listener_lets_accept_in_its_callback(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	be_asked(fake, 1);
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(test, fake_k_await(&fake->up));
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_rejects);
}

static void k_listener_lets_reject_in_its_callback(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	be_asked(fake, -1);
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_rejects);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
}

static void k_listener_may_go_before_a_request_is_answered(struct kunit *test)
{
	static const struct kverbs_k_conn_ops ops;
	struct fake_k *fake = fake_k_create(test);
	struct kverbs_k_conn_info *info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, info);
	be_asked(fake, 0);
	kverbs_k_listener_free(fake->listener);
	fake->listener = NULL;
	kverbs_k_conn_query(fake->conn, info);
	KUNIT_EXPECT_EQ(test, 5, info->priv_len);
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_conn_reject(fake->conn, NULL, 0));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_k_conn_accept(fake->conn, &ops, fake,
							      &fake->param));
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_rejects);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(k_conn_reports_when_it_is_up_and_when_it_has_ended),
	KUNIT_CASE(k_conn_that_was_never_started_can_be_freed),
	KUNIT_CASE(k_conn_has_the_private_data_of_the_peer),
	KUNIT_CASE(k_conn_tells_that_it_was_rejected),
	KUNIT_CASE(k_conn_ends_when_the_peer_leaves),
	KUNIT_CASE(k_conn_ends_when_its_device_is_removed),
	KUNIT_CASE_PARAM(k_conn_has_limits, excesses_gen_params),
	KUNIT_CASE(k_listener_has_a_limit_of_requests_that_wait),
	KUNIT_CASE(k_listener_that_cannot_listen_leaves_nothing),
	KUNIT_CASE(k_listener_tells_that_its_device_is_removed),
	KUNIT_CASE(k_listener_lets_accept_in_its_callback),
	KUNIT_CASE(k_listener_lets_reject_in_its_callback),
	KUNIT_CASE(k_listener_may_go_before_a_request_is_answered),
	{}
};

static struct kunit_suite suite = {
	.name		= "kverbs_k_conn",
	.test_cases	= cases,
};

kunit_test_suite(suite);
