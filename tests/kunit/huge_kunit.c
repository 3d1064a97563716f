// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory in huge pages: one MR covers as much of it as the adapter can. */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "device.h"
#include "export.h"
#include "fake_conn.h"
#include "fake_region.h"
#include "mr.h"
#include "profile.h"

#define RIGHTS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ)
/* Aligned to 2 MiB and to nothing larger */
#define FIRST		(0x140000000ULL + SZ_2M)
#define SECOND		(0x340000000ULL + SZ_2M)

/**
 * struct pool - the MRs of an adapter, and a region
 * @profile: the adapter
 * @hca: its device
 * @pool: its MRs
 * @fake: the region
 */
struct pool {
	const struct fake_profile *profile;
	struct fake_hca *hca;
	struct kverbs_mr_pool pool;
	struct fake_region *fake;
};

static void destroy_pool(void *data)
{
	struct pool *pool = data;

	kverbs_mr_pool_destroy(&pool->pool);
}

static struct pool *pool_of(struct kunit *test, unsigned int page_offset, u64 length)
{
	struct pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	pool->profile = test->param_value;
	pool->hca = fake_hca_create(test);
	pool->hca->profile = pool->profile;
	pool->hca->limits = pool->profile->limits;
	pool->hca->ib.attrs = pool->profile->limits;
	pool->hca->ib.ops.driver_id = pool->profile->driver;
	kverbs_mr_pool_init(&pool->pool);
	pool->pool.pd = &pool->hca->pd;
	pool->pool.pages = min(512U, pool->profile->limits.max_fast_reg_page_list_len);
	pool->fake = fake_region_create(test, &pool->hca->ib, page_offset, length);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_pool, pool));
	return pool;
}

static bool is_huge(const struct pool *pool)
{
	return pool->profile->ways & FAKE_HUGE_PAGES;
}

/* The largest page of the device that is not larger than the kernel's. */
static u32 small_page(const struct pool *pool)
{
	u32 size = PAGE_SIZE;

	while (size > SZ_4K && !(pool->profile->limits.page_size_cap & size))
		size /= 2;
	return size;
}

/* The most that one MR of such pages covers. */
static u64 usual(const struct pool *pool)
{
	return (u64)pool->pool.pages << PAGE_SHIFT;
}

static unsigned int count(const struct pool *pool, u64 offset, u64 length)
{
	return kverbs_mr_count(&pool->pool, &pool->fake->map, offset, length, NULL);
}

static u64 reach(const struct pool *pool, u64 offset, u64 length)
{
	return kverbs_mr_reach(&pool->pool, &pool->fake->map, offset, length, NULL);
}

static struct kverbs_mr *get(struct kunit *test, struct pool *pool, u64 offset, u64 length)
{
	struct kverbs_mr *mr = kverbs_mr_get(&pool->pool, &pool->fake->map, offset, length,
					     RIGHTS, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, length, mr->ib->length);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pool->hca->misread);
	return mr;
}

static void gibibyte_in_huge_pages_takes_as_few_mrs_as_the_adapter_can(struct kunit *test)
{
	struct pool *pool = pool_of(test, 100, SZ_1G - 100);
	u64 length = pool->fake->region.length, most = (u64)pool->pool.pages * SZ_2M;
	struct fake_mr *fake;
	struct kverbs_mr *mr;

	fake_region_add_span(test, pool->fake, FIRST, SZ_512M);
	fake_region_add_span(test, pool->fake, SECOND, SZ_512M);
	if (!is_huge(pool)) {
		KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(SZ_1G, usual(pool)), count(pool, 0, length));
		return;
	}
	/* Where the list is short, an MR of larger pages covers a whole span. */
	if (most < SZ_512M) {
		KUNIT_EXPECT_EQ(test, 2, count(pool, 0, length));
		KUNIT_EXPECT_EQ(test, SZ_512M - 100, reach(pool, 0, length));
		return;
	}
	KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(SZ_1G, most), count(pool, 0, length));
	mr = get(test, pool, 0, reach(pool, 0, length));
	fake = to_fake_mr(mr->ib);
	KUNIT_EXPECT_EQ(test, SZ_2M, mr->ib->page_size);
	KUNIT_EXPECT_EQ(test, pool->pool.pages, fake->nr_pages);
	KUNIT_EXPECT_EQ(test, FIRST, fake->pages[0]);
	KUNIT_EXPECT_EQ(test, FIRST + 255 * (u64)SZ_2M, fake->pages[255]);
	KUNIT_EXPECT_EQ(test, SECOND, fake->pages[256]);
	/* The peer learns no more of the address than the device needs. */
	KUNIT_EXPECT_EQ(test, 100, mr->ib->iova);
}

