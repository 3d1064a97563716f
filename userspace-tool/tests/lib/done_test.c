// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Callbacks run once, in order, one at a time, and may post. */
#include <pthread.h>

#include "t.h"

struct ctx {
	struct t *t;
	struct kverbs_req req[8];
	struct kverbs_req *ran[8];
	unsigned int nr_ran;
	unsigned int posts_left;
	bool inside;
	int ret;
};

static void begin(struct ctx *c, struct kverbs_req *req)
{
	assert_false(c->inside);
	assert_true(kverbs_complete(req));
	c->inside = true;
	c->ran[c->nr_ran++ % 8] = req;
}

static void just_note(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	c->inside = false;
}

static void init(struct ctx *c, struct t *t, kverbs_done_fn done)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->t = t;
	for (i = 0; i < 8; i++) {
		c->req[i].done = done;
		c->req[i].data = c;
	}
}

static void post(struct ctx *c, unsigned int i)
{
	assert_int_equal(kverbs_send(c->t->conn, c->t->buf, 0, i + 1, &c->req[i]), 0);
}

static void callbacks_run_in_the_order_of_completion(void **state)
{
	static const unsigned int complete[] = { 2, 0, 1, 0 };
	static const unsigned int order[] = { 2, 0, 3, 1 };
	struct ctx c;
	unsigned int i;

	init(&c, *state, just_note);
	for (i = 0; i < 4; i++)
		post(&c, i);
	for (i = 0; i < 4; i++)
		fake_complete(complete[i], 0);
	assert_int_equal(kverbs_process(c.t->kv, 0), 4);
	assert_int_equal(c.nr_ran, 4);
	for (i = 0; i < 4; i++)
		assert_ptr_equal(c.ran[i], &c.req[order[i]]);
	assert_int_equal(kverbs_process(c.t->kv, 0), 0);
	assert_int_equal(c.nr_ran, 4);
}

static void waiting_runs_callbacks_too(void **state)
{
	struct ctx c;

	init(&c, *state, just_note);
	post(&c, 0);
	post(&c, 1);
	fake_complete(0, 0);
	fake_complete(0, 10);
	assert_int_equal(kverbs_wait(&c.req[1], -1), -EIO);
	assert_int_equal(c.nr_ran, 2);
}

static void post_again(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	if (c->posts_left) {
		c->posts_left--;
		assert_int_equal(kverbs_send(c->t->conn, c->t->buf, 0, 1, req), 0);
		assert_false(kverbs_complete(req));
	}
	c->inside = false;
}

/* Callbacks that complete what they post, so that there is always another one due. */
struct stream {
	struct t *t;
	struct kverbs_req req;
	pthread_t processor;
	unsigned int ran_by_processor;
	bool stop;
};

static void post_and_complete(struct kverbs_req *req)
{
	struct stream *s = req->data;

	if (s->processor && pthread_equal(pthread_self(), s->processor))
		__atomic_add_fetch(&s->ran_by_processor, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
		return;
	assert_int_equal(kverbs_send(s->t->conn, s->t->buf, 0, 1, req), 0);
	fake_complete(1, 0);
}

/* Entry 0 is a receive that never completes. */
static void start_stream(struct stream *s, struct t *t, struct kverbs_req *never)
{
	memset(s, 0, sizeof(*s));
	s->t = t;
	s->req.done = post_and_complete;
	s->req.data = s;
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 8, never), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &s->req), 0);
	fake_complete(1, 0);
}

static void a_wait_ends_in_time_though_callbacks_do_not(void **state)
{
	struct kverbs_req never = { 0 };
	struct stream s;

	start_stream(&s, *state, &never);
	assert_int_equal(kverbs_wait(&never, 10), -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&never, 0), -ETIMEDOUT);
	s.stop = true;
	assert_int_equal(kverbs_wait(&s.req, -1), 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_wait(&never, 0), 0);
}

static void *process_until_stop(void *arg)
{
	struct stream *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
		assert_true(kverbs_process(s->t->kv, FAKE_PATIENCE_MS) >= 0);
	return NULL;
}

static void callbacks_are_left_to_a_thread_that_goes_on_waiting(void **state)
{
	struct kverbs_req never = { 0 };
	struct stream s;

	start_stream(&s, *state, &never);
	assert_int_equal(pthread_create(&s.processor, NULL, process_until_stop, &s), 0);
	assert_int_equal(kverbs_wait(&never, 10), -ETIMEDOUT);
	while (__atomic_load_n(&s.ran_by_processor, __ATOMIC_RELAXED) < 100)
		assert_int_equal(kverbs_wait(&never, 1), -ETIMEDOUT);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(s.processor, NULL), 0);
	assert_int_equal(kverbs_wait(&s.req, -1), 0);
	/* Only now: a callback completes entry 1, which this would make entry 0. */
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_wait(&never, -1), 0);
}

