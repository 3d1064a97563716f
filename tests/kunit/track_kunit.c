// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which changes of its memory make a region stale, and how that is told. */
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fake_file.h"
#include "region.h"
#include "region_cmd.h"

#define NPAGES	4
#define SLOTS	4
#define DATA	0x7ac

/**
 * struct scene - a process's memory, and a ring
 * @file: the file
 * @ring: the ring
 * @addr: the memory, NPAGES of it, between two pages that are not mapped
 */
struct scene {
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	unsigned long addr;
};

static int track_init(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	if (!IS_ENABLED(CONFIG_MMU_NOTIFIER))
		kunit_skip(test, "the kernel has no MMU notifiers");
	s->addr = kunit_vm_mmap(test, NULL, 0, (NPAGES + 2) * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, s->addr);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr + (NPAGES + 1) * PAGE_SIZE, PAGE_SIZE));
	s->addr += PAGE_SIZE;
	s->file = fake_file_create(test);
	s->ring = fake_ring_create(test, s->file, 4, SLOTS);
	test->priv = s;
	return 0;
}

static struct kverbs_cmd_region_create a_cmd(struct scene *s)
{
	return (struct kverbs_cmd_region_create) {
		.flags = KVERBS_REGION_TRACK,
		.addr = s->addr,
		.length = NPAGES * PAGE_SIZE,
		.ring_id = s->ring->obj.id,
		.user_data = DATA,
	};
}

static int try_create(struct scene *s, struct kverbs_cmd_region_create *cmd,
		      struct kverbs_region_obj **region_obj)
{
	struct kverbs_ucmd ucmd = { .file = s->file, .cmd = cmd };
	int ret = kverbs_cmd_region_create(&ucmd);

	if (ret)
		return ret;
	kverbs_object_publish(ucmd.new);
	*region_obj = container_of(ucmd.new, struct kverbs_region_obj, obj);
	return 0;
}

static struct kverbs_region_obj *create(struct kunit *test, u64 offset, u64 length)
{
	struct scene *s = test->priv;
	struct kverbs_cmd_region_create cmd = a_cmd(s);
	struct kverbs_region_obj *region_obj = NULL;

	cmd.addr += offset;
	cmd.length = length;
	KUNIT_ASSERT_EQ(test, 0, try_create(s, &cmd, &region_obj));
	return region_obj;
}

static u32 nr_stale(struct scene *s)
{
	return READ_ONCE(fake_ring_kernel(s->ring)->stale);
}

static void expect_told(struct kunit *test, const struct kverbs_region_obj *region_obj, u32 nr)
{
	struct scene *s = test->priv;
	const struct kverbs_cqe *cqe = fake_ring_cqe(s->ring, nr - 1);

	KUNIT_EXPECT_EQ(test, nr, nr_stale(s));
	KUNIT_EXPECT_EQ(test, nr, fake_ring_kernel(s->ring)->cq_tail);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_REGION_STALE, cqe->type);
	KUNIT_EXPECT_EQ(test, region_obj->obj.id, cqe->id);
	KUNIT_EXPECT_EQ(test, DATA, cqe->user_data);
	KUNIT_EXPECT_EQ(test, 0, cqe->result);
}

static void expect_not_told(struct kunit *test)
{
	struct scene *s = test->priv;

	KUNIT_EXPECT_EQ(test, 0, nr_stale(s));
	KUNIT_EXPECT_EQ(test, 0, fake_ring_kernel(s->ring)->cq_tail);
}

static void track_tells_of_munmap(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, 0, NPAGES * PAGE_SIZE);

	expect_not_told(test);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, NPAGES * PAGE_SIZE));
	expect_told(test, region_obj, 1);
}

static void track_tells_of_a_mapping_over_the_memory(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, 0, NPAGES * PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, s->addr + PAGE_SIZE,
			vm_mmap(NULL, s->addr + PAGE_SIZE, PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0));
	expect_told(test, region_obj, 1);
}

/* The last page has one byte of the region. */
static void track_covers_whole_pages_and_no_others(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, PAGE_SIZE + 100, PAGE_SIZE - 99);

	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr + 3 * PAGE_SIZE, PAGE_SIZE));
	expect_not_told(test);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr + 2 * PAGE_SIZE, PAGE_SIZE));
	expect_told(test, region_obj, 1);
}

