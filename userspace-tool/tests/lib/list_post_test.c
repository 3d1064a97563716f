// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The local buffer of an operation is a list of pieces, which SUBMIT reads. */
#include <stdlib.h>

#include "buf.h"
#include "t.h"

#define MANY (2 * KVERBS_LIST_MAX + 6)

/* Fill in pieces of 1, 2, 3, ... bytes; piece i begins at 256 * i. */
static void fill(struct t *t, struct kverbs_vec *vec, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		vec[i] = (struct kverbs_vec) { t->buf, 256 * i, i + 1 };
}

static uint64_t length_of(const struct kverbs_vec *vec, size_t nr)
{
	uint64_t length = 0;

	while (nr--)
		length += (vec++)->length;
	return length;
}

static void complete_all(void)
{
	while (fake_pending())
		fake_complete(0, 0);
}

/* Check that pending entry @n is the list @vec. */
static void check_list(unsigned int n, const struct kverbs_vec *vec, unsigned int nr)
{
	struct kverbs_sqe sqe = fake_entry(n);
	unsigned int i;

	assert_true(sqe.flags & KVERBS_SQE_LIST);
	assert_int_equal(sqe.piece_stride, sizeof(struct kverbs_piece));
	assert_int_equal(sqe.region_id, 0);
	assert_int_equal(sqe.length, nr);
	for (i = 0; i < nr; i++) {
		struct kverbs_piece piece = fake_piece(n, i);

		assert_int_equal(piece.region_id, vec[i].buf->id);
		assert_int_equal(piece.offset, vec[i].offset);
		assert_int_equal(piece.length, vec[i].length);
	}
}

/* ---- one entry --------------------------------------------------------------------- */

static void each_operation_but_an_atomic_takes_a_list(void **state)
{
	static const unsigned int opcodes[] = {
		KVERBS_OP_SEND, KVERBS_OP_RECV, KVERBS_OP_WRITE, KVERBS_OP_WRITE_IMM,
		KVERBS_OP_READ, KVERBS_OP_SEND_IMM, KVERBS_OP_SEND_INV,
	};
	struct t *t = *state;
	struct kverbs_token token = t_token(1, 1000);
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec[3];
	struct kverbs_op op = {
		.token = &token, .remote_offset = 8, .req = &req, .vec = vec, .nr_vec = 3,
	};
	unsigned int i;

	fill(t, vec, 3);
	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		op.opcode = opcodes[i];
		assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
		assert_int_equal(fake_entry(0).opcode, opcodes[i]);
		check_list(0, vec, 3);
		fake_complete(0, 0);
		assert_int_equal(kverbs_wait(&req, 0), 0);
	}
	token.access = KVERBS_REMOTE_ATOMIC;
	op.opcode = KVERBS_OP_FETCH_ADD;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	op.opcode = KVERBS_OP_CMP_SWAP;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	kverbs_token_free(&token);
}

static void calls_with_pieces_post_the_same_entries(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1, 1000);
	struct kverbs_req req[4] = { 0 };
	struct kverbs_vec vec[3];
	unsigned int i;

	fill(t, vec, 3);
	assert_int_equal(kverbs_sendv(t->conn, vec, 3, &req[0]), 0);
	assert_int_equal(kverbs_recvv(t->conn, vec, 3, &req[1]), 0);
	assert_int_equal(kverbs_writev(t->conn, vec, 3, &token, 8, &req[2]), 0);
	assert_int_equal(kverbs_readv(t->conn, vec, 3, &token, 16, &req[3]), 0);
	assert_int_equal(fake_entry(2).opcode, KVERBS_OP_WRITE);
	assert_int_equal(fake_entry(2).remote_addr, 4096 + 8);
	assert_int_equal(fake_entry(2).rkey, 0x100);
	assert_int_equal(fake_entry(3).opcode, KVERBS_OP_READ);
	assert_int_equal(fake_entry(3).remote_addr, 4096 + 16);
	for (i = 0; i < 4; i++)
		check_list(i, vec, 3);
	complete_all();
	for (i = 0; i < 4; i++)
		assert_int_equal(kverbs_wait(&req[i], 0), 0);
	kverbs_token_free(&token);
}

