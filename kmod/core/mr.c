// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast-registration memory regions. kverbs_mr_get() maps pages to an MR; the caller posts its
 * REG_MR. After the completion of a LOCAL_INV kverbs_mr_recycle() keeps the MR for the next
 * registration. In any other state it must be deregistered, by kverbs_mr_free().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "device.h"
#include "mr.h"
#include "region.h"
#include "trace.h"
#include "verbs.h"

/* FREE MRs that a pool keeps; more of them would cost more than they save. */
#define FREE_MAX	32
/* With any of these the peer learns the address. */
#define REMOTE_RIGHTS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC)
/* Of an MR, so that the length of an entry, and of an SGE, is far below 2^32. */
#define SEGMENT_MAX	SZ_1G

#ifdef KVERBS_DEBUG
LIST_HEAD(kverbs_mapped_mrs);
DEFINE_SPINLOCK(kverbs_mapped_lock);

static void add_mapped(struct kverbs_mr *mr)
{
	spin_lock_bh(&kverbs_mapped_lock);
	list_add(&mr->mapped, &kverbs_mapped_mrs);
	spin_unlock_bh(&kverbs_mapped_lock);
}

static void del_mapped(struct kverbs_mr *mr)
{
	spin_lock_bh(&kverbs_mapped_lock);
	list_del_init(&mr->mapped);
	spin_unlock_bh(&kverbs_mapped_lock);
}
#else
static void add_mapped(struct kverbs_mr *mr)
{
}

static void del_mapped(struct kverbs_mr *mr)
{
}
#endif

/**
 * kverbs_mr_pool_init() - make an empty pool
 * @pool: the pool; it is used only after its @pd, @tenant and @pages are set
 */
void kverbs_mr_pool_init(struct kverbs_mr_pool *pool)
{
	unsigned int i;

	mutex_init(&pool->lock);
	for (i = 0; i < KVERBS_MR_SIZES; i++)
		INIT_LIST_HEAD(&pool->free[i]);
	INIT_LIST_HEAD(&pool->busy);
	init_llist_head(&pool->returned);
	spin_lock_init(&pool->public_lock);
	INIT_LIST_HEAD(&pool->public);
	pool->pd = NULL;
	pool->tenant = NULL;
	pool->nr_free = 0;
}

/**
 * kverbs_mr_publish() - let kverbs_mr_revoke() find an MR
 * @pool: the pool
 * @mr: the MR; found until it is recycled or freed
 */
void kverbs_mr_publish(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	spin_lock_bh(&pool->public_lock);
	list_add(&mr->public, &pool->public);
	spin_unlock_bh(&pool->public_lock);
}

static void unpublish(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	spin_lock_bh(&pool->public_lock);
	list_del_init(&mr->public);
	spin_unlock_bh(&pool->public_lock);
}

/**
 * kverbs_mr_revoke() - note that the peer invalidated an MR
 * @pool: the pool
 * @rkey: the key that the peer named, which may be of no public MR
 *
 * The receive that names the key may complete after DESTROY of the export has posted LOCAL_INV.
 * The MR is invalid in either case, but a device may fail to invalidate it twice, which ends the
 * connection; see Documentation/dev/driver-quirks.rst. Freeing each MR instead, as exports of a
 * group do, takes two commands of the firmware for each export rather than two work requests.
 *
 * Context: any but hardirq.
 * Return: true if the pool has this MR.
 */
bool kverbs_mr_revoke(struct kverbs_mr_pool *pool, u32 rkey)
{
	bool found = false;
	struct kverbs_mr *mr;

	spin_lock_bh(&pool->public_lock);
	list_for_each_entry(mr, &pool->public, public) {
		if (mr->ib->rkey != rkey)
			continue;
		WRITE_ONCE(mr->state, KVERBS_MR_REVOKED);
		found = true;
		break;
	}
	spin_unlock_bh(&pool->public_lock);
	return found;
}

