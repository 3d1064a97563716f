// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Does what is posted: moves data piece by piece, and looks before each whether it still may. */
#include "hca.h"

/**
 * struct side - one side of a transfer
 * @sges: its entries
 * @nr: number of entries
 * @far: it belongs to the peer
 * @access: IB_ACCESS_* that its memory regions must have
 */
struct side {
	const struct ib_sge *sges;
	int nr;
	bool far;
	int access;
};

/**
 * struct span - adjacent bytes on the bus
 * @addr: their address
 * @length: their number
 */
struct span {
	u64 addr;
	u64 length;
};

static u64 length_of(const struct ib_sge *sges, int nr)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < nr; i++)
		sum += sges[i].length;
	return sum;
}

/* Finds byte @pos of an entry; false if its key is not good for all of the entry. */
static bool locate(struct hca *hca, const struct ib_pd *pd, const struct ib_sge *sge,
		   const struct side *side, u64 pos, struct span *span)
{
	const struct hca_mr *mr;
	u64 at;

	if (sge->lkey == HCA_DMA_LKEY) {
		*span = (struct span) { sge->addr + pos, sge->length - pos };
		return !(side->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE));
	}
	mr = hca_mr_find(hca, pd, sge->lkey);
	if (!mr || side->access & ~mr->access || sge->addr < mr->iova ||
	    sge->addr - mr->iova + sge->length > mr->length)
		return false;
	at = mr->skip + (sge->addr - mr->iova) + pos;
	span->addr = mr->pages[at / mr->ib.page_size] + at % mr->ib.page_size;
	span->length = min_t(u64, sge->length - pos, mr->ib.page_size - at % mr->ib.page_size);
	return true;
}

/* Finds byte @pos of a side. */
static bool find(struct hca_qp *qp, const struct side *side, u64 pos, struct span *span)
{
	const struct hca_qp *owner = side->far ? qp->peer : qp;
	const struct ib_sge *sge = side->sges;

	for (; pos >= sge->length; sge++)
		pos -= sge->length;
	return locate(to_hca(qp->ib.device), owner->ib.pd, sge, side, pos, span);
}

static enum ib_wc_status refusal(const struct side *side)
{
	return side->far ? IB_WC_REM_ACCESS_ERR : IB_WC_LOC_PROT_ERR;
}

