/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Both ends of a TLS session, whose bytes a test carries. */
#ifndef TLS_PAIR_H
#define TLS_PAIR_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "peer/tls.h"

#define PAIR_ROOM	(2u << 20)

/**
 * struct pair - both ends
 * @client: one of them
 * @server: the other one
 * @bytes: what one has said last
 * @len: length of it
 */
struct pair {
	struct tls *client;
	struct tls *server;
	uint8_t *bytes;
	int len;
};

static inline void pair_open(struct pair *p, const struct key *key, const struct keyring *ring)
{
	memset(p, 0, sizeof(*p));
	p->bytes = malloc(PAIR_ROOM);
	assert_non_null(p->bytes);
	assert_int_equal(tls_client(&p->client, key), 0);
	assert_int_equal(tls_server(&p->server, ring), 0);
}

static inline void pair_close(struct pair *p)
{
	tls_free(p->client);
	tls_free(p->server);
	free(p->bytes);
}

static inline void pair_carry(struct pair *p, struct tls *from, struct tls *to)
{
	p->len = tls_flush(from, p->bytes, WIRE_HANDSHAKE_MAX);
	assert_true(p->len > 0);
	assert_int_equal(tls_feed(to, p->bytes, p->len), 0);
}

/* Carry the handshake until the server has it complete. */
static inline void pair_shake(struct pair *p)
{
	assert_int_equal(tls_handshake(p->client), -EAGAIN);
	pair_carry(p, p->client, p->server);
	assert_int_equal(tls_handshake(p->server), -EAGAIN);
	pair_carry(p, p->server, p->client);
	assert_int_equal(tls_handshake(p->client), 0);
	pair_carry(p, p->client, p->server);
	assert_int_equal(tls_handshake(p->server), 0);
}

#endif /* TLS_PAIR_H */
