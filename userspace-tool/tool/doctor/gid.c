// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: the GID that connections from an address use on RoCE.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/host.h"

#define SYS "/sys/class/infiniband"

/**
 * struct gid_found - a slot of a port's table
 * @index: its number
 * @v2: its packets are of RoCE v2
 */
struct gid_found {
	unsigned int index;
	bool v2;
};

/* The GID of an address as sysfs shows it; IPv4 is mapped to IPv6. */
static bool format_gid(const char *addr, char *gid, size_t room)
{
	uint8_t raw[16] = { [10] = 0xff, [11] = 0xff };
	size_t at = 0;
	unsigned int i;

	if (inet_pton(AF_INET, addr, raw + 12) != 1 && inet_pton(AF_INET6, addr, raw) != 1)
		return false;
	for (i = 0; i < 16; i += 2)
		at += snprintf(gid + at, room - at, "%s%02x%02x", i ? ":" : "", raw[i],
			       raw[i + 1]);
	return true;
}

/* Another interface may have the address, too. */
static bool is_slot(const struct doctor *d, const char *dir, const char *slot,
		    const char *netdev, const char *gid)
{
	char text[64];

	doctor_read(d->root, text, sizeof(text), "%s/gids/%s", dir, slot);
	if (strcmp(text, gid))
		return false;
	return doctor_read(d->root, text, sizeof(text), "%s/gid_attrs/ndevs/%s", dir, slot) ||
	       !strcmp(text, netdev);
}

/* The connection manager prefers v2, see the check "roce". */
static bool find_gid(const struct doctor *d, const struct rdma_port *port,
		     const char *netdev, const char *addr, struct gid_found *found)
{
	char gid[48], dir[128], type[32];
	bool any = false;
	const char *slot;
	DIR *gids;

	if (!format_gid(addr, gid, sizeof(gid)))
		return false;
	snprintf(dir, sizeof(dir), SYS "/%s/ports/%u", port->device, port->port);
	gids = doctor_opendir(d->root, "%s/gids", dir);
	while ((slot = doctor_next(gids)) && !(any && found->v2)) {
		if (!is_slot(d, dir, slot, netdev, gid))
			continue;
		doctor_read(d->root, type, sizeof(type), "%s/gid_attrs/types/%s", dir, slot);
		found->index = strtoul(slot, NULL, 10);
		found->v2 = !strcmp(type, "RoCE v2");
		any = true;
	}
	if (gids)
		closedir(gids);
	return any;
}

static void judge(const struct doctor *d, struct finding *f, const struct rdma_port *port,
		  const char *netdev, const char *addr)
{
	struct gid_found found;

	if (find_gid(d, port, netdev, addr, &found)) {
		finding_ok(f, "%s is GID %u of %s port %u, %s", addr, found.index,
			   port->device, port->port, found.v2 ? "RoCE v2" : "RoCE v1");
		return;
	}
	finding_fail(f, "%s of %s is none of the GIDs of %s port %u", addr, netdev,
		     port->device, port->port);
	finding_advise(f, "Its driver takes them from the interface when that comes up:");
	finding_mend(f, "ip link set dev %s down", netdev);
	finding_mend(f, "ip link set dev %s up", netdev);
}

/* The address that connections to anywhere else may come from. */
static const char *some_address(const struct doctor *d, const char *netdev)
{
	const struct net_dev *dev = net_find(&d->net, netdev);
	unsigned int i;

	for (i = 0; dev && i < dev->nr; i++)
		if (net_is_global(dev->addr[i]))
			return dev->addr[i];
	return NULL;
}

static void judge_some(const struct doctor *d, struct finding *f, const struct rdma_port *port)
{
	const char *addr;
	unsigned int i;

	for (i = 0; i < port->nr && f->verdict != FINDING_FAIL; i++) {
		addr = some_address(d, port->netdev[i]);
		if (addr)
			judge(d, f, port, port->netdev[i], addr);
	}
}

void doctor_gid(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port;

	finding_skip(f, "no port has RoCE and an address");
	if (d->on && d->on->transport == KVERBS_TRANSPORT_ROCE) {
		judge(d, f, d->on, d->route.dev, d->route.source);
		return;
	}
	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++)
		if (port->transport == KVERBS_TRANSPORT_ROCE && rdma_is_active(port) &&
		    f->verdict != FINDING_FAIL)
			judge_some(d, f, port);
}
