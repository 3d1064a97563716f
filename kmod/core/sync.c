// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Synchronous chains: a task posts registrations or invalidations and waits for them. */
#include <linux/sched/signal.h>

#include "cq.h"
#include "queue.h"
#include "sync.h"
#include "verbs.h"
#include "wait.h"

static void part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_sync *sync = container_of(wc->wr_cqe, struct kverbs_sync, part);

	if (wc->status != IB_WC_SUCCESS && sync->status == IB_WC_SUCCESS)
		sync->status = wc->status;
}

static void last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_sync *sync = container_of(wc->wr_cqe, struct kverbs_sync, last);

	if (wc->status != IB_WC_SUCCESS && sync->status == IB_WC_SUCCESS)
		sync->status = wc->status;
	if (sync->status != IB_WC_SUCCESS)
		sync->queue->ops->broken(sync->queue, sync->status);
	complete_all(&sync->done);
}

/**
 * kverbs_sync_init() - prepare for the first chain
 * @sync: zeroed
 * @queue: where chains will be posted
 */
void kverbs_sync_init(struct kverbs_sync *sync, struct kverbs_queue *queue)
{
	sync->queue = queue;
	sync->timeout = KVERBS_REG_TIMEOUT;
	init_completion(&sync->done);
	sync->part.done = part_done;
	sync->last.done = last_done;
}

static const struct list_head *oldest_posted(struct kverbs_queue *queue)
{
	const struct list_head *oldest;

	spin_lock_bh(&queue->lock);
	oldest = queue->posted.next;
	spin_unlock_bh(&queue->lock);
	return oldest;
}

static bool is_complete(void *sync)
{
	return try_wait_for_completion(&((struct kverbs_sync *)sync)->done);
}

/* Returns as wait_for_completion_killable_timeout(). */
static long await_completion(struct kverbs_sync *sync, struct kverbs_cq_set *cqs)
{
	int ret;

	if (!cqs->direct)
		return kverbs_wait_for_completion(&sync->done, sync->timeout);
	ret = kverbs_cq_set_await(cqs, is_complete, sync, sync->timeout);
	if (ret == -ETIME)
		return 0;
	return ret ?: 1;
}

/* Operations that were posted before the chain complete before it; each may take its time. */
static long await_progress(struct kverbs_sync *sync, struct kverbs_cq_set *cqs)
{
	const struct list_head *before, *oldest = oldest_posted(sync->queue);
	long left;

	do {
		before = oldest;
		left = await_completion(sync, cqs);
		oldest = oldest_posted(sync->queue);
	} while (!left && oldest != before);
	return left;
}

static int await_chain(struct kverbs_sync *sync, struct kverbs_cq_set *cqs)
{
	long left;

	if (!sync->busy)
		return 0;
	left = await_progress(sync, cqs);
	if (!left) {
		/*
		 * The chain is queued behind work that the peer does not complete. The drain
		 * completes it, and polls for that.
		 */
		sync->queue->ops->broken(sync->queue, IB_WC_RESP_TIMEOUT_ERR);
		left = kverbs_wait_for_completion(&sync->done, MAX_SCHEDULE_TIMEOUT);
	}
	if (left < 0)
		return -EINTR;
	sync->busy = false;
	return 0;
}

static int post_chain(struct kverbs_queue *queue, struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = first;
	int ret = -ENOTCONN;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_UP)
		ret = kverbs_ib_post_send(queue, first, &bad);
	spin_unlock_bh(&queue->lock);
	/* If the HCA accepted only a part, the last work request never completes. */
	if (ret && bad != first)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	return ret;
}

/**
 * kverbs_sync_abort() - complete a chain that the HCA has not flushed
 * @sync: of a queue that is closed and drained, so no chain follows
 *
 * siw may not flush a chain before the queue pair is destroyed.
 */
void kverbs_sync_abort(struct kverbs_sync *sync)
{
	if (completion_done(&sync->done))
		return;
	sync->status = IB_WC_WR_FLUSH_ERR;
	complete_all(&sync->done);
}

/**
 * kverbs_sync_post() - post a chain and wait for it
 * @sync: the caller excludes others
 * @cqs: the completion queues of the connection, polled in that time if they are direct
 * @first: first of at most KVERBS_SYNC_WRS linked requests
 * @last: last of them
 *
 * Context: process, may sleep and be killed.
 * Return: 0; -ENOTCONN; -EIO if a request failed, which ends the connection; -EINTR
 * if the task was killed: the requests may then be with the HCA until it is drained.
 */
int kverbs_sync_post(struct kverbs_sync *sync, struct kverbs_cq_set *cqs,
		     struct ib_send_wr *first, struct ib_send_wr *last)
{
	struct ib_send_wr *wr;
	int ret;

	/* A task that was killed may have left its chain behind. */
	ret = await_chain(sync, cqs);
	if (ret)
		return ret;
	for (wr = first; wr; wr = wr->next) {
		wr->wr_cqe = wr == last ? &sync->last : &sync->part;
		wr->send_flags = wr == last ? IB_SEND_SIGNALED : 0;
	}
	reinit_completion(&sync->done);
	sync->status = IB_WC_SUCCESS;
	sync->busy = true;
	ret = post_chain(sync->queue, first);
	if (ret) {
		sync->busy = false;
		return ret;
	}
	ret = await_chain(sync, cqs);
	if (ret)
		return ret;
	return sync->status == IB_WC_SUCCESS ? 0 : -EIO;
}
