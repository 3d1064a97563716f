// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions, as user space makes and ends them. */
#include <linux/bitops.h>
#include <linux/kverbs.h>
#include <linux/slab.h>

#include "conn_cmd.h"
#include "file.h"
#include "memory.h"
#include "region.h"
#include "region_cmd.h"
#include "region_fd.h"
#include "ring.h"

#define KINDS	(KVERBS_REGION_TRACK | KVERBS_REGION_FD | KVERBS_REGION_DMABUF)

static struct kverbs_region_obj *to_region_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_region_obj, obj);
}

/**
 * kverbs_region_obj_get() - find a region for this ioctl
 * @file: where it belongs
 * @id: its id
 *
 * Return: the object, to be kverbs_object_put(), or ERR_PTR(-ENOENT).
 */
struct kverbs_region_obj *kverbs_region_obj_get(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get(file, id, KVERBS_OBJ_REGION);

	return IS_ERR(obj) ? ERR_CAST(obj) : to_region_obj(obj);
}

static bool region_busy(struct kverbs_object *obj)
{
	return kverbs_region_is_busy(to_region_obj(obj)->region);
}

/* Gives the slot back that tells that the region became stale, unless it did. */
static void detach_ring(struct kverbs_region_obj *region_obj)
{
	if (!region_obj->ring)
		return;
	if (!region_obj->track.stale)
		kverbs_ring_unreserve(region_obj->ring, 1);
	atomic_dec(&region_obj->ring->users);
}

static int region_destroy(struct kverbs_object *obj)
{
	struct kverbs_region_obj *region_obj = to_region_obj(obj);

	if (region_obj->ring)
		kverbs_track_stop(&region_obj->track);
	detach_ring(region_obj);
	if (atomic_long_read(&region_obj->region->cached))
		kverbs_conn_forget_all(obj->file, region_obj->region);
	kverbs_region_destroy(region_obj->region);
	kfree_rcu(region_obj, obj.rcu);
	return 0;
}

static const struct kverbs_object_ops region_ops = {
	.settle		= kverbs_rings_forget,
	.busy		= region_busy,
	.shutdown	= kverbs_rings_forget,
	.destroy	= region_destroy,
};

/* The range of memory has got other pages, or is about to. */
static void region_changed(struct kverbs_track *track)
{
	struct kverbs_region_obj *region_obj =
		container_of(track, struct kverbs_region_obj, track);
	const struct kverbs_cqe cqe = {
		.user_data = region_obj->user_data,
		.id = region_obj->obj.id,
		.type = KVERBS_CQE_REGION_STALE,
	};

	kverbs_ring_stale(region_obj->ring, &cqe);
}

static int check_region(const struct kverbs_cmd_region_create *cmd)
{
	u32 kind = cmd->flags & ~KVERBS_REGION_READ_ONLY;

	if (kind & ~KINDS || hweight32(kind) > 1 || cmd->__reserved)
		return -EINVAL;
	if (kind & KVERBS_REGION_FD && (cmd->addr || cmd->length))
		return -EINVAL;
	if (!(kind & (KVERBS_REGION_FD | KVERBS_REGION_DMABUF)) && cmd->fd)
		return -EINVAL;
	if (!(cmd->flags & KVERBS_REGION_TRACK) && (cmd->ring_id || cmd->user_data))
		return -EINVAL;
	if (cmd->addr > ULONG_MAX)
		return -EINVAL;
	if (cmd->flags & KVERBS_REGION_TRACK && !IS_ENABLED(CONFIG_MMU_NOTIFIER))
		return -EOPNOTSUPP;
	return 0;
}

static int attach_ring(struct kverbs_region_obj *region_obj, struct kverbs_file *file,
		       const struct kverbs_cmd_region_create *cmd)
{
	struct kverbs_ring *ring;
	int ret;

	if (!(cmd->flags & KVERBS_REGION_TRACK))
		return 0;
	ring = kverbs_ring_get(file, cmd->ring_id);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = kverbs_ring_reserve(ring, 1);
	if (!ret) {
		atomic_inc(&ring->users);
		region_obj->ring = ring;
		region_obj->user_data = cmd->user_data;
		region_obj->track.changed = region_changed;
	}
	kverbs_object_put(&ring->obj);
	return ret;
}

static struct kverbs_region *region_of_fd(int fd, bool writable)
{
	struct kverbs_memory *memory = kverbs_memory_of_fd(fd, writable);
	struct kverbs_region *region;

	if (IS_ERR(memory))
		return ERR_CAST(memory);
	region = kverbs_region_of_memory(memory, writable, GFP_KERNEL_ACCOUNT);
	kverbs_memory_put(memory);
	return region;
}

static struct kverbs_region *new_region(const struct kverbs_cmd_region_create *cmd,
					struct kverbs_track *track)
{
	bool writable = !(cmd->flags & KVERBS_REGION_READ_ONLY);

	if (cmd->flags & KVERBS_REGION_FD)
		return region_of_fd(cmd->fd, writable);
	if (cmd->flags & KVERBS_REGION_DMABUF)
		return kverbs_region_of_dmabuf(cmd->fd, cmd->addr, cmd->length, writable);
	return kverbs_region_create_tracked(cmd->addr, cmd->length, writable, track);
}

int kverbs_cmd_region_create(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_region_create *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	int ret;

	ret = check_region(cmd);
	if (ret)
		return ret;
	region_obj = kzalloc(sizeof(*region_obj), GFP_KERNEL_ACCOUNT);
	if (!region_obj)
		return -ENOMEM;
	/* The completion that tells of a change names the region, so it needs an id first. */
	ret = kverbs_object_reserve(ucmd->file, &region_obj->obj, KVERBS_OBJ_REGION,
				    &region_ops);
	if (ret)
		goto out_free_obj;
	ret = attach_ring(region_obj, ucmd->file, cmd);
	if (ret)
		goto out_unreserve;
	region_obj->region = new_region(cmd, region_obj->ring ? &region_obj->track : NULL);
	if (IS_ERR(region_obj->region)) {
		ret = PTR_ERR(region_obj->region);
		goto out_detach_ring;
	}
	cmd->out_id = region_obj->obj.id;
	cmd->out_length = region_obj->region->length;
	ucmd->new = &region_obj->obj;
	return 0;

out_detach_ring:
	detach_ring(region_obj);
out_unreserve:
	kverbs_object_unreserve(&region_obj->obj);
out_free_obj:
	kfree(region_obj);
	return ret;
}

static int share(struct kverbs_ucmd *ucmd, struct kverbs_region *region, bool writable)
{
	if (writable && !region->writable)
		return -EACCES;
	return kverbs_memory_share(ucmd, region->memory, writable);
}

int kverbs_cmd_region_export_fd(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_region_export_fd *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	int ret;

	if (cmd->flags & ~KVERBS_REGION_READ_ONLY)
		return -EINVAL;
	region_obj = kverbs_region_obj_get(ucmd->file, cmd->region_id);
	if (IS_ERR(region_obj))
		return PTR_ERR(region_obj);
	ret = share(ucmd, region_obj->region, !(cmd->flags & KVERBS_REGION_READ_ONLY));
	kverbs_object_put(&region_obj->obj);
	cmd->out_fd = ucmd->new_fd;
	return ret;
}
