/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Hosts of the InfiniBand subnets that this host has a port in. */
#ifndef KVERBS_TOOL_FABRIC_H
#define KVERBS_TOOL_FABRIC_H

#include <stdbool.h>

struct hosts;

/*
 * Discover each subnet by the subnet management agents of its nodes, for which the caller needs
 * access to /dev/infiniband/umad*. With @cached read what was found last instead.
 */
void fabric_look(struct hosts *hosts, bool cached);

#endif /* KVERBS_TOOL_FABRIC_H */
