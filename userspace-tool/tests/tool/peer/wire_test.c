// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/util.h"
#include "peer/wire.h"

static const struct wire_msg full = {
	.type = WIRE_FILE,
	.status = 3,
	.id = 0x01020304,
	.window = 0x05060708,
	.offset = 0x0102030405060708,
	.size = 0x1112131415161718,
	.digest = 0xf1f2f3f4f5f6f7f8,
	.flags = 0x21222324,
	.mode = 0x000201ed,
	.mtime = -1,
	.atime = 1700000000,
	.mtime_ns = 999999999,
	.atime_ns = 1,
	.tail = "dir/a b",
	.tail_len = 7,
};

/* ---- private data ------------------------------------------------------- */

static void hello_comes_back(void **state)
{
	struct wire_hello in = { 1, WIRE_SERVICE_FILES, 4168, 64, 3 }, out;
	uint8_t buf[WIRE_HELLO_LEN];

	(void)state;
	assert_int_equal(wire_hello_encode(&in, buf, sizeof(buf)), WIRE_HELLO_LEN);
	assert_int_equal(wire_hello_decode(&out, buf, sizeof(buf)), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	assert_memory_equal(buf, "KVBR\0\1\0\2", 8);
}

static void hello_may_be_padded(void **state)
{
	struct wire_hello in = { 1, WIRE_SERVICE_ECHO, 128, 8, 0 }, out;
	uint8_t buf[196] = { 0 };

	(void)state;
	wire_hello_encode(&in, buf, sizeof(buf));
	assert_int_equal(wire_hello_decode(&out, buf, sizeof(buf)), 0);
	assert_memory_equal(&in, &out, sizeof(in));
}

static void hello_of_a_stranger_is_refused(void **state)
{
	struct wire_hello in = { 1, WIRE_SERVICE_ECHO, 128, 8, 0 }, out;
	uint8_t buf[WIRE_HELLO_LEN];

	(void)state;
	assert_int_equal(wire_hello_encode(&in, buf, WIRE_HELLO_LEN - 1), -EMSGSIZE);
	wire_hello_encode(&in, buf, sizeof(buf));
	assert_int_equal(wire_hello_decode(&out, buf, WIRE_HELLO_LEN - 1), -EBADMSG);
	assert_int_equal(wire_hello_decode(&out, buf, 0), -EBADMSG);
	buf[0] ^= 1;
	assert_int_equal(wire_hello_decode(&out, buf, sizeof(buf)), -EBADMSG);
}

static void check_hello(uint16_t version, uint16_t what, uint32_t msg_max,
			uint32_t depth, int refusal)
{
	struct wire_hello hello = { version, what, msg_max, depth, 0 };

	assert_int_equal(wire_hello_check(&hello), refusal);
}

static void hello_asks_for_what_there_is(void **state)
{
	(void)state;
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, WIRE_HEAD_LEN, 1, 0);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, WIRE_HEAD_LEN + WIRE_ECHO_MAX, 8, 0);
	check_hello(WIRE_VERSION, WIRE_SERVICE_FILES, WIRE_MSG_MAX, WIRE_FILES_DEPTH, 0);
	check_hello(WIRE_VERSION - 1, WIRE_SERVICE_ECHO, 128, 8, WIRE_REFUSED_VERSION);
	check_hello(WIRE_VERSION + 1, WIRE_SERVICE_ECHO, 128, 8, WIRE_REFUSED_VERSION);
	check_hello(WIRE_VERSION, 0, 128, 8, WIRE_REFUSED_SERVICE);
	check_hello(WIRE_VERSION, WIRE_SERVICE_BENCH, WIRE_MSG_MAX, WIRE_BENCH_DEPTH, 0);
	check_hello(WIRE_VERSION, WIRE_SERVICE_LANE, WIRE_MSG_MAX, 1, WIRE_REFUSED_SERVICE);
	check_hello(WIRE_VERSION, 5, 128, 8, WIRE_REFUSED_SERVICE);
}

