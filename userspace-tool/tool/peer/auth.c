// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/crypto.h>

#include "cli/units.h"
#include "cli/util.h"
#include "peer/auth.h"
#include "peer/service.h"

#define MSG_LEN		((uint32_t)(WIRE_HEAD_LEN + WIRE_BIND_LEN))
#define SENDS		WIRE_HANDSHAKE_SENDS
#define SLOT		WIRE_HANDSHAKE_MAX

/* ---- binding --------------------------------------------------------------- */

void auth_end(struct auth_end *end, const struct kverbs_addr *addr)
{
	memset(end, 0, sizeof(*end));
	if (addr->family == AF_INET) {
		memset(end->address + 10, 0xff, 2);
		memcpy(end->address + 12, addr->addr, 4);
	} else {
		memcpy(end->address, addr->addr, sizeof(end->address));
	}
	memcpy(end->port, &addr->port, sizeof(end->port));
}

void auth_of(struct auth *a, const struct session *s, bool is_server)
{
	memset(a, 0, sizeof(*a));
	wire_hello_encode(&s->hello, a->hello, sizeof(a->hello));
	wire_hello_encode(&s->welcome, a->welcome, sizeof(a->welcome));
	auth_end(&a->client, is_server ? &s->addr : &s->local);
	auth_end(&a->server, is_server ? &s->local : &s->addr);
}

int auth_proof(struct tls *tls, const struct auth *a, bool is_server,
	       uint8_t proof[WIRE_BIND_LEN])
{
	return tls_export(tls, is_server ? "EXPORTER-kverbs-server" : "EXPORTER-kverbs-client",
			  a, sizeof(*a), proof, WIRE_BIND_LEN);
}

static int check_proof(struct tls *tls, const struct auth *a, bool is_server, const void *proof)
{
	uint8_t right[WIRE_BIND_LEN];
	int ret = auth_proof(tls, a, is_server, right);

	if (ret)
		return ret;
	return CRYPTO_memcmp(right, proof, sizeof(right)) ? -EREMCHG : 0;
}

/* Both have proved: digests are made with a key that no other connection has. */
static int make_mac_key(struct session *s, const struct auth *a)
{
	int ret = tls_export(s->tls, "EXPORTER-kverbs-digests", a, sizeof(*a), s->mac_key,
			     sizeof(s->mac_key));

	s->keyed = !ret;
	return ret;
}

static void fill(struct wire_msg *msg, const uint8_t proof[WIRE_BIND_LEN])
{
	*msg = (struct wire_msg){
		.type = WIRE_BIND,
		.window = WIRE_NO_WINDOW,
		.tail = proof,
		.tail_len = WIRE_BIND_LEN,
	};
}

/* ---- client ---------------------------------------------------------------- */

void auth_hello(struct wire_hello *hello)
{
	hello->flags |= WIRE_F_KEY;
	hello->msg_max = max(hello->msg_max, MSG_LEN);
}

/* Send the next flight, or an alert. */
static int say_flight(struct session *s, struct tls *tls)
{
	uint8_t bytes[WIRE_HANDSHAKE_MAX];
	int len = tls_flush(tls, bytes, sizeof(bytes));

	return len > 0 ? session_send_raw(s, bytes, len) : len;
}

static int hear_flight(struct session *s, struct tls *tls)
{
	const void *bytes;
	size_t len;
	int ret;

	ret = session_recv_raw(s, &bytes, &len, s->timeout_ms);
	if (ret)
		return ret;
	if (len > WIRE_HANDSHAKE_MAX)
		return -ENOKEY;
	ret = tls_feed(tls, bytes, len);
	if (ret)
		return ret == -EBADMSG ? -ENOKEY : ret;
	/* The server may answer at once to what is sent next. */
	return session_release(s);
}

/* The last flight goes with the first message. */
static int shake_hands(struct session *s, struct tls *tls)
{
	unsigned int i;
	int ret;

	for (i = 0; i < SENDS; i++) {
		ret = tls_handshake(tls);
		if (!ret)
			return 0;
		if (ret != -EAGAIN) {
			/* The server is told why, if it is still there. */
			say_flight(s, tls);
			return ret;
		}
		ret = say_flight(s, tls);
		if (!ret)
			ret = hear_flight(s, tls);
		if (ret)
			return ret;
	}
	return -ENOKEY;
}

