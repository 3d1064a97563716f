// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of the host, from lines of /proc/stat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/host.h"

static struct host_work parsed(const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	struct host_work w;

	assert_non_null(f);
	host_parse(f, 100, &w);
	fclose(f);
	return w;
}

static void idle_and_stolen_time_are_not_busy(void **state)
{
	struct host_work w = parsed("cpu  1 20 300 5000 60000 4 50 700000 8 9\n"
				    "cpu0 9 9 9 9 9 9 9 9 9 9\n"
				    "intr 1234 1 2 3\nctxt 5678\nbtime 1\n");

	(void)state;
	assert_int_equal(w.cpu_ns, 375 * 10000000ull);
	assert_int_equal(w.interrupts, 1234);
	assert_int_equal(w.switches, 5678);
}

/* As long as on a large host. */
static void a_line_may_be_very_long(void **state)
{
	char text[4096] = "intr 77";
	struct host_work w;
	unsigned int i;

	(void)state;
	for (i = 0; i < 1500; i++)
		strcat(text, " 0");
	strcat(text, "\nctxt 5\n");
	w = parsed(text);
	assert_int_equal(w.interrupts, 77);
	assert_int_equal(w.switches, 5);
}

static void missing_counters_are_zero(void **state)
{
	struct host_work w = parsed("cpu  1 2 3\nintr\n");

	(void)state;
	assert_int_equal(w.cpu_ns, 0);
	assert_int_equal(w.interrupts, 0);
	assert_int_equal(w.switches, 0);
}

static void counters_of_this_host_are_not_zero(void **state)
{
	struct host_work w;

	(void)state;
	host_read(&w);
	assert_true(w.cpu_ns > 0);
	assert_true(w.interrupts > 0);
	assert_true(w.switches > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_and_stolen_time_are_not_busy),
		cmocka_unit_test(a_line_may_be_very_long),
		cmocka_unit_test(missing_counters_are_zero),
		cmocka_unit_test(counters_of_this_host_are_not_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
