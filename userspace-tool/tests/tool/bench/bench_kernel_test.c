// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench with the kernel engine; the fake kernel supplies the figures. */
#define _GNU_SOURCE
#include "bench_run.h"

#define OPS 1000

/* Set the result: one second, each time a microsecond. */
static void kernel_tells(int error)
{
	fake.bench = (struct kverbs_cmd_bench){
		.hist_len = OPS,
		.out_ops = OPS,
		.out_sent = OPS,
		.out_elapsed_ns = 1000000000,
		.out_cpu_ns = 5000000,
		.out_min_ns = 1,
		.out_max_ns = 1000,
		.out_sum_ns = OPS * 1000,
		.out_error = error,
		.out_wc_status = error ? 10 : 0,
	};
}

static void figures_come_from_the_kernel(void **state)
{
	struct json_object *root, *row, *client;

	(void)state;
	kernel_tells(0);
	root = result(EXIT_OK, "write-bw", "--engine", "kernel", "-s", "1M");
	row = row_of(root, 0);
	assert_string_equal(string(row, "engine"), "kernel");
	assert_true(number(row, "iterations") == OPS);
	assert_true(number(row, "seconds") == 1);
	assert_true(number(row, "bw_avg_MiBps") == OPS);
	assert_true(number(row, "bw_peak_MiBps") == OPS);
	assert_true(json_object_object_get_ex(row, "client", &client));
	assert_true(number(client, "cpu_us_per_operation") == 5);
	json_object_put(root);
}

static void times_come_from_the_kernel(void **state)
{
	struct json_object *root, *row;

	(void)state;
	kernel_tells(0);
	root = result(EXIT_OK, "read-lat", "--engine", "kernel");
	row = row_of(root, 0);
	assert_true(number(row, "t_min_us") == 0.001);
	assert_true(number(row, "t_max_us") == 1);
	assert_true(number(row, "t_avg_us") == 1);
	assert_true(number(row, "p50_us") > 0);
	json_object_put(root);
	assert_int_equal(fake.last_bench.flags, KVERBS_BENCH_LATENCY);
}

static void writes_use_the_peers_memory(void **state)
{
	(void)state;
	kernel_tells(0);
	assert_int_equal(bench("write-bw", "--engine", "kernel", "-s", "64", "-t", "32", "-l",
			       "16", "-Q", "8", "-n", "77", "--no-warm-up"), EXIT_OK);
	assert_int_equal(fake.last_bench.opcode, KVERBS_OP_WRITE);
	assert_int_equal(fake.last_bench.length, 64);
	assert_int_equal(fake.last_bench.depth, 32);
	assert_int_equal(fake.last_bench.post_list, 16);
	assert_int_equal(fake.last_bench.cq_mod, 8);
	assert_int_equal(fake.last_bench.iterations, 77);
	assert_int_equal(fake.last_bench.warm_up, 0);
	assert_int_equal(fake.last_bench.segs_len, 1);
	assert_true(fake.last_bench_seg.length >= 64);
	assert_int_equal(fake.last_bench.recvs, 0);
}

static void a_latency_of_writes_is_answered_in_memory(void **state)
{
	(void)state;
	kernel_tells(0);
	assert_int_equal(bench("write-lat", "--engine", "kernel", "-s", "100"), EXIT_OK);
	assert_int_equal(fake.last_bench.flags, KVERBS_BENCH_LATENCY | KVERBS_BENCH_HALF);
	assert_int_equal(fake.last_bench.recvs, 0);
	assert_int_equal(fake.last_bench.recv_length, 100);
	assert_true(fake.last_bench.recv_offset >= 100);
}

static void a_latency_of_sends_is_answered_by_messages(void **state)
{
	(void)state;
	kernel_tells(0);
	assert_int_equal(bench("send-lat", "--engine", "kernel", "-s", "100"), EXIT_FAILED);
	assert_int_equal(fake.last_bench.opcode, KVERBS_OP_SEND);
	assert_true(fake.last_bench.recvs > 0);
	assert_int_equal(fake.last_bench.recv_length, 100);
	assert_int_equal(fake.last_bench.credit, 0);
}

/* Messages that the server did not receive count as lost, and here none moved. */
static void sends_have_as_much_credit_as_the_server_has_receives(void **state)
{
	(void)state;
	kernel_tells(0);
	assert_int_equal(bench("send-bw", "--engine", "kernel", "-r", "40"), EXIT_FAILED);
	assert_int_equal(fake.last_bench.credit, 40);
	assert_int_equal(fake.last_bench.recv_length, 8);
	assert_true(fake.last_bench.recvs > 0);
	assert_true(fake.last_bench.recv_stride >= 8);
}

