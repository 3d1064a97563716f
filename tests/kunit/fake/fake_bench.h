/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection over the fake device to measure on, and its peer. */
#ifndef KVERBS_FAKE_BENCH_H
#define KVERBS_FAKE_BENCH_H

#include "bench.h"
#include "fake_conn.h"

#define LENGTH	64
#define ADDR	0x10000
#define RKEY	7
/* Offset of the memory for receives and the peer's WRITEs */
#define INBOX	PAGE_SIZE

/**
 * struct peer - the peer of a measurement, which reacts to requests
 * @work: runs @act
 * @fake: the connection
 * @act: called when @nr requests were posted
 * @nr: number of requests to react to
 * @number: number in its messages
 */
struct peer {
	struct work_struct work;
	struct fake_conn *fake;
	void (*act)(struct peer *peer, unsigned int i);
	unsigned int nr;
	u64 number;
};

/**
 * struct measured - a measurement over the fake device
 * @hca: the device
 * @fake: the connection
 * @part: the peer's memory
 * @plan: what to measure
 * @result: result of the measurement
 * @peer: the peer
 * @buckets: histogram of a latency test
 */
struct measured {
	struct fake_hca *hca;
	struct fake_conn *fake;
	struct kverbs_bench_part part[2];
	struct kverbs_bench_plan plan;
	struct kverbs_bench_result result;
	struct peer peer;
	u64 *buckets;
};

struct measured *measured_at(struct kunit *test, enum ib_poll_context context);
struct measured *measured_create(struct kunit *test);
int measured_run(struct measured *m);
bool measured_is_over(const struct measured *m);
void measured_start_peer(struct kunit *test, struct measured *m, unsigned int nr,
			 void (*act)(struct peer *peer, unsigned int i));
void measured_disconnect(struct peer *peer, unsigned int i);
const void *measured_contexts(GENERATOR_TEST const void *previous, char *desc);

#endif /* KVERBS_FAKE_BENCH_H */