static void a_list_may_change_once_it_is_posted(void **state)
{
	struct t *t = *state;
	struct kverbs_vec vec[3], copy[3];
	struct kverbs_req req = { 0 };

	fill(t, vec, 3);
	memcpy(copy, vec, sizeof(vec));
	assert_int_equal(kverbs_sendv(t->conn, vec, 3, &req), 0);
	memset(vec, 0xff, sizeof(vec));
	check_list(0, copy, 3);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void posting_a_list_and_waiting_is_one_call(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec[3];
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND, .req = &req, .vec = vec, .nr_vec = 3,
	};

	fill(t, vec, 3);
	fake_device_start(1, 0);
	assert_int_equal(kverbs_post_wait(t->conn, &op, &req, -1), 0);
	fake_device_stop();
	assert_int_equal(fake.submits, 1);
	assert_int_equal(req.byte_len, 1 + 2 + 3);
}

/* ---- refused lists ------------------------------------------------------------------- */

static void check_refused(struct t *t, const struct kverbs_op *op)
{
	assert_int_equal(kverbs_post(t->conn, op, 1), -EINVAL);
	assert_int_equal(kverbs_wait(op->req, 0), -EINVAL);
	assert_int_equal(fake.submits, 0);
}

static void an_operation_has_a_list_or_a_buffer(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec[2];
	const struct kverbs_op list = {
		.opcode = KVERBS_OP_SEND, .req = &req, .vec = vec, .nr_vec = 2,
	};
	struct kverbs_op op = list;

	fill(t, vec, 2);
	op.buf = t->buf;
	check_refused(t, &op);
	op = list;
	op.offset = 1;
	check_refused(t, &op);
	op = list;
	op.length = 1;
	check_refused(t, &op);
	op = list;
	op.vec = NULL;
	check_refused(t, &op);
	/* Without pieces there is no list. */
	op = list;
	op.nr_vec = 0;
	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	assert_int_equal(fake_entry(0).flags, KVERBS_SQE_SIGNAL);
	assert_int_equal(fake_entry(0).length, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void each_piece_lies_within_a_buffer_of_the_context(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec[2];
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_RECV, .req = &req, .vec = vec, .nr_vec = 2,
	};
	struct kverbs *other;

	fill(t, vec, 2);
	vec[1].length = 0;
	check_refused(t, &op);
	vec[1].length = T_SIZE;
	check_refused(t, &op);
	vec[1] = (struct kverbs_vec) { t->buf, T_SIZE, 1 };
	check_refused(t, &op);
	vec[1] = (struct kverbs_vec) { NULL, 0, 1 };
	check_refused(t, &op);
	assert_int_equal(kverbs_open(&other, NULL), 0);
	assert_int_equal(kverbs_buf_alloc(other, 8, &vec[1].buf), 0);
	check_refused(t, &op);
	kverbs_close(other);
}

static void a_message_has_a_limited_number_of_pieces(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec[MANY];

	fill(t, vec, MANY);
	assert_int_equal(kverbs_sendv(t->conn, vec, KVERBS_LIST_MAX + 1, &req), -EINVAL);
	assert_int_equal(kverbs_recvv(t->conn, vec, KVERBS_LIST_MAX + 1, &req), -EINVAL);
	assert_int_equal(kverbs_sendv(t->conn, vec, KVERBS_LIST_MAX, &req), 0);
	check_list(0, vec, KVERBS_LIST_MAX);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_transfer_is_checked_before_it_is_posted(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec = { t->buf, 0, 150 };
	struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE_IMM, .req = &req, .vec = &vec, .nr_vec = 1,
	};

	assert_int_equal(kverbs_writev(t->conn, &vec, 1, &token, 51, &req), -ERANGE);
	token.access = KVERBS_REMOTE_READ;
	assert_int_equal(kverbs_writev(t->conn, &vec, 1, &token, 0, &req), -EACCES);
	assert_int_equal(kverbs_readv(t->conn, &vec, 1, NULL, 0, &req), -EINVAL);
	assert_int_equal(kverbs_readv(t->conn, &vec, 0, &token, 0, &req), -EINVAL);
	assert_int_equal(kverbs_readv(t->conn, &vec, 1, &token, 0, NULL), -EINVAL);
	/* A list has bytes, which need a token. */
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	assert_int_equal(fake.submits, 0);
	kverbs_token_free(&token);
}

/* ---- several entries ------------------------------------------------------------------ */

static void a_list_is_cut_at_the_ends_of_segments(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	const struct kverbs_vec vec[] = { { t->buf, 0, 600 }, { t->buf, 2000, 1700 } };
	const struct kverbs_vec first[] = { { t->buf, 0, 600 }, { t->buf, 2000, 300 } };
	const struct kverbs_vec second[] = { { t->buf, 2300, 1000 } };
	const struct kverbs_vec third[] = { { t->buf, 3300, 400 } };
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_writev(t->conn, vec, 2, &token, 100, &req), 0);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake_pending(), 3);
	check_list(0, first, 2);
	check_list(1, second, 1);
	check_list(2, third, 1);
	assert_int_equal(fake_entry(0).remote_addr, 4096 + 100);
	assert_int_equal(fake_entry(1).remote_addr, 2 * 4096);
	assert_int_equal(fake_entry(2).rkey, 0x102);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, 2300);
	kverbs_token_free(&token);
}

