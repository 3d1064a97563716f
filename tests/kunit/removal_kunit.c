// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Removal of a device, whatever uses it. */
#include <linux/in.h>
#include <linux/sched.h>

#include "fake_conn.h"
#include "fake_qp.h"

/* ---- connections, in every stage ---------------------------------------- */

/**
 * struct fate - effect of the removal on a connection
 * @stage: stage of the connection
 * @what: name of the stage
 * @dies: the connection ends
 * @type: type of its final event
 * @error: error of its final event
 */
struct fate {
	enum fake_stage stage;
	const char *what;
	bool dies;
	u8 type;
	int error;
};

static const struct fate fates[] = {
	{ FAKE_MADE, "not started", false },
	{ FAKE_ADDRESSED, "address resolved", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_ROUTED, "route resolved", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_ASKING, "asking", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_REQUESTED, "requested", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_ACCEPTING, "accepting", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_UP, "established", true, KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ FAKE_UP_PASSIVE, "established by the peer", true, KVERBS_CQE_DEVICE_REMOVED,
	  -ENODEV },
	{ FAKE_CLOSING, "closing", true, KVERBS_CQE_DISCONNECTED, 0 },
	{ FAKE_DEAD, "dead", true, KVERBS_CQE_DISCONNECTED, 0 },
};

KUNIT_ARRAY_PARAM_DESC(fates, fates, what);

/* kverbs waits for the CM and the device; both let go only after the removal has started. */
static void let_go(struct fake_conn *fake, enum fake_stage stage)
{
	struct kunit *test = fake->test;

	switch (stage) {
	case FAKE_ASKING:
	case FAKE_ACCEPTING:
		KUNIT_ASSERT_TRUE(test, FAKE_SOON(READ_ONCE(fake->conn->state) ==
						  KVERBS_CONN_CLOSING));
		KUNIT_EXPECT_FALSE(test, completion_done(&fake->hca->removed));
		fake_iw_give_up(fake->hca);
		break;
	case FAKE_CLOSING:
		KUNIT_ASSERT_TRUE(test, FAKE_SOON(fake->conn->tenant.evicted));
		KUNIT_EXPECT_FALSE(test, completion_done(&fake->hca->removed));
		fake_hca_let_dereg(fake->hca);
		break;
	default:
		break;
	}
}

/* The tenant leaves the device before the end is reported. */
static bool has_ended_once(struct fake_conn *fake)
{
	if (!fake_await(&fake->ended))
		return false;
	flush_work(&fake->conn->close_work);
	return fake->nr_ended == 1;
}

static void removal_ends_a_connection_in_any_state(struct kunit *test)
{
	const struct fate *fate = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, fate->stage);
	struct kverbs_conn *conn = fake->conn;
	struct fake_work *send = fake_conn_work(fake, KVERBS_OP_SEND, 0, 1);

	fake_device_begin_remove(hca);
	let_go(fake, fate->stage);
	KUNIT_ASSERT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
	KUNIT_EXPECT_NULL(test, conn->tenant.dev);
	if (!fate->dies) {
		KUNIT_EXPECT_EQ(test, KVERBS_CONN_CONNECTING, conn->state);
		KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
		return;
	}
	KUNIT_EXPECT_TRUE(test, has_ended_once(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, conn->state);
	KUNIT_EXPECT_EQ(test, fate->type, conn->end.type);
	KUNIT_EXPECT_EQ(test, fate->error, conn->end.error);
	KUNIT_EXPECT_NULL(test, conn->id);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_conn_try_post(fake, send));
}

/* ---- users of connections ------------------------------------------------ */

static void removal_flushes_outstanding_work(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	struct fake_work *read = fake_conn_post(fake, KVERBS_OP_READ, 0, PAGE_SIZE);
	struct fake_work *send = fake_conn_post(fake, KVERBS_OP_SEND, PAGE_SIZE, 100);

	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, completion_done(&recv->done));
	KUNIT_EXPECT_TRUE(test, completion_done(&read->done));
	KUNIT_EXPECT_TRUE(test, completion_done(&send->done));
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, recv->req.wc_status);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, read->req.wc_status);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, send->req.wc_status);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&fake->region->uses));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

static void removal_keeps_completed_work(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct fake_work *send = fake_conn_post(fake, KVERBS_OP_SEND, 0, 100);

	fake_wr_complete(&hca->sends[0], IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, fake_await(&send->done));
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 0, send->req.result);
}

static void removal_unmaps_regions_and_leaves_them_pinned(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);

	fake_conn_post(fake, KVERBS_OP_SEND, 0, 100);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->region->maps));
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_EQ(test, FAKE_MEM / PAGE_SIZE, fake->region->npages);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&fake->region->uses));
}