/*
 * The client's proof comes first. The server's own one also says that its handshake is complete; if
 * the server rejects the client's last flight, an alert comes in place of it.
 */
static int bind_client(struct session *s, const struct auth *a, struct wire_msg *msg)
{
	uint8_t proof[WIRE_BIND_LEN];
	int ret;

	ret = auth_proof(s->tls, a, false, proof);
	if (ret)
		return ret;
	fill(msg, proof);
	ret = session_send(s, msg);
	if (!ret)
		ret = session_recv(s, msg, s->timeout_ms);
	if (ret)
		return ret == -EBADMSG ? -ENOKEY : ret;
	return msg->type == WIRE_BIND ? 0 : -ENOKEY;
}

/* Status of a server that has proved the key */
static int refusal(int err)
{
	return err == -EOPNOTSUPP || err == -EREMCHG ? err : -EKEYREJECTED;
}

int auth_connect(struct session *s, const struct key *key)
{
	struct wire_msg msg;
	struct tls *tls;
	struct auth a;
	int ret;

	if (!(s->welcome.flags & WIRE_F_KEY))
		return -ENOKEY;
	ret = tls_client(&tls, key);
	if (ret)
		return ret;
	ret = shake_hands(s, tls);
	if (ret) {
		tls_free(tls);
		return ret;
	}
	s->tls = tls;
	auth_of(&a, s, false);
	ret = bind_client(s, &a, &msg);
	if (!ret && msg.status)
		ret = refusal(wire_errno(msg.status));
	if (!ret)
		ret = check_proof(s->tls, &a, true, msg.tail);
	if (!ret)
		ret = make_mac_key(s, &a);
	if (!ret)
		s->welcome.flags = msg.flags;
	return ret;
}

/* ---- server ---------------------------------------------------------------- */

/**
 * struct door - the little that a client has before it is let in
 * @s: its connection
 * @ring: keys that it may prove to have
 * @mem: messages to receive, then those to send
 * @recv: of the former
 * @send: of the latter
 * @received: of them, so far
 * @sent: the same
 * @until: when it is too late
 */
struct door {
	struct session *s;
	const struct keyring *ring;
	struct kverbs_buf *mem;
	struct kverbs_req recv[SENDS];
	struct kverbs_req send[SENDS];
	unsigned int received;
	unsigned int sent;
	double until;
};

static int left_ms(const struct door *d)
{
	double ms = (d->until - units_now()) * 1e3;

	return ms > 0 ? min(ms + 1, (double)INT_MAX) : 0;
}

static int post_recv(struct door *d)
{
	if (d->received == SENDS)
		return -EPROTO;
	return kverbs_recv(d->s->conn, d->mem, d->received * SLOT, SLOT,
			   &d->recv[d->received]);
}

static int open_door(struct door *d, struct session *s, int timeout_ms,
		     const struct keyring *ring)
{
	int ret;

	memset(d, 0, sizeof(*d));
	d->s = s;
	d->ring = ring;
	d->until = units_now() + timeout_ms / 1e3;
	ret = kverbs_buf_alloc(s->kv, 2 * SENDS * SLOT, &d->mem);
	return ret ? ret : post_recv(d);
}

static int door_hear(struct door *d)
{
	struct kverbs_req *req = &d->recv[d->received];
	const char *at = (char *)kverbs_buf_addr(d->mem) + d->received * SLOT;
	int ret;

	ret = session_wait(d->s, req, left_ms(d));
	/* A client that says nothing does not make OpenSSL allocate anything. */
	if (!ret && !d->s->tls)
		ret = tls_server(&d->s->tls, d->ring);
	if (ret)
		return ret;
	d->received++;
	return tls_feed(d->s->tls, at, req->byte_len);
}

static char *door_slot(const struct door *d)
{
	return (char *)kverbs_buf_addr(d->mem) + (SENDS + d->sent) * SLOT;
}

