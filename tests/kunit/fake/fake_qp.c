// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains and queue pairs of a registered fake device. */
#include "fake_qp.h"

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(pd->device);
	int ret;

	ret = fake_hca_fails(hca, FAKE_ALLOC_PD);
	if (ret)
		return ret;
	atomic_inc(&hca->nr_pds);
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	atomic_dec(&to_fake_hca(pd->device)->nr_pds);
	return 0;
}

static bool fits(const struct ib_device_attr *limits, const struct ib_qp_cap *cap)
{
	return cap->max_send_wr <= limits->max_qp_wr &&
	       cap->max_recv_wr <= limits->max_qp_wr &&
	       cap->max_send_sge <= limits->max_send_sge &&
	       cap->max_recv_sge <= limits->max_recv_sge;
}

/* Like mlx4, which refuses a queue pair that has both receive queues. */
static bool has_two_queues(const struct ib_qp_init_attr *attr)
{
	return attr->srq && (attr->cap.max_recv_wr || attr->cap.max_recv_sge);
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	int ret;

	ret = fake_hca_fails(hca, FAKE_CREATE_QP);
	if (ret)
		return ret;
	if (!fits(&hca->limits, &attr->cap) || has_two_queues(attr))
		return -EINVAL;
	ret = xa_insert(&hca->qps, ++hca->last_qpn, ib, GFP_KERNEL);
	if (ret)
		return ret;
	ib->qp_num = hca->last_qpn;
	to_fake_qp(ib)->cap = attr->cap;
	atomic_inc(&hca->nr_qps);
	return 0;
}

/* The CM's id was destroyed before; it is freed with the last reference. */
static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	struct fake_qp *qp = to_fake_qp(ib);

	xa_erase(&hca->qps, ib->qp_num);
	if (qp->cm)
		qp->cm->rem_ref(qp->cm);
	atomic_dec(&hca->nr_qps);
	return 0;
}

static void tell_last_recv(struct fake_hca *hca, struct ib_qp *ib)
{
	struct ib_event event = {
		.device = ib->device,
		.element.qp = ib,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	if (ib->srq && !hca->mute)
		ib->event_handler(&event, ib->qp_context);
}

static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	int ret;

	if (!(mask & IB_QP_STATE))
		return 0;
	if (attr->qp_state != IB_QPS_ERR) {
		ret = fake_hca_fails(hca, FAKE_MODIFY_QP);
		if (ret)
			return ret;
	}
	WRITE_ONCE(to_fake_qp(ib)->state, attr->qp_state);
	if (attr->qp_state == IB_QPS_ERR) {
		fake_hca_flush(hca, ib);
		tell_last_recv(hca, ib);
	}
	return 0;
}

const struct ib_device_ops fake_qp_ops = {
	.alloc_pd	= alloc_pd,
	.dealloc_pd	= dealloc_pd,
	.create_qp	= create_qp,
	.destroy_qp	= destroy_qp,
	.modify_qp	= modify_qp,
	INIT_RDMA_OBJ_SIZE(ib_qp, fake_qp, ib),
};
