// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs ping --rping, and servers that violate the protocol. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/util.h"
#include "fake_kernel.h"
#include "peer/session.h"
#include "ping/rping.h"

#define SIZE 100

/* Fault of the server at a given step */
enum fault {
	NONE,
	LEAVE,		/* end the connection */
	SILENCE,	/* do not send the message */
	SHORT,		/* send a message that is too short */
	LONG,		/* send a message that is too long */
	TWICE,		/* send the message twice */
	SKIP,		/* report the step as done without doing it */
	SPOIL,		/* write other data */
};

/* Steps of a round: those of the first one are 0 to 5, and so on. */
enum { RECV_OUT, READ, SEND_READ, RECV_BACK, WRITE, SEND_WRITTEN, STEPS };

/**
 * struct server - a server for one client, with one fault
 * @kv: its context
 * @listener: its listener
 * @thread: its thread
 * @s: the connection
 * @buf: memory that it reads and writes
 * @fault: its fault
 * @at: the step of the fault
 */
struct server {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	pthread_t thread;
	struct session s;
	struct kverbs_buf *buf;
	enum fault fault;
	int at;
};

/* cmocka's checks do not work in other threads. */
static void must(int ok)
{
	if (!ok)
		abort();
}

static int server_recv(struct server *v, struct rping_info *info)
{
	const void *msg;
	size_t len;
	int ret;

	ret = session_recv_raw(&v->s, &msg, &len, FAKE_PATIENCE_MS);
	if (!ret)
		must(!rping_info_decode(info, msg, len) && info->size == SIZE);
	return ret;
}

static void server_move(struct server *v, int write, const struct rping_info *info)
{
	struct kverbs_segment seg = {
		.addr = info->addr, .length = info->size, .rkey = info->rkey,
	};
	struct kverbs_token token = {
		.length = info->size, .nr_segs = 1, .segs = &seg,
		.access = write ? KVERBS_REMOTE_WRITE : KVERBS_REMOTE_READ,
	};
	struct kverbs_req req = { 0 };

	must(!(write ? kverbs_write : kverbs_read)(v->s.conn, v->buf, 0, SIZE, &token, 0,
						   &req));
	must(!kverbs_wait(&req, FAKE_PATIENCE_MS));
}

static int server_send(struct server *v, enum fault fault)
{
	static const uint8_t msg[2 * RPING_INFO_LEN];
	size_t len = RPING_INFO_LEN;
	int ret;

	if (fault == SHORT || fault == LONG)
		len += fault == LONG ? 1 : -1;
	ret = session_send_raw(&v->s, msg, len);
	if (!ret && fault == TWICE)
		ret = session_send_raw(&v->s, msg, len);
	return ret;
}

/* Wait until the client, whose clock advances, has timed out. */
static int server_wait(struct server *v)
{
	const void *msg;
	size_t len;
	int ret;

	do {
		fake_advance(FAKE_PATIENCE_MS);
		ret = session_recv_raw(&v->s, &msg, &len, 0);
	} while (ret == -ETIMEDOUT);
	return ret;
}

static int server_step(struct server *v, int step, struct rping_info *info)
{
	enum fault fault = step == v->at ? v->fault : NONE;

	if (fault == LEAVE)
		return -ECONNRESET;
	if (fault == SILENCE)
		return server_wait(v);
	if (fault == SKIP)
		return 0;
	if (fault == SPOIL)
		*(char *)kverbs_buf_addr(v->buf) ^= 1;
	switch (step % STEPS) {
	case RECV_OUT:
	case RECV_BACK:
		return server_recv(v, info);
	case READ:
	case WRITE:
		server_move(v, step % STEPS == WRITE, info);
		return 0;
	default:
		return server_send(v, fault);
	}
}

static void *server_main(void *arg)
{
	struct server *v = arg;
	struct kverbs_conn *conn;
	struct rping_info info;
	struct wire_hello hello;
	int step = 0;

	must(!kverbs_next_request(v->listener, -1, &conn));
	rping_hello(&hello);
	session_init(&v->s, v->kv, conn, &hello);
	must(!kverbs_buf_alloc(v->kv, SIZE, &v->buf));
	/* A client that finds its request impossible may have disconnected already. */
	if (!session_accept(&v->s, 0, FAKE_PATIENCE_MS))
		while (!server_step(v, step, &info))
			step++;
	session_free(&v->s);
	kverbs_buf_free(v->buf);
	return NULL;
}

static void server_begin(struct server *v)
{
	fake_reset();
	fake.loopback = true;
	assert_int_equal(kverbs_open(&v->kv, NULL), 0);
	assert_int_equal(kverbs_listen(v->kv, "192.0.2.1", RPING_DEFAULT_PORT, 0,
				       &v->listener), 0);
	assert_int_equal(pthread_create(&v->thread, NULL, server_main, v), 0);
}

static void server_end(struct server *v)
{
	pthread_join(v->thread, NULL);
	kverbs_listener_free(v->listener);
	kverbs_close(v->kv);
	assert_int_equal(fake_leftovers(), 0);
}