static void removal_unmaps_a_region_without_a_connection(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);

	fake_conn_post(fake, KVERBS_OP_SEND, 0, 100);
	kverbs_conn_free(fake->conn);
	fake->conn = NULL;
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->region->maps));
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
}

/* Fence, then unmap: unmapping waits for the registrations of a connection. */
static void removal_unmaps_when_the_device_has_stopped(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);

	fake_conn_post(fake, KVERBS_OP_READ, 0, PAGE_SIZE);
	fake_hca_hold_dereg(hca);
	fake_device_begin_remove(hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&hca->dereg_begun));
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_FALSE(test, completion_done(&hca->removed));
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	fake_hca_let_dereg(hca);
	KUNIT_ASSERT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_TRUE(test, has_ended_once(fake));
}

static void removal_ends_all_connections(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *first = fake_conn_at(test, hca, FAKE_UP);
	struct fake_conn *second, *third;

	reinit_completion(&hca->asked);
	second = fake_conn_at(test, hca, FAKE_UP);
	third = fake_conn_at(test, hca, FAKE_REQUESTED);
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, has_ended_once(first));
	KUNIT_EXPECT_TRUE(test, has_ended_once(second));
	KUNIT_EXPECT_TRUE(test, has_ended_once(third));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

static void removal_refuses_an_unanswered_request(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_REQUESTED);

	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 1, hca->nr_rejects);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake->listener->backlog->waiting));
}

/* ---- listeners ---------------------------------------------------------- */

static void removal_ends_a_listener_on_the_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_create(test, hca);

	fake_conn_listen(fake, htonl(FAKE_ADDRESS));
	fake_device_remove(hca);
	flush_work(&fake->listener->evict_work);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_removed);
	KUNIT_EXPECT_NULL(test, fake->listener->id);
	KUNIT_EXPECT_EQ(test, -ENODEV, kverbs_listener_start(fake->listener));
}

static void removal_spares_a_listener_on_any_address(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_create(test, hca);
	struct fake_hca *next;

	fake_conn_listen(fake, htonl(INADDR_ANY));
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_removed);
	KUNIT_EXPECT_NOT_NULL(test, fake->listener->id);
	next = fake_device_create(test);
	KUNIT_EXPECT_NOT_NULL(test, next->listening);
}

static void fail_over(struct fake_conn *fake)
{
	struct kverbs_listener *listener = fake->listener;
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };

	listener->id->event_handler(listener->id, &event);
	flush_work(&listener->evict_work);
	/* The CM may have told twice. */
	queue_work(system_unbound_wq, &listener->evict_work);
	flush_work(&listener->evict_work);
}

/* As the CM tells of a bond whose hardware address changes. */
static void failover_keeps_a_listener(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_create(test, hca);

	fake_conn_listen(fake, htonl(FAKE_ADDRESS));
	fail_over(fake);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_removed);
	KUNIT_ASSERT_NOT_NULL(test, hca->listening);
	fake_iw_request(hca, "hello", 5);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->requested));
}

static void failover_to_a_device_that_cannot_listen_ends_a_listener(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_create(test, hca);

	fake_conn_listen(fake, htonl(FAKE_ADDRESS));
	hca->errors[FAKE_LISTEN] = -EADDRINUSE;
	fail_over(fake);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_removed);
	KUNIT_EXPECT_NULL(test, fake->listener->id);
	KUNIT_EXPECT_NULL(test, fake->listener->tenant.dev);
}

/**
 * struct late - a listener or a connection that is made while its device goes
 * @work: makes it
 * @hold: holds the registry of devices until @let_go
 * @make: how it is made
 * @fake: its owner
 * @task: the task of @work
 * @held: the registry is held
 * @let_go: it need not be any more
 * @ret: what became of it
 */
struct late {
	struct work_struct work;
	struct work_struct hold;
	int (*make)(struct fake_conn *fake);
	struct fake_conn *fake;
	struct task_struct *task;
	struct completion held;
	struct completion let_go;
	int ret;
};

static void hold_registry(const struct kverbs_device_use *use, void *arg)
{
	struct late *late = arg;

	complete(&late->held);
	fake_await(&late->let_go);
}

static void hold(struct work_struct *work)
{
	kverbs_device_for_each(hold_registry, container_of(work, struct late, hold));
}

static int listen_late(struct fake_conn *fake)
{
	return fake_conn_try_listen(fake, htonl(FAKE_ADDRESS));
}

static int connect_late(struct fake_conn *fake)
{
	return fake_conn_try_begin(fake, true);
}

static void make_late(struct work_struct *work)
{
	struct late *late = container_of(work, struct late, work);

	WRITE_ONCE(late->task, current);
	late->ret = late->make(late->fake);
}

