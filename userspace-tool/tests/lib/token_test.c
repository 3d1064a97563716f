// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tokens survive packing, and malformed tokens are refused. */
#include <stdlib.h>

#include "t.h"

#define HEAD 24u
#define SEG 20u

/* Two segments of 0x30 bytes, write only. */
static const uint8_t golden[HEAD + 2 * SEG] = {
	'k', 'v', 't', 1,	0, 0, 0, 2,
	0, 0, 0, 0, 0, 0, 0, 0x30,
	0, 0, 0, 2,		0, 0, 0, 0,

	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0, 0, 0, 0, 0, 0, 0, 0x10,
	0xa1, 0xb2, 0xc3, 0xd4,

	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0x20,
	0, 0, 0, 1,
};

static void assert_refused(const uint8_t *p, size_t len)
{
	struct kverbs_token token;
	uint8_t *exact = malloc(len ? len : 1);

	/* A copy of exactly this size lets the sanitizer detect a read beyond its end. */
	assert_non_null(exact);
	memcpy(exact, p, len);
	assert_int_equal(kverbs_token_unpack(&token, exact, len), -EBADMSG);
	assert_null(token.segs);
	assert_int_equal(token.nr_segs, 0);
	free(exact);
}

static void unpacks_the_documented_format(void **state)
{
	struct kverbs_token token;

	(void)state;
	assert_int_equal(kverbs_token_unpack(&token, golden, sizeof(golden)),
			 sizeof(golden));
	assert_int_equal(token.length, 0x30);
	assert_int_equal(token.access, KVERBS_REMOTE_WRITE);
	assert_int_equal(token.nr_segs, 2);
	assert_int_equal(token.id, 0);
	assert_int_equal(token.segs[0].addr, 0x0102030405060708);
	assert_int_equal(token.segs[0].length, 0x10);
	assert_int_equal(token.segs[0].rkey, 0xa1b2c3d4);
	assert_int_equal(token.segs[1].addr, 0);
	assert_int_equal(token.segs[1].length, 0x20);
	assert_int_equal(token.segs[1].rkey, 1);
	kverbs_token_free(&token);
	assert_null(token.segs);
}

static void packs_the_documented_format(void **state)
{
	struct kverbs_token token;
	uint8_t out[sizeof(golden)];

	(void)state;
	assert_int_equal(kverbs_token_unpack(&token, golden, sizeof(golden)),
			 sizeof(golden));
	token.id = 99;	/* the id is not packed */
	assert_int_equal(kverbs_token_packed_size(&token), sizeof(golden));
	assert_int_equal(kverbs_token_pack(&token, out, sizeof(out)), sizeof(golden));
	assert_memory_equal(out, golden, sizeof(golden));
	kverbs_token_free(&token);
}

static void works_at_any_alignment(void **state)
{
	uint8_t *p = malloc(sizeof(golden) + 1);
	struct kverbs_token token;

	(void)state;
	assert_non_null(p);
	memcpy(p + 1, golden, sizeof(golden));
	assert_int_equal(kverbs_token_unpack(&token, p + 1, sizeof(golden)),
			 sizeof(golden));
	assert_int_equal(kverbs_token_pack(&token, p + 1, sizeof(golden)),
			 sizeof(golden));
	kverbs_token_free(&token);
	free(p);
}

static void leaves_following_bytes_unchanged(void **state)
{
	uint8_t more[sizeof(golden) + 7];
	struct kverbs_token token;

	(void)state;
	memset(more, 0xff, sizeof(more));
	memcpy(more, golden, sizeof(golden));
	assert_int_equal(kverbs_token_unpack(&token, more, sizeof(more)),
			 sizeof(golden));
	kverbs_token_free(&token);
}

static void packing_into_too_little_room_is_refused(void **state)
{
	struct kverbs_token token = t_token(3, 4096);
	uint8_t out[HEAD + 3 * SEG];
	size_t len;

	(void)state;
	memset(out, 0xee, sizeof(out));
	for (len = 0; len < sizeof(out); len++)
		assert_int_equal(kverbs_token_pack(&token, out, len), -EMSGSIZE);
	assert_int_equal(out[0], 0xee);
	assert_int_equal(kverbs_token_pack(&token, out, len), len);
	kverbs_token_free(&token);
}

static void packing_too_many_segments_is_refused(void **state)
{
	struct kverbs_token token = { .nr_segs = 1048577 };

	(void)state;
	assert_int_equal(kverbs_token_pack(&token, NULL, SIZE_MAX), -EMSGSIZE);
}

static void every_truncation_is_refused(void **state)
{
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(golden); len++)
		assert_refused(golden, len);
}

struct change { size_t offset; uint8_t value; };

