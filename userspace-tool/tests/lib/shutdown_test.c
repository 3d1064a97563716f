// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection is ended when its operations are complete. */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>

#include "t.h"

#define WC_REM_ACCESS_ERR 10

/* A thread that shuts a connection down. */
struct caller {
	pthread_t thread;
	struct kverbs_conn *conn;
	int timeout_ms;
	int ret;
};

static void *shut_down(void *arg)
{
	struct caller *c = arg;

	c->ret = kverbs_shutdown(c->conn, c->timeout_ms);
	return NULL;
}

static void start(struct caller *c, struct kverbs_conn *conn, int timeout_ms)
{
	*c = (struct caller) { .conn = conn, .timeout_ms = timeout_ms };
	assert_int_equal(pthread_create(&c->thread, NULL, shut_down, c), 0);
}

static int join(struct caller *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
	return c->ret;
}

/* Post a message without a request. */
static void post_silent(struct t *t)
{
	const struct kverbs_op op = { .opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1 };

	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
}

static bool is_up(void)
{
	return fake_conn_state(fake.last_conn) == KVERBS_CONN_ESTABLISHED;
}

/* ---- the flush ------------------------------------------------------------------------- */

static void operations_are_complete_before_the_end(void **state)
{
	struct t *t = *state;
	struct kverbs_req send = { 0 };
	struct caller c;

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &send), 0);
	post_silent(t);
	start(&c, t->conn, -1);
	fake_wait_pending(3);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	fake_complete(0, 0);
	fake_wait_pending(1);
	assert_true(is_up());
	fake_complete(0, 0);
	assert_int_equal(join(&c), 0);
	assert_true(kverbs_complete(&send));
	assert_int_equal(send.result, 0);
	assert_int_equal(fake_conn_state(fake.last_conn), KVERBS_CONN_DEAD);
	assert_int_equal(kverbs_conn_error(t->conn), -ECANCELED);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &send), -ECANCELED);
}

static void the_flush_needs_neither_memory_nor_a_key(void **state)
{
	struct t *t = *state;
	struct kverbs_sqe sqe;

	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	sqe = fake_entry(0);
	assert_int_equal(sqe.opcode, KVERBS_OP_WRITE);
	assert_int_equal(sqe.flags, KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE);
	assert_int_equal(sqe.length, 0);
	assert_int_equal(sqe.offset, 0);
	assert_int_equal(sqe.region_id, 0);
	assert_int_equal(sqe.remote_addr, 0);
	assert_int_equal(sqe.rkey, 0);
}

static void receives_are_not_waited_for(void **state)
{
	struct t *t = *state;
	struct kverbs_req recv = { 0 };

	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &recv), 0);
	fake_device_start(1, 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), 0);
	fake_device_stop();
	assert_int_equal(kverbs_wait(&recv, 0), -EIO);
	assert_int_equal(recv.wc_status, FAKE_WC_FLUSH);
}

static void a_connection_that_is_shut_down_stays_so(void **state)
{
	struct t *t = *state;

	fake_device_start(1, 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), 0);
	fake_device_stop();
}

/* ---- the time is over -------------------------------------------------------------------- */

static void a_connection_that_is_not_flushed_in_time_can_be_used(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_shutdown(t->conn, 20), -ETIMEDOUT);
	assert_int_equal(fake_pending(), 2);
	assert_true(is_up());
	assert_int_equal(kverbs_conn_error(t->conn), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[1]), 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
}

static void another_call_goes_on(void **state)
{
	struct t *t = *state;

	post_silent(t);
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	assert_int_equal(fake_pending(), 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), 0);
	assert_false(is_up());
}

static void another_call_waits_for_later_operations(void **state)
{
	struct t *t = *state;
	struct caller c;

	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	post_silent(t);
	fake_complete(0, 0);
	start(&c, t->conn, -1);
	/* The operation, and a flush behind it */
	fake_wait_pending(2);
	fake_complete(0, 0);
	assert_true(is_up());
	fake_complete(0, 0);
	assert_int_equal(join(&c), 0);
}

