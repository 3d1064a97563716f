/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Handlers of server.c that client.c calls, and the bytes that they move */
#ifndef WORK_H
#define WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#define BULK_MAX (1u << 20)

/* Bytes that follow come back. */
#define ECHO "echo"
/* The memory that was lent is pulled, and its digest comes back. */
#define DIGEST "digest"
/* Bytes made of the seed are pushed into the memory that was lent. */
#define FILL "fill"

/* Data of a call begin with this. No other call has the same client and number. */
struct work {
	uint64_t client;
	uint64_t number;
	uint64_t seed;
};

/* A line of the files in which a server records the calls that it runs, a client the answers */
#define RECORD "%016llx %016llx\n"

static inline uint8_t work_byte(uint64_t seed, size_t i)
{
	return (uint8_t)((i + seed) * 37 + (i >> 8) * 11 + (seed >> 8));
}

static inline void work_fill(uint8_t *mem, size_t length, uint64_t seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		mem[i] = work_byte(seed, i);
}

/* FNV-1a */
static inline uint64_t work_digest(const uint8_t *mem, size_t length)
{
	uint64_t hash = 14695981039346656037ull;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ mem[i]) * 1099511628211ull;
	return hash;
}

static inline void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", what, fi_strerror(-ret));
	exit(EXIT_FAILURE);
}

#endif /* WORK_H */
