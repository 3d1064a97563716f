// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From an operation to work requests. */
#include <linux/kverbs.h>
#include <linux/slab.h>

#include "map.h"
#include "mr.h"
#include "region.h"
#include "wr.h"

static enum ib_wr_opcode wr_opcode(const struct kverbs_req *req)
{
	switch (req->opcode) {
	case KVERBS_OP_WRITE:
	case KVERBS_OP_WRITE_IMM:
		return IB_WR_RDMA_WRITE;
	case KVERBS_OP_READ:
		return IB_WR_RDMA_READ;
	default:
		return IB_WR_SEND;
	}
}

static bool is_message(const struct kverbs_req *req)
{
	return req->opcode == KVERBS_OP_SEND;
}

/* Appends a request without entries; @done bytes of the operation precede it. */
static struct ib_rdma_wr *add_wr(struct kverbs_req *req, struct kverbs_chain *chain,
				 u64 done)
{
	struct ib_rdma_wr *wr;

	if (chain->nr_regs + chain->nr_wrs == KVERBS_OP_WRS)
		return NULL;
	wr = &chain->wrs[chain->nr_wrs++];
	*wr = (struct ib_rdma_wr) {
		.wr.opcode = wr_opcode(req),
		.wr.sg_list = &chain->sges[chain->nr_sges],
		.remote_addr = req->remote_addr + done,
		.rkey = req->rkey,
	};
	return wr;
}

/* What holds for the operation as a whole is said of its first or last part. */
static void seal(struct kverbs_req *req, struct kverbs_chain *chain)
{
	struct ib_send_wr *first = &chain->wrs[0].wr;
	struct ib_send_wr *last = &chain->wrs[chain->nr_wrs - 1].wr;

	if (req->fence)
		first->send_flags |= IB_SEND_FENCE;
	if (req->solicited)
		last->send_flags |= IB_SEND_SOLICITED;
	if (req->opcode == KVERBS_OP_WRITE_IMM) {
		last->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		last->ex.imm_data = (__force __be32)req->imm;
	}
}

static unsigned int max_sges(const struct kverbs_queue *queue,
			     const struct kverbs_req *req)
{
	return req->opcode == KVERBS_OP_READ ? queue->max_read_sge : queue->max_sge;
}

static unsigned int max_locals(const struct kverbs_queue *queue,
			       const struct kverbs_req *req)
{
	return min(max_sges(queue, req), queue->max_local);
}

/* One request whose entries name the pages themselves. */
static int build_direct(struct kverbs_queue *queue, const struct kverbs_map *map,
			struct kverbs_req *req, struct kverbs_chain *chain, u32 lkey)
{
	struct ib_rdma_wr *wr;
	int nr = 0;

	if (req->length > queue->max_msg)
		return -EMSGSIZE;
	wr = add_wr(req, chain, 0);
	if (map)
		nr = kverbs_map_sges(map, req->offset, req->length, lkey, chain->sges,
				     min_t(int, max_sges(queue, req), KVERBS_OP_SGES));
	if (nr < 0)
		return nr;
	/* Some want an entry for every READ, even one of nothing. */
	if (!nr && req->opcode == KVERBS_OP_READ)
		chain->sges[nr++] = (struct ib_sge) { .lkey = lkey };
	wr->wr.num_sge = nr;
	chain->nr_sges = nr;
	return 0;
}

static int add_reg(struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	if (mr->state != KVERBS_MR_MAPPED)
		return 0;
	if (chain->nr_regs && chain->regs[chain->nr_regs - 1] == mr)
		return 0;
	if (chain->nr_regs + chain->nr_wrs == KVERBS_OP_WRS)
		return -EMSGSIZE;
	chain->regs[chain->nr_regs++] = mr;
	return 0;
}

/* Fills one request as far as its entries and the message size go. */
static int fill_wr(struct kverbs_queue *queue, struct kverbs_local_set *set,
		   struct kverbs_local *local, struct kverbs_slice *slice,
		   struct kverbs_req *req, struct kverbs_chain *chain)
{
	struct ib_rdma_wr *wr = add_wr(req, chain, req->length - slice->left);
	u64 room = queue->max_msg;
	struct kverbs_mr *mr;
	int ret;

	if (!wr)
		return -EMSGSIZE;
	while (slice->left && room && wr->wr.num_sge < max_locals(queue, req)) {
		struct ib_sge *sge = &chain->sges[chain->nr_sges];

		if (chain->nr_sges == KVERBS_OP_SGES)
			return -EMSGSIZE;
		ret = kverbs_local_sge(set, local, slice, room, sge, &mr);
		if (!ret)
			ret = add_reg(chain, mr);
		if (ret)
			return ret;
		room -= sge->length;
		chain->nr_sges++;
		wr->wr.num_sge++;
	}
	return 0;
}

/* As many requests as it takes, whose entries name registered chunks. */
static int build_local(struct kverbs_queue *queue, struct kverbs_local_set *set,
		       const struct kverbs_map *map, struct kverbs_req *req,
		       struct kverbs_chain *chain, bool sink)
{
	struct kverbs_slice slice = {
		.map = map,
		.offset = req->offset,
		.left = req->length,
	};
	struct kverbs_local *local;
	int ret;

	local = kverbs_local_get(set, req->region, sink);
	if (IS_ERR(local))
		return PTR_ERR(local);
	while (slice.left) {
		if (chain->nr_wrs && is_message(req))
			return -EMSGSIZE;
		ret = fill_wr(queue, set, local, &slice, req, chain);
		if (ret)
			return ret;
	}
	return 0;
}

