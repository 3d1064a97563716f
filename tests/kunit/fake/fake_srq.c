// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake device's shared receive queues. */
#include "fake_hca.h"
#include "fake_qp.h"

/**
 * struct fake_srq - a shared receive queue
 * @ib: the queue
 * @max_wr: its capacity
 * @max_sge: entries of one receive
 * @limit: an event is raised when fewer receives are left, 0: none is
 */
struct fake_srq {
	struct ib_srq ib;
	unsigned int max_wr;
	unsigned int max_sge;
	unsigned int limit;
};

static struct fake_srq *to_fake_srq(struct ib_srq *ib)
{
	return container_of(ib, struct fake_srq, ib);
}

static int create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	struct fake_srq *srq = to_fake_srq(ib);
	int ret;

	ret = fake_hca_fails(hca, FAKE_CREATE_SRQ);
	if (ret)
		return ret;
	if (!init->attr.max_wr || init->attr.max_wr > hca->limits.max_srq_wr ||
	    !init->attr.max_sge || init->attr.max_sge > hca->limits.max_srq_sge)
		return -EINVAL;
	srq->max_wr = init->attr.max_wr;
	srq->max_sge = init->attr.max_sge;
	atomic_inc(&hca->nr_srqs);
	return 0;
}

/* Receives that are left do not complete. */
static int destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&hca->lock, flags);
	for (i = 0; i < hca->nr_recvs; i++)
		if (hca->recvs[i].srq == ib)
			hca->recvs[i].ended = true;
	spin_unlock_irqrestore(&hca->lock, flags);
	atomic_dec(&hca->nr_srqs);
	return 0;
}

static int modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	int ret = fake_hca_fails(to_fake_hca(ib->device), FAKE_MODIFY_SRQ);

	if (!ret && mask & IB_SRQ_LIMIT)
		WRITE_ONCE(to_fake_srq(ib)->limit, attr->srq_limit);
	return ret;
}

static struct fake_wr *first_free(struct fake_hca *hca, const struct ib_srq *ib,
				  unsigned int *nr)
{
	struct fake_wr *first = NULL;
	unsigned int i;

	lockdep_assert_held(&hca->lock);
	*nr = 0;
	for (i = 0; i < hca->nr_recvs; i++) {
		struct fake_wr *wr = &hca->recvs[i];

		if (wr->srq != ib || wr->qp || wr->ended)
			continue;
		first = first ?: wr;
		++*nr;
	}
	return first;
}

static int accept(struct fake_hca *hca, struct fake_srq *srq, const struct ib_recv_wr *wr)
{
	struct fake_wr *to;
	unsigned int nr;

	first_free(hca, &srq->ib, &nr);
	if (nr == srq->max_wr || hca->nr_recvs == FAKE_WRS)
		return -ENOMEM;
	if (wr->num_sge > srq->max_sge)
		return -EINVAL;
	to = &hca->recvs[hca->nr_recvs++];
	*to = (struct fake_wr) {
		.srq = &srq->ib,
		.cqe = wr->wr_cqe,
		.num_sge = wr->num_sge,
	};
	memcpy(to->sges, wr->sg_list, min(wr->num_sge, FAKE_SGES) * sizeof(*to->sges));
	return 0;
}

static int post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&hca->lock, flags);
	ret = fake_hca_fails(hca, FAKE_POST_SRQ_RECV) ?: accept(hca, to_fake_srq(ib), wr);
	spin_unlock_irqrestore(&hca->lock, flags);
	if (ret)
		*bad = wr;
	return ret;
}

const struct ib_device_ops fake_srq_ops = {
	.create_srq	= create_srq,
	.destroy_srq	= destroy_srq,
	.modify_srq	= modify_srq,
	.post_srq_recv	= post_srq_recv,
	INIT_RDMA_OBJ_SIZE(ib_srq, fake_srq, ib),
};

static void raise(struct ib_srq *ib, enum ib_event_type type)
{
	struct ib_event event = { .device = ib->device, .element.srq = ib, .event = type };

	ib->event_handler(&event, ib->srq_context);
}

/**
 * fake_srq_take() - let a message begin
 * @qp: the queue pair that it is for
 *
 * Return: the receive of the shared queue that it has taken, to be completed; or NULL.
 */
struct fake_wr *fake_srq_take(struct ib_qp *qp)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	struct fake_srq *srq = to_fake_srq(qp->srq);
	struct fake_wr *wr;
	unsigned long flags;
	unsigned int nr;
	bool low;

	spin_lock_irqsave(&hca->lock, flags);
	wr = first_free(hca, qp->srq, &nr);
	if (wr)
		wr->qp = qp;
	low = wr && nr - 1 < srq->limit;
	if (low)
		srq->limit = 0;
	spin_unlock_irqrestore(&hca->lock, flags);
	if (low)
		raise(qp->srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return wr;
}

/**
 * fake_srq_fail() - let the device give a shared queue up
 * @ib: the queue
 */
void fake_srq_fail(struct ib_srq *ib)
{
	raise(ib, IB_EVENT_SRQ_ERR);
}

/**
 * fake_srq_limit() - below how many receives the device raises an event
 * @ib: the queue
 *
 * Return: the limit, 0 if it raises none.
 */
unsigned int fake_srq_limit(struct ib_srq *ib)
{
	return READ_ONCE(to_fake_srq(ib)->limit);
}
