// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Submission entries under way, from the slot they are promised to their completion. */
#include "ring.h"
#include "work.h"

static struct kverbs_work *take_work(struct kverbs_ring *ring)
{
	struct kverbs_work *work = ring->free_works;

	lockdep_assert_held(&ring->lock);
	ring->free_works = work->next;
	ring->reserved++;
	return work;
}

static void put_work(struct kverbs_ring *ring, struct kverbs_work *work)
{
	lockdep_assert_held(&ring->lock);
	work->next = ring->free_works;
	ring->free_works = work;
}

/**
 * kverbs_works_take() - reserve slots, and take what goes with them
 * @ring: the ring
 * @nr: how many
 *
 * Return: the works, linked by @next, or as many as there are slots for.
 */
struct kverbs_work *kverbs_works_take(struct kverbs_ring *ring, u32 nr)
{
	struct kverbs_work *works = NULL, **end = &works;
	u32 unpromised;

	spin_lock_bh(&ring->lock);
	/* The user may say of what he has read that he has not. */
	unpromised = ring->cq_entries - kverbs_ring_unread(ring);
	unpromised -= min(unpromised, ring->reserved);
	for (nr = min(nr, unpromised); nr; nr--) {
		*end = take_work(ring);
		end = &(*end)->next;
	}
	*end = NULL;
	spin_unlock_bh(&ring->lock);
	return works;
}

/**
 * kverbs_works_return() - give works and slots back unused
 * @ring: the ring
 * @works: from kverbs_works_take(), linked by @next
 */
void kverbs_works_return(struct kverbs_ring *ring, struct kverbs_work *works)
{
	struct kverbs_work *work;

	spin_lock_bh(&ring->lock);
	while ((work = works)) {
		works = work->next;
		put_work(ring, work);
		ring->reserved--;
	}
	spin_unlock_bh(&ring->lock);
}

static void fill_cqe(const struct kverbs_work *work, struct kverbs_cqe *cqe)
{
	const struct kverbs_req *req = &work->req;

	*cqe = (struct kverbs_cqe) {
		.user_data = work->user_data,
		.byte_len = req->result ? 0 : req->byte_len,
		.id = work->conn_id,
		.result = req->result,
		.type = KVERBS_CQE_WORK,
		.wc_status = req->wc_status,
		.flags = req->flags,
		.imm = req->flags & (KVERBS_CQE_F_IMM | KVERBS_CQE_F_INV) ? req->imm : 0,
	};
}

/* The first of the list, if it is of the ring. */
static struct kverbs_work *pop_work(struct list_head *over, const struct kverbs_ring *ring)
{
	struct kverbs_req *req = list_first_entry_or_null(over, struct kverbs_req, entry);
	struct kverbs_work *work;

	if (!req || req->done != kverbs_works_done)
		return NULL;
	work = container_of(req, struct kverbs_work, req);
	if (work->ring != ring)
		return NULL;
	list_del(&req->entry);
	return work;
}

/**
 * kverbs_works_done() - entries are over: write the completions of those of one ring
 * @over: their operations, see &struct kverbs_req
 *
 * Whoever waits is woken once.
 *
 * Context: process or softirq.
 */
void kverbs_works_done(struct list_head *over)
{
	struct kverbs_req *first = list_first_entry(over, struct kverbs_req, entry);
	struct kverbs_ring *ring = container_of(first, struct kverbs_work, req)->ring;
	struct kverbs_work *work;
	u32 told = 0;

	spin_lock_bh(&ring->lock);
	while ((work = pop_work(over, ring))) {
		if (work->signal || work->req.result)
			fill_cqe(work, kverbs_ring_slot(ring, told++));
		else
			ring->reserved--;
		put_work(ring, work);
	}
	if (told)
		kverbs_ring_tell(ring, told);
	spin_unlock_bh(&ring->lock);
}
