/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Trailer of a message on an authenticated connection: its number and a message authentication
 * code, so that an attacker on the path can neither change nor add, repeat, reorder or reflect
 * messages unnoticed.
 */
#ifndef KVERBS_TOOL_SEAL_H
#define KVERBS_TOOL_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "peer/wire.h"

/**
 * struct seal - one direction of a connection
 * @key: of SipHash-2-4, in the first WIRE_SEAL_KEY_LEN bytes
 * @nr: messages so far
 */
struct seal {
	uint8_t key[WIRE_PROOF_LEN];
	uint64_t nr;
};

/* Write the trailer behind @len bytes. */
int seal_add(struct seal *seal, void *msg, size_t len);
/* -EBADMSG: of @len bytes, the last WIRE_SEAL_LEN are not the trailer of the next message. */
int seal_check(struct seal *seal, const void *msg, size_t len);

#endif /* KVERBS_TOOL_SEAL_H */
