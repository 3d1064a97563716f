// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creating and destroying regions. */
#include <errno.h>

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
