// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/host.h"
#include "doctor/rdma.h"

#define SYS "/sys/class/infiniband"

static void add_netdev(struct rdma_port *port, const char *name)
{
	unsigned int i;

	for (i = 0; i < port->nr; i++)
		if (!strcmp(port->netdev[i], name))
			return;
	if (*name && port->nr < RDMA_NETDEVS)
		snprintf(port->netdev[port->nr++], sizeof(port->netdev[0]), "%s", name);
}

/* 16 bytes of "fe80:0000:..."; whether they are not all 0. */
static bool parse_gid(const char *text, uint8_t gid[16])
{
	unsigned int i, v[8], any = 0;

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) != 8)
		return false;
	for (i = 0; i < 8; i++) {
		gid[2 * i] = v[i] >> 8;
		gid[2 * i + 1] = v[i];
		any |= v[i];
	}
	return any;
}

/* An iWARP GID begins with the MAC; an IPoIB address ends with the port's GID. */
static bool has_gid(const struct rdma_port *port, const struct net_dev *dev,
		    const uint8_t gid[16])
{
	if (port->transport == KVERBS_TRANSPORT_IWARP)
		return dev->mac_len == 6 && !memcmp(dev->mac, gid, 6);
	if (port->transport == KVERBS_TRANSPORT_IB)
		return dev->mac_len == 20 && !memcmp(dev->mac + 4, gid, 16);
	return false;
}

static void read_gid(struct rdma_port *port, const struct net *net, const char *root,
		     const char *slot)
{
	char text[64], dir[128];
	uint8_t gid[16];
	unsigned int i;

	snprintf(dir, sizeof(dir), SYS "/%s/ports/%u", port->device, port->port);
	if (doctor_read(root, text, sizeof(text), "%s/gids/%s", dir, slot) ||
	    !parse_gid(text, gid))
		return;
	for (i = 0; i < net->nr; i++)
		if (has_gid(port, &net->dev[i], gid))
			add_netdev(port, net->dev[i].name);
	if (!doctor_read(root, text, sizeof(text), "%s/gid_attrs/ndevs/%s", dir, slot))
		add_netdev(port, text);
	if (port->transport != KVERBS_TRANSPORT_ROCE ||
	    doctor_read(root, text, sizeof(text), "%s/gid_attrs/types/%s", dir, slot))
		return;
	port->v2 |= !strcmp(text, "RoCE v2");
	port->v1 |= !strcmp(text, "IB/RoCE v1");
}

/* "4: ACTIVE" is a number and a name. */
static void read_name(char *name, size_t room, const char *root, const char *dir,
		      const char *file)
{
	char text[64];
	const char *at;

	doctor_read(root, text, sizeof(text), "%s/%s", dir, file);
	at = strchr(text, ':');
	snprintf(name, room, "%s", at && at[1] ? at + 2 : "?");
}

static enum kverbs_transport transport_of(const char *root, const char *device,
					  const char *dir)
{
	char text[64];

	doctor_read(root, text, sizeof(text), SYS "/%s/node_type", device);
	if (strstr(text, "RNIC"))
		return KVERBS_TRANSPORT_IWARP;
	doctor_read(root, text, sizeof(text), "%s/link_layer", dir);
	return strcmp(text, "Ethernet") ? KVERBS_TRANSPORT_IB : KVERBS_TRANSPORT_ROCE;
}

static void read_port(struct rdma_port *port, const struct net *net, const char *root)
{
	const char *slot;
	char dir[128];
	DIR *gids;

	snprintf(dir, sizeof(dir), SYS "/%s/ports/%u", port->device, port->port);
	port->transport = transport_of(root, port->device, dir);
	port->software = !doctor_exists(root, SYS "/%s/device", port->device);
	read_name(port->state, sizeof(port->state), root, dir, "state");
	read_name(port->phys, sizeof(port->phys), root, dir, "phys_state");
	gids = doctor_opendir(root, "%s/gids", dir);
	while ((slot = doctor_next(gids)))
		read_gid(port, net, root, slot);
	if (gids)
		closedir(gids);
}

static int by_name(const void *a, const void *b)
{
	const struct rdma_port *one = a, *other = b;
	int order = strverscmp(one->device, other->device);

	return order ? order : (one->port > other->port) - (one->port < other->port);
}

static void read_device(struct rdma *rdma, const struct net *net, const char *root,
			const char *device)
{
	DIR *ports = doctor_opendir(root, SYS "/%s/ports", device);
	struct rdma_port *port;
	const char *nr;

	while ((nr = doctor_next(ports)) && rdma->nr < RDMA_PORTS) {
		if (!isdigit((unsigned char)*nr))
			continue;
		port = &rdma->port[rdma->nr++];
		snprintf(port->device, sizeof(port->device), "%s", device);
		port->port = strtoul(nr, NULL, 10);
		read_port(port, net, root);
	}
	if (ports)
		closedir(ports);
}

void rdma_look(struct rdma *rdma, const struct net *net, const char *root)
{
	DIR *devices = doctor_opendir(root, SYS);
	const char *device;

	memset(rdma, 0, sizeof(*rdma));
	while ((device = doctor_next(devices)))
		read_device(rdma, net, root, device);
	if (devices)
		closedir(devices);
	qsort(rdma->port, rdma->nr, sizeof(rdma->port[0]), by_name);
}

const struct rdma_port *rdma_on(const struct rdma *rdma, const char *netdev)
{
	unsigned int i, j;

	for (i = 0; i < rdma->nr; i++)
		for (j = 0; j < rdma->port[i].nr; j++)
			if (!strcmp(rdma->port[i].netdev[j], netdev))
				return &rdma->port[i];
	return NULL;
}

void rdma_forget(struct rdma *rdma, const char *device)
{
	unsigned int i, nr = 0;

	for (i = 0; i < rdma->nr; i++)
		if (strcmp(rdma->port[i].device, device))
			rdma->port[nr++] = rdma->port[i];
	rdma->nr = nr;
}

bool rdma_is_active(const struct rdma_port *port)
{
	return !strcmp(port->state, "ACTIVE");
}

void rdma_learn(struct rdma *rdma, const char *device, const struct kverbs_port *from)
{
	struct rdma_port *port;

	for (port = rdma->port; port < rdma->port + rdma->nr; port++) {
		if (strcmp(port->device, device) || port->port != from->port)
			continue;
		port->mtu = from->active_mtu;
		add_netdev(port, from->ifname);
	}
}