static void hello_does_not_ask_for_too_much(void **state)
{
	(void)state;
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, 128, 0, WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, 128, WIRE_DEPTH_MAX + 1, WIRE_REFUSED_PARAM);
	/* A service needs this many receives to be accepted. */
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, 128, 128, 0);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, 128, 129, WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, WIRE_HEAD_LEN - 1, 8, WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, UINT32_MAX, 8, WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_ECHO, WIRE_HEAD_LEN + WIRE_ECHO_MAX, 16,
		    WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_FILES, WIRE_MSG_MAX, 8, WIRE_REFUSED_PARAM);
	check_hello(WIRE_VERSION, WIRE_SERVICE_FILES, WIRE_MSG_MAX - 1, WIRE_FILES_DEPTH,
		    WIRE_REFUSED_PARAM);
}

/* ---- messages ------------------------------------------------------------ */

static void message_comes_back(void **state)
{
	uint8_t buf[WIRE_MSG_MAX];
	struct wire_msg out;
	int len;

	(void)state;
	len = wire_encode(&full, buf, sizeof(buf));
	assert_int_equal(len, WIRE_HEAD_LEN + 7);
	assert_int_equal(wire_decode(&out, buf, len), 0);
	assert_int_equal(out.tail_len, 7);
	assert_memory_equal(out.tail, "dir/a b", 7);
	out.tail = full.tail;
	out.extra = full.extra;
	assert_memory_equal(&out, &full, sizeof(out));
}

static void bytes_are_in_network_order(void **state)
{
	uint8_t buf[WIRE_MSG_MAX];

	(void)state;
	wire_encode(&full, buf, sizeof(buf));
	assert_memory_equal(buf, "\0\x17\0\3\0\0\0\x6f\1\2\3\4\5\6\7\x8", 16);
	assert_memory_equal(buf + 16, "\1\2\3\4\5\6\7\x8\x11", 9);
}

static void encoding_needs_room(void **state)
{
	uint8_t buf[WIRE_HEAD_LEN + 6];

	(void)state;
	assert_int_equal(wire_encode(&full, buf, sizeof(buf)), -EMSGSIZE);
}

/* The buffer has exactly the given size, so the sanitizer detects a read beyond it. */
static int decode_exact(const uint8_t *from, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct wire_msg out;
	int ret;

	assert_non_null(copy);
	memcpy(copy, from, len);
	ret = wire_decode(&out, copy, len);
	free(copy);
	return ret;
}

static void every_cut_is_refused(void **state)
{
	uint8_t buf[WIRE_MSG_MAX];
	int len, i;

	(void)state;
	len = wire_encode(&full, buf, sizeof(buf));
	for (i = 0; i < len; i++)
		assert_int_equal(decode_exact(buf, i), -EBADMSG);
	assert_int_equal(decode_exact(buf, len), 0);
	assert_int_equal(decode_exact(buf, len + 1), -EBADMSG);
}

static int decode_changed(const struct wire_msg *msg)
{
	uint8_t buf[WIRE_MSG_MAX + 8];
	int len = wire_encode(msg, buf, sizeof(buf));

	assert_true(len > 0);
	return decode_exact(buf, len);
}

/* An offer to resume has a SHA-256 of what is there, any other READY has none. */
static void an_offer_has_a_digest(void **state)
{
	const uint8_t sha[WIRE_SHA_LEN] = { 1, 2, 3 };
	struct wire_msg in = { .type = WIRE_READY, .id = 1, .size = 1 << 20 }, out;
	uint8_t buf[WIRE_MSG_MAX];
	bool right;
	int len;

	(void)state;
	in.tail = sha;
	for (in.offset = 0; in.offset <= 1 << 20; in.offset += 1 << 20) {
		for (in.tail_len = 0; in.tail_len <= WIRE_SHA_LEN; in.tail_len++) {
			len = wire_encode(&in, buf, sizeof(buf));
			right = in.tail_len == (in.offset ? WIRE_SHA_LEN : 0);
			assert_int_equal(wire_decode(&out, buf, len), right ? 0 : -EBADMSG);
		}
	}
}

