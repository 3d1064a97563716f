// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Compares the histogram with all samples, sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/hist.h"
#include "cli/util.h"

#define SAMPLES 100000

static uint64_t samples[SAMPLES];

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static struct hist *fill(unsigned int n, uint64_t (*next)(unsigned int i))
{
	struct hist *h = calloc(1, sizeof(*h));
	unsigned int i;

	assert_non_null(h);
	for (i = 0; i < n; i++) {
		samples[i] = next(i);
		hist_add(h, samples[i]);
	}
	qsort(samples, n, sizeof(samples[0]), by_size);
	return h;
}

/* The percentile is the sorted sample at @rank, or above it by at most the width of a bucket. */
static void check_rank(const struct hist *h, double percent, unsigned int rank)
{
	uint64_t exact = samples[rank - 1], got = hist_percentile(h, percent);

	assert_true(got >= exact);
	assert_true(got - exact <= exact / HIST_STEPS);
}

static uint64_t seed;

/* All octaves are equally likely, up to 2^39 ns. */
static uint64_t any(unsigned int i)
{
	(void)i;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 24) >> ((seed >> 10) % 40);
}

static void percentiles_are_those_of_the_sorted_samples(void **state)
{
	struct hist *h;

	(void)state;
	seed = 1;
	h = fill(SAMPLES, any);
	check_rank(h, 50, SAMPLES / 2);
	check_rank(h, 90, SAMPLES / 10 * 9);
	check_rank(h, 99, SAMPLES / 100 * 99);
	check_rank(h, 99.9, SAMPLES / 1000 * 999);
	check_rank(h, 99.99, SAMPLES / 10000 * 9999);
	free(h);
}

static void extremes_are_exact(void **state)
{
	struct hist *h;

	(void)state;
	seed = 2;
	h = fill(SAMPLES, any);
	assert_int_equal(h->rtt.min, samples[0]);
	assert_int_equal(h->rtt.max, samples[SAMPLES - 1]);
	assert_int_equal(hist_percentile(h, 100), samples[SAMPLES - 1]);
	free(h);
}

static uint64_t one_more(unsigned int i)
{
	return i + 1;
}

/* A fractional rank is rounded up, a whole one is kept. */
static void few_samples_have_exact_percentiles(void **state)
{
	struct hist *h = fill(100, one_more);

	(void)state;
	assert_int_equal(hist_percentile(h, 50), 50);
	assert_int_equal(hist_percentile(h, 90), 90);
	assert_int_equal(hist_percentile(h, 99), 99);
	assert_int_equal(hist_percentile(h, 99.9), 100);
	assert_int_equal(hist_percentile(h, 0.001), 1);
	free(h);
}

static uint64_t flat(unsigned int i)
{
	return i % 2 ? 1000000100 : 1000000101;
}

/* Squaring must not lose half a nanosecond next to a second. */
static void the_deviation_has_a_fraction(void **state)
{
	struct hist *h = fill(SAMPLES, flat);

	(void)state;
	assert_true(h->rtt.mean > 1000000100.49 && h->rtt.mean < 1000000100.51);
	assert_true(rtt_mdev(&h->rtt) > 0.49 && rtt_mdev(&h->rtt) < 0.51);
	free(h);
}

static uint64_t beyond(unsigned int i)
{
	return i ? 5 : 1ull << 45;
}

static void a_value_beyond_the_buckets_is_still_the_maximum(void **state)
{
	struct hist *h = fill(10, beyond);

	(void)state;
	assert_int_equal(h->rtt.max, 1ull << 45);
	assert_int_equal(hist_percentile(h, 99), 1ull << 45);
	assert_int_equal(hist_percentile(h, 90), 5);
	free(h);
}

static void without_samples_percentiles_are_zero(void **state)
{
	struct hist *h = fill(0, one_more);

	(void)state;
	assert_int_equal(hist_percentile(h, 50), 0);
	assert_true(rtt_mdev(&h->rtt) == 0);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_those_of_the_sorted_samples),
		cmocka_unit_test(extremes_are_exact),
		cmocka_unit_test(few_samples_have_exact_percentiles),
		cmocka_unit_test(the_deviation_has_a_fraction),
		cmocka_unit_test(a_value_beyond_the_buckets_is_still_the_maximum),
		cmocka_unit_test(without_samples_percentiles_are_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
