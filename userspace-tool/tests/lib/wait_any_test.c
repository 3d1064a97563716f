// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for any of several requests. */
#include <limits.h>
#include <pthread.h>

#include "t.h"

#define WC_REM_ACCESS_ERR 10
#define NR 4

struct ctx {
	struct t *t;
	struct kverbs_req req[NR];
	struct kverbs_req *reqs[NR];
	unsigned int posts_left;
	int ret;
};

static void init(struct ctx *c, struct t *t, kverbs_done_fn done)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->t = t;
	for (i = 0; i < NR; i++) {
		c->req[i].done = done;
		c->req[i].data = c;
		c->reqs[i] = &c->req[i];
	}
}

static void post(struct ctx *c, unsigned int i)
{
	assert_int_equal(kverbs_send(c->t->conn, c->t->buf, 0, i + 1, &c->req[i]), 0);
}

static void post_all(struct ctx *c)
{
	unsigned int i;

	for (i = 0; i < NR; i++)
		post(c, i);
}

static int wait_any(struct ctx *c, int timeout_ms)
{
	return kverbs_wait_any(c->reqs, NR, timeout_ms);
}

/* Requests on the stack must not outlive the test. */
static void end(struct ctx *c)
{
	kverbs_conn_free(c->t->conn);
}

/* ---- one thread --------------------------------------------------------------------- */

static void the_index_of_a_complete_request_is_returned(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	fake_complete(2, 0);
	assert_int_equal(wait_any(&c, -1), 2);
	assert_true(kverbs_complete(&c.req[2]));
	/* The request stays complete. */
	assert_int_equal(wait_any(&c, 0), 2);
	end(&c);
}

static void of_several_the_first_in_the_array_is_returned(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	fake_complete(3, 0);
	fake_complete(1, 0);
	assert_int_equal(kverbs_process(c.t->kv, 0), 2);
	assert_int_equal(wait_any(&c, 0), 1);
	c.reqs[1] = NULL;
	assert_int_equal(wait_any(&c, 0), 3);
	end(&c);
}

static void a_failed_request_is_complete(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	fake_complete(1, WC_REM_ACCESS_ERR);
	assert_int_equal(wait_any(&c, -1), 1);
	assert_int_equal(c.req[1].result, -EIO);
	end(&c);
}

