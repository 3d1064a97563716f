// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Groups of connections.
 */
#include <errno.h>
#include <stdlib.h>

#include "group.h"
#include "internal.h"

static int create(struct kverbs *kv, uint32_t device_index, uint32_t *id)
{
	struct kverbs_cmd_group_create cmd = {
		.size = sizeof(cmd),
		.device_index = device_index,
	};
	int ret = kverbs_ioctl(kv, KVERBS_GROUP_CREATE, &cmd);

	*id = cmd.out_id;
	return ret;
}

int kverbs_group_create(struct kverbs *kv, uint32_t device_index,
			struct kverbs_group **group)
{
	struct kverbs_group *g = calloc(1, sizeof(*g));
	int ret;

	if (!g)
		return -ENOMEM;
	ret = create(kv, device_index, &g->id);
	if (ret) {
		free(g);
		return ret;
	}
	g->kv = kv->root;
	pthread_mutex_lock(&g->kv->lock);
	list_add_tail(&g->node, &g->kv->groups);
	pthread_mutex_unlock(&g->kv->lock);
	*group = g;
	return 0;
}

int kverbs_group_free(struct kverbs_group *group)
{
	int ret;

	if (!group)
		return 0;
	ret = kverbs_destroy(group->kv, group->id);
	if (ret)
		return ret;
	pthread_mutex_lock(&group->kv->lock);
	list_del(&group->node);
	pthread_mutex_unlock(&group->kv->lock);
	free(group);
	return 0;
}

int kverbs_group_id(const struct kverbs_group *group, const struct kverbs *kv, uint32_t *id)
{
	if (group && group->kv != kv->root)
		return -EINVAL;
	*id = group ? group->id : 0;
	return 0;
}
