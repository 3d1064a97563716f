// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When measured seconds are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/field.h"

#define MS 1000000ull

static unsigned int told;

static void tick(struct field *f)
{
	(void)f;
	told++;
}

static struct field begun(void)
{
	struct field f = { .counts = true, .tick = tick, .start = 5000 * MS };

	field_restart_ticks(&f, f.start);
	told = 0;
	return f;
}

static void each_second_is_reported_when_it_is_over(void **state)
{
	struct field f = begun();

	(void)state;
	field_maybe_tick(&f, 5999 * MS);
	assert_int_equal(told, 0);
	field_maybe_tick(&f, 6000 * MS);
	field_maybe_tick(&f, 6001 * MS);
	assert_int_equal(told, 1);
	assert_int_equal(f.tick_ns, 1000 * MS);
}

/* After a pause the whole time is reported as one period of its real length. */
static void a_late_report_covers_all_of_its_time(void **state)
{
	struct field f = begun();

	(void)state;
	field_maybe_tick(&f, 7500 * MS);
	field_maybe_tick(&f, 7999 * MS);
	assert_int_equal(told, 1);
	assert_int_equal(f.tick_ns, 2500 * MS);
	field_maybe_tick(&f, 8000 * MS);
	assert_int_equal(told, 2);
	assert_int_equal(f.tick_ns, 500 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_second_is_reported_when_it_is_over),
		cmocka_unit_test(a_late_report_covers_all_of_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
