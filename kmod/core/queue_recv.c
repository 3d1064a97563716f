// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receives of a queue, from being taken to being with the HCA. */
#include <linux/kverbs.h>

#include "fault.h"
#include "queue.h"
#include "trace.h"

static void park(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	req->queue = queue;
	req->last.done = kverbs_req_recv_done;
	queue->rq_free--;
	queue->nr_parked++;
	list_add_tail(&req->entry, &queue->parked);
}

/**
 * kverbs_queue_park() - take receives, to be posted when they can be
 * @queue: the queue
 * @reqs: the receives; done is called of those that are taken
 * @nr: how many, at least 1
 * @ticket: of the last that was taken, for kverbs_queue_await_posted()
 * @error: why not all were: -EAGAIN no slot, -ENOTCONN; else 0
 *
 * Return: how many were taken, from the first on.
 */
unsigned int kverbs_queue_park(struct kverbs_queue *queue, struct kverbs_req **reqs,
			       unsigned int nr, u32 *ticket, int *error)
{
	unsigned int i = 0;

	*error = 0;
	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_CLOSED)
		*error = -ENOTCONN;
	else if (nr > queue->rq_free)
		*error = -EAGAIN;
	if (*error != -ENOTCONN)
		for (nr = min(nr, queue->rq_free); i < nr; i++)
			park(queue, reqs[i]);
	*ticket = queue->nr_parked;
	spin_unlock_bh(&queue->lock);
	return i;
}

/* They leave in the order in which they came. */
static void note_unparked(struct kverbs_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	WRITE_ONCE(queue->nr_unparked, queue->nr_unparked + 1);
}

static void wake_unparked(struct kverbs_queue *queue)
{
	if (wq_has_sleeper(&queue->unparked))
		wake_up_all(&queue->unparked);
}

/**
 * kverbs_queue_is_posted() - whether a receive is with the HCA
 * @queue: the queue
 * @ticket: of the receive
 *
 * Return: true if it is, or was.
 */
bool kverbs_queue_is_posted(struct kverbs_queue *queue, u32 ticket)
{
	return (s32)(READ_ONCE(queue->nr_unparked) - ticket) >= 0;
}

/**
 * kverbs_queue_await_posted() - wait until a receive is with the HCA
 * @queue: the queue; if it is not up, nothing is waited for
 * @ticket: of the receive
 *
 * So that a peer may be told to send. What it waits for is a registration.
 *
 * Context: process, sleeps and can be killed.
 */
void kverbs_queue_await_posted(struct kverbs_queue *queue, u32 ticket)
{
	if (kverbs_queue_check_up(queue))
		return;
	wait_event_killable_timeout(queue->unparked,
				    kverbs_queue_is_posted(queue, ticket),
				    KVERBS_REG_TIMEOUT);
}

/**
 * kverbs_queue_first_parked() - the receive that must be posted next
 * @queue: the queue
 *
 * Return: it, or NULL if there is none or it cannot be posted yet. It stays
 * parked; only whoever posts receives and kverbs_queue_sweep() take it away, and
 * the owner sees to it that they exclude each other.
 */
struct kverbs_req *kverbs_queue_first_parked(struct kverbs_queue *queue)
{
	struct kverbs_req *req = NULL;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_RECV || queue->state == KVERBS_QUEUE_UP)
		req = list_first_entry_or_null(&queue->parked, struct kverbs_req, entry);
	spin_unlock_bh(&queue->lock);
	return req;
}

/**
 * kverbs_queue_post_recv() - hand the first parked receive to the HCA
 * @queue: the queue
 * @req: from kverbs_queue_first_parked()
 * @sges: where the message shall go
 * @nr: entries in @sges
 *
 * Return: 0, -ENOTCONN, or what the HCA says; then it is still parked.
 */
int kverbs_queue_post_recv(struct kverbs_queue *queue, struct kverbs_req *req,
			   struct ib_sge *sges, int nr)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &req->last,
		.sg_list = sges,
		.num_sge = nr,
	};
	int ret = -ENOTCONN;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_CLOSED)
		goto out_unlock;
	list_move_tail(&req->entry, &queue->posted_recvs);
	ret = kverbs_fault() ?: ib_post_recv(queue->qp, &wr, NULL);
	if (ret)
		list_move(&req->entry, &queue->parked);
	else
		note_unparked(queue);
	trace_kverbs_post(queue, req, 0, ret);
out_unlock:
	spin_unlock_bh(&queue->lock);
	if (!ret)
		wake_unparked(queue);
	return ret;
}

/**
 * kverbs_queue_fail_parked() - end a receive that cannot be posted
 * @queue: the queue
 * @req: from kverbs_queue_first_parked()
 * @result: why, -errno
 */
void kverbs_queue_fail_parked(struct kverbs_queue *queue, struct kverbs_req *req,
			      int result)
{
	req->result = result;
	kverbs_req_finish(req);
	spin_lock_bh(&queue->lock);
	note_unparked(queue);
	spin_unlock_bh(&queue->lock);
	wake_unparked(queue);
}

