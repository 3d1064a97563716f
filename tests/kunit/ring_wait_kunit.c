// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creating and destroying a ring, and waiting for its completions. */
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "fake_file.h"
#include "patience.h"

#define SLOTS	8

static int ring_init(struct kunit *test)
{
	test->priv = fake_ring_create(test, fake_file_create(test), 4, SLOTS);
	return 0;
}

static const struct bad_ring {
	const char *what;
	struct kverbs_cmd_ring_create cmd;
} bad_rings[] = {
	{ "no submission entries", { .sq_entries = 0, .cq_entries = 1 } },
	{ "no completions", { .sq_entries = 1, .cq_entries = 0 } },
	{ "3 submission entries", { .sq_entries = 3, .cq_entries = 4 } },
	{ "3 completions", { .sq_entries = 4, .cq_entries = 3 } },
	{ "too many submission entries",
	  { .sq_entries = 2 * KVERBS_MAX_SQ_ENTRIES, .cq_entries = 1 } },
	{ "too many completions",
	  { .sq_entries = 1, .cq_entries = 2 * KVERBS_MAX_CQ_ENTRIES } },
	{ "2^31 submission entries", { .sq_entries = 1U << 31, .cq_entries = 1 } },
	{ "2^31 completions", { .sq_entries = 1, .cq_entries = 1U << 31 } },
	{ "2^32 - 1 of each", { .sq_entries = U32_MAX, .cq_entries = U32_MAX } },
	{ "an unknown flag", { .flags = 16, .sq_entries = 1, .cq_entries = 1 } },
	{ "a reserved field", { .sq_entries = 1, .cq_entries = 1, .__reserved = 1 } },
	{ "polled and told of",
	  { .flags = KVERBS_RING_BUSY_POLL | KVERBS_RING_EVENTFD,
	    .sq_entries = 1, .cq_entries = 1 } },
	{ "an eventfd without its flag",
	  { .sq_entries = 1, .cq_entries = 1, .event_fd = 1 } },
};

KUNIT_ARRAY_PARAM_DESC(bad_rings, bad_rings, what);

static void ring_that_is_malformed_is_refused(struct kunit *test)
{
	const struct bad_ring *bad = test->param_value;
	struct kverbs_file *file = fake_file_create(test);
	struct kverbs_cmd_ring_create cmd = bad->cmd;
	struct kverbs_ring *ring;

	KUNIT_EXPECT_EQ(test, -EINVAL, fake_ring_try_create(file, &cmd, &ring));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&file->objects.count));
	KUNIT_EXPECT_TRUE(test, xa_empty(&file->rings));
}

static void ring_of_the_largest_size_is_created(struct kunit *test)
{
	struct kverbs_ring *ring;

	ring = fake_ring_create(test, fake_file_create(test), KVERBS_MAX_SQ_ENTRIES,
				KVERBS_MAX_CQ_ENTRIES);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, KVERBS_MAX_CQ_ENTRIES));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	kverbs_ring_unreserve(ring, KVERBS_MAX_CQ_ENTRIES);
}

static void ring_reports_its_offsets_and_sizes(struct kunit *test)
{
	struct kverbs_cmd_ring_create cmd = { .sq_entries = 64, .cq_entries = 256 };
	struct kverbs_ring *ring = NULL;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(fake_file_create(test), &cmd, &ring));
	KUNIT_EXPECT_EQ(test, ring->obj.id, cmd.out_id);
	KUNIT_EXPECT_GE(test, cmd.out_sq_size, 64 * sizeof(struct kverbs_sqe));
	KUNIT_EXPECT_GE(test, cmd.out_cq_size, sizeof(struct kverbs_ring_kernel) +
			256 * sizeof(struct kverbs_cqe));
	KUNIT_EXPECT_GE(test, cmd.out_idx_size, sizeof(struct kverbs_ring_user));
	KUNIT_EXPECT_GE(test, cmd.out_cq_offset, cmd.out_sq_offset + cmd.out_sq_size);
	KUNIT_EXPECT_GE(test, cmd.out_idx_offset, cmd.out_cq_offset + cmd.out_cq_size);
	KUNIT_EXPECT_EQ(test, 64, fake_ring_kernel(ring)->sq_entries);
	KUNIT_EXPECT_EQ(test, 256, fake_ring_kernel(ring)->cq_entries);
	KUNIT_EXPECT_EQ(test, 0, fake_ring_kernel(ring)->cq_tail);
}

