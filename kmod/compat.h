/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Differences between kernels, and nothing else; Kbuild probes for them. */
#ifndef KVERBS_COMPAT_H
#define KVERBS_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>

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

static inline void kverbs_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef KVERBS_HAVE_EVENTFD_SIGNAL_ONE
	eventfd_signal(eventfd);
#else
	eventfd_signal(eventfd, 1);
#endif
}

#endif /* KVERBS_COMPAT_H */
