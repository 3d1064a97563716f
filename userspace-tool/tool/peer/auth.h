/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Mutual authentication with a shared key that is not sent: HMAC-SHA-256 over a nonce and
 * the role of each end, the parameters that both agreed on, and the server's address, so that
 * another host that a client connects to cannot pass its proof on. The messages are described in
 * Documentation/reference/protocol.rst.
 */
#ifndef KVERBS_TOOL_AUTH_H
#define KVERBS_TOOL_AUTH_H

#include "peer/keyring.h"
#include "peer/session.h"

/* Default of how long all of it may take: a few round trips, with packets lost */
#define AUTH_MS 3000

enum auth_role {
	AUTH_CLIENT,
	AUTH_SERVER,
	AUTH_DIGESTS,	/* no proof, but a key for digests */
	AUTH_TO_SERVER,	/* the same for messages of the client */
	AUTH_TO_CLIENT,	/* the same for messages of the server */
};

/**
 * struct auth - what a proof is of
 * @hello: what the client asked for, as bytes
 * @welcome: what the server said, as bytes
 * @client: what the client made up
 * @server: what the server made up
 * @address: the server's, IPv4 mapped to IPv6
 * @port: the server's
 * @zero: 0
 * @flags: in the server's proof what the key permits, else 0
 * @name: of the key, and zeros
 */
struct auth {
	uint8_t hello[WIRE_HELLO_LEN];
	uint8_t welcome[WIRE_HELLO_LEN];
	uint8_t client[WIRE_NONCE_LEN];
	uint8_t server[WIRE_NONCE_LEN];
	uint8_t address[16];
	uint8_t port[2];
	uint8_t zero[2];
	uint8_t flags[4];
	uint8_t name[WIRE_KEY_NAME_MAX];
};

int auth_proof(const struct auth *a, const struct key *key, enum auth_role role,
	       uint8_t proof[WIRE_PROOF_LEN]);

/* Fill in the address of a server. */
void auth_address(struct auth *a, const struct kverbs_addr *server);

/*
 * After both have proved: messages are sealed from now on, with keys that no other connection has.
 * @is_server: this side is the server
 */
int auth_seal(struct session *s, const struct auth *a, const struct key *key, bool is_server);

/* Make a hello that of a client who has a key. */
void auth_hello(struct wire_hello *hello);
/*
 * After session_connect(). -ENOKEY: the server does not prove that it has the key;
 * -EKEYREJECTED: it does not take our proof; -EOPNOTSUPP: the key does not permit the service.
 * s->welcome.flags becomes what the key permits.
 */
int auth_connect(struct session *s, const struct key *key);
/*
 * In place of session_accept(): what the client asked for is only taken for it when
 * it has proved that it has a key of @ring, within @auth_ms. -EKEYREJECTED: it has another one;
 * -EOPNOTSUPP: its key does not permit the service. @key: the key that it has proved, or NULL.
 */
int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct keyring *ring, const struct key **key);

#endif /* KVERBS_TOOL_AUTH_H */
