// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that kernel and user space share. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "shm.h"

/**
 * kverbs_shm_alloc() - allocate zeroed pages
 * @shm: filled in
 * @size: bytes, rounded up to pages
 *
 * Return: 0 or -ENOMEM.
 */
int kverbs_shm_alloc(struct kverbs_shm *shm, size_t size)
{
	unsigned int npages = PAGE_ALIGN(size) >> PAGE_SHIFT;

	shm->npages = 0;
	shm->pages = kvcalloc(npages, sizeof(*shm->pages), GFP_KERNEL_ACCOUNT);
	if (!shm->pages)
		return -ENOMEM;
	for (; shm->npages < npages; shm->npages++) {
		shm->pages[shm->npages] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!shm->pages[shm->npages])
			goto out_free_pages;
	}
	shm->addr = vmap(shm->pages, npages, VM_MAP, PAGE_KERNEL);
	if (!shm->addr)
		goto out_free_pages;
	return 0;

out_free_pages:
	kverbs_shm_free(shm);
	return -ENOMEM;
}

/**
 * kverbs_shm_free() - free pages, as far as no user has them mapped
 * @shm: from kverbs_shm_alloc(), or zeroed
 */
void kverbs_shm_free(struct kverbs_shm *shm)
{
	if (shm->addr)
		vunmap(shm->addr);
	shm->addr = NULL;
	while (shm->npages)
		put_page(shm->pages[--shm->npages]);
	kvfree(shm->pages);
	shm->pages = NULL;
}

/**
 * kverbs_shm_mmap() - map all pages into a user's address space
 * @shm: the pages
 * @vma: where, shared and of exactly their size
 * @writable: whether the user may write them
 *
 * A child of fork does not inherit the mapping, and it is in no core dump.
 *
 * Return: 0, -EINVAL, -EPERM (asked for more than reading), -ENOMEM.
 */
int kverbs_shm_mmap(struct kverbs_shm *shm, struct vm_area_struct *vma, bool writable)
{
	if (!(vma->vm_flags & VM_SHARED) || vma_pages(vma) != shm->npages)
		return -EINVAL;
	if (!writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return vm_map_pages_zero(vma, shm->pages, shm->npages);
}
