// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An operation and the regions that it holds: kverbs_req_use() keeps them pinned from
 * before the operation is posted until it has completed.
 */
#include "mr.h"
#include "region.h"
#include "req.h"

/**
 * kverbs_req_return_sinks() - take back the MRs of a READ
 * @req: the READ, which has succeeded or was not posted, so none of them is valid
 *
 * Context: any but hardirq.
 */
void kverbs_req_return_sinks(struct kverbs_req *req)
{
	struct kverbs_mr *mr, *next = req->sinks;

	req->sinks = NULL;
	while ((mr = next)) {
		next = mr->next_sink;
		kverbs_mr_return(mr->owner, mr);
	}
}

/**
 * kverbs_req_use() - keep the regions of an operation pinned
 * @req: the operation
 */
void kverbs_req_use(const struct kverbs_req *req)
{
	unsigned int i;

	if (req->kept)
		return;
	for (i = 0; i < kverbs_req_extents(req); i++)
		kverbs_region_use(kverbs_req_extent(req, i).region);
}

/**
 * kverbs_req_unuse() - undo kverbs_req_use()
 * @req: the operation
 */
void kverbs_req_unuse(const struct kverbs_req *req)
{
	unsigned int i;

	if (req->kept)
		return;
	for (i = 0; i < kverbs_req_extents(req); i++)
		kverbs_region_unuse(kverbs_req_extent(req, i).region);
}

/**
 * kverbs_req_unuse_list() - undo kverbs_req_use() for a list of operations
 * @reqs: the operations
 *
 * Consecutive operations often use the same region, which is then updated once.
 */
void kverbs_req_unuse_list(struct list_head *reqs)
{
	struct kverbs_region *region = NULL;
	struct kverbs_req *req;
	int nr = 0;

	list_for_each_entry(req, reqs, entry) {
		if (req->kept)
			continue;
		if (req->nr_list) {
			kverbs_req_unuse(req);
			continue;
		}
		if (req->region != region) {
			if (region)
				kverbs_region_unuse_many(region, nr);
			region = req->region;
			nr = 0;
		}
		nr++;
	}
	if (region)
		kverbs_region_unuse_many(region, nr);
}
