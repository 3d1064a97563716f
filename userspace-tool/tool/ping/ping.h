/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is common to the protocols that kverbs ping speaks. */
#ifndef KVERBS_TOOL_PING_H
#define KVERBS_TOOL_PING_H

#include <stdint.h>

#include "cli/rtt.h"
#include "peer/session.h"

/* Messages under way, at most. */
#define PING_DEPTH 8

/**
 * struct ping - a run
 * @to: whom
 * @count: how many, 0: until interrupted
 * @size: payload, bytes
 * @interval_ms: between two, 0: as soon as the last one is back
 * @timeout_ms: how long a reply may take
 * @quiet: no line per reply
 * @rping: with the protocol of rping
 * @s: the connection
 * @payload: what is sent
 * @sent: messages sent
 * @received: replies
 * @differed: those that did not bring back what was sent
 * @overdue: the last one that was said to be late
 * @at: when they were sent
 * @start: of the run
 * @rtt: statistics
 */
struct ping {
	struct session_to to;
	uint64_t count;
	uint64_t size;
	int interval_ms;
	int timeout_ms;
	bool quiet;
	bool rping;
	struct session s;
	uint8_t *payload;
	uint64_t sent;
	uint64_t received;
	uint64_t differed;
	uint64_t overdue;
	double at[PING_DEPTH];
	double start;
	struct rtt rtt;
};

/* The next reply is here, after so many seconds. */
void ping_take(struct ping *p, double rtt, int bad);

#endif /* KVERBS_TOOL_PING_H */
