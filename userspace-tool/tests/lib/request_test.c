// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests become entries in the ring, and completions complete them. */
#include "t.h"

#define WC_REM_ACCESS_ERR 10

/* ---- entries --------------------------------------------------------------------- */

static void a_send_becomes_an_entry(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_sqe sqe;

	assert_int_equal(kverbs_send(t->conn, t->buf, 100, 50, &req), 0);
	sqe = fake_entry(0);
	assert_int_equal(sqe.opcode, KVERBS_OP_SEND);
	assert_int_equal(sqe.conn_id, fake.last_conn);
	assert_int_equal(sqe.offset, 100);
	assert_int_equal(sqe.length, 50);
	assert_false(kverbs_complete(&req));
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_true(kverbs_complete(&req));
	assert_int_equal(req.byte_len, 50);
	assert_int_equal(req.wc_status, 0);
}

static void empty_messages_need_no_buffer(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[3] = { 0 };

	assert_int_equal(kverbs_send(t->conn, NULL, 0, 0, &req[0]), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 8, 0, &req[1]), 0);
	assert_int_equal(kverbs_write_imm(t->conn, NULL, 0, 0, NULL, 0, 7, &req[2]), 0);
	assert_int_equal(fake_entry(2).opcode, KVERBS_OP_WRITE_IMM);
	assert_int_equal(fake_entry(2).imm, 7);
	fake_complete(0, 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[2], 0), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
}

static void ranges_outside_of_the_buffer_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 1, T_SIZE, &req), -EINVAL);
	assert_int_equal(kverbs_recv(t->conn, t->buf, T_SIZE, 1, &req), -EINVAL);
	assert_int_equal(kverbs_send(t->conn, t->buf, SIZE_MAX, 2, &req), -EINVAL);
	assert_int_equal(kverbs_send(t->conn, t->buf, T_SIZE + 1, 0, &req), -EINVAL);
	assert_int_equal(kverbs_send(t->conn, NULL, 0, 1, &req), -EINVAL);
	assert_int_equal(fake.submits, 0);
}

static void memory_of_another_context_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token token;
	struct kverbs_buf *buf;
	struct kverbs *other;

	assert_int_equal(kverbs_open(&other, NULL), 0);
	assert_int_equal(kverbs_buf_alloc(other, 4096, &buf), 0);
	assert_int_equal(kverbs_send(t->conn, buf, 0, 1, &req), -EINVAL);
	assert_int_equal(kverbs_export(t->conn, buf, 0, 1, 1, &token), -EINVAL);
	kverbs_close(other);
}

static void a_receive_reports_length_and_flags(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 100, &req), 0);
	fake_complete_recv(0, 42, KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE, 0x01020304);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(req.byte_len, 42);
	assert_int_equal(req.imm, 0x01020304);
	assert_int_equal(req.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_IMM |
				    KVERBS_CQE_F_WRITE);
}

static void a_failed_entry_reports_its_status(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	fake_complete(0, WC_REM_ACCESS_ERR);
	assert_int_equal(kverbs_wait(&req, 0), -EIO);
	assert_int_equal(req.wc_status, WC_REM_ACCESS_ERR);
	assert_int_equal(req.byte_len, 0);
	/* The request can be used again. */
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(req.wc_status, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void completions_come_in_any_order(void **state)
{
	static const unsigned int order[] = { 3, 0, 2, 1, 0 };
	static const unsigned int which[] = { 3, 0, 4, 2, 1 };
	struct t *t = *state;
	struct kverbs_req req[5] = { 0 };
	unsigned int i;

	for (i = 0; i < 5; i++)
		assert_int_equal(kverbs_send(t->conn, t->buf, i, i + 1, &req[i]), 0);
	for (i = 0; i < 5; i++) {
		fake_complete(order[i], 0);
		assert_int_equal(kverbs_process(t->kv, 0), 1);
		assert_true(kverbs_complete(&req[which[i]]));
		assert_int_equal(req[which[i]].byte_len, which[i] + 1);
	}
}

static void a_request_in_use_cannot_be_posted(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), -EBUSY);
	assert_int_equal(fake_pending(), 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), -EBUSY);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_wait_ends_at_its_timeout(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_wait(&req, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&req, 10), -ETIMEDOUT);
	assert_int_equal(kverbs_process(t->kv, 10), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void an_error_of_waiting_is_returned(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_wait(&req, -1), -EINTR);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_process(t->kv, -1), -EINTR);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_conn_wait(t->conn, -1), 0);
	assert_int_equal(kverbs_wait(&req, -1), -EINTR);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

