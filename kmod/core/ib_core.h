/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_IB_CORE_H
#define KVERBS_IB_CORE_H

#include <linux/types.h>

bool kverbs_ib_core_is_replaced(void);
int kverbs_ib_core_check(bool replaced);

#endif /* KVERBS_IB_CORE_H */
