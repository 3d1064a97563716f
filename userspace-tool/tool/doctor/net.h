/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The network interfaces of this host, their addresses, and the way to a peer. */
#ifndef KVERBS_TOOL_DOCTOR_NET_H
#define KVERBS_TOOL_DOCTOR_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_DEVS 64
#define NET_ADDRS 8
#define NET_ADDR_LEN 48

/**
 * struct net_dev - an interface
 * @name: its name
 * @mtu: bytes
 * @up: it was switched on
 * @running: and it has a carrier
 * @loopback: it is lo
 * @mac: hardware address, of an IPoIB interface 20 bytes
 * @mac_len: its length
 * @addr: addresses as text
 * @prefix: their lengths
 * @nr: how many
 */
struct net_dev {
	char name[16];
	unsigned int mtu;
	bool up;
	bool running;
	bool loopback;
	uint8_t mac[20];
	unsigned int mac_len;
	char addr[NET_ADDRS][NET_ADDR_LEN];
	unsigned int prefix[NET_ADDRS];
	unsigned int nr;
};

/**
 * struct net - all of them
 * @dev: by index
 * @nr: how many
 * @err: 0, or why nothing is known
 */
struct net {
	struct net_dev dev[NET_DEVS];
	unsigned int nr;
	int err;
};

/**
 * struct net_route - the way to a peer
 * @dev: the interface that it leaves by; to this host itself the one that has the address
 * @source: the address it leaves from
 * @via: the gateway, or empty
 * @local: to this host itself
 */
struct net_route {
	char dev[16];
	char source[NET_ADDR_LEN];
	char via[NET_ADDR_LEN];
	bool local;
};

void net_look(struct net *net);
const struct net_dev *net_find(const struct net *net, const char *name);
/* Whether any of its addresses can be connected to from elsewhere without a scope. */
bool net_is_global(const char *addr);
/* 0; -EHOSTUNREACH with the reason in @said; -ENOENT: there is no ip command. */
int net_route(const struct net *net, const char *to, const char *from,
	      struct net_route *route, char *said, size_t room);

#endif /* KVERBS_TOOL_DOCTOR_NET_H */
