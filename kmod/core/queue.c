// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Slots of one queue pair: taken by posting, given back by completions. */
#include <linux/kverbs.h>

#include "cq.h"
#include "mr.h"
#include "opcode.h"
#include "queue.h"
#include "quirks.h"
#include "trace.h"
#include "verbs.h"
#include "wait.h"

/**
 * kverbs_queue_init() - make a queue that has no queue pair yet
 * @queue: the queue
 * @ops: events for the owner
 * @sq_depth: send slots
 * @rq_depth: receive slots
 */
void kverbs_queue_init(struct kverbs_queue *queue, const struct kverbs_queue_ops *ops,
		       unsigned int sq_depth, unsigned int rq_depth)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->posted);
	INIT_LIST_HEAD(&queue->posted_recvs);
	INIT_LIST_HEAD(&queue->deferred);
	INIT_LIST_HEAD(&queue->held);
	INIT_LIST_HEAD(&queue->held_recvs);
	init_waitqueue_head(&queue->released);
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
 * Return: 0, or -EINVAL if more receives than that are already deferred.
 */
int kverbs_queue_resize(struct kverbs_queue *queue, unsigned int sq_depth,
			unsigned int rq_depth)
{
	unsigned int deferred;
	int ret = 0;

	spin_lock_bh(&queue->lock);
	deferred = queue->rq_depth - queue->rq_free;
	if (deferred > rq_depth) {
		ret = -EINVAL;
	} else {
		queue->sq_depth = sq_depth;
		queue->sq_free = sq_depth;
		queue->rq_depth = rq_depth;
		queue->rq_free = rq_depth - deferred;
	}
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_set_pooled() - accept receives from a pool, and no others
 * @queue: the queue, without a queue pair
 *
 * Return: 0, or -EINVAL if other receives were accepted before.
 */
int kverbs_queue_set_pooled(struct kverbs_queue *queue)
{
	int ret = 0;

	spin_lock_bh(&queue->lock);
	if (queue->rq_free != queue->rq_depth || !list_empty(&queue->held_recvs))
		ret = -EINVAL;
	else
		queue->pooled = true;
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_open() - attach the queue pair, so that receives can be posted
 * @queue: the queue
 * @qp: the queue pair, in INIT
 */
void kverbs_queue_open(struct kverbs_queue *queue, struct ib_qp *qp)
{
	spin_lock_bh(&queue->lock);
	queue->qp = qp;
	queue->ib = qp->device;
	queue->local_lkey = qp->pd->local_dma_lkey;
	if (queue->state == KVERBS_QUEUE_NEW)
		queue->state = KVERBS_QUEUE_RECV;
	spin_unlock_bh(&queue->lock);
}

/**
 * kverbs_queue_up() - let every operation be posted, since the connection is established
 * @queue: the queue
 *
 * Return: 0, or -ENOTCONN if the queue is already closed.
 */
int kverbs_queue_up(struct kverbs_queue *queue)
{
	int ret = 0;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_RECV) {
		/* Pairs with kverbs_queue_check_up(): the limits are set, and the PD is. */
		smp_store_release(&queue->state, KVERBS_QUEUE_UP);
	} else {
		ret = -ENOTCONN;
	}
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_close() - let nothing be posted after this returns
 * @queue: the queue
 */
void kverbs_queue_close(struct kverbs_queue *queue)
{
	spin_lock_bh(&queue->lock);
	queue->state = KVERBS_QUEUE_CLOSED;
	spin_unlock_bh(&queue->lock);
}

/**
 * kverbs_queue_check_up() - whether operations other than receives can be posted
 * @queue: the queue
 *
 * Return: 0 or -ENOTCONN.
 */
int kverbs_queue_check_up(struct kverbs_queue *queue)
{
	/* Pairs with kverbs_queue_up(): what the caller reads next was set before. */
	if (smp_load_acquire(&queue->state) != KVERBS_QUEUE_UP || !kverbs_queue_is_right(queue))
		return -ENOTCONN;
	return 0;
}

static bool is_idle(const struct kverbs_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	return queue->sq_free == queue->sq_depth && queue->rq_free == queue->rq_depth &&
	       list_empty(&queue->held) && list_empty(&queue->held_recvs);
}

/**
 * kverbs_queue_reserve() - accept privileged operations only
 * @queue: the queue
 *
 * The check and the change are one step for all callers that post.
 *
 * Return: 0; -ENOTCONN if the queue is not up; -EBUSY if an operation is in flight, the queue
 * is already reserved, or its receives come from a pool.
 */
int kverbs_queue_reserve(struct kverbs_queue *queue)
{
	int ret = 0;

	spin_lock_bh(&queue->lock);
	if (queue->state != KVERBS_QUEUE_UP)
		ret = -ENOTCONN;
	else if (queue->reserved || queue->pooled || !is_idle(queue))
		ret = -EBUSY;
	else
		queue->reserved = true;
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_unreserve() - undo kverbs_queue_reserve()
 * @queue: the queue
 */
void kverbs_queue_unreserve(struct kverbs_queue *queue)
{
	spin_lock_bh(&queue->lock);
	queue->reserved = false;
	spin_unlock_bh(&queue->lock);
}

static bool is_barred(const struct kverbs_queue *queue, const struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	return queue->reserved && !req->privileged;
}

static void count(struct kverbs_queue *queue, struct kverbs_req *req)
{
	if (req->result) {
		/* Do not count flushed operations: the error came before them. */
		queue->errors += req->wc_status != IB_WC_WR_FLUSH_ERR;
		return;
	}
	queue->ops_done++;
	if (kverbs_opcode_has(req->opcode, KVERBS_OPF_WRITES))
		queue->bytes_in += req->byte_len;
	else
		queue->bytes_out += req->byte_len;
}

static void retire_sends(struct kverbs_queue *queue, unsigned int nr_slots)
{
	lockdep_assert_held(&queue->lock);
	queue->sq_free += nr_slots;
	queue->nr_retired += nr_slots;
}

/* Gives the slots of a completed operation back. */
static void retire(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	if (kverbs_opcode_has(req->opcode, KVERBS_OPF_RECV))
		queue->rq_free += req->nr_wrs;
	else
		retire_sends(queue, req->nr_wrs);
	count(queue, req);
}

/*
 * Held operations are posted in batches. Operations in flight hold the other slots, and their
 * completions check again.
 */
static bool has_room(unsigned int free, unsigned int depth)
{
	return free >= DIV_ROUND_UP(depth, 4);
}

static bool wants_kick(const struct kverbs_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (queue->state != KVERBS_QUEUE_UP)
		return false;
	if (!list_empty(&queue->held) && has_room(queue->sq_free, queue->sq_depth))
		return true;
	if (((queue->pooled && !queue->shared) || !list_empty(&queue->held_recvs)) &&
	    has_room(queue->rq_free, queue->rq_depth))
		return true;
	return !list_empty(&queue->deferred);
}

/* After a failure the MRs are in an unknown state and stay until the queue pair is destroyed. */
static void return_sinks(struct list_head *done_list)
{
	struct kverbs_req *req;

	list_for_each_entry(req, done_list, entry) {
		if (!req->result)
			kverbs_req_return_sinks(req);
		req->sinks = NULL;
	}
}

/* The one way out for every accepted operation. */
static void end_all(struct kverbs_queue *queue, struct list_head *done_list, bool kick)
{
	struct kverbs_req *req;

	if (kick)
		queue->ops->kick(queue);
	list_for_each_entry(req, done_list, entry)
		trace_kverbs_complete(req);
	if (queue->quirks & KVERBS_QUIRK_READ_SINK)
		return_sinks(done_list);
	kverbs_req_unuse_list(done_list);
	/* ->done() pops every operation at the head of the list that has the same ->done(). */
	while ((req = list_first_entry_or_null(done_list, struct kverbs_req, entry)))
		req->done(done_list);
}

static void finish(struct kverbs_req *req)
{
	struct kverbs_queue *queue = req->queue;
	LIST_HEAD(done_list);
	bool kick;

	spin_lock_bh(&queue->lock);
	list_move(&req->entry, &done_list);
	retire(queue, req);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	end_all(queue, &done_list, kick);
}

/* The first of the coalesced operations that the completion of @req also covers. */
static struct kverbs_req *first_coalesced(struct kverbs_queue *queue, struct kverbs_req *req)
{
	struct kverbs_req *first = req, *before;

	while (!list_is_first(&first->entry, &queue->posted)) {
		before = list_prev_entry(first, entry);
		if (!before->coalesced || before->result)
			break;
		first = before;
	}
	return first;
}

/* A send queue completes in order, so the coalesced operations before @req succeeded. */
static void retire_coalesced(struct kverbs_queue *queue, struct kverbs_req *first,
			     struct kverbs_req *req)
{
	for (; first != req; first = list_next_entry(first, entry)) {
		first->byte_len = first->length;
		retire(queue, first);
	}
}

/* Completes the coalesced operations before @req, and @req itself if it is the @last. */
static void finish_up_to(struct kverbs_req *req, bool last)
{
	struct kverbs_queue *queue = req->queue;
	struct kverbs_req *first;
	LIST_HEAD(done_list);
	bool kick;

	spin_lock_bh(&queue->lock);
	first = first_coalesced(queue, req);
	retire_coalesced(queue, first, req);
	if (last)
		retire(queue, req);
	if (last || first != req)
		list_bulk_move_tail(&done_list, &first->entry,
				    last ? &req->entry : req->entry.prev);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	end_all(queue, &done_list, kick);
}

/*
 * A failed operation ends its connection, and completes only when the queue pair is gone:
 * siw may complete a READ twice when it flushes.
 */
static void note_failure(struct kverbs_req *req, enum ib_wc_status status)
{
	if (req->result)
		return;
	req->result = -EIO;
	req->wc_status = status;
	req->queue->ops->broken(req->queue, status);
}

/* An error proves that the operations before it succeeded; a flush does not. */
static void send_failed(struct kverbs_req *req, enum ib_wc_status status)
{
	if (!req->result && status != IB_WC_WR_FLUSH_ERR)
		finish_up_to(req, false);
	note_failure(req, status);
}

/* A work request other than the last of its operation completes only if it fails. */
static void part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		send_failed(container_of(wc->wr_cqe, struct kverbs_req, part), wc->status);
}

static void last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_req *req = container_of(wc->wr_cqe, struct kverbs_req, last);

	if (wc->status != IB_WC_SUCCESS)
		send_failed(req, wc->status);
	if (req->result)
		return;
	req->byte_len = req->length;
	finish_up_to(req, true);
}

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_mr *mr = container_of(wc->wr_cqe, struct kverbs_mr, cqe);
	struct kverbs_queue *queue = mr->owner;
	bool kick;

	spin_lock_bh(&queue->lock);
	retire_sends(queue, 1);
	if (wc->status == IB_WC_SUCCESS)
		WRITE_ONCE(mr->state, KVERBS_MR_VALID);
	kick = wants_kick(queue);
	spin_unlock_bh(&queue->lock);
	if (wc->status != IB_WC_SUCCESS)
		queue->ops->broken(queue, wc->status);
	else if (kick)
		queue->ops->kick(queue);
}

