// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for all that is left of a queue pair's work. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <rdma/ib_verbs.h>

#include "cq.h"
#include "drain.h"

/**
 * struct last - a work request behind which none follows
 * @cqe: its completion
 * @done: it has come, and so have all before it
 */
struct last {
	struct ib_cqe cqe;
	struct completion done;
};

static void last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct last, cqe)->done);
}

static void init_last(struct last *last)
{
	last->cqe.done = last_done;
	init_completion(&last->done);
}

static void await(struct last *last, struct kverbs_cq_set *set)
{
	for (;;) {
		kverbs_cq_set_poll(set);
		if (try_wait_for_completion(&last->done))
			return;
		usleep_range(10, 20);
	}
}

static int drain_recvs(struct ib_qp *qp, struct kverbs_cq_set *set)
{
	struct last last;
	struct ib_recv_wr wr = { .wr_cqe = &last.cqe };
	int ret;

	init_last(&last);
	ret = ib_post_recv(qp, &wr, NULL);
	if (!ret)
		await(&last, set);
	return ret;
}

static int drain_sends(struct ib_qp *qp, struct kverbs_cq_set *set)
{
	struct last last;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &last.cqe, .opcode = IB_WR_RDMA_WRITE },
	};
	int ret;

	init_last(&last);
	ret = ib_post_send(qp, &wr.wr, NULL);
	if (!ret)
		await(&last, set);
	return ret;
}

/* Receives first, since their completions may lead to sends. */
static int drain_polling(struct ib_qp *qp, struct kverbs_cq_set *set)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (!ret)
		ret = drain_recvs(qp, set);
	if (!ret)
		ret = drain_sends(qp, set);
	return ret;
}

/**
 * kverbs_drain() - wait until all work of a queue pair is complete
 * @qp: the queue pair, to which nobody posts any more; with a slot free in each queue
 * @set: its completion queues
 *
 * Of a direct queue ib_drain_qp() takes completions itself, beside those who poll:
 * they would overtake each other, those of others in that queue, too. So this does what it
 * does, but polls as everybody does. What a device refuses, of which it may know more, is
 * left to ib_drain_qp() while nobody else polls.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_drain(struct ib_qp *qp, struct kverbs_cq_set *set)
{
	if (set->direct && !drain_polling(qp, set))
		return;
	if (set->direct)
		mutex_lock(&set->lock);
	ib_drain_rq(qp);
	ib_drain_sq(qp);
	if (set->direct)
		mutex_unlock(&set->lock);
}
