/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One end of TLS 1.3 with a key that both ends have (external PSK), and with a Diffie-Hellman
 * exchange. The caller carries the bytes: those of one SEND at a time, which are whole records.
 * Nothing here waits. Documentation/reference/protocol.rst describes the use of TLS.
 */
#ifndef KVERBS_TOOL_TLS_H
#define KVERBS_TOOL_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "peer/keyring.h"

/* A key of AES-GCM is replaced after this many records; RFC 8446 permits 2^24.5. */
#define TLS_REKEY_RECORDS	(1u << 22)

struct ssl_st;
struct bio_st;

/**
 * struct tls - one end
 * @ssl: the state of OpenSSL, which owns @in and @out
 * @in: bytes of the peer that are not read yet
 * @out: bytes for the peer
 * @ring: keys of a server, or NULL
 * @key: the client's key; of a server the one that the client names, or NULL
 * @name: identity of a client's key
 * @records: records that this end has encrypted with its current key
 * @rekey: this end changes its key after this many records
 */
struct tls {
	struct ssl_st *ssl;
	struct bio_st *in;
	struct bio_st *out;
	const struct keyring *ring;
	const struct key *key;
	char name[WIRE_KEY_NAME_MAX + 1];
	uint64_t records;
	uint64_t rekey;
};

/* The keys must stay until the handshake is complete. */
int tls_client(struct tls **tls, const struct key *key);
int tls_server(struct tls **tls, const struct keyring *ring);
/* NULL is fine. */
void tls_free(struct tls *t);

/* Take a SEND of the peer over; tls_handshake() or tls_read() it. -EBADMSG: no whole records */
int tls_feed(struct tls *t, const void *bytes, size_t len);
/*
 * Go on with the handshake; after an error, too, there may be bytes for the peer. 0: complete;
 * -EAGAIN: the peer is next; -EKEYREJECTED: the peer has another key, or does not take this one;
 * -ENOKEY: the server does not have the client's key; -EPROTO: the client has none.
 */
int tls_handshake(struct tls *t);
/* Returns the number of bytes for the peer, or -EMSGSIZE if they exceed @room. */
int tls_flush(struct tls *t, void *bytes, size_t room);
/* Returns the length of what the fed records contain: all of it, or -EBADMSG. */
int tls_read(struct tls *t, void *msg, size_t room);

/*
 * After the handshake: encrypt a message, or decrypt the only message of a SEND. Returns the length
 * of the result. What tls_flush() would return precedes the records. -EBADMSG: these are not the
 * next records of the peer, or are no whole ones.
 */
int tls_seal(struct tls *t, const void *msg, size_t len, void *bytes, size_t room);
int tls_open(struct tls *t, const void *bytes, size_t len, void *msg, size_t room);

/* Secret of both ends for a purpose, and for what both know (@context). */
int tls_export(struct tls *t, const char *label, const void *context, size_t context_len,
	       void *secret, size_t len);

#endif /* KVERBS_TOOL_TLS_H */
