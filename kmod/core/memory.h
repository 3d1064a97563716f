/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_MEMORY_H
#define KVERBS_MEMORY_H

#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "account.h"

struct kverbs_track;

/* Keeps one scatterlist entry's length, and so an SGE's, far below 2^32. */
#define KVERBS_SEGMENT_MAX	SZ_1G

/**
 * struct kverbs_memory - the pages of regions: a user's, pinned and charged, or the kernel's own
 * @ref: one of each region, and of each descriptor that shares the memory
 * @length: bytes
 * @npages: number of pages
 * @page_offset: offset of the first byte in the first page
 * @writable: the HCA may write to it
 * @pinned: the pages are a user's
 * @gaps: somewhere within the range a page is used in part, so no MR can cover that place
 * @sgt: the pages
 * @account: the charge for the pages of a user
 *
 * Life: made by kverbs_memory_pin() or kverbs_memory_of_bvecs(), and not changed from then on;
 * unpinned and uncharged when the last reference is dropped.
 */
struct kverbs_memory {
	struct kref ref;
	u64 length;
	unsigned long npages;
	unsigned int page_offset;
	bool writable;
	bool pinned;
	bool gaps;
	struct sg_append_table sgt;
	struct kverbs_account account;
};

struct kverbs_memory *kverbs_memory_pin(unsigned long addr, u64 length, bool writable,
					struct kverbs_track *track);
struct kverbs_memory *kverbs_memory_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					     bool writable, gfp_t gfp);
void kverbs_memory_put(struct kverbs_memory *memory);

static inline void kverbs_memory_get(struct kverbs_memory *memory)
{
	kref_get(&memory->ref);
}

#endif /* KVERBS_MEMORY_H */
