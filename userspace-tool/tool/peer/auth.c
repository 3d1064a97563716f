// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "cli/units.h"
#include "cli/util.h"
#include "lib/byteorder.h"
#include "peer/auth.h"
#include "peer/service.h"

#define MSG_LEN		((uint32_t)(WIRE_HEAD_LEN + WIRE_NONCE_LEN + WIRE_KEY_NAME_MAX))
#define SLOT		192
#define ROLE_LEN	16

int auth_proof(const struct auth *a, const struct key *key, enum auth_role role,
	       uint8_t proof[WIRE_PROOF_LEN])
{
	static const char names[][ROLE_LEN] = {
		[AUTH_CLIENT] = "kverbs client 2",
		[AUTH_SERVER] = "kverbs server 2",
		[AUTH_DIGESTS] = "kverbs digests3",
		[AUTH_TO_SERVER] = "kverbs toserver",
		[AUTH_TO_CLIENT] = "kverbs toclient",
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

int auth_seal(struct session *s, const struct auth *a, const struct key *key, bool is_server)
{
	struct seal *to_server = is_server ? &s->seal_in : &s->seal_out;
	struct seal *to_client = is_server ? &s->seal_out : &s->seal_in;
	int ret;

	ret = auth_proof(a, key, AUTH_DIGESTS, s->mac_key);
	if (!ret)
		ret = auth_proof(a, key, AUTH_TO_SERVER, to_server->key);
	if (!ret)
		ret = auth_proof(a, key, AUTH_TO_CLIENT, to_client->key);
	s->keyed = !ret;
	return ret;
}

static int make_nonce(uint8_t nonce[WIRE_NONCE_LEN])
{
	return getrandom(nonce, WIRE_NONCE_LEN, 0) == WIRE_NONCE_LEN ? 0 : -EIO;
}

void auth_address(struct auth *a, const struct kverbs_addr *server)
{
	memset(a->address, 0, sizeof(a->address));
	if (server->family == AF_INET) {
		memset(a->address + 10, 0xff, 2);
		memcpy(a->address + 12, server->addr, 4);
	} else {
		memcpy(a->address, server->addr, sizeof(a->address));
	}
	memcpy(a->port, &server->port, sizeof(a->port));
}

static void begin(struct auth *a, const struct session *s, const struct kverbs_addr *server)
{
	memset(a, 0, sizeof(*a));
	wire_hello_encode(&s->hello, a->hello, sizeof(a->hello));
	wire_hello_encode(&s->welcome, a->welcome, sizeof(a->welcome));
	auth_address(a, server);
}

/* Only the server's proof has flags: the client learns them from it. */
static void set_flags(struct auth *a, uint32_t flags)
{
	put_be(a->flags, flags, sizeof(a->flags));
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

static int say_nonce(struct session *s, const struct auth *a, const struct key *key)
{
	struct wire_msg msg;

	fill(&msg, WIRE_NONCE, a->client);
	msg.extra = key->name;
	msg.extra_len = strlen(key->name);
	return session_send(s, &msg);
}

static int say_proof(struct session *s, const void *proof)
{
	struct wire_msg msg;

	fill(&msg, WIRE_PROOF, proof);
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

	memcpy(a->name, key->name, strlen(key->name));
	ret = make_nonce(a->client);
	if (!ret)
		ret = say_nonce(s, a, key);
	if (!ret)
		ret = hear(s, WIRE_NONCE, &msg);
	if (ret)
		return ret;
	memcpy(a->server, msg.tail, sizeof(a->server));
	ret = auth_proof(a, key, AUTH_CLIENT, proof);
	return ret ? ret : say_proof(s, proof);
}

int auth_connect(struct session *s, const struct key *key)
{
	struct wire_msg msg;
	struct auth a;
	int ret;

	if (!(s->welcome.flags & WIRE_F_KEY))
		return -ENOKEY;
	begin(&a, s, &s->addr);
	ret = give_proof(s, key, &a);
	if (!ret)
		ret = hear(s, WIRE_PROOF, &msg);
	if (ret)
		return ret;
	if (msg.status)
		return wire_errno(msg.status) == -EOPNOTSUPP ? -EOPNOTSUPP : -EKEYREJECTED;
	set_flags(&a, msg.flags);
	ret = check_proof(&a, key, AUTH_SERVER, msg.tail);
	if (!ret)
		ret = auth_seal(s, &a, key, false);
	if (!ret)
		s->welcome.flags = msg.flags;
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

/* @msg points into the door's memory, where nothing else is received. */
static int door_hear(struct door *d, enum wire_type type, struct wire_msg *msg)
{
	struct kverbs_req *req = &d->recv[d->received];
	const char *at = (char *)kverbs_buf_addr(d->mem) + d->received * SLOT;
	int ret;

	ret = session_wait(d->s, req, left_ms(d));
	if (ret)
		return ret;
	d->received++;
	ret = wire_decode(msg, at, req->byte_len);
	if (ret)
		return ret;
	return msg->type != type || msg->status ? -EPROTO : 0;
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

	ret = door_hear(d, WIRE_NONCE, &msg);
	if (ret)
		return ret;
	memcpy(a->client, msg.tail, sizeof(a->client));
	memcpy(a->name, msg.extra, msg.extra_len);
	ret = make_nonce(a->server);
	if (!ret)
		ret = post_recv(d);
	if (ret)
		return ret;
	fill(&msg, WIRE_NONCE, a->server);
	return door_say(d, &msg);
}

static int turn_away(struct door *d, int why, int ret)
{
	struct wire_msg msg = {
		.type = WIRE_PROOF,
		.status = wire_status(why),
		.window = WIRE_NO_WINDOW,
	};

	door_say(d, &msg);
	return ret;
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
static int let_in(struct door *d, const struct key *key, struct auth *a)
{
	uint32_t flags = permitted(&key->rights, d->s->welcome.flags);
	uint8_t proof[WIRE_PROOF_LEN];
	struct wire_msg msg;
	int ret;

	set_flags(a, flags);
	ret = auth_proof(a, key, AUTH_SERVER, proof);
	if (!ret)
		ret = auth_seal(d->s, a, key, true);
	if (!ret)
		ret = session_open(d->s);
	if (ret)
		return ret;
	fill(&msg, WIRE_PROOF, proof);
	msg.flags = flags;
	return door_say(d, &msg);
}

/* A client that names a key that there is not learns no more than one with a wrong proof. */
static const struct key *named(const struct keyring *ring, const struct auth *a)
{
	char name[WIRE_KEY_NAME_MAX + 1] = "";
	const struct key *key;

	memcpy(name, a->name, sizeof(a->name));
	key = keyring_find(ring, name);
	return key ? key : ring->decoy;
}

static int talk(struct door *d, const struct keyring *ring, const struct key **key)
{
	const struct key *k = NULL;
	struct wire_msg msg;
	struct auth a;
	int ret;

	begin(&a, d->s, &d->s->local);
	ret = challenge(d, &a);
	if (!ret)
		ret = door_hear(d, WIRE_PROOF, &msg);
	if (ret)
		return ret;
	k = named(ring, &a);
	ret = check_proof(&a, k, AUTH_CLIENT, msg.tail);
	if (ret == -EKEYREJECTED)
		return turn_away(d, -EACCES, ret);
	if (ret)
		return ret;
	*key = k;
	if (!service_included(k->rights.services, d->s->hello.what))
		return turn_away(d, -EOPNOTSUPP, -EOPNOTSUPP);
	return let_in(d, k, &a);
}

int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct keyring *ring, const struct key **key)
{
	struct door d;
	int ret;

	*key = NULL;
	ret = open_door(&d, s, min(timeout_ms, auth_ms));
	if (!ret)
		ret = session_answer(s, flags | WIRE_F_KEY, timeout_ms, left_ms(&d));
	if (!ret)
		ret = talk(&d, ring, key);
	/* Operations on d.mem must have ended before it is freed. */
	if (ret)
		session_stop(s);
	kverbs_buf_free(d.mem);
	return ret;
}