/* The region may be unpinned after this. */
static void forget_mr(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	list_del(&mr->entry);
	if (mr->region)
		del_mapped(mr);
	if (mr->cached)
		kverbs_region_uncache(mr->region);
	else if (mr->region)
		kverbs_region_unuse(mr->region);
	kverbs_quota_uncharge(&mr->quota, 1, pool->pd->device);
	kvfree(mr->room);
	kfree(mr);
}

/*
 * ib_dereg_mr() is a fence of its own. If it fails, the HCA may still reach the region by way
 * of the queue pair, so the MR stays, in the busy list, until that is destroyed.
 */
static int destroy_mr(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	int ret;

	unpublish(pool, mr);
	ret = ib_dereg_mr(mr->ib);
	if (ret) {
		pr_warn_once("%s does not deregister memory: %pe\n",
			     dev_name(&pool->pd->device->dev), ERR_PTR(ret));
		WRITE_ONCE(mr->state, KVERBS_MR_POSTED);
		return ret;
	}
	forget_mr(pool, mr);
	return 0;
}

/**
 * kverbs_mr_pool_destroy() - deregister all MRs
 * @pool: the pool, whose queue pair is destroyed
 *
 * Without a queue pair in its protection domain the key of an MR is of no use, so
 * one that the device does not deregister may be forgotten.
 *
 * Context: process, may sleep.
 */
void kverbs_mr_pool_destroy(struct kverbs_mr_pool *pool)
{
	struct kverbs_mr *mr, *next;
	unsigned int i;

	mutex_lock(&pool->lock);
	for (i = 0; i < KVERBS_MR_SIZES; i++)
		list_splice_init(&pool->free[i], &pool->busy);
	pool->nr_free = 0;
	init_llist_head(&pool->returned);
	list_for_each_entry_safe(mr, next, &pool->busy, entry) {
		if (destroy_mr(pool, mr))
			forget_mr(pool, mr);
		cond_resched();
	}
	mutex_unlock(&pool->lock);
}

static u32 mr_page_size(const struct kverbs_mr_pool *pool)
{
	return kverbs_mr_page_size(pool->pd->device->attrs.page_size_cap, PAGE_SIZE);
}

/* Entries of the list of pages of an MR. */
static u32 count_entries(const struct kverbs_mr_pool *pool, enum kverbs_mr_size size)
{
	u32 pages = size == KVERBS_MR_LARGE ? pool->pages : min(pool->pages, KVERBS_MR_FEW);

	return pages * (PAGE_SIZE / mr_page_size(pool));
}

/* Whether an MR may continue behind a span, which ib_sg_to_pages() permits between pages only. */
static bool may_continue(const struct kverbs_span *span, u32 page_size)
{
	return IS_ALIGNED(span->addr + span->length, page_size) &&
	       IS_ALIGNED(span[1].addr, page_size);
}

static u64 span_end(const struct kverbs_span *span)
{
	return span->start + span->length;
}

/**
 * struct extent - what an MR covers
 * @length: bytes
 * @page_size: of its pages
 * @size: of the MR
 */
struct extent {
	u64 length;
	u32 page_size;
	enum kverbs_mr_size size;
};

static struct extent extent_of(const struct kverbs_mr_pool *pool, const struct kverbs_map *map,
			       u64 pos, u64 length, u32 page_size)
{
	const struct kverbs_span *span = kverbs_map_find(map, pos);
	u64 skip = (span->addr + (pos - span->start)) & (page_size - 1);
	u64 most = min_t(u64, (u64)count_entries(pool, KVERBS_MR_LARGE) * page_size, SEGMENT_MAX);
	u64 few = (u64)count_entries(pool, KVERBS_MR_SMALL) * page_size;
	u64 end = pos + min(most - skip, length);

	/* All spans consist of pages of the kernel. */
	while (page_size > PAGE_SIZE && span_end(span) < end) {
		if (!may_continue(span, page_size)) {
			end = span_end(span);
			break;
		}
		span++;
	}
	return (struct extent) {
		.length = end - pos,
		.page_size = page_size,
		.size = skip + end - pos <= few ? KVERBS_MR_SMALL : KVERBS_MR_LARGE,
	};
}

