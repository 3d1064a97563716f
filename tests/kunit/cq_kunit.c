// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: never too small, and shared while there is room if they can be. */
#include "cq.h"
#include "fake_hca.h"
#include "patience.h"

/* Least number of entries of a new direct queue, if the device supports it */
#define ROOM	2048

/**
 * struct sharer - a user of completion queues
 * @hca: the device
 * @set: the queues
 */
struct sharer {
	struct fake_hca *hca;
	struct kverbs_cq_set set;
};

static struct fake_hca *create_hca(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);

	hca->ib.attrs.max_cqe = 10 * ROOM;
	return hca;
}

static int init(struct kunit *test, enum ib_poll_context context)
{
	struct sharer *sharer = kunit_kzalloc(test, sizeof(*sharer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sharer);
	sharer->hca = create_hca(test);
	kverbs_cq_set_init(&sharer->set, context);
	test->priv = sharer;
	return 0;
}

static int cq_init(struct kunit *test)
{
	return init(test, IB_POLL_WORKQUEUE);
}

static int direct_init(struct kunit *test)
{
	return init(test, IB_POLL_DIRECT);
}

static int in_softirq_init(struct kunit *test)
{
	return init(test, IB_POLL_SOFTIRQ);
}

static void cq_exit(struct kunit *test)
{
	struct sharer *sharer = test->priv;

	if (!sharer)
		return;
	KUNIT_EXPECT_TRUE(test, list_empty(&sharer->set.cqs));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&sharer->hca->nr_cqs));
	kverbs_cq_set_exit(&sharer->set);
}

static struct kverbs_cq *try_get(struct kunit *test, unsigned int nr)
{
	const struct kverbs_cq_need need = { .nr = nr };
	struct sharer *sharer = test->priv;

	return kverbs_cq_get(&sharer->set, &sharer->hca->ib, &need);
}

static struct kverbs_cq *get_need(struct kunit *test, struct fake_hca *hca,
				  const struct kverbs_cq_need *need)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = kverbs_cq_get(&sharer->set, &hca->ib, need);

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	return cq;
}

static struct kverbs_cq *get(struct kunit *test, struct fake_hca *hca, unsigned int nr)
{
	const struct kverbs_cq_need need = { .nr = nr };

	return get_need(test, hca, &need);
}

static void put(struct sharer *sharer, struct kverbs_cq *cq, unsigned int nr)
{
	const struct kverbs_cq_need need = { .nr = nr };

	kverbs_cq_put(&sharer->set, cq, &need);
}

static void cq_is_shared_while_it_has_room(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, ROOM - 100);

	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 99));
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 1));
	KUNIT_EXPECT_EQ(test, ROOM, cq->used);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&sharer->hca->nr_cqs));
	put(sharer, cq, ROOM - 100);
	put(sharer, cq, 99);
	put(sharer, cq, 1);
}

static void cq_without_room_is_joined_by_another(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *first = get(test, sharer->hca, ROOM - 100);
	struct kverbs_cq *second = get(test, sharer->hca, 101);

	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&sharer->hca->nr_cqs));
	put(sharer, first, ROOM - 100);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&sharer->hca->nr_cqs));
	put(sharer, second, 101);
}

/* Given back, it is freed, so that no handler of the connection runs any more. */
static void cq_with_interrupts_belongs_to_one_connection(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *first = get(test, sharer->hca, 100);
	struct kverbs_cq *second = get(test, sharer->hca, 1);

	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, 100, first->ib->cqe);
	put(sharer, first, 100);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&sharer->hca->nr_cqs));
	put(sharer, second, 1);
}

static void cq_room_that_is_returned_is_used_again(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);

	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, ROOM - 1));
	put(sharer, cq, ROOM - 1);
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, ROOM - 1));
	put(sharer, cq, ROOM - 1);
	put(sharer, cq, 1);
}

static void cq_has_room_for_all_completions(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 3 * ROOM);

	KUNIT_EXPECT_EQ(test, 3 * ROOM, cq->size);
	KUNIT_EXPECT_EQ(test, 3 * ROOM, cq->ib->cqe);
	put(sharer, cq, 3 * ROOM);
}

