// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for a byte of memory. */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>

#include "fake_file.h"

#define OLD	7

/**
 * struct watched - a ring, and a byte of the test's memory
 * @ring: the ring
 * @watch: the byte
 * @page: its page
 * @work: changes the ring or the byte while the task polls
 */
struct watched {
	struct kverbs_ring *ring;
	struct kverbs_watch watch;
	struct page *page;
	struct work_struct work;
};

static void set_byte(struct watched *w, u8 value)
{
	WRITE_ONCE(*(u8 *)page_address(w->page), value);
}

static void unpin(void *data)
{
	struct watched *w = data;

	unpin_user_page(w->page);
}

static void map_byte(struct kunit *test, struct watched *w)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, 0, addr);
	KUNIT_ASSERT_EQ(test, 1, pin_user_pages_fast(addr, 1, FOLL_WRITE, &w->page));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unpin, w));
	w->watch.at = (const u8 __user *)addr;
	w->watch.old = OLD;
	set_byte(w, OLD);
}

static int watch_init(struct kunit *test)
{
	struct watched *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->ring = fake_ring_create(test, fake_file_create(test), 4, 8);
	map_byte(test, w);
	test->priv = w;
	return 0;
}

static void cancel(void *data)
{
	struct watched *w = data;

	cancel_work_sync(&w->work);
}

static void do_later(struct kunit *test, work_func_t what)
{
	struct watched *w = test->priv;

	INIT_WORK(&w->work, what);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, cancel, w));
	queue_work(system_unbound_wq, &w->work);
}

static struct watched *watched_of(struct work_struct *work)
{
	return container_of(work, struct watched, work);
}

static void change_byte(struct work_struct *work)
{
	set_byte(watched_of(work), OLD + 1);
}

static void complete_one(struct work_struct *work)
{
	fake_ring_event(watched_of(work)->ring, 1);
}

static void shut_down(struct work_struct *work)
{
	struct kverbs_object *obj = &watched_of(work)->ring->obj;

	obj->ops->shutdown(obj);
}

static void watch_ends_when_the_byte_has_changed(struct kunit *test)
{
	struct watched *w = test->priv;

	set_byte(w, OLD + 1);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(w->ring));
}

static void watch_ends_when_enough_completions_are_there(struct kunit *test)
{
	struct watched *w = test->priv;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(w->ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_watch(w->ring, 2, 1, &w->watch));
}

static void watch_with_a_past_deadline_polls_once(struct kunit *test)
{
	struct watched *w = test->priv;

	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_watch(w->ring, 1, 1, &w->watch));
	set_byte(w, OLD + 1);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 1, &w->watch));
}

static void watch_lasts_until_its_deadline(struct kunit *test)
{
	u64 deadline = ktime_get_ns() + 20 * NSEC_PER_MSEC;
	struct watched *w = test->priv;

	KUNIT_EXPECT_EQ(test, -ETIME, kverbs_ring_watch(w->ring, 1, deadline, &w->watch));
	KUNIT_EXPECT_GE(test, ktime_get_ns(), deadline);
}

static void watch_sees_the_byte_change(struct kunit *test)
{
	struct watched *w = test->priv;

	do_later(test, change_byte);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(w->ring));
}

static void watch_ends_with_a_completion(struct kunit *test)
{
	struct watched *w = test->priv;

	do_later(test, complete_one);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	KUNIT_EXPECT_EQ(test, 1, kverbs_ring_unread(w->ring));
}

static void watch_ends_with_the_ring(struct kunit *test)
{
	struct watched *w = test->priv;

	do_later(test, shut_down);
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	w->ring->obj.ops->restart(&w->ring->obj);
}

static void watch_is_interrupted_by_a_signal(struct kunit *test)
{
	struct watched *w = test->priv;

	allow_signal(SIGINT);
	send_sig(SIGINT, current, 1);
	KUNIT_EXPECT_EQ(test, -ERESTARTNOHAND, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	flush_signals(current);
	disallow_signal(SIGINT);
}

static void watch_ends_when_there_is_no_byte(struct kunit *test)
{
	struct watched *w = test->priv;

	KUNIT_ASSERT_EQ(test, 0, vm_munmap((unsigned long)w->watch.at, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, -EFAULT, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(w->ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_watch(w->ring, 1, 0, &w->watch));
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(watch_ends_when_the_byte_has_changed),
	KUNIT_CASE(watch_ends_when_enough_completions_are_there),
	KUNIT_CASE(watch_with_a_past_deadline_polls_once),
	KUNIT_CASE(watch_lasts_until_its_deadline),
	KUNIT_CASE(watch_sees_the_byte_change),
	KUNIT_CASE(watch_ends_with_a_completion),
	KUNIT_CASE(watch_ends_with_the_ring),
	KUNIT_CASE(watch_is_interrupted_by_a_signal),
	KUNIT_CASE(watch_ends_when_there_is_no_byte),
	{}
};

static struct kunit_suite watch_suite = {
	.name = "kverbs_watch",
	.init = watch_init,
	.test_cases = watch_cases,
};

kunit_test_suite(watch_suite);
