/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_QP_H
#define KVERBS_CONN_QP_H

#include "conn.h"

extern const struct kverbs_queue_ops kverbs_conn_queue_ops;

int kverbs_conn_setup_qp(struct kverbs_conn *conn);
void kverbs_conn_quiesce(struct kverbs_conn *conn);
void kverbs_conn_destroy_qp(struct kverbs_conn *conn);

#endif /* KVERBS_CONN_QP_H */