static void a_list_is_cut_to_the_connections_limit(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1, T_SIZE);
	const struct kverbs_vec vec[] = { { t->buf, 10, 900 }, { t->buf, 0, 1 },
					  { t->buf, 5000, 1099 } };
	const struct kverbs_vec first[] = { { t->buf, 10, 900 }, { t->buf, 0, 1 },
					    { t->buf, 5000, 99 } };
	const struct kverbs_vec second[] = { { t->buf, 5099, 1000 } };
	struct kverbs_req req = { 0 };

	fake.max_msg = 1000;
	assert_int_equal(kverbs_readv(t->conn, vec, 3, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 2);
	check_list(0, first, 3);
	check_list(1, second, 1);
	assert_int_equal(fake_entry(1).remote_addr, 4096 + 1000);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

static void a_list_is_cut_after_the_most_pieces_of_an_entry(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1, T_SIZE);
	struct kverbs_vec vec[MANY];
	struct kverbs_req req = { 0 };

	fill(t, vec, MANY);
	assert_int_equal(kverbs_writev(t->conn, vec, MANY, &token, 0, &req), 0);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake_pending(), 3);
	check_list(0, vec, KVERBS_LIST_MAX);
	check_list(1, vec + KVERBS_LIST_MAX, KVERBS_LIST_MAX);
	check_list(2, vec + 2 * KVERBS_LIST_MAX, MANY - 2 * KVERBS_LIST_MAX);
	assert_int_equal(fake_entry(1).remote_addr, 4096 + length_of(vec, KVERBS_LIST_MAX));
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, length_of(vec, MANY));
	kverbs_token_free(&token);
}

static void only_the_last_entry_of_a_list_notifies_the_peer(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 100);
	struct kverbs_vec vec = { t->buf, 0, 250 };
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE_IMM, .imm = 9, .token = &token, .req = &req,
		.flags = KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED, .vec = &vec, .nr_vec = 1,
	};
	const unsigned int list = KVERBS_SQE_SIGNAL | KVERBS_SQE_LIST;

	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	assert_int_equal(fake_entry(0).opcode, KVERBS_OP_WRITE);
	assert_int_equal(fake_entry(0).imm, 0);
	assert_int_equal(fake_entry(0).flags, list | KVERBS_SQE_FENCE);
	assert_int_equal(fake_entry(1).flags, list);
	assert_int_equal(fake_entry(2).opcode, KVERBS_OP_WRITE_IMM);
	assert_int_equal(fake_entry(2).imm, 9);
	assert_int_equal(fake_entry(2).flags, list | KVERBS_SQE_SOLICITED);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

