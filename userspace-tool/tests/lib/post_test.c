// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations are posted together, and some are unsignalled. */
#include "t.h"

#define WC_REM_ACCESS_ERR 10
#define NR 4

/* Fill in messages of 1, 2, 3, ... bytes, each with a request. */
static void fill(struct t *t, struct kverbs_op *ops, struct kverbs_req *req, unsigned int nr)
{
	unsigned int i;

	memset(req, 0, nr * sizeof(*req));
	for (i = 0; i < nr; i++)
		ops[i] = (struct kverbs_op) {
			.opcode = KVERBS_OP_SEND,
			.buf = t->buf,
			.offset = i,
			.length = i + 1,
			.req = &req[i],
		};
}

static void complete_all(void)
{
	while (fake_pending())
		fake_complete(0, 0);
}

/* Check that the request looks as if it had never been posted. */
static void check_unposted(struct kverbs_req *req)
{
	assert_int_equal(kverbs_wait(req, 0), -EINVAL);
	assert_true(fake_sq_empty());
}

/* ---- together -------------------------------------------------------------------- */

static void a_list_is_posted_at_once_and_in_order(void **state)
{
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];
	unsigned int i;

	fill(*state, ops, req, NR);
	assert_int_equal(kverbs_post(((struct t *)*state)->conn, ops, NR), NR);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake_pending(), NR);
	for (i = 0; i < NR; i++) {
		assert_int_equal(fake_entry(i).offset, i);
		assert_int_equal(fake_entry(i).length, i + 1);
	}
	complete_all();
	for (i = 0; i < NR; i++) {
		assert_int_equal(kverbs_wait(&req[i], 0), 0);
		assert_int_equal(req[i].byte_len, i + 1);
	}
}

static void an_empty_list_costs_no_call(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_post(t->conn, NULL, 0), 0);
	assert_int_equal(fake.submits, 0);
}

/* kverbs_post() must write the same entry as the operation's own function. */
static void check_same(struct t *t, const struct kverbs_op *op)
{
	struct kverbs_sqe one = fake_entry(0), other;

	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(op->req, 0), 0);
	assert_int_equal(kverbs_post(t->conn, op, 1), 1);
	other = fake_entry(0);
	assert_memory_equal(&one, &other, sizeof(one));
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(op->req, 0), 0);
}

static void a_list_entry_equals_that_of_the_single_call(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(2, 1000);
	struct kverbs_req req = { 0 };
	struct kverbs_op op = {
		.imm = 5, .rkey = 6, .buf = t->buf, .offset = 8, .length = 20,
		.token = &token, .remote_offset = 16, .operand = 7, .swap = 9, .req = &req,
	};

	token.access |= KVERBS_REMOTE_ATOMIC;
#define check(OPCODE, call) do {			\
	op.opcode = KVERBS_OP_##OPCODE;			\
	assert_int_equal(call, 0);			\
	check_same(t, &op);				\
} while (0)
	check(SEND, kverbs_send(t->conn, t->buf, 8, 20, &req));
	check(RECV, kverbs_recv(t->conn, t->buf, 8, 20, &req));
	check(SEND_IMM, kverbs_send_imm(t->conn, t->buf, 8, 20, 5, &req));
	check(SEND_INV, kverbs_send_inv(t->conn, t->buf, 8, 20, 6, &req));
	check(WRITE, kverbs_write(t->conn, t->buf, 8, 20, &token, 16, &req));
	check(WRITE_IMM, kverbs_write_imm(t->conn, t->buf, 8, 20, &token, 16, 5, &req));
	check(READ, kverbs_read(t->conn, t->buf, 8, 20, &token, 16, &req));
	check(FETCH_ADD, kverbs_fetch_add(t->conn, t->buf, 8, &token, 16, 7, &req));
	check(CMP_SWAP, kverbs_cmp_swap(t->conn, t->buf, 8, &token, 16, 7, 9, &req));
#undef check
	kverbs_token_free(&token);
}

static void an_operation_of_several_segments_completes_once(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req[3];
	struct kverbs_op ops[3];

	fill(t, ops, req, 3);
	ops[1].opcode = KVERBS_OP_WRITE;
	ops[1].token = &token;
	ops[1].length = 3000;
	assert_int_equal(kverbs_post(t->conn, ops, 3), 3);
	assert_int_equal(fake.submits, 1);
	assert_int_equal(fake_pending(), 5);
	assert_int_equal(fake_entry(4).opcode, KVERBS_OP_SEND);
	complete_all();
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
	assert_int_equal(req[1].byte_len, 3000);
	assert_int_equal(kverbs_wait(&req[2], 0), 0);
	kverbs_token_free(&token);
}

