// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests of other modules that are posted together, documented in include/kverbs/kverbs.h. */
#include <linux/slab.h>

#include "chain.h"
#include "compat.h"
#include "conn_io.h"
#include "k_conn.h"
#include "k_req.h"
#include "mr.h"

#define MAX_REQS	4096
/* Entries of a request for which there is room; with more, it goes into the next turn or alone. */
#define FEW_SGES	2

/**
 * struct kverbs_k_batch - room in which requests are posted together
 * @conn: the connection
 * @lent: the connection is lent, see struct kverbs_k_conn
 * @chain: their work requests
 */
struct kverbs_k_batch {
	struct kverbs_conn *conn;
	bool lent;
	struct kverbs_chain *chain;
};

/*
 * Requests of a lent connection have no room of their own, so even the largest operation, with its
 * registrations, is built in that of the batch.
 */
static struct kverbs_chain *alloc_chain(const struct kverbs_k_batch *batch, unsigned int nr,
					gfp_t gfp)
{
	unsigned int nr_sges = nr * FEW_SGES + KVERBS_RECV_SGES;

	if (batch->lent) {
		nr = max_t(unsigned int, nr, KVERBS_OP_WRS);
		nr_sges = max_t(unsigned int, nr_sges, KVERBS_OP_SGES);
	}
	return kverbs_chain_alloc(nr, nr_sges, gfp, batch->conn->node);
}

struct kverbs_k_batch *kverbs_k_batch_alloc(struct kverbs_k_conn *k_conn, unsigned int nr,
					    gfp_t gfp)
{
	struct kverbs_k_batch *batch;

	if (!nr || nr > MAX_REQS)
		return ERR_PTR(-EINVAL);
	batch = kzalloc(sizeof(*batch), gfp);
	if (!batch)
		return ERR_PTR(-ENOMEM);
	batch->conn = k_conn->conn;
	batch->lent = k_conn->lent;
	batch->chain = alloc_chain(batch, nr, gfp);
	if (!batch->chain) {
		kfree(batch);
		return ERR_PTR(-ENOMEM);
	}
	return batch;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_batch_alloc);

void kverbs_k_batch_free(struct kverbs_k_batch *batch)
{
	if (batch)
		kverbs_chain_free(batch->chain);
	kfree(batch);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_batch_free);

static struct k_req *of_req(struct kverbs_req *req)
{
	return container_of(req, struct k_req, req);
}

/* An MR that is to be registered goes ahead of its request only. */
static bool goes_alone(const struct k_req *request)
{
	return request->k.opcode == KVERBS_K_RECV ||
	       (request->mr && READ_ONCE(request->mr->state) == KVERBS_MR_MAPPED);
}

static unsigned int count_joint(struct kverbs_req **reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (goes_alone(of_req(reqs[i])))
			break;
	return i;
}

/* Posts at least one of the requests, which are begun, or sets @error. */
static unsigned int post_some(struct kverbs_k_batch *batch, struct kverbs_req **reqs,
			      unsigned int nr, int *error)
{
	unsigned int joint = count_joint(reqs, nr), posted = 0;

	*error = 0;
	if (joint && batch->lent)
		return kverbs_conn_post_list(batch->conn, reqs, joint, batch->chain, error);
	if (joint)
		posted = kverbs_conn_post_list_now(batch->conn, reqs, joint, batch->chain, error);
	if (posted || *error)
		return posted;
	*error = kverbs_k_req_post(of_req(reqs[0]));
	return !*error;
}

/* Begins as many requests as there is room for; a bad one ends the list. */
static unsigned int begin_some(struct kverbs_k_batch *batch, struct kverbs_k_req **reqs,
			       unsigned int nr, int *error)
{
	unsigned int i;

	*error = 0;
	for (i = 0; i < min(nr, batch->chain->max_wrs); i++) {
		*error = kverbs_k_req_begin(to_k_req(reqs[i]));
		if (*error)
			break;
		batch->chain->reqs[i] = &to_k_req(reqs[i])->req;
	}
	return i;
}

static unsigned int post_turn(struct kverbs_k_batch *batch, struct kverbs_k_req **reqs,
			      unsigned int nr, int *error)
{
	struct kverbs_req **begun = batch->chain->reqs;
	unsigned int posted = 0, i;
	int bad;

	nr = begin_some(batch, reqs, nr, &bad);
	while (posted < nr && !*error)
		posted += post_some(batch, begun + posted, nr - posted, error);
	for (i = posted; i < nr; i++)
		kverbs_req_unuse(begun[i]);
	if (!*error)
		*error = bad;
	return posted;
}

unsigned int kverbs_k_post_list(struct kverbs_k_batch *batch, struct kverbs_k_req **reqs,
				unsigned int nr, int *error)
{
	unsigned int posted = 0;

	*error = 0;
	while (posted < nr && !*error)
		posted += post_turn(batch, reqs + posted, nr - posted, error);
	return posted;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_post_list);