static void track_tells_once(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, 0, NPAGES * PAGE_SIZE);
	unsigned int i;

	for (i = 0; i < NPAGES; i++)
		KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr + i * PAGE_SIZE, PAGE_SIZE));
	expect_told(test, region_obj, 1);
}

static void track_tells_of_each_region(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *first = create(test, 0, PAGE_SIZE);
	struct kverbs_region_obj *second = create(test, PAGE_SIZE, PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	expect_told(test, first, 1);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr + PAGE_SIZE, PAGE_SIZE));
	expect_told(test, second, 2);
}

static void track_keeps_the_pages_of_a_stale_region(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj;

	KUNIT_ASSERT_EQ(test, 0, put_user((u8)0x5a, (u8 __user *)s->addr));
	region_obj = create(test, 0, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 0x5a, *kverbs_region_byte(region_obj->region, 0));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&current->mm->pinned_vm));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, region_obj->obj.id));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

/* Reading maps the zero page, which is replaced when the memory is pinned. */
static void track_does_not_tell_of_pages_replaced_by_pinning(struct kunit *test)
{
	struct scene *s = test->priv;
	u8 first, second;

	KUNIT_ASSERT_EQ(test, 0, get_user(first, (u8 __user *)s->addr));
	KUNIT_ASSERT_EQ(test, 0, get_user(second, (u8 __user *)(s->addr + PAGE_SIZE)));
	KUNIT_EXPECT_EQ(test, 0, first + second);
	create(test, 0, NPAGES * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, put_user((u8)1, (u8 __user *)s->addr));
	KUNIT_EXPECT_EQ(test, NPAGES, atomic64_read(&current->mm->pinned_vm));
	expect_not_told(test);
}

static void track_reserves_a_slot_until_the_region_is_destroyed(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_cmd_region_create cmd = a_cmd(s);
	struct kverbs_region_obj *region_obj = NULL;
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		KUNIT_ASSERT_EQ(test, 0, try_create(s, &cmd, &region_obj));
	KUNIT_EXPECT_EQ(test, -EAGAIN, try_create(s, &cmd, &region_obj));
	KUNIT_EXPECT_EQ(test, SLOTS * NPAGES, atomic64_read(&current->mm->pinned_vm));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, region_obj->obj.id));
	KUNIT_EXPECT_EQ(test, 0, try_create(s, &cmd, &region_obj));
	/* All slots are needed, and are there. */
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, SLOTS, nr_stale(s));
	KUNIT_EXPECT_EQ(test, SLOTS, kverbs_ring_unread(s->ring));
}

static void track_keeps_its_ring_busy(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, 0, PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(s->file, s->ring->obj.id));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(s->file, s->ring->obj.id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, region_obj->obj.id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, s->ring->obj.id));
}

static void track_of_memory_that_cannot_be_pinned_leaves_nothing(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_cmd_region_create cmd = a_cmd(s);
	struct kverbs_region_obj *region_obj = NULL;

	cmd.length = (NPAGES + 1) * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, -EFAULT, try_create(s, &cmd, &region_obj));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, NPAGES * PAGE_SIZE));
	expect_not_told(test);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(s->ring, SLOTS));
	kverbs_ring_unreserve(s->ring, SLOTS);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, s->ring->obj.id));
}

#ifdef CONFIG_MMU_NOTIFIER
static const struct event {
	const char *what;
	enum mmu_notifier_event event;
	bool stale;
} events[] = {
	{ "UNMAP", MMU_NOTIFY_UNMAP, true },
	{ "CLEAR", MMU_NOTIFY_CLEAR, true },
	{ "PROTECTION_VMA", MMU_NOTIFY_PROTECTION_VMA, false },
	{ "PROTECTION_PAGE", MMU_NOTIFY_PROTECTION_PAGE, false },
	{ "SOFT_DIRTY", MMU_NOTIFY_SOFT_DIRTY, false },
	{ "RELEASE", MMU_NOTIFY_RELEASE, true },
	{ "MIGRATE", MMU_NOTIFY_MIGRATE, false },
	{ "EXCLUSIVE", MMU_NOTIFY_EXCLUSIVE, false },
};

KUNIT_ARRAY_PARAM_DESC(events, events, what);

