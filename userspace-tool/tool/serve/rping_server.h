/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The server's side of rping. */
#ifndef KVERBS_TOOL_RPING_SERVER_H
#define KVERBS_TOOL_RPING_SERVER_H

#include "peer/session.h"

/**
 * struct rping_tally - what came of a client
 * @pings: texts that came
 * @differed: those that are not what rping sends
 */
struct rping_tally {
	uint64_t pings;
	uint64_t differed;
};

/* Serve an accepted client until it leaves; the connection is freed. -errno. */
int rping_serve(struct session *s, struct rping_tally *tally);

#endif /* KVERBS_TOOL_RPING_SERVER_H */