/* Devices find a page by the remote address, so the offsets in the page must agree. */
static bool fits(const struct kverbs_map *map, u64 pos, const u64 *iova, u32 page_size)
{
	const struct kverbs_span *span = kverbs_map_find(map, pos);

	return !iova || IS_ALIGNED(*iova - (span->addr + (pos - span->start)), page_size);
}

/*
 * The pages of the MR that begins a range: the smallest ones of which a few cover all of it,
 * else those that reach furthest. Only a range in huge pages, or one that is contiguous for the
 * device, can have larger ones than the kernel's.
 */
static struct extent first_extent(const struct kverbs_mr_pool *pool,
				  const struct kverbs_map *map, u64 offset, u64 length,
				  const u64 *iova)
{
	u64 sizes = kverbs_device_large_pages(pool->pd->device);
	u64 pos = map->region->page_offset + offset;
	struct extent best = extent_of(pool, map, pos, length, mr_page_size(pool));
	struct extent next;

	while (sizes && (best.length < length || best.size == KVERBS_MR_LARGE)) {
		u32 page_size = 1U << __ffs64(sizes);

		sizes &= sizes - 1;
		if (!fits(map, pos, iova, page_size))
			continue;
		next = extent_of(pool, map, pos, length, page_size);
		if (next.length > best.length ||
		    (next.length == best.length && next.size < best.size))
			best = next;
	}
	return best;
}

/**
 * kverbs_mr_reach() - how much of a range one MR covers
 * @pool: the pool
 * @map: mapping of the region on this device
 * @offset: first byte in the region
 * @length: bytes, at least 1
 * @iova: remote address of the first byte, or NULL for any
 *
 * Return: bytes from @offset on, at most @length.
 */
u64 kverbs_mr_reach(const struct kverbs_mr_pool *pool, const struct kverbs_map *map,
		    u64 offset, u64 length, const u64 *iova)
{
	return first_extent(pool, map, offset, length, iova).length;
}

/**
 * kverbs_mr_count() - how many MRs a range takes
 * @pool: the pool
 * @map: mapping of the region on this device
 * @offset: first byte in the region
 * @length: bytes
 * @iova: remote address of the first byte, or NULL for any
 *
 * Context: process, may sleep.
 * Return: their number, if each covers as much as it can.
 */
unsigned int kverbs_mr_count(const struct kverbs_mr_pool *pool, const struct kverbs_map *map,
			     u64 offset, u64 length, const u64 *iova)
{
	u64 addr = iova ? *iova : 0;
	unsigned int nr = 0;
	u64 part;

	for (; length; length -= part) {
		part = kverbs_mr_reach(pool, map, offset, length, iova ? &addr : NULL);
		offset += part;
		addr += part;
		nr++;
		cond_resched();
	}
	return nr;
}

static struct kverbs_mr *new_mr(struct kverbs_mr_pool *pool, enum kverbs_mr_size size)
{
	struct kverbs_mr *mr;
	int ret;

	mr = kzalloc_node(sizeof(*mr), GFP_KERNEL_ACCOUNT, ibdev_to_node(pool->pd->device));
	if (!mr)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&mr->public);
	mr->size = size;
	ret = kverbs_quota_charge(&mr->quota, 1, pool->pd->device);
	if (ret)
		goto out_free_mr;
	mr->ib = kverbs_ib_alloc_mr(pool->pd, count_entries(pool, size));
	if (IS_ERR(mr->ib)) {
		ret = PTR_ERR(mr->ib);
		goto out_uncharge;
	}
	return mr;

out_uncharge:
	kverbs_quota_uncharge(&mr->quota, 1, pool->pd->device);
out_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

