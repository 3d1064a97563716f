// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions of memory, and their DMA mapping on each device, made when a region is first used
 * there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/sched/task_stack.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "memory.h"
#include "region.h"
#include "trace.h"
#include "track.h"
#include "verbs.h"
#include "workqueue.h"

/**
 * kverbs_region_of_memory() - another region of memory that is there
 * @memory: the memory; a reference is taken
 * @writable: let the HCA write to it
 * @gfp: how to allocate
 *
 * Regions of the same memory have their own mappings and uses.
 *
 * Context: process, may sleep if @gfp permits it.
 * Return: the region or an ERR_PTR: -EACCES if @memory is not writable and @writable asks for
 * that; -ENOMEM.
 */
struct kverbs_region *kverbs_region_of_memory(struct kverbs_memory *memory, bool writable,
					      gfp_t gfp)
{
	struct kverbs_region *region;

	if (writable && !memory->writable)
		return ERR_PTR(-EACCES);
	region = kzalloc(sizeof(*region), gfp);
	if (!region)
		return ERR_PTR(-ENOMEM);
	kref_init(&region->ref);
	init_waitqueue_head(&region->idle);
	kverbs_turn_init(&region->mapping);
	INIT_LIST_HEAD(&region->maps);
	kverbs_memory_get(memory);
	region->memory = memory;
	region->length = memory->length;
	region->npages = memory->npages;
	region->page_offset = memory->page_offset;
	region->gaps = memory->gaps;
	region->opaque = memory->dmabuf;
	region->writable = writable;
	return region;
}

/* The region gets the caller's reference, which is dropped if there can be no region. */
static struct kverbs_region *region_of_new(struct kverbs_memory *memory, gfp_t gfp)
{
	struct kverbs_region *region;

	if (IS_ERR(memory))
		return ERR_CAST(memory);
	region = kverbs_region_of_memory(memory, memory->writable, gfp);
	kverbs_memory_put(memory);
	return region;
}

/**
 * kverbs_region_create_tracked() - pin memory of the current process, and watch it
 * @addr: its start, any alignment
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 * @track: to learn when the process no longer has the pages there, started, and to be
 *	stopped before or after the region is destroyed; or NULL
 *
 * The pages stay pinned when they are stale, so work in flight is safe.
 *
 * Context: process, may sleep and be killed.
 * Return: the region or an ERR_PTR: -EINVAL for a bad range; -EFAULT, -EOPNOTSUPP if the
 * memory cannot be pinned, and -EOPNOTSUPP if the kernel cannot track it; -EPERM, -ENOMEM for
 * RLIMIT_MEMLOCK or want of memory; -EINTR.
 */
struct kverbs_region *kverbs_region_create_tracked(unsigned long addr, u64 length,
						   bool writable, struct kverbs_track *track)
{
	struct kverbs_memory *memory = kverbs_memory_pin(addr, length, writable, track);
	struct kverbs_region *region = region_of_new(memory, GFP_KERNEL_ACCOUNT);

	if (!IS_ERR(memory) && IS_ERR(region) && track)
		kverbs_track_stop(track);
	return region;
}

/**
 * kverbs_region_create() - pin memory of the current process
 * @addr: its start, any alignment
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 *
 * Context: process, may sleep and be killed.
 * Return: as kverbs_region_create_tracked().
 */
struct kverbs_region *kverbs_region_create(unsigned long addr, u64 length,
					   bool writable)
{
	return kverbs_region_create_tracked(addr, length, writable, NULL);
}

/**
 * kverbs_region_of_bvecs() - make a region of memory of the kernel
 * @bvecs: the memory, which stays until kverbs_region_destroy() has returned; copied
 * @nr: how many, at least 1
 * @writable: let the HCA write to it
 * @gfp: how to allocate
 *
 * Nothing is pinned, and no user is charged.
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: the region or an ERR_PTR: -EINVAL if one of @bvecs is empty or longer than 1 GiB, or
 * there is none; -ENOMEM.
 */
struct kverbs_region *kverbs_region_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					     bool writable, gfp_t gfp)
{
	return region_of_new(kverbs_memory_of_bvecs(bvecs, nr, writable, gfp), gfp);
}

