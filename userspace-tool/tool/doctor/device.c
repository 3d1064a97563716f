// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: RDMA devices, their ports, MTUs and RoCE versions.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kverbs.h>

#include "dev/unusable.h"
#include "doctor/doctor.h"
#include "doctor/host.h"

/* Bytes of headers around the data of a packet: minimum, and maximum that drivers assume. */
#define HEADERS_LEAST 60
#define HEADERS_MOST 96
#define ETHERNET_RDMA_MTU 1024

/* Adapters whose RDMA driver is a module of its own. */
static const char *rdma_driver_of(const char *driver)
{
	static const char * const drivers[][2] = {
		{ "mlx5_core", "mlx5_ib" }, { "mlx4_core", "mlx4_ib" },
		{ "mlx4_en", "mlx4_ib" }, { "bnxt_en", "bnxt_re" },
		{ "cxgb4", "iw_cxgb4" }, { "ice", "irdma" }, { "i40e", "irdma" },
		{ "qede", "qedr" }, { "hns3", "hns_roce_hw_v2" }, { "mana", "mana_ib" },
		{ "enic", "usnic_verbs" }, { "vmxnet3", "vmw_pvrdma" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i][0], driver))
			return drivers[i][1];
	return NULL;
}

static const char *adapter_driver(const struct doctor *d, const struct net_dev *dev)
{
	char path[PATH_MAX], link[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device/driver", d->root, dev->name);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return NULL;
	link[n] = '\0';
	return rdma_driver_of(basename(link));
}

/* The interface to put a software device on: one that is up and has an address. */
static const struct net_dev *likely_netdev(const struct doctor *d)
{
	const struct net_dev *dev, *best = NULL;

	for (dev = d->net.dev; dev < d->net.dev + d->net.nr; dev++) {
		if (dev->loopback || dev->mac_len != 6)
			continue;
		if (!best || (dev->up && dev->nr && !(best->up && best->nr)))
			best = dev;
	}
	return best;
}

/* Advise adding an rxe device; its name must be free. */
void doctor_mend_with_rxe(const struct doctor *d, struct finding *f, const char *netdev)
{
	unsigned int nr = 0;

	while (doctor_exists(d->root, "/sys/class/infiniband/rxe%u", nr))
		nr++;
	finding_mend(f, "rdma link add rxe%u type rxe netdev %s", nr, netdev);
}

static void no_device(const struct doctor *d, struct finding *f)
{
	const struct net_dev *dev;
	const char *driver;

	finding_fail(f, "there is no RDMA device");
	for (dev = d->net.dev; dev < d->net.dev + d->net.nr; dev++) {
		driver = adapter_driver(d, dev);
		if (!driver)
			continue;
		finding_advise(f, "The adapter of %s may support RDMA with another driver:",
			       dev->name);
		finding_mend(f, "modprobe %s", driver);
		return;
	}
	finding_advise(f, "Load the driver of the adapter; ");
	finding_advise(f, "or use Soft-RoCE, on this host and its peers:");
	dev = likely_netdev(d);
	doctor_mend_with_rxe(d, f, dev ? dev->name : "DEV");
}

/* "rxe0 (RoCE), siw0 (iWARP)" */
static void list_devices(const struct doctor *d, char *text, size_t room)
{
	const struct rdma_port *port = d->rdma.port;
	size_t at = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < d->rdma.nr && at < room; i++)
		if (!i || strcmp(port[i].device, port[i - 1].device))
			at += snprintf(text + at, room - at, "%s%s (%s%s)", i ? ", " : "",
				       port[i].device, port[i].software ? "software " : "",
				       kverbs_transport_str(port[i].transport));
}

/* "efa_0 (its driver offers RDMA to user space only)" */
static void list_unusable(const struct doctor *d, char *text, size_t room)
{
	size_t at = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < d->nr_unusable && at < room; i++)
		at += snprintf(text + at, room - at, "%s%s (%s)", i ? ", " : "",
			       d->unusable[i].name, unusable_why(d->unusable[i].reason));
}

