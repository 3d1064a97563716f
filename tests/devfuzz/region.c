// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creating and destroying regions. */
#include <errno.h>
#include <unistd.h>

#include "world.h"

/* Mostly choose a slot of the regions that are often idle. */
static struct region *choose_place(struct fuzzer *f)
{
	unsigned int i = rng_below(&f->rng, IDS / 2);

	if (f->world->regions[i].id && !rng_once_in(&f->rng, 12))
		i += IDS / 2;
	return &f->world->regions[i];
}

/* If work or an export uses the old region, the region stays. */
static bool make_room(struct fuzzer *f, struct region *region)
{
	uint32_t id = region->id;

	if (id && world_destroy(f, id) == -EBUSY)
		return false;
	region->id = 0;
	return true;
}

/* Its own ring has room only if the thread reads its completions, which it does. */
static void choose_flags(struct fuzzer *f, struct kverbs_cmd_region_create *cmd)
{
	if (rng_once_in(&f->rng, 6))
		cmd->flags |= KVERBS_REGION_READ_ONLY;
	if (!rng_once_in(&f->rng, 4))
		return;
	cmd->flags |= KVERBS_REGION_TRACK;
	cmd->ring_id = f->ring.out_id;
	cmd->user_data = f->ring.out_id;
}

/**
 * region_make() - replace a region by a new one
 * @f: the thread
 */
void region_make(struct fuzzer *f)
{
	struct region *region = choose_place(f);
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
	};
	int ret;

	if (!make_room(f, region))
		return;
	choose_flags(f, &cmd);
	cmd.addr = (uintptr_t)memory_choose(f, (uint64_t *)&cmd.length);
	ret = world_try(f, KVERBS_REGION_CREATE, &cmd);
	if (ret == -EFAULT)
		memory_mend(f->world, (char *)cmd.addr, cmd.length);
	if (ret)
		return;
	world_note(f, REGION, cmd.out_id);
	region->addr = cmd.addr;
	region->length = cmd.length;
	region->writable = !(cmd.flags & KVERBS_REGION_READ_ONLY);
	region->id = cmd.out_id;
}

static int choose_fd(struct fuzzer *f, int shared)
{
	if (rng_once_in(&f->rng, 8))
		return rng_once_in(&f->rng, 2) ? f->world->fd : (int)rng_number(&f->rng);
	return shared;
}

/**
 * region_share() - replace a region by one that has the memory of another
 * @f: the thread
 *
 * The file that passes the memory on is closed when the region has been created, or not.
 */
void region_share(struct fuzzer *f)
{
	const struct region *from = &f->world->regions[rng_below(&f->rng, IDS)];
	struct kverbs_cmd_region_export_fd shared = {
		.size = sizeof(shared),
		.flags = rng_once_in(&f->rng, 6) ? KVERBS_REGION_READ_ONLY : 0,
		.region_id = from->id,
	};
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_REGION_FD,
	};
	struct region *region = choose_place(f), made = *from;

	if (!make_room(f, region) || world_try(f, KVERBS_REGION_EXPORT_FD, &shared))
		return;
	if (rng_once_in(&f->rng, 6))
		cmd.flags |= KVERBS_REGION_READ_ONLY;
	cmd.fd = choose_fd(f, shared.out_fd);
	if (rng_once_in(&f->rng, 4))
		world_destroy(f, shared.region_id);
	if (!world_try(f, KVERBS_REGION_CREATE, &cmd)) {
		world_note(f, REGION, cmd.out_id);
		made.length = cmd.out_length;
		made.writable = !(cmd.flags & KVERBS_REGION_READ_ONLY);
		made.id = cmd.out_id;
		*region = made;
	}
	close(shared.out_fd);
}

/**
 * region_of_dmabuf() - replace a region by one of a dma-buf, if there is one
 * @f: the thread
 */
void region_of_dmabuf(struct fuzzer *f)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_REGION_DMABUF,
		.addr = rng_below(&f->rng, DMABUF_SIZE),
		.fd = choose_fd(f, f->world->dmabuf),
	};
	struct region *region = choose_place(f);

	if (!make_room(f, region))
		return;
	cmd.length = 1 + rng_below(&f->rng, DMABUF_SIZE - cmd.addr);
	if (rng_once_in(&f->rng, 6))
		cmd.flags |= KVERBS_REGION_READ_ONLY;
	if (world_try(f, KVERBS_REGION_CREATE, &cmd))
		return;
	world_note(f, REGION, cmd.out_id);
	*region = (struct region){
		.addr = cmd.addr,
		.length = cmd.length,
		.id = cmd.out_id,
		.writable = !(cmd.flags & KVERBS_REGION_READ_ONLY),
	};
}

/**
 * region_choose() - choose a suitable region
 * @f: the thread
 * @least: minimum length
 * @writable: it will be written
 * @lasting: it will be busy for long; half of the regions are never chosen for that, so
 *	that they are often idle and can be replaced
 *
 * Return: the region, or NULL if there is none.
 */
const struct region *region_choose(struct fuzzer *f, uint64_t least, bool writable,
				   bool lasting)
{
	unsigned int first = rng_below(&f->rng, IDS / 2) + (lasting ? 0 : IDS / 2), i;
	const struct region *region;

	for (i = 0; i < IDS; i++) {
		region = &f->world->regions[(first + i) % IDS];
		if (region->id && region->length >= least && region->writable >= writable)
			return region;
	}
	return NULL;
}
