/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_CMD_H
#define KVERBS_REGION_CMD_H

#include "object.h"

struct kverbs_region;
struct kverbs_ucmd;

/**
 * struct kverbs_region_obj - a region as user space knows it
 * @obj: the object
 * @region: the region
 */
struct kverbs_region_obj {
	struct kverbs_object obj;
	struct kverbs_region *region;
};

static inline struct kverbs_region *kverbs_region_of_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_region_obj, obj)->region;
}

struct kverbs_region_obj *kverbs_region_obj_get(struct kverbs_file *file, u32 id);
int kverbs_cmd_region_create(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_REGION_CMD_H */
