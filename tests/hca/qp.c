// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains and queue pairs. */
#include <linux/slab.h>

#include "hca.h"

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int init_queue(struct hca_queue *queue, u32 size)
{
	queue->size = size;
	queue->wrs = kvcalloc(size, sizeof(*queue->wrs), GFP_KERNEL);
	return queue->wrs ? 0 : -ENOMEM;
}

static void exit_queues(struct hca_qp *qp)
{
	kvfree(qp->sends.wrs);
	kvfree(qp->recvs.wrs);
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct hca *hca = to_hca(ib->device);
	struct hca_qp *qp = to_hca_qp(ib);
	int ret;

	if (attr->qp_type != IB_QPT_RC || attr->cap.max_send_sge > HCA_SGES ||
	    attr->cap.max_recv_sge > HCA_SGES)
		return -EINVAL;
	INIT_WORK(&qp->work, hca_run);
	qp->state = IB_QPS_RESET;
	ret = init_queue(&qp->sends, attr->cap.max_send_wr);
	if (!ret)
		ret = init_queue(&qp->recvs, attr->cap.max_recv_wr);
	if (!ret)
		ret = xa_alloc_cyclic(&hca->qps, &ib->qp_num, qp,
				      XA_LIMIT(1, GENMASK(23, 0)), &hca->next_qp, GFP_KERNEL);
	if (ret < 0)
		exit_queues(qp);
	return min(ret, 0);
}

/* The peer's work may be using this queue pair; after @fence was taken, it does not. */
static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct hca *hca = to_hca(ib->device);
	struct hca_qp *qp = to_hca_qp(ib);

	hca_qp_break(qp);
	mutex_lock(&hca->fence);
	xa_erase(&hca->qps, ib->qp_num);
	if (qp->peer)
		qp->peer->peer = NULL;
	qp->peer = NULL;
	mutex_unlock(&hca->fence);
	cancel_work_sync(&qp->work);
	if (qp->cm)
		qp->cm->rem_ref(qp->cm);
	exit_queues(qp);
	return 0;
}

static enum ib_qp_state set_state(struct hca_qp *qp, enum ib_qp_state state)
{
	struct hca *hca = to_hca(qp->ib.device);
	enum ib_qp_state old;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	old = qp->state;
	qp->state = state;
	spin_unlock_irqrestore(&hca->lock, flags);
	return old;
}

/**
 * hca_qp_is_up() - whether a queue pair does what is posted
 * @qp: the queue pair
 *
 * Return: true in RTS.
 */
bool hca_qp_is_up(struct hca_qp *qp)
{
	return READ_ONCE(qp->state) == IB_QPS_RTS;
}

static void break_one(struct hca_qp *qp)
{
	if (set_state(qp, IB_QPS_ERR) == IB_QPS_RTS)
		hca_iw_close(qp);
	queue_work(to_hca(qp->ib.device)->wq, &qp->work);
}

/**
 * hca_qp_break() - end the connection of a queue pair
 * @qp: the queue pair, connected or not
 *
 * When this returns, no piece of a transfer of the connection is moved any more.
 *
 * Context: process, may sleep.
 */
void hca_qp_break(struct hca_qp *qp)
{
	struct hca *hca = to_hca(qp->ib.device);

	mutex_lock(&hca->fence);
	break_one(qp);
	if (qp->peer)
		break_one(qp->peer);
	mutex_unlock(&hca->fence);
}

/**
 * hca_qp_connect() - connect two queue pairs
 * @qp: one
 * @peer: the other
 */
void hca_qp_connect(struct hca_qp *qp, struct hca_qp *peer)
{
	struct hca *hca = to_hca(qp->ib.device);

	mutex_lock(&hca->fence);
	qp->peer = peer;
	peer->peer = qp;
	set_state(qp, IB_QPS_RTS);
	set_state(peer, IB_QPS_RTS);
	mutex_unlock(&hca->fence);
}

/* The CM connects; other states than ERR are its affair. SQD is its graceful disconnect. */
static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	if (mask & IB_QP_STATE &&
	    (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_SQD))
		hca_qp_break(to_hca_qp(ib));
	return 0;
}

static bool put(struct hca_qp *qp, struct hca_queue *queue, const struct hca_wr *wr)
{
	struct hca *hca = to_hca(qp->ib.device);
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&hca->lock, flags);
	room = queue->tail - queue->head < queue->size;
	if (room)
		queue->wrs[queue->tail++ % queue->size] = *wr;
	spin_unlock_irqrestore(&hca->lock, flags);
	return room;
}

