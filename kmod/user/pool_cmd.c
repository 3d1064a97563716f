// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: POOL_CREATE, and the ring of buffers that user space writes. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "conn.h"
#include "conn_cmd.h"
#include "file.h"
#include "pool_cmd.h"
#include "pool_obj.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "slot.h"

static struct kverbs_pool_obj *to_pool_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_pool_obj, obj);
}

/**
 * kverbs_pool_obj_wake() - let the connections that wait for buffers of a pool look again
 * @file: where the pool belongs
 * @id: its id
 *
 * Return: 0 or -ENOENT.
 */
int kverbs_pool_obj_wake(struct kverbs_file *file, u32 id)
{
	struct kverbs_pool_obj *pool_obj = kverbs_pool_obj_get(file, id);

	if (IS_ERR(pool_obj))
		return PTR_ERR(pool_obj);
	/* Pairs with that of begin_wait() in pool.c: user space has added buffers before. */
	smp_mb();
	kverbs_recv_pool_wake(&pool_obj->pool);
	kverbs_object_put(&pool_obj->obj);
	return 0;
}

static void change_flag(struct kverbs_pool_obj *pool_obj, u32 flag, bool set)
{
	struct kverbs_pool_kernel *shared = pool_obj->kernel.addr;

	lockdep_assert_held(&pool_obj->pool.lock);
	pool_obj->flags = set ? pool_obj->flags | flag : pool_obj->flags & ~flag;
	WRITE_ONCE(shared->flags, pool_obj->flags);
}

/* More than there are entries if the user's tail is out of range. */
static u32 distance(const struct kverbs_pool_obj *pool_obj)
{
	const struct kverbs_pool_user *user = pool_obj->user.addr;

	/* Pairs with the release of user space, which has written the buffers before. */
	return smp_load_acquire(&user->tail) - READ_ONCE(pool_obj->head);
}

static unsigned int pool_count(struct kverbs_recv_pool *pool)
{
	struct kverbs_pool_obj *pool_obj = container_of(pool, struct kverbs_pool_obj, pool);
	u32 nr = distance(pool_obj);

	return nr <= pool_obj->entries ? nr : 0;
}

static u32 filled(struct kverbs_pool_obj *pool_obj)
{
	u32 nr = distance(pool_obj);

	lockdep_assert_held(&pool_obj->lock);
	if (likely(nr <= pool_obj->entries))
		return nr;
	spin_lock(&pool_obj->pool.lock);
	change_flag(pool_obj, KVERBS_POOL_KFLAG_BAD_INDEX, true);
	spin_unlock(&pool_obj->pool.lock);
	return 0;
}

static void pool_waiting(struct kverbs_recv_pool *pool, bool waiting)
{
	change_flag(container_of(pool, struct kverbs_pool_obj, pool),
		    KVERBS_POOL_KFLAG_WAITING, waiting);
}

/* Reads the buffer once, so that a later write of user space has no effect. */
static void read_buf(const struct kverbs_pool_obj *pool_obj, u32 n, struct kverbs_pool_buf *buf)
{
	const struct kverbs_pool_buf *bufs = pool_obj->user.addr + KVERBS_POOL_BUFS_OFFSET;

	memcpy(buf, &bufs[n & (pool_obj->entries - 1)], sizeof(*buf));
	/* The compiler must not go back to shared memory for a field. */
	barrier();
}

static int check_buf(const struct kverbs_pool_buf *buf)
{
	if (!buf->length || buf->__reserved2 ||
	    memchr_inv(buf->__reserved, 0, sizeof(buf->__reserved)))
		return -EINVAL;
	return 0;
}

static int find_memory(struct kverbs_file *file, const struct kverbs_pool_buf *buf,
		       struct kverbs_req *req)
{
	struct kverbs_region_obj *region_obj;
	struct kverbs_region *region;
	int ret;

	ret = check_buf(buf);
	if (ret)
		return ret;
	region_obj = kverbs_region_obj_get(file, buf->region_id);
	if (IS_ERR(region_obj))
		return PTR_ERR(region_obj);
	region = region_obj->region;
	if (region->writable && kverbs_region_covers(region, buf->offset, buf->length)) {
		req->region = region;
		req->offset = buf->offset;
		req->length = buf->length;
		kverbs_req_use(req);
	} else {
		ret = -EINVAL;
	}
	kverbs_object_put(&region_obj->obj);
	return ret;
}

