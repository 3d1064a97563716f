// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Eight threads post and wait while connections come and go. */
#include <pthread.h>
#include <stdlib.h>

#include "t.h"

#define NR_THREADS 8
#define NR_ROUNDS 400

struct worker {
	pthread_t thread;
	struct t *t;
	unsigned int index, seed, errors, done, bad;
};

static unsigned int in_callback, callbacks;

static void count_callback(struct kverbs_req *req)
{
	struct worker *w = req->data;

	if (__atomic_add_fetch(&in_callback, 1, __ATOMIC_RELAXED) != 1)
		w->bad++;
	callbacks++;
	w->done++;
	__atomic_sub_fetch(&in_callback, 1, __ATOMIC_RELAXED);
}

static int wait_patiently(struct worker *w, struct kverbs_req *req)
{
	int ret;

	do {
		ret = kverbs_wait(req, rand_r(&w->seed) % 4 ? -1 : 1);
	} while (ret == -ETIMEDOUT || ret == -EINTR);
	return ret;
}

static void check(struct worker *w, const struct kverbs_req *req, int ret, uint64_t len)
{
	if (ret == -EIO)
		w->errors++;
	else if (ret || req->byte_len != len)
		w->bad++;
}

/* Up to four requests at a time; their lengths identify them. */
static void one_round(struct worker *w, const struct kverbs_token *token)
{
	unsigned int i, n = 1 + (unsigned int)rand_r(&w->seed) % 4;
	struct kverbs_req req[4] = { 0 };
	uint64_t len[4];
	int ret;

	for (i = 0; i < n; i++) {
		bool split = rand_r(&w->seed) % 2;

		len[i] = 1 + w->index * 100 + i + (split ? 1000 : 0);
		req[i].data = w;
		req[i].done = rand_r(&w->seed) % 2 ? count_callback : NULL;
		do {
			ret = split ?
			      kverbs_write(w->t->conn, w->t->buf, 0, len[i], token, 5,
					   &req[i]) :
			      kverbs_send(w->t->conn, w->t->buf, 0, len[i], &req[i]);
		} while (ret == -EINTR);
		if (ret)
			w->bad++;
	}
	while (i--)
		check(w, &req[i], wait_patiently(w, &req[i]), len[i]);
}

static int post_all(struct worker *w, const struct kverbs_op *ops, int nr)
{
	int ret = 0;

	for (; nr; nr -= ret, ops += ret) {
		do {
			ret = kverbs_post(w->t->conn, ops, (size_t)nr);
		} while (ret == -EINTR);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Post a list of up to four requests, each behind an unsignalled operation. */
static void one_list(struct worker *w, const struct kverbs_token *token)
{
	int i, n = 1 + rand_r(&w->seed) % 4;
	struct kverbs_req req[4] = { 0 };
	struct kverbs_op ops[8];

	for (i = 0; i < 2 * n; i++)
		ops[i] = (struct kverbs_op) {
			.opcode = rand_r(&w->seed) % 2 ? KVERBS_OP_WRITE : KVERBS_OP_SEND,
			.buf = w->t->buf,
			.length = 1 + w->index * 100 + (unsigned int)i,
			.token = token,
			.req = i % 2 ? &req[i / 2] : NULL,
		};
	for (i = 0; i < n; i++) {
		req[i].data = w;
		req[i].done = rand_r(&w->seed) % 2 ? count_callback : NULL;
	}
	if (post_all(w, ops, 2 * n))
		w->bad++;
	while (i--)
		check(w, &req[i], wait_patiently(w, &req[i]), ops[2 * i + 1].length);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct kverbs_token token = t_token(20, 128);
	unsigned int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		if (rand_r(&w->seed) % 3)
			one_round(w, &token);
		else
			one_list(w, &token);
	}
	kverbs_token_free(&token);
	return NULL;
}

static void start_workers(struct worker *w, struct t *t)
{
	unsigned int i;

	callbacks = 0;
	memset(w, 0, NR_THREADS * sizeof(*w));
	for (i = 0; i < NR_THREADS; i++) {
		w[i].t = t;
		w[i].index = i;
		w[i].seed = i;
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
}

static void join_workers(struct worker *w, bool errors)
{
	unsigned int i, nr_errors = 0, done = 0;

	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].bad, 0);
		nr_errors += w[i].errors;
		done += w[i].done;
	}
	assert_int_equal(done, callbacks);
	if (errors)
		assert_int_not_equal(nr_errors, 0);
	else
		assert_int_equal(nr_errors, 0);
	/* No thread waits for unsignalled operations. */
	fake_wait_pending(0);
}

static void eight_threads_post_and_wait(void **state)
{
	struct worker w[NR_THREADS];

	t_shrink_queue(*state, 64);
	fake_device_start(1, 0);
	start_workers(w, *state);
	join_workers(w, false);
	fake_device_stop();
}

static void eight_threads_in_little_room_with_errors(void **state)
{
	struct worker w[NR_THREADS];

	t_shrink_queue(*state, 3);
	fake.max_take = 2;
	fake_device_start(2, 5);
	start_workers(w, *state);
	join_workers(w, true);
	fake_device_stop();
}

static void eight_threads_under_signals(void **state)
{
	struct worker w[NR_THREADS];

	t_shrink_queue(*state, 4);
	fake.interrupt_nth = 2;
	fake_device_start(3, 0);
	start_workers(w, *state);
	join_workers(w, false);
	fake_device_stop();
}

static bool polling;

static void *poll_all(void *arg)
{
	struct t *t = arg;

	while (__atomic_load_n(&polling, __ATOMIC_RELAXED))
		kverbs_process(t->kv, 1);
	return NULL;
}

static void eight_threads_beside_an_event_loop(void **state)
{
	struct worker w[NR_THREADS];
	struct t *t = *state;
	pthread_t thread;

	t_shrink_queue(t, 8);
	__atomic_store_n(&polling, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, poll_all, t), 0);
	fake_device_start(4, 50);
	start_workers(w, t);
	join_workers(w, true);
	__atomic_store_n(&polling, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	fake_device_stop();
}

/* Connections are created and freed during the traffic of others. */
static void *connect_and_free(void *arg)
{
	struct t *t = arg;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		struct kverbs_req req = { 0 };
		struct kverbs_conn *conn;
		int ret;

		do {
			ret = kverbs_connect(t->kv, "192.0.2.1", "1", NULL, &conn);
		} while (ret == -EINTR);
		if (ret || kverbs_recv(conn, t->buf, 0, 1, &req))
			return (void *)1;
		kverbs_conn_free(conn);
		if (kverbs_wait(&req, 0) != -ECANCELED)
			return (void *)2;
	}
	return NULL;
}

static void eight_threads_beside_connections_that_come_and_go(void **state)
{
	struct worker w[NR_THREADS];
	pthread_t thread;
	void *failed;

	t_shrink_queue(*state, 16);
	fake_device_start(6, 0);
	start_workers(w, *state);
	assert_int_equal(pthread_create(&thread, NULL, connect_and_free, *state), 0);
	join_workers(w, false);
	pthread_join(thread, &failed);
	assert_null(failed);
	fake_device_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(eight_threads_post_and_wait),
		t_test_conn(eight_threads_in_little_room_with_errors),
		t_test_conn(eight_threads_under_signals),
		t_test_conn(eight_threads_beside_an_event_loop),
		t_test_conn(eight_threads_beside_connections_that_come_and_go),
	};

	return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
