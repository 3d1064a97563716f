// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "cli/units.h"
#include "cli/util.h"
#include "peer/auth.h"

#define MSG_LEN		((uint32_t)(WIRE_HEAD_LEN + WIRE_PROOF_LEN))
#define SLOT		192
#define ROLE_LEN	16

int auth_proof(const struct auth *a, const struct key *key, enum auth_role role,
	       uint8_t proof[WIRE_PROOF_LEN])
{
	static const char names[][ROLE_LEN] = {
		[AUTH_CLIENT] = "kverbs client 1",
		[AUTH_SERVER] = "kverbs server 1",
		[AUTH_DIGESTS] = "kverbs digests2",
	};
	uint8_t bytes[ROLE_LEN + sizeof(*a)];
	size_t len;

	memcpy(bytes, names[role], ROLE_LEN);
	memcpy(bytes + ROLE_LEN, a, sizeof(*a));
	if (!EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key->bytes, key->len, bytes,
		       sizeof(bytes), proof, WIRE_PROOF_LEN, &len))
		return -EIO;
	return len == WIRE_PROOF_LEN ? 0 : -EIO;
}

static int check_proof(const struct auth *a, const struct key *key, enum auth_role role,
		       const void *proof)
{
	uint8_t right[WIRE_PROOF_LEN];
	int ret = auth_proof(a, key, role, right);

	if (ret)
		return ret;
	return CRYPTO_memcmp(right, proof, sizeof(right)) ? -EKEYREJECTED : 0;
}

/* No other connection has the same key. */
static int make_mac_key(struct session *s, const struct auth *a, const struct key *key)
{
	int ret = auth_proof(a, key, AUTH_DIGESTS, s->mac_key);

	s->keyed = !ret;
	return ret;
}

static int make_nonce(uint8_t nonce[WIRE_NONCE_LEN])
{
	return getrandom(nonce, WIRE_NONCE_LEN, 0) == WIRE_NONCE_LEN ? 0 : -EIO;
}

static void take_hellos(struct auth *a, const struct session *s)
{
	wire_hello_encode(&s->hello, a->hello, sizeof(a->hello));
	wire_hello_encode(&s->welcome, a->welcome, sizeof(a->welcome));
}

static void fill(struct wire_msg *msg, enum wire_type type, const void *tail)
{
	*msg = (struct wire_msg){
		.type = type,
		.window = WIRE_NO_WINDOW,
		.tail = tail,
		.tail_len = WIRE_PROOF_LEN,
	};
}

void auth_hello(struct wire_hello *hello)
{
	hello->flags |= WIRE_F_KEY;
	hello->msg_max = max(hello->msg_max, MSG_LEN);
}

static int say(struct session *s, enum wire_type type, const void *tail)
{
	struct wire_msg msg;

	fill(&msg, type, tail);
	return session_send(s, &msg);
}

static int hear(struct session *s, enum wire_type type, struct wire_msg *msg)
{
	int ret = session_recv(s, msg, s->timeout_ms);

	if (ret)
		return ret;
	return msg->type == type ? 0 : -EPROTO;
}

/* Ours comes first: a server tells a stranger nothing that the key could be guessed by. */
static int give_proof(struct session *s, const struct key *key, struct auth *a)
{
	uint8_t proof[WIRE_PROOF_LEN];
	struct wire_msg msg;
	int ret;

	ret = make_nonce(a->client);
	if (!ret)
		ret = say(s, WIRE_NONCE, a->client);
	if (!ret)
		ret = hear(s, WIRE_NONCE, &msg);
	if (ret)
		return ret;
	memcpy(a->server, msg.tail, sizeof(a->server));
	ret = auth_proof(a, key, AUTH_CLIENT, proof);
	return ret ? ret : say(s, WIRE_PROOF, proof);
}

int auth_connect(struct session *s, const struct key *key)
{
	struct wire_msg msg;
	struct auth a;
	int ret;

	if (!(s->welcome.flags & WIRE_F_KEY))
		return -ENOKEY;
	take_hellos(&a, s);
	ret = give_proof(s, key, &a);
	if (!ret)
		ret = hear(s, WIRE_PROOF, &msg);
	if (ret)
		return ret;
	if (msg.status)
		return -EKEYREJECTED;
	ret = check_proof(&a, key, AUTH_SERVER, msg.tail);
	if (!ret)
		ret = make_mac_key(s, &a, key);
	return ret == -EKEYREJECTED ? -ENOKEY : ret;
}

