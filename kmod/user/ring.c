// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The shared rings: slots are promised first, so no completion is ever lost. */
#include <linux/eventfd.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "chardev.h"
#include "compat.h"
#include "ring.h"
#include "work.h"

/* Looks at memory between two at anything else. */
#define LOOKS	8

static struct kverbs_ring_user *user_indices(struct kverbs_ring *ring)
{
	return ring->idx.addr;
}

static struct kverbs_ring_kernel *kernel_indices(struct kverbs_ring *ring)
{
	return ring->cq.addr;
}

static struct kverbs_cqe *cqe_at(struct kverbs_ring *ring, u32 n)
{
	struct kverbs_cqe *cqes = ring->cq.addr + sizeof(struct kverbs_ring_kernel);

	return &cqes[n & (ring->cq_entries - 1)];
}

/* A head that is out of range counts as: nothing was read. */
static u32 unread(struct kverbs_ring *ring)
{
	/* Pairs with the user's release: he has read what he says he has. */
	u32 head = smp_load_acquire(&user_indices(ring)->cq_head);
	/* Pairs with kverbs_ring_tell(): what is counted here the user can see. */
	u32 tail = smp_load_acquire(&ring->cq_tail);

	return min(tail - head, ring->cq_entries);
}

/**
 * kverbs_ring_unread() - completions that the user has not read yet
 * @ring: the ring
 *
 * Return: at most the size of the completion ring.
 */
u32 kverbs_ring_unread(struct kverbs_ring *ring)
{
	return unread(ring);
}

/**
 * kverbs_ring_reserve() - promise completion slots
 * @ring: the ring
 * @nr: how many
 *
 * Return: 0, or -EAGAIN if there are not so many.
 */
int kverbs_ring_reserve(struct kverbs_ring *ring, u32 nr)
{
	int ret = -EAGAIN;

	spin_lock_bh(&ring->lock);
	if (ring->cq_entries - unread(ring) >= ring->reserved + nr) {
		ring->reserved += nr;
		ret = 0;
	}
	spin_unlock_bh(&ring->lock);
	return ret;
}

/**
 * kverbs_ring_unreserve() - give promised slots back
 * @ring: the ring
 * @nr: how many
 */
void kverbs_ring_unreserve(struct kverbs_ring *ring, u32 nr)
{
	spin_lock_bh(&ring->lock);
	ring->reserved -= nr;
	spin_unlock_bh(&ring->lock);
}

/**
 * kverbs_ring_slot() - where the next completion goes
 * @ring: the ring, locked, where slots were reserved
 * @nr: behind so many that are written and not told yet
 *
 * Return: to be written whole, then told by kverbs_ring_tell().
 */
struct kverbs_cqe *kverbs_ring_slot(struct kverbs_ring *ring, u32 nr)
{
	lockdep_assert_held(&ring->lock);
	return cqe_at(ring, ring->cq_tail + nr);
}

static bool has_sleeper(struct wait_queue_head *wait)
{
	/* Behind the barrier in wake(), which serves both queues. */
	return waitqueue_active(wait);
}

