/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_H
#define KVERBS_REGION_H

#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "device.h"
#include "dmabuf.h"
#include "lease.h"
#include "turn.h"

struct kverbs_memory;
struct kverbs_track;

/* To some devices the highest bit of an entry's length means something else. */
#define KVERBS_SGE_MAX	((u64)SZ_1G)

/**
 * struct kverbs_region - memory as its owner lets HCAs access it
 * @ref: one of the owner, and one of each mapping
 * @memory: its pages, to which other regions may refer, too; a reference is held until
 *	kverbs_region_destroy()
 * @length: as of @memory, copied so that a post reads one struct
 * @npages: the same
 * @page_offset: the same
 * @gaps: the same
 * @opaque: the memory is a dma-buf's, so the kernel has no pages to look at
 * @writable: the HCA may write to it through this region
 * @uses: exports, operations in flight and registrations of lkey caches. While it is
 *	not 0, the region is neither unmapped nor unpinned.
 * @cached: the part of @uses that lkey caches hold, and can drop
 * @idle: woken when @uses becomes 0
 * @mapping: held to change @maps, and while a mapping is created, which may take long. Comes after
 *	all locks of a connection; a work item that holds one only tries it.
 * @maps: struct kverbs_map, one for each device that has used the region; read under RCU
 *
 * Life: made of memory that is pinned by kverbs_region_create(), is the caller's at
 * kverbs_region_of_bvecs(), is a dma-buf's, or is that of another region; mapped for a device on
 * first use there, and unmapped by kverbs_region_destroy() when @uses is 0. Its last region, or
 * descriptor, unpins the memory. The mapping of a dma-buf ends before that if the exporter revokes
 * it: when the tenants have left the device that have a lease.
 */
struct kverbs_region {
	struct kref ref;
	struct kverbs_memory *memory;
	u64 length;
	unsigned long npages;
	unsigned int page_offset;
	bool gaps;
	bool opaque;
	bool writable;
	atomic_long_t uses;
	atomic_long_t cached;
	wait_queue_head_t idle;
	struct kverbs_turn mapping;
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
 * struct kverbs_map - the DMA mapping of a region on one device
 * @entry: in the list of the region: written under its @mapping, read under RCU
 * @ref: one of that list, and one of each work that is queued
 * @rcu: to free it
 * @tenant: on the device, which it leaves after the connections
 * @region: the region; a reference is held
 * @ib: the device
 * @sgt: the pages with their DMA addresses; not of a dma-buf
 * @dmabuf: the attachment to a dma-buf
 * @leases: with @dmabuf: the tenants that may use it
 * @nr_spans: entries in @spans
 * @spans: DMA addresses, sorted by offset
 * @evict_work: unmaps when the device is removed
 * @revoke_work: ends the users of a dma-buf that its exporter has revoked, and unmaps after them
 *
 * Valid as long as the user counts in the uses of the region and its connection on that
 * device has not been torn down. The struct and @spans can be read under RCU for longer.
 */
struct kverbs_map {
	struct list_head entry;
	struct kref ref;
	struct rcu_head rcu;
	struct kverbs_tenant tenant;
	struct kverbs_region *region;
	struct ib_device *ib;
	struct sg_table sgt;
	struct kverbs_dmabuf dmabuf;
	struct kverbs_leases leases;
	unsigned int nr_spans;
	struct kverbs_span *spans;
	struct work_struct evict_work;
	struct work_struct revoke_work;
};

struct kverbs_region *kverbs_region_create(unsigned long addr, u64 length,
					   bool writable);
struct kverbs_region *kverbs_region_create_tracked(unsigned long addr, u64 length,
						   bool writable, struct kverbs_track *track);
struct kverbs_region *kverbs_region_of_dmabuf(int fd, u64 offset, u64 length, bool writable);
struct kverbs_region *kverbs_region_of_memory(struct kverbs_memory *memory, bool writable,
					      gfp_t gfp);
struct kverbs_region *kverbs_region_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					     bool writable, gfp_t gfp);
struct kverbs_region *kverbs_region_of_buffer(void *buffer, size_t length, bool writable,
					      gfp_t gfp);
void kverbs_region_destroy(struct kverbs_region *region);
u8 *kverbs_region_byte(const struct kverbs_region *region, u64 offset);
void kverbs_region_peek(const struct kverbs_region *region, u64 offset, void *to,
			size_t length);

struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib,
				  struct kverbs_tenant *tenant);
struct kverbs_map *kverbs_map_try(struct kverbs_region *region, struct ib_device *ib,
				  struct kverbs_tenant *tenant,
				  struct kverbs_turn_waiter *waiter);
int kverbs_map_await(struct kverbs_region *region);
struct kverbs_map *kverbs_map_lookup(struct kverbs_region *region, struct ib_device *ib,
				     const struct kverbs_tenant *tenant);
int kverbs_map_sges(const struct kverbs_map *map, u64 offset, u64 length,
		    u32 lkey, struct ib_sge *sge, int max);
u64 kverbs_map_sge(const struct kverbs_map *map, u64 offset, u64 length, u32 lkey,
		   struct ib_sge *sge);

/* Registrations of lkey caches only save time; they do not keep a region. */
static inline bool kverbs_region_is_busy(const struct kverbs_region *region)
{
	return atomic_long_read(&region->uses) > atomic_long_read(&region->cached);
}

/* True if a range of bytes lies within the region. */
static inline bool kverbs_region_covers(const struct kverbs_region *region, u64 offset,
					u64 length)
{
	return offset <= region->length && length <= region->length - offset;
}

void kverbs_region_unuse_many(struct kverbs_region *region, long nr);
void kverbs_region_uncache(struct kverbs_region *region);

static inline void kverbs_region_use_many(struct kverbs_region *region, long nr)
{
	atomic_long_add(nr, &region->uses);
}

static inline void kverbs_region_use(struct kverbs_region *region)
{
	kverbs_region_use_many(region, 1);
}

static inline void kverbs_region_unuse(struct kverbs_region *region)
{
	kverbs_region_unuse_many(region, 1);
}

/**
 * kverbs_map_find() - the span that holds a position
 * @map: the map
 * @pos: bytes from the start of the region's first page, within it
 *
 * Return: the span.
 */
static inline const struct kverbs_span *
kverbs_map_find(const struct kverbs_map *map, u64 pos)
{
	unsigned int low = 0, high = map->nr_spans;

	while (high - low > 1) {
		unsigned int mid = low + (high - low) / 2;

		if (map->spans[mid].start <= pos)
			low = mid;
		else
			high = mid;
	}
	return &map->spans[low];
}

/**
 * kverbs_map_whole_sge() - the scatter/gather entry for a range, if one suffices
 * @map: the map
 * @offset: first byte in the region
 * @length: bytes, at least 1, within the region
 * @lkey: what to put into the entry
 * @sge: filled in
 *
 * Inline, since this is all that most operations need.
 *
 * Context: any.
 * Return: false if the range takes several entries.
 */
static inline bool kverbs_map_whole_sge(const struct kverbs_map *map, u64 offset, u64 length,
					u32 lkey, struct ib_sge *sge)
{
	u64 pos = map->region->page_offset + offset;
	const struct kverbs_span *span = kverbs_map_find(map, pos);
	u64 skip = pos - span->start;

	if (length > span->length - skip || length > KVERBS_SGE_MAX)
		return false;
	sge->addr = span->addr + skip;
	sge->length = length;
	sge->lkey = lkey;
	return true;
}

#endif /* KVERBS_REGION_H */