/* Links the registrations before @next, each signalled: a receive may wait for one. */
static struct ib_send_wr *link_regs(struct kverbs_queue *queue,
				    struct kverbs_chain *chain,
				    struct ib_send_wr *next)
{
	unsigned int i;

	for (i = chain->nr_regs; i > 0; i--) {
		struct kverbs_mr *mr = chain->regs[i - 1];

		mr->owner = queue;
		mr->cqe.done = reg_done;
		mr->wr.wr.wr_cqe = &mr->cqe;
		mr->wr.wr.send_flags = IB_SEND_SIGNALED;
		mr->wr.wr.next = next;
		next = &mr->wr.wr;
	}
	return next;
}

/* Links the registrations of sinks, which belong to the operation, before @next. */
static struct ib_send_wr *link_sinks(struct kverbs_req *req, struct kverbs_chain *chain,
				     struct ib_send_wr *next)
{
	unsigned int i;

	for (i = chain->nr_regs; i > 0; i--) {
		struct ib_send_wr *wr = &chain->regs[i - 1]->wr.wr;

		wr->wr_cqe = &req->part;
		wr->send_flags = 0;
		wr->next = next;
		next = wr;
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

/* True if operations were accepted before @req, NULL for a registration, that must go first. */
static bool must_wait(const struct kverbs_queue *queue, const struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	return req && !req->held && !req->privileged && !list_empty(&queue->held);
}

static int take_slots(struct kverbs_queue *queue, const struct kverbs_req *req,
		      unsigned int nr)
{
	lockdep_assert_held(&queue->lock);
	if (queue->state != KVERBS_QUEUE_UP)
		return -ENOTCONN;
	if (nr > queue->sq_depth)
		return -EMSGSIZE;
	if (must_wait(queue, req))
		return -EAGAIN;
	if (nr > queue->sq_free)
		return -EAGAIN;
	queue->sq_free -= nr;
	return 0;
}

/*
 * How many work requests the HCA accepted although posting the chain failed. If @bad is NULL
 * that is not known, and all of them count, so that none is lost sight of.
 */
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

/* A held operation is on a list already, and stays the first one if it is not posted. */
static void enter_posted(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	if (req->held)
		list_move_tail(&req->entry, &queue->posted);
	else
		list_add_tail(&req->entry, &queue->posted);
}

static void leave_posted(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	if (req->held)
		list_move(&req->entry, &queue->held);
	else
		list_del(&req->entry);
}

/*
 * Posting the chain failed. If the HCA accepted none of its work requests, the operation
 * is still the caller's. If it accepted a part, that part cannot be taken back: the
 * operation counts as posted, the connection ends, and the drain completes it.
 */
static int undo_post(struct kverbs_queue *queue, struct kverbs_req *req,
		     struct kverbs_chain *chain, unsigned int posted, int err)
{
	unsigned int regs = chain->sinks ? 0 : min(posted, chain->nr_regs);

	mark_regs(chain, regs);
	if (!chain->sinks)
		queue->sq_free += chain->nr_regs - regs;
	if (posted > regs) {
		req->result = -EIO;
		req->wc_status = IB_WC_GENERAL_ERR;
		/* Stop posting: a later operation could succeed before this failure is reported. */
		queue->state = KVERBS_QUEUE_CLOSED;
		return 0;
	}
	if (req) {
		leave_posted(queue, req);
		queue->sq_free += req->nr_wrs;
	}
	return err;
}

static void claim(struct kverbs_queue *queue, struct kverbs_req *req,
		  unsigned int nr_wrs)
{
	req->queue = queue;
	req->part.done = part_done;
	req->last.done = last_done;
	req->nr_wrs = nr_wrs;
}

/**
 * kverbs_queue_post() - hand an operation other than RECV to the HCA
 * @queue: the queue
 * @req: the operation; @done is called if and only if this returns 0
 * @chain: its work requests
 *
 * Context: process or softirq.
 * Return: 0; -EAGAIN if too few slots are free; -EMSGSIZE if the queue is too small;
 * -EBUSY if it is reserved; -ENOTCONN; or the error of the HCA.
 */
int kverbs_queue_post(struct kverbs_queue *queue, struct kverbs_req *req,
		      struct kverbs_chain *chain)
{
	unsigned int slots = chain->nr_wrs + (chain->sinks ? 0 : chain->nr_regs);
	struct ib_send_wr *wrs = link_req(req, chain);
	struct ib_send_wr *first = chain->sinks ? link_sinks(req, chain, wrs) :
						  link_regs(queue, chain, wrs);
	const struct ib_send_wr *bad;
	bool broken = false;
	int ret;

	claim(queue, req, chain->nr_wrs);
	req->coalesced = false;
	spin_lock_bh(&queue->lock);
	ret = is_barred(queue, req) ? -EBUSY : take_slots(queue, req, slots);
	if (ret)
		goto out_unlock;
	enter_posted(queue, req);
	ret = kverbs_ib_post_send(queue, first, &bad);
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
	/* The last of a chain is signalled, or its completion would never be reported. */
	if (!next)
		req->coalesced = false;
	if (!req->coalesced)
		wr->send_flags |= IB_SEND_SIGNALED;
}

static unsigned int count_slots(const struct kverbs_queue *queue,
				const struct kverbs_req *first, unsigned int nr, int *error)
{
	lockdep_assert_held(&queue->lock);
	*error = 0;
	if (queue->state != KVERBS_QUEUE_UP)
		*error = -ENOTCONN;
	else if (is_barred(queue, first))
		*error = -EBUSY;
	else if (must_wait(queue, first) || nr > queue->sq_free)
		*error = -EAGAIN;
	if ((*error && *error != -EAGAIN) || must_wait(queue, first))
		return 0;
	return min(nr, queue->sq_free);
}

/* True if @reqs ends in coalesced operations and the owner of one expects a completion. */
static bool owner_would_miss(struct kverbs_req **reqs, unsigned int nr)
{
	for (; nr && reqs[nr - 1]->coalesced; nr--)
		if (!reqs[nr - 1]->unsignalled)
			return true;
	return false;
}

/*
 * If ib_post_send() accepted only a prefix, that prefix stays posted. If the prefix ends in
 * a coalesced operation whose owner expects a completion, or if it is not known how long it
 * is, the queue is closed: the flush completes the operations.
 */
static unsigned int post_linked(struct kverbs_queue *queue, struct kverbs_req **reqs,
				unsigned int nr, const struct ib_send_wr *first, int *error)
{
	const struct ib_send_wr *bad;
	unsigned int i, posted = nr;
	int ret;

	for (i = 0; i < nr; i++)
		enter_posted(queue, reqs[i]);
	ret = kverbs_ib_post_send(queue, first, &bad);
	if (ret)
		posted = posted_before(first, bad);
	if (posted < nr)
		*error = ret;
	for (i = 0; i < nr; i++)
		trace_kverbs_post(queue, reqs[i], 0, i < posted ? 0 : ret);
	for (i = nr; i > posted; i--)
		leave_posted(queue, reqs[i - 1]);
	queue->sq_free -= posted;
	if ((ret && posted == nr) || owner_would_miss(reqs, posted))
		queue->state = KVERBS_QUEUE_CLOSED;
	return posted;
}

/**
 * kverbs_queue_post_list() - hand operations of one work request each to the HCA
 * @queue: the queue
 * @reqs: the operations, none of them a RECV; @done is called for those that are posted
 * @nr: how many, at least 1
 * @chain: their work requests, one after the other; no registrations
 * @error: why not all were posted, as for kverbs_queue_post(); else 0
 *
 * The last operation is signalled, even if it is marked as coalesced.
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
	nr = count_slots(queue, reqs[0], nr, error);
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
 * kverbs_queue_post_regs() - post registrations without waiting for them
 * @queue: the queue
 * @chain: with registrations only
 *
 * kverbs_queue_ops.kick is called when they have completed.
 *
 * Return: 0, -EAGAIN, -EMSGSIZE, -ENOTCONN, or the error of the HCA.
 */
int kverbs_queue_post_regs(struct kverbs_queue *queue, struct kverbs_chain *chain)
{
	struct ib_send_wr *first = link_regs(queue, chain, NULL);
	const struct ib_send_wr *bad = first;
	int ret;

	spin_lock_bh(&queue->lock);
	ret = take_slots(queue, NULL, chain->nr_regs);
	if (ret)
		goto out_unlock;
	ret = kverbs_ib_post_send(queue, first, &bad);
	if (ret)
		ret = undo_post(queue, NULL, chain, posted_before(first, bad), ret);
	else
		mark_regs(chain, chain->nr_regs);
out_unlock:
	spin_unlock_bh(&queue->lock);
	if (ret && !bad)
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	return ret;
}

static void note_message(struct kverbs_req *req, const struct ib_wc *wc)
{
	req->byte_len = wc->byte_len;
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		req->flags |= KVERBS_CQE_F_IMM;
		req->imm = (__force u32)wc->ex.imm_data;
	}
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		req->flags |= KVERBS_CQE_F_INV;
		req->imm = wc->ex.invalidate_rkey;
		req->queue->ops->revoked(req->queue, req->imm);
	}
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		req->flags |= KVERBS_CQE_F_WRITE;
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_req *req = container_of(wc->wr_cqe, struct kverbs_req, last);