static void none_usable(const struct doctor *d, struct finding *f)
{
	const struct net_dev *dev = likely_netdev(d);
	char text[400];

	list_unusable(d, text, sizeof(text));
	finding_fail(f, "kverbs cannot use %s", text);
	finding_advise(f, "%s Or use Soft-RoCE, on this host and its peers:",
		       unusable_advice(d->unusable[0].reason));
	doctor_mend_with_rxe(d, f, dev ? dev->name : "DEV");
}

static void some_usable(const struct doctor *d, struct finding *f)
{
	char usable[200], unusable[300];

	list_devices(d, usable, sizeof(usable));
	if (!d->nr_unusable) {
		finding_ok(f, "%s", usable);
		return;
	}
	list_unusable(d, unusable, sizeof(unusable));
	finding_warn(f, "%s; kverbs cannot use %s", usable, unusable);
	finding_advise(f, "%s", unusable_advice(d->unusable[0].reason));
}

void doctor_device(struct doctor *d, struct finding *f)
{
	char text[400];

	if (!d->rdma.nr && d->nr_unusable) {
		none_usable(d, f);
	} else if (!d->rdma.nr) {
		no_device(d, f);
	} else if (d->kv && !d->nr_devices) {
		list_devices(d, text, sizeof(text));
		finding_fail(f, "kverbs does not know of %s", text);
		finding_advise(f, "See the kernel log:");
		finding_mend(f, "dmesg | grep kverbs");
	} else {
		some_usable(d, f);
	}
}

static const struct net_dev *first_netdev(const struct doctor *d, const struct rdma_port *port)
{
	return port->nr ? net_find(&d->net, port->netdev[0]) : NULL;
}

static void inactive_ib(struct finding *f, const struct rdma_port *port)
{
	if (strcmp(port->phys, "LinkUp")) {
		finding_advise(f, "There is no link: check the cable and the switch.");
		return;
	}
	finding_advise(f, "There is a link, but no subnet manager has configured it. ");
	finding_advise(f, "Start one, here or on any host of the fabric:");
	finding_mend(f, "systemctl start opensm");
}

/* Why, and what helps. The finding has its verdict. */
static void inactive_port(const struct doctor *d, struct finding *f,
			  const struct rdma_port *port)
{
	const struct net_dev *dev = first_netdev(d, port);

	if (port->transport == KVERBS_TRANSPORT_IB)
		inactive_ib(f, port);
	else if (dev && !dev->up)
		finding_mend(f, "ip link set dev %s up", dev->name);
	else if (dev && !dev->running)
		finding_advise(f, "%s has no carrier: check the cable and the switch.",
			       dev->name);
	else
		finding_advise(f, "The interface does not show why; see the kernel log: dmesg");
}

static void judge_port(struct doctor *d, struct finding *f, const struct rdma_port *bad,
		       unsigned int active)
{
	const struct net_dev *dev = first_netdev(d, bad);
	const char *why = dev && !dev->up ? ": its interface is down" : "";

	if (active)
		finding_warn(f, "%s port %u is %s%s; others are ACTIVE", bad->device, bad->port,
			     bad->state, why);
	else
		finding_fail(f, "%s port %u is %s (%s)%s", bad->device, bad->port, bad->state,
			     bad->phys, why);
	inactive_port(d, f, bad);
}

void doctor_port(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port, *bad = NULL, *good = NULL;
	unsigned int active = 0;

	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++) {
		if (!rdma_is_active(port)) {
			bad = bad ? bad : port;
			continue;
		}
		good = good ? good : port;
		active++;
	}
	if (bad)
		judge_port(d, f, bad, active);
	else if (active == 1)
		finding_ok(f, "%s port %u is ACTIVE, %s", good->device, good->port, good->phys);
	else
		finding_ok(f, "all %u are ACTIVE", active);
}

/* The largest RDMA MTU whose packets fit, or 0. */
static unsigned int rdma_mtu_of(unsigned int mtu)
{
	unsigned int best = 4096;

	while (best >= 256 && best + HEADERS_MOST > mtu)
		best /= 2;
	return best >= 256 ? best : 0;
}

