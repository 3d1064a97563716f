// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One side of an authentication, and a stranger that sends arbitrary bytes, its own handshake
 * changed, and what it has received: the side does not authenticate it, serves nothing and leaks
 * nothing. A stranger that has the key, but says something else than its proof, is none the better
 * for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>

#include "fake_kernel.h"
#include "fuzz.h"
#include "peer/auth.h"

#define SLOT		WIRE_HANDSHAKE_MAX
#define MSGS_MAX	8
#define RECVS		4
#define WAIT_MS		5000

/* Bits of the first byte of the input */
#define HAS_KEY		(1u << 0)
#define IS_SERVER	(1u << 1)

/* Bits of the first byte of each message */
#define ANYTHING	(1u << 0)
#define REFLECTED	(1u << 1)
#define CHANGED		(1u << 2)
#define CUT_OFF		(1u << 3)

static const struct wire_hello hello = {
	.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO,
	.msg_max = WIRE_HEAD_LEN + WIRE_BIND_LEN, .depth = RECVS, .flags = WIRE_F_KEY,
};

static struct key key = { .len = 21, .bytes = "nobody can guess this" };
static struct key decoy = { .len = 20, .bytes = "nor will be this one" };
static struct key other = { .len = 20, .bytes = "the stranger has one" };
static const struct keyring ring = { .users = 1, .nr = 1, .keys = &key, .decoy = &decoy };
static const struct keyring others = { .users = 1, .nr = 1, .keys = &other, .decoy = &decoy };

/**
 * struct stranger - the other side
 * @in: source of its messages
 * @kv: its context
 * @listener: of a stranger that is a server, or NULL
 * @conn: its connection
 * @tls: its end
 * @mem: receive buffers, then messages to send
 * @recv: requests of the receive buffers
 * @send: requests of the messages
 * @heard: the first receive has completed
 * @sent: messages sent so far
 * @odd: one of them was not that of a handshake
 */
struct stranger {
	struct fuzz_input in;
	struct kverbs *kv;
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;
	struct tls *tls;
	struct kverbs_buf *mem;
	struct kverbs_req recv[RECVS];
	struct kverbs_req send[MSGS_MAX];
	bool heard;
	unsigned int sent;
	bool odd;
};

static void listen_to_all(struct stranger *c)
{
	unsigned int i;

	assert(!kverbs_buf_alloc(c->kv, (RECVS + MSGS_MAX) * SLOT, &c->mem));
	for (i = 0; i < RECVS; i++)
		assert(!kverbs_recv(c->conn, c->mem, i * SLOT, SLOT, &c->recv[i]));
}

/* Take what the other side says first; an end that fails has said why. */
static bool hear(struct stranger *c)
{
	if (kverbs_wait(&c->recv[0], WAIT_MS))
		return false;
	c->heard = true;
	/* Otherwise the connection has ended. */
	return !tls_feed(c->tls, kverbs_buf_addr(c->mem), c->recv[0].byte_len) &&
	       tls_handshake(c->tls) != -ENOMEM;
}

static size_t arbitrary(struct stranger *c, uint8_t *to)
{
	const void *bytes;
	size_t n = fuzz_bytes(&c->in, fuzz_take(&c->in, 2) % SLOT, &bytes);

	if (n)
		memcpy(to, bytes, n);
	return n;
}

/* The next flight; after the handshake a message of arbitrary bytes, encrypted */
static int flight(struct stranger *c, uint8_t *to)
{
	uint8_t clear[SLOT];
	int n = 0;

	if (c->sent && !tls_handshake(c->tls)) {
		n = arbitrary(c, clear) % (SLOT / 2);
		n = n ? tls_seal(c->tls, clear, n, to, SLOT) : 0;
	}
	return n > 0 ? n : tls_flush(c->tls, to, SLOT);
}

static int compose(struct stranger *c, unsigned int how, uint8_t *to)
{
	int n;

	if (how & ANYTHING)
		n = arbitrary(c, to);
	else
		n = flight(c, to);
	if (n > 0 && how & REFLECTED && c->heard)
		memcpy(to, kverbs_buf_addr(c->mem), n = c->recv[0].byte_len);
	if (n > 0 && how & CHANGED)
		to[fuzz_take(&c->in, 2) % n] ^= fuzz_take(&c->in, 1);
	if (n > 0 && how & CUT_OFF)
		n = fuzz_take(&c->in, 2) % n;
	return n > 0 ? n : 0;
}