static void a_callback_may_post_its_request_again(void **state)
{
	struct ctx c;

	init(&c, *state, post_again);
	c.posts_left = 100;
	post(&c, 0);
	while (fake_pending()) {
		fake_complete(0, 0);
		assert_int_equal(kverbs_process(c.t->kv, 0), 1);
	}
	assert_int_equal(c.nr_ran, 101);
	assert_true(kverbs_complete(&c.req[0]));
}

static void a_wait_covers_requests_that_a_callback_posts_again(void **state)
{
	struct ctx c;

	init(&c, *state, post_again);
	c.posts_left = 20;
	fake_device_start(1, 0);
	post(&c, 0);
	assert_int_equal(kverbs_wait(&c.req[0], -1), 0);
	fake_device_stop();
	assert_int_equal(c.nr_ran, 21);
}

/* Both slots are in use: this post waits for a completion that has a callback. */
static void post_for_room(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	if (req == &c->req[0]) {
		post(c, 2);
		post(c, 3);
		/* The callback of the request that made room has not run within this one. */
		assert_int_equal(c->nr_ran, 1);
	}
	c->inside = false;
}

static void a_callback_that_waits_for_room_does_not_nest_others(void **state)
{
	const struct kverbs_conn_param param = { .sq_depth = 2 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct t *t = *state;
	struct ctx c;
	unsigned int i;

	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &t->conn), 0);
	init(&c, t, post_for_room);
	post(&c, 0);
	post(&c, 1);
	fake_complete(0, 0);
	fake_device_start(1, 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(kverbs_wait(&c.req[i], -1), 0);
	fake_device_stop();
	assert_int_equal(c.nr_ran, 4);
	assert_ptr_equal(c.ran[0], &c.req[0]);
}

static void wait_inside(struct kverbs_req *req)
{
	struct ctx *c = req->data;
	struct kverbs_listener *l;
	struct kverbs_conn *conn;

	if (req != &c->req[0])
		return;
	begin(c, req);
	assert_int_equal(kverbs_wait(req, -1), 0);
	assert_int_equal(kverbs_wait(&c->req[1], -1), -EDEADLK);
	assert_int_equal(kverbs_process(c->t->kv, -1), -EDEADLK);
	assert_int_equal(kverbs_connect(c->t->kv, "192.0.2.1", "1", NULL, &conn),
			 -EDEADLK);
	assert_int_equal(kverbs_listen(c->t->kv, NULL, "1", 0, &l), 0);
	assert_int_equal(kverbs_next_request(l, -1, &conn), -EDEADLK);
	kverbs_listener_free(l);
	/* A result that is already known needs no waiting. */
	assert_int_equal(kverbs_conn_wait(c->t->conn, -1), 0);
	c->inside = false;
}

static void waiting_in_a_callback_gives_edeadlk(void **state)
{
	struct ctx c;

	init(&c, *state, wait_inside);
	fake_script_connect(FAKE_CONNECT_HANGS);
	post(&c, 0);
	post(&c, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req[0], -1), 0);
	assert_int_equal(c.nr_ran, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req[1], -1), 0);
}

static void free_inside(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	if (req == &c->req[0]) {
		kverbs_conn_free(c->t->conn);
		/* One callback was due before, one becomes due by freeing; both run later. */
		assert_int_equal(c->nr_ran, 1);
	}
	c->inside = false;
}

static void a_callback_may_free_its_connection(void **state)
{
	struct ctx c;

	init(&c, *state, free_inside);
	post(&c, 0);
	post(&c, 1);
	post(&c, 2);
	fake_complete(0, 0);
	fake_complete(0, 0);
	kverbs_process(c.t->kv, 0);
	assert_int_equal(c.nr_ran, 3);
	assert_int_equal(c.req[1].result, 0);
	assert_int_equal(c.req[2].result, -ECANCELED);
}

static void close_inside(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	kverbs_close(c->t->kv);
	c->inside = false;
}

static void a_callback_cannot_close_its_context(void **state)
{
	struct ctx c;

	init(&c, *state, close_inside);
	post(&c, 0);
	post(&c, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req[0], -1), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req[1], -1), 0);
	assert_int_equal(c.nr_ran, 2);
}

static void post_after_end(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	begin(c, req);
	c->ret = kverbs_send(c->t->conn, c->t->buf, 0, 1, req);
	c->inside = false;
}

static void a_callback_of_a_freed_connection_cannot_post(void **state)
{
	struct ctx c;

	init(&c, *state, post_after_end);
	post(&c, 0);
	kverbs_conn_free(c.t->conn);
	assert_int_equal(c.nr_ran, 1);
	assert_int_equal(c.ret, -ECANCELED);
}

/* ---- with another thread ------------------------------------------------------------- */

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool entered, open;
};

static struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
			    false, false };

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

	begin(c, req);
	if (req == &c->req[0]) {
		set(&gate.entered);
		await(&gate.open);
	}
	c->inside = false;
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
	post(c, 0);
	fake_complete(0, 0);
	assert_int_equal(pthread_create(&thread, NULL, process_one, c), 0);
	await(&gate.entered);
	return thread;
}

static void waiting_outlasts_the_callback(void **state)
{
	struct ctx c;
	pthread_t thread;

	init(&c, *state, stay_in_gate);
	thread = start_callback(&c);
	assert_true(kverbs_complete(&c.req[0]));
	assert_int_equal(kverbs_wait(&c.req[0], 20), -ETIMEDOUT);
	set(&gate.open);
	assert_int_equal(kverbs_wait(&c.req[0], -1), 0);
	assert_false(c.inside);
	pthread_join(thread, NULL);
}

static void a_long_callback_does_not_hold_up_completions(void **state)
{
	struct ctx c;
	pthread_t thread;
	struct kverbs_req plain = { 0 };

	init(&c, *state, stay_in_gate);
	thread = start_callback(&c);
	assert_int_equal(kverbs_send(c.t->conn, c.t->buf, 0, 1, &plain), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&plain, -1), 0);
	/* Other callbacks wait, since they run one at a time. */
	post(&c, 1);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&c.req[1], 20), -ETIMEDOUT);
	assert_int_equal(c.nr_ran, 1);
	set(&gate.open);
	assert_int_equal(kverbs_wait(&c.req[1], -1), 0);
	assert_int_equal(c.nr_ran, 2);
	pthread_join(thread, NULL);
}

static void *free_conn(void *arg)
{
	struct ctx *c = arg;

	kverbs_conn_free(c->t->conn);
	assert_false(c->inside);
	assert_int_equal(c->nr_ran, 2);
	return NULL;
}

static void freeing_waits_for_the_callback(void **state)
{
	pthread_t thread, freer;
	struct ctx c;

	init(&c, *state, stay_in_gate);
	thread = start_callback(&c);
	post(&c, 1);
	assert_int_equal(pthread_create(&freer, NULL, free_conn, &c), 0);
	/* The callback has cancelled the other request, whose callback runs after this one. */
	assert_int_equal(kverbs_wait(&c.req[1], 20), -ETIMEDOUT);
	set(&gate.open);
	assert_int_equal(kverbs_wait(&c.req[1], -1), -ECANCELED);
	pthread_join(freer, NULL);
	pthread_join(thread, NULL);
}

static void post_into_full(struct kverbs_req *req)
{
	struct ctx *c = req->data;

	if (req == &c->req[0])
		c->ret = kverbs_send(c->t->conn, c->t->buf, 0, 1, &c->req[3]);
}

static void free_while_a_callback_posts(struct t *t)
{
	const struct kverbs_conn_param param = { .sq_depth = 2 };
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	pthread_t thread;
	struct ctx c;

	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &t->conn), 0);
	init(&c, t, post_into_full);
	c.req[1].done = NULL;
	c.req[2].done = NULL;
	/* The receive's callback finds the send queue full, and waits. */
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &c.req[0]), 0);
	post(&c, 1);
	post(&c, 2);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, process_one, &c), 0);
	fake_wait_sleepers(1);
	kverbs_conn_free(t->conn);
	t->conn = NULL;
	pthread_join(thread, NULL);
	assert_int_equal(c.ret, -ECANCELED);
	assert_int_equal(kverbs_wait(&c.req[3], 0), -EINVAL);
	assert_int_equal(kverbs_wait(&c.req[1], 0), -ECANCELED);
}

static void freeing_waits_for_a_callback_that_posts(void **state)
{
	unsigned int i;

	for (i = 0; i < 300; i++)
		free_while_a_callback_posts(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(callbacks_run_in_the_order_of_completion),
		t_test_conn(waiting_runs_callbacks_too),
		t_test_conn(a_wait_ends_in_time_though_callbacks_do_not),
		t_test_conn(callbacks_are_left_to_a_thread_that_goes_on_waiting),
		t_test_conn(a_callback_may_post_its_request_again),
		t_test_conn(a_wait_covers_requests_that_a_callback_posts_again),
		t_test_conn(a_callback_that_waits_for_room_does_not_nest_others),
		t_test_conn(waiting_in_a_callback_gives_edeadlk),
		t_test_conn(a_callback_may_free_its_connection),
		t_test_conn(a_callback_cannot_close_its_context),
		t_test_conn(a_callback_of_a_freed_connection_cannot_post),
		t_test_conn(waiting_outlasts_the_callback),
		t_test_conn(a_long_callback_does_not_hold_up_completions),
		t_test_conn(freeing_waits_for_the_callback),
		t_test_conn(freeing_waits_for_a_callback_that_posts),
	};

	return cmocka_run_group_tests_name("done", tests, NULL, NULL);
}