static void wake(struct kverbs_ring *ring)
{
	/* Pairs with those of prepare_to_wait() and poll_wait(): who sleeps looked before. */
	smp_mb();
	if (has_sleeper(&ring->wait))
		wake_up_interruptible(&ring->wait);
	if (ring->eventfd)
		kverbs_eventfd_signal(ring->eventfd);
	if (has_sleeper(&ring->obj.file->wait))
		wake_up_interruptible_poll(&ring->obj.file->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * kverbs_ring_tell() - show the user what was written, and wake who waits for it
 * @ring: the ring, locked, since these may be the last slots that keep it
 * @nr: how many completions, at least 1
 *
 * Context: process or softirq.
 */
void kverbs_ring_tell(struct kverbs_ring *ring, u32 nr)
{
	lockdep_assert_held(&ring->lock);
	ring->reserved -= nr;
	/* The completions are there before the user is told of them. */
	smp_store_release(&kernel_indices(ring)->cq_tail, ring->cq_tail + nr);
	/* The user can see them before unread() counts them. */
	smp_store_release(&ring->cq_tail, ring->cq_tail + nr);
	wake(ring);
}

/**
 * kverbs_ring_event() - write a completion that is not of an entry
 * @ring: the ring, where a slot was reserved for it
 * @cqe: the completion
 *
 * Context: process or softirq.
 */
void kverbs_ring_event(struct kverbs_ring *ring, const struct kverbs_cqe *cqe)
{
	spin_lock_bh(&ring->lock);
	*kverbs_ring_slot(ring, 0) = *cqe;
	kverbs_ring_tell(ring, 1);
	spin_unlock_bh(&ring->lock);
}

static int sleep_until(u64 deadline_ns)
{
	ktime_t deadline = ns_to_ktime(min_t(u64, deadline_ns, KTIME_MAX));

	if (!deadline_ns) {
		schedule();
		return 0;
	}
	return schedule_hrtimeout(&deadline, HRTIMER_MODE_ABS) ? 0 : -ETIME;
}

static int stop_waiting(struct kverbs_ring *ring)
{
	if (READ_ONCE(ring->closing))
		return -ENOENT;
	return signal_pending(current) ? -ERESTARTNOHAND : 0;
}

/* 0 also if it has changed. */
static int look_at_byte(const struct kverbs_watch *watch, bool *changed)
{
	unsigned int i;
	u8 now;

	for (i = 0; i < LOOKS && !*changed; i++) {
		if (get_user(now, watch->at))
			return -EFAULT;
		*changed = now != watch->old;
		cpu_relax();
	}
	return 0;
}

static int look(struct kverbs_ring *ring, u32 nr, const struct kverbs_watch *watch, bool *met)
{
	if (ring->cqs.direct)
		kverbs_cq_set_poll(&ring->cqs);
	*met = kverbs_ring_unread(ring) >= nr;
	return *met || !watch ? 0 : look_at_byte(watch, met);
}

static int look_until(struct kverbs_ring *ring, u32 nr, u64 deadline_ns,
		      const struct kverbs_watch *watch)
{
	bool met;
	int ret;

	for (;;) {
		ret = look(ring, nr, watch, &met);
		if (ret || met)
			return ret;
		ret = stop_waiting(ring);
		if (ret)
			return ret;
		if (kverbs_cq_has_passed(deadline_ns))
			return -ETIME;
		kverbs_cq_give_way();
	}
}

/**
 * kverbs_ring_watch() - wait for completions, or for a byte to change
 * @ring: the ring
 * @nr: until so many are unread
 * @deadline_ns: CLOCK_MONOTONIC time at which to give up, 0: never
 * @watch: the byte, of the caller's; NULL: none
 *
 * Looks all the time, and makes way for others.
 *
 * Context: process, may sleep.
 * Return: as kverbs_ring_wait(); -EFAULT the byte cannot be read.
 */
int kverbs_ring_watch(struct kverbs_ring *ring, u32 nr, u64 deadline_ns,
		      const struct kverbs_watch *watch)
{
	int ret;

	kverbs_cq_poll_begin();
	ret = look_until(ring, nr, deadline_ns, watch);
	kverbs_cq_poll_end();
	return ret;
}

/**
 * kverbs_ring_wait() - wait for completions
 * @ring: the ring
 * @nr: until so many are unread
 * @deadline_ns: CLOCK_MONOTONIC time at which to give up, 0: never
 *
 * Nobody wakes a waiter whose ring is BUSY_POLL, so he looks all the time.
 *
 * Context: process, sleeps interruptibly.
 * Return: 0, -ETIME, -ENOENT (the ring is being destroyed), -ERESTARTNOHAND: a
 * signal, which is EINTR for the user if it has a handler, else nothing at all.
 */
int kverbs_ring_wait(struct kverbs_ring *ring, u32 nr, u64 deadline_ns)
{
	DEFINE_WAIT(wait);
	int ret;

	if (ring->cqs.direct)
		return kverbs_ring_watch(ring, nr, deadline_ns, NULL);
	if (kverbs_ring_unread(ring) >= nr)
		return 0;
	for (;;) {
		prepare_to_wait(&ring->wait, &wait, TASK_INTERRUPTIBLE);
		ret = 0;
		if (kverbs_ring_unread(ring) >= nr)
			break;
		ret = stop_waiting(ring);
		if (ret)
			break;
		ret = sleep_until(deadline_ns);
		if (ret && kverbs_ring_unread(ring) >= nr)
			ret = 0;
		if (ret)
			break;
	}
	finish_wait(&ring->wait, &wait);
	return ret;
}

/**
 * kverbs_ring_mmap() - map one of the three parts
 * @ring: the ring
 * @part: which
 * @vma: where
 *
 * Return: 0, -EINVAL, -EPERM, -ENOMEM.
 */
int kverbs_ring_mmap(struct kverbs_ring *ring, unsigned int part,
		     struct vm_area_struct *vma)
{
	switch (part) {
	case 0:
		return kverbs_shm_mmap(&ring->sq, vma, true);
	case 1:
		return kverbs_shm_mmap(&ring->cq, vma, false);
	case 2:
		return kverbs_shm_mmap(&ring->idx, vma, true);
	default:
		return -EINVAL;
	}
}

static void free_works(struct kverbs_ring *ring)
{
	u32 i;

	for (i = 0; ring->works && i < ring->cq_entries; i++)
		kfree(ring->works[i].extents);
	kvfree(ring->works);
}

static void free_memory(struct kverbs_ring *ring)
{
	kvfree(ring->chain);
	free_works(ring);
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
		ret = kverbs_shm_alloc(&ring->cq, sizeof(struct kverbs_ring_kernel) +
				       array_size(ring->cq_entries,
						  sizeof(struct kverbs_cqe)));
	if (!ret)
		ret = kverbs_shm_alloc(&ring->idx, sizeof(struct kverbs_ring_user));
	ring->works = kvcalloc(ring->cq_entries, sizeof(*ring->works),
			       GFP_KERNEL_ACCOUNT);
	ring->chain = kvmalloc(sizeof(*ring->chain), GFP_KERNEL_ACCOUNT);
	if (!ret && ring->works && ring->chain)
		return 0;
	free_memory(ring);
	return -ENOMEM;
}

static void init_works(struct kverbs_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->cq_entries; i++) {
		ring->works[i].ring = ring;
		ring->works[i].next = ring->free_works;
		ring->free_works = &ring->works[i];
	}
}

static void init_indices(struct kverbs_ring *ring)
{
	kernel_indices(ring)->sq_entries = ring->sq_entries;
	kernel_indices(ring)->cq_entries = ring->cq_entries;
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
	init_works(ring);
	init_indices(ring);
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
	kfree(ring);
}

static struct kverbs_ring *to_ring(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_ring, obj);
}

