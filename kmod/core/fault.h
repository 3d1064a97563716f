/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Verbs that fail on demand: on kernels that inject faults, for tests. */
#ifndef KVERBS_FAULT_H
#define KVERBS_FAULT_H

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
void kverbs_fault_init(void);
void kverbs_fault_exit(void);
int kverbs_fault(void);
#else
static inline void kverbs_fault_init(void)
{
}

static inline void kverbs_fault_exit(void)
{
}

/* To be asked before a verb, which is left out if this does not return 0. */
static inline int kverbs_fault(void)
{
	return 0;
}
#endif

#endif /* KVERBS_FAULT_H */
