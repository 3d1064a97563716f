// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_hca.h"
#include "fake_qp.h"
#include "profile.h"

/* A queue pair in ERR accepts all work requests, so that it can be drained. */
static bool refuses(struct fake_hca *hca, struct ib_qp *qp)
{
	if (fake_qp_is_broken(qp))
		return false;
	if (!hca->room)
		return true;
	hca->room--;
	return false;
}

static bool is_rdma(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_WRITE || opcode == IB_WR_RDMA_READ ||
	       opcode == IB_WR_RDMA_READ_WITH_INV || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static void save_sges(struct fake_wr *to, const struct ib_sge *sges, int nr)
{
	to->num_sge = nr;
	/* Like irdma, which looks at the first in any case. */
	if (sges)
		memcpy(to->sges, sges, clamp(nr, 1, FAKE_SGES) * sizeof(*sges));
}

static bool is_atomic(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP || opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

static void save_send(struct fake_wr *to, struct ib_qp *qp, const struct ib_send_wr *wr)
{
	*to = (struct fake_wr) {
		.qp = qp,
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
	if (wr->opcode == IB_WR_REG_MR) {
		to->mr = reg_wr(wr)->mr;
		to->key = reg_wr(wr)->key;
		to->access = reg_wr(wr)->access;
	} else {
		save_sges(to, wr->sg_list, wr->num_sge);
	}
}

/**
 * fake_hca_fails() - whether this call of a verb fails
 * @hca: the device
 * @verb: the verb
 *
 * Return: 0 or its errno.
 */
int fake_hca_fails(struct fake_hca *hca, enum fake_verb verb)
{
	if (hca->errors[verb])
		return hca->errors[verb];
	if (!hca->fail_at || hca->fail_verb != verb ||
	    atomic_inc_return(&hca->nr_calls) != hca->fail_at)
		return 0;
	WRITE_ONCE(hca->failed, true);
	return -EIO;
}

static int fails_to_post(struct fake_hca *hca, struct ib_qp *qp, enum fake_verb verb)
{
	if (hca->dead && !hca->draining)
		return -EIO;
	return fake_qp_is_broken(qp) ? 0 : fake_hca_fails(hca, verb);
}

static int refuse_send(struct fake_hca *hca, struct ib_qp *qp)
{
	if (refuses(hca, qp) || hca->nr_sends == FAKE_WRS)
		return hca->error ?: -ENOMEM;
	return fails_to_post(hca, qp, FAKE_POST_SEND);
}

/* Returns the first error; with FAKE_BAD_WR_LATE all of them are posted nevertheless. */
static int take_sends(struct fake_hca *hca, struct ib_qp *qp, const struct ib_send_wr *first,
		      const struct ib_send_wr **bad)
{
	bool late = hca->bad_wr == FAKE_BAD_WR_LATE;
	const struct ib_send_wr *wr;
	int error = 0, ret;

	lockdep_assert_held(&hca->lock);
	for (wr = first; wr; wr = wr->next) {
		ret = refuse_send(hca, qp);
		if (!ret || late)
			ret = fake_check_send(qp, wr) ?: ret;
		error = error ?: ret;
		if (error && !late)
			break;
		save_send(&hca->sends[hca->nr_sends++], qp, wr);
	}
	if (error && (hca->bad_wr == FAKE_BAD_WR_SET ||
		      (hca->bad_wr == FAKE_BAD_WR_UNSET && wr != first)))
		*bad = wr;
	return error;
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	unsigned int before;
	unsigned long flags;
	bool any;
	int ret;

	spin_lock_irqsave(&hca->lock, flags);
	hca->nr_doorbells++;
	before = hca->nr_sends;
	fake_check_chain(hca, wr);
	ret = take_sends(hca, qp, wr, bad);
	any = hca->nr_sends != before;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fake_qp_is_broken(qp))
		fake_hca_flush(hca, qp);
	else if (any && hca->tasklet_scheduled)
		tasklet_schedule(&hca->tasklet);
	else if (any && hca->work_queued)
		schedule_work(&hca->work);
	return ret;
}

static int take_recv(struct fake_hca *hca, struct ib_qp *qp, const struct ib_recv_wr *wr)
{
	struct fake_wr *to;
	int ret;

	lockdep_assert_held(&hca->lock);
	if (refuses(hca, qp) || hca->nr_recvs == FAKE_WRS)
		return hca->error ?: -ENOMEM;
	ret = fails_to_post(hca, qp, FAKE_POST_RECV) ?: fake_check_recv(qp, wr);
	if (ret)
		return ret;
	to = &hca->recvs[hca->nr_recvs++];
	*to = (struct fake_wr) { .qp = qp, .cqe = wr->wr_cqe };
	save_sges(to, wr->sg_list, wr->num_sge);
	return 0;
}

static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&hca->lock, flags);
	hca->nr_recv_doorbells++;
	for (; wr; wr = wr->next) {
		ret = take_recv(hca, qp, wr);
		if (ret)
			break;
	}
	if (ret && !hca->recv_bad_unset)
		*bad = wr;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (fake_qp_is_broken(qp))
		fake_hca_flush(hca, qp);
	else if (READ_ONCE(hca->stalled))
		schedule_work(&hca->work);
	return ret;
}