static bool notify(struct kunit *test, struct kverbs_track *track, enum mmu_notifier_event event,
		   unsigned int flags)
{
	struct scene *s = test->priv;
	const struct mmu_notifier_range range = {
		.start = s->addr, .end = s->addr + PAGE_SIZE, .event = event, .flags = flags,
	};

	return track->notifier.ops->invalidate(&track->notifier, &range,
					       track->notifier.invalidate_seq + 2);
}

static void track_knows_events_that_replace_pages(struct kunit *test)
{
	const struct event *event = test->param_value;
	struct scene *s = test->priv;
	struct kverbs_region_obj *region_obj = create(test, 0, PAGE_SIZE);

	KUNIT_EXPECT_TRUE(test, notify(test, &region_obj->track, event->event,
				       MMU_NOTIFIER_RANGE_BLOCKABLE));
	KUNIT_EXPECT_EQ(test, event->stale, nr_stale(s));
}

static void track_tells_where_it_must_not_wait(struct kunit *test)
{
	struct kverbs_region_obj *region_obj = create(test, 0, PAGE_SIZE);

	KUNIT_EXPECT_TRUE(test, notify(test, &region_obj->track, MMU_NOTIFY_UNMAP, 0));
	expect_told(test, region_obj, 1);
}

static unsigned int nr_changed;

static void count_change(struct kverbs_track *track)
{
	nr_changed++;
}

static unsigned long begin_track(struct kunit *test, struct kverbs_track *track)
{
	struct scene *s = test->priv;

	nr_changed = 0;
	KUNIT_ASSERT_EQ(test, 0, kverbs_track_start(track, s->addr, 1));
	return kverbs_track_begin(track);
}

static void track_asks_for_another_pin_if_pages_changed(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_track track = { .changed = count_change };
	unsigned long seq;

	seq = begin_track(test, &track);
	KUNIT_ASSERT_EQ(test, 0, put_user((u8)1, (u8 __user *)s->addr));
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, kverbs_track_arm(&track, seq, false));
	KUNIT_EXPECT_FALSE(test, track.stale);
	/* Nothing changes from here on. */
	seq = kverbs_track_begin(&track);
	KUNIT_EXPECT_TRUE(test, kverbs_track_arm(&track, seq, false));
	KUNIT_EXPECT_FALSE(test, track.stale);
	KUNIT_EXPECT_EQ(test, 0, nr_changed);
	kverbs_track_stop(&track);
}

static void track_is_stale_from_the_start_if_pages_change_each_time(struct kunit *test)
{
	struct scene *s = test->priv;
	struct kverbs_track track = { .changed = count_change };
	unsigned long seq;

	seq = begin_track(test, &track);
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(s->addr, PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, kverbs_track_arm(&track, seq, true));
	KUNIT_EXPECT_TRUE(test, track.stale);
	KUNIT_EXPECT_EQ(test, 1, nr_changed);
	kverbs_track_stop(&track);
}
#endif

static struct kunit_case track_cases[] = {
	KUNIT_CASE(track_tells_of_munmap),
	KUNIT_CASE(track_tells_of_a_mapping_over_the_memory),
	KUNIT_CASE(track_covers_whole_pages_and_no_others),
	KUNIT_CASE(track_tells_once),
	KUNIT_CASE(track_tells_of_each_region),
	KUNIT_CASE(track_keeps_the_pages_of_a_stale_region),
	KUNIT_CASE(track_does_not_tell_of_pages_replaced_by_pinning),
	KUNIT_CASE(track_reserves_a_slot_until_the_region_is_destroyed),
	KUNIT_CASE(track_keeps_its_ring_busy),
	KUNIT_CASE(track_of_memory_that_cannot_be_pinned_leaves_nothing),
#ifdef CONFIG_MMU_NOTIFIER
	KUNIT_CASE_PARAM(track_knows_events_that_replace_pages, events_gen_params),
	KUNIT_CASE(track_tells_where_it_must_not_wait),
	KUNIT_CASE(track_asks_for_another_pin_if_pages_changed),
	KUNIT_CASE(track_is_stale_from_the_start_if_pages_change_each_time),
#endif
	{}
};

static struct kunit_suite track_suite = {
	.name = "kverbs_track",
	.init = track_init,
	.test_cases = track_cases,
};

kunit_test_suite(track_suite);
