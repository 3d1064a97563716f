/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Digests: XXH64 (seed 0) of each block of WIRE_BLOCK bytes, and XXH64 over
 * those digests, big-endian, in the order of the file. So the digest of a file
 * can be had piece by piece. It finds errors. A part file of an earlier run may be another
 * client's, and any XXH64 can be forged, so beginnings of files are compared by SHA-256.
 *
 * If both ends have proved to have a key, SipHash-2-4 with a key of this connection is in place
 * of XXH64, and the digest of a file also covers all of the message FILE. Other messages of the
 * source have a digest of their own. Then an attacker on the path cannot change them unnoticed.
 */
#ifndef KVERBS_TOOL_HASH_H
#define KVERBS_TOOL_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define XXH_STATIC_LINKING_ONLY	/* for the size of its state */
#include <xxhash.h>

#include "peer/wire.h"

#define HASH_NAME "xxh64-1MiB-tree"
#define HASH_KEYED_NAME "siphash-1MiB-chain"

/**
 * struct hash - the digest of a file so far
 * @state: over the digests of its blocks
 * @size: bytes
 * @key: of SipHash for blocks, and then for all else, or NULL
 * @chain: with a key, in place of @state
 * @zeros: digest of a block of zeros, once @knows_zeros is set
 * @knows_zeros: see @zeros
 */
struct hash {
	XXH64_state_t state;
	uint64_t size;
	const uint8_t *key;
	uint64_t chain;
	uint64_t zeros;
	bool knows_zeros;
};

void hash_init(struct hash *hash);
/* The digest of what FILE is to bring. @key: NULL without one */
int hash_begin(struct hash *hash, const uint8_t *key, const struct wire_msg *file);
/* The digest in DONE: without the key it cannot be made from that of the file. @flags: of DONE */
int hash_confirm(const uint8_t *key, uint64_t digest, uint32_t flags, uint64_t *confirm);
/* The digest of a message itself, 0 without a key */
int hash_message(const uint8_t *key, const struct wire_msg *msg, uint64_t *value);
/* The digest of what is no message, 0 if it is empty */
int hash_bytes(const uint8_t *key, const void *data, size_t len, uint64_t *value);
int hash_add(struct hash *hash, const void *data, size_t len, uint64_t *piece);
/* The same for @len bytes that are zeros */
int hash_add_zeros(struct hash *hash, uint64_t len, uint64_t *piece);
int hash_value(const struct hash *hash, uint64_t *value);
/* SHA-256 of all of a file */
int hash_whole(int fd, uint8_t sha[WIRE_SHA_LEN], int (*beat)(void *arg), void *arg);
int hash_prefix(struct hash *hash, int fd, uint64_t len, uint8_t sha[WIRE_SHA_LEN],
		int (*beat)(void *arg), void *arg);

#endif /* KVERBS_TOOL_HASH_H */