/* Makes a receive of a buffer. */
static int prepare(struct kverbs_slot *slot, const struct kverbs_conn_obj *conn_obj,
		   const struct kverbs_pool_buf *buf)
{
	slot->user_data = conn_obj->user_data;
	slot->conn_id = conn_obj->obj.id;
	slot->signal = true;
	slot->buf_id = buf->id;
	slot->req = (struct kverbs_req) {
		.opcode = KVERBS_OP_RECV,
		.pooled = true,
		.done = kverbs_slots_done,
		.flags = KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER,
	};
	slot->req.result = find_memory(conn_obj->obj.file, buf, &slot->req);
	return slot->req.result;
}

/**
 * struct taking - buffers on their way from the ring to a connection
 * @reqs: receives of those that are in order
 * @nr: number of receives
 * @refused: receives of the others, to be completed
 */
struct taking {
	struct kverbs_req **reqs;
	unsigned int nr;
	struct list_head refused;
};

/* Takes a buffer for each slot. Returns how many. */
static unsigned int take_bufs(struct kverbs_pool_obj *pool_obj,
			      const struct kverbs_conn_obj *conn_obj,
			      struct kverbs_slot *slots, struct taking *taking)
{
	struct kverbs_pool_kernel *shared = pool_obj->kernel.addr;
	struct kverbs_pool_buf buf;
	struct kverbs_slot *slot;
	unsigned int taken = 0;

	lockdep_assert_held(&pool_obj->lock);
	while ((slot = slots)) {
		slots = slot->next;
		slot->next = NULL;
		read_buf(pool_obj, pool_obj->head + taken++, &buf);
		if (prepare(slot, conn_obj, &buf))
			list_add_tail(&slot->req.entry, &taking->refused);
		else
			taking->reqs[taking->nr++] = &slot->req;
	}
	WRITE_ONCE(pool_obj->head, pool_obj->head + taken);
	/* The buffers are read before the user may write others in their place. */
	smp_store_release(&shared->head, pool_obj->head);
	return taken;
}

/* ACCEPT may change ring and user_data only before the connection takes its first buffer. */
static int pool_take(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		     struct kverbs_req **reqs, unsigned int max, unsigned int *nr)
{
	struct kverbs_pool_obj *pool_obj = container_of(pool, struct kverbs_pool_obj, pool);
	struct kverbs_conn_obj *conn_obj = conn->attr.owner;
	struct taking taking = {
		.reqs = reqs,
		.refused = LIST_HEAD_INIT(taking.refused),
	};
	struct kverbs_slot *slots = NULL;
	unsigned int taken = 0;
	u32 avail;

	mutex_lock(&pool_obj->lock);
	avail = filled(pool_obj);
	if (avail)
		slots = kverbs_slots_get(conn_obj->ring, min_t(u32, avail, max));
	if (slots)
		taken = take_bufs(pool_obj, conn_obj, slots, &taking);
	mutex_unlock(&pool_obj->lock);
	if (!list_empty(&taking.refused))
		kverbs_slots_done(&taking.refused);
	*nr = taking.nr;
	if (taken)
		return taken;
	return avail ? -EAGAIN : -ENOBUFS;
}

/* A message has arrived, so ACCEPT changes neither of the two any more. */
static void pool_claim(struct kverbs_conn *conn, struct kverbs_req *req)
{
	const struct kverbs_conn_obj *conn_obj = conn->attr.owner;
	struct kverbs_slot *slot = container_of(req, struct kverbs_slot, req);

	slot->user_data = conn_obj->user_data;
	slot->conn_id = conn_obj->obj.id;
}

static const struct kverbs_recv_pool_ops recv_pool_ops = {
	.take		= pool_take,
	.claim		= pool_claim,
	.count		= pool_count,
	.waiting	= pool_waiting,
};

static bool pool_busy(struct kverbs_object *obj)
{
	return atomic_read(&to_pool_obj(obj)->users);
}

static void free_pool(struct kverbs_pool_obj *pool_obj)
{
	kverbs_shm_free(&pool_obj->kernel);
	kverbs_shm_free(&pool_obj->user);
	kfree_rcu(pool_obj, obj.rcu);
}

