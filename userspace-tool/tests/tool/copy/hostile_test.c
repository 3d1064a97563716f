// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Clients that violate the protocol: they lose their connection, other clients do not. */
#define _GNU_SOURCE
#include "cli/util.h"
#include "copy/copy.h"
#include "peer/wire.h"
#include "server.h"

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

static int others_are_served(void)
{
	char *argv[] = {
		"ping", "-c", "3", "-i", "0", "-q", "-W", FAKE_PATIENCE_S, "192.0.2.1", NULL,
	};

	err_command("ping");
	return cmd_ping.run(ARRAY_SIZE(argv) - 1, argv) == EXIT_OK;
}

/* Returns true if the server has ended the connection, after any messages. */
static int is_dropped(struct session *s)
{
	struct wire_msg msg;
	int ret;

	do {
		ret = session_recv(s, &msg, FAKE_PATIENCE_MS);
	} while (!ret);
	return ret == -ECONNRESET;
}

static void send_all(struct session *s, const struct wire_msg *msgs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (session_send(s, &msgs[i]))
			break;
}

/* Send messages that the server must refuse, and check that it does. */
static void expect_drop(const struct wire_msg *msgs, unsigned int n)
{
	struct kverbs *kv;
	struct session s;

	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, msgs, n);
	assert_true(is_dropped(&s));
	server_leave(&s, kv);
	assert_true(others_are_served());
}

#define expect_drop(...) do {							\
	const struct wire_msg _msgs[] = { __VA_ARGS__ };			\
	expect_drop(_msgs, ARRAY_SIZE(_msgs));			\
} while (0)

#define EAGER(i, sz, w) \
	NAMED(WIRE_FILE, .id = (i), .size = (sz), .window = (w), .flags = WIRE_F_EAGER)
#define DATA(w, off, sz) \
	{ .type = WIRE_DATA, .id = 7, .window = (w), .offset = (off), .size = (sz) }
#define PUT { .type = WIRE_PUT, .window = WIRE_NO_WINDOW }
#define SINK(n, sz) { .type = WIRE_SINK, .window = (n), .size = (sz) }
#define NAMED(t, ...) { .type = (t), .tail = "f", .tail_len = 1, __VA_ARGS__ }

static void first_message_must_be_a_request(void **state)
{
	(void)state;
	expect_drop({ .type = WIRE_DATA, .id = 1 });
	expect_drop({ .type = WIRE_ECHO });
	expect_drop({ .type = WIRE_FINISH });
	expect_drop({ .type = 999 });
}

static void windows_must_exist(void **state)
{
	(void)state;
	expect_drop(PUT, EAGER(1, 10, WIRE_NO_WINDOW));
	expect_drop(PUT, EAGER(1, 10, 16));
	expect_drop(PUT, EAGER(1, 65537, 0));
	expect_drop(PUT, EAGER(0, 10, 0));
}

static void streams_keep_their_order(void **state)
{
	const struct wire_msg file = NAMED(WIRE_FILE, .id = 7, .size = 5 << 20);
	const struct wire_msg start = { .type = WIRE_START, .id = 7 };

	(void)state;
	expect_drop(PUT, { .type = WIRE_DATA, .id = 7 });
	expect_drop(PUT, { .type = WIRE_END, .id = 7 });
	expect_drop(PUT, { .type = WIRE_START, .id = 7 });
	expect_drop(PUT, file, file);
	expect_drop(PUT, file, { .type = WIRE_DATA, .id = 7 });
	expect_drop(PUT, file, { .type = WIRE_START, .id = 8 });
	expect_drop(PUT, file, { .type = WIRE_START, .id = 7, .offset = 1 << 20 });
	expect_drop(PUT, file, start, start);
	expect_drop(PUT, file, start, DATA(99, 0, 2 << 20));
	expect_drop(PUT, file, start, DATA(16, 2 << 20, 2 << 20));
	expect_drop(PUT, file, start, DATA(16, 0, 4 << 20));
	expect_drop(PUT, NAMED(WIRE_FILE, .id = 7, .size = 0));
}

static void sinks_must_make_sense(void **state)
{
	const struct wire_msg no_token = {
		.type = WIRE_GRANT, .size = 65536, .tail = "no token", .tail_len = 8,
	};

	(void)state;
	expect_drop(SINK(WIRE_WINDOWS_MAX + 1, 65536));
	expect_drop(SINK(0, 65536));
	expect_drop(SINK(1, (1 << 20) + 1));
	expect_drop(SINK(1, 65536), no_token);
	expect_drop(SINK(1, 65536), { .type = WIRE_CREDIT, .window = 0 });
	expect_drop(SINK(0, 0), { .type = WIRE_DONE, .id = 5 });
	expect_drop(SINK(0, 0), { .type = WIRE_READY, .id = 5, .size = 1 << 20 });
	expect_drop(SINK(0, 0), { .type = WIRE_CREDIT, .window = 12345678 });
	expect_drop(SINK(0, 0), PUT);
}