static void rings_do_not_overlap(struct kunit *test)
{
	struct kverbs_cmd_ring_create first = {
		.sq_entries = KVERBS_MAX_SQ_ENTRIES,
		.cq_entries = KVERBS_MAX_CQ_ENTRIES,
	};
	struct kverbs_cmd_ring_create second = { .sq_entries = 1, .cq_entries = 1 };
	struct kverbs_file *file = fake_file_create(test);
	struct kverbs_ring *ring;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(file, &first, &ring));
	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(file, &second, &ring));
	KUNIT_EXPECT_GE(test, first.out_cq_offset, first.out_sq_offset + first.out_sq_size);
	KUNIT_EXPECT_GE(test, first.out_idx_offset,
			first.out_cq_offset + first.out_cq_size);
	KUNIT_EXPECT_GE(test, second.out_sq_offset,
			first.out_idx_offset + first.out_idx_size);
}

static void rings_of_a_file_are_limited(struct kunit *test)
{
	struct kverbs_cmd_ring_create cmd = { .sq_entries = 1, .cq_entries = 1 };
	struct kverbs_file *file = fake_file_create(test);
	struct kverbs_ring *ring = NULL, *more;
	unsigned int i;

	for (i = 0; i < KVERBS_MAX_RINGS; i++)
		KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(file, &cmd, &ring));
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_ring_try_create(file, &cmd, &more));
	KUNIT_EXPECT_EQ(test, KVERBS_MAX_RINGS, atomic_read(&file->objects.count));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(file, ring->obj.id));
	KUNIT_EXPECT_EQ(test, 0, fake_ring_try_create(file, &cmd, &ring));
}

static void ring_with_a_reservation_or_a_user_is_busy(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_file *file = ring->obj.file;

	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(ring, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(file, ring->obj.id));
	kverbs_ring_unreserve(ring, 1);
	atomic_inc(&ring->users);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(file, ring->obj.id));
	atomic_dec(&ring->users);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(file, ring->obj.id));
	KUNIT_EXPECT_TRUE(test, xa_empty(&file->rings));
}

static void ring_with_unread_completions_can_be_destroyed(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(ring->obj.file, ring->obj.id));
}

static void wait_ends_when_enough_completions_are_there(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 1, 0));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 1, 1));
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 2, 1));
}

static void wait_with_a_past_deadline_only_polls(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, 1));
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, ktime_get_ns() - 1));
}

static void wait_lasts_until_its_deadline(struct kunit *test)
{
	u64 deadline = ktime_get_ns() + 20 * NSEC_PER_MSEC;
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, deadline));
	KUNIT_EXPECT_GE(test, ktime_get_ns(), deadline);
}

/**
 * struct later - an event while the test waits
 * @work: runs it
 * @ring: the ring
 * @nr: number of completions to write
 */
struct later {
	struct work_struct work;
	struct kverbs_ring *ring;
	unsigned int nr;
};

/* Waking takes a waiter off the queue; it queues again after checking its condition. */
static struct later *await_waiter(struct work_struct *work)
{
	struct later *later = container_of(work, struct later, work);

	FAKE_SOON(wq_has_sleeper(&later->ring->wait));
	return later;
}

static void write_completions(struct work_struct *work)
{
	struct later *later = await_waiter(work);

	while (later->nr--)
		fake_ring_event(later->ring, later->nr);
}

static void write_one_after_another(struct work_struct *work)
{
	struct later *later = container_of(work, struct later, work);

	while (later->nr--)
		fake_ring_event(await_waiter(work)->ring, later->nr);
}

static void shut_down(struct work_struct *work)
{
	struct later *later = await_waiter(work);

	later->ring->obj.ops->shutdown(&later->ring->obj);
}

static void forbid_waits(struct work_struct *work)
{
	struct later *later = await_waiter(work);

	WRITE_ONCE(fake_ring_user(later->ring)->flags, KVERBS_UFLAG_NO_WAIT);
	kverbs_ring_wake(later->ring);
}

static void cancel(void *data)
{
	struct later *later = data;

	cancel_work_sync(&later->work);
}

static struct later *do_later(struct kunit *test, work_func_t what, unsigned int nr)
{
	struct later *later = kunit_kzalloc(test, sizeof(*later), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, later);
	INIT_WORK(&later->work, what);
	later->ring = test->priv;
	later->nr = nr;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, cancel, later));
	queue_work(system_unbound_wq, &later->work);
	return later;
}

/* 0 is no deadline, and a time that the clock cannot reach is the same. */
static const u64 endless[] = { 0, KTIME_MAX, (u64)KTIME_MAX + 1, U64_MAX };

static void describe_deadline(const u64 *deadline, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "deadline %llu", *deadline);
}

KUNIT_ARRAY_PARAM(endless, endless, describe_deadline);

static void wait_without_end_is_woken_by_completions(struct kunit *test)
{
	const u64 *deadline = test->param_value;
	struct kverbs_ring *ring = test->priv;

	do_later(test, write_completions, 3);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 3, *deadline));
	KUNIT_EXPECT_EQ(test, 3, kverbs_ring_unread(ring));
}

