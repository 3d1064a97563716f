// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Many threads wait at one place, and each of them wakes up. */
#include <pthread.h>

#include "t.h"

/* ---- one waiter per thread ------------------------------------------------------------ */

struct waiter {
	pthread_t thread;
	struct kverbs_req *req;
	int timeout_ms;
	int ret;
};

static void *wait_for_req(void *arg)
{
	struct waiter *w = arg;

	w->ret = kverbs_wait(w->req, w->timeout_ms);
	return NULL;
}

static void start(struct waiter *w, struct kverbs_req *req, int timeout_ms)
{
	w->req = req;
	w->timeout_ms = timeout_ms;
	assert_int_equal(pthread_create(&w->thread, NULL, wait_for_req, w), 0);
}

static int join(struct waiter *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	return w->ret;
}

static void post_two(struct t *t, struct kverbs_req req[2])
{
	memset(req, 0, 2 * sizeof(*req));
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req[0]), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 2, &req[1]), 0);
}

/* Two threads wait without end: the first one leads, the second one follows. */
static void start_two(struct t *t, struct kverbs_req *req, struct waiter *leader,
		      struct waiter *follower)
{
	post_two(t, req);
	start(leader, &req[0], -1);
	fake_wait_sleepers(1);
	start(follower, &req[1], -1);
	t_wait_followers(t->kv, 1);
}

static void the_leader_wakes_the_owner_of_a_request_it_read(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	start_two(t, req, &leader, &follower);
	fake_complete(1, 0);
	assert_int_equal(join(&follower), 0);
	assert_false(kverbs_complete(&req[0]));
	fake_complete(0, 0);
	assert_int_equal(join(&leader), 0);
}

static void a_follower_takes_over_from_a_leader_that_is_done(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	start_two(t, req, &leader, &follower);
	fake_complete(0, 0);
	assert_int_equal(join(&leader), 0);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_int_equal(join(&follower), 0);
}

/* The heir's request is already complete: the next thread must take over. */
static void a_new_leader_that_is_done_hands_over(void **state)
{
	struct t *t = *state;
	struct waiter leader, heir, last;
	struct kverbs_req req[2], third = { 0 };

	post_two(t, req);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 3, &third), 0);
	start(&leader, &req[0], -1);
	fake_wait_sleepers(1);
	start(&heir, &req[1], -1);
	t_wait_followers(t->kv, 1);
	start(&last, &third, -1);
	t_wait_followers(t->kv, 2);
	fake_complete_two(0, 0);
	assert_int_equal(join(&leader), 0);
	assert_int_equal(join(&heir), 0);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_int_equal(join(&last), 0);
}

static void a_follower_takes_over_from_a_leader_whose_time_is_up(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	post_two(t, req);
	start(&leader, &req[0], FAKE_PATIENCE_MS);
	fake_wait_sleepers(1);
	start(&follower, &req[1], -1);
	t_wait_followers(t->kv, 1);
	fake_advance(FAKE_PATIENCE_MS);
	assert_int_equal(join(&leader), -ETIMEDOUT);
	fake_wait_sleepers(1);
	fake_complete(1, 0);
	assert_int_equal(join(&follower), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], -1), 0);
}

static void a_follower_takes_over_from_a_leader_that_is_interrupted(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	start_two(t, req, &leader, &follower);
	fake_interrupt();
	assert_int_equal(join(&leader), -EINTR);
	fake_wait_sleepers(1);
	fake_complete(1, 0);
	assert_int_equal(join(&follower), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[0], -1), 0);
}

static void a_follower_has_its_own_deadline(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[2];
	struct waiter leader;

	post_two(t, req);
	start(&leader, &req[0], -1);
	fake_wait_sleepers(1);
	assert_int_equal(kverbs_wait(&req[1], 0), -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&req[1], 20), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(join(&leader), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req[1], -1), 0);
}

static void *process(void *arg)
{
	struct waiter *w = arg;
	struct t *t = (void *)w->req;

	w->ret = kverbs_process(t->kv, w->timeout_ms);
	return NULL;
}