/* ---- a refused entry ---------------------------------------------------------------- */

static void a_refused_entry_leaves_the_ring(void **state)
{
	static const int errors[] = { -EINVAL, -ENOENT, -ENOTCONN, -ENODEV, -EOPNOTSUPP,
				      -EMSGSIZE, -ENOMEM, -EFAULT };
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		fake_fail(KVERBS_SUBMIT, 1, errors[i]);
		assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), errors[i]);
		assert_true(fake_sq_empty());
		assert_int_equal(fake_pending(), 0);
		assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	}
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 2, &req), 0);
	assert_int_equal(fake_entry(0).length, 2);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void the_kernel_refuses_a_message_that_is_too_long(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	fake.max_msg = 1000;
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1001, &req), 0);
	assert_true(fake_sq_empty());
	assert_int_equal(kverbs_wait(&req, 0), -EMSGSIZE);
}

static void sending_before_the_connection_is_up_is_refused(void **state)
{
	struct sockaddr_storage peer = { .ss_family = AF_INET };
	struct t *t = *state;
	struct kverbs_req req = { 0 }, recv = { 0 };
	struct kverbs_conn *conn;

	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect_start(t->kv, (void *)&peer, NULL, &conn), 0);
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_wait(&req, 0), -ENOTCONN);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &recv), 0);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_wait(&recv, 0), -ECANCELED);
}

static void answer(struct kverbs_req *req)
{
	struct kverbs_conn *conn = req->data;
	static struct kverbs_req send;

	send = (struct kverbs_req) { 0 };
	req->result = kverbs_send(conn, NULL, 0, 0, &send);
}

/* The kernel may report a message before it reports that the connection is established. */
static void a_message_before_the_established_event_can_be_answered(void **state)
{
	struct sockaddr_storage peer = { .ss_family = AF_INET };
	struct kverbs_req first = { .done = answer }, second = { 0 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect_start(t->kv, (void *)&peer, NULL, &conn), 0);
	first.data = conn;
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &first), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 1, 1, &second), 0);
	fake_complete_recv(0, 1, 0, 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 2);
	assert_false(kverbs_complete(&first));
	assert_false(kverbs_complete(&second));
	fake_event(fake.last_conn, KVERBS_CQE_ESTABLISHED, 0);
	assert_int_equal(kverbs_wait(&second, 0), 0);
	assert_int_equal(second.byte_len, 1);
	assert_int_equal(kverbs_wait(&first, 0), 0);
	kverbs_conn_free(conn);
}

static void a_message_before_the_established_event_survives_the_end(void **state)
{
	struct sockaddr_storage peer = { .ss_family = AF_INET };
	struct kverbs_req recv = { 0 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect_start(t->kv, (void *)&peer, NULL, &conn), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 9, &recv), 0);
	fake_complete_recv(0, 7, 0, 0);
	fake_event(fake.last_conn, KVERBS_CQE_FAILED, -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&recv, 0), 0);
	assert_int_equal(recv.byte_len, 7);
	kverbs_conn_free(conn);
}

/* ---- full queues ---------------------------------------------------------------------- */

static void a_full_receive_queue_is_reported(void **state)
{
	const struct kverbs_conn_param param = { .rq_depth = 2 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct t *t = *state;
	struct kverbs_req req[3] = { 0 };
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &conn), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &req[1]), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &req[2]), -EAGAIN);
	assert_true(fake_sq_empty());
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &req[2]), 0);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), -ECANCELED);
	assert_int_equal(kverbs_wait(&req[2], 0), -ECANCELED);
}

