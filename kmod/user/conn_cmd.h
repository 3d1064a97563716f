/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_CMD_H
#define KVERBS_CONN_CMD_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "object.h"

struct kverbs_backlog;
struct kverbs_conn;
struct kverbs_export;
struct kverbs_group_obj;
struct kverbs_pool_obj;
struct kverbs_region;
struct kverbs_ring;
struct kverbs_ucmd;
struct rdma_cm_event;
struct rdma_cm_id;

/* Work requests and receives of one connection that the user may ask for. */
#define KVERBS_MAX_DEPTH	32768

/**
 * struct kverbs_conn_obj - a connection as user space knows it
 * @obj: the object
 * @ref: the object's own and that of each export, whose end needs @conn
 * @conn: the connection
 * @group_obj: the group, or NULL; counted there until this is destroyed
 * @lock: guards @ring, @user_data, @slots, @silent and the change of @group_obj
 * @ring: where its completions go; attached until @conn has ended
 * @user_data: what the user calls it
 * @slots: completion slots reserved for its events
 * @silent: it is being destroyed, and reports no event any more
 * @pool_obj: the receive pool that it uses, counted there, or NULL
 * @refused: @nr_submits of the ring when an operation was refused last; under the ring's
 *	submit_lock
 * @export_lock: guards @exports
 * @exports: struct kverbs_export_obj
 */
struct kverbs_conn_obj {
	struct kverbs_object obj;
	struct kref ref;
	struct kverbs_conn *conn;
	struct kverbs_group_obj *group_obj;
	spinlock_t lock;
	struct kverbs_ring *ring;
	u64 user_data;
	u32 slots;
	bool silent;
	struct kverbs_pool_obj *pool_obj;
	u64 refused;
	struct mutex export_lock;
	struct list_head exports;
};

/**
 * struct kverbs_export_obj - an export as user space knows it
 * @obj: the object
 * @conn_obj: the connection; a reference is held; NULL in a group
 * @group_obj: the group, or NULL
 * @entry: in the list of the connection, under its lock
 * @export: the export
 */
struct kverbs_export_obj {
	struct kverbs_object obj;
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_group_obj *group_obj;
	struct list_head entry;
	struct kverbs_export *export;
};

struct kverbs_conn_obj *kverbs_conn_obj_get(struct kverbs_file *file, u32 id);
u32 kverbs_conn_obj_group_id(struct kverbs_conn_obj *conn_obj);
void kverbs_conn_obj_put_ref(struct kverbs_conn_obj *conn_obj);
int kverbs_conn_obj_request(struct kverbs_ring *ring, u64 user_data,
			    struct rdma_cm_id *id, const struct rdma_cm_event *event,
			    struct kverbs_backlog *backlog);
void kverbs_conn_forget_all(struct kverbs_file *file, struct kverbs_region *region);

int kverbs_cmd_connect(struct kverbs_ucmd *ucmd);
int kverbs_cmd_accept(struct kverbs_ucmd *ucmd);
int kverbs_cmd_reject(struct kverbs_ucmd *ucmd);
int kverbs_cmd_disconnect(struct kverbs_ucmd *ucmd);
int kverbs_cmd_conn_query(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_CONN_CMD_H */
