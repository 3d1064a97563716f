// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opening a context, its errors, and closing it while objects are left. */
#include <poll.h>

#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

static void assert_open_fails(const struct kverbs_opts *opts, int error)
{
	struct kverbs *kv;

	assert_int_equal(kverbs_open(&kv, opts), error);
	assert_int_equal(fake_leftovers(), 0);
}

static void opens_and_closes(void **state)
{
	struct kverbs *kv;

	(void)state;
	fake_reset();
	assert_int_equal(kverbs_open(&kv, NULL), 0);
	assert_int_not_equal(fake_leftovers(), 0);
	kverbs_close(kv);
	assert_int_equal(fake_leftovers(), 0);
	kverbs_close(NULL);
}

static void errors_of_opening_the_node_are_returned(void **state)
{
	(void)state;
	fake_reset();
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	assert_open_fails(NULL, -ENOENT);
	fake_fail(FAKE_OPEN, 1, -EACCES);
	assert_open_fails(NULL, -EACCES);
}

static void another_abi_is_refused(void **state)
{
	(void)state;
	fake_reset();
	fake.abi = KVERBS_ABI_VERSION + 1;
	assert_open_fails(NULL, -EPROTO);
	/* The node belongs to another driver. */
	fake_fail(KVERBS_INFO, 1, -ENOTTY);
	assert_open_fails(NULL, -EPROTO);
}

static void a_failure_to_map_the_ring_leaks_nothing(void **state)
{
	unsigned int nth;

	(void)state;
	fake_reset();
	fake_fail(KVERBS_RING_CREATE, 1, -ENOMEM);
	assert_open_fails(NULL, -ENOMEM);
	for (nth = 1; nth <= 3; nth++) {
		fake_fail(FAKE_MMAP, nth, -EAGAIN);
		assert_open_fails(NULL, -EAGAIN);
	}
}

static void ring_sizes_reach_the_kernel(void **state)
{
	const struct kverbs_opts odd = { .sz = sizeof(odd), .sq_entries = 3 };
	const struct kverbs_opts small = { .sz = sizeof(small), .sq_entries = 1,
					   .cq_entries = 2 };
	struct kverbs_conn *conn;
	struct kverbs *kv;

	(void)state;
	fake_reset();
	assert_open_fails(&odd, -EINVAL);
	assert_int_equal(kverbs_open(&kv, &small), 0);
	/* Two completions are too few for a connection. */
	assert_int_equal(kverbs_connect(kv, "192.0.2.1", "1", NULL, &conn), -EAGAIN);
	kverbs_close(kv);
}

/* The options may come from a program built with another version of the header. */
static void options_of_older_and_newer_callers_are_accepted(void **state)
{
	struct { struct kverbs_opts opts; uint64_t more; } newer = { 0 };
	struct kverbs_opts opts = { .sz = offsetof(struct kverbs_opts, sq_entries),
				    .sq_entries = 3 };
	struct kverbs *kv;

	(void)state;
	fake_reset();
	assert_int_equal(kverbs_open(&kv, &opts), 0);
	kverbs_close(kv);
	newer.opts.sz = sizeof(newer);
	assert_int_equal(kverbs_open(&kv, &newer.opts), 0);
	kverbs_close(kv);
	newer.more = 1;
	assert_open_fails(&newer.opts, -E2BIG);
	opts.sz = 0;
	assert_open_fails(&opts, -EINVAL);
}

static void info_comes_from_the_kernel(void **state)
{
	struct t *t = *state;
	struct kverbs_cmd_info info;

	assert_int_equal(kverbs_info(t->kv, &info, sizeof(info)), 0);
	assert_int_equal(info.out_abi, KVERBS_ABI_VERSION);
	assert_string_equal(info.out_version, "fake");
	fake_fail(KVERBS_INFO, 1, -EFAULT);
	assert_int_equal(kverbs_info(t->kv, &info, sizeof(info)), -EFAULT);
}

/* Built with another version of the uAPI; both versions have the first field. */
struct other_info {
	struct kverbs_cmd_info info;
	uint64_t more;
};

