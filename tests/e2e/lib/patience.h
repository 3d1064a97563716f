/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How long to wait on a machine that may be slow. */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdlib.h>

#define PATIENCE_MS	120000
#define KEEPALIVE_MS	10000
/* Tests wait for three of them. */
#define KEEPALIVE_MAX_MS	30000

/* How many times longer than on an idle machine things take; see scripts/guest/init. */
static inline int test_slowness(void)
{
	const char *slowness = getenv("KVERBS_SLOWNESS");
	int times = slowness ? atoi(slowness) : 0;

	return times < 1 ? 1 : times;
}

/*
 * For all that must happen: what takes longer hangs. No test is to measure time by it, nor
 * to wait for it to be over.
 */
static inline int test_patience_ms(void)
{
	return PATIENCE_MS * test_slowness();
}

/* So long that a peer which is alive has answered. */
static inline int test_keepalive_ms(void)
{
	int ms = KEEPALIVE_MS * test_slowness();

	return ms < KEEPALIVE_MAX_MS ? ms : KEEPALIVE_MAX_MS;
}

#endif /* PATIENCE_H */
