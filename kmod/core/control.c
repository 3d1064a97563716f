// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Chains of registrations and invalidations that somebody waits for. */
#include <linux/sched/signal.h>

#include "fault.h"
#include "queue.h"

static void control_part(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_control *control =
		container_of(wc->wr_cqe, struct kverbs_control, part);

	if (wc->status != IB_WC_SUCCESS && control->status == IB_WC_SUCCESS)
		control->status = wc->status;
}

static void control_last(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_control *control =
		container_of(wc->wr_cqe, struct kverbs_control, last);
	struct kverbs_queue *queue = container_of(control, struct kverbs_queue, control);

	if (wc->status != IB_WC_SUCCESS && control->status == IB_WC_SUCCESS)
		control->status = wc->status;
	if (control->status != IB_WC_SUCCESS)
		queue->ops->broken(queue, control->status);
	complete_all(&control->done);
}

/**
 * kverbs_control_init() - make a control without a chain
 * @control: of a queue
 */
void kverbs_control_init(struct kverbs_control *control)
{
	init_completion(&control->done);
	control->part.done = control_part;
	control->last.done = control_last;
}

static int await_control(struct kverbs_queue *queue)
{
	struct kverbs_control *control = &queue->control;
	long left;

	if (!control->busy)
		return 0;
	left = wait_for_completion_killable_timeout(&control->done, KVERBS_REG_TIMEOUT);
	if (!left) {
		/* Behind work that the peer does not let go on: end it all. */
		queue->ops->broken(queue, IB_WC_RESP_TIMEOUT_ERR);
		left = wait_for_completion_killable(&control->done) ?: 1;
	}
	if (left < 0)
		return -EINTR;
	control->busy = false;
	return 0;
}

static int post_control(struct kverbs_queue *queue, struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = first;
	int ret = -ENOTCONN;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_UP)
		ret = kverbs_fault() ?: ib_post_send(queue->qp, first, &bad);
	spin_unlock_bh(&queue->lock);
	/* A part of the chain is with the HCA, and nothing will complete it. */
	if (ret && bad != first)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	return ret;
}

/**
 * kverbs_queue_abort_control() - let go whoever waits for a chain
 * @queue: the queue, closed and drained, so no chain follows
 *
 * siw may not flush a chain before the queue pair is destroyed.
 */
void kverbs_queue_abort_control(struct kverbs_queue *queue)
{
	struct kverbs_control *control = &queue->control;

	if (completion_done(&control->done))
		return;
	control->status = IB_WC_WR_FLUSH_ERR;
	complete_all(&control->done);
}

/**
 * kverbs_queue_control() - post a chain and wait for it
 * @queue: the queue; the caller excludes others
 * @first: first of at most KVERBS_CONTROL_WRS linked requests
 * @last: last of them
 *
 * Context: process, may sleep and be killed.
 * Return: 0; -ENOTCONN; -EIO a request failed, so the connection ends; -EINTR
 * killed, and then the requests may still be with the HCA until it is drained.
 */
int kverbs_queue_control(struct kverbs_queue *queue, struct ib_send_wr *first,
			 struct ib_send_wr *last)
{
	struct kverbs_control *control = &queue->control;
	struct ib_send_wr *wr;
	int ret;

	ret = await_control(queue);
	if (ret)
		return ret;
	for (wr = first; wr; wr = wr->next) {
		wr->wr_cqe = wr == last ? &control->last : &control->part;
		wr->send_flags = wr == last ? IB_SEND_SIGNALED : 0;
	}
	reinit_completion(&control->done);
	control->status = IB_WC_SUCCESS;
	control->busy = true;
	ret = post_control(queue, first);
	if (ret) {
		control->busy = false;
		return ret;
	}
	ret = await_control(queue);
	if (ret)
		return ret;
	return control->status == IB_WC_SUCCESS ? 0 : -EIO;
}
