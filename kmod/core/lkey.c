// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The lkey cache: a buffer that takes too many scatter/gather entries is registered, and the
 * registration is kept while the region and the queue pair live.
 */
#include <linux/slab.h>

#include "lkey.h"
#include "region.h"

/**
 * kverbs_lkey_cache_init() - make an empty cache
 * @set: the cache
 * @pool: where its MRs come from
 */
void kverbs_lkey_cache_init(struct kverbs_lkey_cache *set, struct kverbs_mr_pool *pool)
{
	mutex_init(&set->lock);
	INIT_LIST_HEAD(&set->entries);
	set->chain = NULL;
	set->pool = pool;
}

static u64 chunk_size(const struct kverbs_lkey_cache *set)
{
	return (u64)set->pool->pages << PAGE_SHIFT;
}

/* Counts even without MRs: kverbs_region_destroy() must know of the struct. */
static void count_local(struct kverbs_lkeys *local)
{
	kverbs_region_use(local->region);
	atomic_long_inc(&local->region->cached);
}

static void free_local(struct kverbs_lkeys *local)
{
	struct kverbs_region *region = local->region;

	list_del(&local->entry);
	kvfree(local);
	kverbs_region_uncache(region);
}

/**
 * kverbs_lkey_cache_destroy() - empty the cache; the pool frees the MRs
 * @set: the cache of a connection that is drained
 */
void kverbs_lkey_cache_destroy(struct kverbs_lkey_cache *set)
{
	struct kverbs_lkeys *local, *next;

	mutex_lock(&set->lock);
	list_for_each_entry_safe(local, next, &set->entries, entry)
		free_local(local);
	kverbs_chain_free(set->chain);
	set->chain = NULL;
	mutex_unlock(&set->lock);
}

/**
 * kverbs_lkeys_get() - the registrations of a region, created without MRs if there are none
 * @set: the cache, locked
 * @region: the region
 *
 * Return: the registrations or ERR_PTR(-ENOMEM).
 */
struct kverbs_lkeys *kverbs_lkeys_get(struct kverbs_lkey_cache *set,
				      struct kverbs_region *region)
{
	struct kverbs_lkeys *local;
	unsigned int nr;

	lockdep_assert_held(&set->lock);
	list_for_each_entry(local, &set->entries, entry)
		if (local->region == region)
			return local;

	nr = DIV_ROUND_UP_ULL((u64)region->npages << PAGE_SHIFT, set->stride);
	local = kvzalloc_node(struct_size(local, mrs, nr), GFP_KERNEL_ACCOUNT,
			      ibdev_to_node(set->pool->pd->device));
	if (!local)
		return ERR_PTR(-ENOMEM);
	local->region = region;
	local->nr = nr;
	list_add(&local->entry, &set->entries);
	count_local(local);
	return local;
}

static struct kverbs_mr *chunk_mr(struct kverbs_lkey_cache *set,
				  struct kverbs_lkeys *local,
				  const struct kverbs_map *map, unsigned int chunk)
{
	u64 base = local->region->page_offset;
	u64 start = max(chunk * set->stride, base);
	u64 end = min(chunk * set->stride + chunk_size(set), base + local->region->length);
	struct kverbs_mr *mr = local->mrs[chunk];
	int ret;

	if (mr) {
		ret = kverbs_mr_settle(set->pool, mr);
		return ret ? ERR_PTR(ret) : mr;
	}
	mr = kverbs_mr_get(set->pool, map, start - base, end - start,
			   local->region->writable ? IB_ACCESS_LOCAL_WRITE : 0, NULL);
	if (IS_ERR(mr))
		return mr;
	kverbs_mr_note_cached(mr);
	local->mrs[chunk] = mr;
	return mr;
}

/**
 * kverbs_lkeys_sge() - an entry for the first part of a slice
 * @set: the cache, locked
 * @local: the registrations of the region
 * @slice: advanced by the part that the entry covers
 * @max: at most so many bytes
 * @sge: filled in; ends with the chunk, with the slice, or after @max bytes
 * @mr: the MR that @sge names, which must be posted if it is only MAPPED
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int kverbs_lkeys_sge(struct kverbs_lkey_cache *set, struct kverbs_lkeys *local,
		     struct kverbs_slice *slice, u64 max, struct ib_sge *sge,
		     struct kverbs_mr **mr)
{
	u64 base = local->region->page_offset;
	u64 pos = base + slice->offset;
	unsigned int chunk = div64_u64(pos, set->stride);
	u64 start = max(chunk * set->stride, base);
	u64 end = chunk * set->stride + chunk_size(set);
	u64 part = min3(end - pos, slice->left, max);

	lockdep_assert_held(&set->lock);
	*mr = chunk_mr(set, local, slice->map, chunk);
	if (IS_ERR(*mr))
		return PTR_ERR(*mr);
	*sge = (struct ib_sge) {
		.addr = (*mr)->ib->iova + (pos - start),
		.length = part,
		.lkey = (*mr)->ib->lkey,
	};
	slice->offset += part;
	slice->left -= part;
	return 0;
}

static int drop_mrs(struct kverbs_lkey_cache *set, struct kverbs_lkeys *local)
{
	unsigned int i;

	for (i = 0; i < local->nr; i++) {
		struct kverbs_mr *mr = local->mrs[i];

		if (!mr)
			continue;
		if (READ_ONCE(mr->state) == KVERBS_MR_POSTED)
			return -EBUSY;
		local->mrs[i] = NULL;
		if (kverbs_mr_free(set->pool, mr))
			return -EBUSY;
		cond_resched();
	}
	return 0;
}

/**
 * kverbs_lkey_cache_forget() - deregister a region that no work uses any more
 * @set: the cache
 * @region: the region
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if a registration is still in the send queue, which happens only
 * while the connection ends, or if the device does not deregister it: the caller must then
 * end the connection, and wait for that.
 */
int kverbs_lkey_cache_forget(struct kverbs_lkey_cache *set, struct kverbs_region *region)
{
	struct kverbs_lkeys *local, *next;
	int ret = 0;

	mutex_lock(&set->lock);
	list_for_each_entry_safe(local, next, &set->entries, entry) {
		if (local->region != region)
			continue;
		ret = drop_mrs(set, local);
		if (ret)
			break;
		free_local(local);
	}
	mutex_unlock(&set->lock);
	return ret;
}
