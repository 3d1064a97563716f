/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_FD_H
#define KVERBS_REGION_FD_H

#include <linux/types.h>

struct kverbs_memory;
struct kverbs_ucmd;

struct kverbs_memory *kverbs_memory_of_fd(int fd, bool writable);
int kverbs_cmd_region_export_fd(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_REGION_FD_H */
