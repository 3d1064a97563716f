/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_BENCH_CMD_H
#define KVERBS_BENCH_CMD_H

#include <linux/errno.h>

struct kverbs_ucmd;

#ifdef KVERBS_HAVE_BENCH
int kverbs_cmd_bench(struct kverbs_ucmd *ucmd);
#else
static inline int kverbs_cmd_bench(struct kverbs_ucmd *ucmd)
{
	return -ENOTTY;
}
#endif

#endif /* KVERBS_BENCH_CMD_H */
