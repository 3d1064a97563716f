// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Submission entries in flight, from the reservation of a slot to the completion. */
#include <linux/slab.h>

#include "region.h"
#include "ring.h"
#include "slot.h"

static struct kverbs_slot *get_slot(struct kverbs_ring *ring)
{
	struct kverbs_slot *slot = ring->free_slots;

	lockdep_assert_held(&ring->lock);
	ring->free_slots = slot->next;
	ring->reserved++;
	return slot;
}

static void put_slot(struct kverbs_ring *ring, struct kverbs_slot *slot)
{
	lockdep_assert_held(&ring->lock);
	slot->next = ring->free_slots;
	ring->free_slots = slot;
}

/**
 * kverbs_slots_get() - reserve slots, and take what goes with them
 * @ring: the ring
 * @nr: how many
 *
 * Return: the slots, linked by @next, or as many as there are slots for.
 */
struct kverbs_slot *kverbs_slots_get(struct kverbs_ring *ring, u32 nr)
{
	struct kverbs_slot *slots = NULL, **end = &slots;
	u32 unpromised;

	spin_lock_bh(&ring->lock);
	/* User space may move its head back, so @reserved may exceed what is free. */
	unpromised = ring->cq_entries - kverbs_ring_unread_locked(ring);
	unpromised -= min(unpromised, ring->reserved);
	for (nr = min(nr, unpromised); nr; nr--) {
		*end = get_slot(ring);
		end = &(*end)->next;
	}
	*end = NULL;
	spin_unlock_bh(&ring->lock);
	return slots;
}

/**
 * kverbs_slots_put() - give slots and slots back unused
 * @ring: the ring
 * @slots: from kverbs_slots_get(), linked by @next
 */
void kverbs_slots_put(struct kverbs_ring *ring, struct kverbs_slot *slots)
{
	struct kverbs_slot *slot;

	spin_lock_bh(&ring->lock);
	while ((slot = slots)) {
		slots = slot->next;
		put_slot(ring, slot);
		ring->reserved--;
	}
	spin_unlock_bh(&ring->lock);
}

/**
 * kverbs_list_get() - memory for the pieces of an entry
 * @ring: the ring, @submit_lock held
 *
 * The memory goes with the slot, and returns to the ring when the entry completes. So memory is
 * allocated only when more lists are in flight than before, or after their number has fallen by
 * more than KVERBS_SPARE_LISTS.
 *
 * Context: process, may sleep.
 * Return: the memory, or NULL if there is none.
 */
struct kverbs_list *kverbs_list_get(struct kverbs_ring *ring)
{
	struct kverbs_list *list;

	lockdep_assert_held(&ring->submit_lock);
	if (!ring->spare_lists) {
		spin_lock_bh(&ring->lock);
		ring->spare_lists = ring->done_lists;
		ring->done_lists = NULL;
		ring->nr_done_lists = 0;
		spin_unlock_bh(&ring->lock);
	}
	list = ring->spare_lists;
	if (!list)
		return kmalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);
	ring->spare_lists = list->next;
	return list;
}

/* Else a burst of lists would take memory until the ring is destroyed. */
static void put_list(struct kverbs_ring *ring, struct kverbs_slot *slot)
{
	struct kverbs_list *list = slot->list;

	lockdep_assert_held(&ring->lock);
	slot->list = NULL;
	if (ring->nr_done_lists == KVERBS_SPARE_LISTS) {
		kfree(list);
		return;
	}
	list->next = ring->done_lists;
	ring->done_lists = list;
	ring->nr_done_lists++;
}

/**
 * kverbs_list_free_all() - free unused lists of pieces
 * @list: the first, linked by @next, or NULL
 */
void kverbs_list_free_all(struct kverbs_list *list)
{
	struct kverbs_list *next;

	for (; list; list = next) {
		next = list->next;
		kfree(list);
	}
}

/* Only a flush has a status: a buffer that was refused does not end its connection. */
static void add_buffer(const struct kverbs_slot *slot, struct kverbs_cqe *cqe)
{
	cqe->buf_id = slot->buf_id;
	if (!slot->req.wc_status)
		cqe->flags |= KVERBS_CQE_F_MORE;
}

static void fill_cqe(const struct kverbs_slot *slot, struct kverbs_cqe *cqe)
{
	const struct kverbs_req *req = &slot->req;

	*cqe = (struct kverbs_cqe) {
		.user_data = slot->user_data,
		.id = slot->conn_id,
		.result = req->result,
		.type = KVERBS_CQE_WORK,
		.wc_status = req->wc_status,
		.flags = req->flags,
		.byte_len = req->result ? 0 : req->byte_len,
		.imm = req->flags & (KVERBS_CQE_F_IMM | KVERBS_CQE_F_INV) ? req->imm : 0,
	};
	if (req->flags & KVERBS_CQE_F_BUFFER)
		add_buffer(slot, cqe);
}

/* The first of the list, if it is of the ring. */
static struct kverbs_slot *pop_slot(struct list_head *done_list, const struct kverbs_ring *ring)
{
	struct kverbs_req *req = list_first_entry_or_null(done_list, struct kverbs_req, entry);
	struct kverbs_slot *slot;

	if (!req || req->done != kverbs_slots_done)
		return NULL;
	slot = container_of(req, struct kverbs_slot, req);
	if (slot->ring != ring)
		return NULL;
	list_del(&req->entry);
	return slot;
}

/* Before the completion is shown: after that user space may destroy the region. */
static void end_use(struct kverbs_ring *ring, struct kverbs_slot *slot)
{
	lockdep_assert_held(&ring->lock);
	if (!slot->req.kept) {
		if (slot->list)
			put_list(ring, slot);
		return;
	}
	if (slot->epoch == ring->epoch)
		ring->region_done++;
	else
		kverbs_region_unuse(slot->req.region);
}

/**
 * kverbs_slots_done() - write the completions of entries of one ring
 * @done_list: their operations, see &struct kverbs_req
 *
 * Waiters are woken once.
 *
 * Context: process or softirq.
 */
void kverbs_slots_done(struct list_head *done_list)
{
	struct kverbs_req *first = list_first_entry(done_list, struct kverbs_req, entry);
	struct kverbs_ring *ring = container_of(first, struct kverbs_slot, req)->ring;
	struct kverbs_slot *slot;
	u32 told = 0, silent = 0;

	spin_lock_bh(&ring->lock);
	while ((slot = pop_slot(done_list, ring))) {
		end_use(ring, slot);
		if (slot->signal || slot->req.result)
			fill_cqe(slot, kverbs_ring_next_cqe(ring, told++));
		else
			silent++;
		put_slot(ring, slot);
	}
	ring->reserved -= silent;
	if (told)
		kverbs_ring_publish(ring, told);
	else
		kverbs_ring_publish_room(ring);
	spin_unlock_bh(&ring->lock);
}
