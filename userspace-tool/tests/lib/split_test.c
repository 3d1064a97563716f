// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Transfers are split at the ends of segments, and nowhere else. */
#include <stdlib.h>

#include "split.h"
#include "t.h"

static void assert_entry(struct kverbs_split *s, uint64_t offset, uint64_t length,
			 uint64_t addr, uint32_t rkey)
{
	struct kverbs_sqe sqe = { 0 };

	assert_true(kverbs_split_next(s, &sqe));
	assert_int_equal(sqe.offset, offset);
	assert_int_equal(sqe.length, length);
	assert_int_equal(sqe.remote_addr, addr);
	assert_int_equal(sqe.rkey, rkey);
}

static void assert_ended(struct kverbs_split *s)
{
	struct kverbs_sqe sqe;

	assert_true(s->ended);
	assert_false(kverbs_split_next(s, &sqe));
	assert_int_equal(kverbs_split_count(s), 0);
}

static void an_operation_within_one_segment_is_one_entry(void **state)
{
	struct kverbs_token token = t_token(3, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 7, 50, &token, 110), 0);
	assert_int_equal(kverbs_split_count(&s), 1);
	assert_entry(&s, 7, 50, 8192 + 10, 0x101);
	assert_ended(&s);
	kverbs_token_free(&token);
}

static void an_operation_is_cut_at_segment_ends(void **state)
{
	struct kverbs_token token = t_token(3, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 1000, 220, &token, 60), 0);
	assert_int_equal(kverbs_split_count(&s), 3);
	assert_entry(&s, 1000, 40, 4096 + 60, 0x100);
	assert_entry(&s, 1040, 100, 8192, 0x101);
	assert_entry(&s, 1140, 80, 12288, 0x102);
	assert_ended(&s);
	kverbs_token_free(&token);
}

static void an_operation_that_ends_at_a_boundary_has_no_empty_entry(void **state)
{
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 0, 100, &token, 0), 0);
	assert_entry(&s, 0, 100, 4096, 0x100);
	assert_ended(&s);
	assert_int_equal(kverbs_split_init(&s, 0, 100, &token, 100), 0);
	assert_entry(&s, 0, 100, 8192, 0x101);
	assert_ended(&s);
	kverbs_token_free(&token);
}

static void an_operation_is_cut_at_the_limit_of_an_entry(void **state)
{
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 0, 150, &token, 50), 0);
	s.max = 40;
	assert_entry(&s, 0, 40, 4096 + 50, 0x100);
	assert_entry(&s, 40, 10, 4096 + 90, 0x100);
	assert_entry(&s, 50, 40, 8192, 0x101);
	assert_entry(&s, 90, 40, 8192 + 40, 0x101);
	assert_entry(&s, 130, 20, 8192 + 80, 0x101);
	assert_ended(&s);
	kverbs_token_free(&token);
}

static void an_empty_operation_is_one_empty_entry(void **state)
{
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 5, 0, &token, 150), 0);
	assert_entry(&s, 0, 0, 8192 + 50, 0x101);
	assert_ended(&s);
	/* This also holds at the very end, and without a remote side. */
	assert_int_equal(kverbs_split_init(&s, 5, 0, &token, 200), 0);
	assert_entry(&s, 0, 0, 8192 + 100, 0x101);
	assert_ended(&s);
	assert_int_equal(kverbs_split_init(&s, 0, 0, NULL, 0), 0);
	assert_entry(&s, 0, 0, 0, 0);
	assert_ended(&s);
	kverbs_token_free(&token);
}

static void a_message_is_never_cut(void **state)
{
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 3, UINT64_MAX - 3, NULL, 0), 0);
	assert_entry(&s, 3, UINT64_MAX - 3, 0, 0);
	assert_ended(&s);
}

static void a_range_outside_of_the_token_is_refused(void **state)
{
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_split s;

	(void)state;
	assert_int_equal(kverbs_split_init(&s, 0, 201, &token, 0), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, 1, &token, 200), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, 0, &token, 201), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, UINT64_MAX, &token, 2), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, 2, &token, UINT64_MAX), -ERANGE);
	kverbs_token_free(&token);
}

static void tokens_with_a_wrong_length_are_refused(void **state)
{
	struct kverbs_token token = t_token(2, 100), none = { .length = 8 };
	struct kverbs_split s;

	(void)state;
	token.length = 300;
	assert_int_equal(kverbs_split_init(&s, 0, 200, &token, 0), 0);
	assert_int_equal(kverbs_split_init(&s, 0, 201, &token, 0), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, 1, &token, 250), -ERANGE);
	assert_int_equal(kverbs_split_init(&s, 0, 1, &none, 0), -ERANGE);
	kverbs_token_free(&token);
}

/* Wherever it is split, the same bytes move in order, each once. */
static void lengths_of_pieces_add_up(void **state)
{
	struct kverbs_token token = t_token(7, 0);
	struct kverbs_split s;
	unsigned int seed = 7, round, i;

	(void)state;
	for (round = 0; round < 2000; round++) {
		uint64_t at = 0, len, off, n = 0;

		for (token.length = 0, i = 0; i < 7; i++) {
			token.segs[i].addr = token.length;
			token.segs[i].length = 1 + (uint64_t)rand_r(&seed) % 99;
			token.length += token.segs[i].length;
		}
		off = (uint64_t)rand_r(&seed) % token.length;
		len = 1 + (uint64_t)rand_r(&seed) % (token.length - off);
		assert_int_equal(kverbs_split_init(&s, 0, len, &token, off), 0);
		s.max = 1 + (uint64_t)rand_r(&seed) % 120;
		for (; !s.ended; n++) {
			struct kverbs_sqe sqe = { 0 };
			uint64_t count = kverbs_split_count(&s);

			assert_true(kverbs_split_next(&s, &sqe));
			assert_int_equal(kverbs_split_count(&s), count - 1);
			assert_int_equal(sqe.offset, at);
			assert_int_equal(sqe.remote_addr, off + at);
			assert_in_range(sqe.length, 1, s.max);
			at += sqe.length;
		}
		assert_int_equal(at, len);
	}
	kverbs_token_free(&token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operation_within_one_segment_is_one_entry),
		cmocka_unit_test(an_operation_is_cut_at_segment_ends),
		cmocka_unit_test(an_operation_that_ends_at_a_boundary_has_no_empty_entry),
		cmocka_unit_test(an_operation_is_cut_at_the_limit_of_an_entry),
		cmocka_unit_test(an_empty_operation_is_one_empty_entry),
		cmocka_unit_test(a_message_is_never_cut),
		cmocka_unit_test(a_range_outside_of_the_token_is_refused),
		cmocka_unit_test(tokens_with_a_wrong_length_are_refused),
		cmocka_unit_test(lengths_of_pieces_add_up),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