static void an_older_caller_gets_only_what_it_has_room_for(void **state)
{
	struct t *t = *state;
	struct other_info other = { .info.out_abi = 77 };
	size_t sz = offsetof(struct kverbs_cmd_info, out_abi);

	assert_int_equal(kverbs_info(t->kv, &other.info, sz), 0);
	assert_int_equal(other.info.out_abi, 77);
}

static void a_newer_caller_gets_zeros_in_unknown_members(void **state)
{
	struct t *t = *state;
	struct other_info other = { .more = 77 };

	assert_int_equal(kverbs_info(t->kv, &other.info, sizeof(other)), 0);
	assert_int_equal(other.info.out_abi, KVERBS_ABI_VERSION);
	assert_int_equal(other.more, 0);
}

static void the_descriptor_polls_readable_with_completions(void **state)
{
	struct t *t = *state;
	struct pollfd pfd = { .fd = kverbs_fd(t->kv), .events = POLLIN };
	struct kverbs_req req = { 0 };

	fake_update_poll();
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
	fake_complete(0, 0);
	assert_int_equal(poll(&pfd, 1, 0), 1);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_true(kverbs_complete(&req));
	fake_update_poll();
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(kverbs_process(t->kv, 0), 0);
}

/* Open a context with busy_poll, a connection, a buffer and a SEND in flight. */
static struct kverbs *open_polling(struct kverbs_req *req)
{
	struct kverbs_opts opts = { .sz = sizeof(opts), .busy_poll = true };
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	fake_reset();
	assert_int_equal(kverbs_open(&kv, &opts), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_buf_alloc(kv, 4096, &buf), 0);
	assert_int_equal(kverbs_send(conn, buf, 0, 1, req), 0);
	fake_complete(0, 0);
	assert_false(kverbs_complete(req));
	return kv;
}

static void softirq_and_busy_poll_exclude_each_other(void **state)
{
	struct kverbs_opts opts = { .sz = sizeof(opts), .softirq = true };
	struct kverbs *kv;

	(void)state;
	fake_reset();
	assert_int_equal(kverbs_open(&kv, &opts), 0);
	kverbs_close(kv);
	opts.busy_poll = true;
	assert_int_equal(kverbs_open(&kv, &opts), -EINVAL);
	assert_int_equal(fake_leftovers(), 0);
}

static void a_polling_context_completes_requests(void **state)
{
	struct kverbs_req req = { 0 };
	struct kverbs *kv = open_polling(&req);

	(void)state;
	assert_int_equal(kverbs_wait(&req, -1), 0);
	kverbs_close(kv);
	assert_int_equal(fake_leftovers(), 0);
}

static void a_polling_context_looks_once_if_the_time_is_zero(void **state)
{
	struct kverbs_req req = { 0 };
	struct kverbs *kv = open_polling(&req);

	(void)state;
	assert_int_equal(kverbs_process(kv, 0), 1);
	assert_true(kverbs_complete(&req));
	assert_int_equal(kverbs_process(kv, 0), 0);
	kverbs_close(kv);
	assert_int_equal(fake_leftovers(), 0);
}

static unsigned int canceled;

static void count_canceled(struct kverbs_req *req)
{
	assert_int_equal(req->result, -ECANCELED);
	canceled++;
}

static void closing_frees_all_objects(void **state)
{
	struct kverbs_req req = { .done = count_canceled };
	struct kverbs_listener *l;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	(void)state;
	fake_reset();
	canceled = 0;
	assert_int_equal(kverbs_open(&kv, NULL), 0);
	assert_int_equal(kverbs_buf_alloc(kv, 8192, &buf), 0);
	assert_int_equal(kverbs_listen(kv, NULL, "7472", 0, &l), 0);
	conn = t_connect(kv);
	assert_int_equal(kverbs_recv(conn, buf, 0, 8192, &req), 0);
	fake_request(7472, NULL, 0);
	kverbs_close(kv);
	assert_int_equal(canceled, 1);
	assert_int_equal(fake_leftovers(), 0);
}

