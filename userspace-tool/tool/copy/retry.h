/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When to connect again after a connection was lost. */
#ifndef KVERBS_TOOL_RETRY_H
#define KVERBS_TOOL_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct retry - attempts to connect again
 * @max: how many there may be in a row, of which none copies anything, besides @paths
 * @paths: paths to the server, each of which is tried once before the first delay; 0: only one
 * @nr: how many there were
 * @moved: bytes and files that had been copied when the last one began
 */
struct retry {
	uint64_t max;
	unsigned int paths;
	unsigned int nr;
	uint64_t moved;
};

/* How many attempts there may be in a row */
static inline uint64_t retry_max(const struct retry *r)
{
	return r->max + r->paths;
}

/* Whether another attempt comes at once, over another path, if the one that has begun fails */
static inline bool retry_has_path(const struct retry *r)
{
	return r->nr < r->paths;
}

/* Whether an error of a copy means that the connection was lost */
bool retry_is_lost(int err);
/*
 * Whether an error of connecting may pass. @refusal: of the server, enum wire_refusal, or 0
 */
bool retry_may_pass(int err, unsigned int refusal);
/*
 * Begin another attempt, after so many bytes and files. Returns how many seconds to wait before, or
 * a negative number if there were too many.
 */
int retry_begin(struct retry *r, uint64_t moved);

#endif /* KVERBS_TOOL_RETRY_H */
