/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* So many a second, and some at once: what comes faster is held back. */
#ifndef KVERBS_TOOL_BUCKET_H
#define KVERBS_TOOL_BUCKET_H

#include <stdbool.h>

/**
 * struct bucket - what was taken lately
 * @used: how much of the burst is
 * @at: when that was, seconds
 */
struct bucket {
	double used;
	double at;
};

/* All zeros is a bucket of which nothing was taken. @rate: a second, 0: no bound. */
static inline bool bucket_take(struct bucket *b, double rate, double burst, double now)
{
	if (!rate)
		return true;
	if (now > b->at) {
		b->used -= (now - b->at) * rate;
		b->at = now;
	}
	if (b->used < 0)
		b->used = 0;
	if (b->used + 1 > burst)
		return false;
	b->used++;
	return true;
}

#endif /* KVERBS_TOOL_BUCKET_H */
