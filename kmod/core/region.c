// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of a user, pinned for as long as a region lives, or of the kernel, and its DMA mapping
 * on each device, made when the region is first used there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "region.h"
#include "trace.h"
#include "track.h"
#include "verbs.h"
#include "workqueue.h"

#define PIN_BATCH	(PAGE_SIZE / sizeof(struct page *))
/* Keeps one scatterlist entry's length, and so an SGE's, far below 2^32. */
#define SEGMENT_MAX	SZ_1G
/* To some devices the highest bit of an entry's length means something else. */
#define SGE_MAX	((u64)SZ_1G)

/* A pin may replace pages; the next one finds these. Further attempts are for other changes. */
#define PIN_ATTEMPTS	4

/* Scatterlists count pages in an unsigned int, and the first may be used in part. */
#define LENGTH_MAX	(((u64)UINT_MAX - 1) << PAGE_SHIFT)

/**
 * struct pin - a pin in progress
 * @addr: next page's address
 * @left: pages left to pin
 * @pages: room for PIN_BATCH of them
 */
struct pin {
	unsigned long addr;
	unsigned long left;
	struct page **pages;
};

static int pin_batch(struct kverbs_region *region, struct pin *pin)
{
	unsigned long nr = min_t(unsigned long, pin->left, PIN_BATCH);
	long pinned;
	int ret;

	pinned = kverbs_pin_pages(pin->addr, nr, region->writable, pin->pages);
	if (pinned <= 0)
		return pinned ?: -EFAULT;
	pin->addr += (unsigned long)pinned << PAGE_SHIFT;
	pin->left -= pinned;
	ret = sg_alloc_append_table_from_pages(&region->sgt, pin->pages, pinned, 0,
					       (unsigned long)pinned << PAGE_SHIFT,
					       SEGMENT_MAX, pin->left,
					       GFP_KERNEL_ACCOUNT);
	if (ret)
		unpin_user_pages(pin->pages, pinned);
	return ret;
}

static void unpin_pages(struct kverbs_region *region)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&region->sgt.sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 DIV_ROUND_UP(sg->length, PAGE_SIZE),
						 region->writable);
		cond_resched();
	}
	sg_free_append_table(&region->sgt);
}

static int pin_pages(struct kverbs_region *region, unsigned long addr)
{
	struct pin pin = {
		.addr = addr & PAGE_MASK,
		.left = region->npages,
	};
	int ret = 0;

	pin.pages = (struct page **)__get_free_page(GFP_KERNEL);
	if (!pin.pages)
		return -ENOMEM;
	while (pin.left && !ret) {
		ret = fatal_signal_pending(current) ? -EINTR : pin_batch(region, &pin);
		cond_resched();
	}
	free_page((unsigned long)pin.pages);
	if (ret)
		unpin_pages(region);
	return ret;
}

/* With @track, pins until no page has been replaced since, or until the track is stale. */
static int pin_settled(struct kverbs_region *region, unsigned long addr,
		       struct kverbs_track *track)
{
	unsigned int left = PIN_ATTEMPTS;
	unsigned long seq;
	int ret;

	for (;;) {
		seq = track ? kverbs_track_begin(track) : 0;
		ret = pin_pages(region, addr);
		if (ret || !track || kverbs_track_arm(track, seq, !--left))
			return ret;
		unpin_pages(region);
		memset(&region->sgt, 0, sizeof(region->sgt));
	}
}

static int pin_region(struct kverbs_region *region, unsigned long addr,
		      struct kverbs_track *track)
{
	int ret = 0;

	if (track)
		ret = kverbs_track_start(track, addr & PAGE_MASK, region->npages);
	if (ret)
		return ret;
	ret = pin_settled(region, addr, track);
	if (ret && track)
		kverbs_track_stop(track);
	return ret;
}

static int check_range(unsigned long addr, u64 length)
{
	unsigned long end;

	if (!length || length > ULONG_MAX - PAGE_SIZE || length > LENGTH_MAX)
		return -EINVAL;
	if (check_add_overflow(addr, (unsigned long)length, &end) ||
	    PAGE_ALIGN(end) < end)
		return -EINVAL;
	if (!access_ok((void __user *)addr, length))
		return -EFAULT;
	return 0;
}