static void values_have_bounds(void **state)
{
	struct wire_msg msg = full;

	(void)state;
	msg.offset = 1ull << 63;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg = full;
	msg.size = UINT64_MAX;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg = full;
	msg.mtime_ns = 1000000000;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg = full;
	msg.atime_ns = UINT32_MAX;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
}

static void unknown_types_are_refused(void **state)
{
	struct wire_msg msg = { .type = 0 };
	unsigned int type, known = 0;

	(void)state;
	for (type = 0; type <= UINT16_MAX; type++) {
		msg.type = type;
		if (!wire_type_name(type))
			assert_int_equal(decode_changed(&msg), -EBADMSG);
		else
			known++;
	}
	assert_int_equal(known, 37);
}

static void measurements_have_the_tails_that_they_need(void **state)
{
	static const uint8_t bytes[WIRE_TAIL_MAX + 1];
	struct wire_msg msg = { .type = WIRE_BENCH_SETUP };

	(void)state;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.type = WIRE_BENCH_RESULT;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.type = WIRE_BENCH_TOKEN;
	assert_int_equal(decode_changed(&msg), 0);
	msg.tail = bytes;
	msg.tail_len = 1;
	assert_int_equal(decode_changed(&msg), 0);
	msg.type = WIRE_BENCH_SETUP;
	assert_int_equal(decode_changed(&msg), 0);
	msg.type = WIRE_BENCH_OPEN;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.type = WIRE_BENCH_GO;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
}

static void proofs_have_32_bytes(void **state)
{
	static const uint8_t bytes[33];
	struct wire_msg msg = { .type = WIRE_BIND, .tail = bytes, .tail_len = 32 };

	(void)state;
	assert_int_equal(decode_changed(&msg), 0);
	msg.status = 4;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.tail_len = 0;
	assert_int_equal(decode_changed(&msg), 0);
	msg.status = 0;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	for (msg.tail_len = 31; msg.tail_len <= 33; msg.tail_len += 2)
		assert_int_equal(decode_changed(&msg), -EBADMSG);
}

static void a_message_with_a_key_has_room_for_records(void **state)
{
	struct wire_hello hello = { .msg_max = WIRE_MSG_MAX };

	(void)state;
	assert_int_equal(wire_room(&hello), WIRE_MSG_MAX);
	hello.flags = WIRE_F_KEY;
	assert_int_equal(wire_room(&hello), WIRE_MSG_MAX + 22 + 27);
	hello.msg_max = 16384;
	assert_int_equal(wire_room(&hello), 16384 + 22 + 27);
	hello.msg_max = 16385;
	assert_int_equal(wire_room(&hello), 16385 + 2 * 22 + 27);
	/* A handshake has longer messages than ping may have. */
	hello.msg_max = WIRE_HEAD_LEN;
	assert_int_equal(wire_room(&hello), WIRE_HANDSHAKE_MAX);
}

static void paths_are_paths(void **state)
{
	char longest[WIRE_PATH_MAX + 1];
	struct wire_msg msg = full;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	msg.tail = longest;
	msg.tail_len = WIRE_PATH_MAX;
	assert_int_equal(decode_changed(&msg), 0);
	msg.tail_len = WIRE_PATH_MAX + 1;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.tail = "a\0b";
	msg.tail_len = 3;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.tail_len = 0;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.type = WIRE_PUT;
	assert_int_equal(decode_changed(&msg), 0);
}

static void only_some_have_a_tail(void **state)
{
	struct wire_msg msg = full;

	(void)state;
	msg.type = WIRE_DATA;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
	msg.tail_len = 0;
	assert_int_equal(decode_changed(&msg), 0);
	msg.type = WIRE_GRANT;
	assert_int_equal(decode_changed(&msg), -EBADMSG);
}

