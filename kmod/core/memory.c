// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Pages of a user, pinned and charged, or of the kernel, or a part of a dma-buf. */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "compat.h"
#include "dmabuf.h"
#include "memory.h"
#include "trace.h"
#include "track.h"

#define PIN_BATCH	(PAGE_SIZE / sizeof(struct page *))

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

static int pin_batch(struct kverbs_memory *memory, struct pin *pin)
{
	unsigned long nr = min_t(unsigned long, pin->left, PIN_BATCH);
	long pinned;
	int ret;

	pinned = kverbs_pin_pages(pin->addr, nr, memory->writable, pin->pages);
	if (pinned <= 0)
		return pinned ?: -EFAULT;
	pin->addr += (unsigned long)pinned << PAGE_SHIFT;
	pin->left -= pinned;
	ret = sg_alloc_append_table_from_pages(&memory->sgt, pin->pages, pinned, 0,
					       (unsigned long)pinned << PAGE_SHIFT,
					       KVERBS_SEGMENT_MAX, pin->left,
					       GFP_KERNEL_ACCOUNT);
	if (ret)
		unpin_user_pages(pin->pages, pinned);
	return ret;
}

static void unpin_pages(struct kverbs_memory *memory)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&memory->sgt.sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 DIV_ROUND_UP(sg->length, PAGE_SIZE),
						 memory->writable);
		cond_resched();
	}
	sg_free_append_table(&memory->sgt);
}

static int pin_pages(struct kverbs_memory *memory, unsigned long addr)
{
	struct pin pin = {
		.addr = addr & PAGE_MASK,
		.left = memory->npages,
	};
	int ret = 0;

	pin.pages = (struct page **)__get_free_page(GFP_KERNEL);
	if (!pin.pages)
		return -ENOMEM;
	while (pin.left && !ret) {
		ret = fatal_signal_pending(current) ? -EINTR : pin_batch(memory, &pin);
		cond_resched();
	}
	free_page((unsigned long)pin.pages);
	if (ret)
		unpin_pages(memory);
	return ret;
}

/* With @track, pins until no page has been replaced since, or until the track is stale. */
static int pin_settled(struct kverbs_memory *memory, unsigned long addr,
		       struct kverbs_track *track)
{
	unsigned int left = PIN_ATTEMPTS;
	unsigned long seq;
	int ret;

	for (;;) {
		seq = track ? kverbs_track_begin(track) : 0;
		ret = pin_pages(memory, addr);
		if (ret || !track || kverbs_track_arm(track, seq, !--left))
			return ret;
		unpin_pages(memory);
		memset(&memory->sgt, 0, sizeof(memory->sgt));
	}
}

static int pin_memory(struct kverbs_memory *memory, unsigned long addr,
		      struct kverbs_track *track)
{
	int ret = 0;

	if (track)
		ret = kverbs_track_start(track, addr & PAGE_MASK, memory->npages);
	if (ret)
		return ret;
	ret = pin_settled(memory, addr, track);
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

static struct kverbs_memory *alloc_memory(unsigned int page_offset, u64 length, bool writable,
					  gfp_t gfp)
{
	struct kverbs_memory *memory = kzalloc(sizeof(*memory), gfp);

	if (!memory)
		return NULL;
	kref_init(&memory->ref);
	memory->length = length;
	memory->writable = writable;
	memory->page_offset = page_offset;
	memory->npages = PAGE_ALIGN(page_offset + length) >> PAGE_SHIFT;
	return memory;
}

/**
 * kverbs_memory_pin() - pin memory of the current process
 * @addr: its start, any alignment
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 * @track: as at kverbs_region_create_tracked()
 *
 * Context: process, may sleep and be killed.
 * Return: the memory or an ERR_PTR, as kverbs_region_create_tracked().
 */
struct kverbs_memory *kverbs_memory_pin(unsigned long addr, u64 length, bool writable,
					struct kverbs_track *track)
{
	struct kverbs_memory *memory;
	int ret;

