/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Digests: XXH64 (seed 0) of each block of WIRE_BLOCK bytes, and XXH64 over
 * those digests, big-endian, in the order of the file. So the digest of a file
 * can be had piece by piece. It finds errors. What an earlier run left may be of a stranger,
 * who can make any XXH64, so beginnings of files are compared by SHA-256.
 */
#ifndef KVERBS_TOOL_HASH_H
#define KVERBS_TOOL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define XXH_STATIC_LINKING_ONLY	/* for the size of its state */
#include <xxhash.h>

#include "peer/wire.h"

#define HASH_NAME "xxh64-1MiB-tree"

/**
 * struct hash - the digest of a file so far
 * @state: over the digests of its blocks
 * @size: bytes
 */
struct hash {
	XXH64_state_t state;
	uint64_t size;
};

void hash_init(struct hash *hash);
int hash_add(struct hash *hash, const void *data, size_t len, uint64_t *piece);
uint64_t hash_value(const struct hash *hash);
int hash_prefix(struct hash *hash, int fd, uint64_t len, uint8_t sha[WIRE_SHA_LEN],
		int (*beat)(void *arg), void *arg);

#endif /* KVERBS_TOOL_HASH_H */
