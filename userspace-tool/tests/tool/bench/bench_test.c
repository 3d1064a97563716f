// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench against kverbs serve, both in this process. */
#define _GNU_SOURCE
#include "bench/param.h"
#include "bench_run.h"
#include "cli/util.h"
#include "peer/wire.h"

/* ---- measurements ------------------------------------------------------------- */

static void bandwidths_verify_every_byte(void **state)
{
	static const char * const ops[] = { "write-bw", "send-bw", "read-bw" };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		assert_int_equal(bench(ops[i], "-n", "300", "-s", "5000", "--verify"), EXIT_OK);
		assert_int_equal(bench(ops[i], "-n", "300", "-s", "1", "-t", "7", "-r", "5"),
				 EXIT_OK);
	}
}

/* Lengths of lists that do not divide the number of operations, and the longest lists. */
static void lists_verify_every_byte(void **state)
{
	static const char * const ops[] = { "write-bw", "send-bw", "read-bw" };
	static const char * const lists[][2] = {
		{ "1", "7" }, { "7", "1" }, { "5", "3" }, { "6", "12" }, { "12", "12" },
	};
	unsigned int i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (j = 0; j < ARRAY_SIZE(lists); j++)
			assert_int_equal(bench(ops[i], "-n", "100", "-s", "500", "-t", "12",
					       "-r", "48", "-l", lists[j][0],
					       "-Q", lists[j][1], "--verify"), EXIT_OK);
}

static void the_duration_may_end_within_a_list(void **state)
{
	static const char * const ops[] = { "write-bw", "send-bw" };
	struct json_object *root, *row;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		root = result(EXIT_OK, ops[i], "-D", "0.2", "-s", "64", "-l", "3", "-Q", "100",
			      "-b");
		row = row_of(root, 0);
		assert_true(number(row, "post_list") == 3);
		assert_true(number(row, "cq_mod") == 100);
		assert_true(number(row, "differed") == 0);
		assert_true(number(row, "iterations") > 0);
		json_object_put(root);
	}
}

static void latencies_verify_every_byte(void **state)
{
	static const char * const ops[] = { "send-lat", "read-lat", "imm-lat" };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		assert_int_equal(bench(ops[i], "-n", "50", "-s", "777", "--verify"), EXIT_OK);
		assert_int_equal(bench(ops[i], "-n", "50"), EXIT_OK);
	}
	assert_int_equal(bench("atomic-lat", "-n", "50", "--verify"), EXIT_OK);
}

/* More than the marker in the last byte can count. */
static void writes_are_seen_in_memory(void **state)
{
	(void)state;
	assert_int_equal(bench("write-lat", "-n", "600", "-s", "100", "--verify"), EXIT_OK);
	assert_int_equal(bench("write-lat", "-n", "20", "-s", "1"), EXIT_OK);
}

static void a_row_names_what_was_measured(void **state)
{
	static const char * const sides[] = { "client", "server" };
	struct json_object *root, *row, *side;
	unsigned int i;

	(void)state;
	root = result(EXIT_OK, "send-bw", "-n", "200", "-s", "4096", "-q", "3", "--verify");
	row = row_of(root, 0);
	assert_true(number(row, "iterations") == 600);
	assert_true(number(row, "size_bytes") == 4096);
	assert_true(number(row, "connections") == 3);
	assert_true(number(row, "differed") == 0);
	assert_true(number(row, "bw_avg_MiBps") > 0);
	assert_true(number(row, "bw_peak_MiBps") >= number(row, "bw_avg_MiBps"));
	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		assert_true(json_object_object_get_ex(row, sides[i], &side));
		assert_true(number(side, "cpu_us_per_operation") > 0);
		/* A run as short as this may have no context switch. */
		assert_true(number(side, "host_context_switches") >= 0);
	}
	json_object_put(root);
}

static void percentiles_are_in_order(void **state)
{
	static const char * const keys[] = {
		"t_min_us", "p50_us", "p90_us", "p99_us", "p99_9_us", "p99_99_us", "t_max_us",
	};
	struct json_object *root, *row;
	unsigned int i;

	(void)state;
	root = result(EXIT_OK, "send-lat", "-n", "500");
	row = row_of(root, 0);
	for (i = 1; i < ARRAY_SIZE(keys); i++)
		assert_true(number(row, keys[i - 1]) <= number(row, keys[i]));
	assert_true(number(row, "t_avg_us") > 0);
	json_object_put(root);
}

