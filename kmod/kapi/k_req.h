/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_K_REQ_H
#define KVERBS_K_REQ_H

#include <kverbs/kverbs.h>

#include "req.h"

struct kverbs_chain;
struct kverbs_conn;
struct kverbs_mr;

/**
 * struct k_req - a request with all that it takes to post it
 * @k: what the module sees
 * @conn: the connection
 * @req: what is posted
 * @chain: its work requests; NULL if @lent
 * @mr: its MR, or NULL. It belongs to the connection, and ends with that
 * @lent: the connection is lent, see struct kverbs_k_conn
 * @may_expose: @mr is for kverbs_k_expose()
 * @is_sink: @mr is the sink of the READ in flight
 */
struct k_req {
	struct kverbs_k_req k;
	struct kverbs_conn *conn;
	struct kverbs_req req;
	struct kverbs_chain *chain;
	struct kverbs_mr *mr;
	bool lent;
	bool may_expose;
	bool is_sink;
};

static inline struct k_req *to_k_req(struct kverbs_k_req *k)
{
	return container_of(k, struct k_req, k);
}

int kverbs_k_req_begin(struct k_req *request);
int kverbs_k_req_post(struct k_req *request);

#endif /* KVERBS_K_REQ_H */
