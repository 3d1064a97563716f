// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Workers: several rings of a context, with common memory. */
#include <poll.h>
#include <stdlib.h>

#include "t.h"

static struct kverbs *open_worker(struct kverbs *kv)
{
	struct kverbs *worker;

	assert_int_equal(kverbs_worker_open(kv, NULL, &worker), 0);
	return worker;
}

static int readable(const struct kverbs *kv)
{
	struct pollfd pfd = { .fd = kverbs_fd(kv), .events = POLLIN };

	fake_update_poll();
	return poll(&pfd, 1, 0);
}

static void a_worker_completes_its_own_operations_with_the_memory_of_the_context(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);
	struct kverbs_conn *conn = t_connect(worker);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	assert_false(kverbs_complete(&req));
	assert_int_equal(kverbs_process(worker, 0), 1);
	assert_true(kverbs_complete(&req));
}

static void each_worker_has_a_descriptor_of_its_own(void **state)
{
	struct t *t = *state;
	struct kverbs *a = open_worker(t->kv), *b = open_worker(a);
	struct kverbs_conn *conn = t_connect(a);
	struct kverbs_req req = { 0 };

	assert_int_not_equal(kverbs_fd(a), kverbs_fd(b));
	assert_int_not_equal(kverbs_fd(a), kverbs_fd(t->kv));
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(readable(a), 0);
	fake_complete(0, 0);
	assert_int_equal(readable(a), 1);
	assert_int_equal(readable(b), 0);
	assert_int_equal(readable(t->kv), 0);
	assert_int_equal(kverbs_process(a, 0), 1);
	assert_int_equal(readable(a), 0);
}

static void memory_registered_by_a_worker_is_the_contexts(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);
	struct kverbs_req req = { 0 };
	struct kverbs_token token;
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_alloc(worker, 4096, &buf), 0);
	assert_int_equal(kverbs_export(t->conn, buf, 0, 4096, KVERBS_REMOTE_READ, &token), 0);
	assert_int_equal(kverbs_unexport(t->conn, &token), 0);
	kverbs_close(worker);
	assert_int_equal(kverbs_send(t->conn, buf, 0, 1, &req), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void memory_of_another_context_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	struct kverbs *other, *worker;

	assert_int_equal(kverbs_open(&other, NULL), 0);
	worker = open_worker(other);
	assert_int_equal(kverbs_send(t_connect(worker), t->buf, 0, 1, &req), -EINVAL);
	kverbs_close(other);
}

static void a_group_has_connections_of_all_workers(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);
	struct kverbs_conn_opts opts = { .sz = sizeof(opts) };
	struct kverbs_conn *a, *b;

	assert_int_equal(kverbs_group_create(worker, 0, &opts.group), 0);
	assert_int_equal(kverbs_connect(worker, "192.0.2.1", "1", &opts, &a), 0);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &b), 0);
	kverbs_conn_free(a);
	kverbs_conn_free(b);
	assert_int_equal(kverbs_group_free(opts.group), 0);
}

static void a_pool_belongs_to_its_worker(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);
	struct kverbs_conn_opts opts = { .sz = sizeof(opts) };
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_pool_create(worker, 8, &opts.pool), 0);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &conn), -EINVAL);
	assert_int_equal(kverbs_connect(worker, "192.0.2.1", "1", &opts, &conn), 0);
}

static struct kverbs_conn *requested(struct kverbs *kv)
{
	struct kverbs_listener *l;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_listen(kv, NULL, "7472", 0, &l), 0);
	fake_request(7472, NULL, 0);
	assert_int_equal(kverbs_next_request(l, 0, &conn), 0);
	return conn;
}

static void a_request_can_be_accepted_on_a_worker(void **state)
{
	struct t *t = *state;
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .worker = open_worker(t->kv) };
	struct kverbs_conn *conn = requested(t->kv);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_pool_create(opts.worker, 8, &opts.pool), 0);
	assert_int_equal(kverbs_accept(conn, &opts), 0);
	assert_int_equal(kverbs_send(conn, t->buf, 0, 1, &req), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	assert_int_equal(kverbs_process(opts.worker, 0), 1);
	assert_true(kverbs_complete(&req));
	/* Its worker closes it. */
	kverbs_close(opts.worker);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
}

