// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Neither passing a handshake on nor replaying it authenticates the attacker. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

/*
 * The two sides send two messages each, in turn. The server's last one, which is encrypted,
 * refuses.
 */
#define SAID	4
#define AGAIN	10
/* Exit status of kverbs */
#define DENIED	4

/**
 * struct record - messages that an attacker on the path has recorded
 * @hello: the client's hello
 * @welcome: the server's answer
 * @said: all later messages
 * @lengths: length of each
 */
struct record {
	unsigned char hello[HELLO];
	unsigned char welcome[HELLO];
	unsigned char said[SAID][SLOT];
	uint32_t lengths[SAID];
};

static struct record record;

static void read_private(uint32_t conn, unsigned char hello[HELLO])
{
	unsigned char priv[KVERBS_PRIV_ACCEPT_MAX];
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.inout_priv_len = sizeof(priv),
	};

	CHECK_OK(dev_cmd(peer_ring.fd, KVERBS_CONN_QUERY, &cmd));
	CHECK(cmd.inout_priv_len >= HELLO);
	memcpy(hello, priv, HELLO);
}

/* Start a client that has the key, and connects to the attacker. */
static int start_client(uint16_t port)
{
	char text[16], seconds[16];
	int pid;

	snprintf(text, sizeof(text), "%u", port);
	snprintf(seconds, sizeof(seconds), "%d", test_patience_ms() / 1000);
	pid = fork();
	if (pid)
		return pid;
	execlp("kverbs", "kverbs", "ping", "-q", "-c", "1", "-W", seconds, "-p", text, "a", NULL);
	_exit(127);
}

static void accept_with(uint32_t conn, const unsigned char welcome[HELLO])
{
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.ring_id = peer_ring.id,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.priv_uptr = (uintptr_t)welcome,
		.priv_len = HELLO,
	};

	CHECK_OK(dev_cmd(peer_ring.fd, KVERBS_ACCEPT, &cmd));
	CHECK_OK(ring_event(&peer_ring, KVERBS_CQE_ESTABLISHED, conn).result);
}

/* Each message has its own slot; the client sends first. */
static void pass_on(uint32_t client, uint32_t server)
{
	unsigned int i;

	for (i = 0; i < SAID; i++) {
		record.lengths[i] = peer_hear(i);
		memcpy(record.said[i], peer_memory + i * SLOT, record.lengths[i]);
		peer_say(i & 1 ? client : server, i, record.lengths[i]);
	}
}

/*
 * Relay messages between a client and the server, and record them. The client proves the key for
 * the addresses of its connection, which are not those that the server sees.
 */
static void listen_in(void)
{
	struct kverbs_addr addr = addr_of("a", 0);
	uint32_t listener = dev_listen(&peer_ring, &addr), client, server;
	int pid = start_client(be16toh(addr.port)), status;
	unsigned int i;

	client = ring_event(&peer_ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	read_private(client, record.hello);
	server = peer_call(record.hello);
	for (i = 0; i < SAID; i++)
		peer_listen(i & 1 ? server : client, i);
	CHECK_OK(ring_event(&peer_ring, KVERBS_CQE_ESTABLISHED, server).result);
	read_private(server, record.welcome);
	accept_with(client, record.welcome);
	pass_on(client, server);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), DENIED);
	serve_await("another host is in between");
	CHECK_OK(dev_destroy(peer_ring.fd, client));
	CHECK_OK(dev_destroy(peer_ring.fd, listener));
	peer_leave(server);
}

static void say_again(uint32_t conn, unsigned int i)
{
	memcpy(peer_memory + 2 * SLOT, record.said[i], record.lengths[i]);
	peer_say(conn, 2, record.lengths[i]);
}

/* The server's part of the handshake is another one, so the client's does not end it. */
static void replay(void)
{
	uint32_t conn = peer_enter(record.hello);

	say_again(conn, 0);
	CHECK_EQ(peer_hear(0), record.lengths[1]);
	CHECK_EQ(peer_memory[0], HANDSHAKE);
	CHECK(memcmp(peer_memory, record.said[1], record.lengths[1]));
	say_again(conn, 2);
	peer_hear(1);
	CHECK_EQ(peer_memory[SLOT], ENCRYPTED);
	serve_await("does not prove that it has the key");
	peer_expect_thrown_out(conn);
}

TEST(a_handshake_that_is_passed_on_or_replayed_is_refused_and_costs_nothing)
{
	int i;

	peer_set_up_keyed();
	listen_in();
	CHECK_EQ(record.said[0][0], HANDSHAKE);
	CHECK_EQ(record.said[1][0], HANDSHAKE);
	CHECK_EQ(record.said[2][0], ENCRYPTED);
	CHECK_EQ(record.said[3][0], ENCRYPTED);
	for (i = 0; i < AGAIN; i++)
		replay();
	serve_expect_unharmed();
	serve_stop();
}

/* Send all recorded messages at once, without reading the server's answers. */
TEST(messages_of_a_handshake_that_are_replayed_in_a_row_are_refused)
{
	uint32_t conn;
	unsigned int i;

	peer_set_up_keyed();
	listen_in();
	conn = peer_enter(record.hello);
	for (i = 0; i < SAID; i += 2) {
		memcpy(peer_memory + (2 + i) * SLOT, record.said[i], record.lengths[i]);
		peer_say(conn, 2 + i, record.lengths[i]);
	}
	peer_expect_thrown_out(conn);
	serve_expect_unharmed();
	serve_stop();
}
