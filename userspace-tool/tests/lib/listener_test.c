// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Listeners, connection requests and their answers */
#include "t.h"

static struct kverbs_listener *listen_on(struct kverbs *kv, const char *port)
{
	struct kverbs_listener *l;

	assert_int_equal(kverbs_listen(kv, NULL, port, 0, &l), 0);
	return l;
}

static void the_port_that_was_chosen_is_reported(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l, *fixed = listen_on(t->kv, "7472");

	assert_int_equal(kverbs_listener_port(fixed), 7472);
	l = listen_on(t->kv, NULL);
	assert_int_not_equal(kverbs_listener_port(l), 0);
	assert_int_not_equal(kverbs_listener_port(l), 7472);
	kverbs_listener_free(l);
	kverbs_listener_free(fixed);
	kverbs_listener_free(NULL);
}

static void errors_are_returned_unchanged(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l;
	unsigned int before;

	listen_on(t->kv, "7472");
	before = fake_leftovers();
	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &l), -EADDRINUSE);
	fake_fail(KVERBS_LISTEN, 1, -EACCES);
	assert_int_equal(kverbs_listen(t->kv, "127.0.0.1", "1", 0, &l), -EACCES);
	fake_fail(KVERBS_LISTEN, 1, -EADDRNOTAVAIL);
	assert_int_equal(kverbs_listen(t->kv, "127.0.0.1", "1", 0, &l), -EADDRNOTAVAIL);
	assert_int_equal(kverbs_listen(t->kv, "no such host", "1", 0, &l), -ENXIO);
	assert_int_equal(fake_leftovers(), before);
}

static void listening_on_any_address_covers_both_families(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "7472");
	unsigned int before = fake_leftovers();
	struct kverbs_conn *c;

	fake_request_family(AF_INET6, 7472, NULL, 0);
	fake_request_family(AF_INET, 7472, NULL, 0);
	assert_int_equal(kverbs_next_request(l, 0, &c), 0);
	kverbs_conn_free(c);
	assert_int_equal(kverbs_next_request(l, 0, &c), 0);
	kverbs_conn_free(c);
	kverbs_listener_free(l);
	assert_int_equal(fake_leftovers(), before - 2);
}

static void one_address_is_one_listener(void **state)
{
	struct t *t = *state;
	unsigned int before = fake_leftovers();
	struct kverbs_listener *l;

	assert_int_equal(kverbs_listen(t->kv, "127.0.0.1", "7472", 0, &l), 0);
	assert_int_equal(fake_leftovers(), before + 1);
	kverbs_listener_free(l);
}

static void one_family_alone_is_enough(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l;
	unsigned int nth;

	for (nth = 1; nth <= 2; nth++) {
		fake_fail(KVERBS_LISTEN, nth, -EADDRNOTAVAIL);
		l = listen_on(t->kv, "7472");
		assert_int_equal(kverbs_listener_port(l), 7472);
		kverbs_listener_free(l);
	}
}

static void a_listener_of_which_one_family_fails_is_refused(void **state)
{
	struct t *t = *state;
	unsigned int before = fake_leftovers();
	struct kverbs_listener *l;

	fake_fail(KVERBS_LISTEN, 2, -EADDRINUSE);
	assert_int_equal(kverbs_listen(t->kv, NULL, "7472", 0, &l), -EADDRINUSE);
	fake_fail(KVERBS_LISTEN, 2, -ENOMEM);
	assert_int_equal(kverbs_listen(t->kv, NULL, NULL, 0, &l), -ENOMEM);
	assert_int_equal(fake_leftovers(), before);
}

static void a_free_port_is_free_in_both_families(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l;

	fake_fail(KVERBS_LISTEN, 2, -EADDRINUSE);
	l = listen_on(t->kv, "0");
	fake_request_family(AF_INET, kverbs_listener_port(l), NULL, 0);
	fake_request_family(AF_INET6, kverbs_listener_port(l), NULL, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 2);
}

static void take_request(struct kverbs_req *req)
{
	struct kverbs_conn *c;

	assert_int_equal(kverbs_next_request(req->data, 0, &c), 0);
	kverbs_conn_free(c);
}

/* The wait is over when the request is there, and runs the callbacks that are due. */
static void a_request_that_a_callback_has_taken_is_not_returned(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "7472");
	struct kverbs_req req = { .done = take_request, .data = l };
	struct kverbs_conn *c;

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 1, &req), 0);
	fake_request(7472, NULL, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_next_request(l, 0, &c), -ETIMEDOUT);
	assert_true(kverbs_complete(&req));
}

