// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The shared ring: mapping it, filling entries, reading completions.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "ring.h"
#include "sys.h"

/* How often to yield to the thread that has handed over an entry, and how long to sleep then */
#define MAX_YIELDS 100
#define NAP_NS 50000

static int map_ring(struct kverbs_ring *r, const struct kverbs_cmd_ring_create *cmd)
{
	void *sq, *cq, *idx;
	int ret;

	ret = kverbs_sys_mmap(r->fd, cmd->out_sq_offset, cmd->out_sq_size,
			      PROT_READ | PROT_WRITE, &sq);
	if (ret)
		return ret;
	ret = kverbs_sys_mmap(r->fd, cmd->out_cq_offset, cmd->out_cq_size, PROT_READ,
			      &cq);
	if (ret)
		goto out_unmap_sq;
	ret = kverbs_sys_mmap(r->fd, cmd->out_idx_offset, cmd->out_idx_size,
			      PROT_READ | PROT_WRITE, &idx);
	if (ret)
		goto out_unmap_cq;

	r->sqes = sq;
	r->kernel = cq;
	r->cqes = (const void *)((const char *)cq + cmd->out_cqes_offset);
	r->user = idx;
	r->sq_size = cmd->out_sq_size;
	r->cq_size = cmd->out_cq_size;
	r->idx_size = cmd->out_idx_size;
	return 0;

out_unmap_cq:
	kverbs_sys_munmap(cq, cmd->out_cq_size);
out_unmap_sq:
	kverbs_sys_munmap(sq, cmd->out_sq_size);
	return ret;
}

static void close_poll_fd(const struct kverbs_ring *r)
{
	if (r->poll_fd)
		kverbs_sys_close(r->poll_fd);
}

int kverbs_ring_open(struct kverbs_ring *r, int fd, unsigned int sq_entries,
		     unsigned int cq_entries, unsigned int flags, int event_fd)
{
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
		.event_fd = event_fd,
	};
	int ret;

	ret = kverbs_sys_ioctl(fd, KVERBS_RING_CREATE, &cmd);
	if (ret)
		return ret;
	r->fd = fd;
	r->poll_fd = flags & KVERBS_RING_FD ? cmd.out_fd : 0;
	r->id = cmd.out_id;
	r->sq_entries = sq_entries;
	r->cq_entries = cq_entries;
	r->busy_poll = flags & KVERBS_RING_BUSY_POLL;
	r->sq_tail = 0;
	r->handed = false;
	r->cq_head = 0;
	ret = map_ring(r, &cmd);
	if (ret)
		goto out_destroy_ring;
	pthread_mutex_init(&r->sq_lock, NULL);
	return 0;

out_destroy_ring:
	kverbs_sys_destroy(fd, r->id);
	close_poll_fd(r);
	return ret;
}

void kverbs_ring_close(struct kverbs_ring *r)
{
	pthread_mutex_destroy(&r->sq_lock);
	kverbs_sys_munmap(r->user, r->idx_size);
	kverbs_sys_munmap((void *)r->kernel, r->cq_size);
	kverbs_sys_munmap(r->sqes, r->sq_size);
	kverbs_sys_destroy(r->fd, r->id);
	close_poll_fd(r);
}

static uint32_t sq_head(const struct kverbs_ring *r)
{
	return __atomic_load_n(&r->kernel->sq_head, __ATOMIC_ACQUIRE);
}

/*
 * Wait until a concurrent SUBMIT has consumed its entry: it may still refuse it, and
 * does not sleep before it has consumed it. sched_yield() does not let a thread of a lower
 * real-time priority run, so after some turns the thread sleeps.
 */
void kverbs_ring_lock(struct kverbs_ring *r)
{
	unsigned int turns = 0;

	pthread_mutex_lock(&r->sq_lock);
	while (r->handed && sq_head(r) != r->sq_tail) {
		pthread_mutex_unlock(&r->sq_lock);
		if (++turns < MAX_YIELDS)
			sched_yield();
		else
			kverbs_sys_nap(NAP_NS);
		pthread_mutex_lock(&r->sq_lock);
	}
}

void kverbs_ring_unlock(struct kverbs_ring *r)
{
	pthread_mutex_unlock(&r->sq_lock);
}

static void publish_tail(struct kverbs_ring *r)
{
	__atomic_store_n(&r->user->sq_tail, r->sq_tail, __ATOMIC_RELEASE);
}

struct kverbs_sqe *kverbs_ring_sqe(struct kverbs_ring *r)
{
	struct kverbs_sqe *sqe;

