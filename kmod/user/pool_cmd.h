/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_POOL_CMD_H
#define KVERBS_POOL_CMD_H

#include <linux/types.h>

struct kverbs_file;
struct kverbs_pool_obj;
struct kverbs_ucmd;
struct vm_area_struct;

int kverbs_pool_obj_wake(struct kverbs_file *file, u32 id);
int kverbs_pool_obj_mmap(struct kverbs_pool_obj *pool_obj, unsigned int part,
			 struct vm_area_struct *vma);
int kverbs_cmd_pool_create(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_POOL_CMD_H */
