/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients of a guarded `kverbs serve`, see Documentation/reference/protocol.rst. */
#ifndef GUARD_PEER_H
#define GUARD_PEER_H

#include "serve.h"
#include "dev.h"

#define HELLO		24
#define HEAD		104
#define SLOT		4352
#define SLOTS		16

#define KEY_FILE	"/tmp/guard.key"
#define OTHER_FILE	"/tmp/guard.other"
/* The key of KEY_FILE by a name that the server does not know */
#define NAMED_FILE	"/tmp/guard.named"

#define ECHO		1
#define BIND		2
/* Types of records of TLS */
#define ALERT		21
#define HANDSHAKE	22
#define ENCRYPTED	23
#define FILES		2
/* The largest SEND of a handshake */
#define FLIGHT		1024
#define WITH_KEY	4

extern unsigned char peer_memory[SLOTS * SLOT];
extern struct ring peer_ring;

/* Start a server with @options, up to NULL; a friendly client calls it @host. */
void peer_set_up(const char *host, const char *const *options);
/* The same with a server that requires the key. */
void peer_set_up_keyed(void);

void peer_put(unsigned char *to, uint64_t value, unsigned int size);
uint64_t peer_get(const unsigned char *from, unsigned int size);
/* Write a valid hello. */
void peer_hello(unsigned char hello[HELLO], unsigned int service, unsigned int flags);
uint32_t peer_call(const unsigned char hello[HELLO]);
/* Connect with @hello; receives are posted in slots 0 and 1. */
uint32_t peer_enter(const unsigned char hello[HELLO]);
/* Reason of a refusal; check that the connection is refused for this reason. */
unsigned int peer_refusal(uint32_t conn);
void peer_expect_refused(uint32_t conn, unsigned int why);
void peer_listen(uint32_t conn, unsigned int slot);
/* Wait for a message into @slot; returns its length. */
uint32_t peer_hear(unsigned int slot);
/* Send from @slot; the server may have ended the connection already. */
void peer_say(uint32_t conn, unsigned int slot, uint32_t length);
void peer_expect_thrown_out(uint32_t conn);
void peer_leave(uint32_t conn);

#endif /* GUARD_PEER_H */
