// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The shared rings: a slot is reserved for every completion, so none is ever lost. */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "file.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "ring_fd.h"

/* Reads of the watched byte between two checks of completions, signals and deadline. */
#define MEMORY_READS	8

static struct kverbs_cqe *cqe_at(struct kverbs_ring *ring, u32 n)
{
	struct kverbs_cqe *cqes = ring->cq.addr + KVERBS_RING_CQES_OFFSET;

	return &cqes[n & (ring->cq_entries - 1)];
}

static u32 user_flags(const struct kverbs_ring *ring)
{
	const struct kverbs_ring_user *user = ring->idx.addr;

	return READ_ONCE(user->flags);
}

/* More than there are entries if the user's head is out of range. */
static u32 distance(struct kverbs_ring *ring)
{
	const struct kverbs_ring_user *user = ring->idx.addr;
	/* Pairs with the release of user space, which has read the completions before. */
	u32 head = smp_load_acquire(&user->cq_head);
	/* Pairs with kverbs_ring_publish(): what is counted here the user can see. */
	u32 tail = smp_load_acquire(&ring->cq_tail);

	return tail - head;
}

/**
 * kverbs_ring_trylock() - look up a ring, and lock it for a SUBMIT without a reference
 * @file: the file, which the caller keeps open
 * @id: its id
 *
 * A reference would cost two atomic operations more. Instead DESTROY takes the lock after the
 * last reference is gone, and a SUBMIT that finds none leaves the ring alone.
 *
 * Return: the ring, to be kverbs_ring_unlock(), or NULL if the lock is taken, or there is no such
 * ring.
 */
struct kverbs_ring *kverbs_ring_trylock(struct kverbs_file *file, u32 id)
{
	struct kverbs_ring *ring = NULL;
	struct kverbs_object *obj;

	rcu_read_lock();
	obj = xa_load(&file->objects.xa, id);
	if (obj && obj->type == KVERBS_OBJ_RING)
		ring = container_of(obj, struct kverbs_ring, obj);
	if (ring && !mutex_trylock(&ring->submit_lock))
		ring = NULL;
	if (ring && !refcount_read(&ring->obj.gets)) {
		mutex_unlock(&ring->submit_lock);
		ring = NULL;
	}
	rcu_read_unlock();
	return ring;
}

/**
 * kverbs_ring_unlock() - undo kverbs_ring_trylock()
 * @ring: the ring, which may be gone afterwards unless the caller has a reference
 */
void kverbs_ring_unlock(struct kverbs_ring *ring)
{
	/* DESTROY may free the ring before mutex_unlock() has returned. */
	rcu_read_lock();
	mutex_unlock(&ring->submit_lock);
	rcu_read_unlock();
}

/**
 * kverbs_ring_unread_locked() - completions that the user has not read yet
 * @ring: the ring, locked
 *
 * A head that is out of range counts as: nothing was read.
 *
 * Return: at most the size of the completion ring.
 */
u32 kverbs_ring_unread_locked(struct kverbs_ring *ring)
{
	lockdep_assert_held(&ring->lock);
	return min(distance(ring), ring->cq_entries);
}

/**
 * kverbs_ring_unread() - kverbs_ring_unread_locked() of a ring that is not locked
 * @ring: the ring
 *
 * The user may have read a completion that kverbs_ring_publish() has shown but not counted
 * yet: then the head is out of range only until the lock is released.
 *
 * Context: process.
 * Return: at most the size of the completion ring.
 */
