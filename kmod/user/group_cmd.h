/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_GROUP_CMD_H
#define KVERBS_GROUP_CMD_H

#include <linux/atomic.h>

#include "object.h"

struct kverbs_group;
struct kverbs_ucmd;

/**
 * struct kverbs_group_obj - a group as user space knows it
 * @obj: the object
 * @group: the group
 * @conns: its connections, until each is destroyed
 * @exports: its exports
 */
struct kverbs_group_obj {
	struct kverbs_object obj;
	struct kverbs_group *group;
	atomic_t conns;
	atomic_t exports;
};

struct kverbs_group_obj *kverbs_group_obj_get(struct kverbs_file *file, u32 id);

static inline void kverbs_group_obj_put(struct kverbs_group_obj *group_obj)
{
	if (group_obj)
		kverbs_object_put(&group_obj->obj);
}

static inline struct kverbs_group *kverbs_group_of(const struct kverbs_group_obj *group_obj)
{
	return group_obj ? group_obj->group : NULL;
}

int kverbs_cmd_group_create(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_GROUP_CMD_H */