static void elements_without_an_operation_are_skipped(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	c.reqs[0] = NULL;
	post(&c, 2);
	assert_int_equal(wait_any(&c, 0), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(wait_any(&c, 0), 2);
}

static void a_request_may_be_there_twice(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	c.reqs[2] = c.reqs[0];
	post_all(&c);
	fake_complete(0, 0);
	assert_int_equal(wait_any(&c, -1), 0);
	end(&c);
}

static void a_wait_ends_at_its_timeout(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	assert_int_equal(wait_any(&c, 0), -ETIMEDOUT);
	assert_int_equal(wait_any(&c, 20), -ETIMEDOUT);
	fake_complete(0, 0);
	assert_int_equal(wait_any(&c, FAKE_PATIENCE_MS), 0);
	end(&c);
}

static void a_signal_ends_a_wait(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(wait_any(&c, -1), -EINTR);
	fake_complete(0, 0);
	assert_int_equal(wait_any(&c, -1), 0);
	end(&c);
}

static void a_wait_after_wakeup_only_finds_what_is_complete(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	assert_int_equal(kverbs_wakeup(c.t->kv), 0);
	assert_int_equal(wait_any(&c, -1), -EINTR);
	fake_complete(1, 0);
	assert_int_equal(wait_any(&c, -1), 1);
	kverbs_wakeup_clear(c.t->kv);
	end(&c);
}

static void what_cannot_be_waited_for_is_refused(void **state)
{
	struct t other = { 0 }, worker = { 0 };
	struct ctx c;

	init(&c, *state, NULL);
	assert_int_equal(kverbs_worker_open(c.t->kv, NULL, &worker.kv), 0);
	worker.conn = t_connect(worker.kv);
	assert_int_equal(wait_any(&c, -1), -EINVAL);
	assert_int_equal(kverbs_wait_any(c.reqs, 0, -1), -EINVAL);
	assert_int_equal(kverbs_wait_any(NULL, 0, -1), -EINVAL);
	assert_int_equal(kverbs_wait_any(c.reqs, (size_t)INT_MAX + 1, -1), -EINVAL);
	post(&c, 0);
	c.req[3].done = KVERBS_QUEUE;
	assert_int_equal(wait_any(&c, -1), -EINVAL);
	c.req[3].done = NULL;
	assert_int_equal(kverbs_send(worker.conn, NULL, 0, 0, &c.req[2]), 0);
	assert_int_equal(wait_any(&c, -1), -EINVAL);
	kverbs_close(worker.kv);
	c.reqs[2] = NULL;
	assert_int_equal(kverbs_open(&other.kv, NULL), 0);
	other.conn = t_connect(other.kv);
	assert_int_equal(kverbs_send(other.conn, NULL, 0, 0, &c.req[3]), 0);
	assert_int_equal(wait_any(&c, -1), -EINVAL);
	kverbs_close(other.kv);
	end(&c);
}

static void requests_may_outlive_their_context(void **state)
{
	struct t other = { 0 };
	struct ctx c;

	init(&c, *state, NULL);
	assert_int_equal(kverbs_open(&other.kv, NULL), 0);
	other.conn = t_connect(other.kv);
	assert_int_equal(kverbs_send(other.conn, NULL, 0, 0, &c.req[1]), 0);
	kverbs_close(other.kv);
	assert_int_equal(wait_any(&c, -1), 1);
	assert_int_equal(c.req[1].result, -ECANCELED);
}

static void freeing_the_connection_completes_all(void **state)
{
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	kverbs_conn_free(c.t->conn);
	assert_int_equal(wait_any(&c, -1), 0);
	assert_int_equal(c.req[0].result, -ECANCELED);
}

/* ---- callbacks ------------------------------------------------------------------------ */

static void just_count(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	c->posts_left++;
}

static void waiting_runs_callbacks(void **state)
{
	struct ctx c;

	init(&c, *state, just_count);
	post_all(&c);
	fake_complete(3, 0);
	fake_complete(1, 0);
	/* Both are due, the other one first. */
	assert_int_equal(kverbs_wait_any(c.reqs, 3, -1), 1);
	assert_int_equal(c.posts_left, 2);
	end(&c);
}

static void post_again(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	if (!c->posts_left)
		return;
	c->posts_left--;
	assert_int_equal(kverbs_send(c->t->conn, c->t->buf, 0, 1, req), 0);
}

static void a_request_that_its_callback_posts_again_is_not_complete(void **state)
{
	struct ctx c;

	init(&c, *state, post_again);
	c.posts_left = 2;
	post(&c, 0);
	fake_complete(0, 0);
	assert_int_equal(wait_any(&c, 0), -ETIMEDOUT);
	fake_device_start(1, 0);
	assert_int_equal(wait_any(&c, -1), 0);
	fake_device_stop();
	assert_int_equal(c.posts_left, 0);
}

static void wait_inside(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	if (req != &c->req[1])
		return;
	/* Its own request is complete. */
	assert_int_equal(wait_any(c, -1), 1);
	c->reqs[1] = NULL;
	c->ret = wait_any(c, -1);
	assert_int_equal(wait_any(c, 0), -EDEADLK);
}

static void waiting_in_a_callback_gives_edeadlk(void **state)
{
	struct ctx c;

	init(&c, *state, wait_inside);
	post_all(&c);
	fake_complete(1, 0);
	assert_int_equal(kverbs_wait(&c.req[1], -1), 0);
	assert_int_equal(c.ret, -EDEADLK);
	end(&c);
}

/* ---- with another thread -------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool entered, open;
} gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };

static void set(bool *what)
{
	pthread_mutex_lock(&gate.lock);
	*what = true;
	pthread_cond_broadcast(&gate.cond);
	pthread_mutex_unlock(&gate.lock);
}

static void await(const bool *what)
{
	pthread_mutex_lock(&gate.lock);
	while (!*what)
		pthread_cond_wait(&gate.cond, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static void stay_in_gate(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	if (req != &c->req[0])
		return;
	set(&gate.entered);
	await(&gate.open);
}

static void *process_one(void *arg)
{
	struct ctx *c = arg;

	assert_true(kverbs_process(c->t->kv, -1) >= 1);
	return NULL;
}

/* Start a thread that stays in the callback of req[0] until the gate opens. */
static pthread_t start_callback(struct ctx *c)
{
	pthread_t thread;

	gate.entered = false;
	gate.open = false;
	fake_complete(0, 0);
	assert_int_equal(pthread_create(&thread, NULL, process_one, c), 0);
	await(&gate.entered);
	return thread;
}

static void *wait_for_any(void *arg)
{
	struct ctx *c = arg;

	c->ret = wait_any(c, -1);
	return NULL;
}

static pthread_t start_wait(struct ctx *c)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_any, c), 0);
	return thread;
}

