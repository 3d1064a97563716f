// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* If this one fails the probes say nothing about the kernel. */
#include <linux/mm.h>

unsigned long probe(struct vm_area_struct *vma);
unsigned long probe(struct vm_area_struct *vma)
{
	return vma->vm_start;
}
