/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection over the fake device to measure on, and another side. */
#ifndef KVERBS_FAKE_BENCH_H
#define KVERBS_FAKE_BENCH_H

#include "bench.h"
#include "fake_conn.h"

#define LENGTH	64
#define ADDR	0x10000
#define RKEY	7
/* Where receives come to, and where a peer writes. */
#define INBOX	PAGE_SIZE

/**
 * struct peer - what the other side does, once it has been sent to
 * @work: does it
 * @fake: the connection
 * @act: what to do when so many requests are there
 * @nr: for how many
 * @number: what it tells
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
 * @plan: what is measured
 * @result: what came of it
 * @peer: the other side
 * @buckets: of a latency
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
const void *measured_contexts(const void *previous, char *desc);

#endif /* KVERBS_FAKE_BENCH_H */
