/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_H
#define KVERBS_REGION_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include "account.h"

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
 * @locals: of @uses, those that only speed up later work and can be dropped
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
	atomic_t locals;
	wait_queue_head_t idle;
	struct mutex lock;
	struct list_head maps;
};

struct kverbs_region *kverbs_region_create(unsigned long addr, u64 length,
					   bool writable);
void kverbs_region_destroy(struct kverbs_region *region);
void kverbs_region_put(struct kverbs_region *region);
u8 *kverbs_region_byte(const struct kverbs_region *region, u64 offset);
void kverbs_region_peek(const struct kverbs_region *region, u64 offset, void *to,
			size_t length);

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
