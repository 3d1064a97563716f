// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection that carries messages. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "peer/session.h"

#define DEPTH 4

static const struct wire_hello hello = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO, .msg_max = WIRE_MSG_MAX,
	.depth = DEPTH,
};

/**
 * struct ends - both ends of a connection
 * @kv: context of the passive side
 * @listener: listener of the passive side
 * @called: the passive side
 * @their_kv: context of the active side
 * @caller: the active side
 */
struct ends {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	struct session called;
	struct kverbs *their_kv;
	struct session caller;
};

static void *answer(void *arg)
{
	struct ends *e = arg;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_next_request(e->listener, FAKE_PATIENCE_MS, &conn), 0);
	session_init(&e->called, e->kv, conn, &hello);
	assert_int_equal(session_accept(&e->called, 0, FAKE_PATIENCE_MS), 0);
	return NULL;
}

static void connect_ends(struct ends *e)
{
	const struct session_to to = {
		.host = "192.0.2.1", .port = "1", .timeout_ms = FAKE_PATIENCE_MS,
	};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, answer, e), 0);
	assert_int_equal(session_connect(&e->caller, e->their_kv, &to, &hello), 0);
	pthread_join(thread, NULL);
}

static void open_ends(struct ends *e)
{
	memset(e, 0, sizeof(*e));
	fake_reset();
	fake.loopback = true;
	assert_int_equal(kverbs_open(&e->kv, NULL), 0);
	assert_int_equal(kverbs_listen(e->kv, "192.0.2.1", "1", 0, &e->listener), 0);
	assert_int_equal(kverbs_open(&e->their_kv, NULL), 0);
	connect_ends(e);
}

static void close_ends(struct ends *e)
{
	session_free(&e->caller);
	session_free(&e->called);
	kverbs_listener_free(e->listener);
	kverbs_close(e->their_kv);
	kverbs_close(e->kv);
	assert_int_equal(fake_leftovers(), 0);
}

static void say(struct session *s, uint32_t id)
{
	const struct wire_msg msg = { .type = WIRE_ECHO, .id = id, .window = WIRE_NO_WINDOW };

	assert_int_equal(session_send(s, &msg), 0);
}

static void expect(struct session *s, uint32_t id)
{
	struct wire_msg msg;

	assert_int_equal(session_recv(s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.id, id);
}

/* Send @nr messages and end the connection; the first one is read before the rest arrives. */
static void end_after(uint32_t nr)
{
	struct wire_msg msg;
	struct ends e;
	uint32_t id;

	open_ends(&e);
	say(&e.called, 1);
	expect(&e.caller, 1);
	for (id = 2; id <= nr; id++)
		say(&e.called, id);
	session_stop(&e.called);
	for (id = 2; id <= nr; id++)
		expect(&e.caller, id);
	assert_int_equal(session_recv(&e.caller, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	assert_int_equal(session_recv(&e.caller, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	close_ends(&e);
}

static void what_came_before_the_end_is_read(void **state)
{
	uint32_t nr;

	(void)state;
	for (nr = 1; nr <= DEPTH; nr++)
		end_after(nr);
}

static void messages_come_in_their_order(void **state)
{
	struct ends e;
	uint32_t id;

	(void)state;
	open_ends(&e);
	for (id = 1; id <= 5 * DEPTH; id++) {
		say(&e.caller, id);
		expect(&e.called, id);
	}
	close_ends(&e);
}

static void work_ended_by_a_local_disconnect_is_cancelled(void **state)
{
	struct wire_msg msg;
	struct ends e;

	(void)state;
	open_ends(&e);
	assert_int_equal(session_end_error(&e.called), -ECONNRESET);
	session_disconnect(&e.called);
	assert_int_equal(session_end_error(&e.called), -ECANCELED);
	assert_int_equal(session_recv(&e.called, &msg, FAKE_PATIENCE_MS), -ECANCELED);
	assert_int_equal(session_recv(&e.caller, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	close_ends(&e);
}

static void of_two_sessions_the_one_with_a_message_is_awaited(void **state)
{
	struct session *both[2];
	struct wire_msg msg;
	struct ends e, f;
	uint32_t id;

	(void)state;
	open_ends(&e);
	f = (struct ends){ .kv = e.kv, .listener = e.listener, .their_kv = e.their_kv };
	connect_ends(&f);
	both[0] = &e.caller;
	both[1] = &f.caller;
	assert_int_equal(session_await(both, 2, 0), -ETIMEDOUT);
	for (id = 1; id <= 3 * DEPTH; id++) {
		say(&f.called, id);
		assert_int_equal(session_await(both, 2, FAKE_PATIENCE_MS), 1);
		expect(&f.caller, id);
		say(&e.called, id);
		assert_int_equal(session_await(both, 2, FAKE_PATIENCE_MS), 0);
		expect(&e.caller, id);
	}
	/* The end of one is awaited like a message, behind those that came before. */
	say(&f.called, id);
	session_stop(&f.called);
	assert_int_equal(session_await(both, 2, FAKE_PATIENCE_MS), 1);
	expect(&f.caller, id);
	assert_int_equal(session_await(both, 2, FAKE_PATIENCE_MS), 1);
	assert_int_equal(session_recv(&f.caller, &msg, 0), -ECONNRESET);
	session_free(&f.caller);
	session_free(&f.called);
	close_ends(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_ended_by_a_local_disconnect_is_cancelled),
		cmocka_unit_test(what_came_before_the_end_is_read),
		cmocka_unit_test(messages_come_in_their_order),
		cmocka_unit_test(of_two_sessions_the_one_with_a_message_is_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
