// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* User memory, pinned for as long as a region lives. */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "map.h"
#include "region.h"
#include "trace.h"

#define PIN_BATCH	(PAGE_SIZE / sizeof(struct page *))
/* Keeps one scatterlist entry's length, and so an SGE's, far below 2^32. */
#define SEGMENT_MAX	SZ_1G

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

/*
 * A page that a private mapping shares with a file or with a fork's other side
 * would be replaced when the process writes to it, and the HCA would go on
 * reading the old one. Asking for write access breaks that sharing now. In a
 * shared mapping there is nothing to break, and it may not be writable.
 */
static int read_only_flags(struct pin *pin, unsigned long *nr)
{
	struct vm_area_struct *vma;
	int flags = -EFAULT;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, pin->addr);
	if (vma && vma->vm_start <= pin->addr) {
		*nr = min(*nr, (vma->vm_end - pin->addr) >> PAGE_SHIFT);
		flags = is_cow_mapping(vma->vm_flags) ? FOLL_WRITE | FOLL_FORCE : 0;
	}
	mmap_read_unlock(current->mm);
	return flags;
}

static int pin_batch(struct kverbs_region *region, struct pin *pin)
{
	unsigned long nr = min_t(unsigned long, pin->left, PIN_BATCH);
	int flags = region->writable ? FOLL_WRITE : read_only_flags(pin, &nr);
	int pinned, ret;

	if (flags < 0)
		return flags;
	pinned = pin_user_pages_fast(pin->addr, nr, flags | FOLL_LONGTERM, pin->pages);
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

/**
 * kverbs_region_create() - pin memory of the current process
 * @addr: its start, any alignment
 * @length: bytes, at least 1
 * @writable: the HCA shall be able to write it
 *
 * Context: process, may sleep and be killed.
 * Return: the region or an ERR_PTR: -EINVAL bad range; -EFAULT, -EOPNOTSUPP not
 * to be pinned; -EPERM, -ENOMEM the limit, or memory; -EINTR killed.
 */
struct kverbs_region *kverbs_region_create(unsigned long addr, u64 length,
					   bool writable)
{
	struct kverbs_region *region;
	int ret;

	ret = check_range(addr, length);
	if (ret)
		return ERR_PTR(ret);
	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);
	kref_init(&region->ref);
	init_waitqueue_head(&region->idle);
	mutex_init(&region->lock);
	INIT_LIST_HEAD(&region->maps);
	region->length = length;
	region->writable = writable;
	region->page_offset = offset_in_page(addr);
	region->npages = PAGE_ALIGN(region->page_offset + length) >> PAGE_SHIFT;

	ret = kverbs_account_charge(&region->account, region->npages);
	if (ret)
		goto out_free_region;
	ret = pin_pages(region, addr);
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

static void region_release(struct kref *ref)
{
	kfree(container_of(ref, struct kverbs_region, ref));
}

static void unuse_last(struct kverbs_region *region, int nr)
{
	unsigned long flags;

	/* Under the lock, so that the region is still there to be woken. */
	spin_lock_irqsave(&region->idle.lock, flags);
	if (atomic_sub_and_test(nr, &region->uses))
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
void kverbs_region_unuse_many(struct kverbs_region *region, int nr)
{
	int uses = atomic_read(&region->uses);

	do {
		if (uses == nr) {
			unuse_last(region, nr);
			return;
		}
	} while (!atomic_try_cmpxchg(&region->uses, &uses, uses - nr));
}

/**
 * kverbs_region_put() - drop a reference to the struct
 * @region: the region
 */
void kverbs_region_put(struct kverbs_region *region)
{
	kref_put(&region->ref, region_release);
}

/**
 * kverbs_region_destroy() - unmap, unpin and uncharge
 * @region: not used by anything but connections that are being torn down, for
 *	whose last use of it this waits
 *
 * Context: process, may sleep.
 */
void kverbs_region_destroy(struct kverbs_region *region)
{
	wait_event(region->idle, !atomic_read(&region->uses));
	/* Whoever woke us has let go of it. */
	spin_lock_irq(&region->idle.lock);
	spin_unlock_irq(&region->idle.lock);
	trace_kverbs_region_unpin(region);
	kverbs_map_destroy_all(region);
	unpin_pages(region);
	kverbs_account_uncharge(&region->account);
	kverbs_region_put(region);
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