/* A token that was made by hand may have such a segment. */
static void an_entry_for_an_empty_segment_has_no_list(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 100);
	struct kverbs_vec vec = { t->buf, 0, 200 };
	struct kverbs_req req = { 0 };

	token.segs[1].length = 0;
	token.length = 200;
	assert_int_equal(kverbs_writev(t->conn, &vec, 1, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 3);
	assert_int_equal(fake_entry(1).flags, KVERBS_SQE_SIGNAL);
	assert_int_equal(fake_entry(1).length, 0);
	assert_int_equal(fake_piece(2, 0).offset, 100);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

/* The peer chooses the segments, but the caller chooses the pieces. */
static void many_entries_for_a_long_list_are_posted(void **state)
{
	enum { PIECES = 1100 * KVERBS_LIST_MAX };
	struct kverbs_vec *vec = test_calloc(PIECES, sizeof(*vec));
	struct kverbs_token token = t_token(1, PIECES);
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	size_t i;

	t_shrink_queue(t, 2000);
	for (i = 0; i < PIECES; i++)
		vec[i] = (struct kverbs_vec) { t->buf, i % 100, 1 };
	assert_int_equal(kverbs_writev(t->conn, vec, PIECES, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 1100);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, PIECES);
	kverbs_token_free(&token);
	test_free(vec);
}

/* ---- several operations --------------------------------------------------------------- */

#define NR 8

/* Lists and, in between, one operation with a buffer. */
static void mix(struct t *t, struct kverbs_op ops[NR], struct kverbs_vec vec[MANY],
		struct kverbs_req req[NR], size_t nr_vec)
{
	unsigned int i;

	fill(t, vec, MANY);
	memset(req, 0, NR * sizeof(*req));
	for (i = 0; i < NR; i++)
		ops[i] = (struct kverbs_op) {
			.opcode = KVERBS_OP_SEND, .req = &req[i], .vec = vec + i,
			.nr_vec = nr_vec,
		};
	ops[2] = (struct kverbs_op) {
		.opcode = KVERBS_OP_SEND, .req = &req[2], .buf = t->buf, .offset = 7, .length = 5,
	};
}

static void check_mix(const struct kverbs_vec *vec, unsigned int nr_vec)
{
	unsigned int i;

	assert_int_equal(fake_pending(), NR);
	for (i = 0; i < NR; i++) {
		if (i != 2)
			check_list(i, vec + i, nr_vec);
	}
	assert_int_equal(fake_entry(2).flags, KVERBS_SQE_SIGNAL);
	assert_int_equal(fake_entry(2).offset, 7);
	assert_int_equal(fake_entry(2).length, 5);
	complete_all();
}

static void check_complete(struct kverbs_req req[NR])
{
	unsigned int i;

	for (i = 0; i < NR; i++)
		assert_int_equal(kverbs_wait(&req[i], 0), 0);
}

static void lists_and_buffers_are_posted_together(void **state)
{
	struct t *t = *state;
	struct kverbs_vec vec[MANY];
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	mix(t, ops, vec, req, 3);
	/* So few pieces need no memory. */
	fake_fail_nth(1);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_false(fake_fail_nth_hit());
	fake_fail_nth(0);
	assert_int_equal(fake.submits, 1);
	check_mix(vec, 3);
	check_complete(req);
}

static void many_pieces_are_posted_with_one_submit(void **state)
{
	struct t *t = *state;
	struct kverbs_vec vec[MANY];
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	mix(t, ops, vec, req, KVERBS_LIST_MAX);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_int_equal(fake.submits, 1);
	check_mix(vec, KVERBS_LIST_MAX);
	check_complete(req);
}

static void without_memory_many_pieces_take_more_submits(void **state)
{
	struct t *t = *state;
	struct kverbs_vec vec[MANY];
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	mix(t, ops, vec, req, KVERBS_LIST_MAX);
	fake_fail_nth(1);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_true(fake_fail_nth_hit());
	/* The operation with a buffer goes with the list before it. */
	assert_int_equal(fake.submits, NR - 1);
	check_mix(vec, KVERBS_LIST_MAX);
	check_complete(req);
}

static void pieces_stay_with_their_entries_if_not_all_are_taken(void **state)
{
	struct t *t = *state;
	struct kverbs_vec vec[MANY];
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	mix(t, ops, vec, req, 3);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_post(t->conn, ops, NR), -EINTR);
	t_shrink_queue(t, 5);
	assert_int_equal(kverbs_try_post(t->conn, ops, NR), 5);
	check_list(4, vec + 4, 3);
	complete_all();
	assert_int_equal(kverbs_try_post(t->conn, ops + 5, NR - 5), NR - 5);
	check_list(0, vec + 5, 3);
	check_list(2, vec + 7, 3);
	complete_all();
	check_complete(req);
}

