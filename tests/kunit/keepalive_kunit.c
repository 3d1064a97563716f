// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When keepalive or a timeout ends a connection, and when not. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "conn_cmd.h"
#include "fake_conn.h"
#include "fake_file.h"
#include "fake_qp.h"

/* A connection whose completions prove that the peer is alive, as on RoCE. */
static struct fake_conn *fake_up(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);

	fake->conn->keepalive.opcode = IB_WR_RDMA_WRITE;
	fake->conn->keepalive.always = false;
	return fake;
}

/* Run the work as the workqueue does, without waiting for its timer. */
static void run(struct delayed_work *work)
{
	work->work.func(&work->work);
}

static void look(struct fake_conn *fake)
{
	run(&fake->conn->keepalive.work);
}

static bool is_up(struct fake_conn *fake)
{
	return READ_ONCE(fake->conn->state) == KVERBS_CONN_ESTABLISHED;
}

static void keepalive_ends_a_connection_without_an_answer(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);

	look(fake);
	KUNIT_ASSERT_EQ(test, 1, fake->hca->nr_sends);
	KUNIT_EXPECT_TRUE(test, is_up(fake));
	look(fake);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake->conn->end.error);
}

static void keepalive_accepts_a_completed_probe_as_an_answer(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);

	look(fake);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	fake_cq_flush(fake->conn->cq->ib);
	look(fake);
	KUNIT_EXPECT_TRUE(test, is_up(fake));
	KUNIT_EXPECT_EQ(test, 2, fake->hca->nr_sends);
}

/* The probe queues behind work that was posted before it. */
static void keepalive_waits_while_other_work_completes(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);
	struct fake_work *work = fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1);

	look(fake);
	KUNIT_ASSERT_EQ(test, 2, fake->hca->nr_sends);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, fake_await(&work->done));
	look(fake);
	KUNIT_EXPECT_TRUE(test, is_up(fake));
	KUNIT_EXPECT_EQ(test, 2, fake->hca->nr_sends);
	look(fake);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake->conn->end.error);
}

static void complete_work(struct fake_conn *fake, unsigned int nth, struct fake_work *work)
{
	fake_wr_complete(&fake->hca->sends[nth], IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&work->done));
}

/* On iWARP only the probe shows that the peer is alive, and its time begins when its turn comes. */
static void keepalive_on_iwarp_waits_for_the_work_before_the_probe(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);
	struct fake_work *works[3];

	fake->conn->keepalive.always = true;
	works[0] = fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1);
	works[1] = fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1);
	look(fake);
	KUNIT_ASSERT_EQ(test, 3, fake->hca->nr_sends);
	complete_work(fake, 0, works[0]);
	look(fake);
	KUNIT_ASSERT_TRUE(test, is_up(fake));
	complete_work(fake, 1, works[1]);
	look(fake);
	KUNIT_ASSERT_TRUE(test, is_up(fake));
	works[2] = fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1);
	complete_work(fake, 3, works[2]);
	look(fake);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake->conn->end.error);
}

static void keepalive_on_iwarp_ends_work_that_does_not_advance(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);

	fake->conn->keepalive.always = true;
	fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1);
	look(fake);
	KUNIT_EXPECT_TRUE(test, is_up(fake));
	look(fake);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake->conn->end.error);
}

static void keepalive_on_iwarp_probes_though_work_completes(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);
	unsigned int i;

	fake->conn->keepalive.always = true;
	for (i = 0; i < 3; i++) {
		complete_work(fake, 2 * i, fake_conn_post(fake, KVERBS_OP_WRITE, 0, 1));
		look(fake);
		KUNIT_ASSERT_EQ(test, 2 * i + 2, fake->hca->nr_sends);
		fake_wr_complete(&fake->hca->sends[2 * i + 1], IB_WC_SUCCESS);
		fake_cq_flush(fake->conn->cq->ib);
	}
	KUNIT_EXPECT_TRUE(test, is_up(fake));
}

