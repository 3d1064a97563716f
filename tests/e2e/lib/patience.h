/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Timeouts that suit a slow machine. */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdint.h>
#include <stdlib.h>

#define MS_TO_NS(ms)	((uint64_t)(ms) * 1000000)

#define PATIENCE_MS	120000
#define KEEPALIVE_MS	10000
/* Tests wait for three keepalive intervals. */
#define KEEPALIVE_MAX_MS	30000

/* Slowdown compared with an idle machine; see scripts/guest/init. */
static inline int test_slowness(void)
{
	const char *slowness = getenv("KVERBS_SLOWNESS");
	int times = slowness ? atoi(slowness) : 0;

	return times < 1 ? 1 : times;
}

/*
 * Timeout for events that must happen: a longer wait means a hang. No test may measure time with it
 * or wait until it expires.
 */
static inline int test_patience_ms(void)
{
	return PATIENCE_MS * test_slowness();
}

/* A keepalive interval within which a live peer certainly answers. */
static inline int test_keepalive_ms(void)
{
	int ms = KEEPALIVE_MS * test_slowness();

	return ms < KEEPALIVE_MAX_MS ? ms : KEEPALIVE_MAX_MS;
}

#endif /* PATIENCE_H */
