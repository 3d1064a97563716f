/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_BENCH_CMD_H
#define KVERBS_BENCH_CMD_H

struct kverbs_ucmd;

int kverbs_cmd_bench(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_BENCH_CMD_H */