	if (wc->status != IB_WC_SUCCESS) {
		note_failure(req, wc->status);
		return;
	}
	note_message(req, wc);
	finish(req);
}

static void note_flush(struct kverbs_req *req)
{
	req->result = -EIO;
	req->wc_status = IB_WC_WR_FLUSH_ERR;
}

/**
 * kverbs_queue_end_shared() - complete a receive of a shared receive queue
 * @queue: the queue of the connection that it is for
 * @req: the receive, in no list
 * @wc: its completion, NULL if the device never used it: then it is flushed
 *
 * Context: process or softirq.
 */
void kverbs_queue_end_shared(struct kverbs_queue *queue, struct kverbs_req *req,
			     const struct ib_wc *wc)
{
	INIT_LIST_HEAD(&req->entry);
	req->queue = queue;
	req->nr_wrs = 0;
	if (!wc)
		note_flush(req);
	else if (wc->status != IB_WC_SUCCESS)
		note_failure(req, wc->status);
	else
		note_message(req, wc);
	finish(req);
}

static void defer(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	req->queue = queue;
	req->last.done = recv_done;
	req->nr_wrs = 1;
	queue->rq_free--;
	queue->nr_deferred++;
	list_add_tail(&req->entry, &queue->deferred);
}

/* @nr: how many receives like @first there are. */
static int check_defer(const struct kverbs_queue *queue, const struct kverbs_req *first,
		       unsigned int nr)
{
	lockdep_assert_held(&queue->lock);
	if (queue->state == KVERBS_QUEUE_CLOSED)
		return -ENOTCONN;
	if (is_barred(queue, first))
		return -EBUSY;
	if (queue->pooled && !first->pooled)
		return -EINVAL;
	return !list_empty(&queue->held_recvs) || nr > queue->rq_free ? -EAGAIN : 0;
}

