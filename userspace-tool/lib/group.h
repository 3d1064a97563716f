/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_GROUP_H
#define KVERBS_GROUP_H

#include <stdint.h>

#include "list.h"

/*
 * @kv: the context
 * @node: in the context's list, under its lock
 * @id: the group
 */
struct kverbs_group {
	struct kverbs *kv;
	struct list_head node;
	uint32_t id;
};

/* The id of @group for CONNECT and ACCEPT; -EINVAL if it belongs to another context. */
int kverbs_group_id(const struct kverbs_group *group, const struct kverbs *kv, uint32_t *id);

#endif /* KVERBS_GROUP_H */