static void the_first_entry_is_fenced_and_the_last_one_solicits(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE_IMM, .flags = KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED,
		.buf = t->buf, .length = 3000, .token = &token, .req = &req,
	};

	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	assert_int_equal(fake_pending(), 3);
	assert_int_equal(fake_entry(0).flags, KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE);
	assert_int_equal(fake_entry(1).flags, KVERBS_SQE_SIGNAL);
	assert_int_equal(fake_entry(2).flags, KVERBS_SQE_SIGNAL | KVERBS_SQE_SOLICITED);
	complete_all();
	assert_int_equal(kverbs_wait(&req, 0), 0);
	kverbs_token_free(&token);
}

static void an_operation_of_one_entry_has_all_its_flags(void **state)
{
	struct kverbs_req req[1];
	struct kverbs_op ops[1];

	fill(*state, ops, req, 1);
	ops[0].flags = KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED;
	assert_int_equal(kverbs_post(((struct t *)*state)->conn, ops, 1), 1);
	assert_int_equal(fake_entry(0).flags,
			 KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED);
	complete_all();
	assert_int_equal(kverbs_wait(req, 0), 0);
}

static void what_has_no_meaning_yet_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[1];
	struct kverbs_op ops[1];
	unsigned int i;

	fill(t, ops, req, 1);
	for (i = 0; i < sizeof(ops->reserved) / sizeof(ops->reserved[0]); i++) {
		ops[0].reserved[i] = 1;
		assert_int_equal(kverbs_post(t->conn, ops, 1), -EINVAL);
		ops[0].reserved[i] = 0;
	}
	ops[0].flags = KVERBS_SQE_SIGNAL;
	assert_int_equal(kverbs_post(t->conn, ops, 1), -EINVAL);
	ops[0].flags = KVERBS_SQE_LIST;
	assert_int_equal(kverbs_post(t->conn, ops, 1), -EINVAL);
	ops[0].opcode = KVERBS_OP_RECV;
	ops[0].flags = KVERBS_SQE_FENCE;
	assert_int_equal(kverbs_post(t->conn, ops, 1), -EINVAL);
	check_unposted(req);
}

static void more_operations_than_the_ring_holds_are_posted_in_turns(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 4 };
	struct kverbs_req req[11];
	struct kverbs_op ops[11];
	struct t t = { 0 };
	unsigned int i;

	(void)state;
	assert_int_equal(kverbs_open(&t.kv, &small), 0);
	t.conn = t_connect(t.kv);
	assert_int_equal(kverbs_buf_alloc(t.kv, 4096, &t.buf), 0);
	fill(&t, ops, req, 11);
	fake.submits = 0;
	assert_int_equal(kverbs_post(t.conn, ops, 11), 11);
	assert_int_equal(fake.submits, 3);
	for (i = 0; i < 11; i++)
		assert_int_equal(fake_entry(i).length, i + 1);
	complete_all();
	for (i = 0; i < 11; i++)
		assert_int_equal(kverbs_wait(&req[i], 0), 0);
	kverbs_close(t.kv);
}

/* ---- refused operations ---------------------------------------------------------- */

static void the_first_invalid_operation_ends_the_list(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	ops[2].offset = T_SIZE;
	assert_int_equal(kverbs_post(t->conn, ops, NR), 2);
	assert_int_equal(fake_pending(), 2);
	check_unposted(&req[2]);
	check_unposted(&req[3]);
	assert_int_equal(kverbs_post(t->conn, ops + 2, NR - 2), -EINVAL);
	complete_all();
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

static void a_refused_operation_completes_with_its_error_and_delays_no_other(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	fake.max_msg = 2;
	ops[0].length = 3;
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_int_equal(kverbs_wait(&req[0], 0), -EMSGSIZE);
	assert_int_equal(kverbs_wait(&req[NR - 1], 0), -EMSGSIZE);
	complete_all();
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

/* Only the kernel knows that, and an operation without a request has no result of its own. */
static void the_next_post_reports_that_a_silent_operation_was_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_op op;
	struct kverbs_req req[1];

	fill(t, &op, req, 1);
	fake.max_msg = 2;
	op.req = NULL;
	op.length = 3;
	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	op.length = 1;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EMSGSIZE);
	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	complete_all();
}

static void a_request_in_use_ends_the_list(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	ops[1].req = &req[0];
	assert_int_equal(kverbs_post(t->conn, ops, NR), 1);
	assert_int_equal(kverbs_post(t->conn, ops, NR), -EBUSY);
	check_unposted(&req[2]);
	complete_all();
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
}

