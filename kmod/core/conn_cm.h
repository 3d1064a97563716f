/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_CM_H
#define KVERBS_CONN_CM_H

#include "conn.h"

struct kverbs_conn *kverbs_conn_create(struct net *net,
				       const struct kverbs_conn_attr *attr,
				       const struct sockaddr *src,
				       const struct sockaddr *dst);
void kverbs_conn_start(struct kverbs_conn *conn);
struct kverbs_conn *kverbs_conn_adopt(struct rdma_cm_id *id,
				      const struct rdma_cm_event *event,
				      struct kverbs_backlog *backlog,
				      const struct kverbs_conn_attr *attr);
int kverbs_conn_enter(struct kverbs_conn *conn);
void kverbs_conn_abandon(struct kverbs_conn *conn);
int kverbs_conn_accept(struct kverbs_conn *conn, struct kverbs_conn_attr *attr);
int kverbs_conn_reject(struct kverbs_conn *conn, const void *priv, u8 len);
void kverbs_conn_close(struct kverbs_conn *conn);
int kverbs_conn_close_killable(struct kverbs_conn *conn, bool may_wait);
void kverbs_conn_free(struct kverbs_conn *conn);
void kverbs_conn_forget(struct kverbs_conn *conn, struct kverbs_region *region);

#endif /* KVERBS_CONN_CM_H */