static void cq_is_limited_by_the_device(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq;

	sharer->hca->ib.attrs.max_cqe = 100;
	cq = get(test, sharer->hca, 100);
	KUNIT_EXPECT_EQ(test, 100, cq->ib->cqe);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(try_get(test, 101)));
	put(sharer, cq, 100);
}

static void cq_error_is_returned(struct kunit *test)
{
	struct sharer *sharer = test->priv;

	sharer->hca->errors[FAKE_CREATE_CQ] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(try_get(test, 1)));
	KUNIT_EXPECT_TRUE(test, list_empty(&sharer->set.cqs));
}

static void cq_belongs_to_one_device(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct fake_hca *other_hca = create_hca(test);
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct kverbs_cq *other = get(test, other_hca, 1);

	KUNIT_EXPECT_PTR_EQ(test, &sharer->hca->ib, cq->ib->device);
	KUNIT_EXPECT_PTR_EQ(test, &other_hca->ib, other->ib->device);
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 1));
	KUNIT_EXPECT_PTR_EQ(test, other, get(test, other_hca, 1));
	put(sharer, cq, 1);
	put(sharer, cq, 1);
	put(sharer, other, 1);
	put(sharer, other, 1);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&other_hca->nr_cqs));
}

/* Addresses that tell shared receive queues apart; nothing is read there. */
static char srqs[2];

#define RECVS	256

/* Of a connection that receives into a shared queue, with @nr work requests of its own. */
static struct kverbs_cq_need need_of(unsigned int srq, unsigned int nr)
{
	return (struct kverbs_cq_need) {
		.nr = nr, .srq = (const struct kverbs_srq *)&srqs[srq], .srq_depth = RECVS,
	};
}

static void cq_has_room_for_the_receives_of_a_shared_queue_once(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get_need(test, sharer->hca, &need);

	KUNIT_EXPECT_EQ(test, RECVS + 10, cq->used);
	KUNIT_EXPECT_PTR_EQ(test, cq, get_need(test, sharer->hca, &need));
	KUNIT_EXPECT_EQ(test, RECVS + 20, cq->used);
	kverbs_cq_put(&sharer->set, cq, &need);
	KUNIT_EXPECT_EQ(test, RECVS + 10, cq->used);
	kverbs_cq_put(&sharer->set, cq, &need);
}

/* Each queue must be able to hold all receives, whichever connections use them up. */
static void cq_that_joins_another_has_room_for_all_receives_too(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, RECVS / 2);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *first = get_need(test, sharer->hca, &need), *second;
	unsigned int i, nr = (first->size - first->used) / need.nr;

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_PTR_EQ(test, first, get_need(test, sharer->hca, &need));
	second = get_need(test, sharer->hca, &need);
	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, RECVS + need.nr, second->used);
	kverbs_cq_put(&sharer->set, second, &need);
	for (i = 0; i < nr + 1; i++)
		kverbs_cq_put(&sharer->set, first, &need);
}

/* Otherwise a queue for each connection would be as large as the shared queue. */
static void cq_with_interrupts_is_shared_by_connections_that_share_receives(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10), stranger = need_of(1, 10);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get_need(test, sharer->hca, &need);
	struct kverbs_cq *of_stranger = get_need(test, sharer->hca, &stranger);
	struct kverbs_cq *own = get(test, sharer->hca, 10);

	KUNIT_EXPECT_PTR_EQ(test, cq, get_need(test, sharer->hca, &need));
	KUNIT_EXPECT_PTR_NE(test, cq, of_stranger);
	KUNIT_EXPECT_PTR_NE(test, cq, own);
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&sharer->hca->nr_cqs));
	put(sharer, own, 10);
	kverbs_cq_put(&sharer->set, of_stranger, &stranger);
	kverbs_cq_put(&sharer->set, cq, &need);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&sharer->hca->nr_cqs));
	kverbs_cq_put(&sharer->set, cq, &need);
}

