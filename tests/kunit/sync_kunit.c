// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Chains of work requests that a task waits for. */
#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "fake_queue.h"
#include "sync.h"

#define LINKS	3

/**
 * struct chain - a chain to wait for
 * @fake: the queue
 * @sync: of the queue
 * @cqs: not direct
 * @wrs: the requests
 */
struct chain {
	struct fake_queue *fake;
	struct kverbs_sync sync;
	struct kverbs_cq_set cqs;
	struct ib_send_wr wrs[LINKS];
};

static int sync_init(struct kunit *test)
{
	struct chain *chain = kunit_kzalloc(test, sizeof(*chain), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, chain);
	chain->fake = fake_queue_up(test, 4, 1);
	kverbs_cq_set_init(&chain->cqs, IB_POLL_WORKQUEUE);
	kverbs_sync_init(&chain->sync, &chain->fake->queue);
	chain->fake->hca->work_queued = true;
	for (i = 0; i < LINKS; i++) {
		chain->wrs[i].opcode = IB_WR_LOCAL_INV;
		chain->wrs[i].next = i < LINKS - 1 ? &chain->wrs[i + 1] : NULL;
	}
	test->priv = chain;
	return 0;
}

static int sync_post(struct chain *chain)
{
	return kverbs_sync_post(&chain->sync, &chain->cqs, &chain->wrs[0],
				&chain->wrs[LINKS - 1]);
}

static void sync_waits_for_the_chain(struct kunit *test)
{
	struct chain *chain = test->priv;

	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
	KUNIT_EXPECT_EQ(test, LINKS, chain->fake->hca->nr_completed);
	KUNIT_EXPECT_FALSE(test, chain->sync.busy);
	KUNIT_EXPECT_EQ(test, 0, chain->fake->broken);
}

static void sync_can_be_used_again(struct kunit *test)
{
	struct chain *chain = test->priv;
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
}

static void sync_signals_the_last_request_only(struct kunit *test)
{
	struct chain *chain = test->priv;
	int i;

	chain->wrs[0].send_flags = IB_SEND_SIGNALED;
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
	for (i = 0; i < LINKS - 1; i++)
		KUNIT_EXPECT_EQ(test, 0, chain->wrs[i].send_flags);
	KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, chain->wrs[LINKS - 1].send_flags);
}

/* Sync chains have their own slots: operations that use all others do not block them. */
static void sync_needs_no_slots(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_queued = false;
	fake_queue_send(test, chain->fake, 4);
	KUNIT_EXPECT_EQ(test, 0, chain->fake->queue.sq_free);
	chain->fake->hca->nr_completed = 4;
	chain->fake->hca->work_queued = true;
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 0, chain->fake->queue.sq_free);
}

static void sync_fails_with_its_last_request(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_bad = &chain->sync.last;
	KUNIT_EXPECT_EQ(test, -EIO, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 1, chain->fake->broken);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, chain->fake->status);
}

static void sync_fails_with_a_request_in_between(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_bad = &chain->sync.part;
	KUNIT_EXPECT_EQ(test, -EIO, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 1, chain->fake->broken);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, chain->fake->status);
}

static void sync_forgets_an_earlier_failure(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_bad = &chain->sync.part;
	KUNIT_EXPECT_EQ(test, -EIO, sync_post(chain));
	chain->fake->hca->work_bad = NULL;
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
}

static void sync_needs_a_queue_that_is_up(struct kunit *test)
{
	struct chain *chain = test->priv;

	kverbs_queue_close(&chain->fake->queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 0, chain->fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 0, chain->fake->broken);
	KUNIT_EXPECT_FALSE(test, chain->sync.busy);
}