/* They are as many as there were sinks at a time, so at most the slots of the send queue. */
static void collect_returned(struct kverbs_mr_pool *pool)
{
	struct kverbs_mr *mr, *next;

	lockdep_assert_held(&pool->lock);
	if (llist_empty(&pool->returned))
		return;
	llist_for_each_entry_safe(mr, next, llist_del_all(&pool->returned), returned) {
		list_move(&mr->entry, &pool->free[mr->size]);
		pool->nr_free++;
	}
}

static struct kverbs_mr *take_mr(struct kverbs_mr_pool *pool, enum kverbs_mr_size size)
{
	struct kverbs_mr *mr;

	mutex_lock(&pool->lock);
	collect_returned(pool);
	mr = list_first_entry_or_null(&pool->free[size], struct kverbs_mr, entry);
	if (mr) {
		list_move(&mr->entry, &pool->busy);
		pool->nr_free--;
	}
	mutex_unlock(&pool->lock);
	if (mr)
		return mr;

	mr = new_mr(pool, size);
	if (IS_ERR(mr))
		return mr;
	mutex_lock(&pool->lock);
	list_add(&mr->entry, &pool->busy);
	mutex_unlock(&pool->lock);
	return mr;
}

/**
 * kverbs_mr_reserve() - an MR for one owner
 * @pool: the pool
 * @pages: pages of PAGE_SIZE that it can cover, 1 to @pages of the pool
 *
 * The owner uses it again and again by kverbs_mr_cover() and kverbs_mr_uncover(), and frees it by
 * kverbs_mr_free(), unless the pool is destroyed before that.
 *
 * Context: process, may sleep.
 * Return: the MR or an ERR_PTR: -EINVAL, -ENOMEM, -EDQUOT, or the error of the device.
 */
struct kverbs_mr *kverbs_mr_reserve(struct kverbs_mr_pool *pool, unsigned int pages)
{
	struct kverbs_mr *mr;

	if (!pages || pages > pool->pages)
		return ERR_PTR(-EINVAL);
	mr = take_mr(pool, pages > KVERBS_MR_FEW ? KVERBS_MR_LARGE : KVERBS_MR_SMALL);
	if (IS_ERR(mr))
		return mr;
	mr->nr_room = pages;
	mr->room = kvmalloc_array(pages, sizeof(*mr->room), GFP_KERNEL_ACCOUNT);
	if (mr->room)
		return mr;
	kverbs_mr_free(pool, mr);
	return ERR_PTR(-ENOMEM);
}

static unsigned int count_spans(const struct kverbs_map *map, u64 pos, u64 end)
{
	return kverbs_map_find(map, end - 1) - kverbs_map_find(map, pos) + 1;
}

/* ib_map_mr_sg() maps whole entries, so the range gets entries of its own. */
static void fill_entries(struct scatterlist *sgl, const struct kverbs_map *map, u64 pos,
			 u64 end, unsigned int nr)
{
	const struct kverbs_span *span = kverbs_map_find(map, pos);
	struct scatterlist *sg;
	unsigned int i;

	sg_init_table(sgl, nr);
	for_each_sg(sgl, sg, nr, i) {
		u64 stop = min(end, span->start + span->length);

		sg_dma_address(sg) = span->addr + (pos - span->start);
		sg_dma_len(sg) = stop - pos;
		pos = stop;
		span++;
	}
}

/* @sgl has room for all spans of the range. */
static int map_entries(struct kverbs_mr *mr, u32 page_size, const struct kverbs_map *map,
		       u64 offset, u64 length, int access, struct scatterlist *sgl)
{
	u64 pos = map->region->page_offset + offset;
	unsigned int nr = count_spans(map, pos, pos + length);
	unsigned int sg_offset = 0;
	int mapped;

	fill_entries(sgl, map, pos, pos + length, nr);
	mapped = kverbs_ib_map_mr_sg(mr->ib, sgl, nr, &sg_offset, page_size);
	if (mapped < 0)
		return mapped;
	if (mapped != nr || mr->ib->length != length)
		return -EINVAL;
	/*
	 * The default is a kernel address on some devices, which must not leak to the peer: only
	 * the offset in the first page must be right. rdmavt finds an MR by lkey only at the
	 * default.
	 */
	if (access & REMOTE_RIGHTS)
		mr->ib->iova &= max_t(u32, page_size, PAGE_SIZE) - 1;
	return 0;
}

