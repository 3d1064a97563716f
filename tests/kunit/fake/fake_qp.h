/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs of a registered fake device, and their iWARP connections. */
#ifndef KVERBS_FAKE_QP_H
#define KVERBS_FAKE_QP_H

#include <rdma/iw_cm.h>

#include "fake_hca.h"

/**
 * struct fake_qp - a queue pair
 * @ib: the queue pair
 * @cap: its capacity
 * @state: its state; work requests posted in ERR are flushed
 * @cm: id of the connection's iWARP CM, with a reference
 * @asked: this is the active side
 */
struct fake_qp {
	struct ib_qp ib;
	struct ib_qp_cap cap;
	enum ib_qp_state state;
	struct iw_cm_id *cm;
	bool asked;
};

static inline struct fake_qp *to_fake_qp(struct ib_qp *ib)
{
	return container_of(ib, struct fake_qp, ib);
}

/* The queue pair of an unregistered device has neither a number nor a state. */
static inline bool fake_qp_is_broken(struct ib_qp *ib)
{
	return ib->qp_num && READ_ONCE(to_fake_qp(ib)->state) == IB_QPS_ERR;
}

extern const struct ib_device_ops fake_qp_ops;
extern const struct ib_device_ops fake_srq_ops;
extern const struct ib_device_ops fake_iw_ops;

/* fake_iw.c: the peer */
void fake_iw_request(struct fake_hca *hca, const void *priv, u8 len);
void fake_iw_answer(struct fake_hca *hca, int status, const void *priv, u8 len);
void fake_iw_give_up(struct fake_hca *hca);
void fake_iw_close(struct ib_qp *ib);

#endif /* KVERBS_FAKE_QP_H */
