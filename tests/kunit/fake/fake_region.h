/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A region without memory, with a map set up by the test. */
#ifndef KVERBS_FAKE_REGION_H
#define KVERBS_FAKE_REGION_H

#include <kunit/test.h>
#include <linux/workqueue.h>

#include "region.h"

#define FAKE_SPANS	80

/**
 * struct fake_region - the region and its only map
 * @region: the region
 * @map: its map
 * @spans: spans of @map
 */
struct fake_region {
	struct kverbs_region region;
	struct kverbs_map map;
	struct kverbs_span spans[FAKE_SPANS];
};

/**
 * struct fake_mapper - a task that takes long to map a region
 * @work: maps the region, as kverbs_map_try() does
 * @region: the region
 * @begun: signalled when it does
 * @let_go: signalled when it may end
 */
struct fake_mapper {
	struct work_struct work;
	struct kverbs_region *region;
	struct completion begun;
	struct completion let_go;
};

struct fake_region *fake_region_create(struct kunit *test, struct ib_device *ib,
				       unsigned int page_offset, u64 length);
void fake_region_add_span(struct kunit *test, struct fake_region *fake, dma_addr_t addr,
			  u64 length);
struct fake_region *fake_region_scattered(struct kunit *test, struct ib_device *ib,
					  unsigned int page_offset, unsigned int npages);
dma_addr_t fake_region_page(unsigned int page);
void fake_mapper_begin(struct kunit *test, struct fake_mapper *mapper,
		       struct kverbs_region *region);
void fake_mapper_end(struct fake_mapper *mapper);

#endif /* KVERBS_FAKE_REGION_H */