static void join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_request_counts_when_its_callback_has_returned(void **state)
{
	struct ctx c;
	pthread_t thread;

	init(&c, *state, stay_in_gate);
	post_all(&c);
	thread = start_callback(&c);
	assert_int_equal(wait_any(&c, 0), -ETIMEDOUT);
	assert_int_equal(wait_any(&c, 20), -ETIMEDOUT);
	set(&gate.open);
	assert_int_equal(wait_any(&c, -1), 0);
	join(thread);
	end(&c);
}

static void a_callback_that_runs_does_not_hold_up_other_requests(void **state)
{
	struct ctx c;
	pthread_t thread;

	init(&c, *state, stay_in_gate);
	c.req[2].done = NULL;
	post_all(&c);
	thread = start_callback(&c);
	fake_complete(1, 0);
	assert_int_equal(wait_any(&c, -1), 2);
	set(&gate.open);
	join(thread);
	end(&c);
}

/* The thread that waits leads: no completion tells that the callback has returned. */
static void a_leader_notices_that_a_callback_has_returned(void **state)
{
	pthread_t runner, waiter;
	struct ctx c;

	init(&c, *state, stay_in_gate);
	post_all(&c);
	runner = start_callback(&c);
	waiter = start_wait(&c);
	fake_wait_sleepers(1);
	set(&gate.open);
	join(waiter);
	assert_int_equal(c.ret, 0);
	join(runner);
	end(&c);
}

/* The thread that waits leads when a callback becomes due behind the one that runs. */
static void a_leader_notices_that_a_later_callback_has_returned(void **state)
{
	struct kverbs_req *reqs[1];
	pthread_t runner, waiter;
	struct ctx c;

	init(&c, *state, stay_in_gate);
	post_all(&c);
	reqs[0] = c.reqs[0];
	c.reqs[0] = NULL;
	runner = start_callback(&c);
	waiter = start_wait(&c);
	fake_wait_sleepers(1);
	/* The thread reads it, and sleeps again. */
	fake_complete(1, 0);
	assert_int_equal(kverbs_wait_any(reqs, 1, 20), -ETIMEDOUT);
	set(&gate.open);
	join(waiter);
	assert_int_equal(c.ret, 2);
	join(runner);
	end(&c);
}

static void *wait_for_last(void *arg)
{
	struct ctx *c = arg;

	assert_int_equal(kverbs_wait(&c->req[3], -1), 0);
	return NULL;
}

/* The leader waits for something else. */
static pthread_t start_leader(struct ctx *c)
{
	pthread_t leader;

	assert_int_equal(pthread_create(&leader, NULL, wait_for_last, c), 0);
	fake_wait_sleepers(1);
	return leader;
}

static void a_follower_learns_of_a_completion_that_the_leader_reads(void **state)
{
	pthread_t leader, waiter;
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	c.reqs[3] = NULL;
	leader = start_leader(&c);
	waiter = start_wait(&c);
	t_wait_followers(c.t->kv, 1);
	fake_complete(1, 0);
	join(waiter);
	assert_int_equal(c.ret, 1);
	fake_complete(2, 0);
	join(leader);
	end(&c);
}

