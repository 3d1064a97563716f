// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sweeps that are drawn as they are made, and from files. */
#define _GNU_SOURCE
#include "bench_run.h"
#include "cli/util.h"
#include "svg.h"

#define ROW(op, size, key, value) \
	"{\"operation\":\"" op "\",\"size_bytes\":" #size ",\"" key "\":" #value "}"
#define BW(op, size, value) ROW(op, size, "bw_avg_MiBps", value)
#define LAT(size, value) ROW("send-lat", size, "t_typical_us", value)
#define ROWS(rows) "{\"schema\":1,\"rows\":[" rows "]}"

/* The name of a file of the test, good until the next one but three. */
static const char *in(void **state, const char *name)
{
	static char paths[4][PATH_MAX + 32];
	static unsigned int next;
	struct server_run *r = *state;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", r->tmp->path, name);
	return path;
}

static const char *file(void **state, const char *name, const char *text)
{
	struct server_run *r = *state;

	tmp_write(r->tmp, name, text);
	return in(state, name);
}

static bool drawn(void **state)
{
	struct server_run *r = *state;

	return tmp_exists(r->tmp, "x.svg");
}

/* ---- the sweep that is made ------------------------------------------------------ */

static void a_sweep_draws_itself(void **state)
{
	const char *svg = in(state, "x.svg");

	assert_int_equal(bench("write-bw", "-a", "-n", "3", "-t", "2", "--plot", svg), EXIT_OK);
	assert_true(svg_holds(svg, "lengths == [23]",
			      "{'write-bw', 'BW average [MiB/sec]', '8M'} <= set(texts)"));
}

static void latencies_are_drawn_in_microseconds(void **state)
{
	const char *svg = in(state, "x.svg");
	struct json_object *root;

	root = result(EXIT_OK, "read-lat", "-a", "-n", "3", "--plot", svg);
	assert_string_equal(string(root, "plot"), svg);
	assert_true(svg_holds(svg, "lengths == [23]",
			      "{'read-lat', 't_typical [usec]'} <= set(texts)"));
	json_object_put(root);
}

static void only_a_sweep_is_drawn(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "--plot", "/dev/null"), EXIT_USAGE);
	assert_int_equal(bench("reg", "-a", "--plot", "/dev/null"), EXIT_USAGE);
	assert_int_equal(bench("connect", "--plot", "/dev/null"), EXIT_USAGE);
	assert_int_equal(bench("write-bw", "-a", "-o", "/dev/null"), EXIT_USAGE);
}

static void what_cannot_be_written_fails_the_run(void **state)
{
	(void)state;
	assert_int_equal(bench("write-bw", "-a", "-n", "1", "-t", "1", "--plot", "/nowhere/x"),
			 EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
}

/* ---- sweeps in files ---------------------------------------------------------------- */

static void runs_in_files_are_drawn_together(void **state)
{
	const char *svg = in(state, "x.svg");
	const char *a = file(state, "A.json", ROWS(BW("write-bw", 8, 1.5) ","
						   BW("write-bw", 16, 3)));
	const char *b = file(state, "B.json", ROWS(BW("read-bw", 8, 6)));

	assert_int_equal(bench_alone("plot", a, b, "-o", svg), EXIT_OK);
	assert_true(svg_holds(svg, "lengths == [2, 1]",
			      "{'write-bw, A', 'read-bw, B'} <= set(texts)",
			      "near(lines[1][0][1], 4 * lines[0][0][1])"));
}

/* What a run prints is what is read. */
static void a_run_s_own_result_is_drawn(void **state)
{
	const char *svg = in(state, "x.svg"), *path = in(state, "run.json");
	struct json_object *root;

	root = result(EXIT_OK, "send-bw", "-a", "-n", "2", "-t", "1");
	assert_int_equal(json_object_to_file(path, root), 0);
	json_object_put(root);
	assert_int_equal(bench_alone("plot", path, "-o", svg), EXIT_OK);
	assert_true(svg_holds(svg, "lengths == [23]", "'send-bw, run' in texts"));
}

static void check_refused(void **state, const char *text)
{
	const char *path = file(state, "bad.json", text);

	err_command("bench");
	assert_int_equal(bench_alone("plot", path, "-o", in(state, "x.svg")), EXIT_FAILED);
	assert_non_null(strstr(err_last()->step, "bad.json"));
	assert_false(drawn(state));
}

static void what_is_no_sweep_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "{", "null", "7", "[]", "{}", ROWS(""), "{\"rows\":{}}", ROWS("null"),
		ROWS("[]"), ROWS("{}"), ROWS("{\"operation\":null}"), ROWS("{\"operation\":7}"),
		ROWS("{\"operation\":\"write-bw\"}"), ROWS(BW("reg", 8, 1)),
		ROWS(BW("write-bw", 0, 1)), ROWS(BW("write-bw", -8, 1)), ROWS(BW("write-bw", 8, 0)),
		ROWS(BW("write-bw", 8, 1) "," BW("read-bw", 16, 1)),
		ROWS(BW("write-bw", 8, 1) ",null"), ROWS(BW("write-bw", 8, "x")),
		ROWS(BW("write-bw", 8, 1e300)), ROWS(BW("write-bw", 8, [])),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		check_refused(state, texts[i]);
}

static void bandwidths_and_latencies_do_not_mix(void **state)
{
	const char *a = file(state, "A.json", ROWS(BW("write-bw", 8, 1)));
	const char *b = file(state, "B.json", ROWS(LAT(8, 1)));
	const char *svg = in(state, "x.svg");

	assert_int_equal(bench_alone("plot", a, b, "-o", svg), EXIT_FAILED);
	assert_false(drawn(state));
	assert_int_equal(bench_alone("plot", b, b, "-o", svg), EXIT_OK);
	assert_true(drawn(state));
}

static void files_that_are_not_there_are_told(void **state)
{
	assert_int_equal(bench_alone("plot", "/nowhere/A.json", "-o", in(state, "x.svg")),
			 EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
}

static void files_and_where_to_draw_are_needed(void **state)
{
	assert_int_equal(bench_alone("plot", "-o", in(state, "x.svg")), EXIT_USAGE);
	assert_int_equal(bench_alone("plot", "A.json"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(a_sweep_draws_itself),
		server_test(latencies_are_drawn_in_microseconds),
		server_test(only_a_sweep_is_drawn),
		server_test(what_cannot_be_written_fails_the_run),
		server_test(runs_in_files_are_drawn_together),
		server_test(a_run_s_own_result_is_drawn),
		server_test(what_is_no_sweep_is_refused),
		server_test(bandwidths_and_latencies_do_not_mix),
		server_test(files_that_are_not_there_are_told),
		server_test(files_and_where_to_draw_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
