// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings: entries that are mostly right, and scribbles. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "world.h"

static void *map(const struct world *world, uint64_t offset, uint64_t size, int prot)
{
	void *addr = mmap(NULL, size, prot, MAP_SHARED, world->fd, offset);

	return addr == MAP_FAILED ? NULL : addr;
}

/**
 * ring_unmap() - let go of the thread's ring, which stays
 * @f: the thread
 */
void ring_unmap(struct fuzzer *f)
{
	if (f->sqes)
		munmap(f->sqes, f->ring.out_sq_size);
	if (f->kernel)
		munmap((void *)f->kernel, f->ring.out_cq_size);
	if (f->user)
		munmap(f->user, f->ring.out_idx_size);
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
	f->cqes = (const void *)(f->kernel + 1);
	if (!f->sqes || !f->kernel || !f->user)
		ring_unmap(f);
}

/**
 * ring_make() - a new ring for the thread, or one that others use too
 * @f: the thread
 */
void ring_make(struct fuzzer *f)
{
	struct world *world = f->world;
	unsigned int n = rng_below(&f->rng, IDS);
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd),
		.flags = rng_once_in(&f->rng, 3) ? KVERBS_RING_BUSY_POLL : 0,
		.sq_entries = 1U << rng_below(&f->rng, 7),
		.cq_entries = 8U << rng_below(&f->rng, 7),
	};

	ring_unmap(f);
	if (rng_once_in(&f->rng, 4) && world->rings[n].out_id) {
		f->ring = world->rings[n];
		map_all(f);
		return;
	}
	if (world_cmd(world, KVERBS_RING_CREATE, &cmd))
		return;
	world_note(world, &f->rng, RING, cmd.out_id);
	world->rings[n] = cmd;
	f->ring = cmd;
	map_all(f);
}

static void fill_buffer(struct fuzzer *f, struct kverbs_sqe *sqe)
{
	sqe->region_id = world_id(f->world, &f->rng, REGION);
	sqe->offset = rng_once_in(&f->rng, 20) ? rng_number(&f->rng) :
						 rng_below(&f->rng, PAGE) & ~7ULL;
	sqe->length = rng_once_in(&f->rng, 20) ? rng_number(&f->rng) :
						 rng_below(&f->rng, 2 * PAGE);
	if (rng_once_in(&f->rng, 10)) {
		sqe->region_id = 0;
		sqe->length = 0;
		sqe->offset = 0;
	}
}

static void fill_list(struct fuzzer *f, struct kverbs_sqe *sqe, struct kverbs_piece *pieces)
{
	unsigned int i, nr = 1 + rng_below(&f->rng, KVERBS_LIST_MAX);

	for (i = 0; i < nr; i++)
		pieces[i] = (struct kverbs_piece){
			.region_id = world_id(f->world, &f->rng, REGION),
			.offset = rng_below(&f->rng, PAGE),
			.length = 1 + rng_below(&f->rng, PAGE),
		};
	sqe->flags |= KVERBS_SQE_LIST;
	sqe->region_id = 0;
	sqe->offset = rng_once_in(&f->rng, 20) ? rng_number(&f->rng) : (uintptr_t)pieces;
	sqe->length = rng_once_in(&f->rng, 20) ? rng_number(&f->rng) : nr;
}

static void fill_remote(struct fuzzer *f, struct kverbs_sqe *sqe,
			const struct kverbs_segment *to)
{
	switch (sqe->opcode) {
	case KVERBS_OP_WRITE:
	case KVERBS_OP_WRITE_IMM:
	case KVERBS_OP_READ:
		sqe->remote_addr = to->addr;
		sqe->rkey = to->rkey;
		if (to->length && sqe->length > to->length && !rng_once_in(&f->rng, 20))
			sqe->length = to->length;
		break;
	case KVERBS_OP_CMP_SWAP:
	case KVERBS_OP_FETCH_ADD:
		/* It shares its place with the new value of a CMP_SWAP. */
		sqe->length = 8;
		sqe->remote_addr = to->addr & ~7ULL;
		sqe->rkey = to->rkey;
		sqe->operand = rng_number(&f->rng);
		break;
	case KVERBS_OP_SEND_INV:
		sqe->rkey = to->rkey;
	}
}

