// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How the operations of a queue end. */
#include <linux/kverbs.h>

#include "mr.h"
#include "queue.h"
#include "region.h"
#include "trace.h"

static bool is_recv(const struct kverbs_req *req)
{
	return req->opcode == KVERBS_OP_RECV;
}

static bool is_inbound(const struct kverbs_req *req)
{
	switch (req->opcode) {
	case KVERBS_OP_RECV:
	case KVERBS_OP_READ:
	case KVERBS_OP_CMP_SWAP:
	case KVERBS_OP_FETCH_ADD:
		return true;
	default:
		return false;
	}
}

static void count(struct kverbs_queue *queue, struct kverbs_req *req)
{
	if (req->result) {
		/* What was flushed has not failed: the connection was over before. */
		queue->errors += req->wc_status != IB_WC_WR_FLUSH_ERR;
		return;
	}
	queue->ops_done++;
	if (is_inbound(req))
		queue->bytes_in += req->byte_len;
	else
		queue->bytes_out += req->byte_len;
}

/* It gives its slots back. */
static void retire(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	if (is_recv(req))
		queue->rq_free++;
	else
		queue->sq_free += req->nr_wrs;
	count(queue, req);
}

static bool wants_kick(const struct kverbs_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	return !list_empty(&queue->parked) && queue->state == KVERBS_QUEUE_UP;
}

static void let_go(struct kverbs_region *region, int nr)
{
	if (region)
		kverbs_region_unuse_many(region, nr);
}

/* Those that follow each other are often of the same region. */
static void unuse_all(struct list_head *over)
{
	struct kverbs_region *region = NULL;
	struct kverbs_req *req;
	int nr = 0;

	list_for_each_entry(req, over, entry) {
		if (req->nr_list) {
			kverbs_req_unuse(req);
		} else if (req->region == region) {
			nr++;
		} else {
			let_go(region, nr);
			region = req->region;
			nr = 1;
		}
	}
	let_go(region, nr);
}

/* The one way out for every operation that was taken. */
static void end_all(struct kverbs_queue *queue, struct list_head *over, bool kick)
{
	struct kverbs_req *req;

	if (kick)
		queue->ops->kick(queue);
	list_for_each_entry(req, over, entry)
		trace_kverbs_complete(req);
	unuse_all(over);
	/* Each takes as many as are its own. */
	while ((req = list_first_entry_or_null(over, struct kverbs_req, entry)))
		req->done(over);
}

/**
 * kverbs_req_finish() - end an operation that was taken
 * @req: the operation, with its result
 *
 * Context: process or softirq.
 */
void kverbs_req_finish(struct kverbs_req *req)
{
	struct kverbs_queue *queue = req->queue;
	LIST_HEAD(over);
	bool kick;

	spin_lock_bh(&queue->lock);
	list_move(&req->entry, &over);
	retire(queue, req);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	end_all(queue, &over, kick);
}

/* Of those right before an operation, all that wait for it to be told of. */
static struct kverbs_req *first_joined(struct kverbs_queue *queue, struct kverbs_req *req)
{
	struct kverbs_req *first = req, *before;

	while (!list_is_first(&first->entry, &queue->posted)) {
		before = list_prev_entry(first, entry);
		if (!before->joined || before->result)
			break;
		first = before;
	}
	return first;
}

/* A send queue is worked off in order: what was joined until here has gone well. */
static void retire_joined(struct kverbs_queue *queue, struct kverbs_req *first,
			  struct kverbs_req *req)
{
	for (; first != req; first = list_next_entry(first, entry)) {
		first->byte_len = first->length;
		retire(queue, first);
	}
}

/* @last: so has the operation itself. */
static void finish_up_to(struct kverbs_req *req, bool last)
{
	struct kverbs_queue *queue = req->queue;
	struct kverbs_req *first;
	LIST_HEAD(over);
	bool kick;

	spin_lock_bh(&queue->lock);
	first = first_joined(queue, req);
	retire_joined(queue, first, req);
	if (last)
		retire(queue, req);
	if (last || first != req)
		list_bulk_move_tail(&over, &first->entry,
				    last ? &req->entry : req->entry.prev);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	end_all(queue, &over, kick);
}

/*
 * What failed ends its connection, and is finished when the queue pair is gone: siw
 * may complete a READ twice when it flushes.
 */
static void note_failure(struct kverbs_req *req, enum ib_wc_status status)
{
	if (req->result)
		return;
	req->result = -EIO;
	req->wc_status = status;
	req->queue->ops->broken(req->queue, status);
}

/* A flush does not say what went well before it. */
static void send_failed(struct kverbs_req *req, enum ib_wc_status status)
{
	if (!req->result && status != IB_WC_WR_FLUSH_ERR)
		finish_up_to(req, false);
	note_failure(req, status);
}

/**
 * kverbs_req_part_done() - a request of an operation, but the last, is complete
 * @cq: the completion queue
 * @wc: the completion
 */
void kverbs_req_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		send_failed(container_of(wc->wr_cqe, struct kverbs_req, part), wc->status);
}

/**
 * kverbs_req_last_done() - the last request of an operation is complete
 * @cq: the completion queue
 * @wc: the completion
 */
void kverbs_req_last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_req *req = container_of(wc->wr_cqe, struct kverbs_req, last);

	if (wc->status != IB_WC_SUCCESS)
		send_failed(req, wc->status);
	if (req->result)
		return;
	req->byte_len = req->length;
	finish_up_to(req, true);
}

/**
 * kverbs_req_recv_done() - a receive is complete
 * @cq: the completion queue
 * @wc: the completion
 */
void kverbs_req_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_req *req = container_of(wc->wr_cqe, struct kverbs_req, last);

	if (wc->status != IB_WC_SUCCESS) {
		note_failure(req, wc->status);
		return;
	}
	req->byte_len = wc->byte_len;
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		req->flags |= KVERBS_CQE_F_IMM;
		req->imm = (__force u32)wc->ex.imm_data;
	}
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		req->flags |= KVERBS_CQE_F_INV;
		req->imm = wc->ex.invalidate_rkey;
		req->queue->ops->revoked(req->queue, req->imm);
	}
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		req->flags |= KVERBS_CQE_F_WRITE;
	kverbs_req_finish(req);
}

/**
 * kverbs_queue_reg_done() - a registration is complete
 * @cq: the completion queue
 * @wc: the completion
 */
void kverbs_queue_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_mr *mr = container_of(wc->wr_cqe, struct kverbs_mr, cqe);
	struct kverbs_queue *queue = mr->owner;
	bool kick;

	spin_lock_bh(&queue->lock);
	queue->sq_free++;
	if (wc->status == IB_WC_SUCCESS)
		WRITE_ONCE(mr->state, KVERBS_MR_VALID);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	if (wc->status != IB_WC_SUCCESS)
		queue->ops->broken(queue, wc->status);
	else if (kick)
		queue->ops->kick(queue);
}