/**
 * kverbs_region_of_dmabuf() - make a region of a part of a dma-buf
 * @fd: a descriptor of it
 * @offset: first byte in the dma-buf, any alignment
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 *
 * The memory is pinned while it is mapped for a device. If the exporter revokes it, the connections
 * and groups end that have used it.
 *
 * Context: process, may sleep.
 * Return: as kverbs_memory_of_dmabuf(), or ERR_PTR(-ENOMEM).
 */
struct kverbs_region *kverbs_region_of_dmabuf(int fd, u64 offset, u64 length, bool writable)
{
	return region_of_new(kverbs_memory_of_dmabuf(fd, offset, length, writable),
			     GFP_KERNEL_ACCOUNT);
}

static struct kverbs_region *region_of_vmalloc(void *buffer, size_t length, bool writable,
					       gfp_t gfp)
{
	size_t offset = offset_in_page(buffer), left = length;
	unsigned int i, nr = DIV_ROUND_UP(offset + length, PAGE_SIZE);
	struct kverbs_region *region;
	struct bio_vec *bvecs;

	bvecs = kvmalloc_array(nr, sizeof(*bvecs), gfp);
	if (!bvecs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < nr; i++) {
		bvecs[i] = (struct bio_vec) {
			.bv_page = vmalloc_to_page(buffer),
			.bv_offset = offset,
			.bv_len = min_t(size_t, left, PAGE_SIZE - offset),
		};
		buffer += bvecs[i].bv_len;
		left -= bvecs[i].bv_len;
		offset = 0;
	}
	region = kverbs_region_of_bvecs(bvecs, nr, writable, gfp);
	kvfree(bvecs);
	return region;
}

/**
 * kverbs_region_of_buffer() - make a region of a buffer of the kernel
 * @buffer: from kmalloc(), vmalloc() or the like, not on a stack nor in a module; it stays until
 *	kverbs_region_destroy() has returned
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 * @gfp: how to allocate
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: as kverbs_region_of_bvecs(); -EINVAL also for other memory.
 */
struct kverbs_region *kverbs_region_of_buffer(void *buffer, size_t length, bool writable,
					      gfp_t gfp)
{
	struct bio_vec bvec;

	/* A stack may be in vmalloc()'s range. */
	if (!length || length > KVERBS_SEGMENT_MAX || object_is_on_stack(buffer))
		return ERR_PTR(-EINVAL);
	if (is_vmalloc_addr(buffer))
		return region_of_vmalloc(buffer, length, writable, gfp);
	if (!virt_addr_valid(buffer))
		return ERR_PTR(-EINVAL);
	bvec = (struct bio_vec) {
		.bv_page = virt_to_page(buffer),
		.bv_offset = offset_in_page(buffer),
		.bv_len = length,
	};
	return kverbs_region_of_bvecs(&bvec, 1, writable, gfp);
}

static void region_release(struct kref *ref)
{
	kfree(container_of(ref, struct kverbs_region, ref));
}

static void put_region(struct kverbs_region *region)
{
	kref_put(&region->ref, region_release);
}

