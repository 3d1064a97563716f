// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Slots, posting and completions of one queue pair. */
#include <linux/kverbs.h>

#include "fault.h"
#include "mr.h"
#include "queue.h"
#include "region.h"
#include "trace.h"

/**
 * kverbs_queue_init() - make a queue that has no queue pair yet
 * @queue: the queue
 * @ops: what the owner must know
 * @sq_depth: send slots
 * @rq_depth: receive slots
 */
void kverbs_queue_init(struct kverbs_queue *queue, const struct kverbs_queue_ops *ops,
		       unsigned int sq_depth, unsigned int rq_depth)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->posted);
	INIT_LIST_HEAD(&queue->posted_recvs);
	INIT_LIST_HEAD(&queue->parked);
	init_waitqueue_head(&queue->unparked);
	kverbs_control_init(&queue->control);
	queue->ops = ops;
	queue->state = KVERBS_QUEUE_NEW;
	queue->sq_depth = sq_depth;
	queue->sq_free = sq_depth;
	queue->rq_depth = rq_depth;
	queue->rq_free = rq_depth;
}

/**
 * kverbs_queue_resize() - change the depths of a queue without a queue pair
 * @queue: the queue
 * @sq_depth: send slots
 * @rq_depth: receive slots
 *
 * Return: 0, or -EINVAL if more receives are parked already.
 */