static void several_threads_wait_for_one_request(void **state)
{
	pthread_t leader, waiter[2];
	struct ctx c, same;

	init(&c, *state, NULL);
	post_all(&c);
	c.reqs[3] = NULL;
	same = c;
	leader = start_leader(&c);
	waiter[0] = start_wait(&c);
	waiter[1] = start_wait(&same);
	t_wait_followers(c.t->kv, 2);
	fake_complete(2, 0);
	join(waiter[0]);
	join(waiter[1]);
	assert_int_equal(c.ret, 2);
	assert_int_equal(same.ret, 2);
	fake_complete(2, 0);
	join(leader);
	end(&c);
}

static void a_follower_takes_over_from_the_leader(void **state)
{
	pthread_t leader, waiter;
	struct ctx c;

	init(&c, *state, NULL);
	post_all(&c);
	c.reqs[3] = NULL;
	leader = start_leader(&c);
	waiter = start_wait(&c);
	t_wait_followers(c.t->kv, 1);
	fake_complete(3, 0);
	join(leader);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	join(waiter);
	assert_int_equal(c.ret, 0);
	end(&c);
}

/* Each thread keeps some operations in flight and posts that which is complete again. */
#define ROUNDS 500

static void *post_often(void *arg)
{
	struct ctx *c = arg;
	int i, index;

	post_all(c);
	for (i = 0; i < ROUNDS; i++) {
		index = wait_any(c, -1);
		assert_in_range(index, 0, NR - 1);
		assert_int_equal(c->req[index].result, 0);
		post(c, (unsigned int)index);
	}
	for (i = 0; i < NR; i++)
		assert_int_equal(kverbs_wait(&c->req[i], -1), 0);
	return NULL;
}

static void do_nothing(struct kverbs_req *req)
{
	(void)req;
}

static void keep_busy(void **state, kverbs_done_fn done)
{
	pthread_t thread[3];
	struct ctx c[3];
	unsigned int i;

	fake_device_start(1, 0);
	for (i = 0; i < 3; i++) {
		init(&c[i], *state, done);
		assert_int_equal(pthread_create(&thread[i], NULL, post_often, &c[i]), 0);
	}
	for (i = 0; i < 3; i++)
		join(thread[i]);
	fake_device_stop();
	assert_int_equal(fake_pending(), 0);
}

static void many_threads_lose_no_completion(void **state)
{
	keep_busy(state, NULL);
}

static void many_threads_lose_no_callback(void **state)
{
	keep_busy(state, do_nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(the_index_of_a_complete_request_is_returned),
		t_test_conn(of_several_the_first_in_the_array_is_returned),
		t_test_conn(a_failed_request_is_complete),
		t_test_conn(elements_without_an_operation_are_skipped),
		t_test_conn(a_request_may_be_there_twice),
		t_test_conn(a_wait_ends_at_its_timeout),
		t_test_conn(a_signal_ends_a_wait),
		t_test_conn(a_wait_after_wakeup_only_finds_what_is_complete),
		t_test_conn(what_cannot_be_waited_for_is_refused),
		t_test_conn(requests_may_outlive_their_context),
		t_test_conn(freeing_the_connection_completes_all),
		t_test_conn(waiting_runs_callbacks),
		t_test_conn(a_request_that_its_callback_posts_again_is_not_complete),
		t_test_conn(waiting_in_a_callback_gives_edeadlk),
		t_test_conn(a_request_counts_when_its_callback_has_returned),
		t_test_conn(a_callback_that_runs_does_not_hold_up_other_requests),
		t_test_conn(a_leader_notices_that_a_callback_has_returned),
		t_test_conn(a_leader_notices_that_a_later_callback_has_returned),
		t_test_conn(a_follower_learns_of_a_completion_that_the_leader_reads),
		t_test_conn(several_threads_wait_for_one_request),
		t_test_conn(a_follower_takes_over_from_the_leader),
		t_test_conn(many_threads_lose_no_completion),
		t_test_conn(many_threads_lose_no_callback),
	};

	return cmocka_run_group_tests_name("wait_any", tests, NULL, NULL);
}