static bool take_first(struct hca_queue *queue, struct hca_wr *wr)
{
	if (queue->head == queue->tail)
		return false;
	*wr = queue->wrs[queue->head++ % queue->size];
	return true;
}

/**
 * hca_qp_take_send() - take the first work request out of a send queue
 * @qp: the queue pair
 * @wr: set to the work request
 *
 * Return: false if there is none.
 */
bool hca_qp_take_send(struct hca_qp *qp, struct hca_wr *wr)
{
	struct hca *hca = to_hca(qp->ib.device);
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&hca->lock, flags);
	taken = take_first(&qp->sends, wr);
	spin_unlock_irqrestore(&hca->lock, flags);
	return taken;
}

/**
 * hca_qp_take_recv() - take the first work request out of a receive queue
 * @qp: the queue pair
 * @wr: set to the work request
 * @receiving: take none after it before hca_qp_end_recv(), as they complete in order
 *
 * Return: false if there is none.
 */
bool hca_qp_take_recv(struct hca_qp *qp, struct hca_wr *wr, bool receiving)
{
	struct hca *hca = to_hca(qp->ib.device);
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&hca->lock, flags);
	taken = !qp->receiving && take_first(&qp->recvs, wr);
	if (taken)
		qp->receiving = receiving;
	spin_unlock_irqrestore(&hca->lock, flags);
	return taken;
}

/**
 * hca_qp_end_recv() - let the receives after a completed one be taken
 * @qp: the queue pair
 */
void hca_qp_end_recv(struct hca_qp *qp)
{
	struct hca *hca = to_hca(qp->ib.device);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	qp->receiving = false;
	spin_unlock_irqrestore(&hca->lock, flags);
	queue_work(hca->wq, &qp->work);
}

static void save_sges(struct hca_wr *to, const struct ib_sge *sges, int nr, const char *what)
{
	int i;

	to->num_sge = nr;
	for (i = 0; i < nr; i++) {
		to->sges[i] = sges[i];
		if (sges[i].lkey == HCA_DMA_LKEY)
			hca_probe_note(what, sges[i].addr, sges[i].length);
	}
}

static void note_pages(const struct hca_mr *mr)
{
	u32 i;

	for (i = 0; i < mr->nr_pages; i++)
		hca_probe_note("page", mr->pages[i], mr->ib.page_size);
}

static int save_send(struct hca_wr *to, const struct ib_send_wr *wr)
{
	*to = (struct hca_wr) {
		.opcode = wr->opcode,
		.send_flags = wr->send_flags,
		.cqe = wr->wr_cqe,
		.inv_key = wr->ex.invalidate_rkey,
	};
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		to->mr = to_hca_mr(reg_wr(wr)->mr);
		to->key = reg_wr(wr)->key;
		to->access = reg_wr(wr)->access;
		note_pages(to->mr);
		return 0;
	case IB_WR_LOCAL_INV:
		return 0;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		to->remote_addr = rdma_wr(wr)->remote_addr;
		to->rkey = rdma_wr(wr)->rkey;
		fallthrough;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_INV:
		if (wr->num_sge > HCA_SGES)
			return -EINVAL;
		save_sges(to, wr->sg_list, wr->num_sge, "send");
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct hca_qp *qp = to_hca_qp(ib);
	struct hca_wr copy;
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		ret = save_send(&copy, wr);
		if (!ret && !put(qp, &qp->sends, &copy))
			ret = -ENOMEM;
		if (ret)
			*bad = wr;
	}
	queue_work(to_hca(ib->device)->wq, &qp->work);
	return ret;
}

static int post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct hca_qp *qp = to_hca_qp(ib);
	struct hca_wr copy;
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		copy = (struct hca_wr) { .cqe = wr->wr_cqe };
		if (wr->num_sge > HCA_SGES)
			ret = -EINVAL;
		else
			save_sges(&copy, wr->sg_list, wr->num_sge, "recv");
		if (!ret && !put(qp, &qp->recvs, &copy))
			ret = -ENOMEM;
		if (ret)
			*bad = wr;
	}
	queue_work(to_hca(ib->device)->wq, &qp->work);
	return ret;
}

const struct ib_device_ops hca_qp_ops = {
	.alloc_pd	= alloc_pd,
	.create_qp	= create_qp,
	.dealloc_pd	= dealloc_pd,
	.destroy_qp	= destroy_qp,
	.modify_qp	= modify_qp,
	.post_recv	= post_recv,
	.post_send	= post_send,
	.size_ib_pd	= sizeof(struct ib_pd),
	INIT_RDMA_OBJ_SIZE(ib_qp, hca_qp, ib),
};
