/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_ARRAY_H
#define KVERBS_ARRAY_H

#include <linux/types.h>

int kverbs_array_check(u32 stride, size_t size);
int kverbs_array_get(void *item, size_t size, u64 uptr, u32 stride, u32 index);
int kverbs_array_put(u64 uptr, u32 stride, const void *items, size_t size, u32 nr);

#endif /* KVERBS_ARRAY_H */
