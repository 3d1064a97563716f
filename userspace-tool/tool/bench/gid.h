/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connections are made from addresses; perftest's users think of indices of GIDs. */
#ifndef KVERBS_TOOL_GID_H
#define KVERBS_TOOL_GID_H

#include <net/if.h>
#include <netinet/in.h>

#include <kverbs.h>

/* Room for an address with the interface that it belongs to. */
#define GID_ADDR_LEN (INET6_ADDRSTRLEN + IF_NAMESIZE + 1)

/* The address that a GID stands for: 0, or -EOPNOTSUPP if no connection is made from it. */
int gid_addr(const struct kverbs_gid *gid, char addr[GID_ADDR_LEN]);

/*
 * The address of the only GID with that index among @nr devices: 0, -ENOENT, -ENOTUNIQ if
 * several ports have one, or what gid_addr() gives.
 */
int gid_find(const struct kverbs_device *list, int nr, uint64_t index,
	     char addr[GID_ADDR_LEN]);

#endif /* KVERBS_TOOL_GID_H */
