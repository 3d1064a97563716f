// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports, as user space makes and ends them. */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "array.h"
#include "conn.h"
#include "conn_cmd.h"
#include "export.h"
#include "export_cmd.h"
#include "file.h"
#include "group_cmd.h"
#include "region.h"
#include "region_cmd.h"

#define RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)
#define WRITES	(KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)

static void leave_conn(struct kverbs_export_obj *export_obj)
{
	struct kverbs_conn_obj *conn_obj = export_obj->conn_obj;

	if (!conn_obj)
		return;
	mutex_lock(&conn_obj->export_lock);
	list_del_init(&export_obj->entry);
	mutex_unlock(&conn_obj->export_lock);
}

static int export_destroy(struct kverbs_object *obj)
{
	struct kverbs_export_obj *export_obj =
		container_of(obj, struct kverbs_export_obj, obj);
	int ret;

	leave_conn(export_obj);
	ret = kverbs_export_destroy(export_obj->export);
	if (export_obj->conn_obj)
		kverbs_conn_obj_put_ref(export_obj->conn_obj);
	else
		atomic_dec(&export_obj->group_obj->exports);
	kfree_rcu(export_obj, obj.rcu);
	return ret;
}

static const struct kverbs_object_ops export_ops = {
	.destroy	= export_destroy,
};

/**
 * struct target - where the keys of an export shall be valid
 * @obj: the object that the user named
 * @conn_obj: the connection, or NULL
 * @group_obj: else the group
 */
struct target {
	struct kverbs_object *obj;
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_group_obj *group_obj;
};

static int get_target(struct kverbs_file *file, u32 id, struct target *target)
{
	struct kverbs_object *obj = kverbs_object_get_any(file, id);

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*target = (struct target) { .obj = obj };
	if (obj->type == KVERBS_OBJ_CONN) {
		target->conn_obj = container_of(obj, struct kverbs_conn_obj, obj);
		return 0;
	}
	if (obj->type == KVERBS_OBJ_GROUP) {
		target->group_obj = container_of(obj, struct kverbs_group_obj, obj);
		return 0;
	}
	kverbs_object_put(obj);
	return -ENOENT;
}

static void attach(struct kverbs_export_obj *export_obj, const struct target *target)
{
	struct kverbs_conn_obj *conn_obj = target->conn_obj;

	export_obj->conn_obj = conn_obj;
	export_obj->group_obj = target->group_obj;
	if (!conn_obj) {
		atomic_inc(&target->group_obj->exports);
		return;
	}
	kref_get(&conn_obj->ref);
	mutex_lock(&conn_obj->export_lock);
	list_add_tail(&export_obj->entry, &conn_obj->exports);
	mutex_unlock(&conn_obj->export_lock);
}

static int new_export_obj(struct kverbs_ucmd *ucmd, const struct target *target,
			  struct kverbs_export *export)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_export_obj *export_obj;
	int ret;

	export_obj = kzalloc(sizeof(*export_obj), GFP_KERNEL_ACCOUNT);
	if (!export_obj)
		return -ENOMEM;
	ret = kverbs_object_reserve(ucmd->file, &export_obj->obj, KVERBS_OBJ_EXPORT,
				    &export_ops);
	if (ret) {
		kfree(export_obj);
		return ret;
	}
	export_obj->export = export;
	attach(export_obj, target);
	cmd->out_id = export_obj->obj.id;
	ucmd->new = &export_obj->obj;
	return 0;
}

static int check_room(struct kverbs_cmd_export *cmd, const struct target *target,
		      const struct kverbs_export_range *range)
{
	unsigned int nr = 0;
	int ret;

	if (target->conn_obj)
		ret = kverbs_export_count(target->conn_obj->conn, range, &nr);
	else
		ret = kverbs_export_count_in_group(target->group_obj->group, range, &nr);
	if (!ret && cmd->inout_segs_len < nr)
		ret = -EMSGSIZE;
	cmd->inout_segs_len = nr;
	return ret;
}

static struct kverbs_export *create_export(const struct target *target,
					   const struct kverbs_export_range *range,
					   struct kverbs_segment *segs)
{
	if (target->conn_obj)
		return kverbs_export_to_conn(target->conn_obj->conn, range, segs);
	return kverbs_export_to_group(target->group_obj->group, range, segs);
}

static int export_to_peer(struct kverbs_ucmd *ucmd, const struct target *target,
			  const struct kverbs_export_range *range, struct kverbs_segment *segs)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_export *export;
	int ret;

	export = create_export(target, range, segs);
	if (IS_ERR(export))
		return PTR_ERR(export);
	/* User memory may fault for any length of time, so no lock is held here. */
	ret = kverbs_array_put(cmd->segs_uptr, cmd->segs_stride, segs, sizeof(*segs),
			       cmd->inout_segs_len);
	if (!ret)
		ret = new_export_obj(ucmd, target, export);
	if (ret)
		kverbs_export_destroy(export);
	return ret;
}

static int export_range(struct kverbs_ucmd *ucmd, const struct target *target,
			const struct kverbs_export_range *range)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_segment *segs;
	int ret;

	ret = check_room(cmd, target, range);
	if (ret)
		return ret;
	segs = kvcalloc(cmd->inout_segs_len, sizeof(*segs), GFP_KERNEL_ACCOUNT);
	if (!segs)
		return -ENOMEM;
	ret = export_to_peer(ucmd, target, range, segs);
	kvfree(segs);
	return ret;
}

/* Devices find a page by the address from the first one's boundary. */
static bool has_valid_iova(const struct kverbs_cmd_export *cmd,
			   const struct kverbs_region *region)
{
	u64 end;

	if (!(cmd->flags & KVERBS_EXPORT_IOVA))
		return !cmd->iova;
	return offset_in_page(cmd->iova) == offset_in_page(region->page_offset + cmd->offset) &&
	       !check_add_overflow(cmd->iova, cmd->length, &end);
}

static int export_region(struct kverbs_ucmd *ucmd, const struct target *target,
			 struct kverbs_region *region)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	const struct kverbs_export_range range = {
		.region = region,
		.offset = cmd->offset,
		.length = cmd->length,
		.rights = cmd->access,
		.has_iova = cmd->flags & KVERBS_EXPORT_IOVA,
		.iova = cmd->iova,
	};
	int ret;

	if (!cmd->length || !kverbs_region_covers(region, cmd->offset, cmd->length))
		return -EINVAL;
	if (cmd->access & WRITES && !region->writable)
		return -EINVAL;
	if (!has_valid_iova(cmd, region))
		return -EINVAL;
	kverbs_region_use(region);
	ret = export_range(ucmd, target, &range);
	kverbs_region_unuse(region);
	return ret;
}

int kverbs_cmd_export(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	struct target target;
	int ret;

	if (cmd->flags & ~KVERBS_EXPORT_IOVA || !cmd->access || cmd->access & ~RIGHTS)
		return -EINVAL;
	ret = kverbs_array_check(cmd->segs_stride, sizeof(struct kverbs_segment));
	if (ret)
		return ret;
	ret = get_target(ucmd->file, cmd->conn_id, &target);
	if (ret)
		return ret;
	region_obj = kverbs_region_obj_get(ucmd->file, cmd->region_id);
	if (IS_ERR(region_obj)) {
		ret = PTR_ERR(region_obj);
		goto out_put_target;
	}
	ret = export_region(ucmd, &target, region_obj->region);
	kverbs_object_put(&region_obj->obj);
	if (!ret) {
		ucmd->parent = target.obj;
		return 0;
	}
out_put_target:
	kverbs_object_put(target.obj);
	return ret;
}