static void a_receive_needs_no_other_flush(void **state)
{
	struct t *t = *state;
	struct kverbs_req recv = { 0 };

	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &recv), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), 0);
	assert_int_equal(kverbs_wait(&recv, 0), -EIO);
}

static void a_full_queue_does_not_hold_up_the_call(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct caller c;

	t_shrink_queue(t, 1);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_shutdown(t->conn, 20), -ETIMEDOUT);
	assert_int_equal(fake_pending(), 1);
	start(&c, t->conn, -1);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	fake_wait_pending(1);
	assert_int_equal(fake_entry(0).opcode, KVERBS_OP_WRITE);
	fake_complete(0, 0);
	assert_int_equal(join(&c), 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void the_end_is_waited_for(void **state)
{
	struct t *t = *state;
	struct caller c;

	fake.disconnect_lingers = true;
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_shutdown(t->conn, 20), -ETIMEDOUT);
	assert_int_equal(fake_conn_state(fake.last_conn), KVERBS_CONN_CLOSING);
	start(&c, t->conn, -1);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, 0);
	assert_int_equal(join(&c), 0);
	assert_int_equal(kverbs_conn_error(t->conn), -ECANCELED);
}

static void a_signal_ends_the_wait(void **state)
{
	struct t *t = *state;
	struct caller c;

	start(&c, t->conn, -1);
	fake_wait_pending(1);
	fake_wait_sleepers(1);
	fake_interrupt();
	assert_int_equal(join(&c), -EINTR);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -EINTR);
	kverbs_wakeup_clear(t->kv);
	assert_true(is_up());
	fake_complete(0, 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), 0);
}

/* ---- other ends --------------------------------------------------------------------------- */

static void the_end_by_the_peer_is_returned(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct caller c;

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	start(&c, t->conn, -1);
	fake_wait_pending(2);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(join(&c), -ECONNRESET);
	assert_int_equal(kverbs_wait(&req, 0), -EIO);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -ECONNRESET);
}

static void an_end_by_the_peer_after_the_flush_is_returned(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -ECONNRESET);
}

/* The operation's failure breaks the connection, which is reported later. */
static void a_failed_operation_is_an_end(void **state)
{
	struct t *t = *state;
	struct caller c;

	post_silent(t);
	start(&c, t->conn, -1);
	fake_wait_pending(2);
	fake_wait_sleepers(1);
	fake_complete(0, WC_REM_ACCESS_ERR);
	fake_complete(0, FAKE_WC_FLUSH);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -EIO);
	assert_int_equal(join(&c), -EIO);
	assert_int_equal(kverbs_conn_error(t->conn), -EIO);
}

static void the_end_after_a_failure_is_waited_for(void **state)
{
	struct t *t = *state;
	struct caller c;

	start(&c, t->conn, FAKE_PATIENCE_MS);
	fake_wait_pending(1);
	fake_wait_sleepers(1);
	fake_complete(0, WC_REM_ACCESS_ERR);
	fake_advance(FAKE_PATIENCE_MS);
	assert_int_equal(join(&c), -ETIMEDOUT);
	assert_int_equal(kverbs_conn_error(t->conn), 0);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -EIO);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -EIO);
}

static void a_disconnected_connection_is_not_shut_down(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_disconnect(t->conn), 0);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -ECANCELED);
}

static void a_connection_that_is_not_established_is_refused(void **state)
{
	struct sockaddr_in peer = { .sin_family = AF_INET };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect_start(t->kv, (struct sockaddr *)&peer, NULL, &conn), 0);
	assert_int_equal(kverbs_shutdown(conn, -1), -ENOTCONN);
	fake_event(fake.last_conn, KVERBS_CQE_ESTABLISHED, 0);
	assert_int_equal(kverbs_conn_wait(conn, -1), 0);
	fake_device_start(1, 0);
	assert_int_equal(kverbs_shutdown(conn, -1), 0);
	fake_device_stop();
	kverbs_conn_free(conn);
}