/* Send two pings, @interval seconds apart. */
static int ping(const char *interval)
{
	char *argv[] = {
		"ping", "--rping", "-c", "2", "-s", "100", "-q", "-W", FAKE_PATIENCE_S,
		"-i", (char *)interval, "192.0.2.1", NULL,
	};

	err_command("ping");
	return cmd_ping.run(ARRAY_SIZE(argv) - 1, argv);
}

/* The ping must fail with @err, 0 if only the data is wrong. */
static void check(enum fault fault, int at, const char *interval, int err)
{
	struct server v = { .fault = fault, .at = at };

	server_begin(&v);
	assert_int_equal(ping(interval), EXIT_FAILED);
	assert_int_equal(err_last() ? err_last()->err : 0, err);
	server_end(&v);
}

static void a_correct_server_passes(void **state)
{
	struct server v = { 0 };

	(void)state;
	server_begin(&v);
	assert_int_equal(ping("0"), EXIT_OK);
	server_end(&v);
}

static void a_server_may_leave_at_the_end(void **state)
{
	int at;

	(void)state;
	for (at = READ; at < 2 * STEPS - 1; at++)
		check(LEAVE, at, "0", -ECONNRESET);
}

/* The server leaves before or after the client has noticed that it is connected. */
static void a_server_that_leaves_at_once_is_a_failure(void **state)
{
	struct server v = { .fault = LEAVE };
	int status;

	(void)state;
	server_begin(&v);
	status = ping("0");
	assert_true(status == EXIT_FAILED || status == EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -ECONNRESET);
	server_end(&v);
}

static void a_server_that_leaves_in_between_is_noticed_at_once(void **state)
{
	(void)state;
	check(LEAVE, STEPS, FAKE_PATIENCE_S, -ECONNRESET);
}

static void a_silent_server_times_out(void **state)
{
	(void)state;
	check(SILENCE, SEND_READ, "0", -ETIMEDOUT);
	check(SILENCE, SEND_WRITTEN, "0", -ETIMEDOUT);
}

static void messages_of_another_length_are_refused(void **state)
{
	(void)state;
	check(SHORT, SEND_READ, "0", -EBADMSG);
	check(LONG, SEND_READ, "0", -EBADMSG);
	check(SHORT, SEND_WRITTEN, "0", -EBADMSG);
	check(LONG, STEPS + SEND_WRITTEN, "0", -EBADMSG);
}

static void messages_out_of_turn_are_refused(void **state)
{
	(void)state;
	check(TWICE, SEND_WRITTEN, FAKE_PATIENCE_S, -EPROTO);
}

static void wrong_texts_are_counted(void **state)
{
	(void)state;
	check(SPOIL, WRITE, "0", 0);
	check(SPOIL, STEPS + WRITE, "0", 0);
	check(SKIP, READ, "0", 0);
	check(SKIP, WRITE, "0", 0);
	/* The echo of the previous ping must not count as the echo of this one. */
	check(SKIP, STEPS + WRITE, "0", 0);
}

static int run(const char *size, const char *port)
{
	char *argv[] = {
		"ping", "--rping", "-c", "1", "-s", (char *)size, "-p", (char *)port,
		"192.0.2.1", NULL,
	};

	err_command("ping");
	return cmd_ping.run(ARRAY_SIZE(argv) - 1, argv);
}

static void sizes_are_limited_to_those_of_rping(void **state)
{
	(void)state;
	assert_int_equal(run("22", "1"), EXIT_USAGE);
	assert_int_equal(run("65536", "1"), EXIT_USAGE);
	fake_reset();
	fake.loopback = true;
	assert_int_equal(run("23", "1"), EXIT_UNREACHABLE);
	assert_int_equal(run("65535", "1"), EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -ECONNREFUSED);
}

static void a_buffer_that_needs_two_keys_is_refused(void **state)
{
	struct server v = { 0 };

	(void)state;
	server_begin(&v);
	fake.max_segment = 4096;
	assert_int_equal(run("4097", RPING_DEFAULT_PORT), EXIT_FAILED);
	assert_int_equal(err_last()->err, -EMSGSIZE);
	assert_non_null(strstr(err_last()->step, "at most 4096"));
	server_end(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_correct_server_passes),
		cmocka_unit_test(a_server_may_leave_at_the_end),
		cmocka_unit_test(a_server_that_leaves_at_once_is_a_failure),
		cmocka_unit_test(a_server_that_leaves_in_between_is_noticed_at_once),
		cmocka_unit_test(a_silent_server_times_out),
		cmocka_unit_test(messages_of_another_length_are_refused),
		cmocka_unit_test(messages_out_of_turn_are_refused),
		cmocka_unit_test(wrong_texts_are_counted),
		cmocka_unit_test(sizes_are_limited_to_those_of_rping),
		cmocka_unit_test(a_buffer_that_needs_two_keys_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