static void an_unknown_operation_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[1];
	struct kverbs_op op;

	fill(t, &op, req, 1);
	op.opcode = 0;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	op.opcode = KVERBS_OP_FETCH_ADD + 1;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	/* A RECV without a request could not report its message. */
	op.opcode = KVERBS_OP_RECV;
	op.req = NULL;
	assert_int_equal(kverbs_post(t->conn, &op, 1), -EINVAL);
	assert_int_equal(fake.submits, 0);
}

static void calls_for_one_operation_need_a_request(void **state)
{
	struct t *t = *state;
	const struct kverbs_vec vec = { .buf = t->buf, .length = 1 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, NULL), -EINVAL);
	assert_int_equal(kverbs_sendv(t->conn, &vec, 1, NULL), -EINVAL);
	assert_int_equal(fake.submits, 0);
}

static void a_full_receive_queue_does_not_block(void **state)
{
	const struct kverbs_conn_param param = { .rq_depth = 2 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];
	unsigned int i;

	fill(t, ops, req, NR);
	for (i = 0; i < NR; i++)
		ops[i].opcode = KVERBS_OP_RECV;
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &t->conn), 0);
	assert_int_equal(kverbs_post(t->conn, ops, NR), 2);
	assert_int_equal(kverbs_post(t->conn, ops + 2, NR - 2), -EAGAIN);
	check_unposted(&req[2]);
	complete_all();
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

static void a_signal_between_two_turns_ends_the_list(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	fake.max_take = 3;
	/* The first SUBMIT accepts three, the second one is the wait for room. */
	fake_fail(KVERBS_SUBMIT, 2, -EINTR);
	assert_int_equal(kverbs_post(t->conn, ops, NR), 3);
	check_unposted(&req[3]);
	complete_all();
	assert_int_equal(kverbs_wait(&req[2], 0), 0);
}

static void posting_on_an_ended_connection_returns_the_reason(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT);
	kverbs_process(t->kv, 0);
	assert_int_equal(kverbs_post(t->conn, ops, NR), -ETIMEDOUT);
	ops[0].req = NULL;
	assert_int_equal(kverbs_post(t->conn, ops, NR), -ETIMEDOUT);
}

/* ---- unsignalled operations ------------------------------------------------------ */

/* Make all but the last one unsignalled. */
static void silence(struct kverbs_op *ops, unsigned int nr)
{
	while (--nr)
		(*ops++).req = NULL;
}

static void an_operation_without_request_completes_silently(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	silence(ops, NR);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_int_equal(fake_entry(0).flags, 0);
	assert_int_equal(fake_entry(NR - 1).flags, KVERBS_SQE_SIGNAL);
	fake_complete(0, 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_true(kverbs_complete(&req[NR - 1]));
	assert_int_equal(req[NR - 1].byte_len, NR);
}

static void a_silent_failure_fails_the_next_request(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR], last = { 0 };
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	silence(ops, NR);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &last), 0);
	fake_complete(0, 0);
	fake_complete(0, WC_REM_ACCESS_ERR);
	fake_complete(0, FAKE_WC_FLUSH);
	fake_complete(0, FAKE_WC_FLUSH);
	fake_complete(0, FAKE_WC_FLUSH);
	assert_int_equal(kverbs_wait(&req[NR - 1], 0), -EIO);
	assert_int_equal(req[NR - 1].wc_status, WC_REM_ACCESS_ERR);
	/* Only the next request fails. */
	assert_int_equal(kverbs_wait(&last, 0), -EIO);
	assert_int_equal(last.wc_status, FAKE_WC_FLUSH);
}

static void a_silent_failure_does_not_fail_a_receive(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[2], recv = { 0 };
	struct kverbs_op ops[2];

	fill(t, ops, req, 2);
	silence(ops, 2);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &recv), 0);
	assert_int_equal(kverbs_post(t->conn, ops, 2), 2);
	fake_complete(1, WC_REM_ACCESS_ERR);
	fake_complete(0, FAKE_WC_FLUSH);
	fake_complete(0, FAKE_WC_FLUSH);
	assert_int_equal(kverbs_wait(&recv, 0), -EIO);
	assert_int_equal(recv.wc_status, FAKE_WC_FLUSH);
	assert_int_equal(kverbs_wait(&req[1], 0), -EIO);
	assert_int_equal(req[1].wc_status, WC_REM_ACCESS_ERR);
}

