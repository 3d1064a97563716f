// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A screen clips text that does not fit, and divides its width among columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/util.h"
#include "watch/screen.h"

static int setup(void **state)
{
	static struct screen screen;

	*state = &screen;
	return screen_init(&screen, 10, 3);
}

static int teardown(void **state)
{
	screen_free(*state);
	return 0;
}

static void a_new_screen_is_blank(void **state)
{
	struct screen *screen = *state;

	assert_string_equal(screen_line(screen, 0), "          ");
	assert_string_equal(screen_line(screen, 2), "          ");
	assert_int_equal(screen->looks[1], SCREEN_PLAIN);
}

static void text_ends_at_the_edge(void **state)
{
	struct screen *screen = *state;

	screen_text(screen, 1, 7, "abcdef");
	screen_text(screen, 1, 10, "x");
	assert_string_equal(screen_line(screen, 1), "       abc");
	assert_string_equal(screen_line(screen, 2), "          ");
}

static void lines_below_the_screen_are_not_drawn(void **state)
{
	struct screen *screen = *state;

	screen_text(screen, 3, 0, "x");
	screen_cell(screen, 3, 0, 5, false, "x");
	screen_look(screen, 3, SCREEN_BOLD);
	assert_string_equal(screen_line(screen, 3), "");
}

static void a_cell_is_aligned_left_or_right(void **state)
{
	struct screen *screen = *state;

	screen_cell(screen, 0, 0, 4, false, "ab");
	screen_cell(screen, 0, 5, 5, true, "17");
	assert_string_equal(screen_line(screen, 0), "ab      17");
}

static void a_cut_cell_is_marked(void **state)
{
	struct screen *screen = *state;

	screen_cell(screen, 0, 0, 4, false, "abcdef");
	screen_cell(screen, 0, 5, 5, false, "abcde");
	assert_string_equal(screen_line(screen, 0), "abc+ abcde");
}

static void a_cell_beyond_the_edge_is_dropped(void **state)
{
	struct screen *screen = *state;

	screen_cell(screen, 0, 6, 5, false, "abc");
	screen_cell(screen, 0, 0, 0, false, "abc");
	assert_string_equal(screen_line(screen, 0), "          ");
}

static void a_cleared_screen_is_blank(void **state)
{
	struct screen *screen = *state;

	screen_text(screen, 0, 0, "abc");
	screen_look(screen, 0, SCREEN_REVERSE);
	screen_clear(screen);
	assert_string_equal(screen_line(screen, 0), "          ");
	assert_int_equal(screen->looks[0], SCREEN_PLAIN);
}

static void a_screen_without_room_ignores_drawing(void **state)
{
	struct screen none;

	(void)state;
	assert_int_equal(screen_init(&none, 0, 0), 0);
	screen_text(&none, 0, 0, "abc");
	screen_cell(&none, 0, 0, 1, true, "abc");
	assert_string_equal(screen_line(&none, 0), "");
	screen_free(&none);
}

/* ---- columns ----------------------------------------------------------- */

/*
 * A number, a name with a minimum width of 4, a less important number, and the least important
 * name.
 */
static const struct screen_column columns[] = {
	{ "A", true, 0, 1 },
	{ "B", false, 4, 3 },
	{ "C", true, 0, 2 },
	{ "D", false, 2, 4 },
};

static void expect_widths(unsigned int width, unsigned int a, unsigned int b, unsigned int c,
			  unsigned int d)
{
	static const unsigned int wants[] = { 5, 10, 3, 6 };
	unsigned int widths[ARRAY_SIZE(columns)];

	screen_fit(columns, ARRAY_SIZE(columns), wants, width, widths);
	assert_int_equal(widths[0], a);
	assert_int_equal(widths[1], b);
	assert_int_equal(widths[2], c);
	assert_int_equal(widths[3], d);
}

static void with_enough_room_each_column_has_its_full_width(void **state)
{
	(void)state;
	expect_widths(5 + 1 + 10 + 1 + 3 + 1 + 6, 5, 10, 3, 6);
	expect_widths(200, 5, 10, 3, 6);
}

static void names_are_cut_before_columns_are_dropped(void **state)
{
	(void)state;
	expect_widths(5 + 1 + 10 + 1 + 3 + 1 + 5, 5, 10, 3, 5);
	expect_widths(5 + 1 + 4 + 1 + 3 + 1 + 2, 5, 4, 3, 2);
}

static void the_least_important_column_is_dropped_first(void **state)
{
	(void)state;
	expect_widths(5 + 1 + 4 + 1 + 3 + 1 + 1, 5, 6, 3, 0);
	expect_widths(5 + 1 + 3 + 1 + 3, 5, 0, 3, 0);
	expect_widths(5 + 1 + 2, 5, 0, 0, 0);
}

/* A truncated number would be another number. */
static void a_number_is_never_cut(void **state)
{
	(void)state;
	expect_widths(4, 0, 0, 0, 0);
	expect_widths(5, 5, 0, 0, 0);
	expect_widths(0, 0, 0, 0, 0);
}

static void a_name_takes_no_more_than_its_length(void **state)
{
	static const unsigned int wants[] = { 1, 2, 1, 1 };
	unsigned int widths[ARRAY_SIZE(columns)];

	(void)state;
	screen_fit(columns, ARRAY_SIZE(columns), wants, 8, widths);
	assert_int_equal(widths[1], 2);
	assert_int_equal(widths[3], 1);
}

/* All columns and the blanks between them fit in any width. */
static void columns_never_exceed_the_width(void **state)
{
	static const unsigned int wants[] = { 5, 10, 3, 6 };
	unsigned int widths[ARRAY_SIZE(columns)];
	unsigned int width, i, sum;

	(void)state;
	for (width = 0; width < 40; width++) {
		screen_fit(columns, ARRAY_SIZE(columns), wants, width, widths);
		for (i = 0, sum = 0; i < ARRAY_SIZE(columns); i++)
			sum += widths[i] ? widths[i] + !!sum : 0;
		assert_true(sum <= width);
	}
}

#define screen_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		screen_test(a_new_screen_is_blank),
		screen_test(text_ends_at_the_edge),
		screen_test(lines_below_the_screen_are_not_drawn),
		screen_test(a_cell_is_aligned_left_or_right),
		screen_test(a_cut_cell_is_marked),
		screen_test(a_cell_beyond_the_edge_is_dropped),
		screen_test(a_cleared_screen_is_blank),
		cmocka_unit_test(a_screen_without_room_ignores_drawing),
		cmocka_unit_test(with_enough_room_each_column_has_its_full_width),
		cmocka_unit_test(names_are_cut_before_columns_are_dropped),
		cmocka_unit_test(the_least_important_column_is_dropped_first),
		cmocka_unit_test(a_number_is_never_cut),
		cmocka_unit_test(a_name_takes_no_more_than_its_length),
		cmocka_unit_test(columns_never_exceed_the_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