static void cq_of_a_direct_set_serves_several_shared_queues(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10), stranger = need_of(1, 20);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get_need(test, sharer->hca, &need);

	KUNIT_EXPECT_PTR_EQ(test, cq, get_need(test, sharer->hca, &stranger));
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 30));
	KUNIT_EXPECT_EQ(test, 2 * RECVS + 60, cq->used);
	kverbs_cq_put(&sharer->set, cq, &need);
	KUNIT_EXPECT_EQ(test, RECVS + 50, cq->used);
	kverbs_cq_put(&sharer->set, cq, &stranger);
	KUNIT_EXPECT_EQ(test, 30, cq->used);
	put(sharer, cq, 30);
}

static void cq_for_a_shared_queue_may_be_as_small_as_the_device_has(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10), more = need_of(1, 11);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq;

	sharer->hca->ib.attrs.max_cqe = RECVS + 10;
	cq = get_need(test, sharer->hca, &need);
	KUNIT_EXPECT_EQ(test, RECVS + 10, cq->size);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(kverbs_cq_get(&sharer->set, &sharer->hca->ib, &more)));
	kverbs_cq_put(&sharer->set, cq, &need);
}

/**
 * struct waiter - waits for completions
 * @cqe: handler of the completions
 * @nr: number of completions
 * @done: signalled by each completion
 */
struct waiter {
	struct ib_cqe cqe;
	unsigned int nr;
	struct completion done;
};

static void waiter_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct waiter *waiter = container_of(wc->wr_cqe, struct waiter, cqe);

	waiter->nr++;
	complete(&waiter->done);
}

static void begin_await(struct waiter *waiter, struct kverbs_cq *cq, unsigned int nr,
			void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_wc wc = { .wr_cqe = &waiter->cqe };

	waiter->cqe.done = done;
	init_completion(&waiter->done);
	while (nr--)
		fake_cq_push(cq->ib, &wc);
}

static struct waiter *await(struct kunit *test, struct kverbs_cq *cq, unsigned int nr)
{
	struct waiter *waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, waiter);
	begin_await(waiter, cq, nr, waiter_done);
	return waiter;
}

static void cq_of_a_direct_set_is_polled_by_its_waiters(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct waiter *waiter = await(test, cq, 3);

	KUNIT_EXPECT_EQ(test, IB_POLL_DIRECT, cq->ib->poll_ctx);
	kverbs_cq_set_poll(&sharer->set);
	KUNIT_EXPECT_EQ(test, 3, waiter->nr);
	put(sharer, cq, 1);
}

static void cq_is_polled_by_one_task_at_a_time(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct waiter *waiter = await(test, cq, 1);

	mutex_lock(&sharer->set.lock);
	kverbs_cq_set_poll(&sharer->set);
	KUNIT_EXPECT_EQ(test, 0, waiter->nr);
	mutex_unlock(&sharer->set.lock);
	kverbs_cq_set_poll(&sharer->set);
	KUNIT_EXPECT_EQ(test, 1, waiter->nr);
	put(sharer, cq, 1);
}

static void cq_that_is_busy_does_not_delay_the_next(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, ROOM);
	struct waiter *waiter = await(test, cq, ROOM);

	kverbs_cq_set_poll(&sharer->set);
	KUNIT_EXPECT_GT(test, waiter->nr, 0);
	KUNIT_EXPECT_LT(test, waiter->nr, ROOM);
	put(sharer, cq, ROOM);
}

/* Another connection keeps the queue, but the one that leaves may be freed. */
static void cq_is_empty_when_it_is_returned(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, ROOM - 1);
	struct waiter *waiter = await(test, cq, ROOM - 1);

	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 1));
	put(sharer, cq, ROOM - 1);
	KUNIT_EXPECT_EQ(test, ROOM - 1, waiter->nr);
	put(sharer, cq, 1);
}

static void cq_that_connections_share_completes_by_interrupts(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get_need(test, sharer->hca, &need);
	unsigned int i, nr = RECVS + 10;
	struct waiter *waiter = await(test, cq, nr);

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&waiter->done, FAKE_PATIENCE));
	waiter = await(test, cq, 1);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&waiter->done, FAKE_PATIENCE));
	kverbs_cq_put(&sharer->set, cq, &need);
}