static bool say(struct stranger *c)
{
	unsigned int how = fuzz_take(&c->in, 1);
	size_t at = (RECVS + c->sent) * SLOT;
	int len = compose(c, how, (uint8_t *)kverbs_buf_addr(c->mem) + at);

	c->odd |= how || !len;
	return !kverbs_send(c->conn, c->mem, at, len, &c->send[c->sent++]);
}

static void say_all(struct stranger *c)
{
	/* Only a hello of TLS is answered for certain. */
	if (c->in.left && say(c) && !c->odd && !c->listener)
		hear(c);
	while (c->in.left && c->sent < MSGS_MAX && say(c))
		;
}

static void forget(struct stranger *c)
{
	kverbs_conn_free(c->conn);
	kverbs_buf_free(c->mem);
	kverbs_listener_free(c->listener);
	kverbs_close(c->kv);
	tls_free(c->tls);
}

static void *client_main(void *arg)
{
	struct stranger *c = arg;

	tls_handshake(c->tls);
	if (!kverbs_conn_wait(c->conn, WAIT_MS))
		say_all(c);
	forget(c);
	return NULL;
}

static void *server_main(void *arg)
{
	struct stranger *c = arg;
	uint8_t priv[WIRE_HELLO_LEN];
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts), .priv = priv, .timeout_ms = WAIT_MS,
		.priv_len = wire_hello_encode(&hello, priv, sizeof(priv)),
	};

	assert(!kverbs_next_request(c->listener, WAIT_MS, &c->conn));
	listen_to_all(c);
	if (!kverbs_accept(c->conn, &opts) && hear(c))
		say_all(c);
	forget(c);
	return NULL;
}

static void dial(struct stranger *c, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	assert(!kverbs_connect_start(c->kv, (void *)&to, NULL, &c->conn));
	listen_to_all(c);
}

static void fuzz_server(struct stranger *c, bool has_key)
{
	struct kverbs_listener *listener;
	const struct key *proven;
	struct kverbs_conn *conn;
	struct kverbs *kv;
	pthread_t thread;
	struct session s;

	assert(!kverbs_open(&kv, NULL));
	assert(!kverbs_listen(kv, "192.0.2.1", "0", 0, &listener));
	assert(!tls_client(&c->tls, has_key ? &key : &other));
	dial(c, kverbs_listener_port(listener));
	assert(!pthread_create(&thread, NULL, client_main, c));
	assert(!kverbs_next_request(listener, WAIT_MS, &conn));
	session_init(&s, kv, conn, &hello);
	assert(auth_accept(&s, 0, WAIT_MS, AUTH_MS, &ring, &proven) < 0);
	assert(!proven && !s.keyed && !s.mem && !s.recv && !s.send);
	session_free(&s);
	pthread_join(thread, NULL);
	kverbs_listener_free(listener);
	kverbs_close(kv);
}

static void fuzz_client(struct stranger *c, bool has_key)
{
	struct session_to to = { .host = "192.0.2.1", .timeout_ms = WAIT_MS };
	struct kverbs *kv;
	pthread_t thread;
	struct session s;
	char port[8];

	assert(!kverbs_listen(c->kv, to.host, "0", 0, &c->listener));
	assert(!tls_server(&c->tls, has_key ? &ring : &others));
	snprintf(port, sizeof(port), "%u", kverbs_listener_port(c->listener));
	to.port = port;
	assert(!pthread_create(&thread, NULL, server_main, c));
	assert(!kverbs_open(&kv, NULL));
	assert(!session_connect(&s, kv, &to, &hello));
	assert(auth_connect(&s, &key) < 0);
	assert(!s.keyed && !session_mac_key(&s));
	session_free(&s);
	pthread_join(thread, NULL);
	kverbs_close(kv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stranger c = { .in = { data, size } };
	unsigned int how = fuzz_take(&c.in, 1);

	fake_reset();
	fake.loopback = true;
	assert(!kverbs_open(&c.kv, NULL));
	if (how & IS_SERVER)
		fuzz_client(&c, how & HAS_KEY);
	else
		fuzz_server(&c, how & HAS_KEY);
	assert(!fake_leftovers());
	return 0;
}