static int map_range(struct kverbs_mr *mr, u32 page_size, const struct kverbs_map *map,
		     u64 offset, u64 length, int access)
{
	u64 pos = map->region->page_offset + offset;
	unsigned int nr = count_spans(map, pos, pos + length);
	struct scatterlist *sgl;
	int ret;

	sgl = kvmalloc_array(nr, sizeof(*sgl), GFP_KERNEL_ACCOUNT);
	if (!sgl)
		return -ENOMEM;
	ret = map_entries(mr, page_size, map, offset, length, access, sgl);
	kvfree(sgl);
	return ret;
}

/* Randomises the key, so that the peer cannot guess it from an earlier one. */
static void renew_key(struct kverbs_mr *mr)
{
	u8 old = mr->ib->rkey & 0xff;
	u8 key;

	do {
		key = (u8)get_random_u32();
	} while (key == old);
	ib_update_fast_reg_key(mr->ib, key);
}

/* The MR has its pages: fills in the work request that registers it. */
static void prepare_reg(struct kverbs_mr *mr, struct kverbs_region *region, int access)
{
	renew_key(mr);
	mr->region = region;
	kverbs_region_use(region);
	mr->state = KVERBS_MR_MAPPED;
	mr->wr = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr->ib,
		.key = mr->ib->rkey,
		.access = access,
	};
	add_mapped(mr);
	trace_kverbs_register(mr->ib, access);
}

/**
 * kverbs_mr_settle() - charge the owner for an MR that a worker made
 * @pool: the pool
 * @mr: the MR, which no other task uses or frees during the call
 *
 * A worker makes MRs for operations that had to wait, and cannot charge them. The next task that
 * uses the MR is one of the owner.
 *
 * Context: process, may sleep.
 * Return: as kverbs_quota_settle().
 */
int kverbs_mr_settle(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	return kverbs_quota_settle(&mr->quota, pool->pd->device);
}

/**
 * kverbs_mr_get() - an MR that covers a range, ready to be posted
 * @pool: the pool
 * @map: mapping of the region on this device; the caller counts in the region's uses
 * @offset: first byte in the region
 * @length: bytes, at most kverbs_mr_reach()
 * @access: IB_ACCESS_*
 * @iova: remote address of the first byte, congruent to its DMA address modulo PAGE_SIZE, or
 *	NULL for any
 *
 * The MR counts in the region's uses until it is recycled or freed.
 *
 * Context: process, may sleep.
 * Return: the MR with its work request filled in, or an ERR_PTR.
 */
struct kverbs_mr *kverbs_mr_get(struct kverbs_mr_pool *pool,
				const struct kverbs_map *map, u64 offset,
				u64 length, int access, const u64 *iova)
{
	struct extent extent = first_extent(pool, map, offset, length, iova);
	struct kverbs_mr *mr;
	int ret;

	if (extent.length < length)
		return ERR_PTR(-EINVAL);
	mr = take_mr(pool, extent.size);
	if (IS_ERR(mr))
		return mr;
	ret = kverbs_mr_settle(pool, mr);
	if (!ret)
		ret = map_range(mr, extent.page_size, map, offset, length, access);
	if (ret) {
		kverbs_mr_free(pool, mr);
		return ERR_PTR(ret);
	}
	/* REG_MR, which is posted later, takes the address from here. */
	if (iova)
		mr->ib->iova = *iova;
	prepare_reg(mr, map->region, access);
	return mr;
}

