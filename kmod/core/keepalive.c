// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Probes of an idle connection: a peer that is gone is noticed even if nothing is sent. */
#include "cq.h"
#include "keepalive.h"
#include "queue.h"
#include "quirks.h"
#include "verbs.h"
#include "workqueue.h"

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_keepalive *keepalive =
		container_of(wc->wr_cqe, struct kverbs_keepalive, cqe);

	WRITE_ONCE(keepalive->probing, false);
	if (wc->status != IB_WC_SUCCESS)
		keepalive->queue->ops->broken(keepalive->queue, wc->status);
}

static void probe(struct kverbs_keepalive *keepalive)
{
	struct kverbs_queue *queue = keepalive->queue;
	struct ib_sge nothing = {};
	struct ib_rdma_wr wr = {
		.wr.opcode = keepalive->opcode,
		.wr.wr_cqe = &keepalive->cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &nothing,
		.wr.num_sge = keepalive->opcode == IB_WR_RDMA_READ &&
			      queue->quirks & KVERBS_QUIRK_READ_ENTRY,
	};
	const struct ib_send_wr *bad;
	int ret = 0;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_UP) {
		nothing.lkey = queue->qp->pd->local_dma_lkey;
		keepalive->probing = true;
		keepalive->ahead = queue->nr_retired + queue->sq_depth - queue->sq_free;
		keepalive->behind = keepalive->ahead != queue->nr_retired;
		ret = kverbs_ib_post_send(queue, &wr.wr, &bad);
	}
	spin_unlock_bh(&queue->lock);
	if (ret)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
}

/*
 * Whether an operation has completed since the last check. With @always only those before the
 * probe count: they prove nothing about the peer, but the probe was not the oldest yet.
 */
static bool has_advanced(struct kverbs_keepalive *keepalive)
{
	struct kverbs_queue *queue = keepalive->queue;
	bool advanced;

	spin_lock_bh(&queue->lock);
	advanced = keepalive->seen != queue->ops_done;
	if (keepalive->always)
		advanced &= keepalive->behind;
	keepalive->seen = queue->ops_done;
	keepalive->behind = (s32)(keepalive->ahead - queue->nr_retired) > 0;
	spin_unlock_bh(&queue->lock);
	return advanced;
}

static void check(struct work_struct *work)
{
	struct kverbs_keepalive *keepalive =
		container_of(work, struct kverbs_keepalive, work.work);
	struct kverbs_queue *queue = keepalive->queue;
	bool advanced;

	if (kverbs_queue_check_up(queue))
		return;
	if (keepalive->cqs->direct)
		kverbs_cq_set_poll_all(keepalive->cqs);
	advanced = has_advanced(keepalive);
	if (READ_ONCE(keepalive->probing)) {
		if (!advanced) {
			queue->ops->broken(queue, IB_WC_RESP_TIMEOUT_ERR);
			return;
		}
	} else if (!advanced || keepalive->always) {
		probe(keepalive);
	}
	if (keepalive->ms)
		queue_delayed_work(kverbs_keepalive_workqueue, &keepalive->work,
				   msecs_to_jiffies(keepalive->ms));
}

/**
 * kverbs_keepalive_init() - prepare for kverbs_keepalive_start()
 * @keepalive: zeroed
 * @queue: where probes will be posted
 */
void kverbs_keepalive_init(struct kverbs_keepalive *keepalive,
			   struct kverbs_queue *queue)
{
	keepalive->queue = queue;
	keepalive->cqe.done = probe_done;
	INIT_DELAYED_WORK(&keepalive->work, check);
}

/**
 * kverbs_keepalive_start() - begin to check
 * @keepalive: with its @ms, @opcode and @always
 * @first_ms: delay of the first check
 *
 * Context: any.
 */
void kverbs_keepalive_start(struct kverbs_keepalive *keepalive, unsigned int first_ms)
{
	queue_delayed_work(kverbs_keepalive_workqueue, &keepalive->work,
			   msecs_to_jiffies(first_ms));
}

/**
 * kverbs_keepalive_stop() - stop checking, and wait for a check that runs
 * @keepalive: started or not
 *
 * Context: process, may sleep.
 */
void kverbs_keepalive_stop(struct kverbs_keepalive *keepalive)
{
	cancel_delayed_work_sync(&keepalive->work);
}
