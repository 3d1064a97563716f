// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs_bench() passes its options to the kernel and returns the kernel's results. */
#include "t.h"

static uint64_t hist[KVERBS_BENCH_BUCKETS];

static struct kverbs_bench_opts opts_of(const struct t *t, const struct kverbs_token *token)
{
	return (struct kverbs_bench_opts){
		.sz = sizeof(struct kverbs_bench_opts),
		.opcode = token ? KVERBS_OP_WRITE : KVERBS_OP_SEND,
		.buf = t->buf,
		.offset = 128,
		.length = 64,
		.token = token,
		.iterations = 10,
	};
}

static int run(const struct t *t, const struct kverbs_bench_opts *opts)
{
	struct kverbs_cmd_bench result;

	return kverbs_bench(t->conn, opts, &result, sizeof(result), NULL);
}

static void all_parameters_reach_the_kernel(void **state)
{
	struct kverbs_cmd_bench *got = &fake.last_bench;
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	opts.flags = KVERBS_BENCH_LATENCY;
	opts.depth = 7;
	opts.post_list = 3;
	opts.cq_mod = 2;
	opts.warm_up = 4;
	opts.duration_ms = 5;
	opts.timeout_ms = 6;
	opts.recvs = 8;
	opts.recv_offset = 1024;
	opts.recv_length = 16;
	opts.recv_stride = 32;
	opts.credit = 9;
	assert_int_equal(run(t, &opts), 0);
	assert_int_equal(got->conn_id, fake.last_conn);
	assert_int_equal(got->flags, KVERBS_BENCH_LATENCY);
	assert_int_equal(got->opcode, KVERBS_OP_SEND);
	assert_int_equal(got->offset, 128);
	assert_int_equal(got->length, 64);
	assert_int_equal(got->depth, 7);
	assert_int_equal(got->post_list, 3);
	assert_int_equal(got->cq_mod, 2);
	assert_int_equal(got->warm_up, 4);
	assert_int_equal(got->iterations, 10);
	assert_int_equal(got->duration_ms, 5);
	assert_int_equal(got->timeout_ms, 6);
	assert_int_equal(got->recvs, 8);
	assert_int_equal(got->recv_offset, 1024);
	assert_int_equal(got->recv_length, 16);
	assert_int_equal(got->recv_stride, 32);
	assert_int_equal(got->credit, 9);
	assert_int_equal(got->segs_len, 0);
	assert_int_equal(got->hist_len, 0);
}

static void unset_parameters_default_to_one_at_a_time(void **state)
{
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	assert_int_equal(run(t, &opts), 0);
	assert_int_equal(fake.last_bench.depth, 1);
	assert_int_equal(fake.last_bench.post_list, 1);
}

static void segments_before_the_offset_are_skipped(void **state)
{
	struct kverbs_token token = t_token(4, 100);
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, &token);

	opts.remote_offset = 250;
	assert_int_equal(run(t, &opts), 0);
	assert_int_equal(fake.last_bench.segs_len, 2);
	assert_int_equal(fake.last_bench_seg.addr, 3 * 4096 + 50);
	assert_int_equal(fake.last_bench_seg.length, 50);
	kverbs_token_free(&token);
}

static void the_number_of_segments_is_limited_to_the_kernels(void **state)
{
	struct kverbs_token token = t_token(KVERBS_BENCH_SEGS_MAX + 1, 1);
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, &token);

	assert_int_equal(run(t, &opts), 0);
	assert_int_equal(fake.last_bench.segs_len, KVERBS_BENCH_SEGS_MAX);
	kverbs_token_free(&token);
}

static void a_range_beyond_the_token_is_refused(void **state)
{
	struct kverbs_token token = t_token(1, 100);
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, &token);

	opts.remote_offset = 37;
	assert_int_equal(run(t, &opts), -EINVAL);
	opts.remote_offset = SIZE_MAX;
	assert_int_equal(run(t, &opts), -EINVAL);
	kverbs_token_free(&token);
}

static void a_range_beyond_the_buffer_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	opts.offset = T_SIZE - 63;
	assert_int_equal(run(t, &opts), -EINVAL);
	opts.offset = 0;
	opts.buf = NULL;
	assert_int_equal(run(t, &opts), -EINVAL);
	opts.sz = 1;
	assert_int_equal(run(t, &opts), -EINVAL);
}

static void the_result_is_returned(void **state)
{
	struct kverbs_cmd_bench result;
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	fake.bench.out_ops = 10;
	fake.bench.out_max_ns = 77;
	fake.bench.hist_len = 3;
	assert_int_equal(kverbs_bench(t->conn, &opts, &result, sizeof(result), hist), 0);
	assert_int_equal(fake.last_bench.hist_len, KVERBS_BENCH_BUCKETS);
	assert_int_equal(result.out_ops, 10);
	assert_int_equal(result.out_max_ns, 77);
	assert_int_equal(hist[0] + hist[1] + hist[2], 3);
}

static void an_early_end_returns_an_error_and_a_result(void **state)
{
	struct kverbs_cmd_bench result;
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	fake.bench.out_error = -EIO;
	fake.bench.out_wc_status = 10;
	fake.bench.out_sent = 5;
	assert_int_equal(kverbs_bench(t->conn, &opts, &result, sizeof(result), NULL), -EIO);
	assert_int_equal(result.out_wc_status, 10);
	assert_int_equal(result.out_sent, 5);
}

static void an_error_of_the_kernel_is_returned(void **state)
{
	struct t *t = *state;
	struct kverbs_bench_opts opts = opts_of(t, NULL);

	fake_fail(KVERBS_BENCH, 1, -ENOTTY);
	assert_int_equal(run(t, &opts), -ENOTTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(all_parameters_reach_the_kernel),
		t_test_conn(unset_parameters_default_to_one_at_a_time),
		t_test_conn(segments_before_the_offset_are_skipped),
		t_test_conn(the_number_of_segments_is_limited_to_the_kernels),
		t_test_conn(a_range_beyond_the_token_is_refused),
		t_test_conn(a_range_beyond_the_buffer_is_refused),
		t_test_conn(the_result_is_returned),
		t_test_conn(an_early_end_returns_an_error_and_a_result),
		t_test_conn(an_error_of_the_kernel_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