/* Unsignalled operations free their slots without a completion. */
static void silent_completions_make_room(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[40];
	struct kverbs_op ops[40];

	t_shrink_queue(t, 3);
	fill(t, ops, req, 40);
	silence(ops, 40);
	fake_device_start(7, 0);
	assert_int_equal(kverbs_post(t->conn, ops, 40), 40);
	assert_int_equal(kverbs_wait(&req[39], -1), 0);
	fake_wait_pending(0);
	fake_device_stop();
	assert_int_equal(kverbs_process(t->kv, 0), 0);
}

static void freeing_drops_silent_operations(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[NR];
	struct kverbs_op ops[NR];

	fill(t, ops, req, NR);
	silence(ops, NR);
	assert_int_equal(kverbs_post(t->conn, ops, NR), NR);
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_wait(&req[NR - 1], 0), -ECANCELED);
}

/* The kernel accepts only some segments: no request could report the failure. */
static void a_silent_operation_posted_in_part_ends_the_connection(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 2 };
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req req = { 0 };
	struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE, .length = 3000, .token = &token,
	};
	struct kverbs_conn *conn;
	struct kverbs *kv;

	(void)state;
	assert_int_equal(kverbs_open(&kv, &small), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_buf_alloc(kv, 4096, &op.buf), 0);
	fake_fail(KVERBS_SUBMIT, 2, -ENOMEM);
	assert_int_equal(kverbs_post(conn, &op, 1), 1);
	kverbs_process(kv, 0);
	assert_int_equal(kverbs_conn_error(conn), -ECANCELED);
	op.req = &req;
	assert_int_equal(kverbs_post(conn, &op, 1), -ECANCELED);
	kverbs_close(kv);
	kverbs_token_free(&token);
}

static void trying_to_post_does_not_wait_for_room(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[3] = { 0 };
	struct kverbs_op op[3] = { 0 };
	unsigned int i;

	t_shrink_queue(t, 2);
	for (i = 0; i < 3; i++)
		op[i] = (struct kverbs_op){
			.opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1, .req = &req[i],
		};
	assert_int_equal(kverbs_try_post(t->conn, op, 3), 2);
	assert_int_equal(kverbs_try_post(t->conn, &op[2], 1), -EAGAIN);
	assert_int_equal(kverbs_wait(&req[2], 0), -EINVAL);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	assert_int_equal(kverbs_try_post(t->conn, &op[2], 1), 1);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[2], 0), 0);
}

static void trying_refuses_an_operation_of_several_entries(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(2, 8);
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE, .buf = t->buf, .length = 16, .token = &token,
		.req = &req,
	};

	assert_int_equal(kverbs_try_post(t->conn, &op, 1), -EMSGSIZE);
	assert_int_equal(fake_pending(), 0);
	kverbs_token_free(&token);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(trying_to_post_does_not_wait_for_room),
		t_test_conn(trying_refuses_an_operation_of_several_entries),
		t_test_conn(a_list_is_posted_at_once_and_in_order),
		t_test_conn(an_empty_list_costs_no_call),
		t_test_conn(a_list_entry_equals_that_of_the_single_call),
		t_test_conn(an_operation_of_several_segments_completes_once),
		t_test_conn(the_first_entry_is_fenced_and_the_last_one_solicits),
		t_test_conn(an_operation_of_one_entry_has_all_its_flags),
		t_test_conn(what_has_no_meaning_yet_is_refused),
		t_test_conn(more_operations_than_the_ring_holds_are_posted_in_turns),
		t_test_conn(the_first_invalid_operation_ends_the_list),
		t_test_conn(a_refused_operation_completes_with_its_error_and_delays_no_other),
		t_test_conn(the_next_post_reports_that_a_silent_operation_was_refused),
		t_test_conn(a_request_in_use_ends_the_list),
		t_test_conn(an_unknown_operation_is_refused),
		t_test_conn(calls_for_one_operation_need_a_request),
		t_test_conn(a_full_receive_queue_does_not_block),
		t_test_conn(a_signal_between_two_turns_ends_the_list),
		t_test_conn(posting_on_an_ended_connection_returns_the_reason),
		t_test_conn(an_operation_without_request_completes_silently),
		t_test_conn(a_silent_failure_fails_the_next_request),
		t_test_conn(a_silent_failure_does_not_fail_a_receive),
		t_test_conn(silent_completions_make_room),
		t_test_conn(freeing_drops_silent_operations),
		t_test_conn(a_silent_operation_posted_in_part_ends_the_connection),
	};

	return cmocka_run_group_tests_name("post", tests, NULL, NULL);
}