/* The extra part is a digest, a link's target, or a name beneath the path. */
static void what_follows_the_path_fits_the_type(void **state)
{
	static const uint8_t bytes[WIRE_TAIL_MAX] = "0123456789abcdef0123456789abcdef";
	static const struct {
		unsigned int type;
		size_t len;
		int want;
	} cases[] = {
		{ WIRE_ASK, 0, 0 }, { WIRE_ASK, WIRE_SHA_LEN, 0 }, { WIRE_ASK, 31, -EBADMSG },
		{ WIRE_LINK, 1, 0 }, { WIRE_LINK, 0, -EBADMSG }, { WIRE_LINK, 33, -EBADMSG },
		{ WIRE_HARD, 32, 0 }, { WIRE_HARD, 0, -EBADMSG }, { WIRE_GET, 0, 0 },
		{ WIRE_GET, 5, 0 }, { WIRE_NODE, 1, -EBADMSG }, { WIRE_PUT, 1, -EBADMSG },
		{ WIRE_FILE, 1, -EBADMSG }, { WIRE_DONE, 1, -EBADMSG },
	};
	struct wire_msg msg = full, out;
	uint8_t buf[WIRE_MSG_MAX];
	unsigned int i;
	int len;

	(void)state;
	msg.extra = bytes;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		msg.type = cases[i].type;
		msg.extra_len = cases[i].len;
		assert_int_equal(decode_changed(&msg), cases[i].want);
	}
	msg.type = WIRE_LINK;
	msg.extra_len = 3;
	len = wire_encode(&msg, buf, sizeof(buf));
	assert_int_equal(wire_decode(&out, buf, len), 0);
	assert_int_equal(out.tail_len, 7);
	assert_memory_equal(out.extra, "012", 3);
	/* Its length is no more than there is. */
	buf[99] = 8;
	assert_int_equal(decode_exact(buf, len), 0);
	buf[99] = 11;
	assert_int_equal(decode_exact(buf, len), -EBADMSG);
	buf[96] = 0xff;
	assert_int_equal(decode_exact(buf, len), -EBADMSG);
}

/* Any input is decoded to something within bounds, or refused. */
static void noise_is_survived(void **state)
{
	uint8_t buf[200];
	uint64_t seed = 88172645463325252ull;
	struct wire_msg out;
	int i, len, taken = 0;
	size_t j;

	(void)state;
	for (i = 0; i < 20000; i++) {
		len = wire_encode(&full, buf, sizeof(buf));
		for (j = 0; j < 3; j++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			buf[seed % len] = seed >> 32;
		}
		if (!wire_decode(&out, buf, len)) {
			assert_ptr_equal(out.tail, buf + WIRE_HEAD_LEN);
			assert_int_equal(out.tail_len + out.extra_len, len - WIRE_HEAD_LEN);
			assert_true(out.size <= INT64_MAX);
			taken++;
		}
	}
	assert_in_range(taken, 1, 19999);
}

static void statuses_are_errnos(void **state)
{
	static const int errs[] = { 0, -EIO, -EPERM, -ENOENT, -ENOSPC, -EBADMSG };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(errs); i++)
		assert_int_equal(wire_errno(wire_status(errs[i])), errs[i]);
	assert_int_equal(wire_status(-EPERM), 2);
	assert_int_equal(wire_errno(wire_status(-ENOTTY)), -EIO);
	assert_int_equal(wire_errno(UINT16_MAX), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_comes_back),
		cmocka_unit_test(hello_may_be_padded),
		cmocka_unit_test(hello_of_a_stranger_is_refused),
		cmocka_unit_test(hello_asks_for_what_there_is),
		cmocka_unit_test(hello_does_not_ask_for_too_much),
		cmocka_unit_test(message_comes_back),
		cmocka_unit_test(bytes_are_in_network_order),
		cmocka_unit_test(encoding_needs_room),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(an_offer_has_a_digest),
		cmocka_unit_test(values_have_bounds),
		cmocka_unit_test(unknown_types_are_refused),
		cmocka_unit_test(measurements_have_the_tails_that_they_need),
		cmocka_unit_test(proofs_have_32_bytes),
		cmocka_unit_test(a_message_with_a_key_has_room_for_records),
		cmocka_unit_test(paths_are_paths),
		cmocka_unit_test(only_some_have_a_tail),
		cmocka_unit_test(what_follows_the_path_fits_the_type),
		cmocka_unit_test(noise_is_survived),
		cmocka_unit_test(statuses_are_errnos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