static struct kverbs_region *alloc_region(unsigned int page_offset, u64 length, bool writable,
					  gfp_t gfp)
{
	struct kverbs_region *region = kzalloc(sizeof(*region), gfp);

	if (!region)
		return NULL;
	kref_init(&region->ref);
	init_waitqueue_head(&region->idle);
	mutex_init(&region->lock);
	INIT_LIST_HEAD(&region->maps);
	region->length = length;
	region->writable = writable;
	region->page_offset = page_offset;
	region->npages = PAGE_ALIGN(page_offset + length) >> PAGE_SHIFT;
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
	struct kverbs_region *region;
	int ret;

	ret = check_range(addr, length);
	if (ret)
		return ERR_PTR(ret);
	region = alloc_region(offset_in_page(addr), length, writable, GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->pinned = true;

	ret = kverbs_account_charge(&region->account, region->npages);
	if (ret)
		goto out_free_region;
	ret = pin_region(region, addr, track);
	if (ret)
		goto out_uncharge;
	trace_kverbs_region_pin(region);
	return region;

out_uncharge:
	kverbs_account_uncharge(&region->account);
out_free_region:
	kfree(region);
	return ERR_PTR(ret);
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

static bool is_valid(const struct bio_vec *bvec)
{
	return bvec->bv_len && bvec->bv_len <= SEGMENT_MAX;
}

static u64 sum_up(const struct bio_vec *bvecs, unsigned int nr)
{
	u64 length = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!is_valid(&bvecs[i]))
			return 0;
		length += bvecs[i].bv_len;
	}
	return length;
}

/* True if a page ends before the bytes of @bvec begin, or after they end. */
static bool leaves_gap(const struct bio_vec *bvec, bool first, bool last)
{
	return (!first && offset_in_page(bvec->bv_offset)) ||
	       (!last && offset_in_page(bvec->bv_offset + bvec->bv_len));
}

/* The first entry begins with its page, like that of pinned memory. */
static void set_entry(struct scatterlist *sg, const struct bio_vec *bvec, bool first)
{
	unsigned int offset = offset_in_page(bvec->bv_offset);
	struct page *page = bvec->bv_page + bvec->bv_offset / PAGE_SIZE;

	if (first)
		sg_set_page(sg, page, bvec->bv_len + offset, 0);
	else
		sg_set_page(sg, page, bvec->bv_len, offset);
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
	u64 length = sum_up(bvecs, nr);
	struct kverbs_region *region;
	struct scatterlist *sg;
	unsigned int i;

	if (!length || length > LENGTH_MAX)
		return ERR_PTR(-EINVAL);
	region = alloc_region(offset_in_page(bvecs->bv_offset), length, writable, gfp);
	if (!region)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(&region->sgt.sgt, nr, gfp)) {
		kfree(region);
		return ERR_PTR(-ENOMEM);
	}
	for_each_sgtable_sg(&region->sgt.sgt, sg, i) {
		set_entry(sg, &bvecs[i], !i);
		region->gaps |= leaves_gap(&bvecs[i], !i, i == nr - 1);
	}
	return region;
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
	if (!length || length > SEGMENT_MAX || object_is_on_stack(buffer))
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

	/* User space chooses the size, so a failure deserves no warning. */
	map->spans = kvzalloc_node(array_size(map->sgt.nents, sizeof(*map->spans)),
				   GFP_KERNEL_ACCOUNT | __GFP_NOWARN, ibdev_to_node(map->ib));
	if (!map->spans)
		return -ENOMEM;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		add_span(map, start, sg);
		start += sg_dma_len(sg);
	}
	return 0;
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
	ret = kverbs_ib_dma_map_sgtable(map->ib, &map->sgt, direction(map->region));
	if (ret)
		goto out_free_pages;
	if (bounces(map)) {
		pr_warn_once("%s is refused memory, which it reaches only through bounce buffers\n",
			     dev_name(&map->ib->dev));
		ret = -EOPNOTSUPP;
		goto out_unmap;
	}
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

