/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Announcement of a server by DNS-SD, for kverbs hosts. */
#ifndef KVERBS_TOOL_ANNOUNCE_H
#define KVERBS_TOOL_ANNOUNCE_H

#include <stdbool.h>

struct announce;
struct kverbs;
struct log;

/**
 * struct announce_what - what is announced
 * @kv: whose devices are announced, on all network interfaces that have one
 * @bind: the local address that the server listens on, as text, NULL: all
 * @port: the server's
 * @services: bits of enum wire_service
 * @key: the server wants a key
 * @log: where later problems are reported
 */
struct announce_what {
	struct kverbs *kv;
	const char *bind;
	unsigned int port;
	unsigned int services;
	bool key;
	struct log *log;
};

/*
 * Announce until announce_stop(). The announcement lasts over a restart of avahi-daemon, and
 * begins when the daemon starts. Returns an exit status, having said why it is not EXIT_OK.
 */
int announce_start(struct announce **announce, const struct announce_what *what);
void announce_stop(struct announce *announce);

#endif /* KVERBS_TOOL_ANNOUNCE_H */
