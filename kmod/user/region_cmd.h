/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REGION_CMD_H
#define KVERBS_REGION_CMD_H

#include "object.h"
#include "track.h"

struct kverbs_region;
struct kverbs_ring;
struct kverbs_ucmd;

/**
 * struct kverbs_region_obj - a region as user space knows it
 * @obj: the object
 * @region: the region
 * @ring: where to tell that the region became stale, or NULL; a slot is reserved there until
 *	that is told or @track is stopped, and the ring stays as long as the region
 * @user_data: what the user calls the region there
 * @track: with @ring: started with @region, and stopped before it is destroyed
 */
struct kverbs_region_obj {
	struct kverbs_object obj;
	struct kverbs_region *region;
	struct kverbs_ring *ring;
	u64 user_data;
	struct kverbs_track track;
};

static inline struct kverbs_region *kverbs_region_of_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_region_obj, obj)->region;
}

struct kverbs_region_obj *kverbs_region_obj_get(struct kverbs_file *file, u32 id);
int kverbs_cmd_region_create(struct kverbs_ucmd *ucmd);
int kverbs_cmd_region_export_fd(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_REGION_CMD_H */