static void empty_map(struct kverbs_map *map)
{
	unmap(map);
	sg_free_table(&map->sgt);
}

static void destroy_map(struct kverbs_map *map)
{
	lockdep_assert_held(&map->region->lock);
	list_del_rcu(&map->entry);
	empty_map(map);
	kverbs_device_leave(&map->tenant);
}

static void free_map_rcu(struct rcu_head *rcu)
{
	struct kverbs_map *map = container_of(rcu, struct kverbs_map, rcu);

	kvfree(map->spans);
	kfree(map);
}

static void free_map(struct kverbs_map *map)
{
	put_region(map->region);
	call_rcu(&map->rcu, free_map_rcu);
}

/* kverbs_region_destroy() may have unmapped it already; the struct is still there. */
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

	map = kzalloc_node(sizeof(*map), GFP_KERNEL_ACCOUNT, ibdev_to_node(ib));
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->region = region;
	map->ib = ib;
	INIT_WORK(&map->evict_work, evict_map);
	ret = fill_map(map);
	if (ret)
		goto out_free_map;
	/* If the map is evicted at once, evict_map() waits for the region's lock. */
	ret = kverbs_device_enter(ib, &map->tenant, KVERBS_TENANT_MAP, map_evict);
	if (ret)
		goto out_empty_map;
	kref_get(&region->ref);
	list_add_rcu(&map->entry, &region->maps);
	return map;

out_empty_map:
	empty_map(map);
	kvfree(map->spans);
out_free_map:
	kfree(map);
	return ERR_PTR(ret);
}

/**
 * kverbs_map_lookup() - the mapping of a region on a device, if there is one
 * @region: the region; the caller counts in its uses
 * @ib: the device; the caller is its tenant
 *
 * The map stays, since it is evicted only after the caller has left the device. A caller under
 * RCU that is no tenant may read the map, but its addresses are valid only for a queue that is
 * still up: see kverbs_wr_post_direct().
 *
 * Context: any.
 * Return: the map or NULL.
 */
struct kverbs_map *kverbs_map_lookup(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(map, &region->maps, entry) {
		if (map->ib != ib)
			continue;
		found = map;
		break;
	}
	rcu_read_unlock();
	return found;
}

/**
 * kverbs_map_get() - the mapping of a region on a device, created on first use
 * @region: the region; the caller counts in its uses
 * @ib: the device; the caller is its tenant
 *
 * Every post needs it, so it takes no lock if the mapping is there.
 *
 * Context: process, may sleep.
 * Return: the map or an ERR_PTR: -ENOMEM; -EOPNOTSUPP if the device can reach
 * the memory only through a bounce buffer; -ENODEV.
 */
struct kverbs_map *kverbs_map_get(struct kverbs_region *region, struct ib_device *ib)
{
	struct kverbs_map *map = kverbs_map_lookup(region, ib);

	if (map)
		return map;
	mutex_lock(&region->lock);
	map = kverbs_map_lookup(region, ib) ?: new_map(region, ib);
	mutex_unlock(&region->lock);
	return map;
}

static void unmap_all(struct kverbs_region *region)
{
	struct kverbs_map *map, *next;
	LIST_HEAD(dead);

	mutex_lock(&region->lock);
	list_for_each_entry_safe(map, next, &region->maps, entry) {
		destroy_map(map);
		/* evict_map() frees a mapping that was evicted. */
		if (!map->tenant.evicted)
			list_add(&map->dead, &dead);
	}
	mutex_unlock(&region->lock);

	list_for_each_entry_safe(map, next, &dead, dead)
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
		.length = min3(span->length - skip, length, SGE_MAX),
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
	if (region->pinned)
		trace_kverbs_region_unpin(region);
	unmap_all(region);
	if (region->pinned) {
		unpin_pages(region);
		kverbs_account_uncharge(&region->account);
	} else {
		sg_free_table(&region->sgt.sgt);
	}
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

	for_each_sgtable_sg(&region->sgt.sgt, sg, i) {
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
	sg_pcopy_to_buffer(region->sgt.sgt.sgl, region->sgt.sgt.nents, to, length,
			   region->page_offset + offset);
}