/* Receive until a message of this type arrives. */
static void await_message(struct session *s, unsigned int type, struct wire_msg *msg)
{
	do {
		assert_int_equal(session_recv(s, msg, FAKE_PATIENCE_MS), 0);
	} while (msg->type != type);
}

/* A server has a few windows in flight, so a client must not choose their size. */
static void windows_are_no_larger_than_a_sink_of_ours_has_them(void **state)
{
	const struct wire_msg asks[] = { SINK(0, 0), NAMED(WIRE_GET) };
	struct wire_msg ready = { .type = WIRE_READY };
	struct server_run *r = *state;
	struct wire_msg file;
	struct kverbs *kv;
	struct session s;

	tmp_write(r->tmp, "root/f", "a file that no window of ours holds");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, asks, 2);
	await_message(&s, WIRE_FILE, &file);
	ready.id = file.id;
	ready.size = COPY_CHUNK + WIRE_BLOCK;
	assert_int_equal(session_send(&s, &ready), 0);
	assert_true(is_dropped(&s));
	server_leave(&s, kv);
	assert_true(others_are_served());
}

/* Counting a tree may take longer than the client's timeout. */
static void who_waits_for_a_total_is_told_that_it_comes(void **state)
{
	const struct wire_msg asks[] = {
		SINK(0, 0), { .type = WIRE_GET, .flags = WIRE_F_RECURSIVE },
	};
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;

	tmp_write(r->tmp, "root/f", "a file");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, asks, 2);
	assert_int_equal(session_recv(&s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.type, WIRE_ALIVE);
	await_message(&s, WIRE_TOTAL, &msg);
	assert_int_equal(msg.size, 6);
	server_leave(&s, kv);
}

static void hellos_must_fit(void **state)
{
	struct wire_hello hello = files_hello;
	struct kverbs *kv;
	struct session s;

	(void)state;
	hello.version = 2;
	assert_int_equal(server_connect(&s, &kv, &hello), -ECONNREFUSED);
	server_leave(&s, kv);
	hello = files_hello;
	hello.what = 77;
	assert_int_equal(server_connect(&s, &kv, &hello), -ECONNREFUSED);
	server_leave(&s, kv);
	assert_true(others_are_served());
}

/* After a wrong digest the server reports it, stores nothing, and keeps the connection. */
static void wrong_digest_stores_nothing(void **state)
{
	const struct wire_msg msgs[] = {
		PUT, NAMED(WIRE_FILE, .id = 1, .size = 10, .flags = WIRE_F_EAGER,
			   .digest = 1234),
	};
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;

	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, msgs, 2);
	await_message(&s, WIRE_DONE, &msg);
	assert_int_equal(msg.id, 1);
	assert_int_equal(wire_errno(msg.status), -EBADMSG);
	assert_false(tmp_exists(r->tmp, "root/f"));
	assert_false(tmp_exists(r->tmp, "root/.f.kverbs-part"));
	server_leave(&s, kv);
}

static void names_stay_beneath(void **state)
{
	static const char * const names[] = { "../f", "/../f", "a/../../f", "..", "out/f" };
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	unsigned int i;

	assert_int_equal(symlinkat("..", r->tmp->fd, "root/out"), 0);
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	msg = (struct wire_msg)PUT;
	assert_int_equal(session_send(&s, &msg), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		msg = (struct wire_msg){
			.type = i & 1 ? WIRE_DIR : WIRE_FILE, .id = i + 1,
			.flags = WIRE_F_EAGER, .window = WIRE_NO_WINDOW,
			.tail = names[i], .tail_len = strlen(names[i]),
		};
		assert_int_equal(session_send(&s, &msg), 0);
		await_message(&s, WIRE_DONE, &msg);
		assert_int_equal(wire_errno(msg.status), -EPERM);
	}
	server_leave(&s, kv);
	assert_false(tmp_exists(r->tmp, "f"));
}

static int impatient(void **state)
{
	static const char * const words[] = {
		"--root", "ROOT", "--idle-timeout", SERVER_IDLE_S, "--max-clients", "1", NULL,
	};

	return server_start(state, words);
}

static void silent_clients_are_dropped(void **state)
{
	struct session s, second;
	struct kverbs *kv, *kv2;
	struct wire_msg msg;
	int ret;

	(void)state;
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	/* While this client is connected, the server accepts no other. */
	assert_int_equal(server_connect(&second, &kv2, &files_hello), -ECONNREFUSED);
	server_leave(&second, kv2);
	do {
		fake_advance(SERVER_IDLE_MS);
		ret = session_recv(&s, &msg, 0);
	} while (ret == -ETIMEDOUT);
	assert_int_equal(ret, -ECONNRESET);
	server_leave(&s, kv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(first_message_must_be_a_request),
		server_test(windows_must_exist),
		server_test(streams_keep_their_order),
		server_test(sinks_must_make_sense),
		server_test(windows_are_no_larger_than_a_sink_of_ours_has_them),
		server_test(who_waits_for_a_total_is_told_that_it_comes),
		server_test(hellos_must_fit),
		server_test(wrong_digest_stores_nothing),
		server_test(names_stay_beneath),
		cmocka_unit_test_setup_teardown(silent_clients_are_dropped, impatient,
						server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
