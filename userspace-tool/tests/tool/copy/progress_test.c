// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Output for people: units, the progress bar, statistics of round trips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/hist.h"
#include "cli/units.h"
#include "cli/util.h"
#include "copy/progress.h"
#include "copy/report.h"

static void check_bytes(uint64_t n, const char *want)
{
	char buf[UNITS_LEN];

	assert_string_equal(units_bytes(n, buf, sizeof(buf)), want);
}

static void bytes_are_decimal(void **state)
{
	(void)state;
	check_bytes(0, "0 B");
	check_bytes(999, "999 B");
	check_bytes(1000, "1.0 kB");
	check_bytes(999949, "999.9 kB");
	check_bytes(999999, "1.0 MB");
	check_bytes(300000000, "300.0 MB");
	check_bytes(UINT64_MAX, "18.4 EB");
}

static void check_time(double s, const char *want)
{
	char buf[UNITS_LEN];

	assert_string_equal(units_time(s, buf, sizeof(buf)), want);
}

static void times_are_clocks(void **state)
{
	(void)state;
	check_time(0, "00:00");
	check_time(59.6, "01:00");
	check_time(3599, "59:59");
	check_time(3600, "1:00:00");
	check_time(-1, "--:--");
	check_time(1e30, "--:--");
	check_time(0.0 / 0.0, "--:--");
}

static struct progress half_way(void)
{
	struct progress p = {
		.total = 2000000, .done = 1000000, .start = 10, .name = "file.bin",
	};

	return p;
}

static void bar_shows_how_far_it_is(void **state)
{
	struct progress p = half_way();
	char line[512];
	size_t len = progress_format(&p, 12, 80, line, sizeof(line));

	(void)state;
	assert_int_equal(len, strlen(line));
	assert_memory_equal(line, "file.bin ", 9);
	assert_non_null(strstr(line, " 50%"));
	assert_non_null(strstr(line, "1.0 MB"));
	assert_non_null(strstr(line, "500.0 kB/s"));
	assert_non_null(strstr(line, "00:02"));
	p = half_way();
	p.done = p.total;
	progress_format(&p, 12, 120, line, sizeof(line));
	assert_non_null(strstr(line, "100%"));
	assert_non_null(strstr(line, "##]"));
	assert_null(strstr(line, "# "));
}

static void resumed_bytes_are_no_rate(void **state)
{
	struct progress p = half_way();
	char line[512];

	(void)state;
	p.resumed = 900000;
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_non_null(strstr(line, "50.0 kB/s"));
}

static void total_may_be_unknown(void **state)
{
	struct progress p = half_way();
	char line[512];

	(void)state;
	p.total = 0;
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_null(strstr(line, "%"));
	assert_null(strstr(line, "["));
	assert_non_null(strstr(line, "1.0 MB"));
}

static void a_total_that_grows_is_what_was_found_so_far(void **state)
{
	struct progress p = half_way();
	char line[512];

	(void)state;
	p.growing = true;
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_non_null(strstr(line, "1.0 MB of 2.0 MB+ "));
	assert_null(strstr(line, "%"));
	assert_null(strstr(line, "["));
	progress_more(&p, 500000, true);
	progress_more(&p, 1500000, false);
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_non_null(strstr(line, " 25%"));
}

static size_t columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void line_fits_any_width(void **state)
{
	struct progress p = half_way();
	unsigned int width;
	char line[1024];
	size_t i;

	(void)state;
	for (i = 0; i + 2 < sizeof(p.name); i += 2)
		memcpy(p.name + i, "\xc3\xa9", 2);
	for (width = 1; width < 400; width++) {
		progress_format(&p, 12, width, line, sizeof(line));
		assert_in_range(columns(line), 1, width);
	}
}

static void names_that_are_shown_are_text(void **state)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "a\033[2J\x7f", "a?[2J?" }, { "a\xc2\x9bHz", "a?Hz" },
		{ "\xc3\xa9", "\xc3\xa9" }, { "\x9bHz", "?Hz" },
		{ "a\xe2\x80\xaez", "a?z" }, { "a\xe2\x81\xa7z", "a?z" },
		{ "\xe2\x82\xac", "\xe2\x82\xac" }, { "a\xc2", "a?" },
	};
	struct progress p = { .on = false };
	unsigned int i;
	char buf[64];

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		report_clean(buf, sizeof(buf), cases[i].name);
		assert_string_equal(buf, cases[i].want);
		progress_name(&p, cases[i].name);
		assert_string_equal(p.name, cases[i].want);
	}
}

/* A file may have grown since it was counted. */
static void more_than_all_is_all(void **state)
{
	struct progress p = half_way();
	char line[512];

	(void)state;
	p.done = 2 * p.total;
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_non_null(strstr(line, "100%"));
	assert_non_null(strstr(line, "00:00"));
}

static void names_do_not_command_the_terminal(void **state)
{
	struct progress p = half_way();
	char line[512];

	(void)state;
	memcpy(p.name, "a\033[2Jb", 7);
	progress_format(&p, 12, 80, line, sizeof(line));
	assert_memory_equal(line, "a?[2Jb", 6);
}

static void round_trips_have_statistics(void **state)
{
	struct rtt rtt = { 0 };

	(void)state;
	assert_true(rtt_mdev(&rtt) == 0);
	rtt_add(&rtt, 0.001);
	assert_true(rtt_mdev(&rtt) * 1e9 < 1);
	rtt_add(&rtt, 0.003);
	assert_int_equal(rtt.count, 2);
	assert_true(rtt.min == 0.001 && rtt.max == 0.003);
	assert_true(rtt.mean > 0.00199999 && rtt.mean < 0.00200001);
	assert_true(rtt_mdev(&rtt) > 0.00099999 && rtt_mdev(&rtt) < 0.00100001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_decimal),
		cmocka_unit_test(times_are_clocks),
		cmocka_unit_test(bar_shows_how_far_it_is),
		cmocka_unit_test(resumed_bytes_are_no_rate),
		cmocka_unit_test(total_may_be_unknown),
		cmocka_unit_test(a_total_that_grows_is_what_was_found_so_far),
		cmocka_unit_test(line_fits_any_width),
		cmocka_unit_test(names_that_are_shown_are_text),
		cmocka_unit_test(more_than_all_is_all),
		cmocka_unit_test(names_do_not_command_the_terminal),
		cmocka_unit_test(round_trips_have_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