/**
 * kverbs_queue_defer() - accept receives, to be posted as soon as possible
 * @queue: the queue
 * @reqs: the receives; @done is called for those that are accepted
 * @nr: how many, at least 1
 * @ticket: of the last accepted one, for kverbs_queue_await_posted()
 * @error: why not all were accepted: -EAGAIN for want of a slot, -EBUSY, -ENOTCONN; -EINVAL if
 *	they are not from the pool and all others are; else 0
 *
 * Return: how many were accepted, from the first on.
 */
unsigned int kverbs_queue_defer(struct kverbs_queue *queue, struct kverbs_req **reqs,
				unsigned int nr, u32 *ticket, int *error)
{
	unsigned int i = 0;

	spin_lock_bh(&queue->lock);
	*error = check_defer(queue, reqs[0], nr);
	if (list_empty(&queue->held_recvs) && (!*error || *error == -EAGAIN))
		for (nr = min(nr, queue->rq_free); i < nr; i++)
			defer(queue, reqs[i]);
	*ticket = queue->nr_deferred;
	spin_unlock_bh(&queue->lock);
	return i;
}

static int check_hold(const struct kverbs_queue *queue, const struct kverbs_req *first)
{
	bool recv = kverbs_opcode_has(first->opcode, KVERBS_OPF_RECV);

	lockdep_assert_held(&queue->lock);
	if (queue->state == KVERBS_QUEUE_CLOSED || (!recv && queue->state != KVERBS_QUEUE_UP))
		return -ENOTCONN;
	return is_barred(queue, first) ? -EBUSY : 0;
}