	ret = check_range(addr, length);
	if (ret)
		return ERR_PTR(ret);
	memory = alloc_memory(offset_in_page(addr), length, writable, GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->pinned = true;

	ret = kverbs_account_charge(&memory->account, memory->npages);
	if (ret)
		goto out_free_memory;
	ret = pin_memory(memory, addr, track);
	if (ret)
		goto out_uncharge;
	trace_kverbs_memory_pin(memory);
	return memory;

out_uncharge:
	kverbs_account_uncharge(&memory->account);
out_free_memory:
	kfree(memory);
	return ERR_PTR(ret);
}

static bool is_valid(const struct bio_vec *bvec)
{
	return bvec->bv_len && bvec->bv_len <= KVERBS_SEGMENT_MAX;
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
 * kverbs_memory_of_bvecs() - memory of the kernel
 * @bvecs: the memory, which stays until the last reference is dropped; copied
 * @nr: how many, at least 1
 * @writable: let the HCA write to it
 * @gfp: how to allocate
 *
 * Nothing is pinned, and no user is charged.
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: the memory or an ERR_PTR: -EINVAL if one of @bvecs is empty or longer than 1 GiB, or
 * there is none; -ENOMEM.
 */
struct kverbs_memory *kverbs_memory_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					     bool writable, gfp_t gfp)
{
	u64 length = sum_up(bvecs, nr);
	struct kverbs_memory *memory;
	struct scatterlist *sg;
	unsigned int i;

	if (!length || length > LENGTH_MAX)
		return ERR_PTR(-EINVAL);
	memory = alloc_memory(offset_in_page(bvecs->bv_offset), length, writable, gfp);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(&memory->sgt.sgt, nr, gfp)) {
		kfree(memory);
		return ERR_PTR(-ENOMEM);
	}
	for_each_sgtable_sg(&memory->sgt.sgt, sg, i) {
		set_entry(sg, &bvecs[i], !i);
		memory->gaps |= leaves_gap(&bvecs[i], !i, i == nr - 1);
	}
	return memory;
}

/**
 * kverbs_memory_of_dmabuf() - memory of the exporter of a dma-buf
 * @fd: a descriptor of it
 * @offset: first byte in the dma-buf, any alignment
 * @length: bytes, at least 1
 * @writable: let the HCA write to it
 *
 * The memory is pinned when it is mapped for a device. No user is charged.
 *
 * Context: process, may sleep.
 * Return: the memory or an ERR_PTR: as kverbs_dmabuf_get(); -ENOMEM.
 */
struct kverbs_memory *kverbs_memory_of_dmabuf(int fd, u64 offset, u64 length, bool writable)
{
	struct dma_buf *dmabuf;
	struct kverbs_memory *memory;

	if (length > LENGTH_MAX)
		return ERR_PTR(-EINVAL);
	dmabuf = kverbs_dmabuf_get(fd, offset, length, writable);
	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	memory = alloc_memory(offset_in_page(offset), length, writable, GFP_KERNEL_ACCOUNT);
	if (!memory) {
		kverbs_dmabuf_put(dmabuf);
		return ERR_PTR(-ENOMEM);
	}
	memory->dmabuf = dmabuf;
	memory->dmabuf_offset = round_down(offset, PAGE_SIZE);
	return memory;
}

static void release_memory(struct kref *ref)
{
	struct kverbs_memory *memory = container_of(ref, struct kverbs_memory, ref);

	if (memory->pinned) {
		trace_kverbs_memory_unpin(memory);
		unpin_pages(memory);
		kverbs_account_uncharge(&memory->account);
	} else if (memory->dmabuf) {
		kverbs_dmabuf_put(memory->dmabuf);
	} else {
		sg_free_table(&memory->sgt.sgt);
	}
	kfree(memory);
}

/**
 * kverbs_memory_put() - drop a reference; the last one unpins and uncharges memory of a user
 * @memory: the memory; no device accesses it on behalf of the caller any more
 *
 * Context: process, may sleep.
 */
void kverbs_memory_put(struct kverbs_memory *memory)
{
	kref_put(&memory->ref, release_memory);
}
