// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A server that requires a key, and a client that has none and sends arbitrary messages, also
 * repetitions of what it has received: the server does not authenticate it, runs none of its
 * requests and leaks nothing.
 */
#include <arpa/inet.h>
#include <pthread.h>

#include "fake_kernel.h"
#include "fuzz.h"
#include "peer/auth.h"

/* As long as the server's receive buffers: a longer message would end the connection. */
#define SLOT		192
#define MSGS_MAX	8
#define RECVS		4
#define WAIT_MS		5000

static const struct wire_hello hello = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_FILES, .msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH, .flags = WIRE_F_KEY,
};

static struct key key = { .len = 21, .bytes = "nobody can guess this" };
static const struct keyring ring = { .users = 1, .nr = 1, .keys = &key, .decoy = &key };

/**
 * struct stranger - the client
 * @in: source of its messages
 * @kv: its context
 * @conn: its connection
 * @mem: receive buffers, then messages to send
 * @recv: requests of the receive buffers
 * @send: requests of the messages
 * @sent: messages sent so far
 */
struct stranger {
	struct fuzz_input in;
	struct kverbs *kv;
	struct kverbs_conn *conn;
	struct kverbs_buf *mem;
	struct kverbs_req recv[RECVS];
	struct kverbs_req send[MSGS_MAX];
	unsigned int sent;
};

static void dial(struct stranger *c, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	unsigned int i;

	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	assert(!kverbs_open(&c->kv, NULL));
	assert(!kverbs_connect_start(c->kv, (void *)&to, NULL, &c->conn));
	assert(!kverbs_buf_alloc(c->kv, (RECVS + MSGS_MAX) * SLOT, &c->mem));
	for (i = 0; i < RECVS; i++)
		assert(!kverbs_recv(c->conn, c->mem, i * SLOT, SLOT, &c->recv[i]));
}

/* Returns false if nothing was received; what is received must be a valid message. */
static bool hear(struct stranger *c, unsigned int i, struct wire_msg *msg)
{
	const char *at = (char *)kverbs_buf_addr(c->mem) + i * SLOT;

	if (i >= RECVS || kverbs_wait(&c->recv[i], WAIT_MS))
		return false;
	assert(!wire_decode(msg, at, c->recv[i].byte_len));
	assert(msg->type == WIRE_NONCE || (msg->type == WIRE_PROOF && msg->status));
	return true;
}

/* Write a handshake message, with bytes of the input or with bytes that were received. */
static int write_msg(struct stranger *c, unsigned int how, uint8_t *to)
{
	uint8_t tail[WIRE_PROOF_LEN] = { 0 };
	struct wire_msg msg = {
		.type = how & 1 ? WIRE_PROOF : WIRE_NONCE,
		.window = WIRE_NO_WINDOW,
		.tail = tail,
		.tail_len = sizeof(tail),
	};
	struct wire_msg heard;
	const void *bytes;
	size_t n;

	if (how & 2 && c->sent && hear(c, 0, &heard) && heard.tail_len == sizeof(tail)) {
		memcpy(tail, heard.tail, sizeof(tail));
	} else {
		n = fuzz_bytes(&c->in, sizeof(tail), &bytes);
		if (n)
			memcpy(tail, bytes, n);
	}
	if (how & 4)
		msg.status = fuzz_take(&c->in, 1);
	if (how & 32) {
		msg.extra = tail;
		msg.extra_len = fuzz_take(&c->in, 1) % sizeof(tail);
	}
	if (how & 8)
		msg.tail_len = fuzz_take(&c->in, 1) % sizeof(tail);
	return wire_encode(&msg, to, SLOT);
}

static int write_any(struct stranger *c, uint8_t *to)
{
	const void *bytes;
	size_t n = fuzz_bytes(&c->in, fuzz_take(&c->in, 1) % SLOT, &bytes);

	if (n)
		memcpy(to, bytes, n);
	return n;
}

static bool say(struct stranger *c)
{
	unsigned int how = fuzz_take(&c->in, 1);
	size_t at = (RECVS + c->sent) * SLOT;
	uint8_t *to = (uint8_t *)kverbs_buf_addr(c->mem) + at;
	int len = how & 16 ? write_any(c, to) : write_msg(c, how, to);

	return !kverbs_send(c->conn, c->mem, at, len, &c->send[c->sent++]);
}

static void *stranger_main(void *arg)
{
	struct stranger *c = arg;

	if (!kverbs_conn_wait(c->conn, WAIT_MS))
		while (c->in.left && c->sent < MSGS_MAX && say(c))
			;
	kverbs_conn_free(c->conn);
	kverbs_buf_free(c->mem);
	kverbs_close(c->kv);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stranger c = { .in = { data, size } };
	struct kverbs_listener *listener;
	const struct key *proven;
	struct kverbs_conn *conn;
	struct kverbs *kv;
	pthread_t thread;
	struct session s;

	fake_reset();
	fake.loopback = true;
	assert(!kverbs_open(&kv, NULL));
	assert(!kverbs_listen(kv, "192.0.2.1", "0", 0, &listener));
	dial(&c, kverbs_listener_port(listener));
	assert(!pthread_create(&thread, NULL, stranger_main, &c));
	assert(!kverbs_next_request(listener, WAIT_MS, &conn));
	session_init(&s, kv, conn, &hello);
	assert(auth_accept(&s, 0, WAIT_MS, AUTH_MS, &ring, &proven) < 0);
	assert(!proven && !s.mem && !s.recv && !s.send);
	session_free(&s);
	pthread_join(thread, NULL);
	kverbs_listener_free(listener);
	kverbs_close(kv);
	assert(!fake_leftovers());
	return 0;
}