static enum dma_data_direction direction(const struct kverbs_region *region)
{
	return region->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

static int clone_pages(struct kverbs_map *map)
{
	struct sg_table *from = &map->region->memory->sgt.sgt;
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

static void add_span(struct kverbs_map *map, u64 start, dma_addr_t addr, u64 length)
{
	struct kverbs_span *last = map->nr_spans ? &map->spans[map->nr_spans - 1] : NULL;

	if (last && last->addr + last->length == addr) {
		last->length += length;
		return;
	}
	map->spans[map->nr_spans++] = (struct kverbs_span) {
		.start = start,
		.addr = addr,
		.length = length,
	};
}

/* DMA addresses of the region, or of all of the dma-buf. */
static const struct sg_table *dma_table(const struct kverbs_map *map)
{
	return map->dmabuf.sgt ?: &map->sgt;
}

static int alloc_spans(struct kverbs_map *map)
{
	/* User space chooses the size, so a failure deserves no warning. */
	map->spans = kvzalloc_node(array_size(dma_table(map)->nents, sizeof(*map->spans)),
				   GFP_KERNEL_ACCOUNT | __GFP_NOWARN, ibdev_to_node(map->ib));
	return map->spans ? 0 : -ENOMEM;
}

static int make_spans(struct kverbs_map *map)
{
	struct scatterlist *sg;
	u64 start = 0;
	unsigned int i;
	int ret;

	ret = alloc_spans(map);
	if (ret)
		return ret;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		add_span(map, start, sg_dma_address(sg), sg_dma_len(sg));
		start += sg_dma_len(sg);
	}
	return 0;
}

/* Cuts the pages of the region out of a dma-buf, which an exporter must map in whole pages. */
static int cut_spans(struct kverbs_map *map)
{
	u64 skip = map->region->memory->dmabuf_offset;
	u64 start = 0, end = (u64)map->region->npages << PAGE_SHIFT;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	ret = alloc_spans(map);
	if (ret)
		return ret;
	for_each_sgtable_dma_sg(map->dmabuf.sgt, sg, i) {
		u64 length = sg_dma_len(sg), part;

		if (!PAGE_ALIGNED(sg_dma_address(sg)) || !PAGE_ALIGNED(length))
			break;
		if (skip >= length) {
			skip -= length;
			continue;
		}
		part = min(length - skip, end - start);
		add_span(map, start, sg_dma_address(sg) + skip, part);
		skip = 0;
		start += part;
		if (start == end)
			return 0;
	}
	return -EINVAL;
}

/* Behind an IOMMU dma_need_sync() may claim that every mapping bounces. */
static bool is_translated(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_DMA_API;
}

/* Behind an IOMMU only untrusted or non-coherent devices use SWIOTLB. */
static bool translation_bounces(struct device *dev)
{
	return !dev_is_dma_coherent(dev) || (dev_is_pci(dev) && to_pci_dev(dev)->untrusted);
}

/*
 * A bounced mapping is a copy, which would soon be stale. This is the only use of
 * dma_device, since there is no ib_dma_need_sync().
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
	for_each_sgtable_dma_sg(dma_table(map), sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

static int refuse_bounces(struct kverbs_map *map)
{
	if (!bounces(map))
		return 0;
	pr_warn_once("%s is refused memory, which it reaches only through bounce buffers\n",
		     dev_name(&map->ib->dev));
	return -EOPNOTSUPP;
}

static void unmap(struct kverbs_map *map)
{
	ib_dma_unmap_sgtable_attrs(map->ib, &map->sgt, direction(map->region), 0);
}

static int fill_from_pages(struct kverbs_map *map)
{
	int ret;

	ret = clone_pages(map);
	if (ret)
		return ret;
	ret = kverbs_ib_dma_map_sgtable(map->ib, &map->sgt, direction(map->region));
	if (ret)
		goto out_free_pages;
	ret = refuse_bounces(map);
	if (!ret)
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

/* A device that copies by the CPU would need pages, which memory of a device need not have. */
static int fill_from_dmabuf(struct kverbs_map *map)
{
	struct kverbs_region *region = map->region;
	int ret;

	if (ib_uses_virt_dma(map->ib)) {
		pr_warn_once("%s cannot reach the memory of a dma-buf, as it has no DMA\n",
			     dev_name(&map->ib->dev));
		return -EOPNOTSUPP;
	}
	ret = kverbs_dmabuf_attach(&map->dmabuf, region->memory->dmabuf, map->ib->dma_device,
				   direction(region));
	if (ret)
		return ret;
	ret = refuse_bounces(map);
	if (!ret)
		ret = cut_spans(map);
	if (ret)
		kverbs_dmabuf_detach(&map->dmabuf);
	return ret;
}

static int fill_map(struct kverbs_map *map)
{
	return map->region->memory->dmabuf ? fill_from_dmabuf(map) : fill_from_pages(map);
}

static void empty_map(struct kverbs_map *map)
{
	if (map->dmabuf.attach) {
		kverbs_dmabuf_detach(&map->dmabuf);
		return;
	}
	unmap(map);
	sg_free_table(&map->sgt);
}

static void free_map_rcu(struct rcu_head *rcu)
{
	struct kverbs_map *map = container_of(rcu, struct kverbs_map, rcu);

	kvfree(map->spans);
	kfree(map);
}

static void release_map(struct kref *ref)
{
	struct kverbs_map *map = container_of(ref, struct kverbs_map, ref);

	put_region(map->region);
	call_rcu(&map->rcu, free_map_rcu);
}

static void put_map(struct kverbs_map *map)
{
	kref_put(&map->ref, release_map);
}

/* The caller has a reference to the map or to the region, whose lock it holds. */
static void destroy_map(struct kverbs_map *map)
{
	lockdep_assert_held(&map->region->mapping.lock);
	list_del_rcu(&map->entry);
	kverbs_leases_end(&map->leases);
	empty_map(map);
	kverbs_device_leave(&map->tenant);
	put_map(map);
}

/* kverbs_region_destroy() may have unmapped it already; the struct is still there. */
static void evict_map(struct work_struct *work)
{
	struct kverbs_map *map = container_of(work, struct kverbs_map, evict_work);
	struct kverbs_region *region = map->region;

	kverbs_turn_lock(&region->mapping);
	if (map->tenant.dev)
		destroy_map(map);
	kverbs_turn_unlock(&region->mapping);
	put_map(map);
}

static void map_evict(struct kverbs_tenant *tenant)
{
	struct kverbs_map *map = container_of(tenant, struct kverbs_map, tenant);

	kref_get(&map->ref);
	queue_work(kverbs_workqueue, &map->evict_work);
}

/* Runs when the exporter revokes the memory, and again when the last tenant has left. */
static void revoke_map(struct work_struct *work)
{
	struct kverbs_map *map = container_of(work, struct kverbs_map, revoke_work);
	struct kverbs_region *region = map->region;

	kverbs_turn_lock(&region->mapping);
	if (map->tenant.dev && kverbs_leases_revoke(&map->leases))
		destroy_map(map);
	kverbs_turn_unlock(&region->mapping);
	put_map(map);
}

static void queue_revoke(struct kverbs_map *map)
{
	kref_get(&map->ref);
	if (!queue_work(kverbs_workqueue, &map->revoke_work))
		put_map(map);
}

static void map_revoked(struct kverbs_dmabuf *dmabuf)
{
	struct kverbs_map *map = container_of(dmabuf, struct kverbs_map, dmabuf);

	WRITE_ONCE(map->region->memory->revoked, true);
	trace_kverbs_memory_revoke(map->region->memory);
	queue_revoke(map);
}

static void leases_over(struct kverbs_leases *leases)
{
	queue_revoke(container_of(leases, struct kverbs_map, leases));
}

static struct kverbs_map *alloc_map(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map;

	map = kzalloc_node(sizeof(*map), GFP_KERNEL_ACCOUNT, ibdev_to_node(ib));
	if (!map)
		return NULL;
	kref_init(&map->ref);
	kref_get(&region->ref);
	map->region = region;
	map->ib = ib;
	map->dmabuf.revoke = map_revoked;
	kverbs_leases_init(&map->leases, leases_over);
	INIT_WORK(&map->evict_work, evict_map);
	INIT_WORK(&map->revoke_work, revoke_map);
	return map;
}

/* From fill_map() on, @revoke_work may wait for the lock of the region. */
static struct kverbs_map *new_map(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map = alloc_map(region, ib);
	int ret;

	if (!map)
		return ERR_PTR(-ENOMEM);
	ret = fill_map(map);
	if (ret)
		goto out_put_map;
	/* If the map is evicted at once, evict_map() waits until this has returned. */
	ret = kverbs_device_enter(ib, &map->tenant, KVERBS_TENANT_MAP, map_evict);
	if (ret)
		goto out_empty_map;
	list_add_rcu(&map->entry, &region->maps);
	return map;

out_empty_map:
	empty_map(map);
out_put_map:
	put_map(map);
	return ERR_PTR(ret);
}

static struct kverbs_map *find_map(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map;

	list_for_each_entry_rcu(map, &region->maps, entry, lockdep_is_held(&region->mapping.lock))
		if (map->ib == ib)
			return map;
	return NULL;
}

/**
 * kverbs_map_lookup() - the mapping of a region on a device, if there is one
 * @region: the region; the caller counts in its uses
 * @ib: the device; the caller is its tenant
 * @tenant: the connection or group that will use the mapping, or NULL; only compared
 *
 * The map stays, since it is evicted only after the caller has left the device. That of a dma-buf
 * is found only by a tenant for which kverbs_map_try() or kverbs_map_get() has returned it, and
 * stays until that leaves. A caller under RCU that is no tenant may read the map, but its
 * addresses are valid only for a queue that is still up: see kverbs_wr_post_direct().
 *
 * Context: any.
 * Return: the map or NULL.
 */
struct kverbs_map *kverbs_map_lookup(struct kverbs_region *region, struct ib_device *ib,
				     const struct kverbs_tenant *tenant)
{
	struct kverbs_map *map;

	rcu_read_lock();
	map = find_map(region, ib);
	if (map && region->opaque && !kverbs_leases_have(&map->leases, tenant))
		map = NULL;
	rcu_read_unlock();
	return map;
}

/* From the moment that the exporter revokes the memory no tenant begins to use it. */
static int lease(struct kverbs_map *map, struct kverbs_tenant *tenant)
{
	if (!map->region->opaque)
		return 0;
	if (READ_ONCE(map->region->memory->revoked))
		return -ESTALE;
	return kverbs_leases_grant(&map->leases, tenant);
}

static struct kverbs_map *get_map(struct kverbs_region *region, struct ib_device *ib,
				  struct kverbs_tenant *tenant)
{
	struct kverbs_map *map = find_map(region, ib);
	int ret;

