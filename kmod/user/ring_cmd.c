// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RING_CREATE, and what becomes of a ring when it is destroyed. */
#include <linux/eventfd.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "chain.h"
#include "file.h"
#include "ring.h"
#include "ring_cmd.h"
#include "ring_fd.h"
#include "slot.h"

static void free_memory(struct kverbs_ring *ring)
{
	kverbs_chain_free(ring->chain);
	kverbs_list_free_all(ring->done_lists);
	kverbs_list_free_all(ring->spare_lists);
	kvfree(ring->slots);
	kverbs_shm_free(&ring->idx);
	kverbs_shm_free(&ring->cq);
	kverbs_shm_free(&ring->sq);
}

static int alloc_memory(struct kverbs_ring *ring)
{
	int ret;

	ret = kverbs_shm_alloc(&ring->sq, array_size(ring->sq_entries,
						     sizeof(struct kverbs_sqe)));
	if (!ret)
		ret = kverbs_shm_alloc(&ring->cq, KVERBS_RING_CQES_OFFSET +
				       array_size(ring->cq_entries,
						  sizeof(struct kverbs_cqe)));
	if (!ret)
		ret = kverbs_shm_alloc(&ring->idx, sizeof(struct kverbs_ring_user));
	ring->slots = kvcalloc(ring->cq_entries, sizeof(*ring->slots),
			       GFP_KERNEL_ACCOUNT);
	ring->chain = kverbs_chain_alloc_max(NUMA_NO_NODE);
	if (!ret && ring->slots && ring->chain)
		return 0;
	free_memory(ring);
	return -ENOMEM;
}

static void init_slots(struct kverbs_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->cq_entries; i++) {
		ring->slots[i].ring = ring;
		ring->slots[i].next = ring->free_slots;
		ring->free_slots = &ring->slots[i];
	}
}

static int get_eventfd(struct kverbs_ring *ring, const struct kverbs_cmd_ring_create *cmd)
{
	struct eventfd_ctx *eventfd;

	if (!(cmd->flags & KVERBS_RING_EVENTFD))
		return 0;
	eventfd = eventfd_ctx_fdget(cmd->event_fd);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	ring->eventfd = eventfd;
	return 0;
}

static void put_eventfd(struct kverbs_ring *ring)
{
	if (ring->eventfd)
		eventfd_ctx_put(ring->eventfd);
}

static enum ib_poll_context poll_context(u32 flags)
{
	if (flags & KVERBS_RING_BUSY_POLL)
		return IB_POLL_DIRECT;
	return flags & KVERBS_RING_SOFTIRQ ? IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE;
}

static struct kverbs_ring *alloc_ring(const struct kverbs_cmd_ring_create *cmd)
{
	struct kverbs_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	struct kverbs_ring_kernel *shared;
	int ret;

	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->sq_entries = cmd->sq_entries;
	ring->cq_entries = cmd->cq_entries;
	mutex_init(&ring->submit_lock);
	spin_lock_init(&ring->lock);
	init_waitqueue_head(&ring->wait);
	ret = get_eventfd(ring, cmd);
	if (ret)
		goto out_free_ring;
	ret = alloc_memory(ring);
	if (ret)
		goto out_put_eventfd;
	kverbs_cq_set_init(&ring->cqs, poll_context(cmd->flags));
	init_slots(ring);
	shared = ring->cq.addr;
	shared->sq_entries = ring->sq_entries;
	shared->cq_entries = ring->cq_entries;
	return ring;

out_put_eventfd:
	put_eventfd(ring);
out_free_ring:
	kfree(ring);
	return ERR_PTR(ret);
}

static void free_ring(struct kverbs_ring *ring)
{
	kverbs_cq_set_exit(&ring->cqs);
	free_memory(ring);
	put_eventfd(ring);
	kfree_rcu(ring, obj.rcu);
}

static struct kverbs_ring *to_ring(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_ring, obj);
}

/* Slots stay reserved for slot that began here before its connection moved on. */
static bool ring_busy(struct kverbs_object *obj)
{
	struct kverbs_ring *ring = to_ring(obj);
	bool busy;

	spin_lock_bh(&ring->lock);
	busy = ring->reserved || atomic_read(&ring->users);
	spin_unlock_bh(&ring->lock);
	return busy;
}

