/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The client's side of rping. */
#ifndef KVERBS_TOOL_RPING_CLIENT_H
#define KVERBS_TOOL_RPING_CLIENT_H

#include "ping/ping.h"

/* Ping until all is done, or it fails; the connection is freed. -errno. */
int rping_exchange(struct ping *p);

#endif /* KVERBS_TOOL_RPING_CLIENT_H */
