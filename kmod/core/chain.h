/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CHAIN_H
#define KVERBS_CHAIN_H

#include <linux/gfp.h>
#include <rdma/ib_verbs.h>

struct kverbs_map;
struct kverbs_mr;
struct kverbs_region;
struct kverbs_req;

/* Work requests of one operation, registrations included. */
#define KVERBS_OP_WRS	64
/* Scatter/gather entries of one operation. */
#define KVERBS_OP_SGES	256

/**
 * union kverbs_wr - a work request of any kind
 * @wr: the common part
 * @rdma: WRITE*, READ
 * @atomic: CMP_SWAP, FETCH_ADD
 */
union kverbs_wr {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

/**
 * struct kverbs_found - the last mapping that was looked up; consecutive operations often need it
 * @region: the region, or NULL
 * @map: its mapping, or an ERR_PTR
 */
struct kverbs_found {
	const struct kverbs_region *region;
	struct kverbs_map *map;
};

/**
 * struct kverbs_chain - work requests of one operation, or one work request for each of several
 * @found: while the chain is built
 * @sinks: @regs are the sinks of a READ, one for each of @wrs, which invalidates it
 * @nr_regs: registrations in @regs
 * @nr_wrs: requests in @wrs
 * @nr_sges: entries in @sges
 * @max_wrs: room in @wrs, @regs and @reqs; requests and registrations together are no more
 * @max_sges: room in @sges
 * @reqs: the operations
 * @regs: registrations that precede @wrs
 * @wrs: the work requests
 * @sges: their scatter/gather entries
 *
 * Too large for the stack; every poster has its own.
 */
struct kverbs_chain {
	struct kverbs_found found;
	bool sinks;
	unsigned int nr_regs;
	unsigned int nr_wrs;
	unsigned int nr_sges;
	unsigned int max_wrs;
	unsigned int max_sges;
	struct kverbs_req **reqs;
	struct kverbs_mr **regs;
	union kverbs_wr *wrs;
	struct ib_sge *sges;
};

struct kverbs_chain *kverbs_chain_alloc(unsigned int nr_wrs, unsigned int nr_sges, gfp_t gfp,
					int node);
void kverbs_chain_free(struct kverbs_chain *chain);

static inline void kverbs_chain_reset(struct kverbs_chain *chain)
{
	chain->nr_regs = 0;
	chain->nr_wrs = 0;
	chain->nr_sges = 0;
	chain->found.region = NULL;
	chain->sinks = false;
}

/* A chain for any operation of user space. */
static inline struct kverbs_chain *kverbs_chain_alloc_max(int node)
{
	return kverbs_chain_alloc(KVERBS_OP_WRS, KVERBS_OP_SGES, GFP_KERNEL_ACCOUNT, node);
}

#endif /* KVERBS_CHAIN_H */
