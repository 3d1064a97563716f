// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fast-registration MRs: their coverage, their keys, and their pool. */
#include "fake_hca.h"
#include "fake_region.h"
#include "mr.h"

#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ)

/* Most free MRs that a pool keeps */
#define KEPT	32

/**
 * struct pool - a pool and a region to register
 * @hca: the device
 * @pool: the pool
 * @fake: the region: one scattered page more than fit into an MR
 */
struct pool {
	struct fake_hca *hca;
	struct kverbs_mr_pool pool;
	struct fake_region *fake;
};

static int mr_init(struct kunit *test)
{
	struct pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	pool->hca = fake_hca_create(test);
	kverbs_mr_pool_init(&pool->pool);
	pool->pool.pd = &pool->hca->pd;
	pool->pool.pages = FAKE_MR_PAGES;
	pool->fake = fake_region_scattered(test, &pool->hca->ib, 40, FAKE_MR_PAGES + 1);
	test->priv = pool;
	return 0;
}

static void mr_exit(struct kunit *test)
{
	struct pool *pool = test->priv;

	if (!pool)
		return;
	kverbs_mr_pool_destroy(&pool->pool);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pool->hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
}

static struct kverbs_mr *get(struct pool *pool, u64 offset, u64 length)
{
	return kverbs_mr_get(&pool->pool, &pool->fake->map, offset, length, ACCESS,
			     NULL);
}

static struct kverbs_mr *must_get(struct kunit *test, u64 offset, u64 length)
{
	struct kverbs_mr *mr = get(test->priv, offset, length);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	return mr;
}

/* Byte ranges of the region, which starts 40 bytes into its first page. */
static const struct covered {
	const char *what;
	u64 offset;
	u64 length;
	unsigned int first_page;
	unsigned int nr_pages;
} covered[] = {
	{ "the first byte", 0, 1, 0, 1 },
	{ "to the first page's end", 0, PAGE_SIZE - 40, 0, 1 },
	{ "a byte more than that", 0, PAGE_SIZE - 39, 0, 2 },
	{ "a whole page", PAGE_SIZE - 40, PAGE_SIZE, 1, 1 },
	{ "a byte of each of two", PAGE_SIZE - 41, 2, 0, 2 },
	{ "as much as fits", 0, FAKE_MR_PAGES * PAGE_SIZE - 40, 0, FAKE_MR_PAGES },
	{ "the last byte", (FAKE_MR_PAGES + 1) * PAGE_SIZE - 41, 1, FAKE_MR_PAGES, 1 },
};

KUNIT_ARRAY_PARAM_DESC(covered, covered, what);

static void mr_covers_its_range_and_nothing_else(struct kunit *test)
{
	const struct covered *range = test->param_value;
	struct kverbs_mr *mr = must_get(test, range->offset, range->length);
	struct fake_mr *fake = to_fake_mr(mr->ib);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, range->length, mr->ib->length);
	KUNIT_EXPECT_EQ(test, (40 + range->offset) % PAGE_SIZE, mr->ib->iova);
	KUNIT_ASSERT_EQ(test, range->nr_pages, fake->nr_pages);
	for (i = 0; i < fake->nr_pages; i++)
		KUNIT_EXPECT_EQ(test, fake_region_page(range->first_page + i),
				fake->pages[i]);
}

/* As on a kernel with larger pages than the device's. */
static void mr_has_more_entries_if_the_pages_of_the_device_are_smaller(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct fake_mr *fake;
	struct kverbs_mr *mr;
	unsigned int i;

	pool->hca->ib.attrs.page_size_cap = (PAGE_SIZE / 2) | SZ_2M;
	mr = must_get(test, PAGE_SIZE / 2, FAKE_MR_PAGES * PAGE_SIZE - 100 - PAGE_SIZE / 2);
	fake = to_fake_mr(mr->ib);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE / 2, mr->ib->page_size);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_MR_PAGES, fake->max_pages);
	KUNIT_ASSERT_EQ(test, 2 * FAKE_MR_PAGES - 1, fake->nr_pages);
	for (i = 0; i < fake->nr_pages; i++)
		KUNIT_EXPECT_EQ(test, fake_region_page((i + 1) / 2) + (i + 1) % 2 * PAGE_SIZE / 2,
				fake->pages[i]);
	/* The address within the page of the device is what counts. */
	KUNIT_EXPECT_EQ(test, 40, mr->ib->iova % (PAGE_SIZE / 2));
}