static void a_region_that_stays_busy_does_not_stop_closing(void **state)
{
	struct kverbs_buf *buf;
	struct kverbs *kv;

	(void)state;
	fake_reset();
	assert_int_equal(kverbs_open(&kv, NULL), 0);
	assert_int_equal(kverbs_buf_alloc(kv, 8192, &buf), 0);
	fake_fail(KVERBS_DESTROY, 1, -EBUSY);
	kverbs_close(kv);
	assert_int_equal(fake_leftovers(), 0);
}

/* Returns the number of calls that a child of fork() is not refused, or that touch the parent. */
static int use_in_child(struct t *t, struct kverbs_listener *l, struct kverbs_req *pending)
{
	struct kverbs_token token = { 0 };
	struct kverbs_cmd_info info;
	const uint8_t byte = 0;
	struct kverbs_req *taken;
	struct kverbs_group *group;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	const int answers[] = {
		kverbs_send(t->conn, t->buf, 0, 1, pending),
		kverbs_send_copy(t->conn, &byte, 1, pending),
		kverbs_wait(pending, -1),
		kverbs_wait_any(&pending, 1, -1),
		kverbs_process(t->kv, -1),
		kverbs_poll(t->kv, &taken, 1, -1),
		kverbs_info(t->kv, &info, sizeof(info)),
		kverbs_connect(t->kv, "192.0.2.1", "1", NULL, &conn),
		kverbs_conn_wait(t->conn, -1),
		kverbs_conn_error(t->conn),
		kverbs_disconnect(t->conn),
		kverbs_shutdown(t->conn, -1),
		kverbs_next_request(l, -1, &conn),
		kverbs_listen(t->kv, NULL, "7473", 0, &l),
		kverbs_export(t->conn, t->buf, 0, 8, KVERBS_REMOTE_READ, &token),
		kverbs_group_create(t->kv, 0, &group),
		kverbs_watch(t->conn, &byte, 0, -1),
		kverbs_buf_alloc(t->kv, 8192, &buf),
		kverbs_buf_free(t->buf),
	};
	int wrong = 0;
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		wrong += answers[i] != -ECHILD;
	kverbs_conn_free(t->conn);
	kverbs_listener_free(l);
	wrong += fake_conn_state(fake.last_conn) != KVERBS_CONN_ESTABLISHED;
	kverbs_close(t->kv);
	return wrong;
}

static void a_child_of_fork_leaves_the_objects_of_its_parent_alone(void **state)
{
	struct t *t = *state;
	struct kverbs_req pending = { 0 };
	struct kverbs_listener *l;
	int status;
	pid_t pid;

	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &l), 0);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 8, &pending), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(use_in_child(t, l, &pending));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(kverbs_conn_error(t->conn), 0);
	fake_complete_recv(0, 1, 0, 0);
	assert_int_equal(kverbs_wait(&pending, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_and_closes),
		cmocka_unit_test(errors_of_opening_the_node_are_returned),
		cmocka_unit_test(another_abi_is_refused),
		cmocka_unit_test(a_failure_to_map_the_ring_leaks_nothing),
		cmocka_unit_test(ring_sizes_reach_the_kernel),
		cmocka_unit_test(options_of_older_and_newer_callers_are_accepted),
		t_test(info_comes_from_the_kernel),
		t_test(an_older_caller_gets_only_what_it_has_room_for),
		t_test(a_newer_caller_gets_zeros_in_unknown_members),
		t_test_conn(the_descriptor_polls_readable_with_completions),
		cmocka_unit_test(softirq_and_busy_poll_exclude_each_other),
		cmocka_unit_test(a_polling_context_completes_requests),
		cmocka_unit_test(a_polling_context_looks_once_if_the_time_is_zero),
		t_test_conn(a_child_of_fork_leaves_the_objects_of_its_parent_alone),
		cmocka_unit_test(closing_frees_all_objects),
		cmocka_unit_test(a_region_that_stays_busy_does_not_stop_closing),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
