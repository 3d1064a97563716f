// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From offsets in a region to DMA addresses. */
#include "fake_region.h"

#define LKEY	0x77

static int sges(struct fake_region *fake, u64 offset, u64 length, struct ib_sge *sge,
		int max)
{
	return kverbs_map_sges(&fake->map, offset, length, LKEY, sge, max);
}

static void expect_sge(struct kunit *test, const struct ib_sge *sge, u64 addr, u32 length)
{
	KUNIT_EXPECT_EQ(test, addr, sge->addr);
	KUNIT_EXPECT_EQ(test, length, sge->length);
	KUNIT_EXPECT_EQ(test, LKEY, sge->lkey);
}

static void map_find_in_one_span(struct kunit *test)
{
	struct fake_region *fake = fake_region_create(test, NULL, 0, 3 * PAGE_SIZE);

	fake_region_add_span(test, fake, 0x5000, 3 * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, &fake->spans[0], kverbs_map_find(&fake->map, 0));
	KUNIT_EXPECT_PTR_EQ(test, &fake->spans[0],
			    kverbs_map_find(&fake->map, 3 * PAGE_SIZE - 1));
}

/* Each span is found by its first and last byte, for any number of spans. */
static void map_find_at_all_borders(struct kunit *test)
{
	struct fake_region *fake = fake_region_create(test, NULL, 0, FAKE_SPANS * PAGE_SIZE);
	unsigned int nr, i;

	for (nr = 1; nr <= FAKE_SPANS; nr++) {
		fake_region_add_span(test, fake, fake_region_page(nr), nr * PAGE_SIZE);
		for (i = 0; i < nr; i++) {
			struct kverbs_span *span = &fake->spans[i];
			u64 last = span->start + span->length - 1;

			KUNIT_ASSERT_PTR_EQ(test, span,
					    kverbs_map_find(&fake->map, span->start));
			KUNIT_ASSERT_PTR_EQ(test, span, kverbs_map_find(&fake->map, last));
		}
	}
}

static void map_find_beyond_4_gib(struct kunit *test)
{
	struct fake_region *fake = fake_region_create(test, NULL, 0, 24ULL << 30);

	fake_region_add_span(test, fake, 1ULL << 40, 12ULL << 30);
	fake_region_add_span(test, fake, 1ULL << 41, 12ULL << 30);
	KUNIT_EXPECT_PTR_EQ(test, &fake->spans[0],
			    kverbs_map_find(&fake->map, (12ULL << 30) - 1));
	KUNIT_EXPECT_PTR_EQ(test, &fake->spans[1], kverbs_map_find(&fake->map, 12ULL << 30));
}

static void map_sges_of_nothing_are_none(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 0, 2);
	struct ib_sge sge = {};

	KUNIT_EXPECT_EQ(test, 0, sges(fake, 0, 0, &sge, 1));
	KUNIT_EXPECT_EQ(test, 0, sges(fake, 2 * PAGE_SIZE, 0, &sge, 1));
	KUNIT_EXPECT_EQ(test, 0, sges(fake, 0, 0, &sge, 0));
	KUNIT_EXPECT_EQ(test, 0, sge.lkey);
}

static void map_sges_of_one_span_are_one(struct kunit *test)
{
	struct fake_region *fake = fake_region_create(test, NULL, 0, 3 * PAGE_SIZE);
	struct ib_sge sge[2];

	fake_region_add_span(test, fake, 0x5000, 3 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1, sges(fake, 0, 3 * PAGE_SIZE, sge, 2));
	expect_sge(test, &sge[0], 0x5000, 3 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1, sges(fake, 100, PAGE_SIZE, sge, 2));
	expect_sge(test, &sge[0], 0x5000 + 100, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1, sges(fake, 3 * PAGE_SIZE - 1, 1, sge, 2));
	expect_sge(test, &sge[0], 0x5000 + 3 * PAGE_SIZE - 1, 1);
}

static void map_sges_count_from_the_region_not_its_page(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 100, 2);
	struct ib_sge sge[2];

	KUNIT_ASSERT_EQ(test, 1, sges(fake, 0, 1, sge, 2));
	expect_sge(test, &sge[0], fake_region_page(0) + 100, 1);
	KUNIT_ASSERT_EQ(test, 2, sges(fake, PAGE_SIZE - 101, 2, sge, 2));
	expect_sge(test, &sge[0], fake_region_page(0) + PAGE_SIZE - 1, 1);
	expect_sge(test, &sge[1], fake_region_page(1), 1);
}

