// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The screen of kverbs top for two snapshots, and its keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "snap_text.h"
#include "watch/screen.h"
#include "watch/top_view.h"

#define A "file=1 pid=31000 comm=alice type=conn id=1 device=rxe0 remote=192.0.2.1:7 "
#define B "file=2 pid=2000 comm=bob type=conn id=1 device=siw0 remote=192.0.2.2:7 "
#define C "file=3 pid=300 comm=carol type=conn id=1 device=rxe0 remote=192.0.2.3:7 "

/*
 * Two snapshots, 2 seconds apart: alice sends most, bob receives most, carol has most operations.
 */
static const char before[] =
	A "state=ESTABLISHED ops=10 bytes_out=1000 bytes_in=0\n"
	B "state=ESTABLISHED ops=10 bytes_out=0 bytes_in=0\n"
	C "state=ESTABLISHED ops=10 bytes_out=0 bytes_in=0\n"
	"device=rxe0 type=device conns=2 ops=100 bytes_out=1000 bytes_in=0 retries=5\n"
	"device=siw0 type=device conns=1 ops=10 bytes_out=0 bytes_in=0\n";
static const char after[] =
	A "state=ESTABLISHED ops=20 bytes_out=8001000 bytes_in=0 sq=7/128 rq=9/64\n"
	B "state=ESTABLISHED ops=30 bytes_out=0 bytes_in=6000000 errors=2\n"
	C "state=CLOSING ops=2010 bytes_out=200 bytes_in=400\n"
	"device=rxe0 type=device conns=2 ops=2110 bytes_out=8001200 bytes_in=400 retries=25\n"
	"device=siw0 type=device conns=1 ops=30 bytes_out=0 bytes_in=6000000\n";

static void look(struct top_view *view, double at, const char *text)
{
	struct snap snap = snap_of(at, text);

	top_view_look(view, &snap);
}

static int setup(void **state)
{
	static struct top_view view;

	top_view_init(&view);
	strcpy(view.clock, "01:02:03");
	look(&view, 50, before);
	look(&view, 52, after);
	*state = &view;
	return 0;
}

static int teardown(void **state)
{
	top_view_exit(*state);
	return 0;
}

static void draw(struct top_view *view, struct screen *screen, unsigned int width,
		 unsigned int height)
{
	assert_int_equal(screen_init(screen, width, height), 0);
	assert_int_equal(top_view_draw(view, screen), 0);
}

/* Returns the line that starts with @text; fails if there is none. */
static const char *find_line(const struct screen *screen, const char *text)
{
	unsigned int i;

	for (i = 0; i < screen->height; i++)
		if (strstr(screen_line(screen, i), text))
			return screen_line(screen, i);
	fail_msg("no line has '%s'", text);
	return NULL;
}

static int has_line(const struct screen *screen, const char *text)
{
	unsigned int i;

	for (i = 0; i < screen->height; i++)
		if (strstr(screen_line(screen, i), text))
			return 1;
	return 0;
}

/* Check that exactly these names appear, in this order from top to bottom. */
static void expect_order(struct top_view *view, const char *order)
{
	static const char *const names[] = { "alice", "bob", "carol" };
	struct screen screen;
	char seen[64] = "";
	unsigned int i, j;

	draw(view, &screen, 200, 24);
	for (i = 0; i < screen.height; i++)
		for (j = 0; j < 3; j++)
			if (strstr(screen_line(&screen, i), names[j]))
				strncat(seen, names[j], 1);
	screen_free(&screen);
	assert_string_equal(seen, order);
}

static void expect_line(struct top_view *view, unsigned int width, const char *has,
			const char *line)
{
	struct screen screen;

	draw(view, &screen, width, 24);
	assert_string_equal(find_line(&screen, has), line);
	screen_free(&screen);
}

static void keys(struct top_view *view, const char *typed)
{
	for (; *typed; typed++)
		top_view_key(view, *typed);
}

/* ---- contents ----------------------------------------------------------- */

