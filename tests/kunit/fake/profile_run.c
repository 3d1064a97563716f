// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work that an adapter does: the queue pair is connected to itself. */
#include "fake_hca.h"
#include "fake_qp.h"
#include "profile.h"

/**
 * struct side - one side of a transfer
 * @sges: its entries
 * @nr: number of entries
 */
struct side {
	const struct ib_sge *sges;
	int nr;
};

static u64 length_of(struct side side)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < side.nr; i++)
		sum += side.sges[i].length;
	return sum;
}

/* Finds a byte of an entry, whose MR was checked; the device's addresses are virtual ones. */
static u8 *byte_of(struct fake_hca *hca, const struct ib_sge *sge, u64 pos)
{
	u64 addr = sge->addr + pos, start;
	struct fake_mr *mr;

	if (sge->lkey == hca->profile->dma_lkey)
		return (u8 *)(uintptr_t)addr;
	mr = fake_mr_find(hca, sge->lkey);
	/* Keys of the local side may count from another base than those of the peer. */
	start = addr >= mr->base && addr - mr->base < mr->ib.length ? mr->base : mr->ib.iova;
	pos = addr - start + (mr->base & (mr->ib.page_size - 1));
	return (u8 *)(uintptr_t)mr->pages[pos / mr->ib.page_size] + pos % mr->ib.page_size;
}

/* Finds a byte of a side; @room is set to the number of bytes that follow it on its page. */
static u8 *byte_at(struct fake_hca *hca, struct side side, u64 pos, u64 *room)
{
	const struct ib_sge *sge = side.sges;
	u8 *byte;

	for (; pos >= sge->length; sge++)
		pos -= sge->length;
	byte = byte_of(hca, sge, pos);
	*room = min_t(u64, sge->length - pos, PAGE_SIZE - offset_in_page(byte));
	return byte;
}

static void move(struct fake_hca *hca, struct side to, struct side from)
{
	u64 pos, part, to_room, from_room, length = length_of(from);
	u8 *dst, *src;

	if (length && hca->profile->ways & FAKE_LAST_BYTE_FIRST) {
		dst = byte_at(hca, to, length - 1, &to_room);
		WRITE_ONCE(*dst, *byte_at(hca, from, length - 1, &from_room));
	}
	for (pos = 0; pos < length; pos += part) {
		dst = byte_at(hca, to, pos, &to_room);
		src = byte_at(hca, from, pos, &from_room);
		part = min3(to_room, from_room, length - pos);
		memmove(dst, src, part);
	}
}

static bool peer_may(struct fake_hca *hca, const struct ib_qp *qp, const struct ib_sge *remote,
		     int access)
{
	struct fake_mr *mr = fake_mr_find(hca, remote->lkey);
	u64 off;

	if (!mr || !mr->valid || mr->key != remote->lkey || mr->ib.pd != qp->pd ||
	    access & ~mr->access)
		return false;
	off = remote->addr - mr->ib.iova;
	return remote->addr >= mr->ib.iova && off + remote->length <= mr->ib.length;
}

static struct fake_wr *first_recv(struct fake_hca *hca, const struct ib_qp *qp)
{
	unsigned int i;

	for (i = 0; i < hca->nr_recvs; i++)
		if (hca->recvs[i].qp == qp && !hca->recvs[i].ended)
			return &hca->recvs[i];
	return NULL;
}

/**
 * struct outcome - what a send leads to
 * @status: of its completion
 * @recv: receive that it completes, or NULL
 * @wc: completion of @recv
 * @waits: it finds no receive, and is tried again later
 */
struct outcome {
	enum ib_wc_status status;
	struct fake_wr *recv;
	struct ib_wc wc;
	bool waits;
};

static bool take_recv(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	out->recv = first_recv(hca, wr->qp);
	if (out->recv)
		return true;
	if (hca->profile->ways & FAKE_NO_RNR)
		out->status = IB_WC_REM_OP_ERR;
	else
		out->waits = true;
	return false;
}

