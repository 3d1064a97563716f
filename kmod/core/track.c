// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Changes of the memory of a region. */
#include <linux/mm.h>
#include <linux/sched.h>

#include "track.h"

/*
 * Whether a range may have other pages after an event. The notifier is called before anything
 * has changed, so this cannot look at the pages. If in doubt the answer is true: that costs a
 * registration, while a missed change corrupts data.
 */
static bool replaces_pages(enum mmu_notifier_event event)
{
	switch (event) {
	/* mprotect(), NUMA hinting, userfaultfd's and PAGEMAP_SCAN's write protection. */
	case MMU_NOTIFY_PROTECTION_VMA:
	/*
	 * Write protection of single pages: by fork() in the parent, and by writeback. A pinned
	 * anonymous page is copied for the child at once and stays the parent's; a page that
	 * was not the parent's alone has been replaced when it was pinned.
	 */
	case MMU_NOTIFY_PROTECTION_PAGE:
	/* /proc/PID/clear_refs: write protection, after which a write finds the same page. */
	case MMU_NOTIFY_SOFT_DIRTY:
	/* Migration to the memory of a device gives up on a page with references like pins. */
	case MMU_NOTIFY_MIGRATE:
	/* A device gets exclusive access for a while: same page, and the CPU waits. */
	case MMU_NOTIFY_EXCLUSIVE:
		return false;
	/* munmap(), mremap(), mmap() over the range, and the OOM reaper. */
	case MMU_NOTIFY_UNMAP:
	/*
	 * madvise(MADV_DONTNEED, MADV_FREE), truncation and hole punching of a file,
	 * copy-on-write. These replace pages. Attempts of reclaim, migration, KSM and khugepaged
	 * to do so, which give up on pinned pages, mostly before they get here, and the split of
	 * a huge page, after which the pages are the same, cannot be told from them.
	 * fork() splits pinned transparent huge pages, and announces private pages of hugetlbfs
	 * like this.
	 */
	case MMU_NOTIFY_CLEAR:
	/* exit(), or execve(): the memory is no process's any more. */
	case MMU_NOTIFY_RELEASE:
	default:
		return true;
	}
}

static void set_stale(struct kverbs_track *track)
{
	lockdep_assert_held(&track->lock);
	if (track->stale)
		return;
	track->stale = true;
	track->changed(track);
}

/*
 * Runs in any process that changes the memory, and in the OOM reaper, which must not wait:
 * @lock and those below it are spinlocks, held for a few instructions. So a range that is not
 * blockable needs no other treatment.
 */
static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct kverbs_track *track = container_of(notifier, struct kverbs_track, notifier);

	spin_lock(&track->lock);
	mmu_interval_set_seq(notifier, seq);
	if (track->armed && replaces_pages(range->event))
		set_stale(track);
	spin_unlock(&track->lock);
	return true;
}

static const struct mmu_interval_notifier_ops track_ops = {
	.invalidate	= invalidate,
};

/**
 * kverbs_track_start() - watch for changes of memory of the current process
 * @track: zeroed but for @changed
 * @addr: start of the first page, which may be tagged
 * @npages: how many
 *
 * The first call for a process takes all locks of its mappings.
 *
 * Context: process, may sleep.
 * Return: 0, to be undone by kverbs_track_stop(); -ENOMEM; -EINTR; -EINVAL, -EOVERFLOW for a
 * range that no process can have; -EOPNOTSUPP if the kernel has no MMU notifiers.
 */
int kverbs_track_start(struct kverbs_track *track, unsigned long addr, unsigned long npages)
{
	spin_lock_init(&track->lock);
	return mmu_interval_notifier_insert(&track->notifier, current->mm, untagged_addr(addr),
					    npages << PAGE_SHIFT, &track_ops);
}

/**
 * kverbs_track_begin() - wait for changes under way, before pages are pinned
 * @track: the range
 *
 * Context: process, may sleep; without locks that are taken while memory is freed.
 * Return: for kverbs_track_arm().
 */
unsigned long kverbs_track_begin(struct kverbs_track *track)
{
	return mmu_interval_read_begin(&track->notifier);
}

/**
 * kverbs_track_arm() - tell of changes from now on
 * @track: the range, whose pages have been pinned
 * @seq: from kverbs_track_begin(), before that
 * @last: if the range has changed in between, it is stale from the start
 *
 * Pinning may itself replace pages, by copy-on-write or by moving them to where they can be
 * pinned, but only once.
 *
 * Context: process.
 * Return: false if the pages are to be pinned again.
 */
bool kverbs_track_arm(struct kverbs_track *track, unsigned long seq, bool last)
{
	bool changed;

	spin_lock(&track->lock);
	changed = mmu_interval_read_retry(&track->notifier, seq);
	track->armed = !changed || last;
	if (changed && last)
		set_stale(track);
	spin_unlock(&track->lock);
	return !changed || last;
}

/**
 * kverbs_track_stop() - undo kverbs_track_start()
 * @track: the range
 *
 * Context: process, may sleep; as kverbs_track_begin().
 */
void kverbs_track_stop(struct kverbs_track *track)
{
	mmu_interval_notifier_remove(&track->notifier);
}