static void ring_shutdown(struct kverbs_object *obj)
{
	WRITE_ONCE(to_ring(obj)->closing, true);
	wake_up_all(&to_ring(obj)->wait);
}

static void ring_restart(struct kverbs_object *obj)
{
	WRITE_ONCE(to_ring(obj)->closing, false);
}

/* See kverbs_ring_trylock(). */
static int ring_quiesce(struct kverbs_object *obj)
{
	struct kverbs_ring *ring = to_ring(obj);

	if (mutex_lock_killable(&ring->submit_lock))
		return -EINTR;
	mutex_unlock(&ring->submit_lock);
	return 0;
}

static void put_kept(struct kverbs_object *kept)
{
	if (kept)
		kverbs_object_put(kept);
}

static int ring_destroy(struct kverbs_object *obj)
{
	struct kverbs_ring *ring = to_ring(obj);

	xa_erase(&obj->file->rings, ring->index);
	kverbs_ring_fd_detach(ring);
	put_kept(ring->conn);
	put_kept(ring->region);
	free_ring(ring);
	return 0;
}

static const struct kverbs_object_ops ring_ops = {
	.busy		= ring_busy,
	.shutdown	= ring_shutdown,
	.restart	= ring_restart,
	.quiesce	= ring_quiesce,
	.destroy	= ring_destroy,
};

static void describe(const struct kverbs_ring *ring, struct kverbs_cmd_ring_create *cmd)
{
	cmd->out_id = ring->obj.id;
	cmd->out_sq_offset = kverbs_ring_offset(ring, 0);
	cmd->out_cq_offset = kverbs_ring_offset(ring, 1);
	cmd->out_idx_offset = kverbs_ring_offset(ring, 2);
	cmd->out_sq_size = (u64)ring->sq.npages << PAGE_SHIFT;
	cmd->out_cq_size = (u64)ring->cq.npages << PAGE_SHIFT;
	cmd->out_idx_size = (u64)ring->idx.npages << PAGE_SHIFT;
	cmd->out_cqes_offset = KVERBS_RING_CQES_OFFSET;
	cmd->out_fd = 0;
	cmd->__reserved = 0;
}

static int check_ring(const struct kverbs_cmd_ring_create *cmd)
{
	if (cmd->__reserved)
		return -EINVAL;
	switch (cmd->flags & ~KVERBS_RING_FD) {
	case 0:
	case KVERBS_RING_BUSY_POLL:
	case KVERBS_RING_SOFTIRQ:
		if (cmd->event_fd)
			return -EINVAL;
		break;
	case KVERBS_RING_EVENTFD:
	case KVERBS_RING_EVENTFD | KVERBS_RING_SOFTIRQ:
		break;
	default:
		return -EINVAL;
	}
	if (!is_power_of_2(cmd->sq_entries) || cmd->sq_entries > KVERBS_MAX_SQ_ENTRIES)
		return -EINVAL;
	if (!is_power_of_2(cmd->cq_entries) || cmd->cq_entries > KVERBS_MAX_CQ_ENTRIES)
		return -EINVAL;
	return 0;
}

int kverbs_cmd_ring_create(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_ring_create *cmd = ucmd->cmd;
	struct kverbs_file *file = ucmd->file;
	struct kverbs_ring *ring;
	int ret;

	ret = check_ring(cmd);
	if (ret)
		return ret;
	ring = alloc_ring(cmd);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = kverbs_object_reserve(file, &ring->obj, KVERBS_OBJ_RING, &ring_ops);
	if (ret)
		goto out_free_ring;
	ret = xa_alloc(&file->rings, &ring->index, xa_mk_value(ring->obj.id),
		       XA_LIMIT(0, KVERBS_MAX_RINGS - 1), GFP_KERNEL_ACCOUNT);
	if (ret) {
		ret = -ENOMEM;
		goto out_unreserve;
	}
	describe(ring, cmd);
	if (cmd->flags & KVERBS_RING_FD) {
		ret = kverbs_ring_fd_create(ucmd, ring);
		if (ret)
			goto out_erase_index;
		cmd->out_fd = ucmd->new_fd;
	}
	ucmd->new = &ring->obj;
	return 0;

out_erase_index:
	xa_erase(&file->rings, ring->index);
out_unreserve:
	kverbs_object_unreserve(&ring->obj);
out_free_ring:
	free_ring(ring);
	return ret;
}
