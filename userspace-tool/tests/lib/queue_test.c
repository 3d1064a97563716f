// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests that go to the queue of their context when they are complete. */
#include <netinet/in.h>
#include <pthread.h>

#include "t.h"

#define WC_REM_ACCESS_ERR 10
#define NR 8

/* Requests that outlive what a test frees. */
static struct kverbs_req reqs[NR];

static void init(struct kverbs_req *req)
{
	*req = (struct kverbs_req) { .done = KVERBS_QUEUE };
}

static void init_all(void)
{
	unsigned int i;

	for (i = 0; i < NR; i++)
		init(&reqs[i]);
}

/* Request i sends i + 1 bytes. */
static void post(struct t *t, unsigned int i)
{
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, i + 1, &reqs[i]), 0);
}

/* Check that the queue has just this request, and take it. */
static void take(struct kverbs *kv, const struct kverbs_req *req)
{
	struct kverbs_req *taken[2];

	assert_int_equal(kverbs_poll(kv, taken, 2, 0), 1);
	assert_ptr_equal(taken[0], req);
}

static void a_request_is_in_use_until_it_is_taken(void **state)
{
	struct t *t = *state;

	init_all();
	post(t, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_false(kverbs_complete(&reqs[0]));
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &reqs[0]), -EBUSY);
	take(t->kv, &reqs[0]);
	assert_true(kverbs_complete(&reqs[0]));
	assert_int_equal(reqs[0].result, 0);
	assert_int_equal(reqs[0].byte_len, 1);
	assert_ptr_equal(kverbs_req_conn(&reqs[0]), t->conn);
	/* The request may be posted again. */
	post(t, 0);
	fake_complete(0, WC_REM_ACCESS_ERR);
	take(t->kv, &reqs[0]);
	assert_int_equal(reqs[0].result, -EIO);
	assert_int_equal(reqs[0].wc_status, WC_REM_ACCESS_ERR);
}

static void requests_come_in_the_order_of_completion(void **state)
{
	static const unsigned int complete[] = { 2, 0, 1, 0 };
	static const unsigned int order[] = { 2, 0, 3, 1 };
	struct kverbs_req *taken[NR];
	struct t *t = *state;
	unsigned int i;

	init_all();
	for (i = 0; i < 4; i++)
		post(t, i);
	for (i = 0; i < 4; i++)
		fake_complete(complete[i], 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, -1), 4);
	for (i = 0; i < 4; i++)
		assert_ptr_equal(taken[i], &reqs[order[i]]);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
}

static void what_there_is_no_room_for_stays_in_the_queue(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;
	unsigned int i;

	init_all();
	for (i = 0; i < 5; i++)
		post(t, i);
	for (i = 0; i < 5; i++)
		fake_complete(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, 0, 0), -EINVAL);
	assert_int_equal(kverbs_poll(t->kv, taken, 3, 0), 3);
	assert_ptr_equal(taken[2], &reqs[2]);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	assert_int_equal(kverbs_poll(t->kv, taken, 3, -1), 2);
	assert_ptr_equal(taken[0], &reqs[3]);
	assert_ptr_equal(taken[1], &reqs[4]);
}

static void a_poll_ends_at_its_timeout(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;

	init_all();
	post(t, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 10), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, FAKE_PATIENCE_MS), 1);
}

static void a_signal_ends_a_poll(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;

	init_all();
	post(t, 0);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, -1), -EINTR);
	fake_complete(0, 0);
	take(t->kv, &reqs[0]);
}

static void a_poll_after_wakeup_only_takes_what_has_come(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;

	init_all();
	post(t, 0);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, -1), -EINTR);
	fake_complete(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, -1), 1);
	kverbs_wakeup_clear(t->kv);
}

static void a_request_of_the_queue_cannot_be_waited_for(void **state)
{
	struct t *t = *state;
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND, .buf = t->buf, .length = 1, .req = &reqs[1],
	};

	init_all();
	assert_int_equal(kverbs_wait(&reqs[0], 0), -EINVAL);
	post(t, 0);
	assert_int_equal(kverbs_wait(&reqs[0], -1), -EINVAL);
	fake.submits = 0;
	assert_int_equal(kverbs_post_wait(t->conn, &op, &reqs[1], -1), -EINVAL);
	assert_int_equal(kverbs_post_wait(t->conn, &op, &reqs[0], -1), -EINVAL);
	assert_int_equal(fake.submits, 0);
	fake_complete(0, 0);
	take(t->kv, &reqs[0]);
	assert_int_equal(kverbs_wait(&reqs[0], 0), -EINVAL);
}

