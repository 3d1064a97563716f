// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A region's DMA addresses on one device, made on first use. */
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "fault.h"
#include "map.h"
#include "region.h"
#include "workqueue.h"

/* To some devices the highest bit of an entry's length means something else. */
#define SGE_MAX	((u64)SZ_1G)

static enum dma_data_direction direction(const struct kverbs_region *region)
{
	return region->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

static int clone_pages(struct kverbs_map *map)
{
	struct sg_table *from = &map->region->sgt.sgt;
	struct scatterlist *src, *dst = NULL;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(&map->sgt, from->orig_nents, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	dst = map->sgt.sgl;
	for_each_sgtable_sg(from, src, i) {
		sg_set_page(dst, sg_page(src), src->length, src->offset);
		dst = sg_next(dst);
	}
	return 0;
}

static void add_span(struct kverbs_map *map, u64 start, struct scatterlist *sg)
{
	struct kverbs_span *last = map->nr_spans ? &map->spans[map->nr_spans - 1] : NULL;

	if (last && last->addr + last->length == sg_dma_address(sg)) {
		last->length += sg_dma_len(sg);
		return;
	}
	map->spans[map->nr_spans++] = (struct kverbs_span) {
		.start = start,
		.addr = sg_dma_address(sg),
		.length = sg_dma_len(sg),
	};
}

static int make_spans(struct kverbs_map *map)
{
	struct scatterlist *sg;
	u64 start = 0;
	unsigned int i;

	/* That much a user may ask for, so it is no bug if it is too much. */
	map->spans = kvcalloc(map->sgt.nents, sizeof(*map->spans),
			      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!map->spans)
		return -ENOMEM;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		add_span(map, start, sg);
		start += sg_dma_len(sg);
	}
	return 0;
}

/* Of what an IOMMU translates dma_need_sync() knows nothing, and may say that all bounces. */
static bool is_translated(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_DMA_API;
}

/* There only devices bounce that are not trusted, or do not see the CPU's caches. */
static bool translation_bounces(struct device *dev)
{
	return !dev_is_dma_coherent(dev) || (dev_is_pci(dev) && to_pci_dev(dev)->untrusted);
}

/*
 * A bounced mapping is a copy, and a stale one at that. This is the one look at
 * dma_device, because there is no ib_dma_need_sync() to ask.
 */
static bool bounces(struct kverbs_map *map)
{
	struct device *dev = map->ib->dma_device;
	struct scatterlist *sg;
	unsigned int i;

	if (ib_uses_virt_dma(map->ib))
		return false;
	if (is_translated(dev))
		return translation_bounces(dev);
	for_each_sgtable_dma_sg(&map->sgt, sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

static void unmap(struct kverbs_map *map)
{
	ib_dma_unmap_sgtable_attrs(map->ib, &map->sgt, direction(map->region), 0);
}

static int fill_map(struct kverbs_map *map)
{
	int ret;

	ret = clone_pages(map);
	if (ret)
		return ret;
	ret = kverbs_fault() ?: ib_dma_map_sgtable_attrs(map->ib, &map->sgt,
							 direction(map->region), 0);
	if (ret)
		goto out_free_pages;
	ret = -EOPNOTSUPP;
	if (bounces(map))
		goto out_unmap;
	ret = make_spans(map);
	if (ret)
		goto out_unmap;
	return 0;

out_unmap:
	unmap(map);
out_free_pages:
	sg_free_table(&map->sgt);
	return ret;
}

static void destroy_map(struct kverbs_map *map)
{
	lockdep_assert_held(&map->region->lock);
	list_del(&map->entry);
	kvfree(map->spans);
	unmap(map);
	sg_free_table(&map->sgt);
	kverbs_device_leave(&map->tenant);
}

static void free_map(struct kverbs_map *map)
{
	kverbs_region_put(map->region);
	kfree(map);
}

/* The map may have gone with its region meanwhile; the struct is still there. */
static void evict_map(struct work_struct *work)
{
	struct kverbs_map *map = container_of(work, struct kverbs_map, evict_work);
	struct kverbs_region *region = map->region;

	mutex_lock(&region->lock);
	if (map->tenant.dev)
		destroy_map(map);
	mutex_unlock(&region->lock);
	free_map(map);
}

static void map_evict(struct kverbs_tenant *tenant)
{
	struct kverbs_map *map = container_of(tenant, struct kverbs_map, tenant);

	queue_work(kverbs_workqueue, &map->evict_work);
}

static struct kverbs_map *new_map(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map;
	int ret;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->region = region;
	map->ib = ib;
	INIT_WORK(&map->evict_work, evict_map);
	ret = fill_map(map);
	if (ret)
		goto out_free_map;
	kref_get(&region->ref);
	list_add(&map->entry, &region->maps);
	ret = kverbs_device_enter(ib, &map->tenant, KVERBS_TENANT_MAP, map_evict);
	if (ret)
		goto out_destroy_map;
	return map;

out_destroy_map:
	destroy_map(map);
	kverbs_region_put(region);
out_free_map:
	kfree(map);
	return ERR_PTR(ret);
}

/**
 * kverbs_map_get() - a region's map on a device, made if there is none yet
 * @region: the region, counted in its uses by the caller
 * @ib: the device, which the caller is a tenant of
 *
 * Context: process, may sleep.
 * Return: the map or an ERR_PTR: -ENOMEM; -EOPNOTSUPP if the device can reach
 * the memory only through a bounce buffer; -ENODEV.
 */
struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map;

	mutex_lock(&region->lock);
	list_for_each_entry(map, &region->maps, entry)
		if (map->ib == ib)
			goto out_unlock;
	map = new_map(region, ib);
out_unlock:
	mutex_unlock(&region->lock);
	return map;
}

/**
 * kverbs_map_destroy_all() - unmap a region everywhere
 * @region: the region, which nothing uses
 */
void kverbs_map_destroy_all(struct kverbs_region *region)
{
	struct kverbs_map *map, *next;
	LIST_HEAD(dead);

	mutex_lock(&region->lock);
	list_for_each_entry_safe(map, next, &region->maps, entry) {
		destroy_map(map);
		/* Once evicted it is its work's to free. */
		if (!map->tenant.evicted)
			list_add(&map->entry, &dead);
	}
	mutex_unlock(&region->lock);

	list_for_each_entry_safe(map, next, &dead, entry)
		free_map(map);
}

/**
 * kverbs_map_find() - the span that holds a position
 * @map: the map
 * @pos: bytes from the start of the region's first page, within it
 *
 * Return: the span.
 */
const struct kverbs_span *kverbs_map_find(const struct kverbs_map *map, u64 pos)
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
 * kverbs_map_sges() - scatter/gather entries for a range
 * @map: the map
 * @offset: first byte in the region
 * @length: bytes, within the region
 * @lkey: what to put into each
 * @sge: room for @max of them
 * @max: at most so many
 *
 * Return: how many, or -EMSGSIZE if the range takes more than @max.
 */
int kverbs_map_sges(const struct kverbs_map *map, u64 offset, u64 length,
		    u32 lkey, struct ib_sge *sge, int max)
{
	u64 pos = map->region->page_offset + offset;
	const struct kverbs_span *span;
	int n = 0;

	if (!length)
		return 0;
	span = kverbs_map_find(map, pos);
	while (length) {
		u64 skip = pos - span->start;
		u64 part = min3(span->length - skip, length, SGE_MAX);

		if (n == max)
			return -EMSGSIZE;
		sge[n++] = (struct ib_sge) {
			.addr = span->addr + skip,
			.length = part,
			.lkey = lkey,
		};
		pos += part;
		length -= part;
		if (pos == span->start + span->length)
			span++;
	}
	return n;
}
