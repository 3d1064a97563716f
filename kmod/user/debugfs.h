/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All objects of all files, for root to read: on kernels that have debugfs. */
#ifndef KVERBS_DEBUGFS_H
#define KVERBS_DEBUGFS_H

#ifdef CONFIG_DEBUG_FS
void kverbs_debugfs_init(void);
void kverbs_debugfs_exit(void);
#else
static inline void kverbs_debugfs_init(void)
{
}

static inline void kverbs_debugfs_exit(void)
{
}
#endif

#endif /* KVERBS_DEBUGFS_H */
