/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_WR_H
#define KVERBS_WR_H

#include "lkey.h"
#include "queue.h"

/* At most so many receives are posted together, since their work requests are on the stack. */
#define KVERBS_RECV_LIST	8

int kverbs_wr_post(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		   struct kverbs_req *req, struct kverbs_chain *chain);
unsigned int kverbs_wr_post_direct(struct kverbs_queue *queue, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error);
unsigned int kverbs_wr_post_list(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
				 struct kverbs_req **reqs, unsigned int nr,
				 struct kverbs_chain *chain, int *error);
unsigned int kverbs_wr_recv_list(struct kverbs_queue *queue, struct kverbs_req **reqs,
				 unsigned int nr, int *error);
int kverbs_wr_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		   struct kverbs_req *req);
int kverbs_wr_post_now(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
		       struct kverbs_req *req, struct kverbs_chain *chain, struct kverbs_mr *mr);
int kverbs_wr_invalidate_now(struct kverbs_queue *queue, struct kverbs_req *req,
			     struct kverbs_chain *chain, struct kverbs_mr *mr);
int kverbs_wr_recv_now(struct kverbs_queue *queue, struct ib_pd *pd, struct kverbs_req *req,
		       struct kverbs_chain *chain);
bool kverbs_wr_needs_sink(const struct kverbs_queue *queue, const struct kverbs_req *req);

int kverbs_wr_direct_recv(struct ib_pd *pd, const struct kverbs_tenant *tenant,
			  const struct kverbs_req *req, struct ib_sge *sges, int max);

#endif /* KVERBS_WR_H */
