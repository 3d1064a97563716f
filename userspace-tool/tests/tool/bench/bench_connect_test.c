// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench connect: connections to a server in this process. */
#define _GNU_SOURCE
#include "bench_run.h"
#include "cli/util.h"

static void each_step_has_a_row(void **state)
{
	static const char *const steps[] = {
		"connect", "address", "route", "qp", "answer", "established", "disconnected",
		"destroyed"
	};
	struct json_object *root, *row;
	unsigned int i;

	(void)state;
	fake.step_ns = 1500;
	root = result(EXIT_OK, "connect", "-n", "30", "-t", "5", "-r", "7");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		row = row_of(root, i);
		assert_string_equal(string(row, "operation"), "connect");
		assert_string_equal(string(row, "step"), steps[i]);
		assert_true(number(row, "iterations") == 30);
		assert_true(number(row, "tx_depth") == 5);
		assert_true(number(row, "rx_depth") == 7);
		assert_true(number(row, "t_min_us") > 0);
		assert_true(number(row, "p50_us") <= number(row, "p99_us"));
		assert_true(number(row, "p99_us") <= number(row, "t_max_us"));
	}
	assert_null(row_of(root, i));
	json_object_put(root);
}

/* The kernel reports times since CONNECT; a row has the duration of its own step. */
static void steps_in_the_kernel_have_rows_of_their_own(void **state)
{
	struct json_object *root;
	unsigned int i;

	(void)state;
	fake.step_ns = 2500;
	root = result(EXIT_OK, "connect", "-n", "3");
	for (i = 1; i <= 4; i++)
		assert_true(number(row_of(root, i), "t_max_us") == 2.5);
	json_object_put(root);
}

static void a_kernel_without_timestamps_has_no_such_rows(void **state)
{
	struct json_object *root;

	(void)state;
	root = result(EXIT_OK, "connect", "-n", "3");
	assert_string_equal(string(row_of(root, 0), "step"), "connect");
	assert_string_equal(string(row_of(root, 1), "step"), "established");
	assert_null(row_of(root, 4));
	json_object_put(root);
}

/* The command is the first part of the time until the connection is established. */
static void established_is_measured_from_the_command(void **state)
{
	struct json_object *root;

	(void)state;
	root = result(EXIT_OK, "connect", "-n", "1");
	assert_true(number(row_of(root, 0), "t_min_us") <
		    number(row_of(root, 1), "t_min_us"));
	json_object_put(root);
}

static void queues_have_the_requested_depth(void **state)
{
	(void)state;
	assert_int_equal(bench("connect", "-n", "1", "-t", "9", "-r", "11"), EXIT_OK);
	assert_int_equal(fake.connect_param.sq_depth, 9);
	assert_int_equal(fake.connect_param.rq_depth, 11);
}

/* The first connection is not measured. */
static void a_refused_connection_ends_the_run(void **state)
{
	struct json_object *root, *v;

	(void)state;
	fake_script_connect(0);
	fake_script_connect(0);
	fake_script_connect(-ECONNREFUSED);
	root = result(EXIT_UNREACHABLE, "connect", "-n", "5", "--no-warm-up");
	assert_null(row_of(root, 0));
	assert_true(json_object_object_get_ex(root, "error", &v));
	assert_non_null(strstr(string(v, "step"), "established"));
	assert_string_equal(string(v, "errno"), "ECONNREFUSED");
	json_object_put(root);
}

static void a_connection_that_hangs_ends_the_run(void **state)
{
	(void)state;
	fake_script_connect(0);
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(bench("connect", "-n", "5"), EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -ETIMEDOUT);
}

static void the_limit_applies_to_establishing(void **state)
{
	struct json_object *root;

	(void)state;
	assert_int_equal(bench("connect", "-n", "5", "--limit-lat-p99", "1e9"), EXIT_OK);
	root = result(EXIT_FAILED, "connect", "-n", "5", "--limit-lat-p99", "0.001");
	assert_true(number(row_of(root, 1), "p99_us") > 0.001);
	json_object_put(root);
}

static void options_without_meaning_for_connect_are_refused(void **state)
{
	(void)state;
	assert_int_equal(bench_alone("connect"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-s", "8"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-a"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-b"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-q", "2"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-D", "1"), EXIT_USAGE);
	assert_int_equal(bench("connect", "--verify"), EXIT_USAGE);
	assert_int_equal(bench("connect", "--limit-msgrate", "1"), EXIT_USAGE);
}

static void a_host_without_server_is_unreachable(void **state)
{
	(void)state;
	assert_int_equal(bench("connect", "-p", "1"), EXIT_UNREACHABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(each_step_has_a_row),
		server_test(steps_in_the_kernel_have_rows_of_their_own),
		server_test(a_kernel_without_timestamps_has_no_such_rows),
		server_test(established_is_measured_from_the_command),
		server_test(queues_have_the_requested_depth),
		server_test(a_refused_connection_ends_the_run),
		server_test(a_connection_that_hangs_ends_the_run),
		server_test(the_limit_applies_to_establishing),
		server_test(options_without_meaning_for_connect_are_refused),
		server_test(a_host_without_server_is_unreachable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
