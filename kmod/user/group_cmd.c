// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups, as user space creates and ends them. */
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "file.h"
#include "group.h"
#include "group_cmd.h"

static struct kverbs_group_obj *to_group_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_group_obj, obj);
}

/**
 * kverbs_group_obj_get() - find a group for this ioctl
 * @file: where it belongs
 * @id: its id, 0 for none
 *
 * Return: the object, to be kverbs_group_obj_put(); NULL for none; or ERR_PTR(-ENOENT).
 */
struct kverbs_group_obj *kverbs_group_obj_get(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj;

	if (!id)
		return NULL;
	obj = kverbs_object_get(file, id, KVERBS_OBJ_GROUP);
	return IS_ERR(obj) ? ERR_CAST(obj) : to_group_obj(obj);
}

static bool group_busy(struct kverbs_object *obj)
{
	struct kverbs_group_obj *group_obj = to_group_obj(obj);

	return atomic_read(&group_obj->conns) || atomic_read(&group_obj->exports);
}

static int group_destroy(struct kverbs_object *obj)
{
	struct kverbs_group_obj *group_obj = to_group_obj(obj);

	kverbs_group_destroy(group_obj->group);
	kfree_rcu(group_obj, obj.rcu);
	return 0;
}

static const struct kverbs_object_ops group_ops = {
	.busy		= group_busy,
	.destroy	= group_destroy,
};

int kverbs_cmd_group_create(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_group_create *cmd = ucmd->cmd;
	struct kverbs_group_obj *group_obj;
	int ret;

	if (cmd->flags)
		return -EINVAL;
	group_obj = kzalloc(sizeof(*group_obj), GFP_KERNEL_ACCOUNT);
	if (!group_obj)
		return -ENOMEM;
	group_obj->group = kverbs_group_create(cmd->device_index, current->nsproxy->net_ns);
	if (IS_ERR(group_obj->group)) {
		ret = PTR_ERR(group_obj->group);
		goto out_free_obj;
	}
	ret = kverbs_object_reserve(ucmd->file, &group_obj->obj, KVERBS_OBJ_GROUP, &group_ops);
	if (ret)
		goto out_destroy_group;
	cmd->out_id = group_obj->obj.id;
	ucmd->new = &group_obj->obj;
	return 0;

out_destroy_group:
	kverbs_group_destroy(group_obj->group);
out_free_obj:
	kfree(group_obj);
	return ret;
}