/**
 * kverbs_queue_hold() - accept operations that wait until there are slots for them
 * @queue: the queue
 * @reqs: the operations, all of them receives or none; @done is called if this returns 0
 * @nr: how many, at least 1
 *
 * No completion that an owner expects waits for an operation of a later call.
 *
 * Slots may have become free since the caller found none, and then nothing else would post
 * them: so the caller posts what it can of the held ones afterwards.
 *
 * Return: 0, -ENOTCONN, -EBUSY.
 */
int kverbs_queue_hold(struct kverbs_queue *queue, struct kverbs_req **reqs,
		      unsigned int nr)
{
	bool recv = kverbs_opcode_has(reqs[0]->opcode, KVERBS_OPF_RECV);
	unsigned int i;
	int ret;

	spin_lock_bh(&queue->lock);
	ret = check_hold(queue, reqs[0]);
	for (i = 0; !ret && i < nr; i++) {
		reqs[i]->queue = queue;
		reqs[i]->nr_wrs = 0;
		reqs[i]->held = true;
		reqs[i]->ends_list = i == nr - 1;
		list_add_tail(&reqs[i]->entry, recv ? &queue->held_recvs : &queue->held);
	}
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_peek_held() - the held operations that must be posted next
 * @queue: the queue
 * @reqs: filled in
 * @max: room in @reqs
 *
 * They stay held: posting them, kverbs_queue_fail_held() and kverbs_queue_flush_remaining() take
 * them off, and the owner serialises these.
 *
 * Return: how many, 0 if there are none or the queue is not up.
 */
unsigned int kverbs_queue_peek_held(struct kverbs_queue *queue, struct kverbs_req **reqs,
				    unsigned int max)
{
	struct kverbs_req *req;
	unsigned int nr = 0;

	spin_lock_bh(&queue->lock);
	if (queue->state == KVERBS_QUEUE_UP)
		list_for_each_entry(req, &queue->held, entry) {
			if (nr == max)
				break;
			reqs[nr++] = req;
		}
	spin_unlock_bh(&queue->lock);
	return nr;
}

/**
 * kverbs_queue_fail_held() - complete a held operation that cannot be posted
 * @queue: the queue; its connection ends
 * @req: the first one of kverbs_queue_peek_held()
 * @result: why, -errno
 */
void kverbs_queue_fail_held(struct kverbs_queue *queue, struct kverbs_req *req, int result)
{
	spin_lock_bh(&queue->lock);
	queue->state = KVERBS_QUEUE_CLOSED;
	spin_unlock_bh(&queue->lock);
	req->result = result;
	req->nr_wrs = 0;
	finish(req);
	queue->ops->broken(queue, IB_WC_GENERAL_ERR);
}

/**
 * kverbs_queue_release_recvs() - defer the held receives for which there are slots now
 * @queue: the queue
 */
void kverbs_queue_release_recvs(struct kverbs_queue *queue)
{
	struct kverbs_req *req;

	spin_lock_bh(&queue->lock);
	while (queue->rq_free && queue->state != KVERBS_QUEUE_CLOSED &&
	       !list_empty(&queue->held_recvs)) {
		req = list_first_entry(&queue->held_recvs, struct kverbs_req, entry);
		list_del(&req->entry);
		defer(queue, req);
	}
	spin_unlock_bh(&queue->lock);
}

/* Receives leave the deferred list in the order in which they entered it. */
static void note_released(struct kverbs_queue *queue, unsigned int nr)
{
	lockdep_assert_held(&queue->lock);
	WRITE_ONCE(queue->nr_released, queue->nr_released + nr);
}

static void wake_released(struct kverbs_queue *queue)
{
	if (wq_has_sleeper(&queue->released))
		wake_up_all(&queue->released);
}

/**
 * kverbs_queue_is_posted() - whether a receive is with the HCA
 * @queue: the queue
 * @ticket: of the receive
 *
 * Return: true if it is, or has completed.
 */
bool kverbs_queue_is_posted(struct kverbs_queue *queue, u32 ticket)
{
	return (s32)(READ_ONCE(queue->nr_released) - ticket) >= 0;
}

/**
 * struct parked - a receive that is waited for
 * @queue: the queue
 * @ticket: of the receive
 */
struct parked {
	struct kverbs_queue *queue;
	u32 ticket;
};

static bool parked_is_posted(void *arg)
{
	struct parked *parked = arg;

	return kverbs_queue_is_posted(parked->queue, parked->ticket);
}

/**
 * kverbs_queue_await_posted() - wait until a receive is with the HCA
 * @queue: the queue; returns at once unless it is up
 * @cqs: the completion queues, polled in that time if they are direct
 * @ticket: of the receive
 *
 * After this the peer may be asked to send. A receive is deferred while a registration of
 * its buffer is under way.
 *
 * Context: process, sleeps and can be killed.
 */
void kverbs_queue_await_posted(struct kverbs_queue *queue, struct kverbs_cq_set *cqs,
			       u32 ticket)
{
	struct parked parked = { queue, ticket };

	if (kverbs_queue_check_up(queue))
		return;
	if (cqs->direct)
		kverbs_cq_set_await(cqs, parked_is_posted, &parked, KVERBS_REG_TIMEOUT);
	else
		kverbs_wait_event_timeout(queue->released,
					  kverbs_queue_is_posted(queue, ticket),
					  KVERBS_REG_TIMEOUT);
}

/**
 * kverbs_queue_has_deferred() - whether receives wait to be posted
 * @queue: the queue
 *
 * Return: true if so, whether or not the queue can post them yet.
 */
bool kverbs_queue_has_deferred(struct kverbs_queue *queue)
{
	bool has;

	spin_lock_bh(&queue->lock);
	has = !list_empty(&queue->deferred);
	spin_unlock_bh(&queue->lock);
	return has;
}

static bool has_qp(const struct kverbs_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	return queue->state == KVERBS_QUEUE_RECV || queue->state == KVERBS_QUEUE_UP;
}

/**
 * kverbs_queue_peek_deferred() - the receives that must be posted next
 * @queue: the queue
 * @reqs: filled in
 * @max: room in @reqs
 *
 * They stay deferred: kverbs_queue_post_recv(), kverbs_queue_post_recvs(),
 * kverbs_queue_fail_deferred() and kverbs_queue_flush_remaining() take them off, and the owner
 * serialises these.
 *
 * Return: how many, 0 if there are none or the queue cannot post them yet.
 */
unsigned int kverbs_queue_peek_deferred(struct kverbs_queue *queue, struct kverbs_req **reqs,
					unsigned int max)
{
	struct kverbs_req *req;
	unsigned int nr = 0;

	spin_lock_bh(&queue->lock);
	if (has_qp(queue))
		list_for_each_entry(req, &queue->deferred, entry) {
			if (nr == max)
				break;
			reqs[nr++] = req;
		}
	spin_unlock_bh(&queue->lock);
	return nr;
}

/**
 * kverbs_queue_has_qp() - whether receives can be posted
 * @queue: the queue
 *
 * Context: process or softirq.
 * Return: true from kverbs_queue_open() to kverbs_queue_close().
 */
bool kverbs_queue_has_qp(struct kverbs_queue *queue)
{
	bool has;

	spin_lock_bh(&queue->lock);
	has = has_qp(queue);
	spin_unlock_bh(&queue->lock);
	return has;
}

/* As posted_before(), but a device that refuses its only receive has posted none. */
static unsigned int recvs_before(const struct ib_recv_wr *first, const struct ib_recv_wr *bad)
{
	unsigned int n = 0;

	if (!bad && !first->next)
		return 0;
	for (; first && first != bad; first = first->next)
		n++;
	return n;
}

/*
 * Posts the first deferred receives. Receives that the HCA refuses stay deferred. If its driver
 * does not say which these are, all count as posted, and the queue is closed: the flush completes
 * them.
 */
static unsigned int post_deferred(struct kverbs_queue *queue, struct kverbs_req **reqs,
				  unsigned int nr, const struct ib_recv_wr *first, int *error)
{
	const struct ib_recv_wr *bad;
	unsigned int i, posted = nr;

	lockdep_assert_held(&queue->lock);
	for (i = 0; i < nr; i++)
		list_move_tail(&reqs[i]->entry, &queue->posted_recvs);
	*error = kverbs_ib_post_recv(queue, first, &bad);
	if (*error)
		posted = recvs_before(first, bad);
	for (i = 0; i < nr; i++)
		trace_kverbs_post(queue, reqs[i], 0, i < posted ? 0 : *error);
	for (i = nr; i > posted; i--)
		list_move(&reqs[i - 1]->entry, &queue->deferred);
	note_released(queue, posted);
	if (*error && posted == nr)
		queue->state = KVERBS_QUEUE_CLOSED;
	return posted;
}

/* If this fails, the receive is still deferred. */
static int post_first_deferred(struct kverbs_queue *queue, struct kverbs_req *req,
			       struct ib_sge *sges, int nr)
{
	/* Some drivers look at the first entry even if there is none. */
	static struct ib_sge nothing;
	const struct ib_recv_wr wr = {
		.wr_cqe = &req->last,
		.sg_list = nr ? sges : &nothing,
		.num_sge = nr,
	};
	int ret;

	post_deferred(queue, &req, 1, &wr, &ret);
	return ret;
}

/**
 * kverbs_queue_post_recv() - hand the first deferred receive to the HCA
 * @queue: the queue
 * @req: the first one of kverbs_queue_peek_deferred()
 * @sges: the buffer
 * @nr: entries in @sges
 *
 * Return: 0; -ENOTCONN, or the error of the HCA: then the receive is still deferred.
 */
int kverbs_queue_post_recv(struct kverbs_queue *queue, struct kverbs_req *req,
			   struct ib_sge *sges, int nr)
{
	int ret = -ENOTCONN;

	spin_lock_bh(&queue->lock);
	if (queue->state != KVERBS_QUEUE_CLOSED)
		ret = post_first_deferred(queue, req, sges, nr);
	spin_unlock_bh(&queue->lock);
	if (!ret)
		wake_released(queue);
	return ret;
}

static void link_recvs(struct kverbs_req **reqs, struct ib_recv_wr *wrs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		wrs[i].wr_cqe = &reqs[i]->last;
		wrs[i].next = i + 1 < nr ? &wrs[i + 1] : NULL;
	}
}