static void both_ways_are_counted(void **state)
{
	struct json_object *root;

	(void)state;
	root = result(EXIT_OK, "write-bw", "-n", "100", "-s", "512", "-b", "-q", "2",
		      "--verify");
	assert_true(number(row_of(root, 0), "iterations") == 400);
	assert_true(number(row_of(root, 0), "differed") == 0);
	json_object_put(root);
}

static void a_sweep_has_a_row_for_every_size(void **state)
{
	struct json_object *root;
	unsigned int i;

	(void)state;
	root = result(EXIT_OK, "write-bw", "-a", "-n", "3", "-t", "2");
	for (i = 0; i < 23; i++)
		assert_true(number(row_of(root, i), "size_bytes") == 2u << i);
	assert_null(row_of(root, 23));
	json_object_put(root);
}

static void a_duration_ends_the_measurement(void **state)
{
	struct json_object *root, *row, *each;

	(void)state;
	root = result(EXIT_OK, "read-lat", "-D", "1.2");
	row = row_of(root, 0);
	assert_true(number(row, "seconds") >= 1.2);
	assert_true(number(row, "p99_us") > 0);
	assert_true(json_object_object_get_ex(row, "seconds_each", &each));
	/* A late second is reported together with the next one. */
	assert_in_range(json_object_array_length(each), 1, number(row_of(root, 0), "seconds"));
	json_object_put(root);
	root = result(EXIT_OK, "write-bw", "-D", "1");
	assert_true(json_object_object_get_ex(row_of(root, 0), "seconds_each", &each));
	/* A late second is reported together with the next one. */
	assert_in_range(json_object_array_length(each), 1, number(row_of(root, 0), "seconds"));
	assert_true(number(json_object_array_get_idx(each, 0), "seconds") >= 1);
	json_object_put(root);
	root = result(EXIT_OK, "send-bw", "-D", "0.3");
	assert_true(number(row_of(root, 0), "seconds") >= 0.3);
	json_object_put(root);
}

/* ---- refusals and failures --------------------------------------------------- */

static void each_limit_fails_by_itself(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "-n", "50", "--limit-bw", "1e15"), EXIT_FAILED);
	assert_int_equal(bench("write-bw", "-n", "50", "--limit-msgrate", "1e15"), EXIT_FAILED);
	assert_int_equal(bench("send-lat", "-n", "50", "--limit-lat-p99", "0.001"),
			 EXIT_FAILED);
	assert_int_equal(bench("write-bw", "-n", "50", "--limit-bw", "1e-9",
			       "--limit-msgrate", "1e-12"), EXIT_OK);
	assert_int_equal(bench("send-lat", "-n", "50", "--limit-lat-p99", "1e9"), EXIT_OK);
}

/* One message lists all segments. */
static void memory_with_too_many_pieces_is_reported(void **state)
{
	(void)state;
	fake.max_segment = 4096;
	assert_int_equal(bench("write-bw", "-s", "1M", "-n", "5"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -EOVERFLOW);
	assert_non_null(strstr(err_last()->remedy, "lower -s"));
	assert_int_equal(bench("write-bw", "-s", "512K", "-n", "5"), EXIT_OK);
}

static void options_that_exclude_each_other_are_refused(void **state)
{
	(void)state;
	assert_int_equal(bench("write", "-n", "5"), EXIT_USAGE);
	assert_int_equal(bench("send-lat", "-b"), EXIT_USAGE);
	assert_int_equal(bench("send-lat", "-q", "2"), EXIT_USAGE);
	assert_int_equal(bench("send-lat", "--limit-bw", "1"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "--limit-lat-p99", "1"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "--limit-bw", "0"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "--limit-bw", "x"), EXIT_USAGE);
	assert_int_equal(bench("write-lat", "-e"), EXIT_USAGE);
	assert_int_equal(bench("send-lat", "-l", "2"), EXIT_USAGE);
	assert_int_equal(bench("send-lat", "-Q", "2"), EXIT_USAGE);
	assert_int_equal(bench("connect", "-l", "2"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "-t", "8", "-l", "9"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "-t", "8", "-Q", "9"), EXIT_USAGE);
	assert_int_equal(bench("send-bw", "-r", "31", "-l", "8"), EXIT_USAGE);
	assert_int_equal(bench("atomic-lat", "-s", "16"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "-s", "16M", "--verify"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "one.more"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "-x", "1", "-I", "192.0.2.1"), EXIT_USAGE);
	assert_int_equal(bench_alone("reg", "-x", "1"), EXIT_USAGE);
}

static void an_address_without_device_is_refused(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "-n", "5", "-x", "77"), EXIT_DENIED);
}

