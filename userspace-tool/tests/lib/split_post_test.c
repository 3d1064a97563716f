// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A transfer over several segments is one request. */
#include "t.h"

#define WC_REM_ACCESS_ERR 10

static void complete_all(void)
{
	while (fake_pending())
		fake_complete(0, 0);
}

static void a_split_operation_is_posted_at_once_and_completes_once(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(4, 1000);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 3000, &token, 500, &req), 0);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake_pending(), 4);
	assert_int_equal(fake_entry(0).remote_addr, 4096 + 500);
	assert_int_equal(fake_entry(0).length, 500);
	assert_int_equal(fake_entry(3).rkey, 0x103);
	assert_int_equal(fake_entry(3).offset, 2500);
	assert_int_equal(fake_entry(3).length, 500);
	fake_complete(2, 0);
	fake_complete(0, 0);
	fake_complete(1, 0);
	assert_int_equal(kverbs_wait(&req, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, 3000);
	kverbs_token_free(&token);
}

static void the_first_error_is_kept(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 3000, &token, 0, &req), 0);
	fake_complete(0, 0);
	fake_complete(0, WC_REM_ACCESS_ERR);
	assert_int_equal(kverbs_wait(&req, 0), -ETIMEDOUT);
	fake_complete(0, FAKE_WC_FLUSH);
	assert_int_equal(kverbs_wait(&req, 0), -EIO);
	assert_int_equal(req.wc_status, WC_REM_ACCESS_ERR);
	assert_int_equal(req.byte_len, 1000);
	kverbs_token_free(&token);
}

static void a_token_made_by_hand_is_accepted(void **state)
{
	struct t *t = *state;
	struct kverbs_segment seg = {
		.addr = 0x100000000, .length = 3000, .rkey = 0xa1b2c3d4,
	};
	struct kverbs_token token = {
		.length = 3000, .access = KVERBS_REMOTE_READ, .nr_segs = 1, .segs = &seg,
	};
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 2000, &token, 1000, &req), 0);
	assert_int_equal(fake_pending(), 1);
	assert_int_equal(fake_entry(0).remote_addr, 0x100000000 + 1000);
	assert_int_equal(fake_entry(0).rkey, 0xa1b2c3d4);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 2001, &token, 1000, &req),
			 -ERANGE);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, &token, 0, &req), -EACCES);
}

static void only_the_last_part_notifies_the_peer(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_write_imm(t->conn, t->buf, 0, 2500, &token, 0, 9, &req),
			 0);
	assert_int_equal(fake_entry(0).opcode, KVERBS_OP_WRITE);
	assert_int_equal(fake_entry(1).opcode, KVERBS_OP_WRITE);
	assert_int_equal(fake_entry(1).imm, 0);
	assert_int_equal(fake_entry(2).opcode, KVERBS_OP_WRITE_IMM);
	assert_int_equal(fake_entry(2).imm, 9);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

static void an_operation_is_cut_to_the_connections_limit(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1, T_SIZE);
	struct kverbs_req req = { 0 };

	fake.max_msg = 10000;
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 25000, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 3);
	assert_int_equal(fake_entry(2).length, 5000);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, 25000);
	kverbs_token_free(&token);
}

static void limits_are_queried_once(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1, T_SIZE);
	struct kverbs_req req = { 0 };

	fake_fail(KVERBS_CONN_QUERY, 1, -ENODEV);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, &token, 0, &req), -ENODEV);
	fake_fail(KVERBS_CONN_QUERY, 2, -ENODEV);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, &token, 0, &req), 0);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, &token, 0, &req), 0);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

static void more_parts_than_the_ring_holds_are_posted_in_turns(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 4 };
	struct kverbs_token token = t_token(11, 100);
	struct kverbs_req req = { 0 };
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;
	unsigned int i;

	(void)state;
	assert_int_equal(kverbs_open(&kv, &small), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_buf_alloc(kv, 4096, &buf), 0);
	fake.submits = 0;
	assert_int_equal(kverbs_write(conn, buf, 0, 1100, &token, 0, &req), 0);
	assert_int_equal(fake.submits, 3);
	assert_int_equal(fake_pending(), 11);
	for (i = 0; i < 11; i++)
		assert_int_equal(fake_entry(i).rkey, 0x100 + i);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(req.byte_len, 1100);
	kverbs_close(kv);
	kverbs_token_free(&token);
}