static void an_operation_that_was_not_posted_does_not_come(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;

	init_all();
	fake_fail(KVERBS_SUBMIT, 1, -ENOMEM);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &reqs[0]), -ENOMEM);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	/* One that the kernel refuses does. */
	fake.max_msg = 10;
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 11, &reqs[0]), 0);
	take(t->kv, &reqs[0]);
	assert_int_equal(reqs[0].result, -EMSGSIZE);
}

static void an_operation_of_several_entries_comes_once(void **state)
{
	struct t *t = *state;
	struct kverbs_token token = t_token(3, 1000);
	struct kverbs_req *taken[NR];

	init_all();
	assert_int_equal(kverbs_write(t->conn, t->buf, 0, 3000, &token, 0, &reqs[0]), 0);
	fake_complete(1, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	fake_complete(0, 0);
	take(t->kv, &reqs[0]);
	assert_int_equal(reqs[0].byte_len, 3000);
	kverbs_token_free(&token);
}

static void a_message_before_the_established_event_comes_after_it(void **state)
{
	struct sockaddr_in peer = { .sin_family = AF_INET };
	struct kverbs_req *taken[NR];
	struct t *t = *state;
	struct kverbs_conn *conn;

	init_all();
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect_start(t->kv, (struct sockaddr *)&peer, NULL, &conn), 0);
	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &reqs[0]), 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	fake_event(fake.last_conn, KVERBS_CQE_ESTABLISHED, 0);
	take(t->kv, &reqs[0]);
	kverbs_conn_free(conn);
}

/* ---- freeing ------------------------------------------------------------------------- */

static void a_connection_is_freed_before_its_requests_are_taken(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state;
	struct kverbs_conn *conn = t->conn;

	init_all();
	post(t, 0);
	post(t, 1);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &reqs[2]), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 3);
	assert_ptr_equal(taken[0], &reqs[0]);
	assert_int_equal(reqs[0].result, 0);
	assert_int_equal(reqs[1].result, -ECANCELED);
	assert_int_equal(reqs[2].result, -ECANCELED);
	assert_ptr_equal(kverbs_req_conn(&reqs[2]), conn);
}

static void freeing_cancels_what_the_kernel_forgets(void **state)
{
	struct t *t = *state;

	init_all();
	fake.destroy_drops = true;
	post(t, 0);
	kverbs_conn_free(t->conn);
	take(t->kv, &reqs[0]);
	assert_int_equal(reqs[0].result, -ECANCELED);
}

static void closing_returns_what_is_in_the_queue(void **state)
{
	struct t *t = *state, other = { 0 };

	init_all();
	assert_int_equal(kverbs_open(&other.kv, NULL), 0);
	other.conn = t_connect(other.kv);
	assert_int_equal(kverbs_buf_alloc(other.kv, 4096, &other.buf), 0);
	post(&other, 0);
	post(&other, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(other.kv, 0), 1);
	kverbs_close(other.kv);
	assert_true(kverbs_complete(&reqs[0]));
	assert_true(kverbs_complete(&reqs[1]));
	assert_int_equal(reqs[1].result, -ECANCELED);
	post(t, 0);
	fake_complete(0, 0);
	take(t->kv, &reqs[0]);
}

static void a_worker_has_a_queue_of_its_own(void **state)
{
	struct kverbs_req *taken[NR];
	struct t *t = *state, worker = { 0 };

	init_all();
	assert_int_equal(kverbs_worker_open(t->kv, NULL, &worker.kv), 0);
	worker.conn = t_connect(worker.kv);
	worker.buf = t->buf;
	post(&worker, 0);
	post(&worker, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	take(worker.kv, &reqs[0]);
	kverbs_close(worker.kv);
	assert_true(kverbs_complete(&reqs[1]));
	assert_int_equal(reqs[1].result, -ECANCELED);
}

/* ---- pools ----------------------------------------------------------------------------- */

static void buffers_of_a_pool_come_to_the_queue(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool;
	const struct kverbs_conn_opts opts = { .sz = sizeof(opts) };
	struct kverbs_conn_opts pooled = opts;
	struct kverbs_conn *conn;

	init_all();
	assert_int_equal(kverbs_pool_create(t->kv, 4, &pool), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 8, &reqs[0]), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 8, 8, &reqs[1]), 0);
	pooled.pool = pool;
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "7472", &pooled, &conn), 0);
	fake_complete_recv(1, 5, 0, 0);
	take(t->kv, &reqs[1]);
	assert_ptr_equal(kverbs_req_conn(&reqs[1]), conn);
	assert_int_equal(reqs[1].byte_len, 5);
	assert_true(reqs[1].flags & KVERBS_CQE_F_MORE);
	/* The request in the pool is not complete: it never comes. */
	assert_int_equal(kverbs_pool_add(pool, t->buf, 8, 8, &reqs[1]), 0);
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_pool_destroy(pool), 0);
}