static void requests_come_in_order_to_their_listener(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *a = listen_on(t->kv, "1"), *b = listen_on(t->kv, "2");
	struct kverbs_conn *c;
	char priv[4];

	fake_request(1, "a1", 3);
	fake_request(2, "b1", 3);
	fake_request(1, "a2", 3);
	assert_int_equal(kverbs_next_request(b, 0, &c), 0);
	assert_int_equal(kverbs_conn_priv(c, priv, 4), 3);
	assert_string_equal(priv, "b1");
	assert_int_equal(kverbs_next_request(a, 0, &c), 0);
	assert_int_equal(kverbs_conn_priv(c, priv, 4), 3);
	assert_string_equal(priv, "a1");
	assert_int_equal(kverbs_next_request(a, 0, &c), 0);
	assert_int_equal(kverbs_conn_priv(c, priv, 4), 3);
	assert_string_equal(priv, "a2");
	assert_int_equal(kverbs_next_request(a, 0, &c), -ETIMEDOUT);
	assert_int_equal(kverbs_next_request(b, 10, &c), -ETIMEDOUT);
}

static struct kverbs_conn *next(struct kverbs_listener *l)
{
	struct kverbs_conn *c;

	assert_int_equal(kverbs_next_request(l, -1, &c), 0);
	return c;
}

static void accepting_brings_it_up(void **state)
{
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &(struct kverbs_conn_param){ .rq_depth = 5 },
		.param_sz = sizeof(struct kverbs_conn_param),
		.priv = "welcome",
		.priv_len = 8,
		.timeout_ms = 1234,
	};
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	struct kverbs_req req = { 0 };
	struct kverbs_buf *buf;
	struct kverbs_conn *c;
	uint32_t id;

	assert_int_equal(kverbs_buf_alloc(t->kv, 64, &buf), 0);
	id = fake_request(1, NULL, 0);
	c = next(l);
	/* Receives may be posted before accepting. */
	assert_int_equal(kverbs_recv(c, buf, 0, 64, &req), 0);
	assert_int_equal(kverbs_accept(c, &opts), 0);
	assert_int_equal(fake_conn_state(id), KVERBS_CONN_ESTABLISHED);
	assert_int_equal(fake.accept_param.rq_depth, 5);
	assert_int_equal(fake.last_accept.priv_len, 8);
	assert_int_equal(fake.last_accept.timeout_ns, 1234 * 1000000ull);
	assert_int_equal(fake.last_accept.ring_id, 0);
	kverbs_conn_free(c);
	assert_int_equal(kverbs_wait(&req, 0), -ECANCELED);
}

static void a_peer_that_left_counts_as_accepted(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	struct kverbs_conn *c;

	fake_request(1, NULL, 0);
	c = next(l);
	fake_script_connect(FAKE_ACCEPT_LEFT);
	assert_int_equal(kverbs_accept(c, NULL), 0);
	assert_int_equal(kverbs_conn_error(c), -ECONNRESET);
	kverbs_conn_free(c);
}

static void accepting_can_fail(void **state)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = 20 };
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	struct kverbs_conn *c;
	uint32_t id;

	fake_request(1, NULL, 0);
	c = next(l);
	opts.priv = "";
	opts.priv_len = KVERBS_PRIV_ACCEPT_MAX + 1;
	assert_int_equal(kverbs_accept(c, &opts), -EINVAL);
	opts.priv_len = 0;
	fake.time_jumps = true;
	fake_script_connect(FAKE_CONNECT_HANGS);
	assert_int_equal(kverbs_accept(c, &opts), -ETIMEDOUT);
	kverbs_conn_free(c);

	id = fake_request(1, NULL, 0);
	c = next(l);
	fake_event(id, KVERBS_CQE_FAILED, -ECONNRESET);
	/* Before and after the library reads the event. */
	assert_int_equal(kverbs_accept_start(c, NULL), -ENOTCONN);
	kverbs_process(t->kv, 0);
	assert_int_equal(kverbs_accept(c, NULL), -ECONNRESET);
	kverbs_conn_free(c);
}

