// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench reg: cost of registering memory, over the fake kernel. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/prctl.h>

#include "bench_run.h"
#include "cli/util.h"

static bool is(struct json_object *row, const char *key, const char *value)
{
	return row && !strcmp(string(row, key), value);
}

static bool has(struct json_object *row, const char *key)
{
	return json_object_object_get_ex(row, key, NULL);
}

/* Count the rows of this kind of pages, from row @from on. */
static unsigned int rows_of(struct json_object *root, unsigned int from, const char *pages)
{
	unsigned int n = 0;

	while (is(row_of(root, from + n), "pages", pages))
		n++;
	return n;
}

static void check_steps(struct json_object *root, const char *const *steps, unsigned int nr)
{
	struct json_object *row;
	unsigned int i;

	assert_int_equal(rows_of(root, 0, "base"), nr);
	for (i = 0; i < nr; i++) {
		row = row_of(root, i);
		assert_string_equal(string(row, "step"), steps[i]);
		assert_string_equal(string(row, "operation"), "reg");
		assert_true(number(row, "iterations") == 20);
		assert_true(number(row, "size_bytes") == 100000);
		assert_true(number(row, "page_bytes") == sysconf(_SC_PAGESIZE));
		assert_true(number(row, "available"));
		assert_true(number(row, "t_min_us") > 0);
		assert_true(number(row, "p50_us") <= number(row, "p99_us"));
		assert_true(number(row, "p99_us") <= number(row, "t_max_us"));
	}
}

static void with_a_host_each_of_four_steps_has_a_row(void **state)
{
	static const char *const steps[] = { "register", "export", "revoke", "unregister" };
	struct json_object *root;

	(void)state;
	root = result(EXIT_OK, "reg", "-n", "20", "-s", "100000");
	check_steps(root, steps, 4);
	assert_true(has(root, "environment"));
	json_object_put(root);
}

static void without_a_host_nothing_is_exported(void **state)
{
	static const char *const steps[] = { "register", "unregister" };
	struct json_object *root;

	(void)state;
	fake_fail(KVERBS_CONNECT, 1, -EIO);
	root = result_alone(EXIT_OK, "reg", "-n", "20", "-s", "100000");
	check_steps(root, steps, 2);
	json_object_put(root);
}

/* The machine decides which of the two happens. */
static void huge_pages_are_measured_or_reported_missing(void **state)
{
	struct json_object *root, *row;
	unsigned int n;

	(void)state;
	root = result(EXIT_OK, "reg", "-n", "2", "-s", "4096");
	n = rows_of(root, 4, "huge");
	row = row_of(root, 4);
	assert_true(number(row, "page_bytes") == 2 << 20);
	assert_int_equal(n, number(row, "available") ? 4 : 1);
	assert_true(has(row, "step") == (n == 4));
	json_object_put(root);
}

static void missing_huge_pages_are_not_a_failure(void **state)
{
	struct json_object *root, *row;

	(void)state;
	assert_int_equal(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	root = result_alone(EXIT_OK, "reg", "-n", "2", "-s", "4096");
	assert_int_equal(bench_alone("reg", "-n", "2", "-s", "4096"), EXIT_OK);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	row = row_of(root, 2);
	if (number(row, "available")) {
		/* Some huge pages are reserved on this machine. */
		json_object_put(root);
		skip();
	}
	assert_false(has(row, "p50_us"));
	assert_null(row_of(root, 3));
	json_object_put(root);
}

static void check_sizes(struct json_object *root, const size_t *sizes, unsigned int nr)
{
	unsigned int i, at = 0;

	for (i = 0; i < nr; i++) {
		assert_int_equal(rows_of(root, at, "base"), 2);
		assert_true(number(row_of(root, at), "size_bytes") == sizes[i]);
		at += 2;
		at += rows_of(root, at, "huge");
	}
	assert_null(row_of(root, at));
	json_object_put(root);
}

static void sizes_follow_a_series(void **state)
{
	static const size_t some[] = { 4096, 65536, 1 << 20, 16 << 20 };
	size_t all[15];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = (size_t)4096 << i;
	check_sizes(result_alone(EXIT_OK, "reg", "-n", "1", "--no-warm-up"), some,
		    ARRAY_SIZE(some));
	check_sizes(result_alone(EXIT_OK, "reg", "-n", "1", "--no-warm-up", "-a"), all,
		    ARRAY_SIZE(all));
}

static void check_fails(unsigned long cmd, unsigned int nth, int error, const char *step)
{
	fake_fail(cmd, nth, error);
	assert_int_equal(bench("reg", "-n", "5", "-s", "4096"), EXIT_FAILED);
	assert_non_null(strstr(err_last()->step, step));
}

/* Both sides have registered memory for their messages. */
static void memory_that_cannot_be_registered_is_a_failure(void **state)
{
	(void)state;
	check_fails(KVERBS_REGION_CREATE, 3, -ENOMEM, "register");
}

static void memory_that_cannot_be_exported_is_a_failure(void **state)
{
	(void)state;
	check_fails(KVERBS_EXPORT, 2, -EIO, "export");
}

static void an_export_that_stays_is_a_failure(void **state)
{
	(void)state;
	check_fails(KVERBS_DESTROY, 1, -EINVAL, "revoke");
}

static void a_region_that_stays_is_a_failure(void **state)
{
	(void)state;
	check_fails(KVERBS_DESTROY, 2, -EINVAL, "unregister");
}

static void options_without_meaning_for_reg_are_refused(void **state)
{
	(void)state;
	assert_int_equal(bench("reg", "-b"), EXIT_USAGE);
	assert_int_equal(bench("reg", "-q", "2"), EXIT_USAGE);
	assert_int_equal(bench("reg", "-D", "1"), EXIT_USAGE);
	assert_int_equal(bench("reg", "--verify"), EXIT_USAGE);
	assert_int_equal(bench("reg", "--limit-bw", "1"), EXIT_USAGE);
	assert_int_equal(bench("reg", "--limit-lat-p99", "1"), EXIT_USAGE);
	assert_int_equal(bench("reg", "-a", "-s", "4096"), EXIT_USAGE);
	assert_int_equal(bench("reg", "one.more"), EXIT_USAGE);
	assert_int_equal(bench_alone("write-bw"), EXIT_USAGE);
}

static void a_host_without_server_is_unreachable(void **state)
{
	(void)state;
	assert_int_equal(bench("reg", "-p", "1"), EXIT_UNREACHABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(with_a_host_each_of_four_steps_has_a_row),
		server_test(without_a_host_nothing_is_exported),
		server_test(huge_pages_are_measured_or_reported_missing),
		server_test(missing_huge_pages_are_not_a_failure),
		server_test(sizes_follow_a_series),
		server_test(memory_that_cannot_be_registered_is_a_failure),
		server_test(memory_that_cannot_be_exported_is_a_failure),
		server_test(an_export_that_stays_is_a_failure),
		server_test(a_region_that_stays_is_a_failure),
		server_test(options_without_meaning_for_reg_are_refused),
		server_test(a_host_without_server_is_unreachable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