/* Where an MR begins in the middle of a huge page, its address is that within the page. */
static void mr_may_begin_anywhere_in_a_huge_page(struct kunit *test)
{
	struct pool *pool = pool_of(test, 0, SZ_512M);
	u64 length = (u64)pool->pool.pages * SZ_1M;
	struct kverbs_mr *mr;

	fake_region_add_span(test, pool->fake, FIRST, SZ_512M);
	if (!is_huge(pool))
		return;
	mr = get(test, pool, SZ_1M + 5, min_t(u64, length, SZ_512M - SZ_2M));
	KUNIT_EXPECT_GT(test, mr->ib->page_size, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, (FIRST + SZ_1M + 5) & (mr->ib->page_size - 1), mr->ib->iova);
	KUNIT_EXPECT_EQ(test, (FIRST + SZ_1M) & ~(mr->ib->page_size - 1ULL),
			to_fake_mr(mr->ib)->pages[0]);
}

/* The address that the peer uses has the offset in the page that the memory has. */
static void pages_are_as_large_as_the_chosen_address_permits(struct kunit *test)
{
	const u64 like = 0x7f0000000000 + (FIRST & (SZ_1G - 1)), unlike = like + PAGE_SIZE;
	struct pool *pool = pool_of(test, 0, SZ_512M);
	const struct kverbs_map *map = &pool->fake->map;
	u64 usual_nr = DIV_ROUND_UP(SZ_512M, usual(pool));
	struct kverbs_mr *mr;

	fake_region_add_span(test, pool->fake, FIRST, SZ_512M);
	KUNIT_EXPECT_EQ(test, count(pool, 0, SZ_512M),
			kverbs_mr_count(&pool->pool, map, 0, SZ_512M, &like));
	KUNIT_EXPECT_EQ(test, usual_nr, kverbs_mr_count(&pool->pool, map, 0, SZ_512M, &unlike));
	mr = kverbs_mr_get(&pool->pool, map, 0, usual(pool), RIGHTS, &unlike);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, unlike, mr->ib->iova);
	KUNIT_EXPECT_EQ(test, small_page(pool), mr->ib->page_size);
}

static void mr_ends_where_pages_are_small(struct kunit *test)
{
	unsigned int i, scattered = 40;
	u64 head = (u64)scattered * PAGE_SIZE, length = head + SZ_128M;
	struct pool *pool = pool_of(test, 0, length);
	u64 first;

	for (i = 0; i < scattered; i++)
		fake_region_add_span(test, pool->fake, fake_region_page(i), PAGE_SIZE);
	fake_region_add_span(test, pool->fake, FIRST, SZ_128M);
	first = reach(pool, 0, length);
	KUNIT_EXPECT_EQ(test, usual(pool), first);
	KUNIT_EXPECT_EQ(test, small_page(pool), get(test, pool, 0, first)->ib->page_size);
	if (is_huge(pool))
		KUNIT_EXPECT_EQ(test, 2, count(pool, 0, length));
	else
		KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(length, usual(pool)), count(pool, 0, length));
}

static void gaps_between_small_pages_prevent_large_ones(struct kunit *test)
{
	struct pool *pool = pool_of(test, 0, 8 * (SZ_2M + PAGE_SIZE));
	u64 length = pool->fake->region.length;
	unsigned int i;

	for (i = 0; i < 8; i++)
		fake_region_add_span(test, pool->fake, FIRST + i * (u64)SZ_4M,
				     SZ_2M + PAGE_SIZE);
	/* Each span, or what is left of it, may be an MR of its own. */
	KUNIT_EXPECT_LE(test, count(pool, 0, length), DIV_ROUND_UP(length, usual(pool)));
	while (length) {
		u64 offset = pool->fake->region.length - length;
		u64 part = reach(pool, offset, length);

		KUNIT_ASSERT_GT(test, part, 0);
		get(test, pool, offset, part);
		length -= part;
	}
}

/* Smaller pages tell the peer less, and cost no more if they are few. */
static void few_pages_are_small_ones(struct kunit *test)
{
	struct pool *pool = pool_of(test, 0, SZ_4M);
	struct kverbs_mr *mr;

	fake_region_add_span(test, pool->fake, FIRST, SZ_4M);
	mr = get(test, pool, SZ_1M + 7, KVERBS_MR_FEW * PAGE_SIZE - 7);
	KUNIT_EXPECT_EQ(test, small_page(pool), mr->ib->page_size);
	KUNIT_EXPECT_EQ(test, 7, mr->ib->iova);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_SMALL, mr->size);
}

/* 32 MiB are 16 huge pages, for which a small MR does. */
static void few_huge_pages_take_a_small_mr(struct kunit *test)
{
	struct pool *pool = pool_of(test, 0, 32 * SZ_1M);
	struct kverbs_mr *mr;

	fake_region_add_span(test, pool->fake, FIRST, 32 * SZ_1M);
	if (!is_huge(pool))
		return;
	mr = get(test, pool, 0, 32 * SZ_1M);
	KUNIT_EXPECT_EQ(test, SZ_2M, mr->ib->page_size);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_SMALL, mr->size);
}

/* ---- bytes --------------------------------------------------------------- */

#define MEM		((u64)SZ_4M)
#define MEM_ORDER	get_order(SZ_4M)

