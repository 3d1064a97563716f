// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting and waiting is one system call, and blocks no other thread. */
#include <pthread.h>
#include <time.h>

#include "t.h"

/* A thread that posts and waits. */
struct caller {
	pthread_t thread;
	struct t *t;
	struct kverbs_req req;
	struct kverbs_req *awaited;
	int timeout_ms;
	int ret;
};

static void *post_and_wait(void *arg)
{
	struct caller *c = arg;
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND, .buf = c->t->buf, .length = 1, .req = &c->req,
	};

	c->ret = kverbs_post_wait(c->t->conn, &op, c->awaited, c->timeout_ms);
	return NULL;
}

static void init(struct caller *c, struct t *t, int timeout_ms)
{
	memset(c, 0, sizeof(*c));
	c->t = t;
	c->awaited = &c->req;
	c->timeout_ms = timeout_ms;
}

static void start(struct caller *c)
{
	assert_int_equal(pthread_create(&c->thread, NULL, post_and_wait, c), 0);
}

static int join(struct caller *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
	return c->ret;
}

static int call(struct caller *c)
{
	post_and_wait(c);
	return c->ret;
}

static void posting_and_waiting_is_one_call(void **state)
{
	struct t *t = *state;
	struct caller c;

	init(&c, t, -1);
	start(&c);
	fake_wait_sleepers(1);
	assert_int_equal(fake_pending(), 1);
	assert_int_equal(fake.submits, 1);
	/* There is no second SUBMIT: the injected error is left for the next call. */
	fake_fail(KVERBS_SUBMIT, 1, -EIO);
	fake_complete(0, 0);
	assert_int_equal(join(&c), 0);
	assert_int_equal(c.req.byte_len, 1);
	assert_int_equal(kverbs_process(t->kv, 1), -EIO);
}

static void the_request_to_wait_for_may_be_another_one(void **state)
{
	struct t *t = *state;
	struct kverbs_req answer = { 0 };
	struct caller c;

	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 8, &answer), 0);
	init(&c, t, -1);
	c.awaited = &answer;
	start(&c);
	fake_wait_sleepers(1);
	fake_complete(1, 0);
	fake_wait_pending(1);
	fake_complete_recv(0, 5, 0, 0);
	assert_int_equal(join(&c), 0);
	assert_int_equal(answer.byte_len, 5);
	assert_int_equal(kverbs_wait(&c.req, 0), 0);
}

static void a_refused_operation_is_not_waited_for(void **state)
{
	struct t *t = *state;
	struct caller c;

	init(&c, t, -1);
	fake_fail(KVERBS_SUBMIT, 1, -ENOTCONN);
	assert_int_equal(call(&c), -ENOTCONN);
	assert_int_equal(kverbs_wait(&c.req, 0), -EINVAL);
	assert_true(fake_sq_empty());
	assert_int_equal(fake_pending(), 0);
}

static void posting_and_waiting_times_out_like_waiting(void **state)
{
	struct t *t = *state;
	struct caller c;

	init(&c, t, 20);
	assert_int_equal(call(&c), -ETIMEDOUT);
	assert_int_equal(fake_pending(), 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req, 0), 0);
	init(&c, t, 0);
	assert_int_equal(call(&c), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req, 0), 0);
}

static void a_signal_ends_the_wait_but_not_the_operation(void **state)
{
	struct t *t = *state;
	struct caller c;

	init(&c, t, -1);
	start(&c);
	fake_wait_sleepers(1);
	fake_interrupt();
	assert_int_equal(join(&c), -EINTR);
	assert_false(kverbs_complete(&c.req));
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req, 0), 0);
}

static void after_a_signal_a_request_tells_whether_it_was_posted(void **state)
{
	const struct kverbs_conn_param param = { .sq_depth = 1 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };
	struct kverbs_op op = { .opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1 };
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &conn), 0);
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req[0]), 0);
	/* The queue is full, and the wait for room is interrupted. */
	fake_fail(KVERBS_SUBMIT, 2, -EINTR);
	op.req = &req[1];
	assert_int_equal(kverbs_post_wait(conn, &op, op.req, -1), -EINTR);
	assert_int_equal(kverbs_wait(op.req, 0), -EINVAL);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	kverbs_conn_free(conn);
}