static void every_wrong_field_is_refused(void **state)
{
	static const struct change changes[] = {
		{ 0, 'K' }, { 1, 0 }, { 2, 0xff },	/* magic */
		{ 3, 0 }, { 3, 2 },			/* version */
		{ 7, 0 }, { 7, 8 }, { 4, 0x80 },	/* access */
		{ 15, 0x2f }, { 15, 0x31 }, { 8, 1 },	/* length */
		{ 19, 0 }, { 19, 1 }, { 19, 3 },	/* segments */
		{ 16, 0xff }, { 17, 0x10 },
		{ 20, 1 }, { 23, 1 },			/* reserved */
		{ HEAD + 15, 0 }, { HEAD + 15, 0x11 },	/* the first segment's length */
		{ HEAD + 8, 0xff },
		{ HEAD + SEG + 15, 0 }, { HEAD + SEG + 15, 0x1f },
	};
	uint8_t p[sizeof(golden)];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		memcpy(p, golden, sizeof(p));
		p[changes[i].offset] = changes[i].value;
		assert_refused(p, sizeof(p));
	}
}

static void lengths_that_wrap_around_are_refused(void **state)
{
	uint8_t p[sizeof(golden)];

	(void)state;
	/* 0x10 + (2^64 - 0x10 + 0x30) wraps around to 0x30. */
	memcpy(p, golden, sizeof(p));
	p[HEAD + 15] = 0x40;
	memset(p + HEAD + SEG + 8, 0xff, 8);
	p[HEAD + SEG + 15] = 0xf0;
	assert_refused(p, sizeof(p));
}

static void addresses_that_wrap_around_are_refused(void **state)
{
	uint8_t p[sizeof(golden)];
	struct kverbs_token token;

	(void)state;
	memcpy(p, golden, sizeof(p));
	memset(p + HEAD, 0xff, 8);
	p[HEAD + 7] = 0xf0;		/* its last byte is at the highest address */
	assert_int_equal(kverbs_token_unpack(&token, p, sizeof(p)), sizeof(p));
	kverbs_token_free(&token);
	p[HEAD + 7] = 0xf1;
	assert_refused(p, sizeof(p));
}

/* A hostile peer can send any bits, so use random bits. */
static void random_bytes_are_refused_or_valid(void **state)
{
	struct kverbs_token token;
	uint8_t p[HEAD + 4 * SEG];
	unsigned int seed = 1, i;
	int ret;

	(void)state;
	for (i = 0; i < 200000; i++) {
		size_t len = (size_t)rand_r(&seed) % sizeof(p), flips;

		memset(p, 0, sizeof(p));
		memcpy(p, golden, sizeof(golden));
		for (flips = (size_t)rand_r(&seed) % 6; flips; flips--)
			p[(size_t)rand_r(&seed) % sizeof(p)] = (uint8_t)rand_r(&seed);
		ret = kverbs_token_unpack(&token, p, len);
		if (ret < 0) {
			assert_int_equal(ret, -EBADMSG);
			continue;
		}
		assert_in_range(ret, HEAD + SEG, len);
		assert_int_equal(kverbs_token_packed_size(&token), ret);
		kverbs_token_free(&token);
	}
}

static void a_huge_count_allocates_nothing(void **state)
{
	struct kverbs_token token;
	uint8_t p[sizeof(golden)];

	(void)state;
	fake_reset();
	memcpy(p, golden, sizeof(p));
	p[17] = 0x10;
	p[19] = 0;		/* the largest number of segments */
	/* An attempt to allocate would fail with ENOMEM. */
	fake_fail_nth(1);
	assert_int_equal(kverbs_token_unpack(&token, p, sizeof(p)), -EBADMSG);
	assert_false(fake_fail_nth_hit());
	fake_fail_nth(0);
}

static void a_failed_allocation_gives_enomem(void **state)
{
	struct kverbs_token token;

	(void)state;
	fake_reset();
	fake_fail_nth(1);
	assert_int_equal(kverbs_token_unpack(&token, golden, sizeof(golden)), -ENOMEM);
	assert_null(token.segs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacks_the_documented_format),
		cmocka_unit_test(packs_the_documented_format),
		cmocka_unit_test(works_at_any_alignment),
		cmocka_unit_test(leaves_following_bytes_unchanged),
		cmocka_unit_test(packing_into_too_little_room_is_refused),
		cmocka_unit_test(packing_too_many_segments_is_refused),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_wrong_field_is_refused),
		cmocka_unit_test(lengths_that_wrap_around_are_refused),
		cmocka_unit_test(addresses_that_wrap_around_are_refused),
		cmocka_unit_test(random_bytes_are_refused_or_valid),
		cmocka_unit_test(a_huge_count_allocates_nothing),
		cmocka_unit_test(a_failed_allocation_gives_enomem),
	};

	return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}