/**
 * struct huge - a connection to itself, and a region whose map is of two huge pages
 * @fake: the connection
 * @region: the region
 * @pages: the huge pages, the second one first
 */
struct huge {
	struct fake_conn *fake;
	struct kverbs_region *region;
	u8 *pages;
};

static void destroy_region(void *data)
{
	struct huge *huge = data;

	fake_conn_destroy(huge->fake);
	kverbs_region_destroy(huge->region);
	free_pages((unsigned long)huge->pages, MEM_ORDER);
}

static void map_huge_pages(struct kunit *test, struct huge *huge)
{
	struct kverbs_map *map = kverbs_map_get(huge->region, &huge->fake->hca->ib, NULL);
	struct kverbs_span *spans = kvcalloc(2, sizeof(*spans), GFP_KERNEL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(map));
	KUNIT_ASSERT_NOT_NULL(test, spans);
	spans[0] = (struct kverbs_span) { 0, (uintptr_t)huge->pages + MEM / 2, MEM / 2 };
	spans[1] = (struct kverbs_span) { MEM / 2, (uintptr_t)huge->pages, MEM / 2 };
	kvfree(map->spans);
	map->spans = spans;
	map->nr_spans = 2;
}

static struct huge *huge_region(struct kunit *test)
{
	struct fake_hca *hca = fake_profile_device(test, test->param_value);
	struct huge *huge = kunit_kzalloc(test, sizeof(*huge), GFP_KERNEL);
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, MEM, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NOT_NULL(test, huge);
	KUNIT_ASSERT_NE(test, 0, addr);
	huge->pages = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, MEM_ORDER);
	if (!huge->pages)
		kunit_skip(test, "no contiguous memory");
	huge->fake = fake_conn_create(test, hca);
	huge->region = kverbs_region_create(addr, MEM, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(huge->region));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_region, huge));
	fake_conn_go(huge->fake, FAKE_UP);
	map_huge_pages(test, huge);
	return huge;
}

/* The byte of @pages at which an offset in the region is. */
static u8 *byte_at(struct huge *huge, u64 offset)
{
	return huge->pages + (offset + MEM / 2) % MEM;
}

static void write_byte(struct kunit *test, struct huge *huge,
		       const struct kverbs_segment *segs, u64 offset)
{
	struct fake_work *work = fake_conn_work(huge->fake, KVERBS_OP_WRITE, 0, 1);
	u64 skip = offset;

	for (; skip >= segs->length; segs++)
		skip -= segs->length;
	work->req.rkey = segs->rkey;
	work->req.remote_addr = segs->addr + skip;
	KUNIT_ASSERT_EQ(test, 0, fake_conn_try_post(huge->fake, work));
	KUNIT_ASSERT_TRUE(test, fake_await(&work->done));
	KUNIT_EXPECT_EQ(test, 0, work->req.result);
}

static const u64 places[] = { 0, 1, SZ_1M, MEM / 2 - 101, MEM / 2 - 100, MEM - 201 };

/* From the 101st byte of the region on to its 101st but last */
static void peer_writes_where_it_means_to(struct kunit *test)
{
	struct huge *huge = huge_region(test);
	const struct fake_profile *profile = test->param_value;
	const struct kverbs_export_range range = {
		.region = huge->region, .offset = 100, .length = MEM - 200,
	};
	struct kverbs_export *export;
	struct kverbs_segment *segs;
	unsigned int i, nr;

	KUNIT_ASSERT_EQ(test, 0, put_user(0x5a, (u8 __user *)huge->fake->addr));
	KUNIT_ASSERT_EQ(test, 0, kverbs_export_count(huge->fake->conn, &range, &nr));
	if (profile->ways & FAKE_HUGE_PAGES)
		KUNIT_EXPECT_EQ(test, 1, nr);
	segs = kunit_kcalloc(test, nr, sizeof(*segs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, segs);
	export = kverbs_export_create(huge->fake->conn, huge->region, 100, MEM - 200,
				      KVERBS_REMOTE_WRITE, segs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		write_byte(test, huge, segs, places[i]);
		KUNIT_EXPECT_EQ(test, 0x5a, *byte_at(huge, 100 + places[i]));
		*byte_at(huge, 100 + places[i]) = 0;
	}
	/* No other byte has changed. */
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(huge->pages, 0, MEM));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_PTR_EQ(test, NULL, huge->fake->hca->misread);
}

static struct kunit_case huge_cases[] = {
	KUNIT_CASE_PARAM(gibibyte_in_huge_pages_takes_as_few_mrs_as_the_adapter_can,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(mr_may_begin_anywhere_in_a_huge_page, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(pages_are_as_large_as_the_chosen_address_permits,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(mr_ends_where_pages_are_small, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(gaps_between_small_pages_prevent_large_ones,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(few_pages_are_small_ones, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(few_huge_pages_take_a_small_mr, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(peer_writes_where_it_means_to, fake_usable_profile_gen_params),
	{}
};

static struct kunit_suite huge_suite = {
	.name = "kverbs_huge",
	.test_cases = huge_cases,
};

kunit_test_suite(huge_suite);