static void mend_mtu(struct finding *f, const struct net_dev *dev, unsigned int mtu)
{
	finding_mend(f, "ip link set dev %s mtu %u", dev->name, mtu);
}

static void judge_mtu(struct finding *f, const struct rdma_port *port,
		      const struct net_dev *dev)
{
	unsigned int fits = rdma_mtu_of(dev->mtu);

	if (port->mtu + HEADERS_LEAST > dev->mtu) {
		finding_fail(f, "%s sends packets of %u bytes: too large for MTU %u of %s",
			     port->device, port->mtu, dev->mtu, dev->name);
		mend_mtu(f, dev, port->mtu > ETHERNET_RDMA_MTU ? port->mtu + 104 : 1500);
	} else if (port->mtu < fits) {
		finding_warn(f, "%s sends packets of %u bytes: MTU %u of %s is enough for %u",
			     port->device, port->mtu, dev->mtu, dev->name, fits);
		finding_advise(f, "It changes when the interface comes up; end all connections:");
		finding_mend(f, "ip link set dev %s down", dev->name);
		finding_mend(f, "ip link set dev %s up", dev->name);
	} else if (port->mtu < ETHERNET_RDMA_MTU) {
		finding_warn(f, "MTU %u of %s leaves only %u bytes for RDMA packets of %s",
			     dev->mtu, dev->name, port->mtu, port->device);
		mend_mtu(f, dev, 1500);
	}
}

static bool has_packets(const struct rdma_port *port)
{
	return rdma_is_active(port) && port->transport != KVERBS_TRANSPORT_IWARP && port->mtu;
}

void doctor_mtu(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port, *seen = NULL;
	const struct net_dev *dev;

	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++) {
		if (!has_packets(port))
			continue;
		dev = first_netdev(d, port);
		if (dev && port->transport == KVERBS_TRANSPORT_ROCE)
			judge_mtu(f, port, dev);
		if (f->verdict != FINDING_SKIP)
			return;
		seen = port;
	}
	dev = seen ? first_netdev(d, seen) : NULL;
	if (!seen && !d->kv)
		finding_skip(f, "only the module reports it, and its node cannot be opened");
	else if (!seen)
		finding_skip(f, "TCP determines it for iWARP");
	else if (dev)
		finding_ok(f, "%u bytes for RDMA, %u of %s", seen->mtu, dev->mtu, dev->name);
	else
		finding_ok(f, "%u bytes for RDMA", seen->mtu);
}

#define CONFIGFS "/sys/kernel/config/rdma_cm"

/* True if configfs sets RoCE v1 as the default; the file is absent without configfs. */
static bool defaults_to_v1(const struct doctor *d, const struct rdma_port *port)
{
	char mode[32];

	doctor_read(d->root, mode, sizeof(mode), CONFIGFS "/%s/ports/%u/default_roce_mode",
		    port->device, port->port);
	return strstr(mode, "RoCE v1");
}

static void judge_roce(const struct doctor *d, struct finding *f, const struct rdma_port *port)
{
	if (defaults_to_v1(d, port)) {
		finding_fail(f, "RoCE v1 is set for connections of %s port %u", port->device,
			     port->port);
		finding_advise(f, "Peers that use v2, which is the default, do not receive it:");
		finding_mend(f, "echo 'RoCE v2' > " CONFIGFS "/%s/ports/%u/default_roce_mode",
			     port->device, port->port);
	} else if (port->v1 && !port->v2) {
		finding_warn(f, "%s port %u has no GID for RoCE v2", port->device, port->port);
		finding_advise(f, "Peers that use v2, which is the default, do not receive it. ");
		finding_advise(f, "Its driver or firmware may need a setting.");
	}
}

void doctor_roce(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port, *seen = NULL;

	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++) {
		if (port->transport != KVERBS_TRANSPORT_ROCE)
			continue;
		judge_roce(d, f, port);
		if (f->verdict != FINDING_SKIP)
			return;
		seen = port->v2 ? port : seen;
	}
	if (seen)
		finding_ok(f, "%s port %u has GIDs for RoCE v2", seen->device,
			   seen->port);
	else
		finding_skip(f, "no port has RoCE");
}