static void reset_chain(struct kverbs_chain *chain)
{
	chain->nr_regs = 0;
	chain->nr_wrs = 0;
	chain->nr_sges = 0;
}

static int post_local(struct kverbs_queue *queue, struct kverbs_local_set *set,
		      const struct kverbs_map *map, struct kverbs_req *req,
		      struct kverbs_chain *chain, bool sink)
{
	int ret;

	reset_chain(chain);
	mutex_lock(&set->lock);
	ret = build_local(queue, set, map, req, chain, sink);
	if (!ret) {
		seal(req, chain);
		ret = kverbs_queue_post(queue, req, chain);
	}
	mutex_unlock(&set->lock);
	return ret;
}

/**
 * kverbs_wr_post() - build and post an operation other than RECV
 * @queue: the queue
 * @set: the connection's local registrations
 * @req: the operation
 * @chain: room to build it in
 * @iwarp: on iWARP the sink of a READ must be registered for the peer
 *
 * Context: process, may sleep; the connection's HCA objects stay.
 * Return: as kverbs_queue_post(); -EMSGSIZE also if it takes more requests than
 * KVERBS_OP_WRS; -ENOMEM and others for the memory.
 */
int kverbs_wr_post(struct kverbs_queue *queue, struct kverbs_local_set *set,
		   struct kverbs_req *req, struct kverbs_chain *chain, bool iwarp)
{
	struct ib_pd *pd = set->pool->pd;
	bool sink = iwarp && req->opcode == KVERBS_OP_READ && req->length;
	struct kverbs_map *map = NULL;
	int ret = -EMSGSIZE;

	if (req->region) {
		map = kverbs_map_get(req->region, pd->device);
		if (IS_ERR(map))
			return PTR_ERR(map);
	}
	reset_chain(chain);
	if (!sink)
		ret = build_direct(queue, map, req, chain, pd->local_dma_lkey);
	if (ret == -EMSGSIZE && map)
		return post_local(queue, set, map, req, chain, sink);
	if (ret)
		return ret;
	seal(req, chain);
	return kverbs_queue_post(queue, req, chain);
}

/* A receive can be posted once every chunk of its buffer is valid. */
static int build_recv(struct kverbs_queue *queue, struct kverbs_local_set *set,
		      const struct kverbs_map *map, struct kverbs_req *req,
		      struct kverbs_chain *chain, struct ib_sge *sges)
{
	struct kverbs_slice slice = {
		.map = map,
		.offset = req->offset,
		.left = req->length,
	};
	struct kverbs_local *local = kverbs_local_get(set, req->region, false);
	bool valid = true;
	struct kverbs_mr *mr;
	int nr = 0, ret;

	if (IS_ERR(local))
		return PTR_ERR(local);
	while (slice.left) {
		if (nr == min_t(int, queue->max_sge, KVERBS_RECV_SGES))
			return -EMSGSIZE;
		ret = kverbs_local_sge(set, local, &slice, U32_MAX, &sges[nr++], &mr);
		if (!ret)
			ret = add_reg(chain, mr);
		if (ret)
			return ret;
		valid &= READ_ONCE(mr->state) == KVERBS_MR_VALID;
	}
	return valid ? nr : -EAGAIN;
}

static int register_recv(struct kverbs_queue *queue, struct kverbs_local_set *set,
			 const struct kverbs_map *map, struct kverbs_req *req,
			 struct ib_sge *sges)
{
	struct kverbs_chain *chain;
	int nr, ret;

	if (kverbs_queue_check_up(queue))
		return -EAGAIN;
	chain = kvmalloc(sizeof(*chain), GFP_KERNEL_ACCOUNT);
	if (!chain)
		return -ENOMEM;
	reset_chain(chain);
	mutex_lock(&set->lock);
	nr = build_recv(queue, set, map, req, chain, sges);
	if (nr == -EAGAIN && chain->nr_regs) {
		ret = kverbs_queue_post_regs(queue, chain);
		if (ret && ret != -ENOTCONN)
			nr = ret;
	}
	mutex_unlock(&set->lock);
	kvfree(chain);
	return nr;
}

/**
 * kverbs_wr_recv() - build and post the first parked receive
 * @queue: the queue
 * @set: the connection's local registrations
 * @req: from kverbs_queue_first_parked()
 *
 * Context: process, may sleep; the connection's HCA objects stay.
 * Return: 0 posted; -EAGAIN not yet, the owner will be kicked; else it can not
 * be posted at all.
 */
int kverbs_wr_recv(struct kverbs_queue *queue, struct kverbs_local_set *set,
		   struct kverbs_req *req)
{
	struct ib_pd *pd = set->pool->pd;
	struct ib_sge sges[KVERBS_RECV_SGES];
	struct kverbs_map *map;
	int nr = 0, ret;

	if (req->region) {
		map = kverbs_map_get(req->region, pd->device);
		if (IS_ERR(map))
			return PTR_ERR(map);
		nr = kverbs_map_sges(map, req->offset, req->length, pd->local_dma_lkey,
				     sges, min_t(int, queue->max_sge, KVERBS_RECV_SGES));
		if (nr == -EMSGSIZE)
			nr = register_recv(queue, set, map, req, sges);
		if (nr < 0)
			return nr;
	}
	ret = kverbs_queue_post_recv(queue, req, sges, nr);
	/* Closed meanwhile: what ends the connection ends the receive. */
	return ret == -ENOTCONN ? -EAGAIN : ret;
}
