// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings: submitting, reading completions, and scribbling. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

/* Waits in vain, in a row, before the ring is replaced */
#define PATIENCE	300

/* Descriptors of rings, 0: none. A child has copies of its parent's, and goes on with its own. */
static int ring_fds[IDS];

static void *map(const struct world *world, uint64_t offset, uint64_t size, int prot)
{
	void *addr = mmap(NULL, size, prot, MAP_SHARED, world->fd, offset);

	return addr == MAP_FAILED ? NULL : addr;
}

static void unmap(const void *addr, uint64_t size)
{
	if (addr)
		munmap((void *)addr, size);
}

static void unmap_all(struct fuzzer *f)
{
	unmap(f->sqes, f->ring.out_sq_size);
	unmap(f->kernel, f->ring.out_cq_size);
	unmap(f->user, f->ring.out_idx_size);
	f->sqes = NULL;
	f->kernel = NULL;
	f->user = NULL;
}

static void map_all(struct fuzzer *f)
{
	const struct kverbs_cmd_ring_create *ring = &f->ring;

	f->sqes = map(f->world, ring->out_sq_offset, ring->out_sq_size, PROT_READ | PROT_WRITE);
	f->kernel = map(f->world, ring->out_cq_offset, ring->out_cq_size, PROT_READ);
	f->user = map(f->world, ring->out_idx_offset, ring->out_idx_size, PROT_READ | PROT_WRITE);
	f->cqes = (const void *)((const char *)f->kernel + ring->out_cqes_offset);
	if (!f->sqes || !f->kernel || !f->user)
		unmap_all(f);
	else
		f->cq_head = f->user->cq_head;
}

static void choose_kind(struct fuzzer *f, struct kverbs_cmd_ring_create *cmd)
{
	switch (rng_below(&f->rng, 8)) {
	case 0 ... 1:
		cmd->flags = KVERBS_RING_BUSY_POLL;
		break;
	case 2:
		cmd->flags = KVERBS_RING_EVENTFD;
		cmd->event_fd = eventfd(0, EFD_CLOEXEC);
		break;
	case 3 ... 4:
		cmd->flags = KVERBS_RING_SOFTIRQ;
	}
	if (rng_once_in(&f->rng, 4))
		cmd->flags |= KVERBS_RING_FD;
}

/* Another thread may use the descriptor, or close it, at the same time. */
static void keep_fd(struct fuzzer *f, int fd)
{
	int *place = &ring_fds[rng_below(&f->rng, IDS)];
	int old = __atomic_exchange_n(place, fd, __ATOMIC_RELAXED);

	if (old)
		close(old);
}

static bool create(struct fuzzer *f, struct kverbs_cmd_ring_create *cmd)
{
	bool small = rng_once_in(&f->rng, 10);
	int event, ret;

	*cmd = (struct kverbs_cmd_ring_create){
		.size = sizeof(*cmd),
		.sq_entries = 1U << (small ? rng_below(&f->rng, 3) : 3 + rng_below(&f->rng, 4)),
		.cq_entries = 1U << (small ? 6 : 8 + rng_below(&f->rng, 3)),
	};
	choose_kind(f, cmd);
	event = cmd->event_fd;
	ret = world_try(f, KVERBS_RING_CREATE, cmd);
	/* The ring holds a reference on the eventfd. */
	if (event)
		close(event);
	if (!ret && cmd->out_fd)
		keep_fd(f, cmd->out_fd);
	return !ret;
}

/* Mostly destroy the connections with the ring; otherwise they stay until the file is closed. */
static void leave(struct fuzzer *f)
{
	if (!f->ring.out_id)
		return;
	if (!rng_once_in(&f->rng, 4))
		link_leave(f);
	unmap_all(f);
	world_destroy(f, f->ring.out_id);
	f->ring = (struct kverbs_cmd_ring_create){};
}

/**
 * ring_make() - create a new ring for the thread, or share another thread's
 * @f: the thread
 */
void ring_make(struct fuzzer *f)
{
	struct kverbs_cmd_ring_create *known = &f->world->rings[rng_below(&f->rng, IDS)];
	struct kverbs_cmd_ring_create cmd = *known;

	leave(f);
	if (!cmd.out_id || !rng_once_in(&f->rng, 10)) {
		if (!create(f, &cmd))
			return;
		world_note(f, RING, cmd.out_id);
		*known = cmd;
	}
	f->ring = cmd;
	f->waits = 0;
	map_all(f);
}

