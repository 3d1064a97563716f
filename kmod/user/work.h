/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_WORK_H
#define KVERBS_WORK_H

#include "queue.h"

struct kverbs_ring;

/**
 * struct kverbs_work - a submission entry under way
 * @req: the operation
 * @ring: where its completion goes
 * @user_data: what the user calls it
 * @conn_id: the connection's id
 * @signal: complete it even if it succeeds
 * @extents: for a list, from when one is first needed until the ring goes
 * @next: in the ring's free list, or among those that a SUBMIT took
 */
struct kverbs_work {
	struct kverbs_req req;
	struct kverbs_ring *ring;
	u64 user_data;
	u32 conn_id;
	bool signal;
	struct kverbs_extent *extents;
	struct kverbs_work *next;
};

struct kverbs_work *kverbs_works_take(struct kverbs_ring *ring, u32 nr);
void kverbs_works_return(struct kverbs_ring *ring, struct kverbs_work *works);
void kverbs_works_done(struct list_head *over);

#endif /* KVERBS_WORK_H */
