// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections are established, fail and end, and report why. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "t.h"

#define HOST "192.0.2.1"

static struct sockaddr_in peer = { .sin_family = AF_INET };

static struct kverbs_conn *start(struct kverbs *kv, int outcome)
{
	struct kverbs_conn *conn;

	fake_script_connect(outcome);
	assert_int_equal(kverbs_connect_start(kv, (void *)&peer, NULL, &conn), 0);
	return conn;
}

/* ---- connect ---------------------------------------------------------------- */

static void connects_to_the_given_address(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake.time_jumps = true;
	assert_int_equal(kverbs_connect(t->kv, HOST, "7472", NULL, &conn), 0);
	assert_int_equal(kverbs_conn_error(conn), 0);
	assert_int_equal(fake.last_connect.dst.family, AF_INET);
	assert_int_equal(ntohs(fake.last_connect.dst.port), 7472);
	assert_memory_equal(fake.last_connect.dst.addr, "\xc0\x00\x02\x01", 4);
	assert_int_equal(fake.last_connect.src.family, 0);
	assert_int_equal(fake.last_connect.timeout_ns, 10000 * 1000000ull);
	kverbs_conn_free(conn);
}

static void options_reach_the_kernel(void **state)
{
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &(struct kverbs_conn_param){
			.valid = KVERBS_PARAM_RETRY,
			.retry = 3,
			.sq_depth = 17,
		},
		.param_sz = sizeof(struct kverbs_conn_param),
		.source = "198.51.100.7",
		.priv = "hello",
		.priv_len = 6,
		.timeout_ms = 500,
	};
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake.time_jumps = true;
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), 0);
	assert_int_equal(fake.connect_param.valid, KVERBS_PARAM_RETRY);
	assert_int_equal(fake.connect_param.retry, 3);
	assert_int_equal(fake.connect_param.sq_depth, 17);
	assert_memory_equal(fake.last_connect.src.addr, "\xc6\x33\x64\x07", 4);
	assert_int_equal(fake.last_connect.src.port, 0);
	assert_int_equal(fake.last_connect.priv_len, 6);
	assert_int_equal(fake.last_connect.timeout_ns, 500 * 1000000ull);
	kverbs_conn_free(conn);
}

static void bad_options_are_refused(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .priv = "",
					 .priv_len = KVERBS_PRIV_CONNECT_MAX + 1 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -EINVAL);
	opts.priv_len = 0;
	opts.source = "no such host";
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -EADDRNOTAVAIL);
	opts.source = "::1";
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -EADDRNOTAVAIL);
	opts.sz = 1;
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -EINVAL);
	assert_int_equal(kverbs_connect(t->kv, "no such host", "1", NULL, &conn), -ENXIO);
}

/* No name service may delay a call that does not wait. */
static void starting_to_connect_resolves_no_name(void **state)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201), .sin_port = htons(1),
	};
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .source = FAKE_HOST };
	struct t *t = *state;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect_start(t->kv, (void *)&to, &opts, &conn), -EADDRNOTAVAIL);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), 0);
	assert_memory_equal(fake.last_connect.src.addr, "\xc0\x00\x02\x01", 4);
	kverbs_conn_free(conn);
	opts.source = "198.51.100.7";
	assert_int_equal(kverbs_connect_start(t->kv, (void *)&to, &opts, &conn), 0);
	assert_memory_equal(fake.last_connect.src.addr, "\xc6\x33\x64\x07", 4);
	kverbs_conn_free(conn);
}

static void assert_connect_gives(struct kverbs *kv, int outcome)
{
	struct kverbs_conn *conn;

	fake_script_connect(outcome);
	assert_int_equal(kverbs_connect(kv, HOST, "1", NULL, &conn), outcome);
	assert_int_equal(fake_conn_state(fake.last_conn), 0);
}

static void errors_of_the_kernel_are_returned_unchanged(void **state)
{
	struct t *t = *state;

	assert_connect_gives(t->kv, -ECONNREFUSED);
	assert_connect_gives(t->kv, -ETIMEDOUT);
	assert_connect_gives(t->kv, -EHOSTUNREACH);
	assert_connect_gives(t->kv, -ENETUNREACH);
	assert_connect_gives(t->kv, -ENODEV);
}

