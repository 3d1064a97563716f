// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_region.h"
#include "patience.h"

/**
 * fake_region_create() - create a region that is not mapped yet
 * @test: the test, at whose end it is freed
 * @ib: the device that it has a map for
 * @page_offset: offset of its start in its first page
 * @length: bytes
 *
 * Return: the region.
 */
struct fake_region *fake_region_create(struct kunit *test, struct ib_device *ib,
				       unsigned int page_offset, u64 length)
{
	struct fake_region *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct kverbs_region *region;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	region = &fake->region;
	kref_init(&region->ref);
	init_waitqueue_head(&region->idle);
	kverbs_turn_init(&region->mapping);
	INIT_LIST_HEAD(&region->maps);
	region->page_offset = page_offset;
	region->length = length;
	region->npages = DIV_ROUND_UP_ULL(page_offset + length, PAGE_SIZE);
	region->writable = true;
	fake->map.region = region;
	fake->map.ib = ib;
	fake->map.spans = fake->spans;
	list_add(&fake->map.entry, &region->maps);
	return fake;
}

/**
 * fake_region_add_span() - map the next bytes, from the first page's start on
 * @test: the test
 * @fake: the region
 * @addr: their DMA address
 * @length: number of bytes
 */
void fake_region_add_span(struct kunit *test, struct fake_region *fake, dma_addr_t addr,
			  u64 length)
{
	struct kverbs_map *map = &fake->map;
	u64 start = 0;

	KUNIT_ASSERT_LT(test, map->nr_spans, FAKE_SPANS);
	if (map->nr_spans) {
		const struct kverbs_span *last = &fake->spans[map->nr_spans - 1];

		start = last->start + last->length;
	}
	fake->spans[map->nr_spans++] = (struct kverbs_span) {
		.start = start,
		.addr = addr,
		.length = length,
	};
}

/**
 * fake_region_page() - DMA address of a page of a scattered region
 * @page: index of the page
 *
 * Return: its DMA address; no two pages are adjacent.
 */
dma_addr_t fake_region_page(unsigned int page)
{
	return 0x10000000 + (dma_addr_t)page * 2 * PAGE_SIZE;
}

/**
 * fake_region_scattered() - create a region of pages of which no two are adjacent
 * @test: the test, at whose end it is freed
 * @ib: the device that it has a map for
 * @page_offset: offset of its start in its first page; it ends with its last page
 * @npages: number of pages
 *
 * Return: the region.
 */
struct fake_region *fake_region_scattered(struct kunit *test, struct ib_device *ib,
					  unsigned int page_offset, unsigned int npages)
{
	struct fake_region *fake;
	unsigned int i;

	fake = fake_region_create(test, ib, page_offset,
				  (u64)npages * PAGE_SIZE - page_offset);
	for (i = 0; i < npages; i++)
		fake_region_add_span(test, fake, fake_region_page(i), PAGE_SIZE);
	return fake;
}

static void map_slowly(struct work_struct *work)
{
	struct fake_mapper *mapper = container_of(work, struct fake_mapper, work);

	kverbs_turn_lock(&mapper->region->mapping);
	complete(&mapper->begun);
	wait_for_completion_timeout(&mapper->let_go, FAKE_PATIENCE);
	kverbs_turn_unlock(&mapper->region->mapping);
}

/**
 * fake_mapper_begin() - let a task map a region until fake_mapper_end()
 * @test: the test
 * @mapper: the task, on the stack
 * @region: the region
 */
void fake_mapper_begin(struct kunit *test, struct fake_mapper *mapper,
		       struct kverbs_region *region)
{
	mapper->region = region;
	init_completion(&mapper->begun);
	init_completion(&mapper->let_go);
	INIT_WORK_ONSTACK(&mapper->work, map_slowly);
	queue_work(system_unbound_wq, &mapper->work);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&mapper->begun, FAKE_PATIENCE));
}

/**
 * fake_mapper_end() - let the task be done, without a mapping
 * @mapper: the task
 */
void fake_mapper_end(struct fake_mapper *mapper)
{
	complete_all(&mapper->let_go);
	flush_work(&mapper->work);
	destroy_work_on_stack(&mapper->work);
}