	lockdep_assert_held(&region->mapping.lock);
	if (!map && READ_ONCE(region->memory->revoked))
		return ERR_PTR(-ESTALE);
	map = map ?: new_map(region, ib);
	if (IS_ERR(map))
		return map;
	ret = lease(map, tenant);
	return ret ? ERR_PTR(ret) : map;
}

static struct kverbs_map *get_and_unlock(struct kverbs_region *region, struct ib_device *ib,
					 struct kverbs_tenant *tenant)
{
	struct kverbs_map *map = get_map(region, ib, tenant);

	kverbs_turn_unlock(&region->mapping);
	return map;
}

/**
 * kverbs_map_try() - the mapping of a region on a device, created on first use
 * @region: the region; the caller counts in its uses
 * @ib: the device; the caller is its tenant
 * @tenant: the connection or group that will use the mapping; it does not leave during the call
 * @waiter: told when another task no longer maps the region, or NULL
 *
 * Does not wait for another task that maps the region, for this device or for another one. Takes
 * no lock if the mapping is there, and @tenant has used it if it is a dma-buf's.
 *
 * Context: process, may sleep.
 * Return: the map, which stays as kverbs_map_lookup() says, or an ERR_PTR: -EAGAIN if another task
 * maps the region; -ENOMEM; -EOPNOTSUPP if the device can reach the memory only through a bounce
 * buffer, or is not capable of DMA and the memory a dma-buf's; -ENODEV; -ESTALE if the memory is
 * revoked; or the error of the exporter, -EINVAL if it does not map whole pages.
 */
struct kverbs_map *kverbs_map_try(struct kverbs_region *region, struct ib_device *ib,
				  struct kverbs_tenant *tenant,
				  struct kverbs_turn_waiter *waiter)
{
	struct kverbs_map *map = kverbs_map_lookup(region, ib, tenant);