static void wait_continues_if_too_few_completions_arrived(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	do_later(test, write_one_after_another, 3);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 3, 0));
	KUNIT_EXPECT_EQ(test, 3, kverbs_ring_unread(ring));
}

static void wait_ends_with_the_ring(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	do_later(test, shut_down, 0);
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_ring_wait(ring, 1, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_ring_wait(ring, 1, 0));
	ring->obj.ops->restart(&ring->obj);
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, 1));
}

static void wait_is_not_begun_if_the_user_forbids_it(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_FALSE(test, kverbs_ring_events(ring) & EPOLLIN);
	WRITE_ONCE(fake_ring_user(ring)->flags, KVERBS_UFLAG_NO_WAIT);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 1, 0));
	KUNIT_EXPECT_TRUE(test, kverbs_ring_events(ring) & EPOLLIN);
	WRITE_ONCE(fake_ring_user(ring)->flags, 0);
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, 1));
}

static void wait_without_end_is_ended_by_a_wake(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	do_later(test, forbid_waits, 0);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 1, 0));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(ring));
}

static void wait_is_interrupted_by_a_signal(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	allow_signal(SIGINT);
	send_sig(SIGINT, current, 1);
	KUNIT_EXPECT_EQ(test, -ERESTARTNOHAND, kverbs_ring_wait(ring, 1, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_wait(ring, 1, 0));
	flush_signals(current);
	disallow_signal(SIGINT);
}

/**
 * struct teller - a completion that the user sees before the kernel has counted it
 * @work: shows it, and counts it later
 * @ring: to which ring
 * @shown: the user has read it
 * @looking: the kernel is about to look for unread ones
 */
struct teller {
	struct work_struct work;
	struct kverbs_ring *ring;
	struct completion shown;
	bool looking;
};

/* An interrupt may come between the two halves of kverbs_ring_publish(). */
static void show_and_count_later(struct work_struct *work)
{
	struct teller *teller = container_of(work, struct teller, work);
	struct kverbs_ring *ring = teller->ring;

	spin_lock_bh(&ring->lock);
	fake_ring_kernel(ring)->cq_tail = 1;
	fake_ring_user(ring)->cq_head = 1;
	complete(&teller->shown);
	while (!READ_ONCE(teller->looking))
		cpu_relax();
	mdelay(2);
	WRITE_ONCE(ring->cq_tail, 1);
	spin_unlock_bh(&ring->lock);
}

static void wait_is_not_ended_by_a_completion_read_before_it_was_counted(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct teller teller = { .ring = ring };

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	init_completion(&teller.shown);
	INIT_WORK_ONSTACK(&teller.work, show_and_count_later);
	queue_work(system_unbound_wq, &teller.work);
	wait_for_completion(&teller.shown);
	WRITE_ONCE(teller.looking, true);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_wait(ring, 1, 1));
	flush_work(&teller.work);
	destroy_work_on_stack(&teller.work);
}

static void completions_wake_a_poll_of_the_file(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	DEFINE_WAIT(wait);

	prepare_to_wait(&ring->obj.file->wait, &wait, TASK_INTERRUPTIBLE);
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_TRUE(test, list_empty_careful(&wait.entry));
	finish_wait(&ring->obj.file->wait, &wait);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE_PARAM(ring_that_is_malformed_is_refused, bad_rings_gen_params),
	KUNIT_CASE(ring_of_the_largest_size_is_created),
	KUNIT_CASE(ring_reports_its_offsets_and_sizes),
	KUNIT_CASE(rings_do_not_overlap),
	KUNIT_CASE(rings_of_a_file_are_limited),
	KUNIT_CASE(ring_with_a_reservation_or_a_user_is_busy),
	KUNIT_CASE(ring_with_unread_completions_can_be_destroyed),
	KUNIT_CASE(wait_ends_when_enough_completions_are_there),
	KUNIT_CASE(wait_with_a_past_deadline_only_polls),
	KUNIT_CASE(wait_lasts_until_its_deadline),
	KUNIT_CASE_PARAM(wait_without_end_is_woken_by_completions, endless_gen_params),
	KUNIT_CASE(wait_continues_if_too_few_completions_arrived),
	KUNIT_CASE(wait_ends_with_the_ring),
	KUNIT_CASE(wait_is_not_begun_if_the_user_forbids_it),
	KUNIT_CASE(wait_without_end_is_ended_by_a_wake),
	KUNIT_CASE(wait_is_interrupted_by_a_signal),
	KUNIT_CASE(wait_is_not_ended_by_a_completion_read_before_it_was_counted),
	KUNIT_CASE(completions_wake_a_poll_of_the_file),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "kverbs_ring_wait",
	.init = ring_init,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
