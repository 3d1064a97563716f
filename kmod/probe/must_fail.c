// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* If this one compiles the probes say nothing about the kernel. */
#include <linux/mm.h>

void probe(void);
void probe(void)
{
	kverbs_no_such_function();
}