static void rejecting_frees_it(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	uint32_t id = fake_request(1, NULL, 0);

	assert_int_equal(kverbs_reject(next(l), "no", 3), 0);
	assert_int_equal(fake_conn_state(id), 0);
	id = fake_request(1, NULL, 0);
	assert_int_equal(kverbs_reject(next(l), "no", KVERBS_PRIV_REJECT_MAX + 1),
			 -EINVAL);
	assert_int_equal(fake_conn_state(id), 0);
	id = fake_request(1, NULL, 0);
	fake_fail(KVERBS_REJECT, 1, -ENOTCONN);
	assert_int_equal(kverbs_reject(next(l), NULL, 0), -ENOTCONN);
	assert_int_equal(fake_conn_state(id), 0);
}

static void requests_that_the_peer_gave_up_are_skipped(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	uint32_t gone = fake_request(1, NULL, 0), there = fake_request(1, NULL, 0);
	struct kverbs_cmd_conn_query q;

	fake_event(gone, KVERBS_CQE_FAILED, -ECONNRESET);
	assert_int_equal(kverbs_conn_query(next(l), &q, sizeof(q)), 0);
	assert_int_equal(q.conn_id, there);
	assert_int_equal(fake_conn_state(gone), 0);
}

static void freeing_a_listener_rejects_waiting_requests(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	uint32_t taken = fake_request(1, NULL, 0), queued, unread;
	struct kverbs_conn *c = next(l);

	queued = fake_request(1, NULL, 0);
	kverbs_process(t->kv, 0);
	unread = fake_request(1, NULL, 0);
	kverbs_listener_free(l);
	assert_int_equal(fake_conn_state(queued), 0);
	assert_int_equal(fake_conn_state(unread), 0);
	/* A connection that the program has read stays with the program. */
	assert_int_equal(fake_conn_state(taken), KVERBS_CONN_REQUESTED);
	assert_int_equal(kverbs_accept(c, NULL), 0);
}

static void requests_without_memory_for_them_are_rejected(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	uint32_t id = fake_request(1, NULL, 0);
	struct kverbs_conn *c;

	/* No memory for the connection. */
	fake_fail_nth(1);
	assert_int_equal(kverbs_next_request(l, 0, &c), -ETIMEDOUT);
	assert_true(fake_fail_nth_hit());
	assert_int_equal(fake_conn_state(id), 0);
}

static void requests_without_a_listener_are_rejected(void **state)
{
	struct t *t = *state;
	struct kverbs_cqe cqe = {
		.type = KVERBS_CQE_CONN_REQUEST,
		.id = fake.last_conn,
		.user_data = 4711,
	};
	struct kverbs_listener *l = listen_on(t->kv, "1");
	uint32_t id = fake_request(1, NULL, 0);

	kverbs_conn_free(next(l));
	assert_int_equal(fake_conn_state(id), 0);
	cqe.id = fake.last_conn + 1000;
	fake_cqe(&cqe);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	assert_int_equal(kverbs_listen(t->kv, NULL, "2", 0, &l), 0);
}

static void a_lost_device_ends_listening(void **state)
{
	struct t *t = *state;
	struct kverbs_listener *l = listen_on(t->kv, "1");
	struct kverbs_conn *c;

	fake_request(1, NULL, 0);
	fake_remove_listener(1);
	/* A request that was pending before may still be answered. */
	kverbs_conn_free(next(l));
	assert_int_equal(kverbs_next_request(l, -1, &c), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(the_port_that_was_chosen_is_reported),
		t_test(errors_are_returned_unchanged),
		t_test(listening_on_any_address_covers_both_families),
		t_test(one_address_is_one_listener),
		t_test(one_family_alone_is_enough),
		t_test(a_listener_of_which_one_family_fails_is_refused),
		t_test(a_free_port_is_free_in_both_families),
		t_test_conn(a_request_that_a_callback_has_taken_is_not_returned),
		t_test(requests_come_in_order_to_their_listener),
		t_test(accepting_brings_it_up),
		t_test(a_peer_that_left_counts_as_accepted),
		t_test(accepting_can_fail),
		t_test(rejecting_frees_it),
		t_test(requests_that_the_peer_gave_up_are_skipped),
		t_test(freeing_a_listener_rejects_waiting_requests),
		t_test(requests_without_memory_for_them_are_rejected),
		t_test(requests_without_a_listener_are_rejected),
		t_test(a_lost_device_ends_listening),
	};

	return cmocka_run_group_tests_name("listener", tests, NULL, NULL);
}
