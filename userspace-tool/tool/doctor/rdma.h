/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ports of this host's RDMA devices, as sysfs has them: without our module too. */
#ifndef KVERBS_TOOL_DOCTOR_RDMA_H
#define KVERBS_TOOL_DOCTOR_RDMA_H

#include <stdbool.h>

#include <linux/kverbs.h>

#include "doctor/net.h"

#define RDMA_PORTS 64
#define RDMA_NETDEVS 16

/**
 * struct rdma_port - a port
 * @device: the device's name
 * @port: its number, from 1
 * @transport: enum kverbs_transport
 * @software: no hardware is behind it
 * @state: such as ACTIVE
 * @phys: such as LinkUp
 * @mtu: RDMA MTU in force, 0: not known
 * @v1: has a GID for RoCE v1
 * @v2: has one for RoCE v2
 * @netdev: interfaces whose addresses are on it
 * @nr: how many
 */
struct rdma_port {
	char device[64];
	unsigned int port;
	enum kverbs_transport transport;
	bool software;
	char state[16];
	char phys[24];
	unsigned int mtu;
	bool v1;
	bool v2;
	char netdev[RDMA_NETDEVS][16];
	unsigned int nr;
};

/**
 * struct rdma - all of them
 * @port: by device
 * @nr: how many
 */
struct rdma {
	struct rdma_port port[RDMA_PORTS];
	unsigned int nr;
};

void rdma_look(struct rdma *rdma, const struct net *net, const char *root);
/* The port that an interface's addresses are on, or NULL. */
const struct rdma_port *rdma_on(const struct rdma *rdma, const char *netdev);
bool rdma_is_active(const struct rdma_port *port);
/* Add what only the module knows: MTUs, and interfaces that sysfs does not name. */
void rdma_learn(struct rdma *rdma, const char *device, const struct kverbs_port *port);
/* Remove the ports of a device. */
void rdma_forget(struct rdma *rdma, const char *device);

#endif /* KVERBS_TOOL_DOCTOR_RDMA_H */
