// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports, as user space makes and ends them. */
#include <linux/slab.h>

#include "array.h"
#include "conn.h"
#include "conn_cmd.h"
#include "export.h"
#include "export_cmd.h"
#include "file.h"
#include "region.h"
#include "region_cmd.h"

#define RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)
#define WRITES	(KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)

static int export_destroy(struct kverbs_object *obj)
{
	struct kverbs_export_obj *export_obj =
		container_of(obj, struct kverbs_export_obj, obj);
	struct kverbs_conn_obj *conn_obj = export_obj->conn_obj;
	int ret;

	mutex_lock(&conn_obj->export_lock);
	list_del_init(&export_obj->entry);
	mutex_unlock(&conn_obj->export_lock);
	ret = kverbs_export_destroy(export_obj->export);
	kverbs_conn_obj_put_ref(conn_obj);
	kfree_rcu(export_obj, obj.rcu);
	return ret;
}

static const struct kverbs_object_ops export_ops = {
	.destroy	= export_destroy,
};

static int new_export_obj(struct kverbs_ucmd *ucmd, struct kverbs_conn_obj *conn_obj,
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
	export_obj->conn_obj = conn_obj;
	kref_get(&conn_obj->ref);
	mutex_lock(&conn_obj->export_lock);
	list_add_tail(&export_obj->entry, &conn_obj->exports);
	mutex_unlock(&conn_obj->export_lock);
	cmd->out_id = export_obj->obj.id;
	ucmd->new = &export_obj->obj;
	return 0;
}

static int check_room(struct kverbs_cmd_export *cmd, struct kverbs_conn *conn,
		      struct kverbs_region *region)
{
	unsigned int nr = 0;
	int ret;

	down_read(&conn->use);
	ret = kverbs_export_check(conn, cmd->access);
	if (!ret)
		nr = kverbs_export_count(conn, region, cmd->offset, cmd->length);
	up_read(&conn->use);
	if (!ret && cmd->inout_segs_len < nr)
		ret = -EMSGSIZE;
	cmd->inout_segs_len = nr;
	return ret;
}

static int export_to_peer(struct kverbs_ucmd *ucmd, struct kverbs_conn_obj *conn_obj,
			  struct kverbs_region *region, struct kverbs_segment *segs)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_export *export;
	int ret;

	kverbs_region_use(region);
	export = kverbs_export_create(conn_obj->conn, region, cmd->offset, cmd->length,
				      cmd->access, segs);
	kverbs_region_unuse(region);
	if (IS_ERR(export))
		return PTR_ERR(export);
	/* User memory may fault for any length of time, so no lock is held here. */
	ret = kverbs_array_put(cmd->segs_uptr, cmd->segs_stride, segs, sizeof(*segs),
			       cmd->inout_segs_len);
	if (!ret)
		ret = new_export_obj(ucmd, conn_obj, export);
	if (ret)
		kverbs_export_destroy(export);
	return ret;
}

static int export_region(struct kverbs_ucmd *ucmd, struct kverbs_conn_obj *conn_obj,
			 struct kverbs_region *region)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_segment *segs;
	int ret;

	if (!cmd->length || !kverbs_region_covers(region, cmd->offset, cmd->length))
		return -EINVAL;
	if (cmd->access & WRITES && !region->writable)
		return -EINVAL;
	ret = check_room(cmd, conn_obj->conn, region);
	if (ret)
		return ret;
	segs = kvcalloc(cmd->inout_segs_len, sizeof(*segs), GFP_KERNEL_ACCOUNT);
	if (!segs)
		return -ENOMEM;
	ret = export_to_peer(ucmd, conn_obj, region, segs);
	kvfree(segs);
	return ret;
}

int kverbs_cmd_export(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_export *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	struct kverbs_conn_obj *conn_obj;
	int ret;

	if (cmd->flags || !cmd->access || cmd->access & ~RIGHTS)
		return -EINVAL;
	ret = kverbs_array_check(cmd->segs_stride, sizeof(struct kverbs_segment));
	if (ret)
		return ret;
	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	region_obj = kverbs_region_obj_get(ucmd->file, cmd->region_id);
	if (IS_ERR(region_obj)) {
		ret = PTR_ERR(region_obj);
		goto out_put_conn;
	}
	ret = export_region(ucmd, conn_obj, region_obj->region);
	kverbs_object_put(&region_obj->obj);
	if (!ret) {
		ucmd->parent = &conn_obj->obj;
		return 0;
	}
out_put_conn:
	kverbs_object_put(&conn_obj->obj);
	return ret;
}
