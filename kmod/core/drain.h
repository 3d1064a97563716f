/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_DRAIN_H
#define KVERBS_DRAIN_H

struct ib_qp;
struct kverbs_cq_set;

void kverbs_drain(struct ib_qp *qp, struct kverbs_cq_set *set);

#endif /* KVERBS_DRAIN_H */