static void eighty_columns_show_the_important_columns(void **state)
{
	expect_line(*state, 80, "COMMAND",
		    "  PID COMMAND DEVICE STATE    OUT/s     IN/s  OPS/s SQ RQ ERR PEER              ");
	expect_line(*state, 80, "alice",
		    "31000 alice   rxe0   ESTAB   4.0 MB      0 B      5  7  9   0 192.0.2.1:7       ");
	expect_line(*state, 80, "bob",
		    " 2000 bob     siw0   ESTAB      0 B   3.0 MB     10  0  0   2 192.0.2.2:7       ");
}

static void rates_are_bytes_and_operations_per_second(void **state)
{
	expect_line(*state, 80, "carol",
		    "  300 carol   rxe0   CLOSE    100 B    200 B   1000  0  0   0 192.0.2.3:7       ");
}

static void devices_have_rates_and_retries_of_their_own(void **state)
{
	expect_line(*state, 80, "RETRIES",
		    "DEVICE CONNS    OUT/s     IN/s  OPS/s ERRORS RETRIES/s RETRIES                  ");
	expect_line(*state, 80, "rxe0       2",
		    "rxe0       2   4.0 MB    200 B   1005      0        10      25                  ");
	expect_line(*state, 80, "siw0       1",
		    "siw0       1      0 B   3.0 MB     10      0         -       -                  ");
}

static void the_title_shows_order_and_time(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	keys(view, "OrpfX\r");
	top_view_key(view, TOP_KEY_ENTER);
	draw(view, &screen, 100, 24);
	assert_non_null(find_line(&screen, "kverbs top - 01:02:03, 3 connections, every 2 s,"));
	assert_non_null(find_line(&screen, " s, by OUT/s reversed, only X, PAUSED"));
	screen_free(&screen);
}

static void rates_need_two_samples(void **state)
{
	struct top_view *view = *state;

	top_view_lose(view, "");
	look(view, 60, after);
	expect_line(view, 80, "alice",
		    "31000 alice   rxe0   ESTAB        -        -      -  7  9   0 192.0.2.1:7       ");
	expect_line(view, 80, "rxe0       2",
		    "rxe0       2        -        -      -      0         -      25                  ");
}

static void two_hundred_columns_show_everything(void **state)
{
	struct screen screen;
	unsigned int i;

	draw(*state, &screen, 200, 24);
	for (i = 0; i < TOP_COLUMNS; i++)
		assert_non_null(strstr(find_line(&screen, "PID"), top_columns[i].title));
	screen_free(&screen);
}

/* For any size, nothing is drawn outside, and a number is complete or missing. */
static void any_screen_size_works(void **state)
{
	struct screen screen;
	unsigned int width, height;

	for (width = 1; width < 120; width += 7) {
		for (height = 1; height < 12; height++) {
			draw(*state, &screen, width, height);
			assert_int_equal(strlen(screen_line(&screen, height - 1)), width);
			assert_true(width < 24 || height < 7 || has_line(&screen, "   4.0 MB"));
			screen_free(&screen);
		}
	}
}

static void columns_do_not_jump_when_numbers_shrink(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	look(view, 54, A "ops=20000000000000 bytes_out=9 errors=1000000\n");
	draw(view, &screen, 80, 24);
	screen_free(&screen);
	look(view, 56, A "ops=20000000000000 bytes_out=9 errors=0\n");
	expect_line(view, 80, "COMMAND",
		    "  PID COMMAND DEVICE    OUT/s     IN/s          OPS/s SQ     ERR PEER           ");
}

static void without_connections_the_head_is_still_drawn(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	look(view, 54, "\n");
	draw(view, &screen, 80, 24);
	assert_non_null(find_line(&screen, "0 connections"));
	assert_non_null(find_line(&screen, "COMMAND"));
	assert_false(has_line(&screen, "alice"));
	screen_free(&screen);
}

static void an_unloaded_module_is_reported_and_may_return(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	top_view_lose(view, "The module is not loaded");
	draw(view, &screen, 80, 24);
	assert_non_null(find_line(&screen, "The module is not loaded"));
	assert_false(has_line(&screen, "alice"));
	screen_free(&screen);
	look(view, 54, after);
	draw(view, &screen, 80, 24);
	assert_false(has_line(&screen, "not loaded"));
	assert_non_null(find_line(&screen, "alice"));
	screen_free(&screen);
}