/* rdmavt looks a local key up by the address that it knows from the mapping. */
static void mr_without_remote_access_keeps_its_address(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = kverbs_mr_get(&pool->pool, &pool->fake->map, PAGE_SIZE, 100,
					     IB_ACCESS_LOCAL_WRITE, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, fake_region_page(1) + 40, mr->ib->iova);
}

static void mr_is_ready_to_be_posted(struct kunit *test)
{
	struct kverbs_mr *mr = must_get(test, 0, 100);

	KUNIT_EXPECT_EQ(test, KVERBS_MR_MAPPED, mr->state);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, mr->wr.wr.opcode);
	KUNIT_EXPECT_PTR_EQ(test, mr->ib, mr->wr.mr);
	KUNIT_EXPECT_EQ(test, mr->ib->rkey, mr->wr.key);
	KUNIT_EXPECT_EQ(test, ACCESS, mr->wr.access);
}

static void mr_of_too_many_pages_is_refused(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = get(pool, 0, pool->fake->region.length);

	KUNIT_EXPECT_TRUE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pool->hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
}

static void mr_returns_the_error_of_the_device(struct kunit *test)
{
	struct pool *pool = test->priv;

	pool->hca->errors[FAKE_ALLOC_MR] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(get(pool, 0, 1)));
	pool->hca->errors[FAKE_ALLOC_MR] = 0;
	must_get(test, 0, 1);
}

static void mr_uses_its_region_until_it_is_freed(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *first = must_get(test, 0, 1);
	struct kverbs_mr *second = must_get(test, 0, 1);

	KUNIT_EXPECT_EQ(test, 2, atomic_long_read(&pool->fake->region.uses));
	kverbs_mr_free(&pool->pool, first);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&pool->fake->region.uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pool->hca->nr_mrs));
	kverbs_mr_free(&pool->pool, second);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
}

/* As long as the peer may have a way to it. */
static void mr_that_cannot_be_deregistered_keeps_its_region(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = must_get(test, 0, 1);

	pool->hca->errors[FAKE_DEREG_MR] = -ETIMEDOUT;
	kverbs_mr_free(&pool->pool, mr);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&pool->fake->region.uses));
	pool->hca->errors[FAKE_DEREG_MR] = 0;
	kverbs_mr_pool_destroy(&pool->pool);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pool->hca->nr_mrs));
}

static void mr_that_is_recycled_is_used_again(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = must_get(test, 0, 1);

	kverbs_mr_recycle(&pool->pool, mr);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_FREE, mr->state);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pool->hca->nr_mrs));
	KUNIT_EXPECT_PTR_EQ(test, mr, must_get(test, 8, 100));
	KUNIT_EXPECT_EQ(test, 100, mr->ib->length);
	KUNIT_EXPECT_EQ(test, 1, pool->hca->nr_allocs);
}

/* A peer that knows an old key must not reach what the MR covers later. */
static void mr_has_another_key_every_time(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = must_get(test, 0, 1);
	u32 old = mr->ib->rkey;
	int i;

	for (i = 0; i < 2000; i++) {
		kverbs_mr_recycle(&pool->pool, mr);
		mr = must_get(test, 0, 1);
		KUNIT_ASSERT_NE(test, old, mr->ib->rkey);
		KUNIT_ASSERT_EQ(test, old >> 8, mr->ib->rkey >> 8);
		KUNIT_ASSERT_EQ(test, mr->ib->rkey & 0xff, mr->ib->lkey & 0xff);
		old = mr->ib->rkey;
	}
}

static void mr_key_cannot_be_guessed(struct kunit *test)
{
	struct pool *pool = test->priv;
	DECLARE_BITMAP(seen, 256) = {};
	struct kverbs_mr *mr;
	int i;

	for (i = 0; i < 2000; i++) {
		mr = must_get(test, 0, 1);
		__set_bit(mr->ib->rkey & 0xff, seen);
		kverbs_mr_recycle(&pool->pool, mr);
	}
	KUNIT_EXPECT_GT(test, bitmap_weight(seen, 256), 200);
}