/**
 * kverbs_queue_post_recvs() - hand the first deferred receives to the HCA together
 * @queue: the queue
 * @reqs: from kverbs_queue_peek_deferred()
 * @wrs: a work request for each of them, with its entries
 * @nr: how many, at least 2
 * @error: why not all were posted: -ENOTCONN, or the error of the HCA; else 0
 *
 * Return: how many were posted, from the first on; the others are still deferred.
 */
unsigned int kverbs_queue_post_recvs(struct kverbs_queue *queue, struct kverbs_req **reqs,
				     struct ib_recv_wr *wrs, unsigned int nr, int *error)
{
	unsigned int posted = 0;
	bool broken;

	*error = -ENOTCONN;
	link_recvs(reqs, wrs, nr);
	spin_lock_bh(&queue->lock);
	if (queue->state != KVERBS_QUEUE_CLOSED)
		posted = post_deferred(queue, reqs, nr, wrs, error);
	spin_unlock_bh(&queue->lock);
	broken = *error && posted == nr;
	if (posted)
		wake_released(queue);
	if (broken) {
		*error = 0;
		queue->ops->broken(queue, IB_WC_GENERAL_ERR);
	}
	return posted;
}

static void undefer_last(struct kverbs_queue *queue, struct kverbs_req *req)
{
	lockdep_assert_held(&queue->lock);
	list_del(&req->entry);
	queue->nr_deferred--;
	queue->rq_free++;
}

