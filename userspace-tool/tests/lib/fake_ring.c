// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel's side of the shared ring.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "fake_internal.h"

/* mmap offsets: the area, and the ring's id */
#define AREA_SHIFT 32
#define AREA_SQ 1u
#define AREA_CQ 2u
#define AREA_IDX 3u

static uint64_t area(uint32_t id, uint64_t which)
{
	return which << AREA_SHIFT | id;
}

static bool power_of_2(uint32_t n)
{
	return n && !(n & (n - 1));
}

#define RING_FLAGS (KVERBS_RING_BUSY_POLL | KVERBS_RING_SOFTIRQ | KVERBS_RING_EVENTFD | \
		    KVERBS_RING_FD)

/* Descriptors of rings, whether the rings are still there or not. */
static bool is_poll_fd[1024];

static int new_poll_fd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	fake_check(fd > 0 && fd < 1024);
	is_poll_fd[fd] = true;
	fk.poll_fds++;
	return fd;
}

bool fake_ring_close_fd(int fd)
{
	if (fd < 0 || fd >= 1024 || !is_poll_fd[fd])
		return false;
	is_poll_fd[fd] = false;
	fk.poll_fds--;
	return true;
}

int fake_ring_create(int fd, struct kverbs_cmd_ring_create *cmd)
{
	struct fake_obj *o;
	struct fake_ring *r;

	if (!power_of_2(cmd->sq_entries) || !power_of_2(cmd->cq_entries) ||
	    cmd->flags & ~RING_FLAGS ||
	    !(cmd->flags & KVERBS_RING_EVENTFD) != !cmd->event_fd)
		return -EINVAL;
	if (cmd->flags & KVERBS_RING_BUSY_POLL && cmd->flags & KVERBS_RING_SOFTIRQ)
		return -EINVAL;
	o = fake_new(fd, FAKE_RING);
	r = &o->r;
	cmd->out_id = o->id;
	r->sq_entries = cmd->sq_entries;
	r->cq_entries = cmd->cq_entries;
	r->busy_poll = cmd->flags & KVERBS_RING_BUSY_POLL;
	r->event_fd = cmd->event_fd;
	r->poll_fd = cmd->flags & KVERBS_RING_FD ? new_poll_fd() : 0;
	cmd->out_fd = r->poll_fd;
	cmd->out_sq_offset = area(o->id, AREA_SQ);
	cmd->out_cq_offset = area(o->id, AREA_CQ);
	cmd->out_idx_offset = area(o->id, AREA_IDX);
	cmd->out_sq_size = r->sq_entries * sizeof(*r->sqes);
	cmd->out_cq_size = sizeof(*r->kernel) + r->cq_entries * sizeof(struct kverbs_cqe);
	cmd->out_idx_size = sizeof(*r->user);
	cmd->out_cqes_offset = sizeof(*r->kernel);
	r->sqes = calloc(1, cmd->out_sq_size);
	r->kernel = calloc(1, cmd->out_cq_size);
	r->user = calloc(1, cmd->out_idx_size);
	r->held = calloc(r->cq_entries, sizeof(*r->held));
	r->kernel->sq_entries = r->sq_entries;
	r->kernel->cq_entries = r->cq_entries;
	return 0;
}

void fake_ring_free(struct fake_obj *o)
{
	free(o->r.sqes);
	free(o->r.kernel);
	free(o->r.user);
	free(o->r.held);
}

void *fake_ring_area(int fd, uint64_t offset, size_t length)
{
	struct fake_obj *o = fake_find(fd, (uint32_t)offset, FAKE_RING);

	fake_check(o);
	switch (offset >> AREA_SHIFT) {
	case AREA_SQ:
		fake_check(length == o->r.sq_entries * sizeof(struct kverbs_sqe));
		return o->r.sqes;
	case AREA_CQ:
		fake_check(length == sizeof(struct kverbs_ring_kernel) +
			   o->r.cq_entries * sizeof(struct kverbs_cqe));
		return o->r.kernel;
	default:
		fake_check(offset >> AREA_SHIFT == AREA_IDX);
		fake_check(length == sizeof(struct kverbs_ring_user));
		return o->r.user;
	}
}

struct fake_obj *fake_ring_of(const struct fake_obj *obj)
{
	return fk.objs[obj->ring];
}

static uint32_t unread(const struct fake_ring *r)
{
	uint32_t n = r->kernel->cq_tail -
		     __atomic_load_n(&r->user->cq_head, __ATOMIC_ACQUIRE);

	fake_check(n <= r->cq_entries);
	return n;
}