static void sync_refused_at_once_can_be_retried(struct kunit *test)
{
	struct chain *chain = test->priv;

	fake_hca_refuse(chain->fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 0, chain->fake->broken);
	fake_hca_refuse(chain->fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
}

static void sync_refused_in_mid_chain_ends_the_connection(struct kunit *test)
{
	struct chain *chain = test->priv;

	fake_hca_refuse(chain->fake->hca, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 1, chain->fake->broken);
	KUNIT_EXPECT_FALSE(test, chain->sync.busy);
}

static void sync_refused_in_an_unknown_place_ends_the_connection(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->bad_wr = FAKE_BAD_WR_UNSET;
	fake_hca_refuse(chain->fake->hca, 0, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 1, chain->fake->broken);
	KUNIT_EXPECT_FALSE(test, chain->sync.busy);
}

/* As if the process was killed while it waits. */
static int killed_sync(struct chain *chain)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = sync_post(chain);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

static void sync_can_be_killed(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_queued = false;
	KUNIT_EXPECT_EQ(test, -EINTR, killed_sync(chain));
	KUNIT_EXPECT_EQ(test, LINKS, chain->fake->hca->nr_sends);
	KUNIT_EXPECT_TRUE(test, chain->sync.busy);
	KUNIT_EXPECT_EQ(test, 0, chain->fake->broken);
}

/* The work requests of a killed waiter still point to the completion. */
static void sync_waits_for_the_work_of_a_killed_sync(struct kunit *test)
{
	struct chain *chain = test->priv;

	chain->fake->hca->work_queued = false;
	KUNIT_ASSERT_EQ(test, -EINTR, killed_sync(chain));
	KUNIT_EXPECT_EQ(test, -EINTR, killed_sync(chain));
	KUNIT_EXPECT_EQ(test, LINKS, chain->fake->hca->nr_sends);
	chain->fake->hca->work_queued = true;
	schedule_work(&chain->fake->hca->work);
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
	KUNIT_EXPECT_FALSE(test, chain->sync.busy);
}

/**
 * struct slow - operations that complete slowly, and the chain behind them
 * @work: completes the next
 * @chain: the chain
 * @next: of what was posted
 */
struct slow {
	struct delayed_work work;
	struct chain *chain;
	unsigned int next;
};

#define SLOW_OPS	4
#define STEP		HZ
/* The guest may stall for all of this but a step. */
#define TIMEOUT		(4 * STEP)

static void complete_next(struct work_struct *work)
{
	struct slow *slow = container_of(work, struct slow, work.work);
	struct fake_hca *hca = slow->chain->fake->hca;

	if (slow->next < SLOW_OPS) {
		fake_wr_complete(&hca->sends[slow->next++], IB_WC_SUCCESS);
		schedule_delayed_work(&slow->work, STEP);
		return;
	}
	for (; slow->next < hca->nr_sends; slow->next++)
		fake_wr_complete(&hca->sends[slow->next], IB_WC_SUCCESS);
}

/* Each operation takes less than the timeout, and all of them take more. */
static void sync_waits_while_earlier_work_is_outstanding(struct kunit *test)
{
	struct chain *chain = test->priv;
	struct slow slow = { .chain = chain };
	int i;

	chain->fake->hca->work_queued = false;
	for (i = 0; i < SLOW_OPS; i++)
		fake_queue_send(test, chain->fake, 1);
	chain->sync.timeout = TIMEOUT;
	INIT_DELAYED_WORK_ONSTACK(&slow.work, complete_next);
	schedule_delayed_work(&slow.work, STEP);
	KUNIT_EXPECT_EQ(test, 0, sync_post(chain));
	KUNIT_EXPECT_EQ(test, 0, chain->fake->broken);
	cancel_delayed_work_sync(&slow.work);
	destroy_delayed_work_on_stack(&slow.work);
}

/**
 * struct look - a look at a task that waits for the chain
 * @work: takes the look, then completes the chain
 * @chain: the chain
 * @task: the task
 * @state: its state
 */
struct look {
	struct work_struct work;
	struct chain *chain;
	struct task_struct *task;
	unsigned int state;
};

static void look_at_waiter(struct work_struct *work)
{
	struct look *look = container_of(work, struct look, work);
	struct fake_hca *hca = look->chain->fake->hca;
	unsigned int i;

	do {
		usleep_range(10, 20);
		look->state = READ_ONCE(look->task->__state);
	} while (look->state == TASK_RUNNING);
	for (i = 0; i < hca->nr_sends; i++)
		fake_wr_complete(&hca->sends[i], IB_WC_SUCCESS);
}

/* The freezer gives up, and with it suspend, if a task waits 20 s in another state. */
static void sync_does_not_keep_the_host_from_suspend(struct kunit *test)
{
	struct look look = { .chain = test->priv, .task = current };

	look.chain->fake->hca->work_queued = false;
	INIT_WORK_ONSTACK(&look.work, look_at_waiter);
	schedule_work(&look.work);
	KUNIT_EXPECT_EQ(test, 0, sync_post(look.chain));
	flush_work(&look.work);
	destroy_work_on_stack(&look.work);
	KUNIT_EXPECT_NE(test, 0, look.state & TASK_FREEZABLE);
	KUNIT_EXPECT_NE(test, 0, look.state & TASK_WAKEKILL);
}

static struct kunit_case sync_cases[] = {
	KUNIT_CASE(sync_waits_for_the_chain),
	KUNIT_CASE(sync_waits_while_earlier_work_is_outstanding),
	KUNIT_CASE(sync_can_be_used_again),
	KUNIT_CASE(sync_signals_the_last_request_only),
	KUNIT_CASE(sync_needs_no_slots),
	KUNIT_CASE(sync_fails_with_its_last_request),
	KUNIT_CASE(sync_fails_with_a_request_in_between),
	KUNIT_CASE(sync_forgets_an_earlier_failure),
	KUNIT_CASE(sync_needs_a_queue_that_is_up),
	KUNIT_CASE(sync_refused_at_once_can_be_retried),
	KUNIT_CASE(sync_refused_in_mid_chain_ends_the_connection),
	KUNIT_CASE(sync_refused_in_an_unknown_place_ends_the_connection),
	KUNIT_CASE(sync_does_not_keep_the_host_from_suspend),
	KUNIT_CASE(sync_can_be_killed),
	KUNIT_CASE(sync_waits_for_the_work_of_a_killed_sync),
	{}
};

static struct kunit_suite sync_suite = {
	.name = "kverbs_sync",
	.init = sync_init,
	.test_cases = sync_cases,
};

kunit_test_suite(sync_suite);