static void send(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	struct side from = { wr->sges, wr->num_sge }, to;
	struct fake_mr *mr;

	if (!take_recv(hca, wr, out))
		return;
	to = (struct side) { out->recv->sges, out->recv->num_sge };
	if (length_of(from) > length_of(to)) {
		out->wc.status = IB_WC_LOC_LEN_ERR;
		out->status = IB_WC_REM_INV_REQ_ERR;
		return;
	}
	out->wc.opcode = IB_WC_RECV;
	out->wc.byte_len = length_of(from);
	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		out->wc.wc_flags = IB_WC_WITH_IMM;
		out->wc.ex.imm_data = (__force __be32)wr->imm;
	} else if (wr->opcode == IB_WR_SEND_WITH_INV) {
		mr = fake_mr_find(hca, wr->imm);
		if (!mr || !mr->valid || mr->key != wr->imm) {
			out->recv = NULL;
			out->status = IB_WC_REM_ACCESS_ERR;
			return;
		}
		mr->valid = false;
		mr->posted = false;
		out->wc.wc_flags = IB_WC_WITH_INVALIDATE;
		out->wc.ex.invalidate_rkey = wr->imm;
	}
	move(hca, to, from);
}

static void invalidate(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	struct fake_mr *mr = fake_mr_find(hca, wr->imm);

	if (!mr || !mr->valid)
		out->status = IB_WC_MW_BIND_ERR;
	else
		mr->valid = false;
}

static void rdma(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	bool read = wr->opcode == IB_WR_RDMA_READ || wr->opcode == IB_WR_RDMA_READ_WITH_INV;
	struct side local = { wr->sges, wr->num_sge };
	struct ib_sge far = {
		.addr = wr->remote_addr,
		.length = length_of(local),
		.lkey = wr->rkey,
	};
	struct side remote = { &far, 1 };

	if (far.length && !peer_may(hca, wr->qp, &far,
				    read ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE)) {
		out->status = IB_WC_REM_ACCESS_ERR;
		return;
	}
	if (wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		if (!take_recv(hca, wr, out))
			return;
		out->wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		out->wc.wc_flags = IB_WC_WITH_IMM;
		out->wc.byte_len = far.length;
		out->wc.ex.imm_data = (__force __be32)wr->imm;
	}
	if (read)
		move(hca, local, remote);
	else
		move(hca, remote, local);
}

static void atomic(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	const struct ib_sge far = {
		.addr = wr->remote_addr,
		.length = sizeof(u64),
		.lkey = wr->rkey,
	};
	u64 old, *place;

	if (!peer_may(hca, wr->qp, &far, IB_ACCESS_REMOTE_ATOMIC)) {
		out->status = IB_WC_REM_ACCESS_ERR;
		return;
	}
	place = (u64 *)byte_of(hca, &far, 0);
	old = *place;
	if (wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		*place = old + wr->operand;
	else if (old == wr->operand)
		*place = wr->swap;
	*(u64 *)byte_of(hca, wr->sges, 0) = old;
}

static void reg(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	struct fake_mr *mr = to_fake_mr(wr->mr);

	if (mr->valid)
		out->status = IB_WC_MW_BIND_ERR;
	mr->valid = true;
}

static void run(struct fake_hca *hca, struct fake_wr *wr, struct outcome *out)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		send(hca, wr, out);
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		rdma(hca, wr, out);
		break;
	case IB_WR_RDMA_READ_WITH_INV:
		rdma(hca, wr, out);
		if (!out->status)
			invalidate(hca, wr, out);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		atomic(hca, wr, out);
		break;
	case IB_WR_REG_MR:
		reg(hca, wr, out);
		break;
	case IB_WR_LOCAL_INV:
		invalidate(hca, wr, out);
		break;
	default:
		fake_misread(hca, "an opcode that is not known");
		break;
	}
}

/**
 * fake_execute() - do the work of a send and complete it
 * @hca: the device, with a profile
 * @wr: the send, the next in its queue
 *
 * Flushing takes the same lock, so the memory of the send stays until its work is done.
 *
 * Return: false if it waits for a receive.
 */
bool fake_execute(struct fake_hca *hca, struct fake_wr *wr)
{
	struct outcome out = { .status = IB_WC_SUCCESS };
	struct ib_qp *qp = wr->qp;
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&hca->lock, flags);
	over = wr->ended;
	if (!over)
		run(hca, wr, &out);
	hca->stalled = out.waits;
	if (out.waits)
		hca->nr_completed--;
	if (out.status != IB_WC_SUCCESS)
		WRITE_ONCE(to_fake_qp(qp)->state, IB_QPS_ERR);
	if (!over && !out.waits)
		fake_wr_end_locked(hca, wr, &out.wc, out.recv, out.status);
	spin_unlock_irqrestore(&hca->lock, flags);
	return !out.waits;
}
