// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ranges of a region, and references to it. */
#include <linux/mman.h>

#include "fake_region.h"
#include "memory.h"

#define LENGTH	10000

static const struct part {
	const char *what;
	u64 offset;
	u64 length;
	bool covered;
} ranges[] = {
	{ "all of it", 0, LENGTH, true },
	{ "its first byte", 0, 1, true },
	{ "its last byte", LENGTH - 1, 1, true },
	{ "nothing at its start", 0, 0, true },
	{ "nothing at its end", LENGTH, 0, true },
	{ "one byte too long", 0, LENGTH + 1, false },
	{ "one byte too far", 1, LENGTH, false },
	{ "a byte at its end", LENGTH, 1, false },
	{ "nothing beyond its end", LENGTH + 1, 0, false },
	{ "a byte beyond its end", LENGTH + 1, 1, false },
	{ "a length that wraps to 0", 1, U64_MAX, false },
	{ "a length that wraps into it", LENGTH / 2, U64_MAX - 100, false },
	{ "an offset that wraps", U64_MAX, 1, false },
	{ "an offset that wraps into it", U64_MAX - 10, 100, false },
	{ "both at their largest", U64_MAX, U64_MAX, false },
};

KUNIT_ARRAY_PARAM_DESC(ranges, ranges, what);

static void region_covers_ranges_within_it(struct kunit *test)
{
	const struct kverbs_region region = { .length = LENGTH };
	const struct part *range = test->param_value;

	KUNIT_EXPECT_EQ(test, range->covered,
			kverbs_region_covers(&region, range->offset, range->length));
}

static void region_of_the_largest_length_is_checked_at_its_borders(struct kunit *test)
{
	const struct kverbs_region region = { .length = U64_MAX };

	KUNIT_EXPECT_TRUE(test, kverbs_region_covers(&region, 0, U64_MAX));
	KUNIT_EXPECT_TRUE(test, kverbs_region_covers(&region, U64_MAX, 0));
	KUNIT_EXPECT_FALSE(test, kverbs_region_covers(&region, 1, U64_MAX));
	KUNIT_EXPECT_FALSE(test, kverbs_region_covers(&region, U64_MAX, 1));
}

/* A waiter sees the region idle only after the last reference is dropped. */
static void region_is_idle_after_its_last_use(struct kunit *test)
{
	struct kverbs_region *region = &fake_region_create(test, NULL, 0, LENGTH)->region;
	DEFINE_WAIT(wait);

	prepare_to_wait(&region->idle, &wait, TASK_UNINTERRUPTIBLE);
	kverbs_region_use(region);
	kverbs_region_use(region);
	kverbs_region_unuse(region);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&region->uses));
	KUNIT_EXPECT_FALSE(test, list_empty(&wait.entry));
	kverbs_region_unuse(region);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	KUNIT_EXPECT_TRUE(test, list_empty(&wait.entry));
	finish_wait(&region->idle, &wait);
}

/* All slots of many rings together can use a region more often than an int counts. */
static void region_is_busy_with_any_number_of_uses(struct kunit *test)
{
	struct kverbs_region *region = &fake_region_create(test, NULL, 0, LENGTH)->region;

	KUNIT_EXPECT_FALSE(test, kverbs_region_is_busy(region));
	kverbs_region_use_many(region, INT_MAX);
	kverbs_region_use(region);
	KUNIT_EXPECT_TRUE(test, kverbs_region_is_busy(region));
	kverbs_region_use_many(region, INT_MAX);
	kverbs_region_use(region);
	KUNIT_EXPECT_TRUE(test, kverbs_region_is_busy(region));
	kverbs_region_unuse_many(region, 2L * INT_MAX + 2);
	KUNIT_EXPECT_FALSE(test, kverbs_region_is_busy(region));
}

static void region_needs_a_length(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(kverbs_region_create(PAGE_SIZE, 0, true)));
}

static const struct part endless[] = {
	{ "the largest length", PAGE_SIZE, U64_MAX },
	{ "a length up to the last address", PAGE_SIZE, U64_MAX - PAGE_SIZE },
	{ "an end that wraps", ULONG_MAX - 10, 100 },
	{ "an end in the last page", ULONG_MAX - 100, 50 },
};

KUNIT_ARRAY_PARAM_DESC(endless, endless, what);

static void region_does_not_wrap(struct kunit *test)
{
	const struct part *range = test->param_value;
	struct kverbs_region *region;

	region = kverbs_region_create(range->offset, range->length, true);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(region));
}

static void region_is_not_kernel_memory(struct kunit *test)
{
	unsigned long addr = (unsigned long)test;

	if (IS_ENABLED(CONFIG_UML))
		kunit_skip(test, "an address of this kernel can be one of user space");
	KUNIT_EXPECT_EQ(test, -EFAULT,
			PTR_ERR(kverbs_region_create(addr, PAGE_SIZE, true)));
}

static unsigned long map_user(struct kunit *test, unsigned long length, int prot)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, length, prot,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, 0, addr);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	return addr;
}

static void region_has_the_pages_that_it_touches(struct kunit *test)
{
	unsigned long addr = map_user(test, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE);
	struct kverbs_region *region;

	region = kverbs_region_create(addr + PAGE_SIZE - 1, PAGE_SIZE + 2, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_EQ(test, 3, region->npages);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE - 1, region->page_offset);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE + 2, region->length);
	KUNIT_EXPECT_EQ(test, 3, atomic64_read(&current->mm->pinned_vm));
	kverbs_region_destroy(region);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

