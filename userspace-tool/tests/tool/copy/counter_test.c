// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "cli/units.h"
#include "copy/counter.h"
#include "tmp.h"

/* d has 5 bytes, and d/sub, which has 7, and d/sub/deep, which has 11. */
static void make_tree(struct tmp *tmp)
{
	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(tmp->fd, "d/sub", 0755), 0);
	assert_int_equal(mkdirat(tmp->fd, "d/sub/deep", 0755), 0);
	tmp_write(tmp, "d/a", "12345");
	tmp_write(tmp, "d/sub/b", "1234567");
	tmp_write(tmp, "d/sub/deep/c", "12345678901");
}

static void add(struct counter *counter, struct tmp *tmp, const char *what)
{
	int fd = openat(tmp->fd, what, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(counter_add(counter, fd, what), 0);
	close(fd);
}

/* Wait until @total has been counted, which @growing tells to be all of it or not. */
static void await_total(const struct counter *counter, uint64_t total, bool growing)
{
	const struct timespec look = { .tv_nsec = 1000000 };
	double end = units_now() + 60;
	bool more;

	while (counter_read(counter, &more) != total || more != growing) {
		assert_true(units_now() < end);
		nanosleep(&look, NULL);
	}
}

static void files_and_trees_are_counted(void **state)
{
	struct counter counter = {};

	make_tree(*state);
	tmp_write(*state, "f", "123");
	add(&counter, *state, "f");
	add(&counter, *state, "d");
	counter_start(&counter);
	await_total(&counter, 26, false);
	counter_stop(&counter);
}

static void what_a_pattern_excludes_is_not_counted(void **state)
{
	struct filter filter = {};
	struct counter counter = { .filter = &filter };

	make_tree(*state);
	assert_int_equal(filter_add(&filter, false, "deep/", strlen("deep/")), 0);
	add(&counter, *state, "d");
	counter_start(&counter);
	await_total(&counter, 12, false);
	counter_stop(&counter);
	filter_free(&filter);
}

static void a_tree_that_is_too_deep_is_never_complete(void **state)
{
	struct counter counter = { .depth_max = 2 };
	bool growing;

	make_tree(*state);
	add(&counter, *state, "d");
	counter_start(&counter);
	await_total(&counter, 12, true);
	counter_stop(&counter);
	assert_int_equal(counter_read(&counter, &growing), 12);
	assert_true(growing);
}

static void without_a_thread_the_total_is_not_known(void **state)
{
	struct counter counter = {};
	bool growing;

	make_tree(*state);
	add(&counter, *state, "d");
	assert_int_equal(counter_read(&counter, &growing), 0);
	assert_true(growing);
	counter_stop(&counter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(files_and_trees_are_counted),
		tmp_test(what_a_pattern_excludes_is_not_counted),
		tmp_test(a_tree_that_is_too_deep_is_never_complete),
		tmp_test(without_a_thread_the_total_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