static void a_kernel_that_never_answers_costs_the_timeout(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = 30 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake.time_jumps = true;
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -ETIMEDOUT);
	assert_int_equal(fake_conn_state(fake.last_conn), 0);
}

static void every_address_is_tried(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake_script_connect(-ECONNREFUSED);
	fake_script_connect(0);
	assert_int_equal(kverbs_connect(t->kv, FAKE_HOST, "1", NULL, &conn), 0);
	assert_memory_equal(fake.last_connect.dst.addr, "\xc0\x00\x02\x02", 4);
	kverbs_conn_free(conn);
}

static void assert_best_error(struct kverbs *kv, int first, int second, int best)
{
	struct kverbs_conn *conn;

	fake_script_connect(first);
	fake_script_connect(second);
	assert_int_equal(kverbs_connect(kv, FAKE_HOST, "1", NULL, &conn), best);
}

static void the_most_specific_error_is_returned(void **state)
{
	struct t *t = *state;

	assert_best_error(t->kv, -ECONNREFUSED, -ENODEV, -ECONNREFUSED);
	assert_best_error(t->kv, -ENODEV, -ETIMEDOUT, -ETIMEDOUT);
	assert_best_error(t->kv, -EADDRNOTAVAIL, -ENODEV, -ENODEV);
	assert_best_error(t->kv, -EHOSTUNREACH, -EADDRNOTAVAIL, -EHOSTUNREACH);
	assert_best_error(t->kv, -EINVAL, -ENETUNREACH, -EINVAL);
	/* The last of two equally specific errors is reported. */
	assert_best_error(t->kv, -EHOSTUNREACH, -ENETUNREACH, -ENETUNREACH);
}

static void a_dead_address_leaves_time_for_the_next_one(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = 200 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake.time_jumps = true;
	fake_script_connect(FAKE_CONNECT_HANGS);
	fake_script_connect(0);
	assert_int_equal(kverbs_connect(t->kv, FAKE_HOST, "1", &opts, &conn), 0);
	assert_int_equal(fake.last_connect.timeout_ns, 100 * 1000000ull);
	kverbs_conn_free(conn);
}

static void the_timeout_is_for_all_addresses(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = 40 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	fake.time_jumps = true;
	fake_script_connect(-ENODEV);
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect(t->kv, FAKE_HOST, "1", &opts, &conn),
			 -ETIMEDOUT);
	assert_int_equal(fake.last_connect.timeout_ns, 40 * 1000000ull);
}

static void no_timeout_becomes_the_longest_one(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = -1 };
	struct t *t = *state;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), 0);
	assert_int_equal(fake.last_connect.timeout_ns, INT32_MAX * 1000000ull);
	kverbs_conn_free(conn);
}

static void starting_does_not_wait(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *conn = start(t->kv, FAKE_CONNECT_HANGS);

	assert_int_equal(kverbs_conn_wait(conn, 0), -ETIMEDOUT);
	assert_int_equal(kverbs_conn_error(conn), 0);
	fake_event(fake.last_conn, KVERBS_CQE_ESTABLISHED, 0);
	assert_int_equal(kverbs_conn_wait(conn, 0), 0);
	assert_int_equal(kverbs_conn_wait(conn, -1), 0);
	kverbs_conn_free(conn);
}

static void other_families_cannot_be_connected_to(void **state)
{
	struct sockaddr sa = { .sa_family = AF_UNIX };
	struct t *t = *state;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect_start(t->kv, &sa, NULL, &conn), -EAFNOSUPPORT);
}

static void a_refused_ioctl_leaves_no_connection(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *conn;
	unsigned int before = fake_leftovers();

	fake_fail(KVERBS_CONNECT, 1, -EADDRNOTAVAIL);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", NULL, &conn), -EADDRNOTAVAIL);
	assert_int_equal(fake_leftovers(), before);
}

/* Arguments and results of the callbacks of kverbs_connect(). */
struct hooks {
	struct kverbs_buf *buf;
	struct kverbs_req recv;
	struct kverbs_conn *prepared;
	unsigned int refusals;
	int ret;
	bool last;
};