static void a_list_in_several_entries_is_not_posted_in_part(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(2, 100);
	struct kverbs_vec vec = { t->buf, 0, 150 };
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE, .token = &token, .req = &req, .vec = &vec, .nr_vec = 1,
	};

	assert_int_equal(kverbs_try_post(t->conn, &op, 1), -EMSGSIZE);
	assert_int_equal(fake.submits, 0);
	kverbs_token_free(&token);
}

/* If the rest of a list is refused after a part was accepted, it completes with the error. */
static void a_list_refused_in_part_completes_with_the_error(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 2 };
	struct kverbs_token token = t_token(5, 100);
	struct kverbs_req req = { 0 };
	struct kverbs_vec vec = { .length = 500 };
	struct kverbs_conn *conn;
	struct kverbs *kv;

	(void)state;
	assert_int_equal(kverbs_open(&kv, &small), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_buf_alloc(kv, 4096, &vec.buf), 0);
	fake_fail(KVERBS_SUBMIT, 2, -ENODEV);
	assert_int_equal(kverbs_writev(conn, &vec, 1, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 2);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), -ENODEV);
	assert_int_equal(req.byte_len, 200);
	kverbs_close(kv);
	kverbs_token_free(&token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(each_operation_but_an_atomic_takes_a_list),
		t_test_conn(calls_with_pieces_post_the_same_entries),
		t_test_conn(a_list_may_change_once_it_is_posted),
		t_test_conn(posting_a_list_and_waiting_is_one_call),
		t_test_conn(an_operation_has_a_list_or_a_buffer),
		t_test_conn(each_piece_lies_within_a_buffer_of_the_context),
		t_test_conn(a_message_has_a_limited_number_of_pieces),
		t_test_conn(a_transfer_is_checked_before_it_is_posted),
		t_test_conn(a_list_is_cut_at_the_ends_of_segments),
		t_test_conn(a_list_is_cut_to_the_connections_limit),
		t_test_conn(a_list_is_cut_after_the_most_pieces_of_an_entry),
		t_test_conn(only_the_last_entry_of_a_list_notifies_the_peer),
		t_test_conn(an_entry_for_an_empty_segment_has_no_list),
		t_test_conn(many_entries_for_a_long_list_are_posted),
		t_test_conn(lists_and_buffers_are_posted_together),
		t_test_conn(many_pieces_are_posted_with_one_submit),
		t_test_conn(without_memory_many_pieces_take_more_submits),
		t_test_conn(pieces_stay_with_their_entries_if_not_all_are_taken),
		t_test_conn(a_list_in_several_entries_is_not_posted_in_part),
		t_test_conn(a_list_refused_in_part_completes_with_the_error),
	};

	return cmocka_run_group_tests_name("list_post", tests, NULL, NULL);
}
