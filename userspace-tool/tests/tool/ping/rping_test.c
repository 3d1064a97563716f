// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rping's protocol: the message that names memory, and the text. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ping/rping.h"

static const uint8_t golden[RPING_INFO_LEN] = {
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0xa1, 0xb2, 0xc3, 0xd4,
	0x00, 0x01, 0x00, 0x02,
};

static void info_has_its_fields_where_rping_has_them(void **state)
{
	const struct rping_info info = {
		.addr = 0x0102030405060708, .rkey = 0xa1b2c3d4, .size = 0x10002,
	};
	uint8_t buf[RPING_INFO_LEN];
	struct rping_info back;

	(void)state;
	rping_info_encode(&info, buf);
	assert_memory_equal(buf, golden, sizeof(golden));
	assert_int_equal(rping_info_decode(&back, golden, sizeof(golden)), 0);
	assert_int_equal(back.addr, info.addr);
	assert_int_equal(back.rkey, info.rkey);
	assert_int_equal(back.size, info.size);
}

static void info_of_another_length_is_refused(void **state)
{
	struct rping_info info;
	uint8_t *p;
	size_t len;

	(void)state;
	for (len = 0; len <= 2 * sizeof(golden); len++) {
		/* Exactly as long as the text, for the sanitizer. */
		p = calloc(1, len ? len : 1);
		assert_non_null(p);
		memcpy(p, golden, len < sizeof(golden) ? len : sizeof(golden));
		assert_int_equal(rping_info_decode(&info, p, len),
				 len == sizeof(golden) ? 0 : -EBADMSG);
		free(p);
	}
}

static void check_range(uint64_t addr, uint32_t size, int want)
{
	const struct rping_info info = { .addr = addr, .size = size };
	uint8_t buf[RPING_INFO_LEN];
	struct rping_info back;

	rping_info_encode(&info, buf);
	assert_int_equal(rping_info_decode(&back, buf, sizeof(buf)), want);
}

static void info_of_an_invalid_range_is_refused(void **state)
{
	(void)state;
	check_range(0, 1, 0);
	check_range(0, UINT32_MAX, 0);
	check_range(0, 0, -EBADMSG);
	check_range(UINT64_MAX, 1, 0);
	check_range(UINT64_MAX, 2, -EBADMSG);
	check_range(UINT64_MAX - UINT32_MAX + 1, UINT32_MAX, 0);
	check_range(UINT64_MAX - UINT32_MAX + 2, UINT32_MAX, -EBADMSG);
}

static void check_text(uint64_t ping, const char *want)
{
	size_t size = strlen(want) + 1;
	char buf[RPING_SIZE_MAX];

	rping_text_fill(buf, size, ping);
	assert_string_equal(buf, want);
	assert_false(rping_text_differs(buf, size, ping));
}

/* The text that rping -v prints. */
static void text_is_what_rping_sends(void **state)
{
	(void)state;
	check_text(0, "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzA");
	check_text(1, "rdma-ping-1: BCDEFGHIJK");
	check_text(57, "rdma-ping-57: zABCDEFGHI");
	check_text(58, "rdma-ping-58: ABCDEFGHIJ");
	check_text(59, "rdma-ping-59: BCDEFGHIJ");
	check_text(1000, "rdma-ping-1000: OPQRST");
}

static void text_fits_at_any_number(void **state)
{
	char buf[RPING_SIZE_MIN];

	(void)state;
	rping_text_fill(buf, sizeof(buf), INT_MAX);
	assert_string_equal(buf, "rdma-ping-2147483647: ");
	rping_text_fill(buf, sizeof(buf), (uint64_t)INT_MAX + 1);
	assert_memory_equal(buf, "rdma-ping-0: ", 13);
}

/* rping writes back strlen() bytes. */
static void text_ends_at_its_end_only(void **state)
{
	char buf[RPING_SIZE_MAX];
	uint64_t ping;

	(void)state;
	for (ping = 0; ping < 200; ping++) {
		rping_text_fill(buf, sizeof(buf), ping);
		assert_int_equal(strlen(buf), sizeof(buf) - 1);
	}
}

static void a_difference_in_any_byte_is_found(void **state)
{
	char buf[100];
	size_t i, bit;

	(void)state;
	rping_text_fill(buf, sizeof(buf), 7);
	for (i = 0; i < sizeof(buf); i++) {
		for (bit = 0; bit < 8; bit++) {
			buf[i] ^= 1 << bit;
			assert_true(rping_text_differs(buf, sizeof(buf), 7));
			buf[i] ^= 1 << bit;
		}
	}
	assert_false(rping_text_differs(buf, sizeof(buf), 7));
	assert_true(rping_text_differs(buf, sizeof(buf), 8));
	assert_true(rping_text_differs(buf, sizeof(buf) - 1, 7));
}

/* A peer may request fewer bytes than rping would. */
static void short_texts_stay_in_bounds(void **state)
{
	size_t size;
	char *p;

	(void)state;
	for (size = 1; size < RPING_SIZE_MIN; size++) {
		p = malloc(size);
		assert_non_null(p);
		rping_text_fill(p, size, 123);
		assert_int_equal(strlen(p), size - 1);
		assert_false(rping_text_differs(p, size, 123));
		free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_has_its_fields_where_rping_has_them),
		cmocka_unit_test(info_of_another_length_is_refused),
		cmocka_unit_test(info_of_an_invalid_range_is_refused),
		cmocka_unit_test(text_is_what_rping_sends),
		cmocka_unit_test(text_fits_at_any_number),
		cmocka_unit_test(text_ends_at_its_end_only),
		cmocka_unit_test(a_difference_in_any_byte_is_found),
		cmocka_unit_test(short_texts_stay_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