static int post_and_establish(struct kverbs_conn *conn, void *arg)
{
	struct hooks *h = arg;

	h->prepared = conn;
	assert_int_equal(kverbs_recv(conn, h->buf, 0, 1, &h->recv), 0);
	fake_event(fake.last_conn, KVERBS_CQE_ESTABLISHED, 0);
	return 0;
}

static int return_ret(struct kverbs_conn *conn, void *arg)
{
	struct hooks *h = arg;

	h->prepared = conn;
	return h->ret;
}

static bool count_refusal(struct kverbs_conn *conn, void *arg)
{
	struct hooks *h = arg;

	assert_int_equal(kverbs_conn_error(conn), -ECONNREFUSED);
	h->refusals++;
	return h->last;
}

static struct kverbs_conn_opts hooked(struct hooks *h)
{
	return (struct kverbs_conn_opts) {
		.sz = sizeof(struct kverbs_conn_opts),
		.refused = count_refusal,
		.arg = h,
	};
}

static void receives_can_be_posted_before_the_peer_answers(void **state)
{
	struct t *t = *state;
	struct hooks h = { .buf = t->buf };
	struct kverbs_conn_opts opts = hooked(&h);
	struct kverbs_conn *conn;

	opts.prepare = post_and_establish;
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), 0);
	assert_ptr_equal(conn, h.prepared);
	kverbs_conn_free(conn);
	assert_int_equal(h.recv.result, -ECANCELED);
}

static void an_error_of_preparing_ends_the_attempt(void **state)
{
	struct t *t = *state;
	struct hooks h = { .ret = -ENOMEM };
	struct kverbs_conn_opts opts = hooked(&h);
	struct kverbs_conn *conn;

	opts.prepare = return_ret;
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -ENOMEM);
	assert_int_equal(fake_conn_state(fake.last_conn), 0);
}

static void a_refusal_during_preparing_is_reported_as_such(void **state)
{
	struct t *t = *state;
	struct hooks h = { .ret = -ENOTCONN };
	struct kverbs_conn_opts opts = hooked(&h);
	struct kverbs_conn *conn;

	opts.prepare = return_ret;
	fake_script_connect(-ECONNREFUSED);
	assert_int_equal(kverbs_connect(t->kv, HOST, "1", &opts, &conn), -ECONNREFUSED);
	assert_non_null(h.prepared);
	assert_int_equal(h.refusals, 1);
}

static void a_refusal_may_be_final(void **state)
{
	struct t *t = *state;
	struct hooks h = { .last = true };
	struct kverbs_conn_opts opts = hooked(&h);
	struct kverbs_conn *conn;

	fake_script_connect(-ECONNREFUSED);
	assert_int_equal(kverbs_connect(t->kv, FAKE_HOST, "1", &opts, &conn), -ECONNREFUSED);
	assert_int_equal(h.refusals, 1);
	assert_memory_equal(fake.last_connect.dst.addr, "\xc0\x00\x02\x01", 4);
}

static void other_addresses_are_tried_unless_a_refusal_is_final(void **state)
{
	struct t *t = *state;
	struct hooks h = { 0 };
	struct kverbs_conn_opts opts = hooked(&h);
	struct kverbs_conn *conn;

	fake_script_connect(-ECONNREFUSED);
	fake_script_connect(0);
	assert_int_equal(kverbs_connect(t->kv, FAKE_HOST, "1", &opts, &conn), 0);
	assert_int_equal(h.refusals, 1);
	kverbs_conn_free(conn);
}

/* ---- the end of a connection --------------------------------------------------- */

static void assert_ends_with(struct kverbs *kv, enum kverbs_cqe_type type, int result,
			     int error)
{
	struct kverbs_conn *conn = t_connect(kv);

	fake_event(fake.last_conn, type, result);
	assert_int_equal(kverbs_conn_error(conn), 0);
	assert_int_equal(kverbs_process(kv, 0), 1);
	assert_int_equal(kverbs_conn_error(conn), error);
	assert_int_equal(kverbs_conn_wait(conn, 0), error);
	kverbs_conn_free(conn);
}