static void processing_returns_when_another_thread_took_them(void **state)
{
	struct t *t = *state;
	struct waiter leader, w = { .req = (void *)t, .timeout_ms = -1 };
	struct kverbs_req req[2];

	post_two(t, req);
	start(&leader, &req[0], -1);
	fake_wait_sleepers(1);
	assert_int_equal(pthread_create(&w.thread, NULL, process, &w), 0);
	t_wait_followers(t->kv, 1);
	fake_complete(1, 0);
	pthread_join(w.thread, NULL);
	assert_int_equal(w.ret, 1);
	fake_complete(0, 0);
	assert_int_equal(join(&leader), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

/* ---- room -------------------------------------------------------------------------------- */

struct poster {
	pthread_t thread;
	struct t *t;
	struct kverbs_token token;
	struct kverbs_req req;
	uint64_t length;
	int ret;
};

static void *post_write(void *arg)
{
	struct poster *p = arg;

	p->ret = kverbs_write(p->t->conn, p->t->buf, 0, p->length, &p->token, 0, &p->req);
	return NULL;
}

/* Two SENDs that fill the queue. */
static void fill_queue(struct t *t, struct kverbs_req req[2])
{
	t_shrink_queue(t, 2);
	post_two(t, req);
}

/* Start a WRITE of @parts entries. */
static void start_write(struct poster *p, struct t *t, unsigned int parts)
{
	memset(p, 0, sizeof(*p));
	p->t = t;
	p->token = t_token(parts, 100);
	p->length = 100ull * parts;
	assert_int_equal(pthread_create(&p->thread, NULL, post_write, p), 0);
}

static int join_write(struct poster *p)
{
	pthread_join(p->thread, NULL);
	kverbs_token_free(&p->token);
	return p->ret;
}

static void posting_waits_for_room_part_by_part(void **state)
{
	struct poster p;
	unsigned int i;

	t_shrink_queue(*state, 2);
	start_write(&p, *state, 11);
	for (i = 0; i < 9; i++) {
		fake_wait_pending(2);
		fake_wait_sleepers(1);
		assert_int_equal(fake_entry(0).rkey, 0x100 + i);
		fake_complete(0, 0);
	}
	assert_int_equal(join_write(&p), 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&p.req, -1), 0);
	assert_int_equal(p.req.byte_len, 1100);
}

/* The leader waits for something else, and keeps sleeping. */
static void the_leader_wakes_threads_that_wait_for_room(void **state)
{
	struct t *t = *state;
	struct kverbs_req full[2], recv = { 0 };
	struct waiter leader;
	struct poster p;

	fill_queue(t, full);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &recv), 0);
	start(&leader, &recv, -1);
	fake_wait_sleepers(1);
	start_write(&p, t, 1);
	t_wait_followers(t->kv, 1);
	fake_complete(0, 0);
	assert_int_equal(join_write(&p), 0);
	assert_false(kverbs_complete(&recv));
	kverbs_conn_free(t->conn);
	assert_int_equal(join(&leader), -ECANCELED);
	assert_int_equal(kverbs_wait(&full[0], 0), 0);
	assert_int_equal(kverbs_wait(&full[1], 0), -ECANCELED);
	assert_int_equal(kverbs_wait(&p.req, 0), -ECANCELED);
}

static void short_submits_are_continued(void **state)
{
	struct poster p;

	fake.max_take = 1;
	t_shrink_queue(*state, 2);
	start_write(&p, *state, 4);
	fake_device_start(5, 0);
	assert_int_equal(join_write(&p), 0);
	assert_int_equal(kverbs_wait(&p.req, -1), 0);
	fake_device_stop();
	assert_int_equal(p.req.byte_len, 400);
}

static void a_signal_does_not_split_a_transfer(void **state)
{
	struct poster p;

	t_shrink_queue(*state, 2);
	start_write(&p, *state, 3);
	fake_wait_pending(2);
	fake_wait_sleepers(1);
	fake_interrupt();
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_int_equal(join_write(&p), 0);
	fake_complete(0, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&p.req, -1), 0);
	assert_int_equal(p.req.byte_len, 300);
}

static void the_end_of_a_connection_ends_waits_for_room(void **state)
{
	struct t *t = *state;
	struct poster p;

	t_shrink_queue(t, 2);
	start_write(&p, t, 5);
	fake_wait_pending(2);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	fake_wait_pending(2);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT);
	assert_int_equal(join_write(&p), 0);
	assert_int_equal(kverbs_wait(&p.req, -1), -EIO);
	assert_int_equal(p.req.wc_status, FAKE_WC_FLUSH);
	assert_int_equal(p.req.byte_len, 100);
}

static void a_single_entry_that_waits_fails_with_the_reason(void **state)
{
	struct t *t = *state;
	struct kverbs_req full[2];
	struct poster p;

	fill_queue(t, full);
	start_write(&p, t, 1);
	fake_wait_sleepers(1);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT);
	assert_int_equal(join_write(&p), -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&p.req, 0), -EINVAL);
	assert_int_equal(kverbs_wait(&full[0], 0), -EIO);
	assert_int_equal(kverbs_wait(&full[1], 0), -EIO);
}

static void a_signal_ends_the_wait_of_a_follower(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	start_two(t, req, &leader, &follower);
	fake_interrupt_follower();
	assert_int_equal(join(&follower), -EINTR);
	t_wait_followers(t->kv, 0);
	/* The request goes on, and so does the leader. */
	fake_complete(1, 0);
	assert_int_equal(kverbs_wait(&req[1], -1), 0);
	fake_complete(0, 0);
	assert_int_equal(join(&leader), 0);
}

static void a_waiter_that_is_cancelled_leaves_the_context_usable(void **state)
{
	struct t *t = *state;
	struct waiter leader, follower;
	struct kverbs_req req[2];

	start_two(t, req, &leader, &follower);
	assert_int_equal(pthread_cancel(follower.thread), 0);
	fake_complete_two(0, 0);
	assert_int_equal(join(&leader), 0);
	assert_int_equal(pthread_join(follower.thread, NULL), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(the_leader_wakes_the_owner_of_a_request_it_read),
		t_test_conn(a_follower_takes_over_from_a_leader_that_is_done),
		t_test_conn(a_follower_takes_over_from_a_leader_whose_time_is_up),
		t_test_conn(a_signal_ends_the_wait_of_a_follower),
		t_test_conn(a_waiter_that_is_cancelled_leaves_the_context_usable),
		t_test_conn(a_new_leader_that_is_done_hands_over),
		t_test_conn(a_follower_takes_over_from_a_leader_that_is_interrupted),
		t_test_conn(a_follower_has_its_own_deadline),
		t_test_conn(processing_returns_when_another_thread_took_them),
		t_test_conn(posting_waits_for_room_part_by_part),
		t_test_conn(the_leader_wakes_threads_that_wait_for_room),
		t_test_conn(short_submits_are_continued),
		t_test_conn(a_signal_does_not_split_a_transfer),
		t_test_conn(the_end_of_a_connection_ends_waits_for_room),
		t_test_conn(a_single_entry_that_waits_fails_with_the_reason),
	};

	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