static void a_refused_flush_is_returned(void **state)
{
	struct t *t = *state;

	fake_fail(KVERBS_SUBMIT, 1, -ENOMEM);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -ENOMEM);
	fake_device_start(1, 0);
	fake_fail(KVERBS_DISCONNECT, 1, -EIO);
	assert_int_equal(kverbs_shutdown(t->conn, -1), -EIO);
	assert_int_equal(kverbs_shutdown(t->conn, -1), 0);
	fake_device_stop();
}

static void a_connection_can_be_freed_with_a_flush_in_flight(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	kverbs_conn_free(t->conn);
	t->conn = t_connect(t->kv);
	fake.destroy_drops = true;
	assert_int_equal(kverbs_shutdown(t->conn, 0), -ETIMEDOUT);
	kverbs_conn_free(t->conn);
	assert_int_equal(fake_pending(), 0);
}

/* ---- callbacks and threads ------------------------------------------------------------------ */

struct inside {
	struct t *t;
	struct kverbs_req req;
	int ret;
};

static void shut_down_inside(struct kverbs_req *req)
{
	struct inside *in = req->data;

	in->ret = kverbs_shutdown(in->t->conn, -1);
}

static void shutting_down_in_a_callback_is_refused(void **state)
{
	struct inside in = { .t = *state, .req = { .done = shut_down_inside, .data = &in } };

	assert_int_equal(kverbs_send(in.t->conn, in.t->buf, 0, 1, &in.req), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&in.req, -1), 0);
	assert_int_equal(in.ret, -EDEADLK);
	assert_int_equal(fake_pending(), 0);
	/* How it has ended is known without waiting. */
	assert_int_equal(kverbs_send(in.t->conn, in.t->buf, 0, 1, &in.req), 0);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(kverbs_process(in.t->kv, -1), 2);
	assert_int_equal(in.ret, -ECONNRESET);
}

static void two_threads_may_shut_down(void **state)
{
	struct t *t = *state;
	struct caller first, second;

	fake.disconnect_lingers = true;
	start(&first, t->conn, -1);
	fake_wait_pending(1);
	fake_wait_sleepers(1);
	start(&second, t->conn, -1);
	t_wait_followers(t->kv, 1);
	fake_device_start(1, 0);
	/* Either has disconnected, and neither returns before the end. */
	while (fake_conn_state(fake.last_conn) != KVERBS_CONN_CLOSING)
		sched_yield();
	t_wait_followers(t->kv, 1);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, 0);
	assert_int_equal(join(&first), 0);
	assert_int_equal(join(&second), 0);
	fake_device_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(operations_are_complete_before_the_end),
		t_test_conn(the_flush_needs_neither_memory_nor_a_key),
		t_test_conn(receives_are_not_waited_for),
		t_test_conn(a_connection_that_is_shut_down_stays_so),
		t_test_conn(a_connection_that_is_not_flushed_in_time_can_be_used),
		t_test_conn(another_call_goes_on),
		t_test_conn(another_call_waits_for_later_operations),
		t_test_conn(a_receive_needs_no_other_flush),
		t_test_conn(a_full_queue_does_not_hold_up_the_call),
		t_test_conn(the_end_is_waited_for),
		t_test_conn(a_signal_ends_the_wait),
		t_test_conn(the_end_by_the_peer_is_returned),
		t_test_conn(an_end_by_the_peer_after_the_flush_is_returned),
		t_test_conn(a_failed_operation_is_an_end),
		t_test_conn(the_end_after_a_failure_is_waited_for),
		t_test_conn(a_disconnected_connection_is_not_shut_down),
		t_test_conn(a_connection_that_is_not_established_is_refused),
		t_test_conn(a_refused_flush_is_returned),
		t_test_conn(a_connection_can_be_freed_with_a_flush_in_flight),
		t_test_conn(shutting_down_in_a_callback_is_refused),
		t_test_conn(two_threads_may_shut_down),
	};

	return cmocka_run_group_tests_name("shutdown", tests, NULL, NULL);
}