/* Moves the bytes from @pos on that are adjacent on both sides, and adds their number to @pos. */
static enum ib_wc_status move_piece(struct hca_qp *qp, const struct side *to,
				    const struct side *from, u64 length, u64 *pos)
{
	struct hca *hca = to_hca(qp->ib.device);
	struct span src, dst;
	u64 part;

	lockdep_assert_held(&hca->fence);
	if (!hca_qp_is_up(qp))
		return IB_WC_WR_FLUSH_ERR;
	if (!find(qp, from, *pos, &src))
		return refusal(from);
	if (!find(qp, to, *pos, &dst))
		return refusal(to);
	part = min3(src.length, dst.length, length - *pos);
	part = min_t(u64, part, EDU_PIECE);
	if (edu_copy(&hca->edu, dst.addr, src.addr, part))
		return IB_WC_FATAL_ERR;
	*pos += part;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status move(struct hca_qp *qp, const struct side *to, const struct side *from,
			      u64 length)
{
	struct hca *hca = to_hca(qp->ib.device);
	enum ib_wc_status status = IB_WC_SUCCESS;
	u64 pos = 0;

	while (pos < length && status == IB_WC_SUCCESS) {
		mutex_lock(&hca->fence);
		status = move_piece(qp, to, from, length, &pos);
		mutex_unlock(&hca->fence);
	}
	return status;
}

static enum ib_wc_status invalidate(struct hca *hca, const struct ib_pd *pd, u32 key)
{
	struct hca_mr *mr = hca_mr_find(hca, pd, key);

	if (!mr)
		return IB_WC_MW_BIND_ERR;
	mr->valid = false;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status local_inv(struct hca_qp *qp, const struct hca_wr *wr)
{
	struct hca *hca = to_hca(qp->ib.device);
	enum ib_wc_status status;

	mutex_lock(&hca->fence);
	status = invalidate(hca, qp->ib.pd, wr->inv_key);
	mutex_unlock(&hca->fence);
	return status;
}

static enum ib_wc_status reg_mr(struct hca_qp *qp, const struct hca_wr *wr)
{
	struct hca *hca = to_hca(qp->ib.device);
	enum ib_wc_status status = IB_WC_MW_BIND_ERR;
	struct hca_mr *mr = wr->mr;

	mutex_lock(&hca->fence);
	if (!mr->valid && mr->ib.pd == qp->ib.pd) {
		mr->valid = true;
		mr->key = wr->key;
		mr->access = wr->access;
		mr->iova = mr->ib.iova;
		mr->length = mr->ib.length;
		status = IB_WC_SUCCESS;
	}
	mutex_unlock(&hca->fence);
	return status;
}

static bool is_read(const struct hca_wr *wr)
{
	return wr->opcode != IB_WR_RDMA_WRITE;
}

static enum ib_wc_status rdma(struct hca_qp *qp, const struct hca_wr *wr)
{
	u64 length = length_of(wr->sges, wr->num_sge);
	struct ib_sge far_sge = { .addr = wr->remote_addr, .length = length, .lkey = wr->rkey };
	struct side near = {
		.sges = wr->sges,
		.nr = wr->num_sge,
		.access = is_read(wr) ? IB_ACCESS_LOCAL_WRITE : 0,
	};
	struct side far = {
		.sges = &far_sge,
		.nr = 1,
		.far = true,
		.access = is_read(wr) ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE,
	};
	enum ib_wc_status status;

	status = is_read(wr) ? move(qp, &near, &far, length) : move(qp, &far, &near, length);
	if (status == IB_WC_SUCCESS && wr->opcode == IB_WR_RDMA_READ_WITH_INV)
		status = local_inv(qp, wr);
	return status;
}

static bool take_recv(struct hca_qp *qp, struct hca_wr *recv)
{
	struct hca *hca = to_hca(qp->ib.device);
	bool taken;

	mutex_lock(&hca->fence);
	taken = qp->peer && hca_qp_take_recv(qp->peer, recv, true);
	mutex_unlock(&hca->fence);
	return taken;
}

/* The peer may have been destroyed meanwhile, and its receive with it. */
static enum ib_wc_status end_recv(struct hca_qp *qp, const struct hca_wr *wr,
				  const struct hca_wr *recv, struct ib_wc *wc)
{
	struct hca *hca = to_hca(qp->ib.device);

	mutex_lock(&hca->fence);
	if (wc->status == IB_WC_SUCCESS && wr->opcode == IB_WR_SEND_WITH_INV && qp->peer) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = wr->inv_key;
		if (invalidate(hca, qp->peer->ib.pd, wr->inv_key))
			wc->status = IB_WC_REM_ACCESS_ERR;
	}
	if (qp->peer) {
		wc->wr_cqe = recv->cqe;
		wc->qp = &qp->peer->ib;
		hca_cq_push(qp->peer->ib.recv_cq, wc);
		hca_qp_end_recv(qp->peer);
	}
	mutex_unlock(&hca->fence);
	return wc->status;
}

/* Like an iWARP device, it breaks the connection if there is no receive. */
static enum ib_wc_status send(struct hca_qp *qp, const struct hca_wr *wr)
{
	u64 length = length_of(wr->sges, wr->num_sge);
	struct ib_wc wc = { .opcode = IB_WC_RECV, .byte_len = length };
	struct side from = { .sges = wr->sges, .nr = wr->num_sge };
	struct side to = { .far = true, .access = IB_ACCESS_LOCAL_WRITE };
	struct hca_wr recv;

	if (!take_recv(qp, &recv))
		return hca_qp_is_up(qp) ? IB_WC_REM_OP_ERR : IB_WC_WR_FLUSH_ERR;
	to.sges = recv.sges;
	to.nr = recv.num_sge;
	if (length > length_of(recv.sges, recv.num_sge))
		wc.status = IB_WC_LOC_LEN_ERR;
	else
		wc.status = move(qp, &to, &from, length);
	return end_recv(qp, wr, &recv, &wc);
}

static enum ib_wc_status execute(struct hca_qp *qp, const struct hca_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_INV:
		return send(qp, wr);
	case IB_WR_REG_MR:
		return reg_mr(qp, wr);
	case IB_WR_LOCAL_INV:
		return local_inv(qp, wr);
	default:
		return rdma(qp, wr);
	}
}

static void end_send(struct hca_qp *qp, const struct hca_wr *wr, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .wr_cqe = wr->cqe, .qp = &qp->ib };

	if (status != IB_WC_SUCCESS || wr->send_flags & IB_SEND_SIGNALED)
		hca_cq_push(qp->ib.send_cq, &wc);
}

static void flush_recvs(struct hca_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ib };
	struct hca_wr recv;

	while (hca_qp_take_recv(qp, &recv, false)) {
		wc.wr_cqe = recv.cqe;
		hca_cq_push(qp->ib.recv_cq, &wc);
	}
}

/**
 * hca_run() - do the work of a queue pair, or flush it
 * @work: of the queue pair
 *
 * Nothing is flushed before what was posted earlier has ended: a queue pair does one thing after
 * the other, and does not flush its receives while its peer fills the first of them.
 */
void hca_run(struct work_struct *work)
{
	struct hca_qp *qp = container_of(work, struct hca_qp, work);
	enum ib_wc_status status;
	struct hca_wr wr;

	while (hca_qp_take_send(qp, &wr)) {
		status = hca_qp_is_up(qp) ? execute(qp, &wr) : IB_WC_WR_FLUSH_ERR;
		end_send(qp, &wr, status);
		if (status != IB_WC_SUCCESS && hca_qp_is_up(qp))
			hca_qp_break(qp);
	}
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		flush_recvs(qp);
}
