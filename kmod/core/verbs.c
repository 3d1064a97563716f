// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Debug builds check every work request before the device gets it: it stays within the
 * limits of the queue pair, and each scatter/gather entry lies within the buffer of its
 * operation. An error here is an error of kverbs, whatever user space did.
 */
#include <linux/rculist.h>
#include <linux/sizes.h>

#include "mr.h"
#include "opcode.h"
#include "queue.h"
#include "quirks.h"
#include "region.h"
#include "verbs.h"

DEFINE_STATIC_KEY_TRUE(kverbs_checks);

DEFINE_STATIC_KEY_FALSE(kverbs_fault_tested);
int (*kverbs_fault_test)(enum kverbs_fault_point point);

static bool within(u64 start, u64 length, const struct ib_sge *sge)
{
	return sge->addr >= start && sge->addr - start <= length &&
	       sge->length <= length - (sge->addr - start);
}

static bool uses_region(const struct kverbs_req *req, const struct kverbs_region *region)
{
	unsigned int i;

	for (i = 0; i < kverbs_req_extents(req); i++)
		if (kverbs_req_extent(req, i).region == region)
			return true;
	return false;
}

static const char *check_mr(const struct ib_pd *pd, const struct kverbs_req *req,
			    const struct ib_sge *sge)
{
	const char *why = "an entry names no MR of the connection";
	struct kverbs_mr *mr;

	spin_lock_bh(&kverbs_mapped_lock);
	list_for_each_entry(mr, &kverbs_mapped_mrs, mapped) {
		if (mr->ib->pd != pd || mr->ib->lkey != sge->lkey)
			continue;
		if (!within(mr->ib->iova, mr->ib->length, sge))
			why = "an entry is not within its MR";
		else if (!uses_region(req, mr->region))
			why = "an entry names an MR of another region";
		else if (kverbs_opcode_has(req->opcode, KVERBS_OPF_WRITES) &&
			 !(mr->wr.access & IB_ACCESS_LOCAL_WRITE))
			why = "an entry is to be written and its MR cannot be";
		else if (mr->wr.access & IB_ACCESS_REMOTE_WRITE &&
			 (sge->addr != mr->ib->iova || sge->length != mr->ib->length))
			why = "the peer may write to more than the entry";
		else
			why = NULL;
		break;
	}
	spin_unlock_bh(&kverbs_mapped_lock);
	return why;
}

static bool is_in_map(const struct kverbs_map *map, struct kverbs_extent extent,
		      const struct ib_sge *sge)
{
	u64 pos = map->region->page_offset + extent.offset;
	u64 end = pos + extent.length;
	unsigned int i;

	for (i = 0; i < map->nr_spans; i++) {
		const struct kverbs_span *span = &map->spans[i];
		u64 from = max(pos, span->start);
		u64 to = min(end, span->start + span->length);

		if (from < to && within(span->addr + (from - span->start), to - from, sge))
			return true;
	}
	return false;
}

static bool is_in_extent(struct ib_device *ib, struct kverbs_extent extent,
			 const struct ib_sge *sge)
{
	const struct kverbs_map *map;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(map, &extent.region->maps, entry)
		found |= map->ib == ib && is_in_map(map, extent, sge);
	rcu_read_unlock();
	return found;
}

static const char *check_direct(const struct ib_pd *pd, const struct kverbs_req *req,
				const struct ib_sge *sge)
{
	unsigned int i;

	for (i = 0; i < kverbs_req_extents(req); i++) {
		struct kverbs_extent extent = kverbs_req_extent(req, i);

		if (!is_in_extent(pd->device, extent, sge))
			continue;
		if (kverbs_opcode_has(req->opcode, KVERBS_OPF_WRITES) &&
		    !extent.region->writable)
			return "an entry is to be written and its region cannot be";
		return NULL;
	}
	return "an entry is not within the buffer";
}

static const char *check_sges(const struct ib_pd *pd, const struct kverbs_req *req,
			      const struct ib_sge *sges, int nr, u64 max,
			      bool may_be_empty)
{
	const char *why = NULL;
	u64 sum = 0;
	int i;

	/* irdma puts the first entry into the work request even if there is none. */
	if (!nr && sges && sges->length)
		return "it has no entries, but the first is not empty";
	for (i = 0; i < nr && !why; i++) {
		sum += sges[i].length;
		if (!sges[i].length && !may_be_empty)
			why = "an entry is empty";
		else if (!sges[i].length)
			continue;
		else if (sges[i].length > KVERBS_SGE_MAX)
			why = "an entry is too long";
		else if (!req)
			why = "there is an entry without a buffer";
		else if (sges[i].lkey == pd->local_dma_lkey)
			why = check_direct(pd, req, &sges[i]);
		else
			why = check_mr(pd, req, &sges[i]);
	}
	return sum > max ? "it is too long" : why;
}

/* The peer learns the key of an iWARP READ's buffer, so that must be of no use afterwards. */
static const char *check_sink(const struct ib_send_wr *wr)
{
	if (!wr->num_sge || !wr->sg_list->length)
		return NULL;
	if (wr->opcode != IB_WR_RDMA_READ_WITH_INV)
		return "it is a READ that leaves its sink valid";
	if (wr->num_sge != 1 || wr->ex.invalidate_rkey != wr->sg_list->lkey)
		return "it is a READ that invalidates another MR";
	return NULL;
}