static bool is_asleep(struct late *late)
{
	struct task_struct *task = READ_ONCE(late->task);

	return task && READ_ONCE(task->__state) == TASK_UNINTERRUPTIBLE;
}

/* Removes the device once @make has bound an id to it, and waits for the registry. */
static void remove_while_made(struct kunit *test, struct fake_hca *hca, struct late *late)
{
	late->fake = fake_conn_create(test, hca);
	init_completion(&late->held);
	init_completion(&late->let_go);
	INIT_WORK_ONSTACK(&late->work, make_late);
	INIT_WORK_ONSTACK(&late->hold, hold);
	queue_work(system_unbound_wq, &late->hold);
	KUNIT_EXPECT_TRUE(test, fake_await(&late->held));
	queue_work(system_unbound_wq, &late->work);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(is_asleep(late)));
	fake_device_begin_remove(hca);
	/* The device can be gone only if the id was destroyed already. */
	KUNIT_EXPECT_EQ(test, 0, wait_for_completion_timeout(&hca->removed, HZ / 5));
	complete_all(&late->let_go);
	flush_work(&late->work);
	flush_work(&late->hold);
	destroy_work_on_stack(&late->work);
	destroy_work_on_stack(&late->hold);
}

/*
 * The CM knows of the first device and kverbs does not, so the listener must fail, but first
 * waits for the registry, in which there is the second.
 */
static void removal_waits_for_a_listener_that_is_being_created(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct late late = { .make = listen_late };

	hca->limits.device_cap_flags = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake_device_create(test);
	remove_while_made(test, hca, &late);
	KUNIT_EXPECT_EQ(test, -ENODEV, late.ret);
	KUNIT_EXPECT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_EQ(test, 0, late.fake->nr_removed);
}

/* Its source address binds it to the device before kverbs is a tenant of that. */
static void removal_ends_a_connection_that_is_being_created(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct late late = { .make = connect_late };

	hca->limits.device_cap_flags = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake_device_create(test);
	remove_while_made(test, hca, &late);
	KUNIT_ASSERT_EQ(test, 0, late.ret);
	KUNIT_EXPECT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_TRUE(test, fake_await(&late.fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_DEVICE_REMOVED, late.fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ENODEV, late.fake->conn->end.error);
	KUNIT_EXPECT_EQ(test, 1, late.fake->nr_ended);
}

/* ---- the device comes back ---------------------------------------------- */

static void device_can_be_used_again_after_removal(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *old = fake_conn_at(test, hca, FAKE_UP);
	struct fake_conn *fake;

	fake_device_remove(hca);
	fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	KUNIT_EXPECT_TRUE(test, has_ended_once(old));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
}

static void removal_lets_a_region_be_used_on_another_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *old = fake_conn_at(test, hca, FAKE_UP);
	struct fake_conn *fake;
	struct fake_work *work;

	fake_conn_post(old, KVERBS_OP_SEND, 0, 100);
	fake_device_remove(hca);
	fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	work = fake_conn_work(fake, KVERBS_OP_SEND, 0, 100);
	work->req.region = old->region;
	KUNIT_EXPECT_EQ(test, 0, fake_conn_try_post(fake, work));
	kverbs_conn_free(fake->conn);
	fake->conn = NULL;
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&old->region->uses));
}

static struct kunit_case removal_cases[] = {
	KUNIT_CASE_PARAM(removal_ends_a_connection_in_any_state, fates_gen_params),
	KUNIT_CASE(removal_flushes_outstanding_work),
	KUNIT_CASE(removal_keeps_completed_work),
	KUNIT_CASE(removal_unmaps_regions_and_leaves_them_pinned),
	KUNIT_CASE(removal_unmaps_a_region_without_a_connection),
	KUNIT_CASE(removal_unmaps_when_the_device_has_stopped),
	KUNIT_CASE(removal_ends_all_connections),
	KUNIT_CASE(removal_refuses_an_unanswered_request),
	KUNIT_CASE(removal_ends_a_listener_on_the_device),
	KUNIT_CASE(removal_spares_a_listener_on_any_address),
	KUNIT_CASE(failover_keeps_a_listener),
	KUNIT_CASE(failover_to_a_device_that_cannot_listen_ends_a_listener),
	KUNIT_CASE(removal_waits_for_a_listener_that_is_being_created),
	KUNIT_CASE(removal_ends_a_connection_that_is_being_created),
	KUNIT_CASE(device_can_be_used_again_after_removal),
	KUNIT_CASE(removal_lets_a_region_be_used_on_another_device),
	{}
};

static struct kunit_suite removal_suite = {
	.name = "kverbs_removal",
	.test_cases = removal_cases,
};

kunit_test_suite(removal_suite);