/* Whether its work has begun or not. */
static void cq_that_connections_share_is_empty_when_it_is_returned(struct kunit *test)
{
	const struct kverbs_cq_need need = need_of(0, 10);
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get_need(test, sharer->hca, &need);
	struct waiter *waiter;

	KUNIT_EXPECT_PTR_EQ(test, cq, get_need(test, sharer->hca, &need));
	mutex_lock(&cq->poll_lock);
	waiter = await(test, cq, RECVS);
	mutex_unlock(&cq->poll_lock);
	kverbs_cq_put(&sharer->set, cq, &need);
	KUNIT_EXPECT_EQ(test, RECVS, waiter->nr);
	kverbs_cq_put(&sharer->set, cq, &need);
}

static int never(void *arg)
{
	return signal_pending(current) ? -EINTR : 0;
}

/* A task that is woken sends an interrupt to a CPU unless that is marked as polling. */
static int is_marked(void *arg)
{
	int *marked = arg;

#ifdef TIF_POLLING_NRFLAG
	*marked = test_thread_flag(TIF_POLLING_NRFLAG);
#else
	*marked = 0;
#endif
	return 1;
}

static void cq_is_polled_as_by_any_other_task(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	int marked = -1;

	KUNIT_EXPECT_EQ(test, 0, kverbs_cq_poll_until(&sharer->set, 0, is_marked, &marked));
	KUNIT_EXPECT_EQ(test, 0, marked);
	KUNIT_EXPECT_EQ(test, -ETIME,
			kverbs_cq_poll_until(&sharer->set, ktime_get_ns() + NSEC_PER_MSEC,
					     never, NULL));
}

/**
 * struct exhauster - a thread that polls all queues
 * @work: runs it
 * @set: the queues
 */
struct exhauster {
	struct work_struct work;
	struct kverbs_cq_set *set;
};

static void exhaust(struct work_struct *work)
{
	kverbs_cq_set_poll_all(container_of(work, struct exhauster, work)->set);
}

/* The caller of poll_all relies on it that no completion is left. */
static void cq_is_polled_dry_though_another_task_polls(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, ROOM);
	struct waiter *waiter = await(test, cq, ROOM);
	struct exhauster exhauster = { .set = &sharer->set };

	INIT_WORK_ONSTACK(&exhauster.work, exhaust);
	mutex_lock(&sharer->set.lock);
	queue_work(system_unbound_wq, &exhauster.work);
	KUNIT_EXPECT_EQ(test, 0, waiter->nr);
	mutex_unlock(&sharer->set.lock);
	flush_work(&exhauster.work);
	destroy_work_on_stack(&exhauster.work);
	KUNIT_EXPECT_EQ(test, ROOM, waiter->nr);
	put(sharer, cq, ROOM);
}

/**
 * struct ours - a waiter that says who told it
 * @waiter: the waiter
 * @task: who handled the completion
 */
struct ours {
	struct waiter waiter;
	struct task_struct *task;
};

static void ours_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ours *ours = container_of(wc->wr_cqe, struct ours, waiter.cqe);

	ours->task = current;
	waiter_done(cq, wc);
}

static bool is_told(void *arg)
{
	return try_wait_for_completion(&((struct ours *)arg)->waiter.done);
}

/* Polling costs time of the waiting task, not of a kernel thread. */
static void cq_is_polled_by_the_task_that_waits(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct ours *ours = kunit_kzalloc(test, sizeof(*ours), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ours);
	begin_await(&ours->waiter, cq, 1, ours_done);
	KUNIT_EXPECT_EQ(test, 0, kverbs_cq_set_await(&sharer->set, is_told, ours,
						     FAKE_PATIENCE));
	KUNIT_EXPECT_PTR_EQ(test, current, ours->task);
	put(sharer, cq, 1);
}

static bool is_never(void *arg)
{
	return false;
}

static void cq_is_polled_until_the_deadline(struct kunit *test)
{
	struct sharer *sharer = test->priv;

	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_cq_set_await(&sharer->set, is_never, NULL, 2));
}

