// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Latencies that BENCH measures, and their histogram. */
#include <linux/sched/signal.h>

#include "fake_bench.h"

static void answer(struct peer *peer, unsigned int i)
{
	fake_wr_end(&peer->fake->hca->recvs[i], (struct ib_wc) { .byte_len = LENGTH });
}

static void write_back(struct peer *peer, unsigned int i)
{
	struct kverbs_region *region = peer->fake->region;

	WRITE_ONCE(*kverbs_region_byte(region, INBOX + LENGTH - 1),
		   *kverbs_region_byte(region, LENGTH - 1));
}

static u64 samples(const struct measured *m)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < KVERBS_BENCH_BUCKETS; i++)
		sum += m->buckets[i];
	return sum;
}

static void expect_times(struct kunit *test, const struct measured *m, u64 nr)
{
	const struct kverbs_bench_result *result = &m->result;

	KUNIT_EXPECT_EQ(test, 0, result->error);
	KUNIT_EXPECT_EQ(test, nr, result->ops);
	KUNIT_EXPECT_EQ(test, nr, samples(m));
	KUNIT_EXPECT_GT(test, result->min_ns, 0);
	KUNIT_EXPECT_GE(test, result->max_ns, result->min_ns);
	KUNIT_EXPECT_GE(test, result->sum_ns, nr * result->min_ns);
	KUNIT_EXPECT_LE(test, result->sum_ns, nr * result->max_ns);
	KUNIT_EXPECT_NE(test, 0, m->buckets[kverbs_bench_bucket(result->min_ns)]);
	KUNIT_EXPECT_NE(test, 0, m->buckets[kverbs_bench_bucket(result->max_ns)]);
}

static void bench_times_a_read_until_it_is_complete(struct kunit *test)
{
	const enum ib_poll_context *context = test->param_value;
	struct measured *m = measured_at(test, *context);

	m->plan.opcode = KVERBS_OP_READ;
	m->plan.latency = true;
	m->plan.warm_up = 2;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	expect_times(test, m, 10);
	KUNIT_EXPECT_LE(test, m->result.sum_ns, m->result.elapsed_ns);
}

static struct measured *with_answers(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->plan.opcode = KVERBS_OP_SEND;
	m->plan.parts = NULL;
	m->plan.latency = true;
	m->plan.half = true;
	m->plan.nr_recvs = 2;
	m->plan.answer = (struct kverbs_bench_extent) {
		.region = m->fake->region, .offset = INBOX, .length = LENGTH,
	};
	return m;
}

static void bench_times_a_send_until_it_is_answered(struct kunit *test)
{
	struct measured *m = with_answers(test);

	measured_start_peer(test, m, 10, answer);
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	expect_times(test, m, 10);
	KUNIT_EXPECT_EQ(test, 10, m->result.received);
	KUNIT_EXPECT_LE(test, 2 * m->result.sum_ns, m->result.elapsed_ns);
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
}

static void bench_without_an_answer_times_out(struct kunit *test)
{
	struct measured *m = with_answers(test);

	m->plan.timeout_ns = 20 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, m->result.error);
	KUNIT_EXPECT_EQ(test, 0, m->result.ops);
	KUNIT_EXPECT_EQ(test, 1, m->result.sent);
}

static void bench_without_an_answer_reports_the_failed_operation(struct kunit *test)
{
	struct measured *m = with_answers(test);

	m->hca->work_bad_nr = 1;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EIO, m->result.error);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, m->result.wc_status);
}

static struct measured *with_marks(struct kunit *test, enum ib_poll_context context)
{
	struct measured *m = measured_at(test, context);

	m->plan.latency = true;
	m->plan.answer = (struct kverbs_bench_extent) {
		.region = m->fake->region, .offset = INBOX, .length = LENGTH,
	};
	return m;
}

static void bench_times_a_write_until_it_is_written_back(struct kunit *test)
{
	const enum ib_poll_context *context = test->param_value;
	struct measured *m = with_marks(test, *context);

	measured_start_peer(test, m, 10, write_back);
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	expect_times(test, m, 10);
	KUNIT_EXPECT_EQ(test, 10, *kverbs_region_byte(m->fake->region, LENGTH - 1));
	KUNIT_EXPECT_FALSE(test, measured_is_over(m));
}

static void bench_of_a_write_not_written_back_times_out(struct kunit *test)
{
	struct measured *m = with_marks(test, IB_POLL_WORKQUEUE);

	m->plan.timeout_ns = 20 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, m->result.error);
}

static void bench_of_a_write_ends_with_its_connection(struct kunit *test)
{
	struct measured *m = with_marks(test, IB_POLL_WORKQUEUE);

	fake_hca_stop_work(m->hca);
	measured_start_peer(test, m, 1, measured_disconnect);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EIO, m->result.error);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, m->result.wc_status);
}

static void bench_of_a_write_is_ended_by_a_signal(struct kunit *test)
{
	struct measured *m = with_marks(test, IB_POLL_WORKQUEUE);

	allow_signal(SIGINT);
	send_sig(SIGINT, current, 0);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	flush_signals(current);
	disallow_signal(SIGINT);
	KUNIT_EXPECT_EQ(test, -EINTR, m->result.error);
}

/* ---- buckets ------------------------------------------------------------------------- */

static const struct time {
	u64 ns;
	unsigned int bucket;
} times[] = {
	{ 0, 0 }, { 1, 1 }, { 127, 127 }, { 128, 128 }, { 255, 255 },
	{ 256, 256 }, { 257, 256 }, { 258, 257 }, { 511, 383 }, { 512, 384 },
	{ (1ULL << 40) - 1, KVERBS_BENCH_BUCKETS - 2 },
	{ 1ULL << 40, KVERBS_BENCH_BUCKETS - 1 },
	{ U64_MAX, KVERBS_BENCH_BUCKETS - 1 },
};

static void describe_time(const struct time *time, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu ns", time->ns);
}

KUNIT_ARRAY_PARAM(times, times, describe_time);

static void bench_counts_a_time_in_its_bucket(struct kunit *test)
{
	const struct time *time = test->param_value;

	KUNIT_EXPECT_EQ(test, time->bucket, kverbs_bench_bucket(time->ns));
}

static struct kunit_case bench_lat_cases[] = {
	KUNIT_CASE_PARAM(bench_times_a_read_until_it_is_complete, measured_contexts),
	KUNIT_CASE(bench_times_a_send_until_it_is_answered),
	KUNIT_CASE(bench_without_an_answer_times_out),
	KUNIT_CASE(bench_without_an_answer_reports_the_failed_operation),
	KUNIT_CASE_PARAM(bench_times_a_write_until_it_is_written_back, measured_contexts),
	KUNIT_CASE(bench_of_a_write_not_written_back_times_out),
	KUNIT_CASE(bench_of_a_write_ends_with_its_connection),
	KUNIT_CASE(bench_of_a_write_is_ended_by_a_signal),
	KUNIT_CASE_PARAM(bench_counts_a_time_in_its_bucket, times_gen_params),
	{}
};

static struct kunit_suite bench_lat_suite = {
	.name = "kverbs_bench_lat",
	.test_cases = bench_lat_cases,
};

kunit_test_suite(bench_lat_suite);