static uint64_t within_ms(struct fuzzer *f, unsigned int ms)
{
	return 1 + rng_below(&f->rng, ms * 1000000ULL);
}

/* A ring that another thread has destroyed, or that makes no progress, must be replaced. */
static void wait_for_some(struct fuzzer *f, unsigned int ms)
{
	bool busy = f->ring.flags & KVERBS_RING_BUSY_POLL;
	struct pollfd look = { .fd = f->world->fd, .events = POLLIN };
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = f->ring.out_id,
		.min_complete = 1,
		.timeout_ns = within_ms(f, busy ? 1 : ms),
	};

	/* Yield the CPU to other threads, which cause the completions. */
	if (busy)
		poll(&look, 1, rng_below(&f->rng, ms));
	if (world_cmd(f->world, KVERBS_SUBMIT, &cmd) == -ENOENT || f->waits++ > PATIENCE)
		unmap_all(f);
	f->full = false;
}

/* Put @nr entries into the ring. */
static unsigned int fill(struct fuzzer *f, unsigned int nr)
{
	uint32_t tail = __atomic_load_n(&f->kernel->sq_head, __ATOMIC_ACQUIRE), i;
	struct end *end = NULL;

	for (i = 0; i < nr && i < f->ring.sq_entries; i++) {
		if (!end || rng_once_in(&f->rng, 3))
			end = link_choose(f);
		if (!end)
			break;
		entry_fill(f, end, &f->sqes[(tail + i) & (f->ring.sq_entries - 1)], i);
	}
	__atomic_store_n(&f->user->sq_tail, tail + i, __ATOMIC_RELEASE);
	return i;
}

static void note_taken(struct fuzzer *f, const struct kverbs_cmd_submit *cmd, int ret,
		       unsigned int nr)
{
	int err = ret ?: cmd->out_error;
	uint32_t i;

	if (!ret)
		f->waits = 0;
	for (i = 0; !ret && i < cmd->out_taken && i < nr; i++) {
		count_entry(f->world->counts, f->opcodes[i], 0);
		entry_taken(f, i);
	}
	if (err && i < nr)
		count_entry(f->world->counts, f->opcodes[i], -err);
	f->full = err == -EAGAIN;
	if (f->full && i < nr)
		entry_refused(f, i);
}

/* Sometimes watch a byte, mostly with its current value. */
static void watch(struct fuzzer *f, struct kverbs_cmd_submit *cmd)
{
	uint64_t length;

	cmd->flags |= KVERBS_SUBMIT_WATCH;
	cmd->watch_uptr = rng_once_in(&f->rng, 8) ? rng_number(&f->rng) :
						    (uintptr_t)memory_choose(f, &length);
	cmd->watch_old = rng_once_in(&f->rng, 2) ? 0 : rng_below(&f->rng, 257);
}

static void submit(struct fuzzer *f, unsigned int nr)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = f->ring.out_id,
		.to_submit = nr,
		.min_complete = rng_once_in(&f->rng, 8) ? rng_below(&f->rng, 4) : 0,
		.timeout_ns = within_ms(f, 5),
	};
	bool spoilt = rng_once_in(&f->rng, 60);
	bool watches = cmd.min_complete && rng_once_in(&f->rng, 2);
	int ret;

	if (watches)
		watch(f, &cmd);
	if (rng_once_in(&f->rng, 16))
		cmd.flags |= KVERBS_SUBMIT_WAKE;
	if (spoilt)
		world_spoil(f, &cmd, offsetof(struct kverbs_cmd_submit, timeout_ns));
	ret = world_cmd(f->world, KVERBS_SUBMIT, &cmd);
	if (!ret || (!spoilt && !watches))
		note_taken(f, &cmd, ret, nr);
}

/**
 * ring_submit() - put entries into the thread's ring and submit them; or wait, if
 *	there is no room or no connection
 * @f: the thread
 */
