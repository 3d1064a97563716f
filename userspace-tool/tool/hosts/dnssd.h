/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Servers that are announced on the networks of this host. */
#ifndef KVERBS_TOOL_DNSSD_H
#define KVERBS_TOOL_DNSSD_H

#include <stdbool.h>

struct hosts;

/*
 * Ask avahi-daemon, which asks the networks, and wait for answers up to @timeout_ms. With
 * @cached take only what avahi-daemon knows already.
 */
void dnssd_look(struct hosts *hosts, bool cached, int timeout_ms);

#endif /* KVERBS_TOOL_DNSSD_H */