/* ---- sorting ------------------------------------------------------------ */

static void the_busiest_connection_is_first(void **state)
{
	expect_order(*state, "abc");
}

static void letters_select_the_order(void **state)
{
	struct top_view *view = *state;
	static const char *const orders[][2] = {
		{ "O", "acb" }, { "I", "bca" }, { "T", "abc" }, { "N", "cba" }, { "E", "bca" },
		{ "S", "acb" }, { "U", "acb" }, { "P", "cba" }, { "C", "abc" }, { "D", "cab" },
		{ "A", "abc" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		keys(view, orders[i][0]);
		expect_order(view, orders[i][1]);
	}
}

static void reversing_inverts_the_order(void **state)
{
	struct top_view *view = *state;

	keys(view, "Nr");
	expect_order(view, "abc");
	keys(view, "r");
	expect_order(view, "cba");
}

static void arrows_sort_by_the_adjacent_column(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	/* Columns that do not fit in 80 characters are skipped. */
	draw(view, &screen, 80, 24);
	screen_free(&screen);
	keys(view, "I>");
	assert_int_equal(view->by, TOP_OPS);
	top_view_key(view, TOP_KEY_LEFT);
	assert_int_equal(view->by, TOP_IN);
	keys(view, "P<");
	assert_int_equal(view->by, TOP_PID);
	keys(view, "A>");
	assert_int_equal(view->by, TOP_PEER);
}

/* ---- filtering ---------------------------------------------------------- */

static void a_word_filters_connections(void **state)
{
	struct top_view *view = *state;
	static const char *const words[][2] = {
		{ "rxe", "ac" }, { "bo", "b" }, { "2.3:7", "c" }, { "xyz", "" }, { "", "abc" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		keys(view, "f");
		keys(view, words[i][0]);
		top_view_key(view, TOP_KEY_ENTER);
		expect_order(view, words[i][1]);
	}
}

static void a_number_is_a_whole_pid_or_port(void **state)
{
	struct top_view *view = *state;
	static const char *const numbers[][2] = {
		{ "31000", "a" }, { "310", "" }, { "7", "abc" }, { "192", "" }, { "0", "" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		keys(view, "f");
		keys(view, numbers[i][0]);
		top_view_key(view, TOP_KEY_ENTER);
		expect_order(view, numbers[i][1]);
	}
}

static void device_and_process_filters_match_exactly(void **state)
{
	struct top_view *view = *state;

	view->device = "rxe0";
	expect_order(view, "ac");
	view->process = "300";
	expect_order(view, "c");
	view->process = "alice";
	expect_order(view, "a");
	view->device = "rxe";
	expect_order(view, "");
}

/* ---- other keys ---------------------------------------------------------- */

static void the_delay_can_be_entered(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	keys(view, "d0.55");
	draw(view, &screen, 80, 24);
	assert_non_null(find_line(&screen, "Seconds between updates: 0.55_"));
	screen_free(&screen);
	top_view_key(view, TOP_KEY_BACKSPACE);
	top_view_key(view, TOP_KEY_ENTER);
	assert_int_equal(view->delay_ms, 500);
}

static void an_invalid_delay_is_ignored(void **state)
{
	static const char *const wrong[] = { "x", "0", "-1", "1e9", "nan", "2s" };
	struct top_view *view = *state;
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		keys(view, "d");
		keys(view, wrong[i]);
		top_view_key(view, TOP_KEY_ENTER);
		assert_int_equal(view->delay_ms, 2000);
		assert_non_null(strstr(view->message, "is not a time from 0.1 to 86400 seconds"));
	}
}

static void an_entry_can_be_canceled(void **state)
{
	struct top_view *view = *state;

	keys(view, "fq");
	top_view_key(view, TOP_KEY_BACKSPACE);
	top_view_key(view, TOP_KEY_BACKSPACE);
	keys(view, "bob");
	top_view_key(view, TOP_KEY_ESCAPE);
	assert_false(view->quit);
	expect_order(view, "abc");
}

static void a_long_entry_is_cut(void **state)
{
	struct top_view *view = *state;
	int i;

	keys(view, "f");
	for (i = 0; i < 1000; i++)
		keys(view, "y");
	top_view_key(view, TOP_KEY_ENTER);
	assert_int_equal(strlen(view->word), sizeof(view->word) - 1);
}

static void help_lists_all_keys_and_any_key_ends_it(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	keys(view, "h");
	draw(view, &screen, 80, 24);
	assert_non_null(find_line(&screen, "O I T"));
	assert_non_null(find_line(&screen, "Press any key to return."));
	screen_free(&screen);
	keys(view, "q");
	assert_false(view->quit);
	expect_order(view, "abc");
}

static void q_quits(void **state)
{
	struct top_view *view = *state;

	keys(view, "zZ1!");
	assert_false(view->quit);
	keys(view, "q");
	assert_true(view->quit);
}

static void the_same_key_pauses_and_continues(void **state)
{
	struct top_view *view = *state;

	keys(view, "p");
	assert_true(view->paused);
	keys(view, " ");
	assert_false(view->paused);
}

static void scrolling_stops_at_the_last_row(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	/* The title, three lines of devices, the message and the head leave two rows. */
	draw(view, &screen, 80, 8);
	assert_true(has_line(&screen, "alice") && !has_line(&screen, "carol"));
	screen_free(&screen);
	top_view_key(view, TOP_KEY_PAGE_DOWN);
	draw(view, &screen, 80, 8);
	assert_true(!has_line(&screen, "alice") && has_line(&screen, "carol"));
	screen_free(&screen);
	top_view_key(view, TOP_KEY_HOME);
	assert_int_equal(view->first, 0);
	top_view_key(view, TOP_KEY_END);
	assert_int_equal(view->first, 1);
	top_view_key(view, TOP_KEY_UP);
	top_view_key(view, TOP_KEY_UP);
	assert_int_equal(view->first, 0);
}

static void fewer_rows_scroll_back(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	draw(view, &screen, 80, 8);
	screen_free(&screen);
	top_view_key(view, TOP_KEY_END);
	look(view, 54, A "\n");
	draw(view, &screen, 80, 8);
	assert_true(has_line(&screen, "alice"));
	screen_free(&screen);
}

static void without_room_nothing_is_scrolled(void **state)
{
	struct top_view *view = *state;
	struct screen screen;

	draw(view, &screen, 80, 2);
	screen_free(&screen);
	top_view_key(view, TOP_KEY_PAGE_DOWN);
	top_view_key(view, TOP_KEY_PAGE_UP);
	assert_int_equal(view->first, 0);
}

#define top_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		top_test(eighty_columns_show_the_important_columns),
		top_test(rates_are_bytes_and_operations_per_second),
		top_test(devices_have_rates_and_retries_of_their_own),
		top_test(the_title_shows_order_and_time),
		top_test(rates_need_two_samples),
		top_test(two_hundred_columns_show_everything),
		top_test(any_screen_size_works),
		top_test(columns_do_not_jump_when_numbers_shrink),
		top_test(without_connections_the_head_is_still_drawn),
		top_test(an_unloaded_module_is_reported_and_may_return),
		top_test(the_busiest_connection_is_first),
		top_test(letters_select_the_order),
		top_test(reversing_inverts_the_order),
		top_test(arrows_sort_by_the_adjacent_column),
		top_test(a_word_filters_connections),
		top_test(a_number_is_a_whole_pid_or_port),
		top_test(device_and_process_filters_match_exactly),
		top_test(the_delay_can_be_entered),
		top_test(an_invalid_delay_is_ignored),
		top_test(an_entry_can_be_canceled),
		top_test(a_long_entry_is_cut),
		top_test(help_lists_all_keys_and_any_key_ends_it),
		top_test(q_quits),
		top_test(the_same_key_pauses_and_continues),
		top_test(scrolling_stops_at_the_last_row),
		top_test(fewer_rows_scroll_back),
		top_test(without_room_nothing_is_scrolled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
