// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Diagrams, as another program reads them. */
#define _GNU_SOURCE
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/plot.h"
#include "cli/util.h"
#include "svg.h"
#include "tmp.h"

static void add_line(struct plot *p, const char *name, const double *values, unsigned int nr)
{
	unsigned int i;

	assert_int_equal(plot_begin(p, name), 0);
	for (i = 0; i < nr; i++)
		assert_int_equal(plot_add(p, 2u << i, values[i]), 0);
}

static const char *save(struct tmp *tmp, struct plot *p)
{
	static char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/x.svg", tmp->path);
	assert_int_equal(plot_save(p, path), 0);
	plot_free(p);
	return path;
}

#define check_svg(state, p, ...) \
	assert_true(svg_holds(save(*(state), p), __VA_ARGS__))

static void sizes_are_as_far_apart_as_their_logarithms(void **state)
{
	static const double values[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct plot p = { .label = "speed [MiB/sec]" };

	add_line(&p, "run", values, ARRAY_SIZE(values));
	check_svg(state, &p, "lengths == [7]", "even([x for x, y in lines[0]])");
}

static void an_axis_without_decades_begins_at_nothing(void **state)
{
	static const double values[] = { 10, 20, 40 };
	struct plot p = { .label = "speed [MiB/sec]" };

	add_line(&p, "run", values, ARRAY_SIZE(values));
	check_svg(state, &p, "'0' in texts", "near(lines[0][1][1], 2 * lines[0][0][1])",
		  "near(lines[0][2][1], 4 * lines[0][0][1])");
}

static void decades_are_all_as_high(void **state)
{
	static const double values[] = { 3, 30, 300, 3000 };
	struct plot p = { .label = "time [usec]", .decades = true };

	add_line(&p, "run", values, ARRAY_SIZE(values));
	check_svg(state, &p, "even([y for x, y in lines[0]])",
		  "{'1', '10', '100', '1000', '10000'} <= set(texts)");
}

static void axes_have_numbers_and_units(void **state)
{
	static const double values[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 950
	};
	struct plot p = { .label = "speed [MiB/sec]" };

	add_line(&p, "run", values, ARRAY_SIZE(values));
	check_svg(state, &p, "{'size [bytes]', 'speed [MiB/sec]'} <= set(texts)",
		  "{'2', '512', '2K', '2M', '8M'} <= set(texts)",
		  "{'0', '200', '1000'} <= set(texts)");
}

static void each_run_has_a_line_and_a_name(void **state)
{
	static const double values[] = { 5, 6 };
	struct plot p = { .label = "y" };
	unsigned int i;
	char name[16];

	for (i = 0; i < PLOT_LINES_MAX; i++) {
		snprintf(name, sizeof(name), "run %u", i);
		add_line(&p, name, values, ARRAY_SIZE(values));
	}
	assert_int_equal(plot_begin(&p, "one more"), -ENOSPC);
	check_svg(state, &p, "lengths == [2] * 16",
		  "[t for t in texts if 'run' in t] == ['run %u' % i for i in range(16)]");
}

/* A file may be called anything. */
static void names_are_no_markup(void **state)
{
	static const double values[] = { 5, 6 };
	struct plot p = { .label = "y" };

	add_line(&p, "</text><a> & \"b\" 'c' \x01\xff", values, ARRAY_SIZE(values));
	check_svg(state, &p, "'</text><a> & \"b\" \\'c\\' ' + 2 * '?' in texts");
}

static void one_point_is_a_diagram(void **state)
{
	static const double value = 7;
	struct plot p = { .label = "y" };

	add_line(&p, "run", &value, 1);
	check_svg(state, &p, "lengths == [1]");
	p.label = "y";
	p.decades = true;
	add_line(&p, "run", &value, 1);
	check_svg(state, &p, "lengths == [1]");
}

static void what_has_no_place_is_refused(void **state)
{
	static const double values[] = { 0, -1, DBL_MAX, DBL_MIN, NAN };
	struct plot p = { .label = "y" };
	unsigned int i;

	(void)state;
	assert_int_equal(plot_begin(&p, "run"), 0);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		assert_int_equal(plot_add(&p, values[i], 1), -EINVAL);
		assert_int_equal(plot_add(&p, 1, values[i]), -EINVAL);
	}
	assert_true(plot_empty(&p));
	assert_int_equal(plot_save(&p, "/dev/null"), -EINVAL);
	plot_free(&p);
}

static void a_disk_that_is_full_is_told(void **state)
{
	static const double values[] = { 5, 6 };
	struct plot p = { .label = "y" };

	(void)state;
	add_line(&p, "run", values, ARRAY_SIZE(values));
	assert_int_equal(plot_save(&p, "/dev/full"), -ENOSPC);
	assert_int_equal(plot_save(&p, "/nowhere/x.svg"), -ENOENT);
	plot_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(sizes_are_as_far_apart_as_their_logarithms),
		tmp_test(an_axis_without_decades_begins_at_nothing),
		tmp_test(decades_are_all_as_high),
		tmp_test(axes_have_numbers_and_units),
		tmp_test(each_run_has_a_line_and_a_name),
		tmp_test(names_are_no_markup),
		tmp_test(one_point_is_a_diagram),
		cmocka_unit_test(what_has_no_place_is_refused),
		cmocka_unit_test(a_disk_that_is_full_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