static void a_request_with_receives_stays_with_its_listener(void **state)
{
	struct t *t = *state;
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .worker = open_worker(t->kv) };
	struct kverbs_conn *conn = requested(t->kv);
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_recv(conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_accept(conn, &opts), -EBUSY);
	opts.worker = t->kv;
	assert_int_equal(kverbs_accept(conn, &opts), 0);
	kverbs_conn_free(conn);
	assert_int_equal(req.result, -ECANCELED);
}

static void a_worker_of_another_context_accepts_no_request(void **state)
{
	struct t *t = *state;
	struct kverbs_conn_opts opts = { .sz = sizeof(opts) };
	struct kverbs_conn *conn = requested(t->kv);

	assert_int_equal(kverbs_open(&opts.worker, NULL), 0);
	assert_int_equal(kverbs_accept(conn, &opts), -EINVAL);
	kverbs_close(opts.worker);
	assert_int_equal(kverbs_accept(conn, NULL), 0);
}

static void a_request_that_is_not_accepted_stays_with_its_listener(void **state)
{
	struct t *t = *state;
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .worker = open_worker(t->kv) };
	struct kverbs_conn *conn = requested(t->kv);

	fake_fail(KVERBS_ACCEPT, 1, -EAGAIN);
	assert_int_equal(kverbs_accept(conn, &opts), -EAGAIN);
	assert_int_equal(kverbs_accept(conn, NULL), 0);
	kverbs_close(opts.worker);
	assert_int_equal(kverbs_conn_error(conn), 0);
}

static void a_wakeup_is_of_one_worker(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);

	assert_int_equal(kverbs_wakeup(worker), 0);
	assert_int_equal(kverbs_process(worker, -1), -EINTR);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
}

/* The teardown of the test finds what is left. */
static void closing_a_context_closes_its_workers(void **state)
{
	struct t *t = *state;
	struct kverbs *worker = open_worker(t->kv);
	struct kverbs_buf *buf;

	t_connect(worker);
	assert_int_equal(kverbs_buf_alloc(worker, 4096, &buf), 0);
	open_worker(worker);
}

static void a_worker_has_no_file_of_its_own(void **state)
{
	struct t *t = *state;
	struct kverbs_opts opts = { .sz = sizeof(opts), .path = "/dev/null" };
	struct kverbs *worker;

	assert_int_equal(kverbs_worker_open(t->kv, &opts, &worker), -EINVAL);
	opts.path = NULL;
	opts.cq_entries = 3;
	assert_int_equal(kverbs_worker_open(t->kv, &opts, &worker), -EINVAL);
	opts.sz = 1;
	assert_int_equal(kverbs_worker_open(t->kv, &opts, &worker), -EINVAL);
}

static void a_worker_that_cannot_be_opened_leaves_nothing(void **state)
{
	struct t *t = *state;
	unsigned int before = fake_leftovers(), nth;
	struct kverbs *worker;

	fake_fail(KVERBS_RING_CREATE, 1, -EMFILE);
	assert_int_equal(kverbs_worker_open(t->kv, NULL, &worker), -EMFILE);
	for (nth = 1; nth <= 3; nth++) {
		fake_fail(FAKE_MMAP, nth, -ENOMEM);
		assert_int_equal(kverbs_worker_open(t->kv, NULL, &worker), -ENOMEM);
		assert_int_equal(fake_leftovers(), before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(a_worker_completes_its_own_operations_with_the_memory_of_the_context),
		t_test_conn(each_worker_has_a_descriptor_of_its_own),
		t_test_conn(memory_registered_by_a_worker_is_the_contexts),
		t_test_conn(memory_of_another_context_is_refused),
		t_test_conn(a_group_has_connections_of_all_workers),
		t_test_conn(a_pool_belongs_to_its_worker),
		t_test_conn(a_request_can_be_accepted_on_a_worker),
		t_test_conn(a_request_with_receives_stays_with_its_listener),
		t_test_conn(a_worker_of_another_context_accepts_no_request),
		t_test_conn(a_request_that_is_not_accepted_stays_with_its_listener),
		t_test_conn(a_wakeup_is_of_one_worker),
		t_test_conn(closing_a_context_closes_its_workers),
		t_test_conn(a_worker_has_no_file_of_its_own),
		t_test_conn(a_worker_that_cannot_be_opened_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
