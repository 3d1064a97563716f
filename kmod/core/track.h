/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TRACK_H
#define KVERBS_TRACK_H

#include <linux/errno.h>
#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>

/**
 * struct kverbs_track - tells whether a range of memory still has the pages that were pinned
 * @notifier: of the range in its mm, a reference to which it holds
 * @lock: guards @armed, @stale, and the sequence number of @notifier. Order: locks of the mm,
 *	@lock, those that @changed takes. The kernel may invalidate memory in order to free
 *	some, so nothing is allocated with @lock held.
 * @armed: the pages are pinned, so a change makes them stale
 * @stale: the range has got, or is about to get, other pages; stays set
 * @changed: called once, when @stale is set, with @lock held; must not sleep or allocate
 *
 * Life: the owner sets @changed, and kverbs_region_create_tracked() calls kverbs_track_start()
 * before it pins pages, since a change between the two would be missed otherwise. A change
 * before kverbs_track_arm() makes that fail, and the pages are pinned again.
 * kverbs_track_stop() ends it, after which @changed is not called and @stale does not change.
 * The mm may have exited by then.
 */
struct kverbs_track {
#ifdef CONFIG_MMU_NOTIFIER
	struct mmu_interval_notifier notifier;
#endif
	spinlock_t lock;
	bool armed;
	bool stale;
	void (*changed)(struct kverbs_track *track);
};

#ifdef CONFIG_MMU_NOTIFIER
int kverbs_track_start(struct kverbs_track *track, unsigned long addr, unsigned long npages);
unsigned long kverbs_track_begin(struct kverbs_track *track);
bool kverbs_track_arm(struct kverbs_track *track, unsigned long seq, bool last);
void kverbs_track_stop(struct kverbs_track *track);
#else
static inline int kverbs_track_start(struct kverbs_track *track, unsigned long addr,
				     unsigned long npages)
{
	return -EOPNOTSUPP;
}

static inline unsigned long kverbs_track_begin(struct kverbs_track *track)
{
	return 0;
}

static inline bool kverbs_track_arm(struct kverbs_track *track, unsigned long seq, bool last)
{
	return true;
}

static inline void kverbs_track_stop(struct kverbs_track *track)
{
}
#endif

#endif /* KVERBS_TRACK_H */
