/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_BENCH_H
#define KVERBS_BENCH_H

#include <linux/types.h>
#include <linux/wait.h>

#include "queue.h"

struct kverbs_conn;

/**
 * struct kverbs_bench_part - a piece of the peer's memory
 * @addr: its address, as the peer's export gave it
 * @length: bytes
 * @rkey: its key
 */
struct kverbs_bench_part {
	u64 addr;
	u64 length;
	u32 rkey;
};

/**
 * struct kverbs_bench_plan - what is to be measured
 * @opcode: enum kverbs_opcode
 * @latency: one operation at a time, each timed; else as many as there is room for
 * @half: half of each time counts
 * @local: the buffer, whose bytes go out or come in; not empty
 * @parts: the peer's memory, cut to the buffer's length; NULL for messages
 * @nr_parts: requests of an operation: one for each part, or one
 * @depth: operations in flight
 * @post_list: operations posted together, before completions are looked at
 * @cq_mod: of so many operations one tells of those before it, too; 0, 1: each does
 * @warm_up: operations before it counts
 * @count: operations that count, if there is no @duration_ns
 * @duration_ns: how long it counts, or 0
 * @timeout_ns: how long nothing may happen
 * @answer: of receives, the first one's buffer; of a WRITE's latency where the peer
 *	writes; empty if neither is
 * @nr_recvs: receives to keep posted
 * @recv_stride: from one receive's buffer to the next one's
 * @credit: messages that the peer has receives for, which it adds to; 0: it always has
 * @buckets: counts of times, KVERBS_BENCH_BUCKETS of them, zeroed; NULL for bandwidth
 */
struct kverbs_bench_plan {
	u8 opcode;
	bool latency;
	bool half;
	struct kverbs_extent local;
	struct kverbs_bench_part *parts;
	unsigned int nr_parts;
	unsigned int depth;
	unsigned int post_list;
	unsigned int cq_mod;
	u64 warm_up;
	u64 count;
	u64 duration_ns;
	u64 timeout_ns;
	struct kverbs_extent answer;
	unsigned int nr_recvs;
	u64 recv_stride;
	u64 credit;
	u64 *buckets;
};

/**
 * struct kverbs_bench_result - what came of it
 * @error: why it ended early, or 0
 * @wc_status: of the work request that failed
 * @ops: operations that count
 * @sent: operations in all
 * @received: messages that came in
 * @elapsed_ns: time that @ops took
 * @cpu_ns: of it, the calling thread's on a processor
 * @min_ns: of a latency, the shortest time
 * @max_ns: the longest
 * @sum_ns: all
 */
struct kverbs_bench_result {
	int error;
	u8 wc_status;
	u64 ops;
	u64 sent;
	u64 received;
	u64 elapsed_ns;
	u64 cpu_ns;
	u64 min_ns;
	u64 max_ns;
	u64 sum_ns;
};

/**
 * struct kverbs_bench_op - a request of a measurement
 * @req: the request
 * @bench: the measurement
 * @busy: it is posted, and not over; what failed stays so until its connection ends
 */
struct kverbs_bench_op {
	struct kverbs_req req;
	struct kverbs_bench *bench;
	bool busy;
};

/**
 * struct kverbs_bench - a measurement under way
 * @conn: where
 * @plan: what
 * @result: so far
 * @chain: room to build work requests in
 * @ops: requests of operations, as many as may be in flight
 * @nr_ops: how many
 * @recvs: receives
 * @posted: requests posted, ever
 * @goal: how many shall be
 * @done: of those, over; written by completions, which come one at a time
 * @recvs_posted: receives posted, ever
 * @recvs_done: of those, over; written by completions
 * @recvs_taken: of those, looked at
 * @granted: requests that the peer is ready for
 * @error: of the first request that failed; written by completions
 * @wc_status: likewise
 * @wait: woken by completions
 * @start: when it began to count, ns
 * @cpu_start: the thread's processor time then, ns
 * @counts: warm-up is over
 */
struct kverbs_bench {
	struct kverbs_conn *conn;
	const struct kverbs_bench_plan *plan;
	struct kverbs_bench_result *result;
	struct kverbs_chain *chain;
	struct kverbs_bench_op *ops;
	unsigned int nr_ops;
	struct kverbs_bench_op *recvs;
	u64 posted;
	u64 goal;
	u64 done;
	u64 recvs_posted;
	u64 recvs_done;
	u64 recvs_taken;
	u64 granted;
	int error;
	u8 wc_status;
	wait_queue_head_t wait;
	u64 start;
	u64 cpu_start;
	bool counts;
};

int kverbs_bench_run(struct kverbs_conn *conn, const struct kverbs_bench_plan *plan,
		     struct kverbs_bench_result *result);
unsigned int kverbs_bench_bucket(u64 ns);

/* bench.c, for bench_lat.c */
void kverbs_bench_begin(struct kverbs_bench *bench);
void kverbs_bench_end(struct kverbs_bench *bench, u64 ops);
bool kverbs_bench_time_is_over(const struct kverbs_bench *bench, u64 now);
int kverbs_bench_post(struct kverbs_bench *bench, unsigned int nr);
int kverbs_bench_repost(struct kverbs_bench *bench);
int kverbs_bench_wait(struct kverbs_bench *bench, const u64 *what, u64 above);

/* bench_lat.c */
int kverbs_bench_latency(struct kverbs_bench *bench);

#endif /* KVERBS_BENCH_H */