/* Send the first bytes of the slot. */
static int door_say(struct door *d, int len)
{
	int ret;

	if (len <= 0)
		return len;
	ret = kverbs_send(d->s->conn, d->mem, (SENDS + d->sent) * SLOT, len,
			  &d->send[d->sent]);
	if (ret)
		return ret == -ENOTCONN ? session_end_error(d->s) : ret;
	return session_wait(d->s, &d->send[d->sent++], left_ms(d));
}

static int door_flight(struct door *d)
{
	if (d->sent == SENDS)
		return -EPROTO;
	return door_say(d, tls_flush(d->s->tls, door_slot(d), SLOT));
}

/* The client may answer at once, so a receive is posted first. */
static int door_handshake(struct door *d)
{
	int ret, err;

	for (;;) {
		ret = door_hear(d);
		if (ret)
			return ret;
		ret = tls_handshake(d->s->tls);
		if (!ret)
			return 0;
		err = ret == -EAGAIN ? post_recv(d) : ret;
		ret = door_flight(d);
		/* An alert that cannot be sent does not replace the reason for it. */
		if (err || ret)
			return err ? err : ret;
	}
}

static int door_msg(struct door *d, const struct wire_msg *msg)
{
	uint8_t bytes[WIRE_HEAD_LEN + WIRE_BIND_LEN];
	int len = wire_encode(msg, bytes, sizeof(bytes));

	if (len > 0)
		len = tls_seal(d->s->tls, bytes, len, door_slot(d), SLOT);
	return door_say(d, len);
}

static int turn_away(struct door *d, int why)
{
	struct wire_msg msg = {
		.type = WIRE_BIND,
		.status = wire_status(why),
		.window = WIRE_NO_WINDOW,
	};

	door_msg(d, &msg);
	return why;
}

/* The part of @flags that this key permits */
static uint32_t permitted(const struct key_rights *rights, uint32_t flags)
{
	if (!service_included(rights->services, WIRE_SERVICE_FILES))
		flags &= ~WIRE_F_SERVES_FILES;
	if (rights->no_super)
		flags &= ~WIRE_F_PRIVILEGED;
	return rights->read_only ? flags | WIRE_F_READ_ONLY : flags;
}

/* Allocate the session before the client is allowed to proceed. */
static int let_in(struct door *d, const struct key *key, const struct auth *a)
{
	uint8_t proof[WIRE_BIND_LEN];
	struct wire_msg msg;
	int ret;

	ret = auth_proof(d->s->tls, a, true, proof);
	if (!ret)
		ret = make_mac_key(d->s, a);
	if (!ret)
		ret = session_open(d->s);
	if (ret)
		return ret;
	fill(&msg, proof);
	msg.flags = permitted(&key->rights, d->s->welcome.flags);
	return door_msg(d, &msg);
}

/* The client's proof came with the end of its handshake. */
static int check_client(struct door *d, const struct auth *a)
{
	uint8_t bytes[WIRE_HANDSHAKE_MAX];
	struct wire_msg msg;
	int ret;

	ret = tls_read(d->s->tls, bytes, sizeof(bytes));
	if (ret >= 0)
		ret = wire_decode(&msg, bytes, ret);
	if (ret)
		return ret;
	if (msg.type != WIRE_BIND || msg.status)
		return -EPROTO;
	return check_proof(d->s->tls, a, false, msg.tail);
}

static int talk(struct door *d, const struct key **key)
{
	struct auth a;
	int ret;

	ret = door_handshake(d);
	if (ret)
		return ret;
	auth_of(&a, d->s, true);
	ret = check_client(d, &a);
	if (ret == -EREMCHG)
		return turn_away(d, ret);
	if (ret)
		return ret;
	*key = d->s->tls->key;
	if (!service_included((*key)->rights.services, d->s->hello.what))
		return turn_away(d, -EOPNOTSUPP);
	return let_in(d, *key, &a);
}

int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct keyring *ring, const struct key **key)
{
	struct door d;
	int ret;

	*key = NULL;
	ret = open_door(&d, s, min(timeout_ms, auth_ms), ring);
	if (!ret)
		ret = session_answer(s, flags | WIRE_F_KEY, timeout_ms, left_ms(&d));
	if (!ret)
		ret = talk(&d, key);
	/* Operations on d.mem must have ended before it is freed. */
	if (ret)
		session_stop(s);
	kverbs_buf_free(d.mem);
	return ret;
}