	if (r->sq_tail - sq_head(r) >= r->sq_entries)
		return NULL;
	sqe = &r->sqes[r->sq_tail++ & (r->sq_entries - 1)];
	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

unsigned int kverbs_ring_submit(struct kverbs_ring *r, int *error)
{
	uint32_t head = sq_head(r), taken;
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = r->id,
		.to_submit = r->sq_tail - head,
	};
	int ret;

	publish_tail(r);
	ret = kverbs_sys_ioctl(r->fd, KVERBS_SUBMIT, &cmd);
	taken = sq_head(r) - head;
	*error = 0;
	if (taken == cmd.to_submit)
		return taken;

	*error = ret ? ret : cmd.out_error;
	if (!*error)
		*error = -EAGAIN;
	/* The caller fills the ring anew when there is room. */
	r->sq_tail = head + taken;
	publish_tail(r);
	return taken;
}

static void set_watch(struct kverbs_cmd_submit *cmd, const struct kverbs_ring_watch *watch)
{
	if (!watch)
		return;
	cmd->flags |= KVERBS_SUBMIT_WATCH;
	cmd->watch_uptr = (uintptr_t)watch->at;
	cmd->watch_old = watch->old;
}

bool kverbs_ring_submit_wait(struct kverbs_ring *r, uint64_t deadline,
			     const struct kverbs_ring_watch *watch, bool *early,
			     int *error)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_TIME_ABSOLUTE,
		.ring_id = r->id,
		.to_submit = 1,
		.min_complete = 1,
		.timeout_ns = deadline,
	};
	uint32_t last = r->sq_tail;
	int ret;

	set_watch(&cmd, watch);
	publish_tail(r);
	r->handed = true;
	pthread_mutex_unlock(&r->sq_lock);
	ret = kverbs_sys_ioctl(r->fd, KVERBS_SUBMIT, &cmd);
	pthread_mutex_lock(&r->sq_lock);
	r->handed = false;
	*early = !ret && !cmd.out_ready;
	*error = 0;
	if ((int32_t)(sq_head(r) - last) >= 0)
		return true;
	*error = ret ? ret : -EAGAIN;
	/* No later entry exists: kverbs_ring_lock() waits while this one is pending. */
	r->sq_tail = last - 1;
	publish_tail(r);
	return false;
}

void kverbs_ring_poll(struct kverbs_ring *r)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = r->id,
	};

	if (r->busy_poll)
		kverbs_sys_ioctl(r->fd, KVERBS_SUBMIT, &cmd);
}

int kverbs_ring_wait(struct kverbs_ring *r, uint64_t deadline,
		     const struct kverbs_ring_watch *watch)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_TIME_ABSOLUTE,
		.ring_id = r->id,
		.min_complete = 1,
		.timeout_ns = deadline,
	};

	set_watch(&cmd, watch);
	return kverbs_sys_ioctl(r->fd, KVERBS_SUBMIT, &cmd);
}

uint32_t kverbs_ring_cq_tail(const struct kverbs_ring *r)
{
	return __atomic_load_n(&r->kernel->cq_tail, __ATOMIC_ACQUIRE);
}

bool kverbs_ring_next(struct kverbs_ring *r, struct kverbs_cqe *cqe)
{
	if (r->cq_head == kverbs_ring_cq_tail(r))
		return false;
	*cqe = r->cqes[r->cq_head++ & (r->cq_entries - 1)];
	return true;
}

static void set_flag(struct kverbs_ring *r, uint32_t flag, bool set)
{
	if (set)
		__atomic_or_fetch(&r->user->flags, flag, __ATOMIC_SEQ_CST);
	else
		__atomic_and_fetch(&r->user->flags, ~flag, __ATOMIC_SEQ_CST);
}

void kverbs_ring_want_room(struct kverbs_ring *r, bool wanted)
{
	set_flag(r, KVERBS_UFLAG_WANT_ROOM, wanted);
}

int kverbs_ring_stop_waits(struct kverbs_ring *r)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_SUBMIT_WAKE,
		.ring_id = r->id,
	};

	set_flag(r, KVERBS_UFLAG_NO_WAIT, true);
	return kverbs_sys_ioctl(r->fd, KVERBS_SUBMIT, &cmd);
}

void kverbs_ring_permit_waits(struct kverbs_ring *r)
{
	set_flag(r, KVERBS_UFLAG_NO_WAIT, false);
}

bool kverbs_ring_may_not_wait(const struct kverbs_ring *r)
{
	return __atomic_load_n(&r->user->flags, __ATOMIC_SEQ_CST) & KVERBS_UFLAG_NO_WAIT;
}

void kverbs_ring_seen(struct kverbs_ring *r)
{
	__atomic_store_n(&r->user->cq_head, r->cq_head, __ATOMIC_RELEASE);
}