/**
 * kverbs_queue_recv_now() - accept a receive, and hand it to the HCA at once
 * @queue: the queue
 * @req: the receive; @done is called if and only if this returns 0
 * @sges: the buffer
 * @nr: entries in @sges
 *
 * If other receives are deferred, this one is deferred behind them.
 *
 * Context: process or softirq.
 * Return: 0; as kverbs_queue_defer(); or the error of the HCA.
 */
int kverbs_queue_recv_now(struct kverbs_queue *queue, struct kverbs_req *req,
			  struct ib_sge *sges, int nr)
{
	int ret;

	spin_lock_bh(&queue->lock);
	ret = check_defer(queue, req, 1);
	if (ret)
		goto out_unlock;
	defer(queue, req);
	if (has_qp(queue) && list_is_singular(&queue->deferred)) {
		ret = post_first_deferred(queue, req, sges, nr);
		if (ret)
			undefer_last(queue, req);
	}
out_unlock:
	spin_unlock_bh(&queue->lock);
	return ret;
}

/**
 * kverbs_queue_req() - the operation that a completion belongs to
 * @cqe: of a work request
 *
 * Return: the operation, or NULL if the work request is of none.
 */
const struct kverbs_req *kverbs_queue_req(const struct ib_cqe *cqe)
{
	if (!cqe)
		return NULL;
	if (cqe->done == part_done)
		return container_of(cqe, struct kverbs_req, part);
	if (cqe->done == last_done || cqe->done == recv_done)
		return container_of(cqe, struct kverbs_req, last);
	return NULL;
}

