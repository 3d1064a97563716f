// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_hca.h"

static bool refuses(struct fake_hca *hca)
{
	if (!hca->room)
		return true;
	hca->room--;
	return false;
}

static bool is_rdma(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_WRITE || opcode == IB_WR_RDMA_READ ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static void save_sges(struct fake_wr *to, const struct ib_sge *sges, int nr)
{
	to->num_sge = nr;
	memcpy(to->sges, sges, min(nr, FAKE_SGES) * sizeof(*sges));
}

static bool is_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP || opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

static void save_send(struct fake_wr *to, const struct ib_send_wr *wr)
{
	*to = (struct fake_wr) {
		.cqe = wr->wr_cqe,
		.opcode = wr->opcode,
		.send_flags = wr->send_flags,
		.imm = (__force u32)wr->ex.imm_data,
	};
	if (is_rdma(wr->opcode)) {
		to->remote_addr = rdma_wr(wr)->remote_addr;
		to->rkey = rdma_wr(wr)->rkey;
	}
	if (is_atomic(wr->opcode)) {
		to->remote_addr = atomic_wr(wr)->remote_addr;
		to->rkey = atomic_wr(wr)->rkey;
		to->operand = atomic_wr(wr)->compare_add;
		to->swap = atomic_wr(wr)->swap;
	}
	if (wr->opcode == IB_WR_REG_MR)
		to->mr = reg_wr(wr)->mr;
	else
		save_sges(to, wr->sg_list, wr->num_sge);
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);

	for (; wr; wr = wr->next) {
		if (refuses(hca) || hca->nr_sends == FAKE_WRS) {
			*bad = wr;
			return hca->error;
		}
		save_send(&hca->sends[hca->nr_sends++], wr);
	}
	if (hca->work_queued)
		schedule_work(&hca->work);
	return 0;
}

static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	struct fake_wr *to = &hca->recvs[hca->nr_recvs];

	if (refuses(hca) || hca->nr_recvs == FAKE_WRS) {
		*bad = wr;
		return hca->error;
	}
	*to = (struct fake_wr) { .cqe = wr->wr_cqe };
	save_sges(to, wr->sg_list, wr->num_sge);
	hca->nr_recvs++;
	return 0;
}

/* As an HCA would: what went well and is not signalled does not complete. */
static void complete_sends(struct work_struct *work)
{
	struct fake_hca *hca = container_of(work, struct fake_hca, work);

	while (hca->nr_completed < hca->nr_sends) {
		struct fake_wr *wr = &hca->sends[hca->nr_completed++];

		if (wr->cqe == hca->work_bad)
			fake_wr_complete(wr, IB_WC_REM_ACCESS_ERR);
		else if (wr->send_flags & IB_SEND_SIGNALED)
			fake_wr_complete(wr, IB_WC_SUCCESS);
	}
}

static void stop_work(void *data)
{
	struct fake_hca *hca = data;

	hca->work_queued = false;
	cancel_work_sync(&hca->work);
}

/**
 * fake_hca_create() - make a device that takes whatever is posted
 * @test: which it lives as long as
 *
 * Return: the device.
 */
struct fake_hca *fake_hca_create(struct kunit *test)
{
	struct fake_hca *hca = kunit_kzalloc(test, sizeof(*hca), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ib.ops.post_send = post_send;
	hca->ib.ops.post_recv = post_recv;
	fake_hca_set_mr_ops(hca);
	hca->pd.device = &hca->ib;
	hca->pd.local_dma_lkey = FAKE_LKEY;
	hca->qp.device = &hca->ib;
	hca->room = UINT_MAX;
	INIT_WORK(&hca->work, complete_sends);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_work, hca));
	return hca;
}

/**
 * fake_hca_refuse() - let posting fail
 * @hca: the device
 * @room: so many more requests are taken before that
 * @error: with what
 */
void fake_hca_refuse(struct fake_hca *hca, unsigned int room, int error)
{
	hca->room = room;
	hca->error = error;
}

/**
 * fake_wr_end() - complete a request
 * @wr: the request
 * @wc: its completion, but for whom it is for
 */
void fake_wr_end(const struct fake_wr *wr, struct ib_wc wc)
{
	wc.wr_cqe = wr->cqe;
	wc.wr_cqe->done(NULL, &wc);
}

/**
 * fake_wr_complete() - complete a request of which only the status matters
 * @wr: the request
 * @status: the status
 */
void fake_wr_complete(const struct fake_wr *wr, enum ib_wc_status status)
{
	fake_wr_end(wr, (struct ib_wc) { .status = status });
}
