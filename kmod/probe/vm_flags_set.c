// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* vm_flags_set() and vm_flags_clear(), since Linux 6.3 (bc292ab00f6c). */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYWRITE);
}