static int pool_destroy(struct kverbs_object *obj)
{
	struct kverbs_pool_obj *pool_obj = to_pool_obj(obj);

	xa_erase(&obj->file->pools, pool_obj->index);
	free_pool(pool_obj);
	return 0;
}

static const struct kverbs_object_ops pool_obj_ops = {
	.busy		= pool_busy,
	.destroy	= pool_destroy,
};

static struct kverbs_pool_obj *alloc_pool(u32 entries)
{
	struct kverbs_pool_obj *pool_obj = kzalloc(sizeof(*pool_obj), GFP_KERNEL_ACCOUNT);
	struct kverbs_pool_kernel *shared;
	int ret;

	if (!pool_obj)
		return ERR_PTR(-ENOMEM);
	ret = kverbs_shm_alloc(&pool_obj->user, KVERBS_POOL_BUFS_OFFSET +
			       array_size(entries, sizeof(struct kverbs_pool_buf)));
	if (!ret)
		ret = kverbs_shm_alloc(&pool_obj->kernel, sizeof(*shared));
	if (ret) {
		free_pool(pool_obj);
		return ERR_PTR(ret);
	}
	kverbs_recv_pool_init(&pool_obj->pool, &recv_pool_ops, entries);
	mutex_init(&pool_obj->lock);
	pool_obj->entries = entries;
	shared = pool_obj->kernel.addr;
	shared->entries = entries;
	return pool_obj;
}

static u64 part_offset(const struct kverbs_pool_obj *pool_obj, unsigned int part)
{
	u64 nr = (u64)KVERBS_MAX_RINGS + pool_obj->index;

	return (nr * KVERBS_RING_PARTS + part) << KVERBS_RING_OFFSET_SHIFT;
}

static void describe(const struct kverbs_pool_obj *pool_obj,
		     struct kverbs_cmd_pool_create *cmd)
{
	cmd->out_id = pool_obj->obj.id;
	cmd->out_user_offset = part_offset(pool_obj, 0);
	cmd->out_kernel_offset = part_offset(pool_obj, 1);
	cmd->out_user_size = (u64)pool_obj->user.npages << PAGE_SHIFT;
	cmd->out_kernel_size = (u64)pool_obj->kernel.npages << PAGE_SHIFT;
	cmd->out_bufs_offset = KVERBS_POOL_BUFS_OFFSET;
}

int kverbs_cmd_pool_create(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_pool_create *cmd = ucmd->cmd;
	struct kverbs_file *file = ucmd->file;
	struct kverbs_pool_obj *pool_obj;
	int ret;

	if (cmd->flags || !is_power_of_2(cmd->entries) ||
	    cmd->entries > KVERBS_MAX_POOL_ENTRIES)
		return -EINVAL;
	pool_obj = alloc_pool(cmd->entries);
	if (IS_ERR(pool_obj))
		return PTR_ERR(pool_obj);
	ret = kverbs_object_reserve(file, &pool_obj->obj, KVERBS_OBJ_POOL, &pool_obj_ops);
	if (ret)
		goto out_free_pool;
	ret = xa_alloc(&file->pools, &pool_obj->index, xa_mk_value(pool_obj->obj.id),
		       XA_LIMIT(0, KVERBS_MAX_POOLS - 1), GFP_KERNEL_ACCOUNT);
	if (ret) {
		ret = -ENOMEM;
		goto out_unreserve;
	}
	describe(pool_obj, cmd);
	ucmd->new = &pool_obj->obj;
	return 0;

out_unreserve:
	kverbs_object_unreserve(&pool_obj->obj);
out_free_pool:
	free_pool(pool_obj);
	return ret;
}

/**
 * kverbs_pool_obj_mmap() - map one of the two parts
 * @pool_obj: the pool
 * @part: which
 * @vma: where
 *
 * Return: 0, -EINVAL, -EPERM, -ENOMEM.
 */
int kverbs_pool_obj_mmap(struct kverbs_pool_obj *pool_obj, unsigned int part,
			 struct vm_area_struct *vma)
{
	switch (part) {
	case 0:
		return kverbs_shm_mmap(&pool_obj->user, vma, true);
	case 1:
		return kverbs_shm_mmap(&pool_obj->kernel, vma, false);
	default:
		return -EINVAL;
	}
}
