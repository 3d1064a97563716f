// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues. */
#include <linux/slab.h>

#include "hca.h"

/**
 * struct hca_cq - a completion queue
 * @ib: the queue of ib_core
 * @lock: protects all members below
 * @wcs: array of the requested size
 * @head: number of completions ever read
 * @tail: number of completions ever written
 * @armed: the next completion raises an event
 */
struct hca_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *wcs;
	u32 head;
	u32 tail;
	bool armed;
};

static struct hca_cq *to_hca_cq(struct ib_cq *ib)
{
	return container_of(ib, struct hca_cq, ib);
}

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct HCA_CQ_CALLER *caller)
{
	struct hca_cq *cq = to_hca_cq(ib);

	cq->wcs = kvcalloc(attr->cqe, sizeof(*cq->wcs), GFP_KERNEL);
	if (!cq->wcs)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	ib->cqe = attr->cqe;
	return 0;
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_hca_cq(ib)->wcs);
	return 0;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct hca_cq *cq = to_hca_cq(ib);
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed && notify & IB_CQ_REPORT_MISSED_EVENTS;
}

static int poll_cq(struct ib_cq *ib, int room, struct ib_wc *wcs)
{
	struct hca_cq *cq = to_hca_cq(ib);
	unsigned long flags;
	int nr;

	spin_lock_irqsave(&cq->lock, flags);
	for (nr = 0; nr < room && cq->head != cq->tail; nr++)
		wcs[nr] = cq->wcs[cq->head++ % ib->cqe];
	spin_unlock_irqrestore(&cq->lock, flags);
	return nr;
}

/**
 * hca_cq_push() - write a completion to a queue
 * @ib: the queue; it is a bug of its owner if it has no room
 * @wc: the completion
 */
void hca_cq_push(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct hca_cq *cq = to_hca_cq(ib);
	unsigned long flags;
	bool tell;

	spin_lock_irqsave(&cq->lock, flags);
	if (!WARN_ON_ONCE(cq->tail - cq->head == ib->cqe))
		cq->wcs[cq->tail++ % ib->cqe] = *wc;
	tell = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (tell)
		ib->comp_handler(ib, ib->cq_context);
}

const struct ib_device_ops hca_cq_ops = {
	.create_cq	= create_cq,
	.destroy_cq	= destroy_cq,
	.poll_cq	= poll_cq,
	.req_notify_cq	= req_notify_cq,
	INIT_RDMA_OBJ_SIZE(ib_cq, hca_cq, ib),
};