static unsigned int calls;

static void count(struct kverbs_req *req)
{
	assert_true(kverbs_complete(req));
	calls++;
}

/* If nothing of it is accepted, it looks as if it had not been posted. */
static void an_operation_refused_as_a_whole_does_not_complete(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { .done = count };

	calls = 0;
	fake_fail(KVERBS_SUBMIT, 1, -ENODEV);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 3000, &token, 0, &req),
			 -ENODEV);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	assert_int_equal(calls, 0);
	assert_true(fake_sq_empty());
	kverbs_token_free(&token);
}

/* If the rest is refused after a part was accepted, it completes with the error. */
static void an_operation_refused_in_part_completes_with_the_error(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 2 };
	struct kverbs_token token = t_token(5, 100);
	struct kverbs_req req = { .done = count };
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	(void)state;
	calls = 0;
	assert_int_equal(kverbs_open(&kv, &small), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_buf_alloc(kv, 4096, &buf), 0);
	fake_fail(KVERBS_SUBMIT, 2, -ENODEV);
	assert_int_equal(kverbs_write(conn, buf, 0, 500, &token, 0, &req), 0);
	assert_int_equal(fake_pending(), 2);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), -ETIMEDOUT);
	assert_int_equal(calls, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), -ENODEV);
	assert_int_equal(calls, 1);
	assert_int_equal(req.byte_len, 200);
	kverbs_close(kv);
	kverbs_token_free(&token);
}

static void a_canceled_operation_completes_once(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { .done = count };

	calls = 0;
	fake.destroy_drops = true;
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 3000, &token, 0, &req), 0);
	fake_complete(1, 0);
	kverbs_conn_free(t->conn);
	assert_int_equal(calls, 1);
	assert_int_equal(kverbs_wait(&req, 0), -ECANCELED);
	kverbs_token_free(&token);
}

/* A peer's token could make a few bytes cost a million entries. */
static void many_entries_for_few_bytes_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(1025, 1);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 1025, &token, 0, &req), -EMSGSIZE);
	assert_int_equal(fake_pending(), 0);
	assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 100, &token, 1, &req), 0);
	assert_int_equal(fake_pending(), 100);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

static void rights_and_ranges_are_checked_before_posting(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(2, 1000);
	struct kverbs_req req = { 0 };

	token.access = KVERBS_REMOTE_READ;
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, &token, 0, &req), -EACCES);
	assert_int_equal(kverbs_write_imm(t->conn, t->buf, 0, 1, &token, 0, 0, &req),
			 -EACCES);
	token.access = KVERBS_REMOTE_WRITE;
	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 1, &token, 0, &req), -EACCES);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 2, &token, 1999, &req), -ERANGE);
	assert_int_equal(kverbs_write(t->conn, t->buf, T_SIZE, 1, &token, 0, &req),
			 -EINVAL);
	assert_int_equal(kverbs_write(t->conn, NULL, 0, 1, &token, 0, &req), -EINVAL);
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 1, NULL, 0, &req), -EINVAL);
	assert_int_equal(kverbs_read(t->conn, t->buf, 0, 1, NULL, 0, &req), -EINVAL);
	assert_int_equal(kverbs_write_imm(t->conn, t->buf, 0, 1, NULL, 0, 0, &req),
			 -EINVAL);
	assert_int_equal(fake.submits, 0);
	kverbs_token_free(&token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_split_operation_is_posted_at_once_and_completes_once),
		t_test_conn(the_first_error_is_kept),
		t_test_conn(a_token_made_by_hand_is_accepted),
		t_test_conn(only_the_last_part_notifies_the_peer),
		t_test_conn(an_operation_is_cut_to_the_connections_limit),
		t_test_conn(limits_are_queried_once),
		t_test_conn(more_parts_than_the_ring_holds_are_posted_in_turns),
		t_test_conn(an_operation_refused_as_a_whole_does_not_complete),
		t_test_conn(an_operation_refused_in_part_completes_with_the_error),
		t_test_conn(a_canceled_operation_completes_once),
		t_test_conn(many_entries_for_few_bytes_are_refused),
		t_test_conn(rights_and_ranges_are_checked_before_posting),
	};

	return cmocka_run_group_tests_name("split_post", tests, NULL, NULL);
}
