/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_FD_H
#define KVERBS_REGION_FD_H

#include <linux/types.h>

struct kverbs_memory;
struct kverbs_ucmd;

struct kverbs_memory *kverbs_memory_of_fd(int fd, bool writable);
int kverbs_memory_share(struct kverbs_ucmd *ucmd, struct kverbs_memory *memory, bool writable);

#endif /* KVERBS_REGION_FD_H */
