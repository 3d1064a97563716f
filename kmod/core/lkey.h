/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LKEY_H
#define KVERBS_LKEY_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "mr.h"
#include "queue.h"

struct kverbs_map;

/**
 * struct kverbs_lkeys - registrations of a region for a connection's own use
 * @entry: in its set
 * @region: whose
 * @sink: made for READ on iWARP, where the peer writes it by its key
 * @nr: chunks that the region has
 * @mrs: an MR for each chunk, NULL until needed
 *
 * A chunk is what one MR can cover; chunks begin at the region's first page and
 * then at every stride of their set. It counts in the region's @locals by itself, as
 * does each MR.
 */
struct kverbs_lkeys {
	struct list_head entry;
	struct kverbs_region *region;
	bool sink;
	unsigned int nr;
	struct kverbs_mr *mrs[];
};

/**
 * struct kverbs_lkey_cache - all of a connection's
 * @lock: guards @locals and @chain, and is held from finding MRs to posting them
 * @locals: struct kverbs_lkeys
 * @chain: for registrations that receives wait for, from when it is first needed
 * @pool: where the MRs come from
 * @stride: from one chunk's start to the next one's, at most the size of one
 */
struct kverbs_lkey_cache {
	struct mutex lock;
	struct list_head entries;
	struct kverbs_chain *chain;
	struct kverbs_mr_pool *pool;
	u64 stride;
};

/**
 * struct kverbs_slice - what is still to be covered of a local buffer
 * @map: the region on the device
 * @offset: next byte in the region
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
				      struct kverbs_region *region, bool sink);
int kverbs_lkeys_sge(struct kverbs_lkey_cache *set, struct kverbs_lkeys *local,
		     struct kverbs_slice *slice, u64 max, struct ib_sge *sge,
		     struct kverbs_mr **mr);
int kverbs_lkey_cache_forget(struct kverbs_lkey_cache *set, struct kverbs_region *region);

#endif /* KVERBS_LKEY_H */
