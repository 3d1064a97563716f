/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_IB_CORE_H
#define KVERBS_IB_CORE_H

int kverbs_ib_core_check(void);

#endif /* KVERBS_IB_CORE_H */
