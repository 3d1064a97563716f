/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_MAP_H
#define KVERBS_MAP_H

#include <linux/scatterlist.h>
#include <linux/workqueue.h>

#include "device.h"

struct kverbs_region;

/**
 * struct kverbs_span - DMA-contiguous part of a map
 * @start: where it starts, bytes from the start of the region's first page
 * @addr: its DMA address
 * @length: bytes
 */
struct kverbs_span {
	u64 start;
	dma_addr_t addr;
	u64 length;
};

/**
 * struct kverbs_map - a region as one device sees it
 * @entry: in the region's list, under its lock
 * @tenant: on the device, from which it leaves after the connections
 * @region: whose it is; a reference is held
 * @ib: the device
 * @sgt: the pages with their DMA addresses
 * @nr_spans: entries in @spans
 * @spans: where the bytes are, sorted; for looking an offset up
 * @evict_work: unmaps it when the device goes
 *
 * Stays valid for whoever counts in the region's uses and is on a connection of
 * that device which has not been torn down.
 */
struct kverbs_map {
	struct list_head entry;
	struct kverbs_tenant tenant;
	struct kverbs_region *region;
	struct ib_device *ib;
	struct sg_table sgt;
	unsigned int nr_spans;
	struct kverbs_span *spans;
	struct work_struct evict_work;
};

struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib);
void kverbs_map_destroy_all(struct kverbs_region *region);
const struct kverbs_span *kverbs_map_find(const struct kverbs_map *map, u64 pos);
int kverbs_map_sges(const struct kverbs_map *map, u64 offset, u64 length,
		    u32 lkey, struct ib_sge *sge, int max);

#endif /* KVERBS_MAP_H */
