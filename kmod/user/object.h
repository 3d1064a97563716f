/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_OBJECT_H
#define KVERBS_OBJECT_H

#include <linux/refcount.h>
#include <linux/types.h>

struct kverbs_file;
struct kverbs_object_table;
struct kverbs_object;

/**
 * enum kverbs_object_type - in the order in which a closing file ends them
 * @KVERBS_OBJ_LISTENER: no new connections
 * @KVERBS_OBJ_CONN: with their exports
 * @KVERBS_OBJ_EXPORT: those of groups; no other is left by then
 * @KVERBS_OBJ_GROUP: none of their connections and exports is left
 * @KVERBS_OBJ_POOL: no connection uses them any more
 * @KVERBS_OBJ_REGION: nothing uses them any more
 * @KVERBS_OBJ_RING: last, since all others report to it
 * @KVERBS_OBJ_TYPES: how many types there are
 */
enum kverbs_object_type {
	KVERBS_OBJ_LISTENER,
	KVERBS_OBJ_CONN,
	KVERBS_OBJ_EXPORT,
	KVERBS_OBJ_GROUP,
	KVERBS_OBJ_POOL,
	KVERBS_OBJ_REGION,
	KVERBS_OBJ_RING,
	KVERBS_OBJ_TYPES,
};

/**
 * struct kverbs_object_ops - what differs between types
 * @settle: make what @busy looks at exact; may be NULL; may sleep
 * @busy: whether something uses it, so that it must stay; may be NULL; must not
 *	sleep, nor look for an object
 * @shutdown: make ioctls that use it come back; may be NULL. If it turns out to
 *	be busy it stays and @restart undoes this.
 * @restart: see @shutdown
 * @quiesce: wait for what uses it without a reference; may be NULL. Returns 0 or -EINTR: it stays.
 * @destroy: free it: unpublished, and no ioctl uses it. Returns 0 or -EINTR.
 */
struct kverbs_object_ops {
	void (*settle)(struct kverbs_object *obj);
	bool (*busy)(struct kverbs_object *obj);
	void (*shutdown)(struct kverbs_object *obj);
	void (*restart)(struct kverbs_object *obj);
	int (*quiesce)(struct kverbs_object *obj);
	int (*destroy)(struct kverbs_object *obj);
};

/**
 * struct kverbs_object - what user space knows by an id
 * @id: the id
 * @type: enum kverbs_object_type
 * @ops: what its type does
 * @file: where it belongs
 * @gets: 1 while published, and one for each ioctl that uses it now
 * @rcu: to free what holds it, once it was published, by kfree_rcu(): look-ups take no lock
 *
 * Life: kverbs_object_reserve() gives it an id that cannot be looked up,
 * kverbs_object_publish() lets it be found when nothing can fail any more,
 * kverbs_object_destroy() takes it away.
 */
struct kverbs_object {
	u32 id;
	enum kverbs_object_type type;
	const struct kverbs_object_ops *ops;
	struct kverbs_file *file;
	refcount_t gets;
	struct rcu_head rcu;
};

void kverbs_object_table_init(struct kverbs_object_table *table);
void kverbs_object_table_exit(struct kverbs_object_table *table);
int kverbs_object_reserve(struct kverbs_file *file, struct kverbs_object *obj,
			  enum kverbs_object_type type,
			  const struct kverbs_object_ops *ops);
void kverbs_object_unreserve(struct kverbs_object *obj);
void kverbs_object_publish(struct kverbs_object *obj);
struct kverbs_object *kverbs_object_get_any(struct kverbs_file *file, u32 id);
struct kverbs_object *kverbs_object_get(struct kverbs_file *file, u32 id,
					enum kverbs_object_type type);
void kverbs_object_put(struct kverbs_object *obj);
int kverbs_object_destroy(struct kverbs_file *file, u32 id);
int kverbs_object_destroy_all(struct kverbs_file *file);

#endif /* KVERBS_OBJECT_H */
