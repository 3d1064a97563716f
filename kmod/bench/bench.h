/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between kverbs.ko, which has the command BENCH, and kverbs_bench.ko, which generates the traffic.
 * The latter uses what include/kverbs/kverbs.h and this file declare, and nothing else of kverbs.
 */
#ifndef KVERBS_BENCH_H
#define KVERBS_BENCH_H

#include <linux/types.h>

struct kverbs_k_conn;
struct kverbs_region;
struct module;

/**
 * struct kverbs_bench_extent - a range of a region
 * @region: the region, or NULL
 * @offset: first byte
 * @length: bytes
 */
struct kverbs_bench_extent {
	struct kverbs_region *region;
	u64 offset;
	u64 length;
};

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
 * @opcode: enum kverbs_k_opcode
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
	struct kverbs_bench_extent local;
	struct kverbs_bench_part *parts;
	unsigned int nr_parts;
	unsigned int depth;
	unsigned int post_list;
	unsigned int cq_mod;
	u64 warm_up;
	u64 count;
	u64 duration_ns;
	u64 timeout_ns;
	struct kverbs_bench_extent answer;
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
 * struct kverbs_bench_ops - how the command reaches the engine
 * @owner: the module of the engine, referenced while it measures
 * @run: measures on a connection of user space. The connection is lent: nothing but the engine
 *	posts on it. Requests are posted by kverbs_k_post_list() only, which sleeps there to map
 *	memory, and to register what takes too many entries. When @run returns, nothing is in
 *	flight; if a request was, a receive perhaps, the connection has been ended for that.
 *	Sleeps, and ends early when a signal arrives. Returns 0, and the result tells whether the
 *	measurement went through; or -errno: nothing was posted
 */
struct kverbs_bench_ops {
	struct module *owner;
	int (*run)(struct kverbs_k_conn *conn, const struct kverbs_bench_plan *plan,
		   struct kverbs_bench_result *result);
};

/* In kverbs.ko. */
int kverbs_bench_register(const struct kverbs_bench_ops *ops);
void kverbs_bench_unregister(const struct kverbs_bench_ops *ops);

/* In kverbs_bench.ko. */
int kverbs_bench_run(struct kverbs_k_conn *conn, const struct kverbs_bench_plan *plan,
		     struct kverbs_bench_result *result);
unsigned int kverbs_bench_bucket(u64 ns);

#endif /* KVERBS_BENCH_H */
