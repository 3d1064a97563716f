// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: buffers that connections share, and the requests that they complete. */
#include "t.h"

#define BUF 256u
#define DEPTH 2

/* They outlive the context, which completes them when it is closed. */
static struct kverbs_req reqs[4];

/* Connections of these tests have DEPTH receive slots. */
static struct kverbs_conn *connect_pooled(struct t *t, struct kverbs_pool *pool)
{
	const struct kverbs_conn_param param = { .rq_depth = DEPTH };
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts), .param = &param, .param_sz = sizeof(param), .pool = pool,
	};
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "7472", &opts, &conn), 0);
	return conn;
}

static struct kverbs_pool *create(struct t *t, unsigned int entries)
{
	struct kverbs_pool *pool;

	memset(reqs, 0, sizeof(reqs));
	assert_int_equal(kverbs_pool_create(t->kv, entries, &pool), 0);
	return pool;
}

static void add_all(struct t *t, struct kverbs_pool *pool, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		assert_int_equal(kverbs_pool_add(pool, t->buf, i * BUF, BUF, &reqs[i]), 0);
}

static void a_message_completes_the_request_of_its_buffer(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	struct kverbs_conn *conn;

	add_all(t, pool, 3);
	conn = connect_pooled(t, pool);
	assert_int_equal(fake_pending(), DEPTH);
	assert_null(kverbs_req_conn(&reqs[0]));
	assert_int_equal(fake_entry(1).offset, BUF);
	fake_complete_recv(1, 17, 0, 0);
	assert_int_equal(kverbs_wait(&reqs[1], -1), 0);
	assert_ptr_equal(kverbs_req_conn(&reqs[1]), conn);
	assert_int_equal(reqs[1].byte_len, 17);
	assert_true(reqs[1].flags & KVERBS_CQE_F_MORE);
	assert_false(kverbs_complete(&reqs[0]));
	assert_false(kverbs_complete(&reqs[2]));
}

static void connections_share_a_pool(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	struct kverbs_conn *first, *second;

	add_all(t, pool, 4);
	first = connect_pooled(t, pool);
	second = connect_pooled(t, pool);
	assert_int_equal(fake_pending(), 2 * DEPTH);
	fake_complete_recv(2, 1, 0, 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_wait(&reqs[0], -1), 0);
	assert_int_equal(kverbs_wait(&reqs[2], -1), 0);
	assert_ptr_equal(kverbs_req_conn(&reqs[0]), first);
	assert_ptr_equal(kverbs_req_conn(&reqs[2]), second);
}

static struct kverbs_buf *memory;
static struct kverbs_pool *refilled;
static unsigned int arrived;

static void add_again(struct kverbs_req *req)
{
	arrived++;
	assert_int_equal(kverbs_pool_add(refilled, memory, 0, BUF, req), 0);
}

static void a_callback_adds_the_buffer_again_without_a_system_call(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	unsigned int i, wakes;

	memory = t->buf;
	refilled = pool;
	arrived = 0;
	for (i = 0; i < 4; i++)
		reqs[i].done = add_again;
	add_all(t, pool, 4);
	connect_pooled(t, pool);
	wakes = fake.wakes;
	for (i = 0; i < 100; i++) {
		fake_complete_recv(0, 1, 0, 0);
		assert_int_equal(kverbs_process(t->kv, -1), 1);
	}
	assert_int_equal(arrived, 100);
	assert_int_equal(fake.wakes, wakes);
	for (i = 0; i < 4; i++)
		reqs[i].done = NULL;
}

static void adding_wakes_a_connection_without_a_receive(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);

	connect_pooled(t, pool);
	assert_int_equal(fake_pending(), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, BUF, &reqs[0]), 0);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake_pending(), 1);
}

/* Two unread completions and the connection's events fill the completion ring. */
static void reading_completions_wakes_a_connection_without_a_receive(void **state)
{
	const struct kverbs_opts opts = { .sz = sizeof(opts), .cq_entries = 4 };
	struct kverbs_pool *pool;
	struct t *t = *state;

	kverbs_close(t->kv);
	fake_reset();
	assert_int_equal(kverbs_open(&t->kv, &opts), 0);
	assert_int_equal(kverbs_buf_alloc(t->kv, T_SIZE, &t->buf), 0);
	pool = create(t, 4);
	add_all(t, pool, 3);
	connect_pooled(t, pool);
	fake_complete_recv(0, 1, 0, 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(fake_pending(), 0);
	assert_int_equal(kverbs_process(t->kv, -1), 2);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(fake_pending(), 1);
}

static void a_pool_holds_so_many_buffers(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 2);

	add_all(t, pool, 2);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[2]), -EAGAIN);
	connect_pooled(t, pool);
	/* Posted buffers count, too: there is no id for another one. */
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[2]), -EAGAIN);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_wait(&reqs[0], -1), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[2]), 0);
}

