/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection to measure on, and measurements that nothing is wrong with. */
#ifndef CONTRACT_BENCH_H
#define CONTRACT_BENCH_H

#include "dev.h"

#define MEMORY		(64UL << 10)
#define LENGTH		64
/* Where receives come to, and where the peer would write. */
#define INBOX		4096

/**
 * struct track - what is measured on
 * @pair: the connection
 * @region: MEMORY bytes
 * @memory: those
 * @seg: all of it, for the client to read and write
 * @hist: for the times of a latency
 */
struct track {
	struct pair pair;
	uint32_t region;
	char *memory;
	struct kverbs_segment seg;
	uint64_t hist[KVERBS_BENCH_BUCKETS];
};

extern struct track track;

void track_open(void);
int track_run(struct kverbs_cmd_bench *cmd);

/* WRITEs; READs that are timed; SENDs with receives there, with answers, with credit. */
struct kverbs_cmd_bench good(void);
struct kverbs_cmd_bench good_latency(void);
struct kverbs_cmd_bench good_send(void);
struct kverbs_cmd_bench good_answered(void);
struct kverbs_cmd_bench good_credit(void);
/* WRITEs that are answered in memory; FETCH_ADDs. */
struct kverbs_cmd_bench good_marked(void);
struct kverbs_cmd_bench good_atomic(void);

#endif /* CONTRACT_BENCH_H */
