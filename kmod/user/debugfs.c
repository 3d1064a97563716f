// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs/objects and kverbs/devices in debugfs: a line of KEY=VALUE words for each. Keys may
 * come; none goes and none changes its meaning, since "kverbs stat" and "top" read them.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "conn.h"
#include "conn_cmd.h"
#include "debugfs.h"
#include "export.h"
#include "file.h"
#include "group_cmd.h"
#include "pool_obj.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "srq.h"

static struct dentry *dir;

static const char *const state_names[] = {
	[KVERBS_CONN_CONNECTING]	= "CONNECTING",
	[KVERBS_CONN_REQUESTED]		= "REQUESTED",
	[KVERBS_CONN_ACCEPTING]		= "ACCEPTING",
	[KVERBS_CONN_ESTABLISHED]	= "ESTABLISHED",
	[KVERBS_CONN_CLOSING]		= "CLOSING",
	[KVERBS_CONN_DEAD]		= "DEAD",
};

static void show_path(struct seq_file *m, struct kverbs_conn *conn)
{
	/* Held as long as a connection comes up or goes down. */
	if (!mutex_trylock(&conn->mutex)) {
		seq_puts(m, " busy=1");
		return;
	}
	if (conn->tenant.dev)
		seq_printf(m, " device=%s port=%u", dev_name(&conn->tenant.dev->ib->dev),
			   conn->port);
	if (conn->qp)
		seq_printf(m, " qp=%u mtu=%u", conn->qp->qp_num, conn->mtu);
	if (conn->srq)
		seq_printf(m, " srq=%u/%u", kverbs_srq_posted(conn->srq),
			   conn->srq->taker.depth);
	if (conn->local.ss_family)
		seq_printf(m, " local=%pISpc", &conn->local);
	if (conn->remote.ss_family)
		seq_printf(m, " remote=%pISpc", &conn->remote);
	mutex_unlock(&conn->mutex);
}

static void show_queue(struct seq_file *m, struct kverbs_queue *queue)
{
	spin_lock_bh(&queue->lock);
	seq_printf(m, " sq=%u/%u rq=%u/%u ops=%llu errors=%llu bytes_out=%llu bytes_in=%llu",
		   queue->sq_depth - queue->sq_free, queue->sq_depth,
		   queue->rq_depth - queue->rq_free, queue->rq_depth,
		   queue->ops_done, queue->errors, queue->bytes_out, queue->bytes_in);
	spin_unlock_bh(&queue->lock);
}

static void show_conn(struct seq_file *m, struct kverbs_object *obj)
{
	struct kverbs_conn_obj *conn_obj = container_of(obj, struct kverbs_conn_obj, obj);
	struct kverbs_conn *conn = conn_obj->conn;

	seq_printf(m, " state=%s error=%d", state_names[READ_ONCE(conn->state)],
		   READ_ONCE(conn->end.error));
	show_path(m, conn);
	show_queue(m, &conn->queue);
	seq_printf(m, " group=%u", kverbs_conn_obj_group_id(conn_obj));
}

static void show_export(struct seq_file *m, struct kverbs_object *obj)
{
	struct kverbs_export_obj *export_obj =
		container_of(obj, struct kverbs_export_obj, obj);

	seq_printf(m, " conn=%u segments=%u group=%u",
		   export_obj->conn_obj ? export_obj->conn_obj->obj.id : 0,
		   export_obj->export->nr,
		   export_obj->group_obj ? export_obj->group_obj->obj.id : 0);
}

static void show_group(struct seq_file *m, struct kverbs_object *obj)
{
	struct kverbs_group_obj *group_obj = container_of(obj, struct kverbs_group_obj, obj);

	seq_printf(m, " conns=%d exports=%d", atomic_read(&group_obj->conns),
		   atomic_read(&group_obj->exports));
}

