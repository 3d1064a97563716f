/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_MEMORY_H
#define KVERBS_MEMORY_H

#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "account.h"

struct dma_buf;
struct kverbs_track;

/* Keeps one scatterlist entry's length, and so an SGE's, far below 2^32. */
#define KVERBS_SEGMENT_MAX	SZ_1G

/**
 * struct kverbs_memory - what regions are of: a user's pages, pinned and charged, the kernel's own,
 *	or a part of a dma-buf
 * @ref: one of each region, and of each descriptor that shares the memory
 * @length: bytes
 * @npages: number of pages
 * @page_offset: offset of the first byte in the first page
 * @writable: the HCA may write to it
 * @pinned: the pages are a user's
 * @revoked: the exporter of @dmabuf has taken it away from a device; stays set
 * @gaps: somewhere within the range a page is used in part, so no MR can cover that place
 * @sgt: the pages; of a dma-buf none, since its memory need not have any
 * @account: the charge for the pages of a user
 * @dmabuf: the dma-buf, or NULL; a reference is held
 * @dmabuf_offset: where the first page begins in @dmabuf
 *
 * Life: made by kverbs_memory_pin(), kverbs_memory_of_bvecs() or kverbs_memory_of_dmabuf(), and
 * not changed from then on, but for @revoked; unpinned and uncharged when the last reference is
 * dropped. The exporter owns the memory of a dma-buf, and accounts for it.
 */
struct kverbs_memory {
	struct kref ref;
	u64 length;
	unsigned long npages;
	unsigned int page_offset;
	bool writable;
	bool pinned;
	bool revoked;
	bool gaps;
	struct sg_append_table sgt;
	struct kverbs_account account;
	struct dma_buf *dmabuf;
	u64 dmabuf_offset;
};

struct kverbs_memory *kverbs_memory_pin(unsigned long addr, u64 length, bool writable,
					struct kverbs_track *track);
struct kverbs_memory *kverbs_memory_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					     bool writable, gfp_t gfp);
struct kverbs_memory *kverbs_memory_of_dmabuf(int fd, u64 offset, u64 length, bool writable);
void kverbs_memory_put(struct kverbs_memory *memory);

static inline void kverbs_memory_get(struct kverbs_memory *memory)
{
	kref_get(&memory->ref);
}

#endif /* KVERBS_MEMORY_H */