u32 kverbs_ring_unread(struct kverbs_ring *ring)
{
	u32 nr = distance(ring);

	if (likely(nr <= ring->cq_entries))
		return nr;
	spin_lock_bh(&ring->lock);
	nr = kverbs_ring_unread_locked(ring);
	spin_unlock_bh(&ring->lock);
	return nr;
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
	if (ring->cq_entries - kverbs_ring_unread_locked(ring) >= ring->reserved + nr) {
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
 * kverbs_ring_next_cqe() - where the next completion goes
 * @ring: the ring, locked, where slots were reserved
 * @nr: behind so many that are written and not told yet
 *
 * Return: to be written whole, then told by kverbs_ring_publish().
 */
struct kverbs_cqe *kverbs_ring_next_cqe(struct kverbs_ring *ring, u32 nr)
{
	lockdep_assert_held(&ring->lock);
	return cqe_at(ring, ring->cq_tail + nr);
}

static bool has_sleeper(struct wait_queue_head *wait)
{
	/* Behind the barrier in wake(), which serves both queues. */
	return waitqueue_active(wait);
}

static struct wait_queue_head *pollers_of(struct kverbs_ring *ring)
{
	return ring->fd ? &ring->fd->wait : &ring->obj.file->wait;
}

static void wake(struct kverbs_ring *ring, __poll_t events)
{
	/* Pairs with those of prepare_to_wait() and poll_wait(): a sleeper has looked before. */
	smp_mb();
	if (has_sleeper(&ring->wait))
		wake_up_interruptible(&ring->wait);
	if (ring->eventfd && !(user_flags(ring) & KVERBS_UFLAG_NO_EVENTFD))
		kverbs_eventfd_signal(ring->eventfd);
	if (has_sleeper(pollers_of(ring)))
		wake_up_interruptible_poll(pollers_of(ring), events);
}

/**
 * kverbs_ring_wake() - let tasks that wait check the user's flags again
 * @ring: the ring
 *
 * Context: process or softirq.
 */
void kverbs_ring_wake(struct kverbs_ring *ring)
{
	wake(ring, EPOLLIN | EPOLLRDNORM);
}

/**
 * kverbs_ring_publish() - show the user what was written, and wake the tasks that wait for it
 * @ring: the ring, locked, since these may be the last slots that keep it
 * @nr: how many completions, at least 1
 *
 * Context: process or softirq.
 */
void kverbs_ring_publish(struct kverbs_ring *ring, u32 nr)
{
	struct kverbs_ring_kernel *shared = ring->cq.addr;

	lockdep_assert_held(&ring->lock);
	ring->reserved -= nr;
	/* The completions are there before the user is told of them. */
	smp_store_release(&shared->cq_tail, ring->cq_tail + nr);
	/* The user can see them before kverbs_ring_unread() counts them. */
	smp_store_release(&ring->cq_tail, ring->cq_tail + nr);
	wake(ring, EPOLLIN | EPOLLRDNORM);
}

/**
 * kverbs_ring_publish_room() - wake tasks that wait for a completion slot
 * @ring: the ring, locked, since this may be the last work that keeps it
 *
 * Called when unsignalled operations have succeeded: they free slots without a completion.
 *
 * Context: process or softirq.
 */
void kverbs_ring_publish_room(struct kverbs_ring *ring)
{
	lockdep_assert_held(&ring->lock);
	if (user_flags(ring) & KVERBS_UFLAG_WANT_ROOM)
		wake(ring, EPOLLOUT | EPOLLWRNORM);
}

/**
 * kverbs_ring_has_room() - whether an entry could be accepted
 * @ring: the ring
 *
 * Context: process.
 * Return: true if a completion slot is free.
 */
bool kverbs_ring_has_room(struct kverbs_ring *ring)
{
	/* Without the lock: kverbs_ring_publish_room() wakes tasks that read an old value. */
	return ring->cq_entries - kverbs_ring_unread(ring) > READ_ONCE(ring->reserved);
}

static bool is_met(struct kverbs_ring *ring, u32 nr)
{
	u32 flags;

	if (kverbs_ring_unread(ring) >= nr)
		return true;
	flags = user_flags(ring);
	return flags & KVERBS_UFLAG_NO_WAIT ||
	       (flags & KVERBS_UFLAG_WANT_ROOM && kverbs_ring_has_room(ring));
}

/**
 * kverbs_ring_events() - the events of poll(2)
 * @ring: the ring
 *
 * Context: process.
 * Return: EPOLLIN while completions are unread or SUBMIT does not wait, EPOLLOUT while an entry
 * could be accepted.
 */
__poll_t kverbs_ring_events(struct kverbs_ring *ring)
{
	__poll_t mask = 0;

	if (kverbs_ring_unread(ring) || user_flags(ring) & KVERBS_UFLAG_NO_WAIT)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (kverbs_ring_has_room(ring))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
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
	*kverbs_ring_next_cqe(ring, 0) = *cqe;
	kverbs_ring_publish(ring, 1);
	spin_unlock_bh(&ring->lock);
}

/**
 * kverbs_ring_stale() - write the completion of a region that became stale, and count it
 * @ring: the ring, where a slot was reserved for it
 * @cqe: the completion
 *
 * Context: process, maybe one that frees memory: allocates nothing.
 */
void kverbs_ring_stale(struct kverbs_ring *ring, const struct kverbs_cqe *cqe)
{
	struct kverbs_ring_kernel *shared = ring->cq.addr;

	spin_lock_bh(&ring->lock);
	*kverbs_ring_next_cqe(ring, 0) = *cqe;
	kverbs_ring_publish(ring, 1);
	/* A user that sees the count finds as many completions. */
	smp_store_release(&shared->stale, ++ring->nr_stale);
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

/**
 * struct poll - what kverbs_ring_watch() polls for
 * @ring: the ring
 * @nr: completions
 * @watch: a byte of user memory, or NULL
 */
struct poll {
	struct kverbs_ring *ring;
	u32 nr;
	const struct kverbs_watch *watch;
};

static __always_inline int poll_is_over(void *arg)
{
	const struct poll *poll = arg;
	unsigned int i;
	u8 now;

	if (is_met(poll->ring, poll->nr))
		return 1;
	for (i = 0; poll->watch && i < MEMORY_READS; i++) {
		if (get_user(now, poll->watch->at))
			return -EFAULT;
		if (now != poll->watch->old)
			return 1;
		cpu_relax();
	}
	return stop_waiting(poll->ring);
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
	struct poll poll = { .ring = ring, .nr = nr, .watch = watch };

	return kverbs_cq_poll_until(&ring->cqs, deadline_ns, poll_is_over, &poll);
}

/**
 * kverbs_ring_wait() - wait for completions
 * @ring: the ring
 * @nr: until so many are unread, or, with KVERBS_UFLAG_WANT_ROOM, a slot is free
 * @deadline_ns: CLOCK_MONOTONIC time at which to give up, 0: never
 *
 * The completion queues of a BUSY_POLL ring wake no task, so the waiter polls.
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
	if (is_met(ring, nr))
		return 0;
	for (;;) {
		prepare_to_wait(&ring->wait, &wait, TASK_INTERRUPTIBLE);
		ret = 0;
		if (is_met(ring, nr))
			break;
		ret = stop_waiting(ring);
		if (ret)
			break;
		ret = sleep_until(deadline_ns);
		if (ret && is_met(ring, nr))
			ret = 0;
		if (ret)
			break;
	}
	finish_wait(&ring->wait, &wait);
	return ret;
}

/**
 * kverbs_ring_offset() - where to map a part
 * @ring: the ring
 * @part: 0: the submission entries, 1: the completions, 2: the user's indices
 *
 * Return: the offset for mmap(2), in bytes.
 */
u64 kverbs_ring_offset(const struct kverbs_ring *ring, unsigned int part)
{
	return ((u64)ring->index * KVERBS_RING_PARTS + part) << KVERBS_RING_OFFSET_SHIFT;
}

/**
 * kverbs_ring_mmap_at() - map one of the three parts
 * @ring: the ring
 * @offset: kverbs_ring_offset() of the part
 * @vma: where
 *
 * Return: 0, -EINVAL, -EPERM, -ENOMEM.
 */
int kverbs_ring_mmap_at(struct kverbs_ring *ring, u64 offset, struct vm_area_struct *vma)
{
	unsigned int part = (offset >> KVERBS_RING_OFFSET_SHIFT) % KVERBS_RING_PARTS;

	if (offset != kverbs_ring_offset(ring, part))
		return -EINVAL;
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

static void count_uses_in_region(struct kverbs_ring *ring)
{
	u32 nr = ring->region_posted - ring->region_done;

	lockdep_assert_held(&ring->lock);
	if (nr)
		kverbs_region_use_many(kverbs_region_of_obj(ring->region), nr);
}

/**
 * kverbs_ring_keep_region() - set the region whose uses the ring counts
 * @ring: the ring, @submit_lock held
 * @region: the region, with a reference for the ring, or NULL
 *
 * As long as entries use the region of the entry before, accepting and completing them changes
 * no counter that rings share. Uses by entries still in flight are counted in the region from
 * now on.
 */
void kverbs_ring_keep_region(struct kverbs_ring *ring, struct kverbs_object *region)
{
	struct kverbs_object *old = ring->region;

	lockdep_assert_held(&ring->submit_lock);
	spin_lock_bh(&ring->lock);
	count_uses_in_region(ring);
	ring->region_posted = 0;
	ring->region_done = 0;
	ring->epoch++;
	ring->region = region;
	spin_unlock_bh(&ring->lock);
	if (old)
		kverbs_object_put(old);
}

static void forget(struct kverbs_ring *ring, const struct kverbs_object *obj)
{
	lockdep_assert_held(&ring->submit_lock);
	if (ring->region == obj)
		kverbs_ring_keep_region(ring, NULL);
	if (ring->conn == obj) {
		kverbs_object_put(ring->conn);
		ring->conn = NULL;
	}
}

/**
 * kverbs_rings_forget() - drop the references that rings keep for their next SUBMIT
 * @obj: a connection or region
 *
 * All uses of a region are counted in the region afterwards, unless a SUBMIT looks it up again.
 *
 * If the task is killed, references may stay, and the object with them.
 *
 * Context: process, may sleep.
 */
void kverbs_rings_forget(struct kverbs_object *obj)
{
	struct kverbs_file *file = obj->file;
	struct kverbs_ring *ring;
	unsigned long index;
	void *id;

	xa_for_each(&file->rings, index, id) {
		ring = kverbs_ring_get(file, xa_to_value(id));
		if (IS_ERR(ring))
			continue;
		if (!mutex_lock_killable(&ring->submit_lock)) {
			forget(ring, obj);
			mutex_unlock(&ring->submit_lock);
		}
		kverbs_object_put(&ring->obj);
	}
}