int fake_ring_reserve(struct fake_obj *ring, unsigned int slots)
{
	struct fake_ring *r = &ring->r;

	if (r->cq_entries - unread(r) - r->reserved < slots)
		return -EAGAIN;
	r->reserved += slots;
	return 0;
}

void fake_ring_return(struct fake_obj *ring)
{
	fake_check(ring->r.reserved);
	ring->r.reserved--;
	ring->r.room = true;
	pthread_cond_broadcast(&fk.changed);
}

/* poll(2) finds the file readable, or the ring's descriptor if it has one. */
static int polled_fd(const struct fake_obj *ring)
{
	return ring->r.poll_fd ? ring->r.poll_fd : ring->fd;
}

static void wake(struct fake_obj *ring)
{
	eventfd_write(polled_fd(ring), 1);
	if (ring->r.event_fd)
		eventfd_write(ring->r.event_fd, 1);
	pthread_cond_broadcast(&fk.changed);
}

/* Put a completion into a reserved slot. */
static void put(struct fake_obj *ring, const struct kverbs_cqe *cqe)
{
	struct fake_ring *r = &ring->r;
	struct kverbs_cqe *cqes = (void *)(r->kernel + 1);

	fake_check(r->reserved);
	fake_check(unread(r) < r->cq_entries);
	r->reserved--;
	cqes[r->kernel->cq_tail & (r->cq_entries - 1)] = *cqe;
	__atomic_store_n(&r->kernel->cq_tail, r->kernel->cq_tail + 1, __ATOMIC_RELEASE);
	wake(ring);
}

/* An entry that is refused completes while SUBMIT takes it. */
int fake_ring_refuse(struct fake_obj *ring, const struct kverbs_sqe *sqe, int error)
{
	struct kverbs_cqe cqe = {
		.user_data = sqe->user_data,
		.id = sqe->conn_id,
		.result = error,
		.type = KVERBS_CQE_WORK,
		.flags = sqe->opcode == KVERBS_OP_RECV ? KVERBS_CQE_F_RECV : 0,
	};
	int ret = fake_ring_reserve(ring, 1);

	if (!ret)
		put(ring, &cqe);
	return ret;
}

void fake_ring_put(struct fake_obj *ring, const struct kverbs_cqe *cqe)
{
	struct fake_ring *r = &ring->r;

	if (!r->busy_poll || cqe->type != KVERBS_CQE_WORK) {
		put(ring, cqe);
		return;
	}
	fake_check(r->nr_held < r->cq_entries);
	r->held[r->nr_held++] = *cqe;
	pthread_cond_broadcast(&fk.changed);
}

/* Poll, as SUBMIT does on a BUSY_POLL ring. */
static void look(struct fake_obj *ring)
{
	unsigned int i;

	for (i = 0; i < ring->r.nr_held; i++)
		put(ring, &ring->r.held[i]);
	ring->r.nr_held = 0;
}

static uint32_t filled(const struct fake_ring *r)
{
	uint32_t n = __atomic_load_n(&r->user->sq_tail, __ATOMIC_ACQUIRE) -
		     r->kernel->sq_head;

	fake_check(n <= r->sq_entries);
	return n;
}

static void take(int fd, struct fake_obj *ring, struct kverbs_cmd_submit *cmd)
{
	struct fake_ring *r = &ring->r;
	uint32_t n = filled(r);
	int ret = 0;

	if (n > cmd->to_submit)
		n = cmd->to_submit;
	while (cmd->out_taken < n && !ret) {
		if (fake.max_take && cmd->out_taken == fake.max_take) {
			ret = -EAGAIN;
			break;
		}
		ret = fake_work_take(fd, ring,
				     &r->sqes[r->kernel->sq_head & (r->sq_entries - 1)]);
		if (ret && ret != -EAGAIN)
			ret = fake_ring_refuse(ring, &r->sqes[r->kernel->sq_head &
							      (r->sq_entries - 1)], ret);
		if (ret)
			break;
		__atomic_store_n(&r->kernel->sq_head, r->kernel->sq_head + 1,
				 __ATOMIC_RELEASE);
		cmd->out_taken++;
	}
	cmd->out_error = ret;
}

static bool may_not_wait(const struct fake_ring *r)
{
	return __atomic_load_n(&r->user->flags, __ATOMIC_ACQUIRE) & KVERBS_UFLAG_NO_WAIT;
}

