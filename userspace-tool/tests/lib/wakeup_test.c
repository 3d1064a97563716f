// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs_wakeup() ends waits, and lets none begin. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "t.h"

static struct kverbs *to_wake;

struct waiter {
	pthread_t thread;
	struct kverbs_req *req;
	int ret;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *w = arg;

	w->ret = kverbs_wait(w->req, -1);
	return NULL;
}

static void start(struct waiter *w, struct kverbs_req *req)
{
	w->req = req;
	assert_int_equal(pthread_create(&w->thread, NULL, wait_for_ever, w), 0);
}

static int join(struct waiter *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	return w->ret;
}

static void wakeup_ends_the_waits_of_all_threads(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[3] = { 0 };
	struct waiter w[3];
	int i;

	for (i = 0; i < 3; i++)
		assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[i]), 0);
	start(&w[0], &req[0]);
	fake_wait_sleepers(1);
	start(&w[1], &req[1]);
	start(&w[2], &req[2]);
	t_wait_followers(t->kv, 2);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(join(&w[i]), -EINTR);
	kverbs_wakeup_clear(t->kv);
	for (i = 0; i < 3; i++) {
		fake_complete(0, 0);
		assert_int_equal(kverbs_wait(&req[i], -1), 0);
	}
}

static void no_wait_begins_between_wakeup_and_clear(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_wait(&req, -1), -EINTR);
	assert_int_equal(kverbs_wait(&req, 0), -EINTR);
	assert_int_equal(kverbs_process(t->kv, -1), -EINTR);
	assert_int_equal(kverbs_process(t->kv, 0), -EINTR);
	kverbs_wakeup_clear(t->kv);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	assert_int_equal(kverbs_wait(&req, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

static void what_has_happened_is_reported_after_wakeup(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[1]), 0);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], -1), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, -1), 1);
	assert_int_equal(kverbs_process(t->kv, -1), -EINTR);
	assert_int_equal(kverbs_wait(&req[1], -1), 0);
}

static void the_descriptor_is_readable_after_wakeup(void **state)
{
	struct t *t = *state;
	struct pollfd pfd = { .fd = kverbs_fd(t->kv), .events = POLLIN };

	fake_update_poll();
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	fake_update_poll();
	assert_int_equal(poll(&pfd, 1, 0), 1);
	kverbs_wakeup_clear(t->kv);
	fake_update_poll();
	assert_int_equal(poll(&pfd, 1, 0), 0);
}

static void an_operation_is_posted_even_if_its_wait_is_not_begun(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1, .req = &req,
	};

	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_post_wait(t->conn, &op, &req, -1), -EINTR);
	assert_int_equal(fake_pending(), 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void wakeup_ends_a_watch(void **state)
{
	struct t *t = *state;
	uint8_t byte = 0;

	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_watch(t->conn, &byte, 0, -1), -EINTR);
	assert_int_equal(kverbs_watch(t->conn, &byte, 1, -1), 0);
}

/* A context with room for two operations. */
static struct kverbs_conn *open_small(struct kverbs **kv, struct kverbs_buf **buf)
{
	/* Two slots are the connection's. */
	struct kverbs_opts opts = { .sz = sizeof(opts), .sq_entries = 4, .cq_entries = 4 };

	assert_int_equal(kverbs_open(kv, &opts), 0);
	assert_int_equal(kverbs_buf_alloc(*kv, T_SIZE, buf), 0);
	return t_connect(*kv);
}

static void a_post_that_waits_for_room_is_ended(void **state)
{
	struct t small = { 0 };
	static struct kverbs_req req[3];

	(void)state;
	memset(req, 0, sizeof(req));
	small.conn = open_small(&small.kv, &small.buf);
	assert_int_equal(kverbs_send(small.conn, small.buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_send(small.conn, small.buf, 0, 1, &req[1]), 0);
	assert_int_equal(kverbs_process(small.kv, 0), 0);
	assert_int_equal(kverbs_wakeup(small.kv), 0);
	assert_int_equal(kverbs_send(small.conn, small.buf, 0, 1, &req[2]), -EINTR);
	kverbs_close(small.kv);
}

struct writer {
	pthread_t thread;
	struct t *t;
	struct kverbs_token token;
	struct kverbs_req req;
	int ret;
};

static void *write_all(void *arg)
{
	struct writer *w = arg;

	w->ret = kverbs_write(w->t->conn, w->t->buf, 0, w->token.length, &w->token, 0, &w->req);
	return NULL;
}

static void half_an_operation_waits_for_room_in_spite_of_wakeup(void **state)
{
	struct t small = { 0 };
	struct writer w = { .t = &small };
	int left;

	(void)state;
	small.conn = open_small(&small.kv, &small.buf);
	w.token = t_token(6, 16);
	assert_int_equal(pthread_create(&w.thread, NULL, write_all, &w), 0);
	fake_wait_pending(2);
	assert_int_equal(kverbs_wakeup(small.kv), 0);
	for (left = 6; left; left--) {
		fake_wait_pending(left < 2 ? left : 2);
		fake_complete(0, 0);
	}
	assert_int_equal(pthread_join(w.thread, NULL), 0);
	assert_int_equal(w.ret, 0);
	assert_int_equal(kverbs_wait(&w.req, 0), 0);
	kverbs_token_free(&w.token);
	kverbs_close(small.kv);
}

static void a_connection_is_freed_after_wakeup(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_wait(&req, 0), -ECANCELED);
}

static void on_signal(int sig)
{
	(void)sig;
	kverbs_wakeup(to_wake);
}

static void a_signal_handler_can_call_wakeup(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct waiter w;

	to_wake = t->kv;
	signal(SIGUSR1, on_signal);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	start(&w, &req);
	fake_wait_sleepers(1);
	raise(SIGUSR1);
	assert_int_equal(join(&w), -EINTR);
	signal(SIGUSR1, SIG_DFL);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(wakeup_ends_the_waits_of_all_threads),
		t_test_conn(no_wait_begins_between_wakeup_and_clear),
		t_test_conn(what_has_happened_is_reported_after_wakeup),
		t_test_conn(the_descriptor_is_readable_after_wakeup),
		t_test_conn(an_operation_is_posted_even_if_its_wait_is_not_begun),
		t_test_conn(wakeup_ends_a_watch),
		t_test(a_post_that_waits_for_room_is_ended),
		t_test(half_an_operation_waits_for_room_in_spite_of_wakeup),
		t_test_conn(a_connection_is_freed_after_wakeup),
		t_test_conn(a_signal_handler_can_call_wakeup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
