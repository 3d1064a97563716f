/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SLOT_H
#define KVERBS_SLOT_H

#include "req.h"

struct kverbs_ring;

/**
 * struct kverbs_slot - a submission entry under way
 * @req: the operation
 * @ring: where its completion goes
 * @user_data: what the user calls it
 * @conn_id: the connection's id
 * @signal: complete it even if it succeeds
 * @buf_id: of a buffer from a pool
 * @epoch: if the operation is @kept: the ring's when it was accepted
 * @extents: for a list, from when one is first needed until the ring goes
 * @next: in the ring's free list, or among those that a SUBMIT took
 */
struct kverbs_slot {
	struct kverbs_req req;
	struct kverbs_ring *ring;
	u64 user_data;
	u32 conn_id;
	bool signal;
	u16 buf_id;
	u64 epoch;
	struct kverbs_extent *extents;
	struct kverbs_slot *next;
};

struct kverbs_slot *kverbs_slots_get(struct kverbs_ring *ring, u32 nr);
void kverbs_slots_put(struct kverbs_ring *ring, struct kverbs_slot *slots);
void kverbs_slots_done(struct list_head *done_list);

#endif /* KVERBS_SLOT_H */