	if (map)
		return map;
	if (!kverbs_turn_trylock(&region->mapping, waiter))
		return ERR_PTR(-EAGAIN);
	return get_and_unlock(region, ib, tenant);
}

/**
 * kverbs_map_get() - the mapping of a region on a device, created on first use
 * @region: the region; the caller counts in its uses
 * @ib: the device; the caller is its tenant
 * @tenant: as for kverbs_map_try()
 *
 * Context: process, may sleep and be killed; not a work item of which there may be many.
 * Return: as kverbs_map_try(), but -EINTR instead of -EAGAIN.
 */
struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib,
				  struct kverbs_tenant *tenant)
{
	struct kverbs_map *map = kverbs_map_lookup(region, ib, tenant);

	if (map)
		return map;
	if (kverbs_turn_lock_killable(&region->mapping))
		return ERR_PTR(-EINTR);
	return get_and_unlock(region, ib, tenant);
}

/**
 * kverbs_map_await() - wait until another task no longer maps a region
 * @region: the region; the caller counts in its uses, and holds no lock of a connection
 *
 * Context: process, may sleep and be killed.
 * Return: 0 or -EINTR.
 */
int kverbs_map_await(struct kverbs_region *region)
{
	if (kverbs_turn_lock_killable(&region->mapping))
		return -EINTR;
	kverbs_turn_unlock(&region->mapping);
	return 0;
}

