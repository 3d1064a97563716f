// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues that cannot overflow. */
#include <linux/slab.h>

#include "cq.h"

/* What a new queue has room for, so that a few connections can share it. */
#define CQ_SIZE	2048U

/**
 * kverbs_cq_set_init() - make an empty set
 * @set: the set
 */
void kverbs_cq_set_init(struct kverbs_cq_set *set)
{
	mutex_init(&set->lock);
	INIT_LIST_HEAD(&set->cqs);
}

static struct kverbs_cq *new_cq(struct ib_device *ib, unsigned int nr)
{
	unsigned int size = min_t(unsigned int, max(nr, CQ_SIZE), ib->attrs.max_cqe);
	struct kverbs_cq *cq;
	int ret;

	if (nr > size)
		return ERR_PTR(-EINVAL);
	cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->ib = ib_alloc_cq_any(ib, cq, size, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq->ib)) {
		ret = PTR_ERR(cq->ib);
		kfree(cq);
		return ERR_PTR(ret);
	}
	cq->size = size;
	return cq;
}

/**
 * kverbs_cq_get() - promise completions of a queue
 * @set: where to look and to add
 * @ib: on which device; the caller is its tenant
 * @nr: how many completions may be outstanding
 *
 * Context: process, may sleep.
 * Return: the queue or an ERR_PTR: -EINVAL if the device has no such queue,
 * -ENOMEM, or what the device says.
 */
struct kverbs_cq *kverbs_cq_get(struct kverbs_cq_set *set, struct ib_device *ib,
				unsigned int nr)
{
	struct kverbs_cq *cq;

	mutex_lock(&set->lock);
	list_for_each_entry(cq, &set->cqs, entry)
		if (cq->ib->device == ib && cq->size - cq->used >= nr)
			goto out_promise;
	cq = new_cq(ib, nr);
	if (IS_ERR(cq))
		goto out_unlock;
	list_add(&cq->entry, &set->cqs);
out_promise:
	cq->used += nr;
out_unlock:
	mutex_unlock(&set->lock);
	return cq;
}

/**
 * kverbs_cq_flush() - see to all that is in a queue
 * @cq: the queue
 *
 * A pass takes all that is there when it begins.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_cq_flush(struct kverbs_cq *cq)
{
	queue_work(cq->ib->comp_wq, &cq->ib->work);
	flush_work(&cq->ib->work);
}

/**
 * kverbs_cq_put() - give promised completions back
 * @set: the set
 * @cq: from kverbs_cq_get()
 * @nr: as there
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_cq_put(struct kverbs_cq_set *set, struct kverbs_cq *cq, unsigned int nr)
{
	mutex_lock(&set->lock);
	cq->used -= nr;
	if (!cq->used) {
		list_del(&cq->entry);
		ib_free_cq(cq->ib);
		kfree(cq);
	}
	mutex_unlock(&set->lock);
}
