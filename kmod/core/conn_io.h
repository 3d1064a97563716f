/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_IO_H
#define KVERBS_CONN_IO_H

#include "conn.h"

bool kverbs_conn_has_atomics(const struct kverbs_conn *conn);
unsigned int kverbs_conn_post_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error);
unsigned int kverbs_conn_recv_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
				   unsigned int nr, int *error);
int kverbs_conn_recv(struct kverbs_conn *conn, struct kverbs_req *req);
bool kverbs_conn_submit_list(struct kverbs_conn *conn, struct kverbs_req **reqs,
			     unsigned int nr, struct kverbs_chain *chain);
void kverbs_conn_submit_recvs(struct kverbs_conn *conn, struct kverbs_req **reqs,
			      unsigned int nr);
void kverbs_conn_refuse(struct kverbs_conn *conn, struct kverbs_req *req, int result);
int kverbs_conn_recv_pooled(struct kverbs_conn *conn, struct kverbs_req **reqs,
			    unsigned int nr);
bool kverbs_conn_post_deferred(struct kverbs_conn *conn, struct kverbs_turn_waiter *waiter);
int kverbs_conn_map(struct kverbs_conn *conn, struct kverbs_region *region);
void kverbs_conn_init_waiters(struct kverbs_conn *conn);
void kverbs_conn_cancel_waiters(struct kverbs_conn *conn);
void kverbs_conn_post_held(struct kverbs_conn *conn);
int kverbs_conn_post_now(struct kverbs_conn *conn, struct kverbs_req *req,
			 struct kverbs_chain *chain, struct kverbs_mr *mr);
unsigned int kverbs_conn_post_list_now(struct kverbs_conn *conn, struct kverbs_req **reqs,
				       unsigned int nr, struct kverbs_chain *chain,
				       int *error);
int kverbs_conn_recv_now(struct kverbs_conn *conn, struct kverbs_req *req,
			 struct kverbs_chain *chain);
int kverbs_conn_invalidate_now(struct kverbs_conn *conn, struct kverbs_req *req,
			       struct kverbs_chain *chain, struct kverbs_mr *mr);

#endif /* KVERBS_CONN_IO_H */
