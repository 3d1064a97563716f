// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One end of TLS, and a peer whose bytes are changed on the way: without the key no handshake
 * completes; what is read is what the peer has sent, in its order; what the end says fits the
 * protocol's room, and OpenSSL's queue of errors stays empty.
 */
#include <errno.h>
#include <stdbool.h>

#include <openssl/err.h>

#include "fuzz.h"
#include "peer/tls.h"

#define ROOM		(2 * WIRE_HANDSHAKE_MAX)
#define STEPS_MAX	32

/* Bits of the first byte of the input */
#define IS_SERVER	(1u << 0)
#define HAS_KEY		(1u << 1)

/* Changes of a flight or a message; a byte of the input chooses each */
enum change { CARRY, FLIP, CUT, TWICE, LOSE, ANYTHING, CHANGES };

static struct key key = { .name = "name", .len = 21, .bytes = "nobody can guess this" };
static struct key decoy = { .len = 20, .bytes = "nor will be this one" };
static struct key other = { .name = "name", .len = 20, .bytes = "the peer has another" };
static const struct keyring ring = { .users = 1, .nr = 1, .keys = &key, .decoy = &decoy };
static const struct keyring others = { .users = 1, .nr = 1, .keys = &other, .decoy = &decoy };

/**
 * struct ends - both ends
 * @in: changes on the way
 * @tested: the end under test
 * @peer: the other one
 * @has_key: the peer has the key, too
 * @odd: bytes for the end under test have been changed
 * @complete: the handshake of the end under test is
 * @ready: that of its peer is
 * @nr: messages of the peer so far
 */
struct ends {
	struct fuzz_input in;
	struct tls *tested;
	struct tls *peer;
	bool has_key;
	bool odd;
	bool complete;
	bool ready;
	uint8_t nr;
};

static int alter(struct ends *e, enum change how, uint8_t *bytes, int len)
{
	const void *any;

	switch (how) {
	case FLIP:
		if (len)
			bytes[fuzz_take(&e->in, 2) % len] ^= fuzz_take(&e->in, 1) | 1;
		break;
	case CUT:
		if (len)
			len = fuzz_take(&e->in, 2) % len;
		break;
	case TWICE:
		memcpy(bytes + len, bytes, len);
		len *= 2;
		break;
	case LOSE:
		len = 0;
		break;
	case ANYTHING:
		len = fuzz_bytes(&e->in, fuzz_take(&e->in, 2) % ROOM, &any);
		if (len)
			memcpy(bytes, any, len);
		break;
	default:
		return len;
	}
	e->odd = true;
	return len;
}

static int step(struct tls *t)
{
	int ret = tls_handshake(t);

	assert(!ERR_peek_error());
	assert(!ret || ret == -EAGAIN || ret == -EKEYREJECTED || ret == -ENOKEY || ret == -EPROTO);
	return ret;
}

/* The flight of the end under test is not changed. */
static void answer(struct ends *e)
{
	uint8_t bytes[ROOM];
	int len = tls_flush(e->tested, bytes, WIRE_HANDSHAKE_MAX);

	assert(len >= 0);
	if (len)
		assert(!tls_feed(e->peer, bytes, len));
}

/* A flight of the peer; returns whether the end under test is still there. */
static bool shake(struct ends *e, enum change how)
{
	uint8_t bytes[2 * ROOM];
	int len, ret;

	e->ready = !step(e->peer);
	len = tls_flush(e->peer, bytes, ROOM);
	assert(len >= 0);
	len = alter(e, how, bytes, len);
	ret = tls_feed(e->tested, bytes, len);
	assert(!ret || (ret == -EBADMSG && e->odd));
	if (ret)
		return false;
	ret = step(e->tested);
	answer(e);
	assert(ret || e->has_key);
	e->complete = !ret;
	return !ret || ret == -EAGAIN;
}

static bool talk(struct ends *e, enum change how)
{
	uint8_t bytes[2 * ROOM], text[32], back[32];
	bool odd = e->odd;
	int len, ret;

	memset(text, ++e->nr, sizeof(text));
	len = tls_seal(e->peer, text, sizeof(text), bytes, ROOM);
	assert(len > 0);
	len = alter(e, how, bytes, len);
	ret = tls_open(e->tested, bytes, len, back, sizeof(back));
	assert(!ERR_peek_error());
	assert(ret == -EBADMSG || ret == sizeof(back));
	if (!odd && how == CARRY)
		assert(ret == sizeof(back));
	if (ret > 0)
		assert(!memcmp(text, back, sizeof(text)));
	/* The protocol ends the connection, but order matters beyond. */
	return true;
}

static bool proceed(struct ends *e)
{
	enum change how = fuzz_take(&e->in, 1) % CHANGES;

	if (!e->complete)
		return shake(e, how);
	e->ready = e->ready || !step(e->peer);
	return e->ready && talk(e, how);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ends e = { .in = { data, size } };
	unsigned int how = fuzz_take(&e.in, 1), i;

	e.has_key = how & HAS_KEY;
	if (how & IS_SERVER) {
		assert(!tls_server(&e.tested, &ring));
		assert(!tls_client(&e.peer, e.has_key ? &key : &other));
	} else {
		assert(!tls_client(&e.tested, &key));
		assert(!tls_server(&e.peer, e.has_key ? &ring : &others));
		assert(step(e.tested) == -EAGAIN);
		answer(&e);
	}
	for (i = 0; i < STEPS_MAX && e.in.left && proceed(&e); i++)
		;
	tls_free(e.tested);
	tls_free(e.peer);
	return 0;
}