static void the_end_of_a_connection_has_its_reason(void **state)
{
	struct t *t = *state;

	assert_ends_with(t->kv, KVERBS_CQE_DISCONNECTED, -ECONNRESET, -ECONNRESET);
	assert_ends_with(t->kv, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT, -ETIMEDOUT);
	assert_ends_with(t->kv, KVERBS_CQE_DISCONNECTED, 0, -ECONNRESET);
	assert_ends_with(t->kv, KVERBS_CQE_DEVICE_REMOVED, 0, -ENODEV);
	assert_ends_with(t->kv, KVERBS_CQE_DEVICE_REMOVED, -ENODEV, -ENODEV);
	assert_ends_with(t->kv, KVERBS_CQE_REJECTED, 0, -ECONNREFUSED);
	assert_ends_with(t->kv, KVERBS_CQE_FAILED, -EHOSTUNREACH, -EHOSTUNREACH);
}

static void a_local_disconnect_is_not_a_reset(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_disconnect(t->conn), 0);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_int_equal(kverbs_conn_error(t->conn), -ECANCELED);
	assert_int_equal(kverbs_disconnect(t->conn), -ENOTCONN);
}

static void an_ended_connection_refuses_requests_with_its_reason(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	/* Before and after the event is read. */
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	assert_int_equal(kverbs_wait(&req, 0), -ECONNRESET);
	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), -ECONNRESET);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &req), -ECONNRESET);
}

static void events_of_a_freed_connection_are_ignored(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *conn = t_connect(t->kv);
	struct kverbs_cqe late = {
		.id = fake.last_conn,
		.type = KVERBS_CQE_DISCONNECTED,
		.result = -ECONNRESET,
		.user_data = 0xdeadbeef,
	};

	/* One event is unread; others follow, as the kernel should never send them. */
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
	kverbs_conn_free(conn);
	fake_cqe(&late);
	late.type = KVERBS_CQE_WORK;
	fake_cqe(&late);
	late.type = 200;
	fake_cqe(&late);
	late.type = KVERBS_CQE_WORK;
	late.id = UINT32_MAX;
	fake_cqe(&late);
	assert_int_equal(kverbs_process(t->kv, 0), 4);
	kverbs_conn_free(NULL);
}

static void unknown_events_are_ignored(void **state)
{
	struct t *t = *state;
	struct kverbs_cqe odd = { .id = fake.last_conn, .type = 99, .result = -EIO };

	fake_cqe(&odd);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_int_equal(kverbs_conn_error(t->conn), 0);
}

/* ---- queries --------------------------------------------------------------------- */

static void a_query_returns_all_but_private_data(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l;
	struct kverbs_conn *conn;
	struct kverbs_cmd_conn_query q;

	assert_int_equal(kverbs_listen(t->kv, NULL, "5", 0, &l), 0);
	fake_request(5, "secret", 7);
	assert_int_equal(kverbs_next_request(l, 0, &conn), 0);
	assert_int_equal(kverbs_conn_query(conn, &q, sizeof(q)), 0);
	assert_int_equal(q.out_state, KVERBS_CONN_REQUESTED);
	assert_int_equal(q.out_sq_depth, 128);
	assert_int_equal(q.inout_priv_len, 0);
	assert_int_equal(q.priv_uptr, 0);
	fake_fail(KVERBS_CONN_QUERY, 1, -ENODEV);
	assert_int_equal(kverbs_conn_query(conn, &q, sizeof(q)), -ENODEV);
	kverbs_conn_free(conn);
}

static void private_data_is_cut_to_the_callers_room(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l;
	struct kverbs_conn *conn;
	char buf[16];

	assert_int_equal(kverbs_listen(t->kv, NULL, "5", 0, &l), 0);
	fake_request(5, "private", 8);
	assert_int_equal(kverbs_next_request(l, 0, &conn), 0);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(kverbs_conn_priv(conn, buf, sizeof(buf)), 8);
	assert_string_equal(buf, "private");
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(kverbs_conn_priv(conn, buf, 4), 4);
	assert_memory_equal(buf, "privx", 5);
	assert_int_equal(kverbs_conn_priv(conn, NULL, 0), 0);
	fake_fail(KVERBS_CONN_QUERY, 1, -ENODEV);
	assert_int_equal(kverbs_conn_priv(conn, buf, 4), -ENODEV);
}

static void the_data_pointer_belongs_to_the_caller(void **state)
{
	struct t *t = *state;

	assert_null(kverbs_conn_data(t->conn));
	kverbs_conn_set_data(t->conn, t);
	assert_ptr_equal(kverbs_conn_data(t->conn), t);
}

