// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From the kernel's completions to the queues of the application.
 *
 * The user_data of work is its struct kvf_op, that of an endpoint's events the struct kvf_ep:
 * both exist until the connection is destroyed and its last completion read. Events of a
 * listener carry the struct kvf_pep with the lowest bit set. A connection that the listener
 * reported may outlive it, so that pointer is looked up before it is used. The end of a request
 * that was not accepted carries 0.
 */
#include "fi_kverbs.h"

static struct kvf_pep *find_pep(struct kvf_fabric *fabric, uint64_t user_data)
{
	struct list_head *at;

	for (at = fabric->peps.next; at != &fabric->peps; at = at->next)
		if ((uintptr_t)list_entry(at, struct kvf_pep, node) == (user_data & ~1ull))
			return list_entry(at, struct kvf_pep, node);
	return NULL;
}

static void dispatch(struct kvf_fabric *fabric, const struct kverbs_cqe *cqe)
{
	struct kvf_pep *pep;

	if (cqe->type == KVERBS_CQE_WORK) {
		kvf_op_complete((struct kvf_op *)(uintptr_t)cqe->user_data, cqe);
	} else if (cqe->user_data & 1) {
		pep = find_pep(fabric, cqe->user_data);
		if (pep)
			kvf_pep_event(pep, cqe);
	} else if (cqe->user_data) {
		kvf_ep_event((struct kvf_ep *)(uintptr_t)cqe->user_data, cqe);
	}
}

void kvf_ring_read(struct kvf_fabric *fabric, struct kvf_ring *ring)
{
	struct kverbs_cqe cqe;
	bool any;

	for (any = false; kverbs_ring_next(&ring->ring, &cqe); any = true)
		dispatch(fabric, &cqe);
	if (any)
		kverbs_ring_seen(&ring->ring);
}

void kvf_progress(struct kvf_fabric *fabric)
{
	struct list_head *at;

	for (at = fabric->rings.next; at != &fabric->rings; at = at->next)
		kvf_ring_read(fabric, list_entry(at, struct kvf_ring, node));
}
