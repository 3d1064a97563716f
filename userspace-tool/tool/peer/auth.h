/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Mutual authentication with a shared key: a handshake of TLS, then a message of each side that
 * binds the handshake to this very connection, so that no other host can pass it on. The messages
 * are described in Documentation/reference/protocol.rst.
 */
#ifndef KVERBS_TOOL_AUTH_H
#define KVERBS_TOOL_AUTH_H

#include "peer/keyring.h"
#include "peer/session.h"

/* Default of how long all of it may take: a few round trips, with packets lost */
#define AUTH_MS 3000

/**
 * struct auth_end - address of one end of a connection, as both ends see it
 * @address: IPv4 mapped to IPv6; no scope, which differs between hosts
 * @port: in network order
 */
struct auth_end {
	uint8_t address[16];
	uint8_t port[2];
};

/**
 * struct auth - what both ends know of their connection
 * @hello: what the client asked for, as bytes
 * @welcome: what the server said, as bytes
 * @client: address of the client
 * @server: address of the server
 */
struct auth {
	uint8_t hello[WIRE_HELLO_LEN];
	uint8_t welcome[WIRE_HELLO_LEN];
	struct auth_end client;
	struct auth_end server;
};

void auth_end(struct auth_end *end, const struct kverbs_addr *addr);
/* @is_server: this side is the server */
void auth_of(struct auth *a, const struct session *s, bool is_server);
/* Proof that a side is the end of both this connection and the TLS session */
int auth_proof(struct tls *tls, const struct auth *a, bool is_server,
	       uint8_t proof[WIRE_BIND_LEN]);

/* Make a hello that of a client who has a key. */
void auth_hello(struct wire_hello *hello);
/*
 * After session_connect(). -ENOKEY: the server does not prove that it has the key;
 * -EKEYREJECTED: it does not take our proof; -EOPNOTSUPP: the key does not permit the service;
 * -EREMCHG: another host passes on what both say. s->welcome.flags becomes what the key permits.
 */
int auth_connect(struct session *s, const struct key *key);
/*
 * In place of session_accept(): what the client asked for is only taken for it when
 * it has proved that it has a key of @ring, within @auth_ms. -EKEYREJECTED: it has another one;
 * -EOPNOTSUPP: its key does not permit the service; -EREMCHG: as above. @key: the key that it has
 * proved, or NULL.
 */
int auth_accept(struct session *s, uint32_t flags, int timeout_ms, int auth_ms,
		const struct keyring *ring, const struct key **key);

#endif /* KVERBS_TOOL_AUTH_H */
