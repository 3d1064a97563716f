// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations wait without a worker while another task maps the region that they name. */
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "fake_conn.h"
#include "fake_qp.h"
#include "fake_region.h"
#include "workqueue.h"

static bool is_awaited(const struct kverbs_region *region)
{
	return !list_empty_careful(&region->mapping.waiters);
}

/* The connection cannot ask its peer before the receive is posted. */
static void start_and_wait(struct fake_conn *fake)
{
	fake_conn_go(fake, FAKE_MADE);
	fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	kverbs_conn_start(fake->conn);
	KUNIT_EXPECT_TRUE(fake->test, FAKE_SOON(READ_ONCE(fake->conn->qp)));
}

static void connections_that_wait_for_a_region_occupy_no_worker(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *slow = fake_conn_create(test, hca);
	struct fake_conn *fake = fake_conn_create(test, hca);
	struct fake_mapper mapper;

	hca->work_queued = true;
	workqueue_set_max_active(kverbs_post_workqueue, 1);
	fake_mapper_begin(test, &mapper, slow->region);
	start_and_wait(slow);
	start_and_wait(fake);
	KUNIT_EXPECT_TRUE(test, fake_await(&hca->asked));
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->up));
	KUNIT_EXPECT_EQ(test, 1, hca->nr_recvs);
	KUNIT_EXPECT_NULL(test, slow->conn->connect.id);
	fake_mapper_end(&mapper);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(READ_ONCE(hca->pending)));
	KUNIT_EXPECT_EQ(test, 2, hca->nr_recvs);
	workqueue_set_max_active(kverbs_post_workqueue, WQ_MAX_ACTIVE);
}

static void connection_can_end_while_it_waits_for_a_region(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_create(test, fake_device_create(test));
	struct fake_mapper mapper;

	fake_mapper_begin(test, &mapper, fake->region);
	start_and_wait(fake);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(is_awaited(fake->region)));
	kverbs_conn_end(fake->conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_TRUE(test, completion_done(&fake->works[0].done));
	KUNIT_EXPECT_FALSE(test, is_awaited(fake->region));
	fake_mapper_end(&mapper);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&fake->region->uses));
}

/* As if there had been no slot when the operation was submitted. */
static struct fake_work *hold_send(struct fake_conn *fake)
{
	struct fake_work *work = fake_conn_work(fake, KVERBS_OP_SEND, 0, 100);
	struct kverbs_req *req = &work->req;

	kverbs_req_use(req);
	fake->conn->held_chain = kverbs_chain_alloc_max(NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(fake->test, fake->conn->held_chain);
	KUNIT_ASSERT_EQ(fake->test, 0, kverbs_queue_hold(&fake->conn->queue, &req, 1));
	return work;
}

static void held_operation_is_posted_when_another_task_has_mapped_its_region(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct fake_work *work = hold_send(fake);
	struct fake_mapper mapper;

	hca->work_queued = true;
	fake_mapper_begin(test, &mapper, fake->region);
	kverbs_conn_post_held(fake->conn);
	KUNIT_EXPECT_FALSE(test, completion_done(&mapper.let_go));
	KUNIT_EXPECT_TRUE(test, is_awaited(fake->region));
	KUNIT_EXPECT_EQ(test, 0, hca->nr_sends);
	fake_mapper_end(&mapper);
	KUNIT_EXPECT_TRUE(test, fake_await(&work->done));
	KUNIT_EXPECT_EQ(test, 0, work->req.result);
}

static void held_operation_ends_with_its_connection_while_its_region_is_mapped(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	struct fake_work *work = hold_send(fake);
	struct fake_mapper mapper;

	fake_mapper_begin(test, &mapper, fake->region);
	kverbs_conn_post_held(fake->conn);
	KUNIT_EXPECT_TRUE(test, is_awaited(fake->region));
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_TRUE(test, completion_done(&work->done));
	KUNIT_EXPECT_FALSE(test, is_awaited(fake->region));
	fake_mapper_end(&mapper);
}

static void fill_queue(struct fake_conn *fake, u8 opcode)
{
	unsigned int i;

	for (i = 0; i < FAKE_DEPTH; i++)
		fake_conn_post(fake, opcode, 0, 0);
}

/* Two operations: all that a worker maps later would be mapped for the first one. */
static void submit_two(struct fake_conn *fake, u8 opcode)
{
	struct fake_work *works[] = {
		fake_conn_work(fake, opcode, 0, 0),
		fake_conn_work(fake, opcode, 0, 100),
	};
	struct kverbs_req *reqs[] = { &works[0]->req, &works[1]->req };

	kverbs_req_use(reqs[1]);
	if (opcode == KVERBS_OP_RECV)
		kverbs_conn_submit_recvs(fake->conn, reqs, 2);
	else
		kverbs_conn_submit_list(fake->conn, reqs, 2, fake->chain);
}

static const struct held {
	const char *what;
	u8 opcode;
} held[] = {
	{ "a SEND", KVERBS_OP_SEND },
	{ "a receive", KVERBS_OP_RECV },
};

KUNIT_ARRAY_PARAM_DESC(held, held, what);

/* A worker finds the mapping there when there are slots. */
static void task_that_submits_maps_the_region_of(struct kunit *test)
{
	const struct held *held = test->param_value;
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);

