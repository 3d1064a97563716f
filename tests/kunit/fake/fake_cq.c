// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake device's completion queues. */
#include <linux/slab.h>

#include "fake_hca.h"

/**
 * struct fake_cq - a completion queue
 * @ib: the queue
 * @lock: protects all members below
 * @wcs: array of the requested size
 * @head: number of completions ever read
 * @tail: number of completions ever written
 * @armed: the next completion raises an event
 */
struct fake_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *wcs;
	unsigned int head;
	unsigned int tail;
	bool armed;
};

static struct fake_cq *to_fake_cq(struct ib_cq *ib)
{
	return container_of(ib, struct fake_cq, ib);
}

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct FAKE_CQ_CALLER *caller)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	struct fake_cq *cq = to_fake_cq(ib);
	int ret;

	ret = fake_hca_fails(hca, FAKE_CREATE_CQ);
	if (ret)
		return ret;
	cq->wcs = kvcalloc(attr->cqe, sizeof(*cq->wcs), GFP_KERNEL);
	if (!cq->wcs)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	ib->cqe = attr->cqe;
	/* The restrack of an unregistered device cannot list the queue. */
	ib->res.no_track = !hca->registered;
	atomic_inc(&hca->nr_cqs);
	return 0;
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_fake_cq(ib)->wcs);
	atomic_dec(&to_fake_hca(ib->device)->nr_cqs);
	return 0;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct fake_cq *cq = to_fake_cq(ib);
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
	struct fake_cq *cq = to_fake_cq(ib);
	unsigned long flags;
	int nr;

	spin_lock_irqsave(&cq->lock, flags);
	for (nr = 0; nr < room && cq->head != cq->tail; nr++)
		wcs[nr] = cq->wcs[cq->head++ % ib->cqe];
	spin_unlock_irqrestore(&cq->lock, flags);
	return nr;
}

/**
 * fake_cq_flush() - wait until all completions in a queue of IB_POLL_WORKQUEUE are handled
 * @ib: the queue
 */
void fake_cq_flush(struct ib_cq *ib)
{
	queue_work(ib->comp_wq, &ib->work);
	flush_work(&ib->work);
}

/**
 * fake_cq_push() - write a completion to a queue
 * @ib: the queue
 * @wc: the completion; it is lost and counted if the queue is full
 */
void fake_cq_push(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct fake_cq *cq = to_fake_cq(ib);
	unsigned long flags;
	bool tell;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->tail - cq->head == ib->cqe)
		atomic_inc(&to_fake_hca(ib->device)->nr_overflows);
	else
		cq->wcs[cq->tail++ % ib->cqe] = *wc;
	tell = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (tell)
		ib->comp_handler(ib, ib->cq_context);
}

/**
 * fake_hca_set_cq_ops() - set a device's operations on completion queues
 * @hca: the device
 */
void fake_hca_set_cq_ops(struct fake_hca *hca)
{
	hca->ib.ops.create_cq = create_cq;
	hca->ib.ops.destroy_cq = destroy_cq;
	hca->ib.ops.req_notify_cq = req_notify_cq;
	hca->ib.ops.poll_cq = poll_cq;
	hca->ib.ops.size_ib_cq = sizeof(struct fake_cq);
}