static void other_threads_can_post_during_a_wait(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct caller c;

	init(&c, t, -1);
	start(&c);
	fake_wait_sleepers(1);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 2, &req), 0);
	assert_int_equal(fake_pending(), 2);
	fake_complete(0, 0);
	assert_int_equal(join(&c), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_second_thread_follows_the_leader(void **state)
{
	struct t *t = *state;
	struct caller first, second;

	init(&first, t, -1);
	init(&second, t, -1);
	start(&first);
	fake_wait_sleepers(1);
	start(&second);
	t_wait_followers(t->kv, 1);
	fake_complete(1, 0);
	assert_int_equal(join(&second), 0);
	fake_complete(0, 0);
	assert_int_equal(join(&first), 0);
}

static void a_follower_takes_over(void **state)
{
	struct t *t = *state;
	struct caller first, second;

	init(&first, t, -1);
	init(&second, t, -1);
	start(&first);
	fake_wait_sleepers(1);
	start(&second);
	t_wait_followers(t->kv, 1);
	fake_complete(0, 0);
	assert_int_equal(join(&first), 0);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_int_equal(join(&second), 0);
}

static void a_receive_is_posted_first(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_RECV, .buf = t->buf, .length = 8, .req = &req,
	};

	assert_int_equal(kverbs_post_wait(t->conn, &op, &req, 10), -ETIMEDOUT);
	fake_complete_recv(0, 3, 0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

/* Both were read together, and the SEND, which has no request, reports nothing. */
static void a_request_that_is_complete_is_not_waited_for(void **state)
{
	struct t *t = *state;
	struct kverbs_req first = { 0 }, answer = { 0 };
	const struct kverbs_op silent = { .opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1 };
	struct timespec before, after;

	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 8, &first), 0);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 8, 8, &answer), 0);
	fake_complete_recv(0, 3, 0, 0);
	fake_complete_recv(0, 5, 0, 0);
	assert_int_equal(kverbs_wait(&first, -1), 0);
	/* The clock stands still, unless a thread sleeps until its deadline. */
	fake.time_jumps = true;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(kverbs_post_wait(t->conn, &silent, &answer, FAKE_PATIENCE_MS), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(answer.byte_len, 5);
	assert_int_equal(fake_pending(), 1);
}

static void waiting_for_an_unposted_request_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req never = { 0 };
	struct caller c;

	init(&c, t, 0);
	c.awaited = &never;
	assert_int_equal(call(&c), -EINVAL);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req, 0), 0);
}

/* Each thread posts and waits as fast as it can, on the same ring. */
#define ROUNDS 500

static void *post_often(void *arg)
{
	struct caller *c = arg;
	int i;

	for (i = 0; i < ROUNDS && !c->ret; i++) {
		post_and_wait(c);
		assert_int_equal(c->req.byte_len, 1);
	}
	return NULL;
}

static void many_threads_lose_no_completion(void **state)
{
	struct t *t = *state;
	struct caller c[4];
	unsigned int i;

	fake_device_start(1, 0);
	for (i = 0; i < 4; i++) {
		init(&c[i], t, -1);
		assert_int_equal(pthread_create(&c[i].thread, NULL, post_often, &c[i]), 0);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(join(&c[i]), 0);
	fake_device_stop();
	assert_int_equal(fake_pending(), 0);
	assert_true(fake_sq_empty());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(posting_and_waiting_is_one_call),
		t_test_conn(the_request_to_wait_for_may_be_another_one),
		t_test_conn(a_refused_operation_is_not_waited_for),
		t_test_conn(posting_and_waiting_times_out_like_waiting),
		t_test_conn(a_signal_ends_the_wait_but_not_the_operation),
		t_test_conn(after_a_signal_a_request_tells_whether_it_was_posted),
		t_test_conn(other_threads_can_post_during_a_wait),
		t_test_conn(a_second_thread_follows_the_leader),
		t_test_conn(a_follower_takes_over),
		t_test_conn(a_receive_is_posted_first),
		t_test_conn(a_request_that_is_complete_is_not_waited_for),
		t_test_conn(waiting_for_an_unposted_request_is_refused),
		t_test_conn(many_threads_lose_no_completion),
	};

	return cmocka_run_group_tests_name("post_wait", tests, NULL, NULL);
}