	fill_queue(fake, held->opcode);
	KUNIT_ASSERT_TRUE(test, list_empty(&fake->region->maps));
	submit_two(fake, held->opcode);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->region->maps));
}

/* ---- ACCEPT -------------------------------------------------------------- */

/**
 * struct accepter - a task that accepts, and waits for a region
 * @fake: the connection
 * @mapper: maps the region
 * @task: the task
 * @ret: of kverbs_conn_accept()
 * @done: signalled when it has returned
 */
struct accepter {
	struct fake_conn *fake;
	struct fake_mapper mapper;
	struct task_struct *task;
	int ret;
	struct completion done;
};

static int accept(void *data)
{
	struct accepter *accepter = data;
	struct kverbs_conn_attr attr = fake_conn_attr(accepter->fake);

	allow_signal(SIGKILL);
	accepter->ret = kverbs_conn_accept(accepter->fake->conn, &attr);
	complete_all(&accepter->done);
	return 0;
}

static void accepter_start(struct kunit *test, struct accepter *accepter)
{
	struct task_struct *task;

	accepter->fake = fake_conn_at(test, fake_device_create(test), FAKE_REQUESTED);
	init_completion(&accepter->done);
	fake_conn_post(accepter->fake, KVERBS_OP_RECV, 0, 100);
	task = kthread_create(accept, accepter, "accepter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	accepter->task = get_task_struct(task);
	fake_mapper_begin(test, &accepter->mapper, accepter->fake->region);
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(is_awaited(accepter->fake->region)));
}

static void accepter_stop(struct kunit *test, struct accepter *accepter)
{
	KUNIT_EXPECT_TRUE(test, fake_await(&accepter->done));
	kthread_stop(accepter->task);
	put_task_struct(accepter->task);
}

static void accept_waits_for_a_region_without_the_mutex(struct kunit *test)
{
	struct accepter accepter = {};
	struct kverbs_conn *conn;

	accepter_start(test, &accepter);
	conn = accepter.fake->conn;
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(mutex_trylock(&conn->mutex)));
	KUNIT_EXPECT_EQ(test, 0, accepter.fake->hca->nr_recvs);
	mutex_unlock(&conn->mutex);
	KUNIT_EXPECT_FALSE(test, completion_done(&accepter.fake->hca->asked));
	fake_mapper_end(&accepter.mapper);
	accepter_stop(test, &accepter);
	KUNIT_EXPECT_EQ(test, 0, accepter.ret);
	KUNIT_EXPECT_EQ(test, 1, accepter.fake->hca->nr_recvs);
}

static void accept_that_waits_for_a_region_can_be_killed(struct kunit *test)
{
	struct accepter accepter = {};

	accepter_start(test, &accepter);
	send_sig(SIGKILL, accepter.task, 1);
	accepter_stop(test, &accepter);
	KUNIT_EXPECT_EQ(test, -EINTR, accepter.ret);
	KUNIT_EXPECT_TRUE(test, fake_await(&accepter.fake->ended));
	KUNIT_EXPECT_FALSE(test, is_awaited(accepter.fake->region));
	fake_mapper_end(&accepter.mapper);
}

static void accept_that_waits_for_a_region_finds_out_that_the_peer_has_gone(struct kunit *test)
{
	struct accepter accepter = {};

	accepter_start(test, &accepter);
	kverbs_conn_end(accepter.fake->conn, KVERBS_CQE_FAILED, -ECONNRESET, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&accepter.fake->ended));
	fake_mapper_end(&accepter.mapper);
	accepter_stop(test, &accepter);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, accepter.ret);
}

static struct kunit_case map_wait_cases[] = {
	KUNIT_CASE(connections_that_wait_for_a_region_occupy_no_worker),
	KUNIT_CASE(connection_can_end_while_it_waits_for_a_region),
	KUNIT_CASE(held_operation_is_posted_when_another_task_has_mapped_its_region),
	KUNIT_CASE(held_operation_ends_with_its_connection_while_its_region_is_mapped),
	KUNIT_CASE_PARAM(task_that_submits_maps_the_region_of, held_gen_params),
	KUNIT_CASE(accept_waits_for_a_region_without_the_mutex),
	KUNIT_CASE(accept_that_waits_for_a_region_can_be_killed),
	KUNIT_CASE(accept_that_waits_for_a_region_finds_out_that_the_peer_has_gone),
	{}
};

static struct kunit_suite map_wait_suite = {
	.name = "kverbs_map_wait",
	.test_cases = map_wait_cases,
};

kunit_test_suite(map_wait_suite);
