// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Operations: from the post to the entry of a completion queue.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"

/* enum ib_wc_status by number */
enum {
	WC_LEN_ERR = 1,
	WC_FLUSHED = 5,
	WC_LOCAL_ACCESS = 8,
	WC_REMOTE_ACCESS = 10,
	WC_RETRY_EXCEEDED = 12,
	WC_RNR_EXCEEDED = 13,
};

struct kvf_op *kvf_op_get(struct kvf_fabric *fabric)
{
	struct kvf_op *op;

	if (list_empty(&fabric->free_ops))
		return calloc(1, sizeof(*op));
	op = list_entry(fabric->free_ops.next, struct kvf_op, node);
	list_del(&op->node);
	memset(op, 0, sizeof(*op));
	return op;
}

void kvf_op_release_regs(struct kvf_fabric *fabric, struct kvf_op *op)
{
	while (op->nr_regs)
		kvf_cache_put(fabric, op->regs[--op->nr_regs]);
}

void kvf_op_put(struct kvf_fabric *fabric, struct kvf_op *op)
{
	kvf_op_release_regs(fabric, op);
	list_add_tail(&op->node, &fabric->free_ops);
}

static int error_of_status(unsigned int status)
{
	switch (status) {
	case WC_LEN_ERR:
		return FI_ETRUNC;
	case WC_FLUSHED:
		return FI_ECANCELED;
	case WC_LOCAL_ACCESS:
	case WC_REMOTE_ACCESS:
		return FI_EACCES;
	case WC_RETRY_EXCEEDED:
		return FI_ETIMEDOUT;
	case WC_RNR_EXCEEDED:
		return FI_ENORX;
	default:
		return FI_EIO;
	}
}

/* Work for a connection that has ended is reported as work is that its end has flushed. */
static int error_of_result(int result)
{
	return result == -ENOTCONN ? FI_ECANCELED : -result;
}

static void set_error(struct kvf_op *op, const struct kverbs_cqe *cqe)
{
	if (op->err || !cqe->result)
		return;
	if (cqe->wc_status) {
		op->err = error_of_status(cqe->wc_status);
		op->prov_errno = cqe->wc_status;
	} else {
		op->err = error_of_result(cqe->result);
		op->prov_errno = cqe->result;
	}
}

static void receive(struct kvf_op *op, const struct kverbs_cqe *cqe)
{
	op->len = cqe->byte_len;
	if (cqe->flags & KVERBS_CQE_F_WRITE)
		op->flags = FI_RMA | FI_REMOTE_WRITE;
	if (cqe->flags & KVERBS_CQE_F_IMM) {
		op->flags |= FI_REMOTE_CQ_DATA;
		op->data = ntohl(cqe->imm);
	}
}

/* A receive that a peer's WRITE has used up is no message. */
static void count(const struct kvf_op *op)
{
	if (op->cntr && (op->err || !(op->flags & FI_REMOTE_WRITE)))
		kvf_cntr_count(op->cntr, !op->err);
}

/* All entries of it are complete: report it, or take it back. */
static void finish(struct kvf_op *op)
{
	struct kvf_ep *ep = op->ep;
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);

	if (op->slot)
		kvf_slot_put(ep->domain, op->slot);
	op->slot = NULL;
	kvf_op_release_regs(fabric, op);
	if (op->dir) {
		kvf_dir_read_done(op->dir, !op->err);
		kvf_op_put(fabric, op);
		return;
	}
	if (op->is_recv)
		ep->rx_used--;
	else
		ep->tx_used--;
	op->ep = NULL;
	count(op);
	if (!op->cq || (op->is_silent && !op->err)) {
		kvf_op_put(fabric, op);
		return;
	}
	kvf_queue_add(&op->cq->queue, &op->node, &op->cq->done);
}

/* Receives that were submitted earlier complete first, but in another ring. */
static void complete_early(struct kvf_op *op)
{
	struct kvf_ep *ep = op->ep;

	if (op->ring != ep->ring)
		ep->early--;
	else if (op->is_recv && ep->early)
		kvf_ring_read(kvf_ep_fabric(ep), &ep->early_eq->queue.ring);
}

void kvf_op_complete(struct kvf_op *op, const struct kverbs_cqe *cqe)
{
	complete_early(op);
	op->ring->used--;
	set_error(op, cqe);
	if (op->is_recv && !op->err)
		receive(op, cqe);
	if (!--op->parts)
		finish(op);
}

void kvf_op_fail(struct kvf_op *op, uint32_t parts, int error)
{
	op->ring->used -= parts;
	if (!op->err) {
		op->err = error_of_result(error);
		op->prov_errno = error;
	}
	op->parts -= parts;
	if (!op->parts)
		finish(op);
}
