// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Watching a byte happens in the kernel, and completions are still handled. */
#include <pthread.h>

#include "t.h"

#define OLD 1
#define NEW 2

/* A thread that watches, optionally after posting. */
struct watcher {
	pthread_t thread;
	struct kverbs_conn *conn;
	const struct kverbs_op *op;
	uint8_t byte;
	int timeout_ms;
	int ret;
};

static void *watch(void *arg)
{
	struct watcher *w = arg;

	if (w->op)
		w->ret = kverbs_post_watch(w->conn, w->op, &w->byte, OLD, w->timeout_ms);
	else
		w->ret = kverbs_watch(w->conn, &w->byte, OLD, w->timeout_ms);
	return NULL;
}

static void start(struct watcher *w, struct t *t, const struct kverbs_op *op)
{
	*w = (struct watcher){ .conn = t->conn, .op = op, .byte = OLD, .timeout_ms = -1 };
	assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
}

static int join(struct watcher *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	return w->ret;
}

static struct kverbs_op a_send(struct t *t, struct kverbs_req *req)
{
	return (struct kverbs_op){
		.opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1, .req = req,
	};
}

static void a_byte_that_has_changed_already_costs_no_call(void **state)
{
	struct t *t = *state;
	uint8_t byte = NEW;

	fake_fail(KVERBS_SUBMIT, 1, -EIO);
	assert_int_equal(kverbs_watch(t->conn, &byte, OLD, -1), 0);
	assert_int_equal(kverbs_process(t->kv, 1), -EIO);
}

static void a_watch_ends_when_the_byte_changes(void **state)
{
	struct watcher w;

	start(&w, *state, NULL);
	fake_wait_sleepers(1);
	fake_write(&w.byte, NEW);
	assert_int_equal(join(&w), 0);
}

static void posting_and_watching_is_one_call(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = a_send(t, &req);
	struct watcher w;

	start(&w, t, &op);
	fake_wait_sleepers(1);
	assert_int_equal(fake_pending(), 1);
	assert_int_equal(fake.submits, 1);
	fake_write(&w.byte, NEW);
	assert_int_equal(join(&w), 0);
	assert_false(kverbs_complete(&req));
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_refused_operation_is_not_watched_for(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = a_send(t, &req);
	uint8_t byte = OLD;

	fake_fail(KVERBS_SUBMIT, 1, -ENOTCONN);
	assert_int_equal(kverbs_post_watch(t->conn, &op, &byte, OLD, -1), -ENOTCONN);
	assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	assert_true(fake_sq_empty());
}

static void count(struct kverbs_req *req)
{
	__atomic_add_fetch((int *)req->data, 1, __ATOMIC_RELEASE);
}

static void completions_during_a_watch_are_reported_and_do_not_end_it(void **state)
{
	struct t *t = *state;
	int told = 0;
	struct kverbs_req req = { .done = count, .data = &told };
	const struct kverbs_op op = a_send(t, &req);
	struct watcher w;

	start(&w, t, &op);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE))
		fake_wait_pending(0);
	fake_wait_sleepers(1);
	fake_write(&w.byte, NEW);
	assert_int_equal(join(&w), 0);
}

static void a_watch_ends_at_its_timeout(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = a_send(t, &req);
	uint8_t byte = OLD;

	assert_int_equal(kverbs_watch(t->conn, &byte, OLD, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_watch(t->conn, &byte, OLD, 20), -ETIMEDOUT);
	assert_int_equal(kverbs_post_watch(t->conn, &op, &byte, OLD, 20), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	assert_int_equal(kverbs_post_watch(t->conn, &op, &byte, OLD, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_signal_ends_a_watch(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	const struct kverbs_op op = a_send(t, &req);
	struct watcher w;

	start(&w, t, NULL);
	fake_wait_sleepers(1);
	fake_interrupt();
	assert_int_equal(join(&w), -EINTR);
	start(&w, t, &op);
	fake_wait_sleepers(1);
	fake_interrupt();
	assert_int_equal(join(&w), -EINTR);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void the_end_of_the_connection_ends_a_watch(void **state)
{
	struct t *t = *state;
	uint8_t byte = OLD;
	struct watcher w;

	start(&w, t, NULL);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(join(&w), -ECONNRESET);
	assert_int_equal(kverbs_watch(t->conn, &byte, OLD, -1), -ECONNRESET);
}

/* A thread that waits for a SEND and so reads completions. */
static void *wait_for(void *arg)
{
	return (void *)(intptr_t)kverbs_wait(arg, -1);
}

static int join_leader(pthread_t leader)
{
	void *ret;

	assert_int_equal(pthread_join(leader, &ret), 0);
	return (int)(intptr_t)ret;
}

static pthread_t start_leader(struct t *t, struct kverbs_req *req)
{
	const struct kverbs_op op = a_send(t, req);
	pthread_t leader;

	assert_int_equal(kverbs_post(t->conn, &op, 1), 1);
	assert_int_equal(pthread_create(&leader, NULL, wait_for, req), 0);
	fake_wait_sleepers(1);
	return leader;
}

static void a_watch_ends_without_a_thread_that_waits_for_completions(void **state)
{
	struct kverbs_req req = { 0 };
	pthread_t leader = start_leader(*state, &req);
	struct watcher w;

	start(&w, *state, NULL);
	fake_wait_sleepers(2);
	fake_write(&w.byte, NEW);
	assert_int_equal(join(&w), 0);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_int_equal(join_leader(leader), 0);
}

static void a_watch_learns_of_an_end_that_another_thread_reads(void **state)
{
	struct kverbs_req req = { 0 };
	pthread_t leader = start_leader(*state, &req);
	struct watcher w;

	start(&w, *state, NULL);
	fake_wait_sleepers(2);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(join(&w), -ECONNRESET);
	assert_int_equal(join_leader(leader), -EIO);
}

struct inside {
	struct t *t;
	int ret;
};

static void watch_inside(struct kverbs_req *req)
{
	struct inside *inside = req->data;
	uint8_t byte = OLD;

	inside->ret = kverbs_watch(inside->t->conn, &byte, OLD, -1);
}

static void watching_in_a_callback_is_refused(void **state)
{
	struct inside inside = { .t = *state };
	struct kverbs_req req = { .done = watch_inside, .data = &inside };
	const struct kverbs_op op = a_send(inside.t, &req);

	assert_int_equal(kverbs_post(inside.t->conn, &op, 1), 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(inside.ret, -EDEADLK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_byte_that_has_changed_already_costs_no_call),
		t_test_conn(a_watch_ends_when_the_byte_changes),
		t_test_conn(posting_and_watching_is_one_call),
		t_test_conn(a_refused_operation_is_not_watched_for),
		t_test_conn(completions_during_a_watch_are_reported_and_do_not_end_it),
		t_test_conn(a_watch_ends_at_its_timeout),
		t_test_conn(a_signal_ends_a_watch),
		t_test_conn(the_end_of_the_connection_ends_a_watch),
		t_test_conn(a_watch_ends_without_a_thread_that_waits_for_completions),
		t_test_conn(a_watch_learns_of_an_end_that_another_thread_reads),
		t_test_conn(watching_in_a_callback_is_refused),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