static void mr_is_revoked_by_its_key(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = must_get(test, 0, 1);
	struct kverbs_mr *other = must_get(test, 0, 1);

	mr->state = KVERBS_MR_VALID;
	other->state = KVERBS_MR_VALID;
	kverbs_mr_publish(&pool->pool, mr);
	kverbs_mr_publish(&pool->pool, other);
	kverbs_mr_revoke(&pool->pool, mr->ib->rkey);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, mr->state);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_VALID, other->state);
}

/* A peer must not revoke the connection's own registrations. */
static void mr_is_revoked_only_if_it_is_public(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr = must_get(test, 0, 1);

	mr->state = KVERBS_MR_VALID;
	kverbs_mr_revoke(&pool->pool, mr->ib->rkey);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_VALID, mr->state);
	kverbs_mr_publish(&pool->pool, mr);
	kverbs_mr_recycle(&pool->pool, mr);
	kverbs_mr_revoke(&pool->pool, mr->ib->rkey);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_FREE, mr->state);
}

static void mr_pool_keeps_a_limited_number(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *mr[KEPT + 8];
	int i;

	for (i = 0; i < ARRAY_SIZE(mr); i++)
		mr[i] = must_get(test, 0, 1);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(mr), atomic_read(&pool->hca->nr_mrs));
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		kverbs_mr_recycle(&pool->pool, mr[i]);
	KUNIT_EXPECT_EQ(test, KEPT, atomic_read(&pool->hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
}

static unsigned int pages_of(const struct kverbs_mr *mr)
{
	return to_fake_mr(mr->ib)->max_pages;
}

/* Every device pays for all that an MR can cover. */
static void mr_is_no_larger_than_necessary(struct kunit *test)
{
	struct pool *pool = test->priv;
	struct kverbs_mr *small, *large;

	pool->pool.pages = FAKE_MR_LARGE;
	pool->fake = fake_region_scattered(test, &pool->hca->ib, 0, FAKE_MR_LARGE);
	small = must_get(test, 0, 1);
	large = must_get(test, 0, 16 * PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, 16, pages_of(small));
	KUNIT_EXPECT_EQ(test, FAKE_MR_LARGE, pages_of(large));
	kverbs_mr_recycle(&pool->pool, large);
	kverbs_mr_recycle(&pool->pool, small);
	KUNIT_EXPECT_PTR_EQ(test, small, must_get(test, PAGE_SIZE, 16 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 16, pages_of(must_get(test, PAGE_SIZE, 1)));
	KUNIT_EXPECT_PTR_EQ(test, large, must_get(test, 100, 16 * PAGE_SIZE));
}

static void mr_pool_frees_all_mrs(struct kunit *test)
{
	struct pool *pool = test->priv;

	kverbs_mr_recycle(&pool->pool, must_get(test, 0, 1));
	must_get(test, 0, 1)->state = KVERBS_MR_POSTED;
	must_get(test, 0, 1)->state = KVERBS_MR_VALID;
	kverbs_mr_pool_destroy(&pool->pool);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pool->hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&pool->fake->region.uses));
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(mr_covers_its_range_and_nothing_else, covered_gen_params),
	KUNIT_CASE(mr_has_more_entries_if_the_pages_of_the_device_are_smaller),
	KUNIT_CASE(mr_without_remote_access_keeps_its_address),
	KUNIT_CASE(mr_is_ready_to_be_posted),
	KUNIT_CASE(mr_of_too_many_pages_is_refused),
	KUNIT_CASE(mr_returns_the_error_of_the_device),
	KUNIT_CASE(mr_uses_its_region_until_it_is_freed),
	KUNIT_CASE(mr_that_cannot_be_deregistered_keeps_its_region),
	KUNIT_CASE(mr_that_is_recycled_is_used_again),
	KUNIT_CASE(mr_has_another_key_every_time),
	KUNIT_CASE(mr_key_cannot_be_guessed),
	KUNIT_CASE(mr_is_revoked_by_its_key),
	KUNIT_CASE(mr_is_revoked_only_if_it_is_public),
	KUNIT_CASE(mr_pool_keeps_a_limited_number),
	KUNIT_CASE(mr_is_no_larger_than_necessary),
	KUNIT_CASE(mr_pool_frees_all_mrs),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "kverbs_mr",
	.init = mr_init,
	.exit = mr_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);