void ring_submit(struct fuzzer *f)
{
	unsigned int nr = 0;

	if (!f->user)
		return;
	if (!f->full)
		nr = fill(f, 1 + rng_below(&f->rng, BATCH));
	if (nr) {
		submit(f, nr);
		return;
	}
	if (!f->full)
		link_keep(f);
	wait_for_some(f, 20);
}

static void notice(struct fuzzer *f, const struct kverbs_cqe *cqe)
{
	count_completion(f->world->counts, cqe);
	switch (cqe->type) {
	case KVERBS_CQE_WORK:
		break;
	case KVERBS_CQE_CONN_REQUEST:
		link_answer(f, cqe->id);
		break;
	case KVERBS_CQE_ESTABLISHED:
		link_up(f, cqe->id);
		break;
	default:
		/* The listener may have been destroyed. */
		if (cqe->type == KVERBS_CQE_REJECTED)
			f->port = 0;
		link_down(f, cqe->id);
	}
}

/**
 * ring_reap() - read completions, and handle them
 * @f: the thread
 */
void ring_reap(struct fuzzer *f)
{
	uint32_t tail, nr;

	if (!f->user)
		return;
	tail = __atomic_load_n(&f->kernel->cq_tail, __ATOMIC_ACQUIRE);
	for (nr = 0; f->cq_head != tail && nr < f->ring.cq_entries; nr++) {
		struct kverbs_cqe cqe = f->cqes[f->cq_head++ & (f->ring.cq_entries - 1)];

		notice(f, &cqe);
	}
	__atomic_store_n(&f->user->cq_head, f->cq_head, __ATOMIC_RELEASE);
}

/**
 * ring_settle() - wait until a connection is established, or for a while
 * @f: the thread
 */
void ring_settle(struct fuzzer *f)
{
	unsigned int i;

	for (i = 0; i < 50 && f->user && !link_choose(f); i++) {
		wait_for_some(f, 200);
		ring_reap(f);
	}
}

static void scribble_once(struct fuzzer *f, unsigned char *sqes, uint64_t size,
			  struct kverbs_ring_user *user)
{
	unsigned int i;

	switch (rng_below(&f->rng, 16)) {
	case 0:
		user->sq_tail = rng_number(&f->rng);
		break;
	case 1:
		user->cq_head = rng_number(&f->rng);
		break;
	case 2:
		user->cq_head -= rng_below(&f->rng, 4);
		break;
	case 3:
		user->flags = rng_number(&f->rng);
		break;
	default:
		for (i = 0; i < 4; i++)
			sqes[rng_below(&f->rng, size)] = rng_next(&f->rng);
	}
}

/**
 * ring_use_fd() - poll and map the descriptor of a ring, which may be gone
 * @f: the thread
 */
void ring_use_fd(struct fuzzer *f)
{
	const struct kverbs_cmd_ring_create *ring = &f->world->rings[rng_below(&f->rng, IDS)];
	struct pollfd look = {
		.fd = __atomic_load_n(&ring_fds[rng_below(&f->rng, IDS)], __ATOMIC_RELAXED),
		.events = POLLIN | POLLOUT,
	};
	size_t size = ring->out_idx_size;
	void *addr;

	if (!look.fd)
		return;
	poll(&look, 1, rng_below(&f->rng, 3));
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, look.fd, ring->out_idx_offset);
	if (addr != MAP_FAILED)
		munmap(addr, size);
	if (rng_once_in(&f->rng, 8))
		keep_fd(f, 0);
}

/**
 * ring_scribble() - write random values anywhere in a ring, while another thread may
 *	fill it and the kernel read it
 * @f: the thread
 */
void ring_scribble(struct fuzzer *f)
{
	struct kverbs_cmd_ring_create ring = f->world->rings[rng_below(&f->rng, IDS)];
	struct kverbs_ring_user *user;
	unsigned char *sqes;
	unsigned int i;

	if (!ring.out_id)
		return;
	sqes = map(f->world, ring.out_sq_offset, ring.out_sq_size, PROT_READ | PROT_WRITE);
	user = map(f->world, ring.out_idx_offset, ring.out_idx_size, PROT_READ | PROT_WRITE);
	for (i = 0; sqes && user && i < 64; i++)
		scribble_once(f, sqes, ring.out_sq_size, user);
	unmap(sqes, ring.out_sq_size);
	unmap(user, ring.out_idx_size);
}