/**
 * kverbs_queue_fail_deferred() - complete a receive that cannot be posted
 * @queue: the queue
 * @req: the first one of kverbs_queue_peek_deferred()
 * @result: why, -errno
 */
void kverbs_queue_fail_deferred(struct kverbs_queue *queue, struct kverbs_req *req,
				int result)
{
	req->result = result;
	finish(req);
	spin_lock_bh(&queue->lock);
	note_released(queue, 1);
	spin_unlock_bh(&queue->lock);
	wake_released(queue);
}

static bool flush_first(struct kverbs_queue *queue, struct list_head *list)
{
	struct kverbs_req *req;

	spin_lock_bh(&queue->lock);
	req = list_first_entry_or_null(list, struct kverbs_req, entry);
	spin_unlock_bh(&queue->lock);
	if (!req)
		return false;
	if (!req->result)
		note_flush(req);
	if (list == &queue->deferred)
		kverbs_queue_fail_deferred(queue, req, req->result);
	else
		finish(req);
	return true;
}

/**
 * kverbs_queue_flush_remaining() - complete all operations that are left
 * @queue: the queue, closed, its queue pair destroyed
 *
 * Deferred and held operations are left, failed ones, operations that the HCA accepted only in
 * part, and operations that siw does not flush.
 */
void kverbs_queue_flush_remaining(struct kverbs_queue *queue)
{
	while (flush_first(queue, &queue->posted))
		;
	while (flush_first(queue, &queue->held))
		;
	while (flush_first(queue, &queue->posted_recvs))
		;
	while (flush_first(queue, &queue->deferred))
		;
	while (flush_first(queue, &queue->held_recvs))
		;
}
