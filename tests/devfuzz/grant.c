// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports, and which peers know them. */
#include "world.h"

#define ALL	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)
#define SEGMENTS	8

static uint32_t choose_access(struct fuzzer *f, const struct region *region)
{
	if (!region->writable)
		return KVERBS_REMOTE_READ;
	return rng_once_in(&f->rng, 3) ? 1 + rng_below(&f->rng, ALL) : ALL;
}

static uint64_t choose_length(struct fuzzer *f, const struct region *region)
{
	uint64_t most = region->length;

	if (most > 2 * MESSAGE && !rng_once_in(&f->rng, 4))
		most = 2 * MESSAGE;
	return 1 + rng_below(&f->rng, most);
}

/**
 * grant_make() - export memory to a connection's peer, and maybe to all of its group
 * @f: the thread
 * @end: this end of the connection
 */
void grant_make(struct fuzzer *f, struct end *end)
{
	const struct region *region = region_choose(f, 1, false, !rng_once_in(&f->rng, 8));
	struct grant *grant = &end->grants[rng_below(&f->rng, GRANTS)];
	struct kverbs_segment segs[SEGMENTS];
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = end->conn,
		.inout_segs_len = SEGMENTS,
		.segs_uptr = (uintptr_t)segs,
	};

	if (end->group && rng_once_in(&f->rng, 2))
		cmd.conn_id = end->group;
	if (!region || grant->segment.length)
		return;
	cmd.region_id = region->id;
	cmd.access = choose_access(f, region);
	cmd.length = choose_length(f, region);
	cmd.offset = rng_below(&f->rng, region->length - cmd.length + 1);
	if (world_try(f, KVERBS_EXPORT, &cmd) || cmd.inout_segs_len > SEGMENTS)
		return;
	world_note(f, EXPORT, cmd.out_id);
	grant->access = cmd.access;
	grant->export = cmd.out_id;
	grant->segment = segs[rng_below(&f->rng, cmd.inout_segs_len)];
}

/**
 * grant_withdraw() - revoke an export
 * @f: the thread
 * @end: the end that granted it
 *
 * Revokes it at once, or the next time, when the peer's operations have probably completed.
 */
void grant_withdraw(struct fuzzer *f, struct end *end)
{
	struct grant *grant = &end->grants[rng_below(&f->rng, GRANTS)];
	uint32_t id = f->retired;

	f->retired = grant->segment.length ? grant->export : 0;
	grant->segment.length = 0;
	if (id)
		world_destroy(f, id);
	if (!f->retired || !rng_once_in(&f->rng, 10))
		return;
	world_destroy(f, f->retired);
	f->retired = 0;
}

/**
 * grant_choose() - choose an export that may be used
 * @f: the thread
 * @end: the end that granted it
 * @access: the rights that it must grant
 *
 * Return: the export, or NULL if there is none.
 */
struct grant *grant_choose(struct fuzzer *f, struct end *end, uint32_t access)
{
	unsigned int i, first = rng_below(&f->rng, GRANTS);
	struct grant *grant;

	for (i = 0; i < GRANTS; i++) {
		grant = &end->grants[(first + i) % GRANTS];
		if (grant->segment.length && !(access & ~grant->access))
			return grant;
	}
	return NULL;
}