/**
 * struct listener - a waiter that records its context
 * @waiter: the waiter
 * @in_softirq: all completions were reported in softirq context
 */
struct listener {
	struct waiter waiter;
	bool in_softirq;
};

static void listener_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct listener *listener = container_of(wc->wr_cqe, struct listener, waiter.cqe);

	if (!in_serving_softirq())
		listener->in_softirq = false;
	waiter_done(cq, wc);
}

static void cq_completes_in_a_softirq(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct listener listener = { .waiter.cqe.done = listener_done, .in_softirq = true };
	struct ib_wc wc = { .wr_cqe = &listener.waiter.cqe };

	init_completion(&listener.waiter.done);
	KUNIT_EXPECT_EQ(test, IB_POLL_SOFTIRQ, cq->ib->poll_ctx);
	fake_cq_push(cq->ib, &wc);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&listener.waiter.done, FAKE_PATIENCE));
	KUNIT_EXPECT_TRUE(test, listener.in_softirq);
	put(sharer, cq, 1);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(cq_with_interrupts_belongs_to_one_connection),
	KUNIT_CASE(cq_with_interrupts_is_shared_by_connections_that_share_receives),
	KUNIT_CASE(cq_has_room_for_the_receives_of_a_shared_queue_once),
	KUNIT_CASE(cq_that_joins_another_has_room_for_all_receives_too),
	KUNIT_CASE(cq_for_a_shared_queue_may_be_as_small_as_the_device_has),
	KUNIT_CASE(cq_that_connections_share_completes_by_interrupts),
	KUNIT_CASE(cq_that_connections_share_is_empty_when_it_is_returned),
	KUNIT_CASE(cq_has_room_for_all_completions),
	KUNIT_CASE(cq_is_limited_by_the_device),
	KUNIT_CASE(cq_error_is_returned),
	{}
};

static struct kunit_case direct_cases[] = {
	KUNIT_CASE(cq_is_shared_while_it_has_room),
	KUNIT_CASE(cq_without_room_is_joined_by_another),
	KUNIT_CASE(cq_room_that_is_returned_is_used_again),
	KUNIT_CASE(cq_has_room_for_the_receives_of_a_shared_queue_once),
	KUNIT_CASE(cq_that_joins_another_has_room_for_all_receives_too),
	KUNIT_CASE(cq_of_a_direct_set_serves_several_shared_queues),
	KUNIT_CASE(cq_for_a_shared_queue_may_be_as_small_as_the_device_has),
	KUNIT_CASE(cq_has_room_for_all_completions),
	KUNIT_CASE(cq_is_limited_by_the_device),
	KUNIT_CASE(cq_error_is_returned),
	KUNIT_CASE(cq_belongs_to_one_device),
	KUNIT_CASE(cq_is_empty_when_it_is_returned),
	KUNIT_CASE(cq_is_polled_as_by_any_other_task),
	KUNIT_CASE(cq_of_a_direct_set_is_polled_by_its_waiters),
	KUNIT_CASE(cq_is_polled_by_one_task_at_a_time),
	KUNIT_CASE(cq_that_is_busy_does_not_delay_the_next),
	KUNIT_CASE(cq_is_polled_dry_though_another_task_polls),
	KUNIT_CASE(cq_is_polled_by_the_task_that_waits),
	KUNIT_CASE(cq_is_polled_until_the_deadline),
	{}
};

static struct kunit_case softirq_cases[] = {
	KUNIT_CASE(cq_with_interrupts_belongs_to_one_connection),
	KUNIT_CASE(cq_completes_in_a_softirq),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "kverbs_cq",
	.init = cq_init,
	.exit = cq_exit,
	.test_cases = cq_cases,
};

static struct kunit_suite direct_suite = {
	.name = "kverbs_cq_direct",
	.init = direct_init,
	.exit = cq_exit,
	.test_cases = direct_cases,
};

static struct kunit_suite softirq_suite = {
	.name = "kverbs_cq_softirq",
	.init = in_softirq_init,
	.exit = cq_exit,
	.test_cases = softirq_cases,
};

kunit_test_suites(&cq_suite, &direct_suite, &softirq_suite);
