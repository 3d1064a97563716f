// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fi_getinfo(): an info for each address of each port that kverbs can use.
 */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fi_kverbs.h"
#include "sys.h"

#define PORT_ACTIVE 4
/* Interfaces of one port: its own and those above it, such as VLANs */
#define IFACES_MAX 64
/* Work requests that the kernel or the provider need in addition to those of the application */
#define OWN_WRS 35
#define QUEUE_MAX 4096
/* Flag that libfabric's providers pass which are layered on others: OFI_CORE_PROV_ONLY */
#define CORE_PROV_ONLY (1ull << 59)

#define MSG_ORDER (FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAW | FI_ORDER_WAS | \
		   FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | \
		   FI_ORDER_RMA_WAW)

/**
 * struct search - what fi_getinfo() looks for
 * @version: of the API that the application knows
 * @is_layered: another provider asks, such as ofi_rxm
 * @mr_mode: that is required
 * @hints: the hints, or NULL
 * @has_src: @src must be the address; its port is taken over
 * @src: source address
 * @src_port: port without an address, in network order
 * @has_dest: there is a destination
 * @dest: destination address
 * @last: end of the list of results
 */
struct search {
	uint32_t version;
	bool is_layered;
	int mr_mode;
	const struct fi_info *hints;
	bool has_src;
	union kvf_addr src;
	uint16_t src_port;
	bool has_dest;
	union kvf_addr dest;
	struct fi_info **last;
};

/* ---- one info ---- */

static int copy_addr(void **to, size_t *len, const union kvf_addr *addr)
{
	*to = malloc(kvf_addr_len(addr));
	if (!*to)
		return -FI_ENOMEM;
	*len = kvf_addr_len(addr);
	memcpy(*to, addr, *len);
	return 0;
}

static size_t queue_size(const struct kverbs_cmd_device_query *dev)
{
	size_t size = dev->out_max_qp_wr > OWN_WRS ? dev->out_max_qp_wr - OWN_WRS : 1;

	return size < QUEUE_MAX ? size : QUEUE_MAX;
}

static void set_tx(struct fi_tx_attr *tx, const struct kverbs_cmd_device_query *dev)
{
	tx->caps = KVF_TX_CAPS;
	tx->msg_order = MSG_ORDER;
	tx->comp_order = FI_ORDER_STRICT;
	tx->inject_size = kvf_param.inject;
	tx->size = queue_size(dev);
	tx->iov_limit = KVF_IOV_LIMIT;
	tx->rma_iov_limit = 1;
}

/* iWARP has no immediate data. */
static bool has_data(const struct kverbs_port *port)
{
	return port->transport != KVERBS_TRANSPORT_IWARP;
}

static void set_rx(struct fi_rx_attr *rx, const struct kverbs_cmd_device_query *dev,
		   const struct kverbs_port *port)
{
	rx->caps = KVF_RX_CAPS;
	rx->mode = has_data(port) ? FI_RX_CQ_DATA : 0;
	rx->msg_order = MSG_ORDER;
	rx->comp_order = FI_ORDER_STRICT;
	rx->size = queue_size(dev);
	rx->iov_limit = KVF_IOV_LIMIT;
}

static void set_ep(struct fi_ep_attr *ep, const struct kverbs_cmd_device_query *dev,
		   const struct kverbs_port *port)
{
	ep->type = FI_EP_MSG;
	ep->protocol = port->transport == KVERBS_TRANSPORT_IWARP ? FI_PROTO_IWARP :
								    FI_PROTO_RDMA_CM_IB_RC;
	ep->protocol_version = 1;
	ep->max_msg_size = kvf_max_msg(dev, port);
	ep->max_order_raw_size = ep->max_msg_size;
	ep->max_order_waw_size = ep->max_msg_size;
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;
}

static int set_domain(struct fi_domain_attr *domain, const struct kverbs_cmd_device_query *dev,
		      const struct kverbs_port *port)
{
	domain->name = strndup(dev->out_name, sizeof(dev->out_name));
	if (!domain->name)
		return -FI_ENOMEM;
	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = FI_PROGRESS_AUTO;
	domain->data_progress = FI_PROGRESS_AUTO;
	/* On iWARP a sender does not wait for a receive. */
	domain->resource_mgmt = has_data(port) ? FI_RM_ENABLED : FI_RM_DISABLED;
	domain->mr_key_size = sizeof(uint64_t);
	domain->cq_data_size = has_data(port) ? sizeof(uint32_t) : 0;
	domain->cq_cnt = 128;
	domain->cntr_cnt = KVF_CNTR_CNT;
	domain->ep_cnt = dev->out_max_qp;
	domain->tx_ctx_cnt = dev->out_max_qp;
	domain->rx_ctx_cnt = dev->out_max_qp;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->mr_iov_limit = 1;
	domain->mr_cnt = dev->out_max_mr;
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
	domain->max_err_data = KVF_PRIV_MAX;
	return 0;
}

