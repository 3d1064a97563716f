// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>

#include "cli/util.h"
#include "dev/dev_names.h"

const char *dev_state(const struct kverbs_port *port)
{
	static const char * const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER",
	};

	return port->state < ARRAY_SIZE(names) ? names[port->state] : "?";
}

const char *dev_phys_state(const struct kverbs_port *port)
{
	static const char * const names[] = {
		"-", "Sleep", "Polling", "Disabled", "Training", "LinkUp",
		"LinkErrorRecovery", "PhyTest",
	};

	return port->phys_state < ARRAY_SIZE(names) ? names[port->phys_state] : "?";
}

const char *dev_link_layer(const struct kverbs_port *port)
{
	return port->transport == KVERBS_TRANSPORT_IB ? "InfiniBand" : "Ethernet";
}

const char *dev_gid_type(const struct kverbs_gid *gid, const struct kverbs_port *port)
{
	if (gid->type == KVERBS_GID_ROCE_V1)
		return "RoCE v1";
	if (gid->type == KVERBS_GID_ROCE_V2)
		return "RoCE v2";
	return port->transport == KVERBS_TRANSPORT_IWARP ? "MAC" : "IB";
}

const char *dev_gid(const struct kverbs_gid *gid, char buf[DEV_NAME_LEN])
{
	return inet_ntop(AF_INET6, gid->gid, buf, DEV_NAME_LEN);
}

const char *dev_guid(const uint8_t guid[8], char buf[DEV_NAME_LEN])
{
	snprintf(buf, DEV_NAME_LEN, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", guid[0], guid[1],
		 guid[2], guid[3], guid[4], guid[5], guid[6], guid[7]);
	return buf;
}

static const char *netdev(unsigned int ifindex, const char *known, char *buf)
{
	if (known && *known)
		return known;
	return ifindex && if_indextoname(ifindex, buf) ? buf : "-";
}

const char *dev_gid_netdev(const struct kverbs_gid *gid, const struct kverbs_port *port,
			   char buf[DEV_NAME_LEN])
{
	return netdev(gid->ifindex, gid->ifindex == port->ifindex ? port->ifname : NULL, buf);
}

const char *dev_port_netdev(const struct kverbs_port *port, char buf[DEV_NAME_LEN])
{
	return netdev(port->ifindex, port->ifname, buf);
}
