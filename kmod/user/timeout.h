/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TIMEOUT_H
#define KVERBS_TIMEOUT_H

#include <linux/types.h>

u64 kverbs_timeout_deadline(u32 flags, u64 timeout_ns);
int kverbs_timeout_ms(u32 flags, u64 timeout_ns, unsigned int *ms);

#endif /* KVERBS_TIMEOUT_H */