/**
 * kverbs_mr_cover() - let a reserved MR cover a range, ready to be posted
 * @pool: the pool
 * @mr: from kverbs_mr_reserve(), FREE
 * @map: mapping of the region on this device; the caller counts in the region's uses
 * @offset: first byte in the region
 * @length: bytes, at least 1
 * @access: IB_ACCESS_*
 *
 * The MR counts in the region's uses until kverbs_mr_uncover().
 *
 * Context: any but hardirq.
 * Return: 0; -EINVAL if the region has gaps; -EMSGSIZE if the MR is too small; or the error of
 * the device.
 */
int kverbs_mr_cover(struct kverbs_mr_pool *pool, struct kverbs_mr *mr,
		    const struct kverbs_map *map, u64 offset, u64 length, int access)
{
	struct extent extent = first_extent(pool, map, offset, length, NULL);
	u64 pos = map->region->page_offset + offset;
	int ret;

	if (map->region->gaps)
		return -EINVAL;
	if (extent.length < length || extent.size > mr->size ||
	    count_spans(map, pos, pos + length) > mr->nr_room)
		return -EMSGSIZE;
	ret = map_entries(mr, extent.page_size, map, offset, length, access, mr->room);
	if (!ret)
		prepare_reg(mr, map->region, access);
	return ret;
}

/**
 * kverbs_mr_uncover() - undo kverbs_mr_cover()
 * @pool: the pool
 * @mr: the MR, which is invalid on the HCA: never posted, revoked by the peer, or invalidated by a
 *	work request that completed
 *
 * Context: any but hardirq.
 */
void kverbs_mr_uncover(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	struct kverbs_region *region = mr->region;

	unpublish(pool, mr);
	del_mapped(mr);
	mr->region = NULL;
	mr->state = KVERBS_MR_FREE;
	kverbs_region_unuse(region);
}

/**
 * kverbs_mr_note_cached() - let an MR not keep its region busy
 * @mr: from kverbs_mr_get(); it must be freed or returned, not recycled
 */
void kverbs_mr_note_cached(struct kverbs_mr *mr)
{
	mr->cached = true;
	atomic_long_inc(&mr->region->cached);
}

/**
 * kverbs_mr_return() - take back a cached MR that is invalid on the HCA
 * @pool: the pool
 * @mr: the MR, invalidated by a work request that completed, or never posted
 *
 * Context: any but hardirq.
 */
void kverbs_mr_return(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	struct kverbs_region *region = mr->region;

	del_mapped(mr);
	mr->region = NULL;
	mr->cached = false;
	mr->state = KVERBS_MR_FREE;
	/* From here on it may be used for another range. */
	llist_add(&mr->returned, &pool->returned);
	kverbs_region_uncache(region);
}

/**
 * kverbs_mr_recycle() - take back an MR that is invalid on the HCA
 * @pool: the pool
 * @mr: the MR, its LOCAL_INV completed
 *
 * Context: process, may sleep.
 */
void kverbs_mr_recycle(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	mutex_lock(&pool->lock);
	if (pool->nr_free < FREE_MAX) {
		unpublish(pool, mr);
		del_mapped(mr);
		kverbs_region_unuse(mr->region);
		mr->region = NULL;
		mr->state = KVERBS_MR_FREE;
		list_move(&mr->entry, &pool->free[mr->size]);
		pool->nr_free++;
	} else {
		destroy_mr(pool, mr);
	}
	mutex_unlock(&pool->lock);
}

/**
 * kverbs_mr_free() - deregister an MR in any state
 * @pool: the pool
 * @mr: the MR; no work request that names it is in a queue
 *
 * Context: process, may sleep.
 * Return: 0; or the error of the device, and then the MR uses its region until the pool is
 * destroyed.
 */
int kverbs_mr_free(struct kverbs_mr_pool *pool, struct kverbs_mr *mr)
{
	int ret;

	mutex_lock(&pool->lock);
	ret = destroy_mr(pool, mr);
	mutex_unlock(&pool->lock);
	return ret;
}