static struct fi_info *new_info(const struct kverbs_cmd_device_query *dev,
				const struct kverbs_port *port, const union kvf_addr *addr)
{
	struct fi_info *info = fi_allocinfo();

	if (!info)
		return NULL;
	info->caps = KVF_CAPS;
	info->mode = has_data(port) ? FI_RX_CQ_DATA : 0;
	info->addr_format = addr->sa.sa_family == AF_INET ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
	set_tx(info->tx_attr, dev);
	set_rx(info->rx_attr, dev, port);
	set_ep(info->ep_attr, dev, port);
	info->fabric_attr->name = strdup("kverbs");
	if (!info->fabric_attr->name || set_domain(info->domain_attr, dev, port) ||
	    copy_addr(&info->src_addr, &info->src_addrlen, addr)) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}

static void set_port(union kvf_addr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET)
		addr->in.sin_port = port;
	else
		addr->in6.sin6_port = port;
}

static uint16_t port_of(const union kvf_addr *addr)
{
	return addr->sa.sa_family == AF_INET ? addr->in.sin_port : addr->in6.sin6_port;
}

static int add_info(struct search *s, const struct kverbs_cmd_device_query *dev,
		    const struct kverbs_port *port, union kvf_addr *addr)
{
	struct fi_info *info;

	if (s->has_src && !kvf_addr_same_host(&s->src, addr))
		return 0;
	if (s->has_dest && s->dest.sa.sa_family != addr->sa.sa_family)
		return 0;
	set_port(addr, s->src_port);
	info = new_info(dev, port, addr);
	if (!info)
		return -FI_ENOMEM;
	info->domain_attr->mr_mode = s->mr_mode;
	if (!kvf_check(s->version, info, s->hints) ||
	    (s->has_dest && copy_addr(&info->dest_addr, &info->dest_addrlen, &s->dest))) {
		fi_freeinfo(info);
		return 0;
	}
	kvf_adopt(s->version, info, s->hints);
	*s->last = info;
	s->last = &info->next;
	return 0;
}

/* ---- devices ---- */

static bool is_link_local(const union kvf_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
}

/* The interface of a port, and others whose addresses it has GIDs for */
static unsigned int ifaces_of(const struct kverbs_cmd_device_query *dev,
			      const struct kverbs_port *port, const struct kverbs_gid *gids,
			      uint32_t ifaces[IFACES_MAX])
{
	unsigned int nr = 0, i, j;

	if (port->ifindex)
		ifaces[nr++] = port->ifindex;
	for (i = 0; i < dev->inout_gids_len && nr < IFACES_MAX; i++) {
		if (gids[i].port != port->port || !gids[i].ifindex)
			continue;
		for (j = 0; j < nr && ifaces[j] != gids[i].ifindex; j++)
			;
		if (j == nr)
			ifaces[nr++] = gids[i].ifindex;
	}
	return nr;
}

static bool is_in(const uint32_t *ifaces, unsigned int nr, uint32_t iface)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ifaces[i] == iface)
			return true;
	return false;
}

/*
 * A provider above this one posts messages without knowing how many receives the peer has, which
 * iWARP does not forgive.
 */
static bool may_use(const struct search *s, const struct kverbs_cmd_device_query *dev,
		    const struct kverbs_port *port)
{
	return dev->out_unusable == KVERBS_USABLE && port->state == PORT_ACTIVE &&
	       (port->transport == KVERBS_TRANSPORT_ROCE ||
		port->transport == KVERBS_TRANSPORT_IB ||
		(port->transport == KVERBS_TRANSPORT_IWARP && !s->is_layered));
}

static int add_port(struct search *s, const struct kverbs_cmd_device_query *dev,
		    const struct kverbs_port *port, const struct kverbs_gid *gids,
		    const struct ifaddrs *addrs)
{
	uint32_t ifaces[IFACES_MAX];
	unsigned int nr = ifaces_of(dev, port, gids, ifaces);
	const struct ifaddrs *at;
	union kvf_addr addr;
	int ret = 0;

	for (at = addrs; at && !ret; at = at->ifa_next) {
		if (!at->ifa_addr || !kvf_addr_set(&addr, at->ifa_addr) || is_link_local(&addr))
			continue;
		if (is_in(ifaces, nr, if_nametoindex(at->ifa_name)))
			ret = add_info(s, dev, port, &addr);
	}
	return ret;
}

