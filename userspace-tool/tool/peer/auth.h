/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Mutual authentication with a shared key that is not sent: HMAC-SHA-256 over a nonce and
 * the role of each end, and the parameters that both agreed on. The messages are described in
 * Documentation/reference/protocol.rst.
 */
#ifndef KVERBS_TOOL_AUTH_H
#define KVERBS_TOOL_AUTH_H

#include "peer/key.h"
#include "peer/session.h"

/* Default of how long all of it may take: a few round trips, with packets lost */
#define AUTH_MS 3000

enum auth_role {
	AUTH_CLIENT,
	AUTH_SERVER,
	AUTH_DIGESTS,	/* no proof, but a key for digests */
};

/**
 * struct auth - what a proof is of
 * @hello: what the client asked for, as bytes
 * @welcome: what the server said, as bytes
 * @client: what the client made up
 * @server: what the server made up
 */
struct auth {
	uint8_t hello[WIRE_HELLO_LEN];
	uint8_t welcome[WIRE_HELLO_LEN];
	uint8_t client[WIRE_NONCE_LEN];
	uint8_t server[WIRE_NONCE_LEN];
};

int auth_proof(const struct auth *a, const struct key *key, enum auth_role role,
	       uint8_t proof[WIRE_PROOF_LEN]);

/* Make a hello that of a client who has a key. */
void auth_hello(struct wire_hello *hello);
/*
 * After session_connect(). -ENOKEY: the server does not prove that it has the key;
 * -EKEYREJECTED: it does not take our proof.
 */
int auth_connect(struct session *s, const struct key *key);
/*
 * In place of session_accept(): what the client asked for is only taken for it when
 * it has proved that it has the key, within @auth_ms. -EKEYREJECTED: it has another one.
 */
int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct key *key);

#endif /* KVERBS_TOOL_AUTH_H */