/* ---- with callbacks ---------------------------------------------------------------------- */

struct inside {
	struct t *t;
	struct kverbs_req req;
	int empty, at_once, full;
	bool ran;
};

static void poll_inside(struct kverbs_req *req)
{
	struct inside *in = req->data;
	struct kverbs_req *taken[NR];

	in->ran = true;
	in->empty = kverbs_poll(in->t->kv, taken, NR, -1);
	in->at_once = kverbs_poll(in->t->kv, taken, NR, 0);
	fake_complete(0, 0);
	in->full = kverbs_poll(in->t->kv, taken, NR, 0);
}

static void a_callback_may_poll_but_not_wait(void **state)
{
	struct t *t = *state;
	struct inside in = { .t = t, .req = { .done = poll_inside, .data = &in } };

	init_all();
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &in.req), 0);
	post(t, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&in.req, -1), 0);
	assert_int_equal(in.empty, -EDEADLK);
	assert_int_equal(in.at_once, 0);
	assert_int_equal(in.full, 1);
	assert_true(kverbs_complete(&reqs[0]));
}

static void polling_runs_callbacks(void **state)
{
	struct t *t = *state;
	struct inside in = { .t = t, .req = { .done = poll_inside, .data = &in } };
	struct kverbs_req *taken[NR];

	init_all();
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &in.req), 0);
	post(t, 0);
	fake_complete(0, 0);
	/* The callback takes the only request of the queue. */
	assert_int_equal(kverbs_poll(t->kv, taken, NR, 0), 0);
	assert_true(in.ran);
	assert_int_equal(in.full, 1);
}

static void take_and_post(struct kverbs_req *req)
{
	struct inside *in = req->data;

	take(in->t->kv, &reqs[0]);
	post(in->t, 1);
	fake_complete(0, 0);
}

/* The poll has found a request, and then runs a callback that takes it. */
static void a_poll_waits_on_for_another_request_if_its_own_was_taken(void **state)
{
	struct t *t = *state;
	struct inside in = { .t = t, .req = { .done = take_and_post, .data = &in } };
	struct kverbs_req *taken[NR];

	init_all();
	post(t, 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &in.req), 0);
	fake_complete_two(0, 0);
	assert_int_equal(kverbs_poll(t->kv, taken, NR, -1), 1);
	assert_ptr_equal(taken[0], &reqs[1]);
}

/* ---- with other threads --------------------------------------------------------------------- */

struct poller {
	pthread_t thread;
	struct kverbs *kv;
	struct kverbs_req *taken[NR];
	int ret;
};

static void *poll_one(void *arg)
{
	struct poller *p = arg;

	p->ret = kverbs_poll(p->kv, p->taken, 1, -1);
	return NULL;
}

static void start(struct poller *p, struct t *t)
{
	memset(p, 0, sizeof(*p));
	p->kv = t->kv;
	assert_int_equal(pthread_create(&p->thread, NULL, poll_one, p), 0);
}

static struct kverbs_req *join(struct poller *p)
{
	assert_int_equal(pthread_join(p->thread, NULL), 0);
	assert_int_equal(p->ret, 1);
	return p->taken[0];
}

static void *wait_plain(void *arg)
{
	return (void *)(intptr_t)kverbs_wait(arg, -1);
}

static void a_poller_gets_what_another_thread_has_read(void **state)
{
	struct kverbs_req plain = { 0 };
	struct t *t = *state;
	struct poller p;
	pthread_t leader;
	void *ret;

	init_all();
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &plain), 0);
	post(t, 0);
	assert_int_equal(pthread_create(&leader, NULL, wait_plain, &plain), 0);
	fake_wait_sleepers(1);
	start(&p, t);
	t_wait_followers(t->kv, 1);
	fake_complete(1, 0);
	assert_ptr_equal(join(&p), &reqs[0]);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(pthread_join(leader, &ret), 0);
	assert_null(ret);
}