static int add_devices(struct search *s, int fd, const struct ifaddrs *addrs)
{
	struct kverbs_cmd_device_query dev;
	struct kverbs_port *ports;
	struct kverbs_gid *gids;
	uint32_t index = 0, i;
	int ret = 0;

	while (!ret && !(ret = kvf_device_query(fd, index, &dev, &ports, &gids))) {
		for (i = 0; i < dev.inout_ports_len && !ret; i++)
			if (may_use(s, &dev, &ports[i]))
				ret = add_port(s, &dev, &ports[i], gids, addrs);
		free(ports);
		free(gids);
		index = dev.out_index + 1;
	}
	return ret == -ENODEV ? 0 : ret;
}

/* ---- addresses ---- */

static int resolve(const char *node, const char *service, uint64_t flags, union kvf_addr *addr)
{
	struct addrinfo want = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = (flags & FI_SOURCE ? AI_PASSIVE : 0) |
			    (flags & FI_NUMERICHOST ? AI_NUMERICHOST : 0),
	};
	struct addrinfo *list;
	int ret;

	if (getaddrinfo(node, service, &want, &list))
		return -FI_ENODATA;
	ret = kvf_addr_set(addr, list->ai_addr) ? 0 : -FI_ENODATA;
	freeaddrinfo(list);
	return ret;
}

static bool is_any(const union kvf_addr *addr)
{
	return addr->sa.sa_family == AF_INET ? addr->in.sin_addr.s_addr == htonl(INADDR_ANY) :
					       IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr);
}

static void set_source(struct search *s, const union kvf_addr *addr)
{
	s->src_port = port_of(addr);
	if (is_any(addr))
		return;
	s->src = *addr;
	s->has_src = true;
}

/* The source address that the routes of the host choose for the destination */
static int find_source(struct search *s)
{
	socklen_t len = sizeof(s->src);
	union kvf_addr to = s->dest;
	int fd, ret = 0;

	if (!port_of(&to))
		set_port(&to, htons(1));
	fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -FI_ENODATA;
	if (connect(fd, &to.sa, kvf_addr_len(&to)) || getsockname(fd, &s->src.sa, &len))
		ret = -FI_ENODATA;
	else
		s->has_src = true;
	close(fd);
	return ret;
}

static int set_addresses(struct search *s, const char *node, const char *service, uint64_t flags)
{
	const struct fi_info *hints = s->hints;
	union kvf_addr addr;
	int ret;

	if (hints && hints->src_addr && kvf_addr_set(&addr, hints->src_addr))
		set_source(s, &addr);
	if (hints && hints->dest_addr)
		s->has_dest = kvf_addr_set(&s->dest, hints->dest_addr);
	if (node || service) {
		ret = resolve(node, service, flags, &addr);
		if (ret)
			return ret;
		if (flags & FI_SOURCE) {
			if (!node)
				s->src_port = port_of(&addr);
			else
				set_source(s, &addr);
		} else if (node) {
			s->dest = addr;
			s->has_dest = true;
		}
	}
	return s->has_dest && !s->has_src ? find_source(s) : 0;
}

int kvf_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	struct search s = {
		.version = version,
		.is_layered = flags & CORE_PROV_ONLY,
		.hints = hints,
		.last = info,
	};
	struct kverbs_cmd_info limits;
	struct ifaddrs *addrs = NULL;
	int fd, ret;

	*info = NULL;
	fd = kvf_device_open(&limits);
	if (fd < 0) {
		kvf_info(CORE, "%s: %s\n", kvf_param.device_node, fi_strerror(-fd));
		return -FI_ENODATA;
	}
	/* A layered provider registers the buffers that it has for long by itself. */
	s.mr_mode = KVF_MR_MODE;
	if (kvf_cache_is_wanted(&limits) && !s.is_layered)
		s.mr_mode &= ~FI_MR_LOCAL;
	ret = set_addresses(&s, node, service, flags);
	if (!ret && !getifaddrs(&addrs)) {
		ret = add_devices(&s, fd, addrs);
		freeifaddrs(addrs);
	}
	kverbs_sys_close(fd);
	if (ret && *info) {
		fi_freeinfo(*info);
		*info = NULL;
	}
	if (!ret && !*info)
		ret = -FI_ENODATA;
	return ret;
}
