/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Differences between kernels, and nothing else; Kbuild probes for them. */
#ifndef KVERBS_COMPAT_H
#define KVERBS_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>

/* Before 6.1 the freezer has no state of its own. */
#ifndef TASK_FREEZABLE_UNSAFE
#define TASK_FREEZABLE_UNSAFE	0
#endif

#ifndef KVERBS_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* For other modules, see include/kverbs/kverbs.h. */
#ifdef KVERBS_HAVE_EXPORT_NS_TOKEN
#define EXPORT_SYMBOL_KVERBS(symbol)	EXPORT_SYMBOL_NS_GPL(symbol, KVERBS)
#else
#define EXPORT_SYMBOL_KVERBS(symbol)	EXPORT_SYMBOL_NS_GPL(symbol, "KVERBS")
#endif

/* The callback of an importer by which the exporter takes the memory back. */
#ifdef KVERBS_HAVE_INVALIDATE_MAPPINGS
#define KVERBS_DMABUF_REVOKE	invalidate_mappings
#else
#define KVERBS_DMABUF_REVOKE	move_notify
#endif

#ifdef CONFIG_DMA_SHARED_BUFFER
/* Waits for the fences of work that is about the memory itself, such as a copy of it. */
static inline long kverbs_dma_resv_wait(struct dma_resv *resv)
{
#ifdef KVERBS_HAVE_DMA_RESV_USAGE
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, false, MAX_SCHEDULE_TIMEOUT);
#else
	return dma_resv_wait_timeout(resv, false, false, MAX_SCHEDULE_TIMEOUT);
#endif
}
#endif

static inline void kverbs_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef KVERBS_HAVE_EVENTFD_SIGNAL_ONE
	eventfd_signal(eventfd);
#else
	eventfd_signal(eventfd, 1);
#endif
}

#ifdef KVERBS_HAVE_PIN_USER_PAGES_SAFE
static inline long kverbs_pin_pages(unsigned long addr, unsigned long nr, bool write,
				    struct page **pages)
{
	return pin_user_pages_fast(addr, nr, FOLL_LONGTERM | (write ? FOLL_WRITE : 0), pages);
}
#else
/* A file system that writes a page back wants to know of each later write to it. */
static inline bool kverbs_tracks_writes(const struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return false;
	if (vma->vm_ops && (vma->vm_ops->page_mkwrite || vma->vm_ops->pfn_mkwrite))
		return true;
	return vma->vm_file && vma->vm_file->f_mapping &&
	       mapping_can_writeback(vma->vm_file->f_mapping);
}

/*
 * A page that a private mapping shares with a file or with a forked process would be replaced
 * when the process writes to it, while the HCA would continue to read the old page. A pin for
 * writing breaks that sharing; FOLL_FORCE permits it where the process may only read, but then
 * pin_user_pages() does not check that it may.
 */
static inline int kverbs_pin_flags(const struct vm_area_struct *vma, bool write)
{
	if (write)
		return kverbs_tracks_writes(vma) ? -EFAULT : FOLL_WRITE;
	if (!(vma->vm_flags & VM_READ))
		return -EFAULT;
	/* This is is_cow_mapping(), which not every kernel offers to modules. */
	if ((vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) != VM_MAYWRITE)
		return 0;
	return vma->vm_flags & VM_WRITE ? FOLL_WRITE : FOLL_WRITE | FOLL_FORCE;
}

/* The lock is held from the check to the pin, so that the checked mapping is pinned. */
static inline long kverbs_pin_pages(unsigned long addr, unsigned long nr, bool write,
				    struct page **pages)
{
	struct vm_area_struct *vma;
	long ret = -EFAULT;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	addr = untagged_addr(addr);
	vma = find_vma(current->mm, addr);
	if (vma && vma->vm_start <= addr) {
		nr = min(nr, (vma->vm_end - addr) >> PAGE_SHIFT);
		ret = kverbs_pin_flags(vma, write);
	}
	if (ret >= 0)
		ret = pin_user_pages(addr, nr, ret | FOLL_LONGTERM, pages, NULL);
	mmap_read_unlock(current->mm);
	return ret;
}
#endif

#endif /* KVERBS_COMPAT_H */
