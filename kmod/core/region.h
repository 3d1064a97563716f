/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_H
#define KVERBS_REGION_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "account.h"
#include "device.h"

/**
 * struct kverbs_region - a pinned range of a user's memory
 * @ref: the owner's and that of work which unmaps it
 * @length: bytes
 * @npages: pages that it touches
 * @page_offset: where it starts in its first page
 * @writable: the HCA may write it
 * @sgt: the pages
 * @account: to whom they are charged
 * @uses: exports, work in flight and local registrations of it. While it is
 *	not 0 nothing may unmap or unpin it.
 * @cached: of @uses, those that only speed up later work and can be dropped
 * @idle: woken when @uses becomes 0
 * @lock: guards @maps, and is held while one is made
 * @maps: struct kverbs_map, one for each device that has touched it
 *
 * Life: pinned by kverbs_region_create(), then maps come on first use; ended by
 * kverbs_region_destroy() when @uses is 0: unmap, unpin, uncharge.
 */
struct kverbs_region {
	struct kref ref;
	u64 length;
	unsigned long npages;
	unsigned int page_offset;
	bool writable;
	struct sg_append_table sgt;
	struct kverbs_account account;
	atomic_t uses;
	atomic_t cached;
	wait_queue_head_t idle;
	struct mutex lock;
	struct list_head maps;
};

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

struct kverbs_region *kverbs_region_create(unsigned long addr, u64 length,
					   bool writable);
void kverbs_region_destroy(struct kverbs_region *region);
u8 *kverbs_region_byte(const struct kverbs_region *region, u64 offset);
void kverbs_region_peek(const struct kverbs_region *region, u64 offset, void *to,
			size_t length);

struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib);
const struct kverbs_span *kverbs_map_find(const struct kverbs_map *map, u64 pos);
int kverbs_map_sges(const struct kverbs_map *map, u64 offset, u64 length,
		    u32 lkey, struct ib_sge *sge, int max);

/* Whether a range of bytes lies in the region. */
static inline bool kverbs_region_covers(const struct kverbs_region *region, u64 offset,
					u64 length)
{
	return offset <= region->length && length <= region->length - offset;
}

void kverbs_region_unuse_many(struct kverbs_region *region, int nr);

static inline void kverbs_region_use_many(struct kverbs_region *region, int nr)
{
	atomic_add(nr, &region->uses);
}

static inline void kverbs_region_use(struct kverbs_region *region)
{
	kverbs_region_use_many(region, 1);
}

static inline void kverbs_region_unuse(struct kverbs_region *region)
{
	kverbs_region_unuse_many(region, 1);
}

#endif /* KVERBS_REGION_H */
