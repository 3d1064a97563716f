// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: partitions and the subnet manager of InfiniBand.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "doctor/host.h"

#define SYS "/sys/class/infiniband"
#define IPOIB_MAC 20
/* The bit of a P_Key that permits to talk to limited members, too. */
#define FULL_MEMBER 0x8000u

static unsigned int read_number(const struct doctor *d, const char *netdev, const char *file)
{
	char text[16];

	doctor_read(d->root, text, sizeof(text), "/sys/class/net/%s/%s", netdev, file);
	return strtoul(text, NULL, 0);
}

/* Whether a port has the P_Key, as a member of either kind. */
static bool has_pkey(const struct doctor *d, const struct rdma_port *port, unsigned int pkey)
{
	DIR *dir = doctor_opendir(d->root, SYS "/%s/ports/%u/pkeys", port->device, port->port);
	bool has = false;
	const char *slot;
	char text[16];

	while (!has && (slot = doctor_next(dir))) {
		doctor_read(d->root, text, sizeof(text), SYS "/%s/ports/%u/pkeys/%s",
			    port->device, port->port, slot);
		has = ((strtoul(text, NULL, 0) ^ pkey) & ~FULL_MEMBER) == 0;
	}
	if (dir)
		closedir(dir);
	return has;
}

#define PARTITIONS "the subnet manager's partitions.conf"

static void no_partition(const struct doctor *d, struct finding *f, const char *netdev,
			 const struct rdma_port *port, unsigned int pkey)
{
	char parent[16];

	finding_fail(f, "%s is in partition 0x%04x, but %s port %u is not", netdev, pkey,
		     port->device, port->port);
	finding_advise(f, "Add port GUIDs of this host to the partition in " PARTITIONS);
	if (doctor_read(d->root, parent, sizeof(parent), "/sys/class/net/%s/parent", netdev)) {
		finding_advise(f, ".");
		return;
	}
	finding_advise(f, ", or remove the interface:");
	finding_mend(f, "echo 0x%04x >/sys/class/net/%s/delete_child", pkey, parent);
}

static void judge_ipoib(const struct doctor *d, struct finding *f, const struct net_dev *dev)
{
	const struct rdma_port *port = rdma_on(&d->rdma, dev->name);
	unsigned int pkey = read_number(d, dev->name, "pkey");
	char mode[16];

	if (!pkey)
		return;
	doctor_read(d->root, mode, sizeof(mode), "/sys/class/net/%s/mode", dev->name);
	if (port && !has_pkey(d, port, pkey)) {
		no_partition(d, f, dev->name, port, pkey);
	} else if (!(pkey & FULL_MEMBER)) {
		finding_warn(f, "%s is a limited member of partition 0x%04x", dev->name, pkey);
		finding_advise(f, "Limited members cannot reach each other, only full members. ");
		finding_advise(f, "Make its port a full member in " PARTITIONS ": ALL=full");
	} else if (f->verdict == FINDING_SKIP) {
		finding_ok(f, "%s is in %s mode and has P_Key 0x%04x", dev->name,
			   *mode ? mode : "datagram", pkey);
	}
}

void doctor_ipoib(struct doctor *d, struct finding *f)
{
	const struct net_dev *dev;

	finding_skip(f, "there is no IPoIB interface");
	for (dev = d->net.dev; dev < d->net.dev + d->net.nr; dev++)
		if (dev->mac_len == IPOIB_MAC && f->verdict < FINDING_WARN)
			judge_ipoib(d, f, dev);
}

/*
 * Ask the subnet manager for its state, which takes sminfo(8) and root. -ENOENT: there is no
 * such command.
 */
static int ask_manager(const struct rdma_port *port, char *answer, size_t room)
{
	char nr[12];
	const char *const argv[] = { "sminfo", "-C", port->device, "-P", nr, NULL };

	snprintf(nr, sizeof(nr), "%u", port->port);
	return doctor_ask_text(argv, answer, room);
}

static void no_manager(struct finding *f)
{
	finding_advise(f, "Connections need it to find paths. Start one, here or on any host of ");
	finding_advise(f, "the fabric:");
	finding_mend(f, "systemctl start opensm");
}

/* sminfo sends a management packet. The software devices of tests have no such node. */
static bool may_ask(const struct doctor *d)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/infiniband/umad0", d->root);
	return !faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) || errno == ENOENT;
}

static void judge_manager(const struct doctor *d, struct finding *f,
			  const struct rdma_port *port)
{
	char text[256];
	unsigned int lid;
	int ret;

	doctor_read(d->root, text, sizeof(text), SYS "/%s/ports/%u/sm_lid", port->device,
		    port->port);
	lid = strtoul(text, NULL, 0);
	if (!lid) {
		finding_fail(f, "%s port %u has no subnet manager", port->device, port->port);
		no_manager(f);
		return;
	}
	ret = may_ask(d) ? ask_manager(port, text, sizeof(text)) : -ENOENT;
	if (ret == -EIO) {
		finding_fail(f, "the subnet manager of %s port %u, LID %u, does not answer",
			     port->device, port->port, lid);
		no_manager(f);
	} else if (f->verdict == FINDING_SKIP) {
		finding_ok(f, "%s port %u has one, LID %u%s", port->device, port->port, lid,
			   ret ? "; sminfo cannot be run to ask it" : "; it answers");
	}
}

void doctor_sm(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port;

	finding_skip(f, "no port has InfiniBand");
	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++)
		if (port->transport == KVERBS_TRANSPORT_IB && f->verdict < FINDING_WARN)
			judge_manager(d, f, port);
}
