// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The server for rping's clients, and clients that violate the protocol. */
#define _GNU_SOURCE
#include "cli/util.h"
#include "ping/rping.h"
#include "server.h"

#define SIZE 100
#define BACK_AT 4096

/**
 * struct peer - a client that may violate the protocol
 * @kv: its context
 * @s: its connection
 * @buf: its memory
 * @out: memory that the server may read: SIZE bytes
 * @back: memory that the server may write: SIZE bytes
 */
struct peer {
	struct kverbs *kv;
	struct session s;
	struct kverbs_buf *buf;
	struct kverbs_token out;
	struct kverbs_token back;
};

static char *peer_text(const struct peer *p)
{
	return kverbs_buf_addr(p->buf);
}

static void peer_connect(struct peer *p)
{
	struct session_to to = {
		.host = "192.0.2.1", .port = RPING_DEFAULT_PORT, .timeout_ms = FAKE_PATIENCE_MS,
	};
	struct wire_hello hello;

	memset(p, 0, sizeof(*p));
	rping_hello(&hello);
	assert_int_equal(kverbs_open(&p->kv, NULL), 0);
	assert_int_equal(session_connect(&p->s, p->kv, &to, &hello), 0);
	assert_int_equal(kverbs_buf_alloc(p->kv, 2 * BACK_AT, &p->buf), 0);
	rping_text_fill(peer_text(p), SIZE, 0);
	assert_int_equal(kverbs_export(p->s.conn, p->buf, 0, SIZE, KVERBS_REMOTE_READ,
				       &p->out), 0);
	assert_int_equal(kverbs_export(p->s.conn, p->buf, BACK_AT, SIZE,
				       KVERBS_REMOTE_WRITE, &p->back), 0);
}

static void peer_leave(struct peer *p)
{
	session_free(&p->s);
	kverbs_token_free(&p->out);
	kverbs_token_free(&p->back);
	kverbs_buf_free(p->buf);
	kverbs_close(p->kv);
}

static struct rping_info info_of(const struct kverbs_token *token)
{
	struct rping_info info = {
		.addr = token->segs->addr,
		.rkey = token->segs->rkey,
		.size = token->length,
	};

	return info;
}

static void peer_send(struct peer *p, const struct rping_info *info)
{
	uint8_t msg[RPING_INFO_LEN];

	rping_info_encode(info, msg);
	assert_int_equal(session_send_raw(&p->s, msg, sizeof(msg)), 0);
}

static void peer_offer(struct peer *p, const struct kverbs_token *token)
{
	struct rping_info info = info_of(token);

	peer_send(p, &info);
}

static int peer_recv(struct peer *p)
{
	const void *msg;
	size_t len;
	int ret;

	ret = session_recv_raw(&p->s, &msg, &len, FAKE_PATIENCE_MS);
	if (!ret)
		assert_int_equal(len, RPING_INFO_LEN);
	return ret;
}

static int others_are_served(void)
{
	char *argv[] = {
		"ping", "--rping", "-c", "3", "-i", "0", "-q", "-W", FAKE_PATIENCE_S,
		"192.0.2.1", NULL,
	};

	err_command("ping");
	return cmd_ping.run(ARRAY_SIZE(argv) - 1, argv) == EXIT_OK;
}

static void expect_drop(struct peer *p)
{
	assert_int_equal(peer_recv(p), -ECONNRESET);
	peer_leave(p);
	assert_true(others_are_served());
}

static void texts_come_back(void **state)
{
	struct peer p;
	unsigned int i;

	(void)state;
	peer_connect(&p);
	for (i = 0; i < 100; i++) {
		rping_text_fill(peer_text(&p), SIZE, i);
		peer_offer(&p, &p.out);
		assert_int_equal(peer_recv(&p), 0);
		peer_offer(&p, &p.back);
		assert_int_equal(peer_recv(&p), 0);
		assert_memory_equal(peer_text(&p), peer_text(&p) + BACK_AT, SIZE);
	}
	assert_true(others_are_served());
	peer_leave(&p);
}

/* The server does not check texts: that is the client's task. */
static void other_texts_come_back_as_well(void **state)
{
	struct peer p;

	(void)state;
	peer_connect(&p);
	memset(peer_text(&p), 0, SIZE);
	memset(peer_text(&p) + BACK_AT, 1, SIZE + 1);
	peer_offer(&p, &p.out);
	assert_int_equal(peer_recv(&p), 0);
	peer_offer(&p, &p.back);
	assert_int_equal(peer_recv(&p), 0);
	assert_memory_equal(peer_text(&p), peer_text(&p) + BACK_AT, SIZE);
	assert_int_equal(peer_text(&p)[BACK_AT + SIZE], 1);
	peer_leave(&p);
}

