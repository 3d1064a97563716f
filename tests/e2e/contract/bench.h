/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection for BENCH, and valid arguments to start from. */
#ifndef CONTRACT_BENCH_H
#define CONTRACT_BENCH_H

#include "dev.h"

#define MEMORY		(64UL << 10)
#define LENGTH		64
/* Offsets in the memory: receive buffers, and the target of the peer's WRITEs */
#define INBOX		4096

/**
 * struct track - a connection for BENCH
 * @pair: the connection
 * @region: MEMORY bytes, registered
 * @memory: address of the region
 * @seg: export of the whole region, which the client may read and write
 * @hist: histogram of a latency test
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

/* Valid arguments: WRITEs; timed READs; SENDs with receives, with answers, with credit. */
struct kverbs_cmd_bench good(void);
struct kverbs_cmd_bench good_latency(void);
struct kverbs_cmd_bench good_send(void);
struct kverbs_cmd_bench good_answered(void);
struct kverbs_cmd_bench good_credit(void);
/* Valid arguments: WRITEs answered in memory; FETCH_ADDs. */
struct kverbs_cmd_bench good_marked(void);
struct kverbs_cmd_bench good_atomic(void);

#endif /* CONTRACT_BENCH_H */