static void fill(struct fuzzer *f, struct kverbs_sqe *sqe, struct kverbs_piece *pieces)
{
	unsigned int side;
	struct link *link = world_link(f, &side);

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = 1 + rng_below(&f->rng, KVERBS_OP_FETCH_ADD);
	if (rng_once_in(&f->rng, 2))
		sqe->opcode = KVERBS_OP_RECV;
	if (sqe->opcode != KVERBS_OP_RECV)
		sqe->flags = rng_below(&f->rng, 8);
	sqe->conn_id = link->conn[side];
	sqe->user_data = rng_next(&f->rng);
	if (rng_once_in(&f->rng, 6) && sqe->opcode < KVERBS_OP_CMP_SWAP)
		fill_list(f, sqe, pieces);
	else
		fill_buffer(f, sqe);
	fill_remote(f, sqe, &link->segment[!side]);
	if (rng_once_in(&f->rng, 40))
		((unsigned char *)sqe)[rng_below(&f->rng, sizeof(*sqe))] ^=
			1U << rng_below(&f->rng, 8);
}

static uint64_t soon(struct fuzzer *f)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + rng_below(&f->rng, 5000000);
}

/**
 * ring_fill_and_submit() - put entries into the thread's ring, and submit
 * @f: the thread
 */
void ring_fill_and_submit(struct fuzzer *f)
{
	struct kverbs_piece pieces[KVERBS_LIST_MAX];
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = f->ring.out_id,
		.to_submit = 1 + rng_below(&f->rng, 8),
		.min_complete = rng_below(&f->rng, 3),
		.deadline_ns = soon(f),
	};
	uint32_t tail, i;

	if (!f->user)
		return;
	tail = __atomic_load_n(&f->kernel->sq_head, __ATOMIC_ACQUIRE);
	for (i = 0; i < cmd.to_submit && i < f->ring.sq_entries; i++)
		fill(f, &f->sqes[(tail + i) & (f->ring.sq_entries - 1)], pieces);
	__atomic_store_n(&f->user->sq_tail, tail + i, __ATOMIC_RELEASE);
	if (rng_once_in(&f->rng, 50))
		cmd.ring_id = world_id(f->world, &f->rng, RING);
	world_cmd(f->world, KVERBS_SUBMIT, &cmd);
	count(&f->world->counts->submissions, cmd.out_taken);
}

/**
 * ring_reap() - read what has completed, and answer requests
 * @f: the thread
 */
void ring_reap(struct fuzzer *f)
{
	uint32_t head, tail, nr = 0;

	if (!f->user)
		return;
	head = __atomic_load_n(&f->user->cq_head, __ATOMIC_RELAXED);
	tail = __atomic_load_n(&f->kernel->cq_tail, __ATOMIC_ACQUIRE);
	for (; head != tail && nr < f->ring.cq_entries; head++, nr++) {
		struct kverbs_cqe cqe = f->cqes[head & (f->ring.cq_entries - 1)];

		if (cqe.type == KVERBS_CQE_CONN_REQUEST)
			cmds_answer(f, cqe.id);
	}
	__atomic_store_n(&f->user->cq_head, tail, __ATOMIC_RELEASE);
	count(&f->world->counts->completions, nr);
}

/**
 * ring_settle() - wait a while for events, and answer them
 * @f: the thread
 */
void ring_settle(struct fuzzer *f)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		struct kverbs_cmd_submit cmd = {
			.size = sizeof(cmd),
			.ring_id = f->ring.out_id,
			.min_complete = 1,
			.deadline_ns = soon(f),
		};

		world_cmd(f->world, KVERBS_SUBMIT, &cmd);
		ring_reap(f);
	}
}

/**
 * ring_scribble() - write anything anywhere in a ring that is in use
 * @f: the thread
 */
void ring_scribble(struct fuzzer *f)
{
	unsigned char *at;
	unsigned int i;

	if (!f->user)
		return;
	switch (rng_below(&f->rng, 4)) {
	case 0:
		f->user->sq_tail = rng_number(&f->rng);
		break;
	case 1:
		f->user->cq_head = rng_number(&f->rng);
		break;
	case 2:
		f->user->cq_head = f->kernel->cq_tail - rng_below(&f->rng, 4);
		break;
	default:
		at = (unsigned char *)f->sqes;
		for (i = 0; i < 16; i++)
			at[rng_below(&f->rng, f->ring.out_sq_size)] = rng_next(&f->rng);
	}
}