static void messages_have_one_length(void **state)
{
	static const size_t lens[] = { 0, 1, 15, 17, 24, RPING_MSG_MAX };
	uint8_t msg[RPING_MSG_MAX] = { 0 };
	struct rping_info info;
	struct peer p;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		peer_connect(&p);
		info = info_of(&p.out);
		rping_info_encode(&info, msg);
		assert_int_equal(session_send_raw(&p.s, msg, lens[i]), 0);
		expect_drop(&p);
	}
}

static void offer_first(const struct rping_info *change)
{
	struct rping_info info;
	struct peer p;

	peer_connect(&p);
	info = info_of(&p.out);
	info.addr += change->addr;
	info.rkey += change->rkey;
	info.size += change->size;
	peer_send(&p, &info);
	expect_drop(&p);
}

static void what_is_read_must_be_there(void **state)
{
	static const struct rping_info changes[] = {
		{ .size = -SIZE }, { .size = 1 }, { .size = 65535 - SIZE },
		{ .size = 65536 - SIZE }, { .size = UINT32_MAX - SIZE },
		{ .addr = 1 }, { .addr = -1 }, { .addr = 1ull << 63 },
		{ .rkey = 1 }, { .rkey = 1000000 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		offer_first(&changes[i]);
}

static void offer_second(const struct rping_info *change)
{
	struct rping_info info;
	struct peer p;

	peer_connect(&p);
	peer_offer(&p, &p.out);
	assert_int_equal(peer_recv(&p), 0);
	info = info_of(&p.back);
	info.addr += change->addr;
	info.rkey += change->rkey;
	info.size += change->size;
	peer_send(&p, &info);
	expect_drop(&p);
}

static void what_is_written_must_have_room(void **state)
{
	static const struct rping_info changes[] = {
		{ .size = -1 }, { .size = -SIZE }, { .addr = 1 }, { .rkey = -1 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		offer_second(&changes[i]);
}

/* The client leaves at each possible step. */
static void clients_may_leave(void **state)
{
	struct peer p;
	int step;

	(void)state;
	for (step = 0; step < 5; step++) {
		peer_connect(&p);
		if (step > 0)
			peer_offer(&p, &p.out);
		if (step > 1)
			assert_int_equal(peer_recv(&p), 0);
		if (step > 2)
			peer_offer(&p, &p.back);
		if (step > 3)
			assert_int_equal(peer_recv(&p), 0);
		peer_leave(&p);
		assert_true(others_are_served());
	}
}

static void silent_clients_are_dropped(void **state)
{
	struct peer p;
	const void *msg;
	size_t len;
	int ret;

	(void)state;
	peer_connect(&p);
	do {
		fake_advance(SERVER_IDLE_MS);
		ret = session_recv_raw(&p.s, &msg, &len, 0);
	} while (ret == -ETIMEDOUT);
	assert_int_equal(ret, -ECONNRESET);
	peer_leave(&p);
}

/* A client with a hello is answered, but its service is refused. */
static void kverbs_clients_are_told(void **state)
{
	char *argv[] = {
		"ping", "-c", "1", "-p", RPING_DEFAULT_PORT, "-W", FAKE_PATIENCE_S,
		"192.0.2.1", NULL,
	};

	(void)state;
	err_command("ping");
	assert_int_equal(cmd_ping.run(ARRAY_SIZE(argv) - 1, argv), EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -EPROTO);
	assert_true(others_are_served());
}

static int setup(void **state)
{
	static const char * const words[] = { "--rping", NULL };

	return server_start(state, words);
}

static int impatient(void **state)
{
	static const char * const words[] = { "--rping", "--idle-timeout", SERVER_IDLE_S, NULL };

	return server_start(state, words);
}

#define rping_test(name) cmocka_unit_test_setup_teardown(name, setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		rping_test(texts_come_back),
		rping_test(other_texts_come_back_as_well),
		rping_test(messages_have_one_length),
		rping_test(what_is_read_must_be_there),
		rping_test(what_is_written_must_have_room),
		rping_test(clients_may_leave),
		rping_test(kverbs_clients_are_told),
		cmocka_unit_test_setup_teardown(silent_clients_are_dropped, impatient,
						server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