static void freeing_a_connection_wakes_pollers(void **state)
{
	struct t *t = *state;
	struct poller first, second;

	init_all();
	post(t, 0);
	post(t, 1);
	start(&first, t);
	fake_wait_sleepers(1);
	start(&second, t);
	t_wait_followers(t->kv, 1);
	kverbs_conn_free(t->conn);
	assert_ptr_not_equal(join(&first), join(&second));
	assert_int_equal(reqs[0].result, -ECANCELED);
	assert_int_equal(reqs[1].result, -ECANCELED);
}

static void a_follower_takes_over_from_a_poller(void **state)
{
	struct t *t = *state;
	struct poller first, second;

	init_all();
	post(t, 0);
	post(t, 1);
	start(&first, t);
	fake_wait_sleepers(1);
	start(&second, t);
	t_wait_followers(t->kv, 1);
	fake_complete(0, 0);
	fake_wait_pending(1);
	t_wait_followers(t->kv, 0);
	fake_wait_sleepers(1);
	fake_complete(0, 0);
	assert_ptr_not_equal(join(&first), join(&second));
}

#define ROUNDS 2000
#define IN_FLIGHT 4

struct crowd {
	struct t *t;
	unsigned int taken;
};

static void post_any(struct t *t, struct kverbs_req *req)
{
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, req), 0);
}

static void *poll_often(void *arg)
{
	struct kverbs_req *taken[2];
	struct crowd *c = arg;
	int i, n;

	while (__atomic_load_n(&c->taken, __ATOMIC_RELAXED) < ROUNDS) {
		n = kverbs_poll(c->t->kv, taken, 2, 1);
		assert_true(n >= 0);
		for (i = 0; i < n; i++) {
			assert_int_equal(taken[i]->result, 0);
			__atomic_add_fetch(&c->taken, 1, __ATOMIC_RELAXED);
			post_any(c->t, taken[i]);
		}
	}
	return NULL;
}

/* A request that came twice would be in use when it is posted again. */
static void several_threads_take_each_request_once(void **state)
{
	struct t *t = *state;
	struct crowd c = { .t = t };
	pthread_t thread[3];
	unsigned int i;

	init_all();
	fake_device_start(3, 0);
	for (i = 0; i < IN_FLIGHT; i++)
		post_any(t, &reqs[i]);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, poll_often, &c), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	fake_device_stop();
	kverbs_conn_free(t->conn);
	for (i = 0; i < IN_FLIGHT; i++) {
		struct kverbs_req *taken[1];

		assert_int_equal(kverbs_poll(t->kv, taken, 1, 0), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_request_is_in_use_until_it_is_taken),
		t_test_conn(requests_come_in_the_order_of_completion),
		t_test_conn(what_there_is_no_room_for_stays_in_the_queue),
		t_test_conn(a_poll_ends_at_its_timeout),
		t_test_conn(a_signal_ends_a_poll),
		t_test_conn(a_poll_after_wakeup_only_takes_what_has_come),
		t_test_conn(a_request_of_the_queue_cannot_be_waited_for),
		t_test_conn(an_operation_that_was_not_posted_does_not_come),
		t_test_conn(an_operation_of_several_entries_comes_once),
		t_test_conn(a_message_before_the_established_event_comes_after_it),
		t_test_conn(a_connection_is_freed_before_its_requests_are_taken),
		t_test_conn(freeing_cancels_what_the_kernel_forgets),
		t_test_conn(closing_returns_what_is_in_the_queue),
		t_test_conn(a_worker_has_a_queue_of_its_own),
		t_test_conn(buffers_of_a_pool_come_to_the_queue),
		t_test_conn(a_callback_may_poll_but_not_wait),
		t_test_conn(polling_runs_callbacks),
		t_test_conn(a_poll_waits_on_for_another_request_if_its_own_was_taken),
		t_test_conn(a_poller_gets_what_another_thread_has_read),
		t_test_conn(freeing_a_connection_wakes_pollers),
		t_test_conn(a_follower_takes_over_from_a_poller),
		t_test_conn(several_threads_take_each_request_once),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
