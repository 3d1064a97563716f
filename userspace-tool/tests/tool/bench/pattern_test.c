// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A payload pattern that identifies its operation: verification detects each wrong byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/pattern.h"

#define SIZE 67

static void a_filled_buffer_does_not_differ(void **state)
{
	uint8_t mem[SIZE + 1];
	size_t size;

	(void)state;
	for (size = 0; size <= SIZE; size++) {
		mem[size] = 0xa5;
		pattern_fill(mem, size, size * 1000);
		assert_int_equal(mem[size], 0xa5);
		assert_false(pattern_differs(mem, size, size * 1000));
	}
}

static void every_changed_bit_is_noticed(void **state)
{
	uint8_t mem[SIZE];
	unsigned int bit;

	(void)state;
	pattern_fill(mem, SIZE, 42);
	for (bit = 0; bit < 8 * SIZE; bit++) {
		mem[bit / 8] ^= 1 << bit % 8;
		assert_true(pattern_differs(mem, SIZE, 42));
		mem[bit / 8] ^= 1 << bit % 8;
	}
	assert_false(pattern_differs(mem, SIZE, 42));
}

/* For any depth of the queue, the pattern of the slot's previous operation differs. */
static void the_pattern_of_another_operation_differs_in_every_byte(void **state)
{
	unsigned int ahead;
	uint8_t mem;

	(void)state;
	pattern_fill(&mem, 1, 1000);
	for (ahead = 1; ahead <= 250; ahead++)
		assert_true(pattern_differs(&mem, 1, 1000 + ahead));
	assert_true(pattern_differs(&mem, 1, 1000 + 256));
	assert_true(pattern_differs(&mem, 1, 1000 + 512));
}

static void the_pattern_does_not_depend_on_the_host(void **state)
{
	uint8_t mem[9];

	(void)state;
	pattern_fill(mem, sizeof(mem), 7);
	assert_int_equal(mem[0], 7);
	assert_int_equal(mem[8], 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filled_buffer_does_not_differ),
		cmocka_unit_test(every_changed_bit_is_noticed),
		cmocka_unit_test(the_pattern_of_another_operation_differs_in_every_byte),
		cmocka_unit_test(the_pattern_does_not_depend_on_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