/* The time is from when the first connection starts until the last one ends. */
static void results_of_connections_are_added(void **state)
{
	struct json_object *root;
	double rate;

	(void)state;
	kernel_tells(0);
	root = result(EXIT_OK, "write-bw", "--engine", "kernel", "-s", "1M", "-q", "3");
	assert_true(number(row_of(root, 0), "iterations") == 3 * OPS);
	rate = number(row_of(root, 0), "bw_avg_MiBps");
	assert_true(rate > 2 * OPS && rate <= 3 * OPS);
	json_object_put(root);
}

/* The fake kernel's operations take no time: the server's figures are those measured. */
static void the_server_sends_in_the_other_direction(void **state)
{
	struct json_object *root;

	(void)state;
	kernel_tells(0);
	root = result(EXIT_OK, "send-bw", "--engine", "kernel", "-b", "-n", "3000", "-q", "2");
	assert_true(number(row_of(root, 0), "iterations") == 2 * OPS + 2 * 3000);
	json_object_put(root);
	root = result(EXIT_OK, "write-bw", "--engine", "kernel", "-b", "-n", "3000");
	assert_true(number(row_of(root, 0), "iterations") == OPS + 3000);
	json_object_put(root);
}

static void the_duration_is_passed_in_milliseconds(void **state)
{
	(void)state;
	kernel_tells(0);
	assert_int_equal(bench("write-bw", "--engine", "kernel", "-D", "1.5", "-W", "7"), EXIT_OK);
	assert_int_equal(fake.last_bench.duration_ms, 1500);
	assert_int_equal(fake.last_bench.iterations, 0);
	assert_int_equal(fake.last_bench.timeout_ms, 7000);
}

static void a_failure_is_reported(void **state)
{
	(void)state;
	kernel_tells(-EIO);
	assert_int_equal(bench("write-bw", "--engine", "kernel"), EXIT_FAILED);
	kernel_tells(0);
	fake_fail(KVERBS_BENCH, 1, -ENOTTY);
	assert_int_equal(bench("write-bw", "--engine", "kernel"), EXIT_FAILED);
	fake_fail(KVERBS_BENCH, 1, -EOPNOTSUPP);
	assert_int_equal(bench("write-bw", "--engine", "kernel"), EXIT_FAILED);
}

static void unsupported_options_are_refused(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "--engine", "kernel", "--verify"), EXIT_FAILED);
}

static void options_without_meaning_are_refused(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "--engine", "steam"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "--engine", "kernel", "--poll", "x"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "--poll", "softirq"), EXIT_USAGE);
	/* bench() passes -e, which excludes polling. */
	assert_int_equal(bench("write-bw", "--engine", "kernel", "--poll", "direct"), EXIT_USAGE);
	assert_int_equal(bench("connect", "--engine", "kernel"), EXIT_USAGE);
	assert_int_equal(bench("reg", "--engine", "kernel"), EXIT_USAGE);
}

static void the_completion_context_is_reported(void **state)
{
	struct json_object *root;

	(void)state;
	kernel_tells(0);
	root = result(EXIT_OK, "write-bw", "--engine", "kernel", "--poll", "softirq");
	assert_string_equal(string(row_of(root, 0), "poll"), "softirq");
	json_object_put(root);
	root = result(EXIT_OK, "write-bw", "--engine", "kernel");
	assert_string_equal(string(row_of(root, 0), "poll"), "workqueue");
	json_object_put(root);
	root = result(EXIT_OK, "write-lat", "--engine", "kernel");
	assert_string_equal(string(row_of(root, 0), "poll"), "direct");
	json_object_put(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(figures_come_from_the_kernel),
		server_test(times_come_from_the_kernel),
		server_test(writes_use_the_peers_memory),
		server_test(a_latency_of_writes_is_answered_in_memory),
		server_test(a_latency_of_sends_is_answered_by_messages),
		server_test(sends_have_as_much_credit_as_the_server_has_receives),
		server_test(results_of_connections_are_added),
		server_test(the_server_sends_in_the_other_direction),
		server_test(the_duration_is_passed_in_milliseconds),
		server_test(a_failure_is_reported),
		server_test(unsupported_options_are_refused),
		server_test(options_without_meaning_are_refused),
		server_test(the_completion_context_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
