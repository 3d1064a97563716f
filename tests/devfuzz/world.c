// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creating a world, and running commands in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "world.h"

/**
 * world_create() - open the device and lay out memory
 * @counts: shared with all processes
 * @addr: address for listeners
 *
 * Return: the world, which its processes' exit frees.
 */
struct world *world_create(struct counts *counts, const struct kverbs_addr *addr)
{
	struct world *world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (world == MAP_FAILED)
		abort();
	world->fd = open("/dev/kverbs", O_RDWR | O_CLOEXEC);
	if (world->fd < 0) {
		perror("/dev/kverbs");
		exit(1);
	}
	world->counts = counts;
	world->addr = *addr;
	memory_create(world);
	return world;
}

/**
 * world_cmd() - run a command
 * @world: the world
 * @number: its ioctl
 * @cmd: its struct, with its size
 *
 * Return: 0 or -errno.
 */
int world_cmd(struct world *world, unsigned long number, void *cmd)
{
	int ret = ioctl(world->fd, number, cmd) ? -errno : 0;

	count_command(world->counts, _IOC_NR(number), -ret);
	return ret;
}

/**
 * world_spoil() - overwrite one field with another value
 * @f: the thread
 * @words: fields of four bytes or more
 * @size: size of all fields
 */
void world_spoil(struct fuzzer *f, void *words, size_t size)
{
	uint32_t *word = (uint32_t *)words + rng_below(&f->rng, size / sizeof(*word));

	switch (rng_below(&f->rng, 4)) {
	case 0:
		*word ^= 1U << rng_below(&f->rng, 32);
		break;
	case 1:
		*word = world_id(f, rng_below(&f->rng, NR_KINDS));
		break;
	default:
		*word = rng_number(&f->rng);
	}
}

/**
 * world_try() - run a command of which one field may be wrong
 * @f: the thread
 * @number: its ioctl
 * @cmd: its struct, with its size
 *
 * Return: 0 or -errno.
 */
int world_try(struct fuzzer *f, unsigned long number, void *cmd)
{
	if (rng_once_in(&f->rng, 30))
		world_spoil(f, cmd, *(uint32_t *)cmd);
	return world_cmd(f->world, number, cmd);
}

/**
 * world_destroy() - destroy an object
 * @f: the thread
 * @id: id of any type
 *
 * Return: 0 or -errno.
 */
int world_destroy(struct fuzzer *f, uint32_t id)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd), .id = id };

	return world_try(f, KVERBS_DESTROY, &cmd);
}

/**
 * world_note() - remember an id, in place of an older one
 * @f: the thread
 * @kind: type of the object
 * @id: the id
 */
void world_note(struct fuzzer *f, enum object kind, uint32_t id)
{
	f->world->ids[kind][rng_below(&f->rng, IDS)] = id;
}

/**
 * world_id() - get an id that was valid at some time
 * @f: the thread
 * @kind: type that the object should have
 *
 * Return: the id, which may be stale; 0 before many are known.
 */
uint32_t world_id(struct fuzzer *f, enum object kind)
{
	return f->world->ids[kind][rng_below(&f->rng, IDS)];
}

/**
 * world_ring() - choose a ring, most likely the thread's own
 * @f: the thread
 *
 * Return: its id.
 */
uint32_t world_ring(struct fuzzer *f)
{
	if (f->ring.out_id && !rng_once_in(&f->rng, 12))
		return f->ring.out_id;
	return world_id(f, RING) ?: f->ring.out_id;
}
