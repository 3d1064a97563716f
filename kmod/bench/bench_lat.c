// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Latency: one operation at a time, each of them timed. */
#include <linux/bits.h>
#include <linux/kverbs.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>

#include "bench.h"
#include "conn.h"
#include "region.h"

#define STEPS	BIT(KVERBS_BENCH_BUCKET_BITS)
/* Looks at memory between two at anything else. */
#define LOOKS	8

/**
 * kverbs_bench_bucket() - where a time is counted
 * @ns: the time
 *
 * Return: index of the bucket, as KVERBS_BENCH_BUCKETS says.
 */
unsigned int kverbs_bench_bucket(u64 ns)
{
	unsigned int shift;

	if (ns < STEPS)
		return ns;
	if (ns >> KVERBS_BENCH_TOP_BIT)
		return KVERBS_BENCH_BUCKETS - 1;
	shift = ilog2(ns) - KVERBS_BENCH_BUCKET_BITS;
	return shift * STEPS + (ns >> shift);
}

static void note_time(struct kverbs_bench *bench, u64 ns)
{
	struct kverbs_bench_result *result = bench->result;

	result->min_ns = result->ops ? min(result->min_ns, ns) : ns;
	result->max_ns = max(result->max_ns, ns);
	result->sum_ns += ns;
	result->ops++;
	bench->plan->buckets[kverbs_bench_bucket(ns)]++;
}

/**
 * struct pair - what a round trip takes
 * @bench: the measurement
 * @out: the last byte that a WRITE sends
 * @in: the last byte that the peer's answer to it changes
 */
struct pair {
	struct kverbs_bench *bench;
	u8 *out;
	u8 *in;
};

/* Another byte than the last one's, and not 0. */
static u8 mark_of(u64 seq)
{
	return do_div(seq, U8_MAX) + 1;
}

static bool has_arrived(const struct pair *pair, u8 mark)
{
	unsigned int i;

	for (i = 0; i < LOOKS; i++) {
		if (READ_ONCE(*pair->in) == mark)
			return true;
		cpu_relax();
	}
	return false;
}

static int look_for_mark(const struct pair *pair, u8 mark)
{
	struct kverbs_bench *bench = pair->bench;
	struct kverbs_conn *conn = bench->conn;
	u64 until = ktime_get_ns() + bench->plan->timeout_ns;

	while (!has_arrived(pair, mark)) {
		if (conn->attr.cqs->direct)
			kverbs_cq_set_poll(conn->attr.cqs);
		if (kverbs_conn_is_over(conn))
			return -ENOTCONN;
		if (signal_pending(current))
			return -EINTR;
		if (kverbs_cq_has_passed(until))
			return -ETIMEDOUT;
		kverbs_cq_give_way();
	}
	return 0;
}

/* A WRITE causes no completion where it goes. */
static int await_mark(const struct pair *pair, u8 mark)
{
	int ret;

	kverbs_cq_poll_begin();
	ret = look_for_mark(pair, mark);
	kverbs_cq_poll_end();
	return ret;
}

static int round_trip(const struct pair *pair, u64 seq)
{
	struct kverbs_bench *bench = pair->bench;
	int ret;

	if (pair->out)
		WRITE_ONCE(*pair->out, mark_of(seq));
	ret = kverbs_bench_post(bench, bench->plan->nr_parts);
	if (ret)
		return ret;
	if (pair->in)
		return await_mark(pair, mark_of(seq));
	if (bench->plan->nr_recvs)
		return kverbs_bench_wait(bench, &bench->recvs_done, bench->recvs_taken);
	return kverbs_bench_wait(bench, &bench->done, bench->posted - 1);
}

/* As it was before: a receive posted, and room for an operation. */
static int make_ready(struct kverbs_bench *bench)
{
	unsigned int nr = bench->plan->nr_parts;
	int ret;

	ret = READ_ONCE(bench->error) ?: kverbs_bench_repost(bench);
	if (!ret && bench->posted + nr > bench->nr_ops)
		ret = kverbs_bench_wait(bench, &bench->done,
					bench->posted + nr - bench->nr_ops - 1);
	return ret ?: READ_ONCE(bench->error);
}

static int measure_one(const struct pair *pair, u64 seq)
{
	struct kverbs_bench *bench = pair->bench;
	u64 before = ktime_get_ns(), took;
	int ret;

	ret = round_trip(pair, seq);
	took = ktime_get_ns() - before;
	if (!ret)
		ret = make_ready(bench);
	if (!ret && bench->counts)
		note_time(bench, bench->plan->half ? took / 2 : took);
	return ret;
}

/* As many as that, or until the time is over. */
static int measure(const struct pair *pair, u64 *seq, u64 count)
{
	int ret = 0;

	while (count-- && !ret) {
		ret = measure_one(pair, (*seq)++);
		if (kverbs_bench_time_is_over(pair->bench, ktime_get_ns()))
			break;
	}
	return ret;
}

static u8 *last_byte(const struct kverbs_extent *extent)
{
	return kverbs_region_byte(extent->region, extent->offset + extent->length - 1);
}

static int finish(struct kverbs_bench *bench)
{
	return kverbs_bench_wait(bench, &bench->done, bench->posted - 1) ?:
	       READ_ONCE(bench->error);
}

/**
 * kverbs_bench_latency() - time operations
 * @bench: the measurement
 *
 * Context: process, may sleep.
 * Return: 0 or why it ended early.
 */
int kverbs_bench_latency(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	struct pair pair = { .bench = bench };
	u64 seq = 0;
	int ret;

	if (plan->opcode == KVERBS_OP_WRITE) {
		pair.out = last_byte(&plan->local);
		pair.in = last_byte(&plan->answer);
	}
	ret = measure(&pair, &seq, plan->warm_up);
	if (ret)
		return ret;
	kverbs_bench_begin(bench);
	ret = measure(&pair, &seq, plan->duration_ns ? U64_MAX : plan->count);
	kverbs_bench_end(bench, bench->result->ops);
	return ret ?: finish(bench);
}
