// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Room in which work requests are built, as much as the poster needs. */
#include <linux/slab.h>

#include "chain.h"

/**
 * kverbs_chain_alloc() - allocate an empty chain
 * @nr_wrs: work requests and registrations that it has room for, 1 to 2^16
 * @nr_sges: scatter/gather entries that it has room for, 1 to 2^16; an operation without a
 *	buffer uses one, too
 * @gfp: how to allocate
 * @node: NUMA node of the device, or NUMA_NO_NODE
 *
 * Return: the chain, or NULL without memory.
 */
struct kverbs_chain *kverbs_chain_alloc(unsigned int nr_wrs, unsigned int nr_sges, gfp_t gfp,
					int node)
{
	size_t wrs = nr_wrs * sizeof(union kverbs_wr);
	size_t sges = nr_sges * sizeof(struct ib_sge);
	size_t reqs = nr_wrs * sizeof(struct kverbs_req *);
	size_t regs = nr_wrs * sizeof(struct kverbs_mr *);
	struct kverbs_chain *chain;

	chain = kvmalloc_node(sizeof(*chain) + wrs + sges + reqs + regs, gfp, node);
	if (!chain)
		return NULL;
	chain->max_wrs = nr_wrs;
	chain->max_sges = nr_sges;
	chain->wrs = (void *)(chain + 1);
	chain->sges = (void *)chain->wrs + wrs;
	chain->reqs = (void *)chain->sges + sges;
	chain->regs = (void *)chain->reqs + reqs;
	kverbs_chain_reset(chain);
	return chain;
}

/**
 * kverbs_chain_free() - free a chain
 * @chain: the chain, or NULL
 */
void kverbs_chain_free(struct kverbs_chain *chain)
{
	kvfree(chain);
}
