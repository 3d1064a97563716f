// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Clients of a guarded `kverbs serve`, at the level of messages. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define MAGIC		0x4b564252
#define WIRE_VERSION	5
#define MSG_MAX		4200
#define RECV_DATA	0x4ec0

#define KEYS									\
	"umask 077; for f in " KEY_FILE " " OTHER_FILE "; do "			\
	"head -c 32 /dev/urandom | base64 >$f; done; "				\
	"{ echo kverbs-keys 1; echo \"nobody $(cat " KEY_FILE ")\"; } >" NAMED_FILE

unsigned char peer_memory[SLOTS * SLOT] __aligned(4096);
struct ring peer_ring;
static uint32_t region;

void peer_set_up(const char *host, const char *const *options)
{
	CHECK(!test_shell(KEYS));
	serve_start_as(host, options);
	ring_open(&peer_ring, dev_open(), 256, 4096);
	region = dev_region(peer_ring.fd, peer_memory, sizeof(peer_memory), 0);
}

void peer_set_up_keyed(void)
{
	static const char *const options[] = { "--key", KEY_FILE, NULL };

	setenv("KVERBS_KEY_FILE", KEY_FILE, 1);
	peer_set_up("a", options);
}

void peer_put(unsigned char *to, uint64_t value, unsigned int size)
{
	while (size--) {
		to[size] = value;
		value >>= 8;
	}
}

uint64_t peer_get(const unsigned char *from, unsigned int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *from++;
	return value;
}

void peer_hello(unsigned char hello[HELLO], unsigned int service, unsigned int flags)
{
	memset(hello, 0, HELLO);
	peer_put(hello, MAGIC, 4);
	peer_put(hello + 4, WIRE_VERSION, 2);
	peer_put(hello + 6, service, 2);
	peer_put(hello + 8, MSG_MAX, 4);
	peer_put(hello + 12, 64, 4);
	peer_put(hello + 16, flags, 4);
}

uint32_t peer_call(const unsigned char hello[HELLO])
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = peer_ring.id,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.dst = addr_of("a", serve_port()),
		.priv_uptr = (uintptr_t)hello,
		.priv_len = HELLO,
	};

	CHECK_OK(dev_cmd(peer_ring.fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

uint32_t peer_enter(const unsigned char hello[HELLO])
{
	uint32_t conn = peer_call(hello);

	peer_listen(conn, 0);
	peer_listen(conn, 1);
	CHECK_OK(ring_event(&peer_ring, KVERBS_CQE_ESTABLISHED, conn).result);
	return conn;
}

/* Read the private data of the other side's answer. */
static void read_private(uint32_t conn, unsigned char *priv, uint32_t room)
{
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.inout_priv_len = room,
	};

	CHECK_OK(dev_cmd(peer_ring.fd, KVERBS_CONN_QUERY, &cmd));
	CHECK(cmd.inout_priv_len >= HELLO);
}

unsigned int peer_refusal(uint32_t conn)
{
	unsigned char priv[KVERBS_PRIV_ACCEPT_MAX];

	read_private(conn, priv, sizeof(priv));
	return peer_get(priv + 6, 2);
}

void peer_expect_refused(uint32_t conn, unsigned int why)
{
	struct kverbs_cqe cqe = ring_end_of(&peer_ring, conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_REJECTED);
	CHECK_ERR(cqe.result, ECONNREFUSED);
	CHECK_EQ(peer_refusal(conn), why);
	CHECK_OK(dev_destroy(peer_ring.fd, conn));
}

void peer_listen(uint32_t conn, unsigned int slot)
{
	struct kverbs_sqe sqe = sqe_recv(conn, region, slot * SLOT, SLOT);

	sqe.user_data = RECV_DATA + slot;
	CHECK_OK(ring_put(&peer_ring, &sqe));
}

uint32_t peer_hear(unsigned int slot)
{
	struct kverbs_cqe cqe = ring_work(&peer_ring, RECV_DATA + slot);

	CHECK_OK(cqe.result);
	return cqe.byte_len;
}

void peer_say(uint32_t conn, unsigned int slot, uint32_t length)
{
	struct kverbs_sqe sqe = sqe_send(conn, length ? region : 0,
					 length ? slot * SLOT : 0, length);
	int ret;

	sqe.flags = 0;
	ret = ring_put(&peer_ring, &sqe);
	if (ret)
		CHECK_ERR(ret, ENOTCONN);
}

void peer_leave(uint32_t conn)
{
	struct kverbs_cqe cqe;

	CHECK_OK(dev_destroy(peer_ring.fd, conn));
	serve_await_gone(1);
	/* Drop the remaining completions of this connection. */
	while (ring_peek(&peer_ring, &cqe))
		;
	peer_ring.nr_stash = 0;
}

void peer_expect_thrown_out(uint32_t conn)
{
	struct kverbs_cqe cqe = ring_end_of(&peer_ring, conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK(cqe.result);
	peer_leave(conn);
}