static void region_that_cannot_be_written_is_not_writable(struct kunit *test)
{
	unsigned long addr = map_user(test, PAGE_SIZE, PROT_READ);
	struct kverbs_region *region;

	region = kverbs_region_create(addr, PAGE_SIZE, true);
	KUNIT_EXPECT_EQ(test, -EFAULT, PTR_ERR(region));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
	region = kverbs_region_create(addr, PAGE_SIZE, false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	kverbs_region_destroy(region);
}

/* The module must not read for a task what the task could not read itself. */
static void region_that_cannot_be_read_is_refused(struct kunit *test)
{
	unsigned long addr = map_user(test, PAGE_SIZE, PROT_NONE);

	KUNIT_EXPECT_EQ(test, -EFAULT, PTR_ERR(kverbs_region_create(addr, PAGE_SIZE, false)));
	KUNIT_EXPECT_EQ(test, -EFAULT, PTR_ERR(kverbs_region_create(addr, PAGE_SIZE, true)));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

/* The upper byte is that of the memory's allocator. */
static void region_may_have_a_tagged_address(struct kunit *test)
{
	unsigned long addr = map_user(test, PAGE_SIZE, PROT_READ | PROT_WRITE);
	unsigned long tagged = addr | (unsigned long)(0x5aULL << 56);
	struct kverbs_region *region;
	unsigned int writable;

	if (!IS_ENABLED(CONFIG_ARM64))
		kunit_skip(test, "addresses of this architecture have no tags");
	for (writable = 0; writable < 2; writable++) {
		region = kverbs_region_create(tagged + 5, 100, writable);
		KUNIT_ASSERT_FALSE(test, IS_ERR(region));
		KUNIT_EXPECT_EQ(test, 5, region->page_offset);
		KUNIT_EXPECT_EQ(test, 1, region->npages);
		kverbs_region_destroy(region);
	}
}

static void region_with_a_hole_is_refused_and_unpinned(struct kunit *test)
{
	unsigned long addr = map_user(test, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE);

	KUNIT_ASSERT_EQ(test, 0, vm_munmap(addr + PAGE_SIZE, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, -EFAULT,
			PTR_ERR(kverbs_region_create(addr, 2 * PAGE_SIZE, true)));
	KUNIT_EXPECT_EQ(test, -EFAULT,
			PTR_ERR(kverbs_region_create(addr, 2 * PAGE_SIZE, false)));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

static void region_of_memory_is_what_the_first_region_is(struct kunit *test)
{
	unsigned long addr = map_user(test, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE);
	struct kverbs_region *region, *other;

	region = kverbs_region_create(addr + 100, 2 * PAGE_SIZE, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	other = kverbs_region_of_memory(region->memory, false, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE, other->length);
	KUNIT_EXPECT_EQ(test, 100, other->page_offset);
	KUNIT_EXPECT_EQ(test, 3, other->npages);
	KUNIT_EXPECT_FALSE(test, other->writable);
	KUNIT_EXPECT_PTR_EQ(test, kverbs_region_byte(region, 5000),
			    kverbs_region_byte(other, 5000));
	kverbs_region_destroy(other);
	kverbs_region_destroy(region);
}

static void memory_is_pinned_once_until_its_last_region_is_destroyed(struct kunit *test)
{
	unsigned long addr = map_user(test, PAGE_SIZE, PROT_READ | PROT_WRITE);
	struct kverbs_region *region, *other;

	region = kverbs_region_create(addr, PAGE_SIZE, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	other = kverbs_region_of_memory(region->memory, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&current->mm->pinned_vm));
	kverbs_region_use(other);
	KUNIT_EXPECT_FALSE(test, kverbs_region_is_busy(region));
	kverbs_region_destroy(region);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&current->mm->pinned_vm));
	kverbs_region_unuse(other);
	kverbs_region_destroy(other);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

static void region_is_not_more_writable_than_its_memory(struct kunit *test)
{
	unsigned long addr = map_user(test, PAGE_SIZE, PROT_READ | PROT_WRITE);
	struct kverbs_region *region;

	region = kverbs_region_create(addr, PAGE_SIZE, false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_EQ(test, -EACCES,
			PTR_ERR(kverbs_region_of_memory(region->memory, true, GFP_KERNEL)));
	kverbs_region_destroy(region);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE_PARAM(region_covers_ranges_within_it, ranges_gen_params),
	KUNIT_CASE(region_of_the_largest_length_is_checked_at_its_borders),
	KUNIT_CASE(region_is_idle_after_its_last_use),
	KUNIT_CASE(region_is_busy_with_any_number_of_uses),
	KUNIT_CASE(region_needs_a_length),
	KUNIT_CASE_PARAM(region_does_not_wrap, endless_gen_params),
	KUNIT_CASE(region_is_not_kernel_memory),
	KUNIT_CASE(region_has_the_pages_that_it_touches),
	KUNIT_CASE(region_that_cannot_be_written_is_not_writable),
	KUNIT_CASE(region_that_cannot_be_read_is_refused),
	KUNIT_CASE(region_may_have_a_tagged_address),
	KUNIT_CASE(region_with_a_hole_is_refused_and_unpinned),
	KUNIT_CASE(region_of_memory_is_what_the_first_region_is),
	KUNIT_CASE(memory_is_pinned_once_until_its_last_region_is_destroyed),
	KUNIT_CASE(region_is_not_more_writable_than_its_memory),
	{}
};

static struct kunit_suite region_suite = {
	.name = "kverbs_region",
	.test_cases = region_cases,
};

kunit_test_suite(region_suite);