static void unmap_all(struct kverbs_region *region)
{
	struct kverbs_map *map, *next;

	kverbs_turn_lock(&region->mapping);
	list_for_each_entry_safe(map, next, &region->maps, entry)
		destroy_map(map);
	kverbs_turn_unlock(&region->mapping);
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
		u64 part = min3(span->length - skip, length, KVERBS_SGE_MAX);

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

/**
 * kverbs_map_sge() - a scatter/gather entry for the first part of a range
 * @map: the map
 * @offset: first byte in the region
 * @length: bytes, at least 1, within the region
 * @lkey: what to put into the entry
 * @sge: filled in
 *
 * Context: any.
 * Return: how many bytes the entry covers.
 */
u64 kverbs_map_sge(const struct kverbs_map *map, u64 offset, u64 length, u32 lkey,
		   struct ib_sge *sge)
{
	u64 pos = map->region->page_offset + offset;
	const struct kverbs_span *span = kverbs_map_find(map, pos);
	u64 skip = pos - span->start;

	*sge = (struct ib_sge) {
		.addr = span->addr + skip,
		.length = min3(span->length - skip, length, KVERBS_SGE_MAX),
		.lkey = lkey,
	};
	return sge->length;
}

static void unuse_last(struct kverbs_region *region, long nr)
{
	unsigned long flags;

	/* Under the lock, so that kverbs_region_destroy() does not free the region yet. */
	spin_lock_irqsave(&region->idle.lock, flags);
	if (atomic_long_sub_and_test(nr, &region->uses))
		wake_up_locked(&region->idle);
	spin_unlock_irqrestore(&region->idle.lock, flags);
}

/**
 * kverbs_region_unuse_many() - undo kverbs_region_use_many()
 * @region: the region, which may be gone afterwards
 * @nr: of its uses, how many
 *
 * Context: any.
 */
void kverbs_region_unuse_many(struct kverbs_region *region, long nr)
{
	long uses = atomic_long_read(&region->uses);

	do {
		if (uses == nr) {
			unuse_last(region, nr);
			return;
		}
	} while (!atomic_long_try_cmpxchg(&region->uses, &uses, uses - nr));
}

/**
 * kverbs_region_uncache() - drop a use that also counts in @cached
 * @region: the region, which may be gone afterwards
 *
 * In this order the region never seems to have a use that is not cached.
 *
 * Context: any.
 */
void kverbs_region_uncache(struct kverbs_region *region)
{
	kref_get(&region->ref);
	kverbs_region_unuse(region);
	atomic_long_dec(&region->cached);
	put_region(region);
}

/**
 * kverbs_region_destroy() - unmap, and unpin and uncharge memory of a user
 * @region: the region; only connections that are being torn down may still use it, and
 *	this waits for them
 *
 * Context: process, may sleep.
 */
void kverbs_region_destroy(struct kverbs_region *region)
{
	wait_event(region->idle, !atomic_long_read(&region->uses));
	/* Wait until unuse_last() has released the lock. */
	spin_lock_irq(&region->idle.lock);
	spin_unlock_irq(&region->idle.lock);
	unmap_all(region);
	kverbs_memory_put(region->memory);
	put_region(region);
}

/**
 * kverbs_region_byte() - where the kernel has a byte of a region
 * @region: the region, which must not be destroyed while that is used
 * @offset: of the byte, within the region
 *
 * Return: its address.
 */
u8 *kverbs_region_byte(const struct kverbs_region *region, u64 offset)
{
	u64 skip = region->page_offset + offset;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&region->memory->sgt.sgt, sg, i) {
		if (skip < sg->length)
			return (u8 *)sg_virt(sg) + skip;
		skip -= sg->length;
	}
	return NULL;
}

/**
 * kverbs_region_peek() - look at bytes of a region
 * @region: the region
 * @offset: first byte
 * @to: where to copy them
 * @length: how many, within the region
 */
void kverbs_region_peek(const struct kverbs_region *region, u64 offset, void *to,
			size_t length)
{
	const struct sg_table *sgt = &region->memory->sgt.sgt;

	sg_pcopy_to_buffer(sgt->sgl, sgt->nents, to, length, region->page_offset + offset);
}