static void failures_are_json_too(void **state)
{
	struct json_object *root, *v;

	(void)state;
	root = result(EXIT_UNREACHABLE, "write-bw", "-p", "1");
	assert_true(json_object_object_get_ex(root, "error", &v));
	assert_true(json_object_object_get_ex(root, "exit_status", &v));
	assert_int_equal(json_object_get_int(v), EXIT_UNREACHABLE);
	json_object_put(root);
}

static const struct wire_hello bench_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_BENCH,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_BENCH_DEPTH,
};

/* Check how the server ends a connection after a message that no client sends. */
static void check_ended_by(const struct wire_msg *msg)
{
	struct wire_msg answer;
	struct session s;
	struct kverbs *kv;

	assert_int_equal(server_connect(&s, &kv, &bench_hello), 0);
	assert_int_equal(session_send(&s, msg), 0);
	assert_int_equal(session_recv(&s, &answer, FAKE_PATIENCE_MS), -ECONNRESET);
	server_leave(&s, kv);
}

static void the_server_refuses_invalid_parameters(void **state)
{
	struct bench_param p = {
		.op = BENCH_WRITE_BW, .lanes = BENCH_LANES_MAX + 1, .tx_depth = 1,
		.rx_depth = 2, .post_list = 1, .cq_mod = 1, .size = 1, .count = 1,
	};
	uint8_t tail[BENCH_PARAM_LEN];
	struct wire_msg msg = {
		.type = WIRE_BENCH_SETUP, .window = WIRE_NO_WINDOW, .tail = tail,
	};

	(void)state;
	msg.tail_len = bench_param_encode(&p, tail, sizeof(tail));
	check_ended_by(&msg);
	msg.tail_len--;
	check_ended_by(&msg);
	msg.tail_len = 0;
	msg.type = WIRE_BENCH_GO;
	check_ended_by(&msg);
}

/* A lane without the session's key is refused, and the session's own lane still connects. */
static void lanes_need_their_key(void **state)
{
	struct bench_param p = {
		.op = BENCH_WRITE_BW, .lanes = 1, .tx_depth = 1, .rx_depth = 2,
		.post_list = 1, .cq_mod = 1, .size = 1, .count = 1,
		.flags = BENCH_F_EVENTS | BENCH_F_BOTH_WAYS,
	};
	struct session_to to = { .host = "192.0.2.1", .timeout_ms = FAKE_PATIENCE_MS };
	struct wire_hello hello = { .version = WIRE_VERSION, .what = WIRE_SERVICE_LANE };
	uint8_t tail[BENCH_PARAM_LEN];
	struct wire_msg msg = {
		.type = WIRE_BENCH_SETUP, .window = WIRE_NO_WINDOW, .tail = tail,
	};
	struct session s, lane;
	struct kverbs *kv;
	char port[8];

	(void)state;
	msg.tail_len = bench_param_encode(&p, tail, sizeof(tail));
	assert_int_equal(server_connect(&s, &kv, &bench_hello), 0);
	assert_int_equal(session_send(&s, &msg), 0);
	assert_int_equal(session_recv(&s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.type, WIRE_BENCH_OPEN);
	assert_int_equal(msg.status, 0);
	snprintf(port, sizeof(port), "%u", msg.window);
	to.port = port;
	/* A small message size suffices for a session, whose hello is what matters. */
	hello.msg_max = msg.digest == 128 ? 129 : 128;
	hello.depth = 1;
	assert_int_equal(session_connect(&lane, kv, &to, &hello), -ECONNREFUSED);
	session_free(&lane);
	server_leave(&s, kv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(bandwidths_verify_every_byte),
		server_test(lists_verify_every_byte),
		server_test(the_duration_may_end_within_a_list),
		server_test(latencies_verify_every_byte),
		server_test(writes_are_seen_in_memory),
		server_test(a_row_names_what_was_measured),
		server_test(percentiles_are_in_order),
		server_test(both_ways_are_counted),
		server_test(a_sweep_has_a_row_for_every_size),
		server_test(a_duration_ends_the_measurement),
		server_test(each_limit_fails_by_itself),
		server_test(memory_with_too_many_pieces_is_reported),
		server_test(options_that_exclude_each_other_are_refused),
		server_test(an_address_without_device_is_refused),
		server_test(failures_are_json_too),
		server_test(the_server_refuses_invalid_parameters),
		server_test(lanes_need_their_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