/**
 * kverbs_check_limits() - check that a queue that is up knows its limits
 * @queue: the queue
 *
 * Operations are built from them without the queue's lock, after kverbs_queue_check_up().
 *
 * Return: what is wrong, or NULL.
 */
const char *kverbs_check_limits(const struct kverbs_queue *queue)
{
	if (READ_ONCE(queue->max_msg) && READ_ONCE(queue->max_recv) &&
	    READ_ONCE(queue->max_sge) && READ_ONCE(queue->max_recv_sge) &&
	    READ_ONCE(queue->max_read_sge))
		return NULL;
	return "its queue does not know its limits";
}

/**
 * kverbs_check_send() - check one work request
 * @queue: where it will be posted
 * @wr: the work request
 *
 * Return: what is wrong with it, or NULL.
 */
const char *kverbs_check_send(const struct kverbs_queue *queue, const struct ib_send_wr *wr)
{
	bool read = wr->opcode == IB_WR_RDMA_READ || wr->opcode == IB_WR_RDMA_READ_WITH_INV;
	bool sink = read && queue->quirks & KVERBS_QUIRK_READ_SINK;
	bool may_be_empty = read && wr->num_sge == 1 &&
			    queue->quirks & KVERBS_QUIRK_READ_ENTRY;
	unsigned int max = read ? queue->max_read_sge : queue->max_sge;
	const char *why = kverbs_check_limits(queue);

	if (why)
		return why;
	if (wr->opcode == IB_WR_REG_MR || wr->opcode == IB_WR_LOCAL_INV)
		return wr->num_sge ? "it has entries" : NULL;
	if (wr->num_sge < 0 || wr->num_sge > max)
		return "it has too many entries";
	/* cxgb4 keeps the length of the first entry of a READ even if there is none. */
	if (read && !wr->sg_list)
		return "it is a READ without a list";
	if (sink && check_sink(wr))
		return check_sink(wr);
	return check_sges(queue->qp->pd, kverbs_queue_req(wr->wr_cqe), wr->sg_list, wr->num_sge,
			  sink ? queue->max_recv : queue->max_msg, may_be_empty);
}

/**
 * kverbs_check_recv() - check a receive
 * @queue: where it will be posted
 * @wr: the receive
 *
 * Return: what is wrong with it, or NULL.
 */
const char *kverbs_check_recv(const struct kverbs_queue *queue, const struct ib_recv_wr *wr)
{
	const char *why = kverbs_check_limits(queue);

	if (why)
		return why;
	if (wr->num_sge < 0 || wr->num_sge > queue->max_recv_sge)
		return "it has too many entries";
	return check_sges(queue->qp->pd, kverbs_queue_req(wr->wr_cqe), wr->sg_list, wr->num_sge,
			  queue->max_recv, false);
}

/**
 * kverbs_check_srq_recv() - check a receive of a shared queue
 * @srq: where it will be posted
 * @wr: the receive
 *
 * Return: what is wrong with it, or NULL.
 */
const char *kverbs_check_srq_recv(const struct kverbs_srq *srq, const struct ib_recv_wr *wr)
{
	if (wr->num_sge < 1 || wr->num_sge > srq->max_sge)
		return "it has no or too many entries";
	return check_sges(srq->pd, container_of(wr->wr_cqe, struct kverbs_req, last),
			  wr->sg_list, wr->num_sge, srq->max_recv, false);
}

/**
 * kverbs_may_build() - check what operations are built from
 * @queue: where they will be posted
 *
 * Return: true if it is all there.
 */
bool kverbs_may_build(const struct kverbs_queue *queue)
{
	const char *why = kverbs_check_limits(queue);

	WARN_ONCE(why, "kverbs: not built: %s\n", why);
	return !why;
}

/**
 * kverbs_may_post_send() - check a chain of work requests
 * @queue: where it will be posted
 * @wr: the first of them
 *
 * Return: true if nothing is wrong with them.
 */
bool kverbs_may_post_send(const struct kverbs_queue *queue, const struct ib_send_wr *wr)
{
	const char *why = NULL;

	for (; wr && !why; wr = wr->next)
		why = kverbs_check_send(queue, wr);
	WARN_ONCE(why, "kverbs: not posted: %s\n", why);
	return !why;
}

/**
 * kverbs_may_post_recv() - check a chain of receives
 * @queue: where they will be posted
 * @wr: the first of them
 *
 * Return: true if nothing is wrong with them.
 */
bool kverbs_may_post_recv(const struct kverbs_queue *queue, const struct ib_recv_wr *wr)
{
	const char *why = NULL;

	for (; wr && !why; wr = wr->next)
		why = kverbs_check_recv(queue, wr);
	WARN_ONCE(why, "kverbs: receive not posted: %s\n", why);
	return !why;
}

/**
 * kverbs_may_post_srq_recv() - check a receive of a shared queue
 * @srq: where it will be posted
 * @wr: the receive
 *
 * Return: true if nothing is wrong with it.
 */
bool kverbs_may_post_srq_recv(const struct kverbs_srq *srq, const struct ib_recv_wr *wr)
{
	const char *why = kverbs_check_srq_recv(srq, wr);

	WARN_ONCE(why, "kverbs: receive of a shared queue not posted: %s\n", why);
	return !why;
}