/* Slots stay reserved for work that began here before its connection moved on. */
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

static int ring_destroy(struct kverbs_object *obj)
{
	struct kverbs_ring *ring = to_ring(obj);

	xa_erase(&obj->file->rings, ring->index);
	free_ring(ring);
	return 0;
}

static const struct kverbs_object_ops ring_ops = {
	.busy		= ring_busy,
	.shutdown	= ring_shutdown,
	.restart	= ring_restart,
	.destroy	= ring_destroy,
};

static u64 part_offset(const struct kverbs_ring *ring, unsigned int part)
{
	return ((u64)ring->index * KVERBS_RING_PARTS + part) << KVERBS_RING_OFFSET_SHIFT;
}

static void describe(const struct kverbs_ring *ring, struct kverbs_cmd_ring_create *cmd)
{
	cmd->out_id = ring->obj.id;
	cmd->out_sq_offset = part_offset(ring, 0);
	cmd->out_cq_offset = part_offset(ring, 1);
	cmd->out_idx_offset = part_offset(ring, 2);
	cmd->out_sq_size = (u64)ring->sq.npages << PAGE_SHIFT;
	cmd->out_cq_size = (u64)ring->cq.npages << PAGE_SHIFT;
	cmd->out_idx_size = (u64)ring->idx.npages << PAGE_SHIFT;
}

static int check_ring(const struct kverbs_cmd_ring_create *cmd)
{
	switch (cmd->flags) {
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

/**
 * kverbs_cmd_ring_create() - KVERBS_RING_CREATE
 * @ucmd: the ioctl
 *
 * Return: 0 or -errno.
 */
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
	ucmd->new = &ring->obj;
	return 0;

out_unreserve:
	kverbs_object_unreserve(&ring->obj);
out_free_ring:
	free_ring(ring);
	return ret;
}
