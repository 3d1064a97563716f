// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast-registration memory regions. kverbs_mr_get() maps pages to an MR; the caller posts its
 * REG_MR. After the completion of a LOCAL_INV kverbs_mr_recycle() keeps the MR for the next
 * registration. In any other state it must be deregistered, by kverbs_mr_free().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/slab.h>

#include "mr.h"
#include "region.h"
#include "trace.h"
#include "verbs.h"

/* FREE MRs that a pool keeps; more of them would cost more than they save. */
#define FREE_MAX	32
/* With any of these the peer learns the address. */
#define REMOTE_RIGHTS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC)

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
 * @pool: the pool; it is used only after its @pd and @pages are set
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
 * Without a queue pair in its protection domain the key of an MR is of no use to anybody, so
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

static struct kverbs_mr *new_mr(struct kverbs_mr_pool *pool, enum kverbs_mr_size size)
{
	u32 pages = size == KVERBS_MR_LARGE ? pool->pages : min(pool->pages, KVERBS_MR_FEW);
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
	mr->ib = kverbs_ib_alloc_mr(pool->pd, pages * (PAGE_SIZE / mr_page_size(pool)));
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

static enum kverbs_mr_size size_of(const struct kverbs_map *map, u64 offset, u64 length)
{
	u64 skip = offset_in_page(map->region->page_offset + offset);

	return skip + length <= KVERBS_MR_FEW * PAGE_SIZE ? KVERBS_MR_SMALL : KVERBS_MR_LARGE;
}

static unsigned int count_spans(const struct kverbs_map *map, u64 pos, u64 end)
{
	return kverbs_map_find(map, end - 1) - kverbs_map_find(map, pos) + 1;
}

/* ib_map_mr_sg() maps whole entries, so the range gets entries of its own. */
static struct scatterlist *range_entries(const struct kverbs_map *map, u64 pos,
					 u64 end, unsigned int nr)
{
	const struct kverbs_span *span = kverbs_map_find(map, pos);
	struct scatterlist *sgl, *sg;
	unsigned int i;

	sgl = kvmalloc_array(nr, sizeof(*sgl), GFP_KERNEL_ACCOUNT);
	if (!sgl)
		return NULL;
	sg_init_table(sgl, nr);
	for_each_sg(sgl, sg, nr, i) {
		u64 stop = min(end, span->start + span->length);

		sg_dma_address(sg) = span->addr + (pos - span->start);
		sg_dma_len(sg) = stop - pos;
		pos = stop;
		span++;
	}
	return sgl;
}

static int map_range(struct kverbs_mr *mr, u32 page_size, const struct kverbs_map *map,
		     u64 offset, u64 length, int access)
{
	u64 pos = map->region->page_offset + offset;
	unsigned int nr = count_spans(map, pos, pos + length);
	unsigned int sg_offset = 0;
	struct scatterlist *sgl;
	int mapped;

	sgl = range_entries(map, pos, pos + length, nr);
	if (!sgl)
		return -ENOMEM;
	mapped = kverbs_ib_map_mr_sg(mr->ib, sgl, nr, &sg_offset, page_size);
	kvfree(sgl);
	if (mapped < 0)
		return mapped;
	if (mapped != nr || mr->ib->length != length)
		return -EINVAL;
	/*
	 * The default is a kernel address on some devices, which must not leak to the peer.
	 * rdmavt finds an MR by lkey only at the default.
	 */
	if (access & REMOTE_RIGHTS)
		mr->ib->iova = offset_in_page(pos);
	return 0;
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

/**
 * kverbs_mr_get() - an MR that covers a range, ready to be posted
 * @pool: the pool
 * @map: mapping of the region on this device; the caller counts in the region's uses
 * @offset: first byte in the region
 * @length: bytes, within the pages that an MR can cover
 * @access: IB_ACCESS_*
 *
 * The MR counts in the region's uses until it is recycled or freed.
 *
 * Context: process, may sleep.
 * Return: the MR with its work request filled in, or an ERR_PTR.
 */
struct kverbs_mr *kverbs_mr_get(struct kverbs_mr_pool *pool,
				const struct kverbs_map *map, u64 offset,
				u64 length, int access)
{
	struct kverbs_mr *mr;
	int ret;

	mr = take_mr(pool, size_of(map, offset, length));
	if (IS_ERR(mr))
		return mr;
	ret = map_range(mr, mr_page_size(pool), map, offset, length, access);
	if (ret) {
		kverbs_mr_free(pool, mr);
		return ERR_PTR(ret);
	}
	renew_key(mr);
	mr->region = map->region;
	kverbs_region_use(mr->region);
	mr->state = KVERBS_MR_MAPPED;
	mr->wr = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr->ib,
		.key = mr->ib->rkey,
		.access = access,
	};
	add_mapped(mr);
	trace_kverbs_register(mr->ib, access);
	return mr;
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
