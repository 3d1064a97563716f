// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tasks of users that wait for a peer or a device do not keep the host from suspend. */
#include <linux/kthread.h>

#include "export.h"
#include "fake_conn.h"
#include "fake_qp.h"
#include "fake_region.h"

/**
 * struct waiter - a task that waits
 * @fake: its connection
 * @call: waits
 * @ret: of @call
 * @done: signalled when @call has returned
 * @mapper: maps the region of @fake meanwhile
 */
struct waiter {
	struct fake_conn *fake;
	int (*call)(struct fake_conn *fake);
	int ret;
	struct completion done;
	struct fake_mapper mapper;
};

static int wait_for_it(void *data)
{
	struct waiter *waiter = data;

	waiter->ret = waiter->call(waiter->fake);
	complete_all(&waiter->done);
	return 0;
}

/* The task may sleep shortly for other reasons. */
static unsigned int state_in_wait(struct task_struct *task)
{
	unsigned int state;

	FAKE_SOON((state = READ_ONCE(task->__state)) & TASK_FREEZABLE);
	return state;
}

/**
 * struct wait - a wait of a system call
 * @what: what it waits for
 * @stage: stage of the connection
 * @begin: let something hold the task up
 * @call: waits
 * @end: let it go on
 * @killable: the task can be killed in it
 */
struct wait {
	const char *what;
	enum fake_stage stage;
	void (*begin)(struct waiter *waiter);
	int (*call)(struct fake_conn *fake);
	void (*end)(struct waiter *waiter);
	bool killable;
};

static int export_it(struct fake_conn *fake)
{
	struct kverbs_segment segs[FAKE_MEM / PAGE_SIZE];
	struct kverbs_export *export;

	export = kverbs_export_create(fake->conn, fake->region, 0, PAGE_SIZE,
				      KVERBS_REMOTE_READ, segs);
	return PTR_ERR_OR_ZERO(export) ?: kverbs_export_destroy(export);
}

/* As an EXPORT whose registration waits for the peer. */
static void begin_export(struct waiter *waiter)
{
	kverbs_turn_lock(&waiter->fake->conn->sync_turn);
}

static void end_export(struct waiter *waiter)
{
	kverbs_turn_unlock(&waiter->fake->conn->sync_turn);
}

static void begin_map(struct waiter *waiter)
{
	fake_mapper_begin(waiter->fake->test, &waiter->mapper, waiter->fake->region);
}

static void end_map(struct waiter *waiter)
{
	fake_mapper_end(&waiter->mapper);
}

static int map_it(struct fake_conn *fake)
{
	return kverbs_conn_map(fake->conn, fake->region);
}

static int close_it(struct fake_conn *fake)
{
	kverbs_conn_close(fake->conn);
	return 0;
}

static int close_it_killably(struct fake_conn *fake)
{
	return kverbs_conn_close_killable(fake->conn, true);
}

static void keep_silent(struct waiter *waiter)
{
}

static void give_up(struct waiter *waiter)
{
	fake_iw_give_up(waiter->fake->hca);
}

static const struct wait waits[] = {
	{ "an earlier EXPORT", FAKE_UP, begin_export, export_it, end_export, true },
	{ "another task that maps a region", FAKE_UP, begin_map, map_it, end_map, true },
	{ "the answer of a peer", FAKE_ASKING, keep_silent, close_it_killably, give_up, true },
	{ "the answer of a peer, for the kernel", FAKE_ASKING, keep_silent, close_it, give_up,
	  false },
};

KUNIT_ARRAY_PARAM_DESC(waits, waits, what);

/* The freezer gives up, and with it suspend, if a task waits 20 s in another state. */
static void suspend_is_possible_while_a_task_waits_for(struct kunit *test)
{
	const struct wait *wait = test->param_value;
	struct waiter waiter = { .call = wait->call };
	struct task_struct *task;
	unsigned int state;

	waiter.fake = fake_conn_at(test, fake_device_create(test), wait->stage);
	waiter.fake->hca->work_queued = true;
	init_completion(&waiter.done);
	task = kthread_create(wait_for_it, &waiter, "waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wait->begin(&waiter);
	wake_up_process(task);
	state = state_in_wait(task);
	wait->end(&waiter);
	KUNIT_EXPECT_TRUE(test, fake_await(&waiter.done));
	kthread_stop(task);
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, 0, waiter.ret);
	KUNIT_EXPECT_NE(test, 0, state & TASK_FREEZABLE);
	KUNIT_EXPECT_EQ(test, wait->killable, !!(state & TASK_WAKEKILL));
}

static struct kunit_case suspend_cases[] = {
	KUNIT_CASE_PARAM(suspend_is_possible_while_a_task_waits_for, waits_gen_params),
	{}
};

static struct kunit_suite suspend_suite = {
	.name = "kverbs_suspend",
	.test_cases = suspend_cases,
};

kunit_test_suite(suspend_suite);
