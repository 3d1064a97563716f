// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rates of connections and devices, computed from two snapshots. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "snap_text.h"
#include "tmp.h"
#include "watch/rate.h"
#include "watch/snap.h"

#define CONN "file=1 pid=7 type=conn id=1 "

/* Returns the rate of the only connection in the second snapshot. */
static struct rate conn_rate(double seconds, const char *before_text, const char *now_text)
{
	struct snap before = snap_of(1000, before_text), now = snap_of(1000 + seconds, now_text);
	struct rate rate = rate_conn(&now, &before, &now.conns[0]);

	snap_free(&before);
	snap_free(&now);
	return rate;
}

static struct rate device_rate(double seconds, const char *before_text, const char *now_text)
{
	struct snap before = snap_of(1000, before_text), now = snap_of(1000 + seconds, now_text);
	struct rate rate = rate_device(&now, &before, &now.devices[0]);

	snap_free(&before);
	snap_free(&now);
	return rate;
}

static void a_rate_is_the_difference_over_the_measured_time(void **state)
{
	struct rate rate = conn_rate(2.5, CONN "ops=10 errors=1 bytes_out=1000 bytes_in=7\n",
				     CONN "ops=60 errors=6 bytes_out=6000 bytes_in=7\n");

	(void)state;
	assert_float_equal(rate.ops, 20, 0.001);
	assert_float_equal(rate.errors, 2, 0.001);
	assert_float_equal(rate.out, 2000, 0.001);
	assert_float_equal(rate.in, 0, 0.001);
}

static void large_counters_stay_exact(void **state)
{
	struct rate rate = conn_rate(1, CONN "bytes_out=18446744073709551000\n",
				     CONN "bytes_out=18446744073709551600\n");

	(void)state;
	assert_float_equal(rate.out, 600, 0.001);
}

static void a_new_connection_counts_from_zero(void **state)
{
	struct rate rate = conn_rate(2, "file=1 pid=7 type=conn id=9 ops=500\n", CONN "ops=8\n");

	(void)state;
	assert_float_equal(rate.ops, 4, 0.001);
}

/*
 * The file and id are the same, but the connection is another one, since counters never decrease.
 */
static void a_counter_that_decreased_counts_from_zero(void **state)
{
	struct rate rate = conn_rate(2, CONN "ops=500 bytes_in=100\n", CONN "ops=8 bytes_in=300\n");

	(void)state;
	assert_float_equal(rate.ops, 4, 0.001);
	assert_float_equal(rate.in, 150, 0.001);
}

static void two_samples_at_the_same_time_have_no_rate(void **state)
{
	struct rate rate = conn_rate(0, CONN "ops=0\n", CONN "ops=1\n");

	(void)state;
	assert_true(rate.ops < 1e9);
}

static void a_device_includes_ended_connections(void **state)
{
	struct rate rate = device_rate(2, "device=a type=device ops=10 bytes_in=5\n",
				       "device=a type=device ops=30 bytes_in=25\n");

	(void)state;
	assert_float_equal(rate.ops, 10, 0.001);
	assert_float_equal(rate.in, 10, 0.001);
}

/* On a slow host the devices are read much later than the connections. */
static void a_devices_rate_uses_its_own_last_sample(void **state)
{
	struct snap before = snap_of(1000, "device=a type=device ops=10\n");
	struct snap now = snap_of(1002, "device=a type=device ops=30\n");

	(void)state;
	now.devices_at = 1004;
	assert_float_equal(rate_device(&now, &before, &now.devices[0]).ops, 5, 0.001);
	snap_free(&before);
	snap_free(&now);
}

static void retries_of_a_device_count_since_the_last_sample(void **state)
{
	static const char was[] = "device=a type=device retries=7\n";
	static const char is[] = "device=a type=device retries=17\n";

	(void)state;
	assert_float_equal(device_rate(2, was, is).retries, 5, 0.001);
	assert_float_equal(device_rate(2, is, was).retries, 0, 0.001);
	/* The start of the interval is not known for a device that is new or was not readable. */
	assert_float_equal(device_rate(2, "device=b type=device\n", is).retries, 0, 0.001);
	assert_float_equal(device_rate(2, "device=a type=device\n", is).retries, 0, 0.001);
}

/* Create a driver's counters in a directory below sysfs. */
static void make(const struct tmp *tmp, const char *where)
{
	char path[128];
	size_t i;

	for (i = 1; i <= strlen(where); i++) {
		if (where[i] != '/' && where[i])
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, where);
		mkdirat(tmp->fd, path, 0755);
	}
}

static void retries_of_all_ports_are_summed(void **state)
{
	const struct tmp *tmp = *state;

	make(tmp, "rxe0/ports/1/hw_counters");
	make(tmp, "rxe0/ports/2/hw_counters");
	tmp_write(tmp, "rxe0/ports/1/hw_counters/completer_retry_err", "5\n");
	tmp_write(tmp, "rxe0/ports/1/hw_counters/rcvd_rnr_err", "2\n");
	tmp_write(tmp, "rxe0/ports/1/hw_counters/sent_pkts", "1000\n");
	tmp_write(tmp, "rxe0/ports/2/hw_counters/completer_retry_err", "30\n");
	assert_int_equal(retries_read(tmp->path, "rxe0"), 37);
}

static void a_driver_that_counts_none_is_told_from_one_that_had_none(void **state)
{
	const struct tmp *tmp = *state;

	make(tmp, "siw0");
	assert_int_equal(retries_read(tmp->path, "siw0"), -1);
	make(tmp, "siw0/hw_counters");
	tmp_write(tmp, "siw0/hw_counters/retrans_pkts", "0\n");
	assert_int_equal(retries_read(tmp->path, "siw0"), 0);
	assert_int_equal(retries_read(tmp->path, "none"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_the_difference_over_the_measured_time),
		cmocka_unit_test(large_counters_stay_exact),
		cmocka_unit_test(a_new_connection_counts_from_zero),
		cmocka_unit_test(a_counter_that_decreased_counts_from_zero),
		cmocka_unit_test(two_samples_at_the_same_time_have_no_rate),
		cmocka_unit_test(a_device_includes_ended_connections),
		cmocka_unit_test(a_devices_rate_uses_its_own_last_sample),
		cmocka_unit_test(retries_of_a_device_count_since_the_last_sample),
		tmp_test(retries_of_all_ports_are_summed),
		tmp_test(a_driver_that_counts_none_is_told_from_one_that_had_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
