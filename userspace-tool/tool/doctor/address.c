// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: addresses of this host, and the way to the other one.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

#define NO_IP "the command ip of iproute2 cannot be run"

/* The first address that a peer can be told, or NULL. */
static const char *address_of(const struct net_dev *dev)
{
	unsigned int i;

	for (i = 0; dev && i < dev->nr; i++)
		if (net_is_global(dev->addr[i]))
			return dev->addr[i];
	return NULL;
}

/* The first that an RDMA port has, with the interface that it is of. */
static const char *rdma_address(const struct doctor *d, const struct rdma_port *port,
				const char **netdev)
{
	const char *addr = NULL;
	unsigned int i;

	for (i = 0; i < port->nr && !addr; i++) {
		addr = address_of(net_find(&d->net, port->netdev[i]));
		*netdev = port->netdev[i];
	}
	return addr;
}

static void list_addresses(const struct doctor *d, char *text, size_t room)
{
	const struct rdma_port *port;
	const char *addr, *netdev;
	size_t at = 0;

	*text = '\0';
	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr && at < room; port++) {
		addr = rdma_address(d, port, &netdev);
		if (addr)
			at += snprintf(text + at, room - at, "%s%s on %s of %s",
				       at ? ", " : "", addr, netdev, port->device);
	}
}

/* Interface @dev has an address and no RDMA, and a device an interface without. */
static void misplaced(struct doctor *d, struct finding *f, const struct net_dev *dev)
{
	const struct rdma_port *port = &d->rdma.port[0];
	const char *netdev = port->nr ? port->netdev[0] : "?";
	const char *addr = address_of(dev);

	finding_fail(f, "%s is on %s without RDMA, and %s is on %s without address",
		     addr ? addr : "?", dev->name, port->device, netdev);
	finding_advise(f, "Give %s an address, or %s an RDMA device:", netdev, dev->name);
	doctor_mend_with_rxe(d, f, dev->name);
}

static const struct net_dev *without_rdma(const struct doctor *d)
{
	const struct net_dev *dev;

	for (dev = d->net.dev; dev < d->net.dev + d->net.nr; dev++)
		if (!dev->loopback && address_of(dev) && !rdma_on(&d->rdma, dev->name))
			return dev;
	return NULL;
}

void doctor_address(struct doctor *d, struct finding *f)
{
	const struct net_dev *dev = without_rdma(d);
	char text[400];

	if (d->net.err) {
		finding_skip(f, NO_IP);
		return;
	}
	list_addresses(d, text, sizeof(text));
	if (*text) {
		finding_ok(f, "%s", text);
	} else if (dev) {
		misplaced(d, f, dev);
	} else {
		finding_fail(f, "this host has no address to connect to");
		finding_mend(f, "ip address add ADDRESS/24 dev %s",
			     d->rdma.port[0].nr ? d->rdma.port[0].netdev[0] : "DEV");
	}
}

static int route_to(struct doctor *d, const struct addrinfo *ai, struct net_route *route,
		    char *said, size_t room)
{
	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, d->peer_text, sizeof(d->peer_text),
			NULL, 0, NI_NUMERICHOST))
		return -EHOSTUNREACH;
	return net_route(&d->net, d->peer_text, d->to.source, route, said, room);
}

/* Choose the first of several addresses that RDMA can reach; if there is none, the first. */
static void choose(struct doctor *d, const struct addrinfo *list)
{
	const struct addrinfo *ai, *best = list;
	struct net_route route;
	char said[256];

	for (ai = list; ai; ai = ai->ai_next) {
		if (route_to(d, ai, &route, said, sizeof(said)) ||
		    !rdma_on(&d->rdma, route.dev))
			continue;
		best = ai;
		break;
	}
	memcpy(&d->peer, best->ai_addr, best->ai_addrlen);
	getnameinfo(best->ai_addr, best->ai_addrlen, d->peer_text, sizeof(d->peer_text),
		    NULL, 0, NI_NUMERICHOST);
}

void doctor_name(struct doctor *d, struct finding *f)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	int ret;

	ret = getaddrinfo(d->to.host, d->to.port, &hints, &list);
	if (ret) {
		finding_fail(f, "%s does not resolve: %s", d->to.host, gai_strerror(ret));
		finding_advise(f, "Use its address, or add a line to /etc/hosts. ");
		finding_advise(f, "To look it up:");
		finding_mend(f, "getent hosts %s", d->to.host);
		return;
	}
	choose(d, list);
	freeaddrinfo(list);
	finding_ok(f, "%s is %s", d->to.host, d->peer_text);
}

static void no_route(struct doctor *d, struct finding *f, const char *said)
{
	finding_fail(f, "there is no route to %s: %s", d->peer_text,
		     *said ? said : "no route is known");
	finding_advise(f, "Check this host's addresses and routes, and add the missing one:");
	finding_mend(f, "ip address");
	finding_mend(f, "ip route");
}

void doctor_route(struct doctor *d, struct finding *f)
{
	const struct net_route *r = &d->route;
	char said[256];
	int ret;

	ret = net_route(&d->net, d->peer_text, d->to.source, &d->route, said, sizeof(said));
	if (ret == -ENOENT)
		finding_skip(f, NO_IP);
	else if (ret)
		no_route(d, f, said);
	else if (r->local)
		finding_ok(f, "%s is this host itself", d->peer_text);
	else
		finding_ok(f, "from %s on %s%s%s", r->source, r->dev, *r->via ? " via " : "",
			   r->via);
}

static void elsewhere(struct doctor *d, struct finding *f)
{
	char text[400];

	list_addresses(d, text, sizeof(text));
	finding_fail(f, "the route uses %s, which has no RDMA device", d->route.dev);
	finding_advise(f, "RDMA devices have %s. Connect to an address reached from there, or:",
		       *text ? text : "no address");
	if (strcmp(d->route.dev, "lo"))
		doctor_mend_with_rxe(d, f, d->route.dev);
}

void doctor_source(struct doctor *d, struct finding *f)
{
	if (!*d->route.dev) {
		finding_skip(f, "the route is not known");
		return;
	}
	d->on = rdma_on(&d->rdma, d->route.dev);
	if (!d->on) {
		elsewhere(d, f);
	} else if (!rdma_is_active(d->on)) {
		finding_fail(f, "the route uses %s of %s, whose port %u is %s", d->route.dev,
			     d->on->device, d->on->port, d->on->state);
		finding_mend(f, "ip link set dev %s up", d->route.dev);
	} else {
		finding_ok(f, "%s is on %s port %u", d->route.dev, d->on->device, d->on->port);
	}
}