static bool is_met(const struct fake_ring *r, const struct kverbs_cmd_submit *cmd)
{
	const uint8_t *byte = (const uint8_t *)(uintptr_t)cmd->watch_uptr;

	if (cmd->flags & KVERBS_SUBMIT_WATCH &&
	    __atomic_load_n(byte, __ATOMIC_ACQUIRE) != cmd->watch_old)
		return true;
	if (__atomic_load_n(&r->user->flags, __ATOMIC_ACQUIRE) & KVERBS_UFLAG_WANT_ROOM &&
	    r->room)
		return true;
	if (may_not_wait(r))
		return true;
	return unread(r) >= cmd->min_complete;
}

/* Returns true if a connection with FAKE_CONNECT_HANGS reports to this ring. */
static bool hangs(const struct fake_obj *ring)
{
	const struct fake_obj *o;
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++) {
		o = fk.objs[id];
		if (o && o->type == FAKE_CONN && o->conn.hangs && fake_ring_of(o) == ring)
			return true;
	}
	return false;
}

/* A thread that waits on a BUSY_POLL ring polls continuously. */
static int wait_unread(struct fake_obj *ring, const struct kverbs_cmd_submit *cmd)
{
	const struct fake_ring *r = &ring->r;
	int ret = 0;

	fake_check(!cmd->timeout_ns || cmd->flags & KVERBS_TIME_ABSOLUTE);
	fk.sleepers++;
	if (fake.interrupt_nth && !(++fk.sleeps % fake.interrupt_nth))
		fk.interrupts++;
	pthread_cond_broadcast(&fk.changed);
	if (cmd->timeout_ns && hangs(ring))
		fake_clock_jump(cmd->timeout_ns);
	while (!is_met(r, cmd) && ret != -ETIMEDOUT && !fk.interrupts) {
		if (cmd->timeout_ns)
			ret = fake_clock_wait(&fk.changed, &fk.lock, cmd->timeout_ns);
		else
			ret = pthread_cond_wait(&fk.changed, &fk.lock);
		look(ring);
	}
	fk.sleepers--;
	if (is_met(r, cmd) || !fk.interrupts)
		return 0;
	fk.interrupts--;
	return cmd->out_taken ? 0 : -EINTR;
}

int fake_ring_submit(int fd, struct kverbs_cmd_submit *cmd)
{
	struct fake_obj *ring = fake_find(fd, cmd->ring_id, FAKE_RING);
	int ret = 0;

	if (!ring)
		return -ENOENT;
	fake_check(!(cmd->flags & KVERBS_SUBMIT_WATCH) || cmd->min_complete);
	cmd->out_taken = 0;
	cmd->out_error = 0;
	if (cmd->pool_id && fake_pool_wake(fd, cmd->pool_id))
		return -ENOENT;
	if (cmd->flags & KVERBS_SUBMIT_WAKE)
		wake(ring);
	if (cmd->to_submit)
		ring->r.room = false;
	look(ring);
	if (cmd->to_submit) {
		fake.submits++;
		take(fd, ring, cmd);
		fake_work_run();
		pthread_cond_broadcast(&fk.changed);
	}
	if (!cmd->out_taken && cmd->out_error)
		return cmd->out_error;
	if (cmd->min_complete) {
		look(ring);
		ret = wait_unread(ring, cmd);
	}
	cmd->out_ready = unread(&ring->r);
	return ret;
}

void fake_write(uint8_t *byte, uint8_t value)
{
	pthread_mutex_lock(&fk.lock);
	__atomic_store_n(byte, value, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&fk.changed);
	pthread_mutex_unlock(&fk.lock);
}

static struct fake_obj *first_ring(void)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_RING)
			return fk.objs[id];
	fake_check(false);
	return NULL;
}

void fake_cqe(const struct kverbs_cqe *cqe)
{
	pthread_mutex_lock(&fk.lock);
	fake_check(!fake_ring_reserve(first_ring(), 1));
	fake_ring_put(first_ring(), cqe);
	pthread_mutex_unlock(&fk.lock);
}

bool fake_sq_empty(void)
{
	bool empty;

	pthread_mutex_lock(&fk.lock);
	empty = !filled(&first_ring()->r);
	pthread_mutex_unlock(&fk.lock);
	return empty;
}

static void update_poll(const struct fake_obj *ring)
{
	int fd = polled_fd(ring);
	eventfd_t value;

	eventfd_write(fd, 1);
	eventfd_read(fd, &value);
	if (unread(&ring->r) || may_not_wait(&ring->r))
		eventfd_write(fd, 1);
}

/* Rings without a descriptor share that of their file: the test has one of these. */
void fake_update_poll(void)
{
	uint32_t id;

	pthread_mutex_lock(&fk.lock);
	update_poll(first_ring());
	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_RING && fk.objs[id]->r.poll_fd)
			update_poll(fk.objs[id]);
	pthread_mutex_unlock(&fk.lock);
}
