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

#include "cli/util.h"
#include "fake_kernel.h"
#include "lib/byteorder.h"
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
 * @several: the passive side knows that the active one takes several messages in a SEND
 */
struct ends {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	struct session called;
	struct kverbs *their_kv;
	struct session caller;
	bool several;
};

static void *answer(void *arg)
{
	struct wire_hello theirs = hello;
	struct ends *e = arg;
	struct kverbs_conn *conn;

	theirs.flags = e->several ? WIRE_F_SEVERAL : 0;
	assert_int_equal(kverbs_next_request(e->listener, FAKE_PATIENCE_MS, &conn), 0);
	session_init(&e->called, e->kv, conn, &theirs);
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

static void open_with(struct ends *e, bool several)
{
	memset(e, 0, sizeof(*e));
	e->several = several;
	fake_reset();
	fake.loopback = true;
	assert_int_equal(kverbs_open(&e->kv, NULL), 0);
	assert_int_equal(kverbs_listen(e->kv, "192.0.2.1", "1", 0, &e->listener), 0);
	assert_int_equal(kverbs_open(&e->their_kv, NULL), 0);
	connect_ends(e);
}

/* The clock stands still, so that no queued message gets old. */
static void open_several(struct ends *e)
{
	open_with(e, true);
	fake.time_jumps = true;
}

static void open_ends(struct ends *e)
{
	open_with(e, false);
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

static void queue(struct session *s, uint32_t id)
{
	const struct wire_msg msg = { .type = WIRE_ECHO, .id = id, .window = WIRE_NO_WINDOW };

	assert_int_equal(session_queue(s, &msg), 0);
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

/* ---- several messages in a SEND ------------------------------------------------ */

static void queued_messages_are_sent_together(void **state)
{
	struct ends e;
	uint32_t id;

	(void)state;
	open_several(&e);
	for (id = 1; id < SESSION_QUEUED_MAX; id++)
		queue(&e.called, id);
	assert_int_equal(e.called.sent, 0);
	/* The peer can work on these while others are queued. */
	queue(&e.called, id);
	assert_int_equal(e.called.sent, 1);
	for (id = 1; id <= SESSION_QUEUED_MAX; id++)
		expect(&e.caller, id);
	assert_int_equal(e.caller.received, 1);
	queue(&e.called, id);
	assert_int_equal(e.called.sent, 1);
	close_ends(&e);
}

static void a_full_send_goes_before_a_message_for_which_there_is_no_room(void **state)
{
	static const char text[WIRE_MSG_MAX / 3];
	const struct wire_msg msg = {
		.type = WIRE_ECHO, .window = WIRE_NO_WINDOW, .tail = text, .tail_len = sizeof(text),
	};
	struct ends e;
	int i;

	(void)state;
	open_several(&e);
	for (i = 0; i < 2; i++)
		assert_int_equal(session_queue(&e.called, &msg), 0);
	assert_int_equal(e.called.sent, 0);
	assert_int_equal(session_queue(&e.called, &msg), 0);
	assert_int_equal(e.called.sent, 1);
	assert_int_equal(session_push(&e.called), 0);
	for (i = 0; i < 3; i++)
		expect(&e.caller, 0);
	assert_int_equal(e.caller.received, 2);
	close_ends(&e);
}

static void a_message_takes_those_before_it_along(void **state)
{
	struct ends e;

	(void)state;
	open_several(&e);
	queue(&e.called, 1);
	queue(&e.called, 2);
	say(&e.called, 3);
	assert_int_equal(e.called.sent, 1);
	expect(&e.caller, 1);
	expect(&e.caller, 2);
	expect(&e.caller, 3);
	close_ends(&e);
}

static void nothing_is_left_queued_while_a_message_is_awaited(void **state)
{
	struct wire_msg msg;
	struct ends e;
	struct session *one[] = { &e.called };

	(void)state;
	open_several(&e);
	queue(&e.called, 1);
	assert_int_equal(session_recv(&e.called, &msg, 0), -ETIMEDOUT);
	expect(&e.caller, 1);
	queue(&e.called, 2);
	assert_int_equal(session_await(one, 1, 0), -ETIMEDOUT);
	expect(&e.caller, 2);
	queue(&e.called, 3);
	assert_int_equal(session_flush(&e.called), 0);
	expect(&e.caller, 3);
	close_ends(&e);
}

static void a_message_that_is_there_is_no_wait(void **state)
{
	struct ends e;
	struct session *one[] = { &e.called };

	(void)state;
	open_several(&e);
	queue(&e.caller, 1);
	queue(&e.caller, 2);
	say(&e.caller, 3);
	queue(&e.called, 4);
	expect(&e.called, 1);
	assert_int_equal(e.called.sent, 0);
	assert_int_equal(session_await(one, 1, FAKE_PATIENCE_MS), 0);
	expect(&e.called, 2);
	expect(&e.called, 3);
	assert_int_equal(e.called.sent, 0);
	assert_int_equal(session_await(one, 1, 0), -ETIMEDOUT);
	expect(&e.caller, 4);
	close_ends(&e);
}

static void a_queued_message_does_not_get_old(void **state)
{
	struct ends e;

	(void)state;
	open_several(&e);
	queue(&e.called, 1);
	assert_int_equal(session_push_old(&e.called), 0);
	assert_int_equal(e.called.sent, 0);
	fake_advance(2);
	queue(&e.called, 2);
	assert_int_equal(e.called.sent, 1);
	queue(&e.called, 3);
	fake_advance(2);
	assert_int_equal(session_push_old(&e.called), 0);
	assert_int_equal(e.called.sent, 2);
	expect(&e.caller, 1);
	expect(&e.caller, 2);
	expect(&e.caller, 3);
	close_ends(&e);
}

static void messages_sent_together_are_read_after_the_end(void **state)
{
	struct wire_msg msg;
	struct ends e;

	(void)state;
	open_several(&e);
	queue(&e.called, 1);
	queue(&e.called, 2);
	say(&e.called, 3);
	session_stop(&e.called);
	/* The caller's own message cannot be sent any more. */
	queue(&e.caller, 4);
	expect(&e.caller, 1);
	expect(&e.caller, 2);
	expect(&e.caller, 3);
	assert_int_equal(session_recv(&e.caller, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	close_ends(&e);
}

/**
 * struct work - work that queued messages tell of
 * @calls: how often it was to be posted
 * @err: result of that
 */
struct work {
	unsigned int calls;
	int err;
};

static int post_work(void *arg)
{
	struct work *work = arg;

	work->calls++;
	return work->err;
}

static void work_that_messages_tell_of_is_posted_before_them(void **state)
{
	struct work work = { 0 };
	struct ends e;

	(void)state;
	open_several(&e);
	e.called.before_send = post_work;
	e.called.before_arg = &work;
	assert_int_equal(session_push(&e.called), 0);
	assert_int_equal(work.calls, 0);
	queue(&e.called, 1);
	queue(&e.called, 2);
	assert_int_equal(work.calls, 0);
	say(&e.called, 3);
	assert_int_equal(work.calls, 1);
	/* If it cannot be posted, the peer is not told of it. */
	work.err = -EIO;
	queue(&e.called, 4);
	assert_int_equal(session_push(&e.called), -EIO);
	assert_int_equal(e.called.sent, 1);
	work.err = 0;
	assert_int_equal(session_push(&e.called), 0);
	assert_int_equal(e.called.sent, 2);
	expect(&e.caller, 1);
	expect(&e.caller, 2);
	expect(&e.caller, 3);
	expect(&e.caller, 4);
	close_ends(&e);
}

static void an_older_peer_gets_each_message_by_itself(void **state)
{
	struct ends e;

	(void)state;
	open_ends(&e);
	queue(&e.called, 1);
	queue(&e.called, 2);
	assert_int_equal(e.called.sent, 2);
	expect(&e.caller, 1);
	expect(&e.caller, 2);
	close_ends(&e);
}

static void lengths_that_do_not_fit_are_refused(void **state)
{
	static const uint32_t wrong[] = { 0, WIRE_HEAD_LEN - 1, 2 * WIRE_HEAD_LEN + 1, UINT32_MAX };
	const struct wire_msg ok = { .type = WIRE_ECHO, .id = 1, .window = WIRE_NO_WINDOW };
	uint8_t two[2 * WIRE_HEAD_LEN];
	struct wire_msg msg;
	struct ends e;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		open_several(&e);
		assert_int_equal(wire_encode(&ok, two, sizeof(two)), WIRE_HEAD_LEN);
		memcpy(two + WIRE_HEAD_LEN, two, WIRE_HEAD_LEN);
		put_be(two + WIRE_HEAD_LEN + 4, wrong[i], 4);
		assert_int_equal(session_send_raw(&e.called, two, sizeof(two)), 0);
		expect(&e.caller, 1);
		assert_int_equal(session_recv(&e.caller, &msg, FAKE_PATIENCE_MS), -EBADMSG);
		close_ends(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queued_messages_are_sent_together),
		cmocka_unit_test(a_full_send_goes_before_a_message_for_which_there_is_no_room),
		cmocka_unit_test(a_message_takes_those_before_it_along),
		cmocka_unit_test(nothing_is_left_queued_while_a_message_is_awaited),
		cmocka_unit_test(a_message_that_is_there_is_no_wait),
		cmocka_unit_test(a_queued_message_does_not_get_old),
		cmocka_unit_test(messages_sent_together_are_read_after_the_end),
		cmocka_unit_test(work_that_messages_tell_of_is_posted_before_them),
		cmocka_unit_test(an_older_peer_gets_each_message_by_itself),
		cmocka_unit_test(lengths_that_do_not_fit_are_refused),
		cmocka_unit_test(work_ended_by_a_local_disconnect_is_cancelled),
		cmocka_unit_test(what_came_before_the_end_is_read),
		cmocka_unit_test(messages_come_in_their_order),
		cmocka_unit_test(of_two_sessions_the_one_with_a_message_is_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
