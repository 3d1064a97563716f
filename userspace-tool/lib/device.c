// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices with their ports and GIDs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* GIDs come and go: ask again so many times if there are more than there were. */
#define QUERY_TRIES 8

static int query(struct kverbs *kv, uint32_t index, struct kverbs_device *dev,
		 struct kverbs_cmd_device_query *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->size = sizeof(*cmd);
	cmd->index = index;
	cmd->inout_ports_len = dev->nr_ports;
	cmd->inout_gids_len = dev->nr_gids;
	cmd->ports_stride = sizeof(*dev->ports);
	cmd->gids_stride = sizeof(*dev->gids);
	cmd->ports_uptr = (uintptr_t)dev->ports;
	cmd->gids_uptr = (uintptr_t)dev->gids;
	return kverbs_ioctl(kv, KVERBS_DEVICE_QUERY, cmd);
}

static void free_arrays(struct kverbs_device *dev)
{
	free(dev->ports);
	free(dev->gids);
	dev->ports = NULL;
	dev->gids = NULL;
	dev->nr_ports = 0;
	dev->nr_gids = 0;
}

static void free_device(struct kverbs_device *dev)
{
	free_arrays(dev);
	free((void *)dev->attr);
}

/* Room for as many as the last query counted. */
static int make_arrays(struct kverbs_device *dev)
{
	unsigned int nr_ports = dev->attr->inout_ports_len, nr_gids = dev->attr->inout_gids_len;

	free_arrays(dev);
	dev->ports = calloc(nr_ports ? nr_ports : 1, sizeof(*dev->ports));
	dev->gids = calloc(nr_gids ? nr_gids : 1, sizeof(*dev->gids));
	if (!dev->ports || !dev->gids)
		return -ENOMEM;
	dev->nr_ports = nr_ports;
	dev->nr_gids = nr_gids;
	return 0;
}

static int fill_device(struct kverbs *kv, uint32_t index, struct kverbs_device *dev,
		       struct kverbs_cmd_device_query *cmd)
{
	int ret, tries = QUERY_TRIES;

	ret = query(kv, index, dev, cmd);
	while (ret == -EMSGSIZE && tries--) {
		ret = make_arrays(dev);
		if (ret)
			return ret;
		ret = query(kv, index, dev, cmd);
	}
	if (ret)
		return ret;
	dev->nr_ports = cmd->inout_ports_len;
	dev->nr_gids = cmd->inout_gids_len;
	cmd->ports_uptr = 0;
	cmd->gids_uptr = 0;
	return 0;
}

static int get_device(struct kverbs *kv, uint32_t index, struct kverbs_device *dev)
{
	struct kverbs_cmd_device_query *cmd = calloc(1, sizeof(*cmd));
	int ret;

	if (!cmd)
		return -ENOMEM;
	*dev = (struct kverbs_device){ .attr = cmd };
	ret = fill_device(kv, index, dev, cmd);
	if (ret)
		free_device(dev);
	return ret;
}

static int append(struct kverbs_device **list, int nr, const struct kverbs_device *dev)
{
	struct kverbs_device *p;

	p = realloc(*list, ((size_t)nr + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	p[nr] = *dev;
	*list = p;
	return 0;
}

int kverbs_device_list(struct kverbs *kv, struct kverbs_device **list)
{
	struct kverbs_device *found = NULL, dev;
	uint32_t index = 0;
	int ret, nr = 0;

	while (!(ret = get_device(kv, index, &dev))) {
		ret = append(&found, nr, &dev);
		if (ret) {
			free_device(&dev);
			break;
		}
		nr++;
		index = dev.attr->out_index + 1;
	}
	if (ret != -ENODEV) {
		kverbs_device_list_free(found, nr);
		return ret;
	}
	*list = found;
	return nr;
}

void kverbs_device_list_free(struct kverbs_device *list, int nr)
{
	if (!list)
		return;
	while (nr-- > 0)
		free_device(&list[nr]);
	free(list);
}
