/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LKEY_H
#define KVERBS_LKEY_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "chain.h"
#include "mr.h"

struct kverbs_map;

/**
 * struct kverbs_lkeys - registrations of a region for local access by one connection
 * @entry: in the cache
 * @region: the region
 * @nr: chunks of the region
 * @mrs: an MR for each chunk, NULL until needed
 *
 * A chunk is as long as one MR can cover; chunks begin at the region's first page and
 * then at every stride of the cache. The struct counts in the region's @cached, and so
 * does each MR until it is freed.
 */
struct kverbs_lkeys {
	struct list_head entry;
	struct kverbs_region *region;
	unsigned int nr;
	struct kverbs_mr *mrs[];
};

/**
 * struct kverbs_lkey_cache - the registrations of a connection for local access
 * @lock: guards @entries and @chain, and is held from finding MRs to posting them
 * @entries: struct kverbs_lkeys
 * @chain: for registrations that receives wait for; allocated when first needed
 * @pool: where the MRs come from
 * @stride: distance between the starts of two chunks, at most the size of one
 */
struct kverbs_lkey_cache {
	struct mutex lock;
	struct list_head entries;
	struct kverbs_chain *chain;
	struct kverbs_mr_pool *pool;
	u64 stride;
};

/**
 * struct kverbs_slice - the rest of a local buffer that has no entries yet
 * @map: DMA mapping of the region
 * @offset: first byte in the region
 * @left: bytes
 */
struct kverbs_slice {
	const struct kverbs_map *map;
	u64 offset;
	u64 left;
};

void kverbs_lkey_cache_init(struct kverbs_lkey_cache *set, struct kverbs_mr_pool *pool);
void kverbs_lkey_cache_destroy(struct kverbs_lkey_cache *set);
struct kverbs_lkeys *kverbs_lkeys_get(struct kverbs_lkey_cache *set,
				      struct kverbs_region *region);
int kverbs_lkeys_sge(struct kverbs_lkey_cache *set, struct kverbs_lkeys *local,
		     struct kverbs_slice *slice, u64 max, struct ib_sge *sge,
		     struct kverbs_mr **mr);
int kverbs_lkey_cache_forget(struct kverbs_lkey_cache *set, struct kverbs_region *region);

#endif /* KVERBS_LKEY_H */