/**
 * struct door - the little that a client has before it is let in
 * @s: its connection
 * @mem: two messages to receive, then two to send
 * @recv: of the former
 * @send: of the latter
 * @received: of them, so far
 * @sent: the same
 * @until: when it is too late
 */
struct door {
	struct session *s;
	struct kverbs_buf *mem;
	struct kverbs_req recv[2];
	struct kverbs_req send[2];
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
	return kverbs_recv(d->s->conn, d->mem, d->received * SLOT, SLOT,
			   &d->recv[d->received]);
}

static int open_door(struct door *d, struct session *s, int timeout_ms)
{
	int ret;

	memset(d, 0, sizeof(*d));
	d->s = s;
	d->until = units_now() + timeout_ms / 1e3;
	ret = kverbs_buf_alloc(s->kv, 4 * SLOT, &d->mem);
	return ret ? ret : post_recv(d);
}

static int door_hear(struct door *d, enum wire_type type, uint8_t *tail)
{
	struct kverbs_req *req = &d->recv[d->received];
	const char *at = (char *)kverbs_buf_addr(d->mem) + d->received * SLOT;
	struct wire_msg msg;
	int ret;

	ret = session_wait(d->s, req, left_ms(d));
	if (ret)
		return ret;
	d->received++;
	ret = wire_decode(&msg, at, req->byte_len);
	if (ret)
		return ret;
	if (msg.type != type || msg.status)
		return -EPROTO;
	memcpy(tail, msg.tail, WIRE_PROOF_LEN);
	return 0;
}

static int door_say(struct door *d, const struct wire_msg *msg)
{
	size_t at = (2 + d->sent) * SLOT;
	int len, ret;

	len = wire_encode(msg, (char *)kverbs_buf_addr(d->mem) + at, SLOT);
	ret = kverbs_send(d->s->conn, d->mem, at, len, &d->send[d->sent]);
	if (ret)
		return ret == -ENOTCONN ? session_end_error(d->s) : ret;
	return session_wait(d->s, &d->send[d->sent++], left_ms(d));
}

static int challenge(struct door *d, struct auth *a)
{
	struct wire_msg msg;
	int ret;

	ret = door_hear(d, WIRE_NONCE, a->client);
	if (!ret)
		ret = make_nonce(a->server);
	if (!ret)
		ret = post_recv(d);
	if (ret)
		return ret;
	fill(&msg, WIRE_NONCE, a->server);
	return door_say(d, &msg);
}

static int turn_away(struct door *d)
{
	struct wire_msg msg = {
		.type = WIRE_PROOF,
		.status = wire_status(-EACCES),
		.window = WIRE_NO_WINDOW,
	};

	door_say(d, &msg);
	return -EKEYREJECTED;
}

/* Allocate the session before the client is allowed to proceed. */
static int let_in(struct door *d, const struct key *key, const struct auth *a)
{
	uint8_t proof[WIRE_PROOF_LEN];
	struct wire_msg msg;
	int ret;

	ret = auth_proof(a, key, AUTH_SERVER, proof);
	if (!ret)
		ret = make_mac_key(d->s, a, key);
	if (!ret)
		ret = session_open(d->s);
	if (ret)
		return ret;
	fill(&msg, WIRE_PROOF, proof);
	return door_say(d, &msg);
}

static int talk(struct door *d, const struct key *key)
{
	uint8_t proof[WIRE_PROOF_LEN];
	struct auth a;
	int ret;

	take_hellos(&a, d->s);
	ret = challenge(d, &a);
	if (!ret)
		ret = door_hear(d, WIRE_PROOF, proof);
	if (!ret)
		ret = check_proof(&a, key, AUTH_CLIENT, proof);
	if (ret == -EKEYREJECTED)
		return turn_away(d);
	return ret ? ret : let_in(d, key, &a);
}

int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct key *key)
{
	struct door d;
	int ret;

	ret = open_door(&d, s, min(timeout_ms, auth_ms));
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