static void late_deadline_spares_an_established_connection(struct kunit *test)
{
	struct fake_conn *fake = fake_up(test);

	run(&fake->conn->deadline);
	KUNIT_EXPECT_TRUE(test, is_up(fake));
}

static void deadline_ends_a_connection_that_is_not_established(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_ADDRESSED);

	run(&fake->conn->deadline);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_FAILED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake->conn->end.error);
}

/**
 * struct wish - an interval that a user asks for
 * @what: how short it is
 * @may: the user has CAP_NET_ADMIN
 * @asked: milliseconds
 * @got: of the connection
 * @error: of CONNECT
 */
struct wish {
	const char *what;
	bool may;
	u16 asked;
	u16 got;
	int error;
};

static const struct wish wishes[] = {
	{ "none", false, 0, 0, 0 },
	{ "too short for all", true, 9, 0, -EINVAL },
	{ "short for a privileged user", true, 10, 10, 0 },
	{ "short for another user", false, 10, 1000, 0 },
	{ "almost a second for another user", false, 999, 1000, 0 },
	{ "more than a second for another user", false, 1001, 1001, 0 },
};

KUNIT_ARRAY_PARAM_DESC(wishes, wishes, what);

static int connect_with(struct kverbs_ucmd *ucmd, bool may)
{
	struct cred *cred = prepare_creds();
	const struct cred *before;
	int ret;

	if (!cred)
		return -ENOMEM;
	if (!may)
		cap_lower(cred->cap_effective, CAP_NET_ADMIN);
	before = override_creds(cred);
	ret = kverbs_cmd_connect(ucmd);
	revert_creds(before);
	put_cred(cred);
	return ret;
}

static void keepalive_of_a_user_has_a_shortest_period(struct kunit *test)
{
	const struct wish *wish = test->param_value;
	struct kverbs_file *file = fake_file_create(test);
	struct kverbs_conn_param param = {
		.keepalive_ns = (u64)wish->asked * NSEC_PER_MSEC,
	};
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = fake_ring_create(test, file, 4, 8)->obj.id,
		.param_uptr = addr,
		.param_size = sizeof(param),
		.dst = { .family = AF_INET, .port = 7, .addr = { 198, 51, 100, 1 } },
	};
	struct kverbs_ucmd ucmd = { .file = file, .cmd = &cmd };
	struct kverbs_conn_obj *conn_obj;

	KUNIT_ASSERT_NE(test, 0, addr);
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)addr, &param, sizeof(param)));
	KUNIT_ASSERT_EQ(test, wish->error, connect_with(&ucmd, wish->may));
	if (wish->error)
		return;
	conn_obj = container_of(ucmd.new, struct kverbs_conn_obj, obj);
	KUNIT_EXPECT_EQ(test, (u64)wish->got * NSEC_PER_MSEC,
			conn_obj->conn->attr.param.keepalive_ns);
	kverbs_object_unreserve(ucmd.new);
	KUNIT_EXPECT_EQ(test, 0, ucmd.new->ops->destroy(ucmd.new));
}

static struct kunit_case keepalive_cases[] = {
	KUNIT_CASE(keepalive_ends_a_connection_without_an_answer),
	KUNIT_CASE(keepalive_accepts_a_completed_probe_as_an_answer),
	KUNIT_CASE(keepalive_waits_while_other_work_completes),
	KUNIT_CASE(keepalive_on_iwarp_waits_for_the_work_before_the_probe),
	KUNIT_CASE(keepalive_on_iwarp_ends_work_that_does_not_advance),
	KUNIT_CASE(keepalive_on_iwarp_probes_though_work_completes),
	KUNIT_CASE(late_deadline_spares_an_established_connection),
	KUNIT_CASE(deadline_ends_a_connection_that_is_not_established),
	KUNIT_CASE_PARAM(keepalive_of_a_user_has_a_shortest_period, wishes_gen_params),
	{}
};

static struct kunit_suite keepalive_suite = {
	.name = "kverbs_keepalive",
	.test_cases = keepalive_cases,
};

kunit_test_suite(keepalive_suite);