static void forget_sends(struct fake_hca *hca)
{
	hca->nr_sends = 0;
	hca->nr_completed = 0;
}

/* A work request is not visible before its poster drops the lock. */
static struct fake_wr *next_posted(struct fake_hca *hca)
{
	struct fake_wr *wr = NULL;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	if (hca->nr_completed < hca->nr_sends)
		wr = &hca->sends[hca->nr_completed++];
	else if (hca->tasklet_scheduled)
		forget_sends(hca);
	spin_unlock_irqrestore(&hca->lock, flags);
	return wr;
}

/* Like an HCA, do not complete unsignalled work requests that succeed. */
static void complete_sends(struct fake_hca *hca)
{
	struct fake_wr *wr;

	while ((wr = next_posted(hca))) {
		if (wr->ended)
			continue;
		if (hca->profile) {
			if (!fake_execute(hca, wr))
				break;
			continue;
		}
		if (wr->cqe == hca->work_bad || hca->nr_completed == hca->work_bad_nr)
			fake_wr_complete(wr, IB_WC_REM_ACCESS_ERR);
		else if (wr->send_flags & IB_SEND_SIGNALED)
			fake_wr_complete(wr, IB_WC_SUCCESS);
	}
}

static void do_work(struct work_struct *work)
{
	complete_sends(container_of(work, struct fake_hca, work));
}

static void do_tasklet(struct tasklet_struct *tasklet)
{
	complete_sends(container_of(tasklet, struct fake_hca, tasklet));
}

/**
 * fake_hca_forget() - reset a device
 * @hca: the device, on which no object is left
 */
void fake_hca_forget(struct fake_hca *hca)
{
	forget_sends(hca);
	hca->nr_recvs = 0;
	reinit_completion(&hca->dereg_begun);
	reinit_completion(&hca->dereg_let);
	reinit_completion(&hca->asked);
}

/**
 * fake_hca_stop_work() - complete only what the test completes
 * @hca: the device
 */
void fake_hca_stop_work(struct fake_hca *hca)
{
	hca->work_queued = false;
	hca->tasklet_scheduled = false;
	cancel_work_sync(&hca->work);
	tasklet_kill(&hca->tasklet);
}

static void stop_work(void *data)
{
	struct fake_hca *hca = data;

	fake_hca_stop_work(hca);
	fake_hca_free_lost(hca);
}

/**
 * fake_hca_init() - set up a device, registered or not
 * @hca: zeroed
 */
void fake_hca_init(struct fake_hca *hca)
{
	hca->ib.ops.post_send = post_send;
	hca->ib.ops.post_recv = post_recv;
	fake_hca_set_mr_ops(hca);
	fake_hca_set_cq_ops(hca);
	spin_lock_init(&hca->lock);
	init_completion(&hca->dereg_begun);
	init_completion(&hca->dereg_let);
	init_completion(&hca->asked);
	init_completion(&hca->removed);
	xa_init(&hca->qps);
	xa_init_flags(&hca->mrs, XA_FLAGS_LOCK_IRQ);
	hca->room = UINT_MAX;
	INIT_WORK(&hca->work, do_work);
	tasklet_setup(&hca->tasklet, do_tasklet);
}

/**
 * fake_hca_create() - create a device that accepts all work requests
 * @test: the test, at whose end it is freed
 *
 * Return: the device, which is not registered with ib_core.
 */
struct fake_hca *fake_hca_create(struct kunit *test)
{
	struct fake_hca *hca = kunit_kzalloc(test, sizeof(*hca), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	fake_hca_init(hca);
	hca->pd.device = &hca->ib;
	hca->pd.local_dma_lkey = FAKE_LKEY;
	hca->qp.device = &hca->ib;
	hca->qp.pd = &hca->pd;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_work, hca));
	return hca;
}

