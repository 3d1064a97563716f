/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SLOT_H
#define KVERBS_SLOT_H

#include <linux/kverbs.h>

#include "req.h"

struct kverbs_ring;

/* Lists that a ring keeps in its done_lists. As many again may wait in its spare_lists. */
#define KVERBS_SPARE_LISTS	512

/**
 * struct kverbs_list - the pieces of a buffer
 * @next: in one of the ring's lists of unused ones
 * @extents: the pieces
 */
struct kverbs_list {
	struct kverbs_list *next;
	struct kverbs_extent extents[KVERBS_LIST_MAX];
};

/**
 * struct kverbs_slot - a submission entry under way
 * @req: the operation
 * @ring: where its completion goes
 * @user_data: what the user calls it
 * @conn_id: the connection's id
 * @signal: complete it even if it succeeds
 * @buf_id: of a buffer from a pool
 * @epoch: if the operation is @kept: the ring's when it was accepted
 * @list: the pieces, until the completion; NULL if there are none
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
	struct kverbs_list *list;
	struct kverbs_slot *next;
};

struct kverbs_slot *kverbs_slots_get(struct kverbs_ring *ring, u32 nr);
void kverbs_slots_put(struct kverbs_ring *ring, struct kverbs_slot *slots);
void kverbs_slots_done(struct list_head *done_list);
struct kverbs_list *kverbs_list_get(struct kverbs_ring *ring);
void kverbs_list_free_all(struct kverbs_list *list);

#endif /* KVERBS_SLOT_H */