static void invalid_arguments_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool;

	assert_int_equal(kverbs_pool_create(t->kv, 3, &pool), -EINVAL);
	assert_int_equal(kverbs_pool_create(t->kv, 131072, &pool), -EINVAL);
	pool = create(t, 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 0, &reqs[0]), -EINVAL);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 1, T_SIZE, &reqs[0]), -EINVAL);
	assert_int_equal(kverbs_pool_add(pool, NULL, 0, 1, &reqs[0]), -EINVAL);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[0]), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[0]), -EBUSY);
	assert_int_equal(kverbs_pool_destroy(NULL), 0);
}

static void a_pool_of_another_context_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 2);
	const struct kverbs_conn_opts opts = { .sz = sizeof(opts), .pool = pool };
	struct kverbs_conn *conn;
	struct kverbs *other;

	assert_int_equal(kverbs_open(&other, NULL), 0);
	assert_int_equal(kverbs_connect(other, "192.0.2.1", "7472", &opts, &conn), -EINVAL);
	kverbs_close(other);
}

static void a_used_pool_is_busy(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 2);
	struct kverbs_conn *conn;

	add_all(t, pool, 2);
	conn = connect_pooled(t, pool);
	assert_int_equal(kverbs_pool_destroy(pool), -EBUSY);
	kverbs_conn_free(conn);
	assert_int_equal(reqs[0].result, -ECANCELED);
	assert_true(kverbs_complete(&reqs[1]));
	assert_int_equal(kverbs_pool_destroy(pool), 0);
}

static void requests_left_in_a_pool_can_be_used_again(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 2);

	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, 1, &reqs[0]), 0);
	assert_int_equal(kverbs_pool_destroy(pool), 0);
	assert_false(kverbs_complete(&reqs[0]));
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &reqs[0]), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&reqs[0], -1), 0);
}

static void buffers_of_an_ended_connection_come_back(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	struct kverbs_conn *conn;

	add_all(t, pool, 3);
	conn = connect_pooled(t, pool);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	assert_int_equal(kverbs_wait(&reqs[0], -1), -EIO);
	assert_int_equal(kverbs_wait(&reqs[1], -1), -EIO);
	assert_false(reqs[1].flags & KVERBS_CQE_F_MORE);
	assert_false(kverbs_complete(&reqs[2]));
	kverbs_conn_free(conn);
	assert_int_equal(kverbs_pool_destroy(pool), 0);
}

static void an_accepted_connection_may_have_a_pool(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	const struct kverbs_conn_opts opts = { .sz = sizeof(opts), .pool = pool };
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &listener), 0);
	fake_request(7472, NULL, 0);
	assert_int_equal(kverbs_next_request(listener, -1, &conn), 0);
	assert_int_equal(kverbs_pool_add(pool, t->buf, 0, BUF, &reqs[0]), 0);
	assert_int_equal(kverbs_accept(conn, &opts), 0);
	assert_int_equal(fake_pending(), 1);
	fake_complete_recv(0, 9, 0, 0);
	assert_int_equal(kverbs_wait(&reqs[0], -1), 0);
	assert_ptr_equal(kverbs_req_conn(&reqs[0]), conn);
}

static void nothing_leaks_if_a_call_fails(void **state)
{
	struct t *t = *state;
	unsigned int before = fake_leftovers(), nth;
	struct kverbs_pool *pool;
	int ret = -ENOMEM;

	for (nth = 1; ret; nth++) {
		fake_fail_nth(nth);
		ret = kverbs_pool_create(t->kv, 4, &pool);
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			assert_int_equal(fake_leftovers(), before);
		}
	}
	/* The struct, two arrays, POOL_CREATE, two mappings */
	assert_int_equal(nth, 6 + 2);
	assert_int_equal(kverbs_pool_destroy(pool), 0);
}

static void a_wrong_buffer_id_is_ignored(void **state)
{
	struct t *t = *state;
	struct kverbs_pool *pool = create(t, 4);
	struct kverbs_cqe cqe = {
		.type = KVERBS_CQE_WORK,
		.flags = KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER,
		.buf_id = 3,
	};

	connect_pooled(t, pool);
	cqe.id = fake.last_conn;
	fake_cqe(&cqe);
	cqe.buf_id = 4;
	fake_cqe(&cqe);
	cqe.id = 12345;
	fake_cqe(&cqe);
	assert_int_equal(kverbs_process(t->kv, -1), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_message_completes_the_request_of_its_buffer),
		t_test_conn(connections_share_a_pool),
		t_test_conn(a_callback_adds_the_buffer_again_without_a_system_call),
		t_test_conn(adding_wakes_a_connection_without_a_receive),
		t_test(reading_completions_wakes_a_connection_without_a_receive),
		t_test_conn(a_pool_holds_so_many_buffers),
		t_test_conn(invalid_arguments_are_refused),
		t_test_conn(a_pool_of_another_context_is_refused),
		t_test_conn(a_used_pool_is_busy),
		t_test_conn(requests_left_in_a_pool_can_be_used_again),
		t_test_conn(buffers_of_an_ended_connection_come_back),
		t_test_conn(an_accepted_connection_may_have_a_pool),
		t_test_conn(nothing_leaks_if_a_call_fails),
		t_test_conn(a_wrong_buffer_id_is_ignored),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