/* The completion that makes room is already in the ring, unread. */
static void room_in_the_ring_is_found_without_sleeping(void **state)
{
	const struct kverbs_opts small = { .sz = sizeof(small), .cq_entries = 4 };
	struct kverbs_req req[3] = { 0 };
	struct kverbs_conn *conn;
	struct kverbs *kv;
	int i;

	(void)state;
	assert_int_equal(kverbs_open(&kv, &small), 0);
	conn = t_connect(kv);
	/* Two of four slots are reserved for events of the connection. */
	for (i = 0; i < 3; i++) {
		assert_int_equal(kverbs_send(conn, NULL, 0, 0, &req[i]), 0);
		fake_complete(0, 0);
	}
	assert_true(kverbs_complete(&req[0]));
	assert_int_equal(kverbs_wait(&req[2], 0), 0);
	kverbs_close(kv);
}

static void an_interrupted_wait_for_room_posts_nothing(void **state)
{
	const struct kverbs_conn_param param = { .sq_depth = 1 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &conn), 0);
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req[0]), 0);
	/* The first SUBMIT is refused with EAGAIN, the second one is the wait. */
	fake_fail(KVERBS_SUBMIT, 2, -EINTR);
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req[1]), -EINTR);
	assert_int_equal(fake_pending(), 1);
	assert_int_equal(kverbs_wait(&req[1], 0), -EINVAL);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
}

/* ---- freeing ---------------------------------------------------------------------------- */

static unsigned int calls;

static void count_canceled(struct kverbs_req *req)
{
	assert_int_equal(req->result, -ECANCELED);
	assert_true(kverbs_complete(req));
	calls++;
}

static void free_with_requests(struct t *t, unsigned int wc_status)
{
	struct kverbs_req req[4] = { 0 };

	calls = 0;
	req[1].done = count_canceled;
	req[2].done = count_canceled;
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &req[1]), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[2]), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[3]), 0);
	fake_complete(0, 0);
	kverbs_conn_free(t->conn);
	assert_int_equal(calls, 2);
	/* A request that was complete stays complete. */
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	assert_int_equal(kverbs_wait(&req[3], 0), -ECANCELED);
	assert_int_equal(req[3].wc_status, wc_status);
}

static void freeing_cancels_what_the_kernel_flushes(void **state)
{
	free_with_requests(*state, FAKE_WC_FLUSH);
}

static void freeing_cancels_what_the_kernel_forgets(void **state)
{
	fake.destroy_drops = true;
	free_with_requests(*state, 0);
}

static void freeing_continues_after_a_signal(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	fake_fail(KVERBS_DESTROY, 1, -EINTR);
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_wait(&req, 0), -ECANCELED);
}

static void a_flush_caused_by_the_peer_is_an_error(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(kverbs_wait(&req, 0), -EIO);
	assert_int_equal(req.wc_status, FAKE_WC_FLUSH);
	assert_int_equal(kverbs_conn_error(t->conn), -ECONNRESET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_send_becomes_an_entry),
		t_test_conn(empty_messages_need_no_buffer),
		t_test_conn(ranges_outside_of_the_buffer_are_refused),
		t_test_conn(memory_of_another_context_is_refused),
		t_test_conn(a_receive_reports_length_and_flags),
		t_test_conn(a_failed_entry_reports_its_status),
		t_test_conn(completions_come_in_any_order),
		t_test_conn(a_request_in_use_cannot_be_posted),
		t_test_conn(a_wait_ends_at_its_timeout),
		t_test_conn(an_error_of_waiting_is_returned),
		t_test_conn(a_refused_entry_leaves_the_ring),
		t_test_conn(the_kernel_refuses_a_message_that_is_too_long),
		t_test_conn(sending_before_the_connection_is_up_is_refused),
		t_test_conn(a_message_before_the_established_event_can_be_answered),
		t_test_conn(a_message_before_the_established_event_survives_the_end),
		t_test_conn(a_full_receive_queue_is_reported),
		t_test_conn(room_in_the_ring_is_found_without_sleeping),
		t_test_conn(an_interrupted_wait_for_room_posts_nothing),
		t_test_conn(freeing_cancels_what_the_kernel_flushes),
		t_test_conn(freeing_cancels_what_the_kernel_forgets),
		t_test_conn(freeing_continues_after_a_signal),
		t_test_conn(a_flush_caused_by_the_peer_is_an_error),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
