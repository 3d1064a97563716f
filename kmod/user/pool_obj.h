/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_POOL_OBJ_H
#define KVERBS_POOL_OBJ_H

#include <linux/err.h>
#include <linux/kverbs.h>
#include <linux/mutex.h>

#include "object.h"
#include "pool.h"
#include "shm.h"

/* Pools that one file may have at a time. */
#define KVERBS_MAX_POOLS	256
/* Ids of buffers have 16 bits. */
#define KVERBS_MAX_POOL_ENTRIES	65536
/* The buffers follow the user's index. */
#define KVERBS_POOL_BUFS_OFFSET	sizeof(struct kverbs_pool_user)

/**
 * struct kverbs_pool_obj - a receive pool as user space knows it
 * @obj: the object
 * @pool: the pool; its lock guards @flags
 * @index: which pool of the file, for its mmap offsets
 * @user: struct kverbs_pool_user and the buffers, user-written: not to be trusted
 * @kernel: struct kverbs_pool_kernel
 * @entries: size of the ring
 * @lock: held while buffers are taken; taken after the mutex of a connection
 * @head: buffers taken, written under @lock; the shared copy is never read back
 * @flags: KVERBS_POOL_KFLAG_* as user space sees them
 * @users: connections that use it
 */
struct kverbs_pool_obj {
	struct kverbs_object obj;
	struct kverbs_recv_pool pool;
	u32 index;
	struct kverbs_shm user;
	struct kverbs_shm kernel;
	u32 entries;
	struct mutex lock;
	u32 head;
	u32 flags;
	atomic_t users;
};

/* As kverbs_object_get(). */
static inline struct kverbs_pool_obj *kverbs_pool_obj_get(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get(file, id, KVERBS_OBJ_POOL);

	return IS_ERR(obj) ? ERR_CAST(obj) : container_of(obj, struct kverbs_pool_obj, obj);
}

#endif /* KVERBS_POOL_OBJ_H */
