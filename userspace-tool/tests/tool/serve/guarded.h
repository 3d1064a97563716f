/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guarded servers, their key and address files, and clients that try to connect. */
#ifndef GUARDED_H
#define GUARDED_H

#include "peer/auth.h"
#include "peer/wire.h"
#include "server.h"

static const char *const right = "the key of these tests, which is no secret";
static const char *const wrong = "the key of somebody else, who has no business here";

/* Keys and lists, outside of the directory that is served. */
static struct tmp *etc;
static char key_file[PATH_MAX + 8], other_file[PATH_MAX + 8], allow_file[PATH_MAX + 8];

static inline void put(const char *name, const char *text)
{
	tmp_write(etc, name, text);
	assert_int_equal(fchmodat(etc->fd, name, 0600, 0), 0);
}

static inline int make_files(void **state)
{
	void *tmp;

	(void)state;
	tmp_setup(&tmp);
	etc = tmp;
	snprintf(key_file, sizeof(key_file), "%s/key", etc->path);
	snprintf(other_file, sizeof(other_file), "%s/other", etc->path);
	snprintf(allow_file, sizeof(allow_file), "%s/allow", etc->path);
	put("key", right);
	put("other", wrong);
	put("allow", "198.51.100.0/24\n");
	return 0;
}

static inline int remove_files(void **state)
{
	void *tmp = etc;

	(void)state;
	return tmp_teardown(&tmp);
}

static inline int start_with(void **state, const char *const *words)
{
	make_files(NULL);
	return server_start(state, words);
}

#define start_with(state, ...) \
	start_with(state, (const char *const[]){ __VA_ARGS__, NULL })

static inline int stop_server(void **state)
{
	int ret = server_teardown(state);

	unsetenv("NOTIFY_SOCKET");
	remove_files(NULL);
	return ret;
}

#define guarded(name, how) cmocka_unit_test_setup_teardown(name, how, stop_server)

/* ---- clients --------------------------------------------------------------- */

static const struct wire_hello echo = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO,
	.msg_max = WIRE_MSG_MAX, .depth = 4,
};

static const struct wire_hello echo_with_key = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO,
	.msg_max = WIRE_MSG_MAX, .depth = 4, .flags = WIRE_F_KEY,
};

static const struct wire_hello files_with_key = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX, .depth = WIRE_FILES_DEPTH, .flags = WIRE_F_KEY,
};

/* A client, with 192.0.2.2 as its default source address. */
struct client {
	struct kverbs *kv;
	struct session s;
};

static inline int enter(struct client *c, const char *source, const struct wire_hello *hello)
{
	const struct session_to to = {
		.host = "192.0.2.1", .port = WIRE_DEFAULT_PORT, .source = source,
		.timeout_ms = FAKE_PATIENCE_MS,
	};

	assert_int_equal(kverbs_open(&c->kv, NULL), 0);
	return session_connect(&c->s, c->kv, &to, hello);
}

static inline void leave(struct client *c)
{
	server_leave(&c->s, c->kv);
}

static inline void expect_refused(const char *source, const struct wire_hello *hello,
				  unsigned int why)
{
	struct client c;

	assert_int_equal(enter(&c, source, hello), -ECONNREFUSED);
	assert_int_equal(c.s.refusal, why);
	leave(&c);
}

static inline void expect_served(const char *source)
{
	struct client c;

	assert_int_equal(enter(&c, source, &echo), 0);
	leave(&c);
}

static inline int say(struct client *c, enum wire_type type, const void *tail, size_t len)
{
	const struct wire_msg msg = {
		.type = type, .window = WIRE_NO_WINDOW, .tail = tail, .tail_len = len,
	};

	return session_send(&c->s, &msg);
}

static inline void expect_echo(struct client *c)
{
	struct wire_msg msg;

	assert_int_equal(say(c, WIRE_ECHO, "hear", 4), 0);
	assert_int_equal(session_recv(&c->s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.type, WIRE_ECHO);
	assert_memory_equal(msg.tail, "hear", 4);
}

/* The server may say no more to a client before its proof: a handshake, an alert, a refusal. */
static inline bool is_of_handshake(struct client *c, const void *bytes, size_t len)
{
	uint8_t clear[WIRE_HANDSHAKE_MAX];
	struct wire_msg msg;
	int n;

	if (*(const uint8_t *)bytes == 21 || *(const uint8_t *)bytes == 22)
		return true;
	/* An encrypted alert has another length than any message. */
	if (!c->s.tls)
		return len == 2 + WIRE_RECORD_LEN;
	n = tls_open(c->s.tls, bytes, len, clear, sizeof(clear));
	/* Nothing but an alert is no message. */
	return n < 0 || (!wire_decode(&msg, clear, n) && msg.type == WIRE_BIND && msg.status);
}

static inline int hear_raw(struct client *c, int timeout_ms)
{
	const void *bytes;
	size_t len;
	int ret;

	ret = session_recv_raw(&c->s, &bytes, &len, timeout_ms);
	assert_true(ret || is_of_handshake(c, bytes, len));
	return ret;
}

/* The connection must end, and the server must have sent only messages of the handshake. */
static inline void expect_thrown_out(struct client *c)
{
	int ret;

	do {
		ret = hear_raw(c, FAKE_PATIENCE_MS);
	} while (!ret);
	assert_int_equal(ret, -ECONNRESET);
	leave(c);
	server_wait_idle();
}

/* The same, for a client that the server waits for until its timeout. */
static inline void expect_expired(struct client *c)
{
	int ret;

	do {
		fake_advance(SERVER_IDLE_MS);
		ret = hear_raw(c, 0);
	} while (!ret || ret == -ETIMEDOUT);
	assert_int_equal(ret, -ECONNRESET);
	leave(c);
}

static inline int run_command(const struct command *cmd, const char *const *words)
{
	char *argv[16] = { (char *)cmd->name };
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	err_command(cmd->name);
	return cmd->run(argc, argv);
}

#define run_command(cmd, ...) \
	run_command(cmd, (const char *const[]){ __VA_ARGS__, NULL })

static inline void expect_error(int err, const char *step, const char *remedy)
{
	assert_non_null(err_last());
	assert_int_equal(err_last()->err, err);
	assert_non_null(strstr(err_last()->step, step));
	assert_non_null(strstr(err_last()->remedy, remedy));
}

#define ping(...) \
	run_command(&cmd_ping, "-q", "-c", "1", "-W", FAKE_PATIENCE_S, "192.0.2.1", ##__VA_ARGS__)

#endif /* GUARDED_H */
