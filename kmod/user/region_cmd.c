// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions, as user space makes and ends them. */
#include <linux/kverbs.h>
#include <linux/slab.h>

#include "conn_cmd.h"
#include "file.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"

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

static int region_destroy(struct kverbs_object *obj)
{
	struct kverbs_region_obj *region_obj = to_region_obj(obj);

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

int kverbs_cmd_region_create(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_region_create *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	int ret;

	if (cmd->flags & ~KVERBS_REGION_READ_ONLY || cmd->__reserved)
		return -EINVAL;
	if (cmd->addr > ULONG_MAX)
		return -EINVAL;
	region_obj = kzalloc(sizeof(*region_obj), GFP_KERNEL_ACCOUNT);
	if (!region_obj)
		return -ENOMEM;
	region_obj->region = kverbs_region_create(cmd->addr, cmd->length,
						  !(cmd->flags & KVERBS_REGION_READ_ONLY));
	if (IS_ERR(region_obj->region)) {
		ret = PTR_ERR(region_obj->region);
		goto out_free_obj;
	}
	ret = kverbs_object_reserve(ucmd->file, &region_obj->obj, KVERBS_OBJ_REGION,
				    &region_ops);
	if (ret)
		goto out_destroy_region;
	cmd->out_id = region_obj->obj.id;
	ucmd->new = &region_obj->obj;
	return 0;

out_destroy_region:
	kverbs_region_destroy(region_obj->region);
out_free_obj:
	kfree(region_obj);
	return ret;
}