static void show_region(struct seq_file *m, struct kverbs_object *obj)
{
	const struct kverbs_region *region =
		container_of(obj, struct kverbs_region_obj, obj)->region;

	seq_printf(m, " length=%llu pages=%lu writable=%d uses=%ld dmabuf=%d", region->length,
		   region->npages, region->writable, atomic_long_read(&region->uses),
		   region->opaque);
}

static void show_pool(struct seq_file *m, struct kverbs_object *obj)
{
	struct kverbs_pool_obj *pool_obj = container_of(obj, struct kverbs_pool_obj, obj);

	seq_printf(m, " entries=%u taken=%u waiting=%d users=%d", pool_obj->entries,
		   READ_ONCE(pool_obj->head), READ_ONCE(pool_obj->pool.is_wanted),
		   atomic_read(&pool_obj->users));
}

static void show_ring(struct seq_file *m, struct kverbs_object *obj)
{
	struct kverbs_ring *ring = container_of(obj, struct kverbs_ring, obj);

	seq_printf(m, " sq_entries=%u cq_entries=%u unread=%u users=%d", ring->sq_entries,
		   ring->cq_entries, kverbs_ring_unread(ring), atomic_read(&ring->users));
}

static const struct {
	const char *name;
	void (*show)(struct seq_file *m, struct kverbs_object *obj);
} types[KVERBS_OBJ_TYPES] = {
	[KVERBS_OBJ_LISTENER]	= { "listener", NULL },
	[KVERBS_OBJ_CONN]	= { "conn", show_conn },
	[KVERBS_OBJ_EXPORT]	= { "export", show_export },
	[KVERBS_OBJ_GROUP]	= { "group", show_group },
	[KVERBS_OBJ_POOL]	= { "pool", show_pool },
	[KVERBS_OBJ_REGION]	= { "region", show_region },
	[KVERBS_OBJ_RING]	= { "ring", show_ring },
};

static void show_object(struct seq_file *m, const struct kverbs_file *file,
			struct kverbs_object *obj)
{
	seq_printf(m, "pid=%d comm=", file->pid);
	seq_escape(m, file->comm, " \t\n\\");
	seq_printf(m, " type=%s id=%u", types[obj->type].name, obj->id);
	if (types[obj->type].show)
		types[obj->type].show(m, obj);
	seq_printf(m, " file=%llu\n", file->nr);
}

static void show_file(struct kverbs_file *file, void *arg)
{
	struct kverbs_object *entry, *obj;
	unsigned long id;

	xa_for_each(&file->objects.xa, id, entry) {
		/* The entry is not referenced: the object may be gone, or be another one. */
		obj = kverbs_object_get_any(file, id);
		if (IS_ERR(obj))
			continue;
		show_object(arg, file, obj);
		kverbs_object_put(obj);
		cond_resched();
	}
}

static int objects_show(struct seq_file *m, void *unused)
{
	return kverbs_file_for_each(show_file, m);
}
DEFINE_SHOW_ATTRIBUTE(objects);

static void show_device(const struct kverbs_device_use *use, void *arg)
{
	seq_printf(arg, "device=%s type=device conns=%u", use->name, use->conns);
	seq_printf(arg, " ops=%llu errors=%llu bytes_out=%llu bytes_in=%llu\n",
		   use->moved.ops, use->moved.errors, use->moved.bytes_out,
		   use->moved.bytes_in);
}

static int devices_show(struct seq_file *m, void *unused)
{
	kverbs_device_for_each(show_device, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(devices);

/**
 * kverbs_debugfs_init() - create the directory, if debugfs is there
 */
void kverbs_debugfs_init(void)
{
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("objects", 0400, dir, NULL, &objects_fops);
	debugfs_create_file("devices", 0400, dir, NULL, &devices_fops);
}

/**
 * kverbs_debugfs_exit() - remove it
 */
void kverbs_debugfs_exit(void)
{
	debugfs_remove(dir);
}
