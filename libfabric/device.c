// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device node, and the devices that the kernel reports.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fi_kverbs.h"
#include "sys.h"

#define FEATURES (KVERBS_FEATURE_GROUP | KVERBS_FEATURE_IOVA)

int kvf_device_open(struct kverbs_cmd_info *limits)
{
	int fd, ret;

	*limits = (struct kverbs_cmd_info){ .size = sizeof(*limits) };
	fd = kverbs_sys_open(kvf_param.device_node);
	if (fd < 0)
		return fd;
	ret = kverbs_sys_ioctl(fd, KVERBS_INFO, limits);
	if (!ret && (limits->out_abi != KVERBS_ABI_VERSION ||
		     (limits->out_features & FEATURES) != FEATURES)) {
		kvf_warn(FABRIC, "kverbs.ko %.*s is too old for this provider\n",
			 (int)sizeof(limits->out_version), limits->out_version);
		ret = -FI_ENODATA;
	}
	if (ret) {
		kverbs_sys_close(fd);
		return ret;
	}
	return fd;
}

int kvf_device_query(int fd, uint32_t index, struct kverbs_cmd_device_query *query,
		     struct kverbs_port **ports, struct kverbs_gid **gids)
{
	uint32_t nr_ports = 4, nr_gids = 64;
	int ret;

	do {
		*ports = calloc(nr_ports, sizeof(**ports));
		*gids = calloc(nr_gids, sizeof(**gids));
		*query = (struct kverbs_cmd_device_query){
			.size = sizeof(*query),
			.index = index,
			.inout_ports_len = nr_ports,
			.ports_stride = sizeof(**ports),
			.inout_gids_len = nr_gids,
			.gids_stride = sizeof(**gids),
			.ports_uptr = (uintptr_t)*ports,
			.gids_uptr = (uintptr_t)*gids,
		};
		ret = *ports && *gids ? kverbs_sys_ioctl(fd, KVERBS_DEVICE_QUERY, query) : -ENOMEM;
		if (!ret)
			return 0;
		free(*ports);
		free(*gids);
		nr_ports = query->inout_ports_len;
		nr_gids = query->inout_gids_len;
	} while (ret == -EMSGSIZE);
	return ret;
}

/* On iWARP the kernel registers the data of each message, with half of an MR at most. */
uint64_t kvf_max_msg(const struct kverbs_cmd_device_query *query, const struct kverbs_port *port)
{
	uint64_t half = (uint64_t)query->out_max_mr_pages * sysconf(_SC_PAGESIZE) / 2;

	if (port->transport != KVERBS_TRANSPORT_IWARP || !half || half > port->max_msg_size)
		return port->max_msg_size;
	return half;
}
