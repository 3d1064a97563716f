/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The server's side of rping. */
#ifndef KVERBS_TOOL_RPING_SERVER_H
#define KVERBS_TOOL_RPING_SERVER_H

#include "peer/session.h"

/* Serve an accepted client until it leaves; the connection is freed. -errno. */
int rping_serve(struct session *s);

#endif /* KVERBS_TOOL_RPING_SERVER_H */