/**
 * fake_hca_refuse() - let posting fail, except on queue pairs in ERR
 * @hca: the device
 * @room: number of work requests that are accepted before that
 * @error: the errno
 */
void fake_hca_refuse(struct fake_hca *hca, unsigned int room, int error)
{
	hca->room = room;
	hca->error = error;
}

static bool is_send(const struct fake_hca *hca, const struct fake_wr *wr)
{
	return wr >= hca->sends && wr < hca->sends + FAKE_WRS;
}

/* Earlier unsignalled work requests in the send queue have succeeded, too. */
static void retire(struct fake_hca *hca, struct fake_wr *wr, enum ib_wc_status status)
{
	struct fake_wr *before;

	wr->ended = true;
	if (status != IB_WC_SUCCESS || !is_send(hca, wr))
		return;
	for (before = hca->sends; before < wr; before++)
		if (before->qp == wr->qp && !(before->send_flags & IB_SEND_SIGNALED))
			before->ended = true;
}

/* Returns false without a completion queue; a work request completes only once. */
static bool push(struct fake_hca *hca, struct fake_wr *wr, const struct ib_wc *wc)
{
	struct ib_cq *cq = is_send(hca, wr) ? wr->qp->send_cq : wr->qp->recv_cq;
	bool ended = wr->ended;

	lockdep_assert_held(&hca->lock);
	retire(hca, wr, wc->status);
	if (cq && !ended)
		fake_cq_push(cq, wc);
	return cq;
}

/**
 * fake_wr_end() - complete a work request
 * @wr: the work request
 * @wc: its completion, without its wr_cqe
 *
 * The completion goes to the completion queue if there is one, else to the owner at once.
 */
void fake_wr_end(struct fake_wr *wr, struct ib_wc wc)
{
	struct fake_hca *hca = to_fake_hca(wr->qp->device);
	unsigned long flags;
	bool pushed;

	wc.wr_cqe = wr->cqe;
	wc.qp = wr->qp;
	spin_lock_irqsave(&hca->lock, flags);
	pushed = push(hca, wr, &wc);
	spin_unlock_irqrestore(&hca->lock, flags);
	if (!pushed)
		wc.wr_cqe->done(NULL, &wc);
}

/**
 * fake_wr_complete() - complete a work request of which only the status matters
 * @wr: the work request
 * @status: the status
 */
void fake_wr_complete(struct fake_wr *wr, enum ib_wc_status status)
{
	fake_wr_end(wr, (struct ib_wc) { .status = status });
}

static struct fake_wr *first_left(struct fake_hca *hca, struct ib_qp *qp,
				  struct fake_wr *wrs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (wrs[i].qp == qp && !wrs[i].ended)
			return &wrs[i];
	return NULL;
}

static void flush_locked(struct fake_hca *hca, struct ib_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .qp = qp };
	struct fake_wr *wr;

	while (!hca->never_flushes) {
		wr = first_left(hca, qp, hca->recvs, hca->nr_recvs) ?:
		     first_left(hca, qp, hca->sends, hca->nr_sends);
		if (!wr)
			break;
		wc.wr_cqe = wr->cqe;
		if (wr->srq && hca->loses_recvs)
			wr->ended = true;
		else
			push(hca, wr, &wc);
	}
}

/**
 * fake_wr_end_locked() - complete a send, and the receive that it was for
 * @hca: the device, locked
 * @wr: the send; it has a completion queue
 * @wc: completion of @recv, without its wr_cqe
 * @recv: the receive, or NULL
 * @status: status of @wr; all other work is flushed unless that is IB_WC_SUCCESS
 */
void fake_wr_end_locked(struct fake_hca *hca, struct fake_wr *wr, struct ib_wc *wc,
			struct fake_wr *recv, enum ib_wc_status status)
{
	struct ib_wc sent = { .status = status, .wr_cqe = wr->cqe, .qp = wr->qp };

	wc->qp = wr->qp;
	if (recv) {
		wc->wr_cqe = recv->cqe;
		push(hca, recv, wc);
	}
	if (status != IB_WC_SUCCESS || wr->send_flags & IB_SEND_SIGNALED)
		push(hca, wr, &sent);
	if (status != IB_WC_SUCCESS)
		flush_locked(hca, wr->qp);
}

/**
 * fake_hca_flush() - complete all remaining work requests of a queue pair, in order
 * @hca: the device
 * @qp: the queue pair, in ERR
 */
void fake_hca_flush(struct fake_hca *hca, struct ib_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	flush_locked(hca, qp);
	spin_unlock_irqrestore(&hca->lock, flags);
}