/* ---- exports --------------------------------------------------------------------- */

static void exports_become_tokens_of_any_length(void **state)
{
	struct t *t = *state;
	struct kverbs_token token;

	fake.max_segment = 1000;
	assert_int_equal(kverbs_export(t->conn, t->buf, 96, 20500, KVERBS_REMOTE_READ,
				       &token), 0);
	assert_int_equal(token.nr_segs, 21);
	assert_int_equal(token.length, 20500);
	assert_int_equal(token.access, KVERBS_REMOTE_READ);
	assert_int_equal(token.segs[20].length, 500);
	assert_int_not_equal(token.id, 0);
	assert_int_equal(kverbs_buf_free(t->buf), -EBUSY);
	assert_int_equal(kverbs_unexport(t->conn, &token), 0);
	assert_null(token.segs);
	assert_int_equal(kverbs_buf_free(t->buf), 0);
}

static void exports_outside_of_the_buffer_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_token token;

	assert_int_equal(kverbs_export(t->conn, t->buf, 1, T_SIZE, 1, &token), -EINVAL);
	assert_int_equal(kverbs_export(t->conn, t->buf, 0, 0, 1, &token), -EINVAL);
	assert_int_equal(kverbs_export(t->conn, t->buf, SIZE_MAX, 2, 1, &token), -EINVAL);
	assert_int_equal(kverbs_export(t->conn, NULL, 0, 1, 1, &token), -EINVAL);
	assert_int_equal(kverbs_export(t->conn, t->buf, 0, 1, 0, &token), -EINVAL);
	assert_null(token.segs);
}

static void an_export_ends_with_its_connection(void **state)
{
	struct t *t = *state;
	struct kverbs_token token;

	assert_int_equal(kverbs_export(t->conn, t->buf, 0, 1, KVERBS_REMOTE_WRITE,
				       &token), 0);
	fake_fail(KVERBS_DESTROY, 1, -ENOENT);
	assert_int_equal(kverbs_unexport(t->conn, &token), 0);
	assert_int_equal(kverbs_export(t->conn, t->buf, 0, 1, KVERBS_REMOTE_WRITE,
				       &token), 0);
	fake_fail(KVERBS_DESTROY, 1, -EFAULT);
	assert_int_equal(kverbs_unexport(t->conn, &token), -EFAULT);
	assert_null(token.segs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(connects_to_the_given_address),
		t_test(options_reach_the_kernel),
		t_test(bad_options_are_refused),
		t_test(starting_to_connect_resolves_no_name),
		t_test(errors_of_the_kernel_are_returned_unchanged),
		t_test(a_kernel_that_never_answers_costs_the_timeout),
		t_test(every_address_is_tried),
		t_test(the_most_specific_error_is_returned),
		t_test(a_dead_address_leaves_time_for_the_next_one),
		t_test(the_timeout_is_for_all_addresses),
		t_test(no_timeout_becomes_the_longest_one),
		t_test(starting_does_not_wait),
		t_test(other_families_cannot_be_connected_to),
		t_test(a_refused_ioctl_leaves_no_connection),
		t_test_conn(receives_can_be_posted_before_the_peer_answers),
		t_test(an_error_of_preparing_ends_the_attempt),
		t_test(a_refusal_during_preparing_is_reported_as_such),
		t_test(a_refusal_may_be_final),
		t_test(other_addresses_are_tried_unless_a_refusal_is_final),
		t_test(the_end_of_a_connection_has_its_reason),
		t_test_conn(a_local_disconnect_is_not_a_reset),
		t_test_conn(an_ended_connection_refuses_requests_with_its_reason),
		t_test(events_of_a_freed_connection_are_ignored),
		t_test_conn(unknown_events_are_ignored),
		t_test(a_query_returns_all_but_private_data),
		t_test(private_data_is_cut_to_the_callers_room),
		t_test_conn(the_data_pointer_belongs_to_the_caller),
		t_test_conn(exports_become_tokens_of_any_length),
		t_test_conn(exports_outside_of_the_buffer_are_refused),
		t_test_conn(an_export_ends_with_its_connection),
	};

	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