static void map_sges_end_where_spans_end(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 0, 3);
	struct ib_sge sge[3];

	KUNIT_ASSERT_EQ(test, 1, sges(fake, 0, PAGE_SIZE, sge, 3));
	expect_sge(test, &sge[0], fake_region_page(0), PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1, sges(fake, PAGE_SIZE, PAGE_SIZE, sge, 3));
	expect_sge(test, &sge[0], fake_region_page(1), PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1, sges(fake, PAGE_SIZE - 1, 1, sge, 3));
	expect_sge(test, &sge[0], fake_region_page(0) + PAGE_SIZE - 1, 1);
	KUNIT_ASSERT_EQ(test, 2, sges(fake, PAGE_SIZE - 1, 2, sge, 3));
	expect_sge(test, &sge[1], fake_region_page(1), 1);
}

static void map_sges_join_all_spans(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 8, 3);
	struct ib_sge sge[3];

	KUNIT_ASSERT_EQ(test, 3, sges(fake, 0, 3 * PAGE_SIZE - 8, sge, 3));
	expect_sge(test, &sge[0], fake_region_page(0) + 8, PAGE_SIZE - 8);
	expect_sge(test, &sge[1], fake_region_page(1), PAGE_SIZE);
	expect_sge(test, &sge[2], fake_region_page(2), PAGE_SIZE);
}

static void map_sges_fit_exactly_or_not_at_all(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 0, 4);
	struct ib_sge sge[4];

	sge[3].lkey = 0;
	KUNIT_EXPECT_EQ(test, 3, sges(fake, 0, 3 * PAGE_SIZE, sge, 3));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, sges(fake, 0, 3 * PAGE_SIZE + 1, sge, 3));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, sges(fake, 0, 3 * PAGE_SIZE, sge, 2));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, sges(fake, 0, 1, sge, 0));
	KUNIT_EXPECT_EQ(test, 0, sge[3].lkey);
}

/* An entry's length then never has its highest bit set, and the next entry starts on a page. */
static void map_sges_cut_spans_of_more_than_1_gib(struct kunit *test)
{
	struct fake_region *fake = fake_region_create(test, NULL, 16, 3ULL << 30);
	struct ib_sge sge[3];

	fake_region_add_span(test, fake, 1ULL << 40, (3ULL << 30) + PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 3, sges(fake, 0, 3ULL << 30, sge, 3));
	expect_sge(test, &sge[0], (1ULL << 40) + 16, SZ_1G);
	expect_sge(test, &sge[1], (1ULL << 40) + 16 + SZ_1G, SZ_1G);
	expect_sge(test, &sge[2], (1ULL << 40) + 16 + 2ULL * SZ_1G, SZ_1G);
	KUNIT_EXPECT_EQ(test, 1, sges(fake, 1ULL << 30, SZ_1G, sge, 1));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, sges(fake, 0, SZ_1G + 1ULL, sge, 1));
}

/* For any range, the entries list exactly its bytes. */
static void map_sges_name_every_byte_once(struct kunit *test)
{
	struct fake_region *fake = fake_region_scattered(test, NULL, 40, 5);
	u64 offset, pos, length;
	struct ib_sge sge[5];
	int nr, i;

	for (offset = 0; offset < fake->region.length; offset += 1021) {
		length = fake->region.length - offset;
		nr = sges(fake, offset, length, sge, 5);
		KUNIT_ASSERT_GT(test, nr, 0);
		pos = fake->region.page_offset + offset;
		for (i = 0; i < nr; i++) {
			KUNIT_ASSERT_EQ(test, sge[i].addr, fake_region_page(pos / PAGE_SIZE) +
					pos % PAGE_SIZE);
			pos += sge[i].length;
		}
		KUNIT_ASSERT_EQ(test, pos, 5 * PAGE_SIZE);
	}
}

static void map_of_a_device_is_created_once(struct kunit *test)
{
	struct ib_device *ib = kunit_kzalloc(test, sizeof(*ib), GFP_KERNEL);
	struct fake_region *fake = fake_region_create(test, ib, 0, PAGE_SIZE);

	KUNIT_EXPECT_PTR_EQ(test, &fake->map, kverbs_map_get(&fake->region, ib, NULL));
	KUNIT_EXPECT_PTR_EQ(test, &fake->map, kverbs_map_get(&fake->region, ib, NULL));
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(map_find_in_one_span),
	KUNIT_CASE(map_find_at_all_borders),
	KUNIT_CASE(map_find_beyond_4_gib),
	KUNIT_CASE(map_sges_of_nothing_are_none),
	KUNIT_CASE(map_sges_of_one_span_are_one),
	KUNIT_CASE(map_sges_count_from_the_region_not_its_page),
	KUNIT_CASE(map_sges_end_where_spans_end),
	KUNIT_CASE(map_sges_join_all_spans),
	KUNIT_CASE(map_sges_fit_exactly_or_not_at_all),
	KUNIT_CASE(map_sges_cut_spans_of_more_than_1_gib),
	KUNIT_CASE(map_sges_name_every_byte_once),
	KUNIT_CASE(map_of_a_device_is_created_once),
	{}
};

static struct kunit_suite map_suite = {
	.name = "kverbs_map",
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);
