// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Making a world, and finding one's way in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "world.h"

/**
 * world_create() - open the device and lay out memory
 * @counts: shared with all
 * @addr: where listeners can be
 *
 * Return: the world; it goes with its processes.
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
 * @world: where
 * @number: its ioctl
 * @cmd: its struct, with its size
 *
 * Return: 0 or -errno.
 */
int world_cmd(struct world *world, unsigned long number, void *cmd)
{
	int ret = ioctl(world->fd, number, cmd) ? -errno : 0;

	count(&world->counts->results[_IOC_NR(number) % COMMANDS][-ret % ERRNOS], 1);
	return ret;
}

/**
 * world_note() - remember an id, and forget another
 * @world: where
 * @rng: says which
 * @kind: what it is
 * @id: the id
 */
void world_note(struct world *world, struct rng *rng, enum kind kind, uint32_t id)
{
	__atomic_store_n(&world->ids[kind][rng_below(rng, IDS)], id, __ATOMIC_RELAXED);
}

/**
 * world_id() - an id that is likely to be right
 * @world: where
 * @rng: says which
 * @kind: of what kind it should be
 *
 * Return: the id, of that kind or another, still there or not.
 */
uint32_t world_id(struct world *world, struct rng *rng, enum kind kind)
{
	if (rng_once_in(rng, 50))
		return rng_number(rng);
	if (rng_once_in(rng, 50))
		kind = rng_below(rng, NR_KINDS);
	return __atomic_load_n(&world->ids[kind][rng_below(rng, IDS)], __ATOMIC_RELAXED);
}

/**
 * world_link() - a connection that probably completes on the thread's ring
 * @f: the thread
 * @side: which end of it does
 *
 * Return: the connection.
 */
struct link *world_link(struct fuzzer *f, unsigned int *side)
{
	unsigned int tries = rng_once_in(&f->rng, 20) ? 1 : 4 * IDS;
	struct link *link;

	do {
		link = &f->world->links[rng_below(&f->rng, IDS)];
		*side = rng_below(&f->rng, 2);
	} while (--tries && (!link->conn[*side] || link->ring[*side] != f->ring.out_id));
	return link;
}

/**
 * world_ring() - a ring, most likely the thread's own
 * @f: the thread
 *
 * Return: its id.
 */
uint32_t world_ring(struct fuzzer *f)
{
	if (f->ring.out_id && !rng_once_in(&f->rng, 8))
		return f->ring.out_id;
	return world_id(f->world, &f->rng, RING);
}
