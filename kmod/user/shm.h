/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SHM_H
#define KVERBS_SHM_H

#include <linux/mm_types.h>

/**
 * struct kverbs_shm - zeroed pages that kernel and user space share
 * @pages: the pages
 * @npages: how many
 * @addr: where the kernel sees them
 *
 * A user's mapping holds references to the pages, so they may outlive this.
 */
struct kverbs_shm {
	struct page **pages;
	unsigned int npages;
	void *addr;
};

int kverbs_shm_alloc(struct kverbs_shm *shm, size_t size);
void kverbs_shm_free(struct kverbs_shm *shm);
int kverbs_shm_mmap(struct kverbs_shm *shm, struct vm_area_struct *vma, bool writable);

#endif /* KVERBS_SHM_H */