int kverbs_queue_resize(struct kverbs_queue *queue, unsigned int sq_depth,
			unsigned int rq_depth)
{
	unsigned int parked;
	int ret = 0;

	spin_lock_bh(&queue->lock);
	parked = queue->rq_depth - queue->rq_free;
	if (parked > rq_depth) {
		ret = -EINVAL;
	} else {
		queue->sq_depth = sq_depth;
		queue->sq_free = sq_depth;
		queue->rq_depth = rq_depth;
		queue->rq_free = rq_depth - parked;
	}
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_open() - give it its queue pair: receives can be posted
 * @queue: the queue
 * @qp: the queue pair, in INIT
 */
void kverbs_queue_open(struct kverbs_queue *queue, struct ib_qp *qp)
{
	spin_lock_bh(&queue->lock);
	queue->qp = qp;
	if (queue->state == KVERBS_QUEUE_NEW)
		queue->state = KVERBS_QUEUE_RECV;
	spin_unlock_bh(&queue->lock);
}

/**
 * kverbs_queue_up() - the connection is established: all can be posted
 * @queue: the queue
 *
 * Return: 0, or -ENOTCONN if it is closed already.
 */
int kverbs_queue_up(struct kverbs_queue *queue)
{
	int ret = 0;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_RECV)
		queue->state = KVERBS_QUEUE_UP;
	else
		ret = -ENOTCONN;
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_close() - nothing is posted after this returns
 * @queue: the queue
 */
void kverbs_queue_close(struct kverbs_queue *queue)
{
	spin_lock_bh(&queue->lock);
	queue->state = KVERBS_QUEUE_CLOSED;
	spin_unlock_bh(&queue->lock);
}

/**
 * kverbs_queue_check_up() - whether anything but receives can be posted
 * @queue: the queue
 *
 * Return: 0 or -ENOTCONN.
 */
int kverbs_queue_check_up(struct kverbs_queue *queue)
{
	return READ_ONCE(queue->state) == KVERBS_QUEUE_UP ? 0 : -ENOTCONN;
}

/**
 * kverbs_req_use() - count an operation in the uses of its regions
 * @req: the operation
 */
void kverbs_req_use(const struct kverbs_req *req)
{
	unsigned int i;

	for (i = 0; i < kverbs_req_extents(req); i++)
		kverbs_region_use(kverbs_req_extent(req, i).region);
}

/**
 * kverbs_req_unuse() - undo kverbs_req_use()
 * @req: the operation
 */
void kverbs_req_unuse(const struct kverbs_req *req)
{
	unsigned int i;

	for (i = 0; i < kverbs_req_extents(req); i++)
		kverbs_region_unuse(kverbs_req_extent(req, i).region);
}

/* Registrations first, each signalled: a receive may wait for it to be valid. */
static struct ib_send_wr *link_regs(struct kverbs_queue *queue,
				    struct kverbs_chain *chain,
				    struct ib_send_wr *next)
{
	unsigned int i;

	for (i = chain->nr_regs; i > 0; i--) {
		struct kverbs_mr *mr = chain->regs[i - 1];

		mr->owner = queue;
		mr->cqe.done = kverbs_queue_reg_done;
		mr->wr.wr.wr_cqe = &mr->cqe;
		mr->wr.wr.send_flags = IB_SEND_SIGNALED;
		mr->wr.wr.next = next;
		next = &mr->wr.wr;
	}
	return next;
}

static struct ib_send_wr *link_req(struct kverbs_req *req, struct kverbs_chain *chain)
{
	unsigned int i;

	for (i = 0; i < chain->nr_wrs; i++) {
		struct ib_send_wr *wr = &chain->wrs[i].wr;
		bool last = i == chain->nr_wrs - 1;

		wr->wr_cqe = last ? &req->last : &req->part;
		wr->next = last ? NULL : &chain->wrs[i + 1].wr;
		if (last)
			wr->send_flags |= IB_SEND_SIGNALED;
	}
	return &chain->wrs[0].wr;
}

static int take_slots(struct kverbs_queue *queue, unsigned int nr)
{
	lockdep_assert_held(&queue->lock);
	if (queue->state != KVERBS_QUEUE_UP)
		return -ENOTCONN;
	if (nr > queue->sq_depth)
		return -EMSGSIZE;
	if (nr > queue->sq_free)
		return -EAGAIN;
	queue->sq_free -= nr;
	return 0;
}

/* How many requests of the chain are with the HCA though posting it failed. */
static unsigned int posted_before(const struct ib_send_wr *first,
				  const struct ib_send_wr *bad)
{
	unsigned int n = 0;

	for (; first && first != bad; first = first->next)
		n++;
	return n;
}

static void mark_regs(struct kverbs_chain *chain, unsigned int posted)
{
	unsigned int i;

	for (i = 0; i < chain->nr_regs && i < posted; i++)
		chain->regs[i]->state = KVERBS_MR_POSTED;
}

/*
 * The HCA refused the chain. If it took none of it, nothing happened. If it took
 * a part, that part cannot be taken back: the operation is the caller's no more,
 * the connection ends, and draining it brings the rest.
 */
static int undo_post(struct kverbs_queue *queue, struct kverbs_req *req,
		     struct kverbs_chain *chain, unsigned int posted, int err)
{
	unsigned int regs = min(posted, chain->nr_regs);

	mark_regs(chain, regs);
	queue->sq_free += chain->nr_regs - regs;
	if (posted > regs) {
		req->result = -EIO;
		req->wc_status = IB_WC_GENERAL_ERR;
		/* What would come next could succeed before this one has failed. */
		queue->state = KVERBS_QUEUE_CLOSED;
		return 0;
	}
	if (req) {
		list_del(&req->entry);
		queue->sq_free += req->nr_wrs;
	}
	return err;
}

static void claim(struct kverbs_queue *queue, struct kverbs_req *req,
		  unsigned int nr_wrs)
{
	req->queue = queue;
	req->part.done = kverbs_req_part_done;
	req->last.done = kverbs_req_last_done;
	req->nr_wrs = nr_wrs;
}

/**
 * kverbs_queue_post() - hand an operation other than RECV to the HCA
 * @queue: the queue
 * @req: the operation; its done is called if and only if this returns 0
 * @chain: its work requests
 *
 * Context: process or softirq.
 * Return: 0; -EAGAIN no slot; -EMSGSIZE never enough slots; -ENOTCONN; or what
 * the HCA says.
 */
int kverbs_queue_post(struct kverbs_queue *queue, struct kverbs_req *req,
		      struct kverbs_chain *chain)
{
	struct ib_send_wr *first = link_regs(queue, chain, link_req(req, chain));
	const struct ib_send_wr *bad = first;
	bool broken = false;
	int ret;

	claim(queue, req, chain->nr_wrs);
	req->joined = false;
	spin_lock_bh(&queue->lock);
	ret = take_slots(queue, chain->nr_regs + chain->nr_wrs);
	if (ret)
		goto out_unlock;
	list_add_tail(&req->entry, &queue->posted);
	ret = kverbs_fault() ?: ib_post_send(queue->qp, first, &bad);
	if (ret) {
		ret = undo_post(queue, req, chain, posted_before(first, bad), ret);
		broken = !ret;
	} else {
		mark_regs(chain, chain->nr_regs);
	}
	trace_kverbs_post(queue, req, chain->nr_regs, ret);
out_unlock:
	spin_unlock_bh(&queue->lock);
	if (broken)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	return ret;
}

static void link_one(struct kverbs_queue *queue, struct kverbs_req *req,
		     struct ib_send_wr *wr, struct ib_send_wr *next)
{
	claim(queue, req, 1);
	wr->wr_cqe = &req->last;
	wr->next = next;
	/* What nothing follows must be told of, or nobody knows when it is over. */
	if (!next)
		req->joined = false;
	if (!req->joined)
		wr->send_flags |= IB_SEND_SIGNALED;
}

static unsigned int count_slots(const struct kverbs_queue *queue, unsigned int nr, int *error)
{
	lockdep_assert_held(&queue->lock);
	*error = 0;
	if (queue->state != KVERBS_QUEUE_UP)
		*error = -ENOTCONN;
	else if (nr > queue->sq_free)
		*error = -EAGAIN;
	return *error == -ENOTCONN ? 0 : min(nr, queue->sq_free);
}

/* Whether somebody waits for one that only another one behind it would tell of. */
static bool last_are_missed(struct kverbs_req **reqs, unsigned int nr)
{
	for (; nr && reqs[nr - 1]->joined; nr--)
		if (!reqs[nr - 1]->silent)
			return true;
	return false;
}

/*
 * Those are posted or not. What comes next tells of silent ones; for others the
 * connection ends, which tells of all.
 */
static unsigned int post_linked(struct kverbs_queue *queue, struct kverbs_req **reqs,
				unsigned int nr, const struct ib_send_wr *first, int *error)
{
	const struct ib_send_wr *bad = first;
	unsigned int i, posted = nr;
	int ret;

	for (i = 0; i < nr; i++)
		list_add_tail(&reqs[i]->entry, &queue->posted);
	ret = kverbs_fault() ?: ib_post_send(queue->qp, first, &bad);
	if (ret) {
		posted = posted_before(first, bad);
		*error = ret;
	}
	for (i = 0; i < nr; i++)
		trace_kverbs_post(queue, reqs[i], 0, i < posted ? 0 : ret);
	for (i = posted; i < nr; i++)
		list_del(&reqs[i]->entry);
	queue->sq_free -= posted;
	if (last_are_missed(reqs, posted))
		queue->state = KVERBS_QUEUE_CLOSED;
	return posted;
}

/**
 * kverbs_queue_post_list() - hand operations of one work request each to the HCA
 * @queue: the queue
 * @reqs: the operations, none of them a RECV; done is called of those that are posted
 * @nr: how many, at least 1
 * @chain: their work requests, one after the other; no registrations
 * @error: why not all were posted, as kverbs_queue_post() has it; else 0
 *
 * Joined ones complete with one that is not; the last is made one that is not.
 *
 * Context: process or softirq.
 * Return: how many were posted, from the first on.
 */
unsigned int kverbs_queue_post_list(struct kverbs_queue *queue, struct kverbs_req **reqs,
				    unsigned int nr, struct kverbs_chain *chain, int *error)
{
	bool broken;
	unsigned int i;

	spin_lock_bh(&queue->lock);
	nr = count_slots(queue, nr, error);
	for (i = 0; i < nr; i++)
		link_one(queue, reqs[i], &chain->wrs[i].wr,
			 i + 1 < nr ? &chain->wrs[i + 1].wr : NULL);
	if (nr)
		nr = post_linked(queue, reqs, nr, &chain->wrs[0].wr, error);
	broken = nr && queue->state == KVERBS_QUEUE_CLOSED;
	spin_unlock_bh(&queue->lock);
	if (broken)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	return nr;
}

/**
 * kverbs_queue_post_regs() - post registrations that nobody waits for
 * @queue: the queue
 * @chain: with registrations only
 *
 * The owner's kick is called when they are done.
 *
 * Return: 0, -EAGAIN, -EMSGSIZE, -ENOTCONN, or what the HCA says.
 */
int kverbs_queue_post_regs(struct kverbs_queue *queue, struct kverbs_chain *chain)
{
	struct ib_send_wr *first = link_regs(queue, chain, NULL);
	const struct ib_send_wr *bad = first;
	int ret;

	spin_lock_bh(&queue->lock);
	ret = take_slots(queue, chain->nr_regs);
	if (ret)
		goto out_unlock;
	ret = kverbs_fault() ?: ib_post_send(queue->qp, first, &bad);
	if (ret)
		ret = undo_post(queue, NULL, chain, posted_before(first, bad), ret);
	else
		mark_regs(chain, chain->nr_regs);
out_unlock:
	spin_unlock_bh(&queue->lock);
	return ret;
}

static bool sweep_first(struct kverbs_queue *queue, struct list_head *list)
{
	struct kverbs_req *req;

	spin_lock_bh(&queue->lock);
	req = list_first_entry_or_null(list, struct kverbs_req, entry);
	spin_unlock_bh(&queue->lock);
	if (!req)
		return false;
	if (!req->result) {
		req->result = -EIO;
		req->wc_status = IB_WC_WR_FLUSH_ERR;
	}
	if (list == &queue->parked)
		kverbs_queue_fail_parked(queue, req, req->result);
	else
		kverbs_req_finish(req);
	return true;
}

/**
 * kverbs_queue_sweep() - end all operations that are left
 * @queue: the queue, closed, its queue pair gone
 *
 * Left are parked receives, what failed, what a queue pair took only in part, and
 * what siw does not flush.
 */
void kverbs_queue_sweep(struct kverbs_queue *queue)
{
	while (sweep_first(queue, &queue->posted))
		;
	while (sweep_first(queue, &queue->posted_recvs))
		;
	while (sweep_first(queue, &queue->parked))
		;
}
