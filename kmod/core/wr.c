// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Builds the work requests of an operation. Its entries name the DMA addresses of the buffer
 * by the local DMA lkey, or, if these are too many, chunks of the lkey cache. On iWARP an
 * entry of a READ names an MR that covers just its bytes until it has arrived. Regions that are
 * not mapped on the device yet are for the caller to map.
 */
#include <linux/sizes.h>

#include "mr.h"
#include "opcode.h"
#include "quirks.h"
#include "region.h"
#include "wr.h"

/* At most so many operations, or bytes, are coalesced into one completion. */
#define COALESCE_OPS	32
#define COALESCE_BYTES	SZ_16K
/* The same of unsignalled operations: their completions show that the queue makes progress. */
#define SILENT_BYTES	SZ_16M
/* Entries that suffice for most receives; hardened kernels clear arrays on the stack. */
#define FEW_SGES	2

static inline void fill_kind(const struct kverbs_req *req, union kverbs_wr *wr, u64 done)
{
	if (kverbs_opcode_has(req->opcode, KVERBS_OPF_ATOMIC)) {
		wr->atomic.remote_addr = req->remote_addr;
		wr->atomic.rkey = req->rkey;
		wr->atomic.compare_add = req->operand;
		wr->atomic.swap = req->swap;
		wr->atomic.compare_add_mask = 0;
		wr->atomic.swap_mask = 0;
	} else if (kverbs_opcode_has(req->opcode, KVERBS_OPF_REMOTE)) {
		wr->rdma.remote_addr = req->remote_addr + done;
		wr->rdma.rkey = req->rkey;
	}
}

/* Appends a work request without entries that begins @done bytes into the operation. */
static inline struct ib_send_wr *add_wr(struct kverbs_req *req, struct kverbs_chain *chain,
					u64 done)
{
	union kverbs_wr *wr;

	if ((chain->sinks ? 0 : chain->nr_regs) + chain->nr_wrs == chain->max_wrs)
		return NULL;
	wr = &chain->wrs[chain->nr_wrs++];
	wr->wr.opcode = kverbs_opdefs[req->opcode].wr;
	wr->wr.send_flags = 0;
	wr->wr.sg_list = &chain->sges[chain->nr_sges];
	wr->wr.num_sge = 0;
	wr->wr.ex.imm_data = 0;
	fill_kind(req, wr, done);
	return &wr->wr;
}

/* Puts the flags and the data of the whole operation into its first and last work request. */
static void seal(struct kverbs_req *req, struct kverbs_chain *chain, unsigned int nr_wrs)
{
	struct ib_send_wr *first = &chain->wrs[chain->nr_wrs - nr_wrs].wr;
	struct ib_send_wr *last = &chain->wrs[chain->nr_wrs - 1].wr;

	if (req->fence)
		first->send_flags |= IB_SEND_FENCE;
	/* Nothing else causes an event at the peer, and ionic refuses the flag. */
	if (req->solicited && kverbs_opcode_has(req->opcode, KVERBS_OPF_TAKES_RECV))
		last->send_flags |= IB_SEND_SOLICITED;
	last->opcode = kverbs_opdefs[req->opcode].last_wr;
	if (last->opcode == IB_WR_SEND_WITH_INV)
		last->ex.invalidate_rkey = req->rkey;
	else
		last->ex.imm_data = (__force __be32)req->imm;
}

static bool is_read(const struct kverbs_req *req)
{
	return kverbs_opcode_has(req->opcode, KVERBS_OPF_READ);
}

static unsigned int max_sges(const struct kverbs_queue *queue,
			     const struct kverbs_req *req)
{
	return is_read(req) ? queue->max_read_sge : queue->max_sge;
}

static unsigned int max_locals(const struct kverbs_queue *queue,
			       const struct kverbs_req *req)
{
	return min(max_sges(queue, req), queue->max_local);
}

/**
 * struct accessor - how a device is told to access memory that is not registered
 * @ib: the device
 * @tenant: in whose name
 * @lkey: the local DMA lkey
 */
struct accessor {
	struct ib_device *ib;
	const struct kverbs_tenant *tenant;
	u32 lkey;
};

static struct accessor accessor_of(const struct kverbs_queue *queue)
{
	return (struct accessor) { queue->ib, queue->tenant, queue->local_lkey };
}

static struct kverbs_map *get_map(struct kverbs_region *region, struct ib_device *ib,
				  const struct kverbs_tenant *tenant)
{
	return kverbs_map_lookup(region, ib, tenant) ?: ERR_PTR(-ENXIO);
}

static struct kverbs_map *get_map_of(struct kverbs_region *region,
				     const struct kverbs_mr_pool *pool)
{
	return get_map(region, pool->pd->device, pool->tenant);
}

static inline struct kverbs_map *find_map(const struct accessor *by,
					  struct kverbs_region *region,
					  struct kverbs_found *found)
{
	if (found->region != region) {
		found->map = get_map(region, by->ib, by->tenant);
		found->region = region;
	}
	return found->map;
}

static noinline int scattered_sges(struct accessor by, const struct kverbs_req *req,
				   struct kverbs_found *found, struct ib_sge *sges, int max)
{
	unsigned int i;
	int nr = 0, ret;

	for (i = 0; i < kverbs_req_extents(req); i++) {
		struct kverbs_extent extent = kverbs_req_extent(req, i);
		struct kverbs_map *map = find_map(&by, extent.region, found);

		if (IS_ERR(map))
			return PTR_ERR(map);
		ret = kverbs_map_sges(map, extent.offset, extent.length, by.lkey, sges + nr,
				      max - nr);
		if (ret < 0)
			return ret;
		nr += ret;
	}
	return nr;
}

/*
 * The entry of a buffer that is one piece in one span of DMA addresses, as most are. Returns 1; 0
 * if the buffer is of another kind.
 */
static inline int whole_sge(struct accessor by, const struct kverbs_req *req,
			    struct kverbs_found *found, struct ib_sge *sge)
{
	struct kverbs_map *map;

	if (!req->region || !req->length)
		return 0;
	map = find_map(&by, req->region, found);
	if (IS_ERR(map))
		return PTR_ERR(map);
	return kverbs_map_whole_sge(map, req->offset, req->length, by.lkey, sge);
}

/* Entries that name the pages of the buffer by the local DMA lkey. */
static int direct_sges(struct accessor by, const struct kverbs_req *req,
		       struct ib_sge *sges, int max)
{
	struct kverbs_found found = {};

	return whole_sge(by, req, &found, sges) ?: scattered_sges(by, req, &found, sges, max);
}

/* Appends a work request with entries of direct_sges(), or none if they do not fit. */
static int build_direct(struct kverbs_queue *queue, struct kverbs_req *req,
			struct kverbs_chain *chain)
{
	struct ib_sge *sges = &chain->sges[chain->nr_sges];
	struct ib_send_wr *wr;
	int nr, used;

	if (req->length > queue->max_msg || chain->nr_sges == chain->max_sges)
		return -EMSGSIZE;
	nr = whole_sge(accessor_of(queue), req, &chain->found, sges);
	if (!nr)
		nr = scattered_sges(accessor_of(queue), req, &chain->found, sges,
				    min_t(int, max_sges(queue, req),
					  chain->max_sges - chain->nr_sges));
	if (nr < 0)
		return nr;
	used = nr;
	/* Some drivers look at the first entry even if there is none. */
	if (!nr) {
		sges[used++] = (struct ib_sge) { .lkey = queue->local_lkey };
		nr = is_read(req) && queue->quirks & KVERBS_QUIRK_READ_ENTRY;
	}
	wr = add_wr(req, chain, 0);
	if (!wr)
		return -EMSGSIZE;
	wr->num_sge = nr;
	chain->nr_sges += used;
	return 0;
}

/* A list may name a region twice, but the chain must register an MR only once. */
static int add_reg(struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	unsigned int i;

	if (mr->state != KVERBS_MR_MAPPED)
		return 0;
	for (i = chain->nr_regs; i > 0; i--)
		if (chain->regs[i - 1] == mr)
			return 0;
	if (chain->nr_regs + chain->nr_wrs == chain->max_wrs)
		return -EMSGSIZE;
	chain->regs[chain->nr_regs++] = mr;
	return 0;
}

/**
 * struct builder - work requests of an operation that takes as many as are needed
 * @queue: where it will be posted
 * @set: the lkey cache of the connection, locked; NULL if entries name pages
 * @req: the operation
 * @chain: its requests
 * @max_sges: entries that a work request may have
 * @wr: the work request that is being filled
 * @room: bytes that @wr has room for
 * @done: bytes of the operation that have entries
 */
struct builder {
	struct kverbs_queue *queue;
	struct kverbs_lkey_cache *set;
	struct kverbs_req *req;
	struct kverbs_chain *chain;
	unsigned int max_sges;
	struct ib_send_wr *wr;
	u64 room;
	u64 done;
};

/* Sees to a work request with room for one more entry; a message has only one. */
static int make_room(struct builder *b)
{
	if (b->chain->nr_sges == b->chain->max_sges)
		return -EMSGSIZE;
	if (b->wr && b->room && b->wr->num_sge < b->max_sges)
		return 0;
	if (b->wr && kverbs_opcode_has(b->req->opcode, KVERBS_OPF_MESSAGE))
		return -EMSGSIZE;
	b->wr = add_wr(b->req, b->chain, b->done);
	b->room = b->queue->max_msg;
	return b->wr ? 0 : -EMSGSIZE;
}

static int add_slice(struct builder *b, struct kverbs_lkeys *local,
		     struct kverbs_slice *slice)
{
	struct ib_sge *sge;
	struct kverbs_mr *mr;
	int ret;

	while (slice->left) {
		ret = make_room(b);
		if (ret)
			return ret;
		sge = &b->chain->sges[b->chain->nr_sges];
		ret = kverbs_lkeys_sge(b->set, local, slice, b->room, sge, &mr);
		if (!ret)
			ret = add_reg(b->chain, mr);
		if (ret)
			return ret;
		b->chain->nr_sges++;
		b->wr->num_sge++;
		b->room -= sge->length;
		b->done += sge->length;
	}
	return 0;
}

static int add_extent(struct builder *b, struct kverbs_extent extent)
{
	struct kverbs_slice slice = { .offset = extent.offset, .left = extent.length };
	struct kverbs_lkeys *local;

	slice.map = get_map_of(extent.region, b->set->pool);
	if (IS_ERR(slice.map))
		return PTR_ERR(slice.map);
	local = kverbs_lkeys_get(b->set, extent.region);
	if (IS_ERR(local))
		return PTR_ERR(local);
	return add_slice(b, local, &slice);
}

/* Builds as many work requests as it takes, whose entries name chunks. */
static int build_local(struct builder *b)
{
	unsigned int i;
	int ret;

	for (i = 0; i < kverbs_req_extents(b->req); i++) {
		ret = add_extent(b, kverbs_req_extent(b->req, i));
		if (ret)
			return ret;
	}
	return 0;
}

static int post_local(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		      struct kverbs_req *req, struct kverbs_chain *chain)
{
	struct builder builder = {
		.queue = queue,
		.set = set,
		.req = req,
		.chain = chain,
		.max_sges = max_locals(queue, req),
	};
	int ret;

	kverbs_chain_reset(chain);
	mutex_lock(&set->lock);
	ret = build_local(&builder);
	if (!ret) {
		seal(req, chain, chain->nr_wrs);
		ret = kverbs_queue_post(queue, req, chain);
	}
	mutex_unlock(&set->lock);
	return ret;
}

/* Appends a READ into the first bytes of a slice, and the registration of just these bytes. */
static int add_sink(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
		    struct kverbs_req *req, struct kverbs_chain *chain,
		    struct kverbs_slice *slice, u64 done)
{
	u64 part = min(kverbs_mr_reach(pool, slice->map, slice->offset, slice->left, NULL),
		       queue->max_recv);
	struct ib_send_wr *wr;
	struct kverbs_mr *mr;

	wr = add_wr(req, chain, done);
	if (!wr)
		return -EMSGSIZE;
	mr = kverbs_mr_get(pool, slice->map, slice->offset, part,
			   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, NULL);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	kverbs_mr_note_cached(mr);
	mr->owner = pool;
	mr->next_sink = req->sinks;
	req->sinks = mr;
	chain->regs[chain->nr_regs++] = mr;
	chain->sges[chain->nr_sges++] = (struct ib_sge) {
		.addr = mr->ib->iova,
		.length = part,
		.lkey = mr->ib->lkey,
	};
	wr->num_sge = 1;
	slice->offset += part;
	slice->left -= part;
	return 0;
}

static int build_sinks(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
		       struct kverbs_req *req, struct kverbs_chain *chain)
{
	u64 done = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < kverbs_req_extents(req); i++) {
		struct kverbs_extent extent = kverbs_req_extent(req, i);
		struct kverbs_slice slice = { .offset = extent.offset };

		slice.map = get_map_of(extent.region, pool);
		if (IS_ERR(slice.map))
			return PTR_ERR(slice.map);
		for (slice.left = extent.length; slice.left;) {
			u64 left = slice.left;

			ret = add_sink(queue, pool, req, chain, &slice, done);
			if (ret)
				return ret;
			done += left - slice.left;
		}
	}
	return 0;
}

/*
 * The key of an iWARP READ's buffer travels in the request and lets the peer write. So each
 * work request has an MR of its own, which it invalidates before it completes.
 */
static int post_sinks(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
		      struct kverbs_req *req, struct kverbs_chain *chain)
{
	unsigned int i;
	int ret;

	/* Registering memory for a READ that finds no slot is in vain. */
	if (!READ_ONCE(queue->sq_free))
		return -EAGAIN;
	kverbs_chain_reset(chain);
	chain->sinks = true;
	req->sinks = NULL;
	ret = build_sinks(queue, pool, req, chain);
	if (!ret) {
		seal(req, chain, chain->nr_wrs);
		for (i = 0; i < chain->nr_wrs; i++) {
			chain->wrs[i].wr.opcode = IB_WR_RDMA_READ_WITH_INV;
			chain->wrs[i].wr.ex.invalidate_rkey = chain->regs[i]->ib->lkey;
		}
		ret = kverbs_queue_post(queue, req, chain);
	}
	if (ret)
		kverbs_req_return_sinks(req);
	return ret;
}

/**
 * kverbs_wr_needs_sink() - whether a local buffer needs a key that the peer's device may write to
 * @queue: the queue
 * @req: the operation
 *
 * Return: true if so.
 */
bool kverbs_wr_needs_sink(const struct kverbs_queue *queue, const struct kverbs_req *req)
{
	return queue->quirks & KVERBS_QUIRK_READ_SINK && is_read(req) && req->length;
}

static void drop_useless_fence(const struct kverbs_queue *queue, struct kverbs_req *req)
{
	if (queue->quirks & KVERBS_QUIRK_ORDERED_READS && is_read(req))
		req->fence = false;
}

static bool ends_list(const struct kverbs_req *req)
{
	return req->held && req->ends_list;
}

static bool is_coalesced(const struct kverbs_req *req, unsigned int ops, u64 bytes)
{
	if (req->unsignalled)
		return bytes < SILENT_BYTES;
	return ops < COALESCE_OPS && bytes < COALESCE_BYTES;
}

/*
 * Coalesces the completions of small operations: one completion is cheaper than several, and
 * COALESCE_OPS and COALESCE_BYTES bound how long the first operation waits for it. Held operations
 * of several lists are posted together, but a completion that the owner expects must not wait for
 * an operation of a later list: the peer may not take that before the owner has seen the
 * completion.
 */
static void coalesce_reqs(const struct kverbs_queue *queue, struct kverbs_req **reqs,
			  unsigned int nr)
{
	bool may_coalesce = !(queue->quirks & KVERBS_QUIRK_NO_COALESCING);
	unsigned int i, ops = 0;
	bool expected = false;
	u64 bytes = 0;

	for (i = 0; i < nr; i++) {
		ops++;
		bytes += reqs[i]->length;
		expected |= !reqs[i]->unsignalled;
		reqs[i]->coalesced = may_coalesce && !(expected && ends_list(reqs[i])) &&
				     is_coalesced(reqs[i], ops, bytes);
		if (!reqs[i]->coalesced) {
			ops = 0;
			bytes = 0;
			expected = false;
		}
	}
}

/**
 * kverbs_wr_post() - build and post an operation other than RECV
 * @queue: the queue
 * @set: the lkey cache of the connection
 * @req: the operation
 * @chain: room to build it in
 *
 * Context: process, may sleep; the connection's HCA objects stay.
 * Return: as kverbs_queue_post(); -ENXIO if a region is not mapped on this device; -EMSGSIZE also
 * if it takes more work requests than KVERBS_OP_WRS; or the error of kverbs_mr_get().
 */
int kverbs_wr_post(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		   struct kverbs_req *req, struct kverbs_chain *chain)
{
	int ret;

	drop_useless_fence(queue, req);
	if (kverbs_wr_needs_sink(queue, req))
		return post_sinks(queue, set->pool, req, chain);
	kverbs_chain_reset(chain);
	ret = build_direct(queue, req, chain);
	if (ret == -EMSGSIZE && kverbs_req_extents(req))
		return post_local(queue, set, req, chain);
	if (ret)
		return ret;
	seal(req, chain, 1);
	return kverbs_queue_post(queue, req, chain);
}

static bool must_begin_chain(const struct kverbs_queue *queue, const struct kverbs_req *req)
{
	return queue->quirks & KVERBS_QUIRK_FUSES_SENDS && (req->fence || req->solicited) &&
	       kverbs_opcode_has(req->opcode, KVERBS_OPF_MESSAGE);
}

/* Builds a chain with a work request for each of the first operations; returns how many. */
static unsigned int build_run(struct kverbs_queue *queue, struct kverbs_req **reqs,
			      unsigned int nr, struct kverbs_chain *chain)
{
	unsigned int i, room = max(READ_ONCE(queue->sq_free), 1U);

	for (i = 0; i < min(nr, room); i++) {
		if (i && must_begin_chain(queue, reqs[i]))
			break;
		drop_useless_fence(queue, reqs[i]);
		if (kverbs_wr_needs_sink(queue, reqs[i]) || build_direct(queue, reqs[i], chain))
			break;
		seal(reqs[i], chain, 1);
	}
	coalesce_reqs(queue, reqs, i);
	return i;
}

/* Posts at least one operation, or sets @error. */
static unsigned int post_run(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
			     struct kverbs_req **reqs, unsigned int nr,
			     struct kverbs_chain *chain, int *error)
{
	unsigned int run = 0;

	kverbs_chain_reset(chain);
	if (nr > 1)
		run = build_run(queue, reqs, nr, chain);
	if (run > 1)
		return kverbs_queue_post_list(queue, reqs, run, chain, error);
	/* A single operation may take registrations and several work requests. */
	*error = kverbs_wr_post(queue, set, reqs[0], chain);
	return !*error;
}

/**
 * kverbs_wr_post_list() - build and post operations other than RECV
 * @queue: the queue
 * @set: the lkey cache of the connection
 * @reqs: the operations
 * @nr: how many
 * @chain: room to build them in
 * @error: why not all were posted, as for kverbs_wr_post(); else 0
 *
 * Context: process, may sleep; the connection's HCA objects stay.
 * Return: how many were posted, from the first on.
 */
unsigned int kverbs_wr_post_list(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
				 struct kverbs_req **reqs, unsigned int nr,
				 struct kverbs_chain *chain, int *error)
{
	unsigned int done = 0;

	*error = 0;
	while (done < nr && !*error)
		done += post_run(queue, set, reqs + done, nr - done, chain, error);
	return done;
}

/**
 * kverbs_wr_post_direct() - build and post operations for which there is nothing to wait for
 * @queue: the queue; its queue pair and device may be gone
 * @reqs: the operations
 * @nr: how many
 * @chain: room to build them in
 * @error: why not all that could be built were posted, as for kverbs_queue_post_list(); else 0
 *
 * Nothing keeps the HCA objects, which would take two atomic operations. The addresses of a map
 * that is evicted meanwhile are not used, since kverbs_queue_post_list() finds the queue closed.
 *
 * Context: process or softirq.
 * Return: how many were posted, from the first on. The next operation is for
 * kverbs_wr_post_list() unless @error is set.
 */
unsigned int kverbs_wr_post_direct(struct kverbs_queue *queue, struct kverbs_req **reqs,
				   unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int run, posted = 0;

	*error = 0;
	rcu_read_lock();
	do {
		kverbs_chain_reset(chain);
		run = build_run(queue, reqs + posted, nr - posted, chain);
		if (run)
			posted += kverbs_queue_post_list(queue, reqs + posted, run, chain, error);
	} while (run && !*error && posted < nr);
	rcu_read_unlock();
	return posted;
}

/**
 * struct recv_builder - entries of a receive that name chunks of the lkey cache
 * @sges: the entries
 * @nr: number of entries
 * @max: room in @sges
 * @valid: every chunk so far is registered
 */
struct recv_builder {
	struct ib_sge *sges;
	int nr;
	int max;
	bool valid;
};

static int recv_extent(struct recv_builder *b, struct kverbs_lkey_cache *set,
		       struct kverbs_extent extent, struct kverbs_chain *chain)
{
	struct kverbs_slice slice = { .offset = extent.offset, .left = extent.length };
	struct kverbs_lkeys *local = kverbs_lkeys_get(set, extent.region);
	struct kverbs_mr *mr;
	int ret;

	slice.map = get_map_of(extent.region, set->pool);
	if (IS_ERR(slice.map))
		return PTR_ERR(slice.map);
	if (IS_ERR(local))
		return PTR_ERR(local);
	while (slice.left) {
		if (b->nr == b->max)
			return -EMSGSIZE;
		ret = kverbs_lkeys_sge(set, local, &slice, U32_MAX, &b->sges[b->nr++], &mr);
		if (!ret)
			ret = add_reg(chain, mr);
		if (ret)
			return ret;
		b->valid &= READ_ONCE(mr->state) == KVERBS_MR_VALID;
	}
	return 0;
}

/* A receive can be posted once every chunk of its buffer is valid. */
static int build_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		      struct kverbs_req *req, struct kverbs_chain *chain,
		      struct ib_sge *sges)
{
	struct recv_builder builder = {
		.sges = sges,
		.max = min_t(int, queue->max_recv_sge, KVERBS_RECV_SGES),
		.valid = true,
	};
	unsigned int i;
	int ret;

	for (i = 0; i < kverbs_req_extents(req); i++) {
		ret = recv_extent(&builder, set, kverbs_req_extent(req, i), chain);
		if (ret)
			return ret;
	}
	return builder.valid ? builder.nr : -EAGAIN;
}

/* Kept in the cache, since such receives often come again and again. */
static struct kverbs_chain *recv_chain(struct kverbs_lkey_cache *set)
{
	lockdep_assert_held(&set->lock);
	if (!set->chain)
		set->chain = kverbs_chain_alloc_max(ibdev_to_node(set->pool->pd->device));
	return set->chain;
}

static int build_registered(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
			    struct kverbs_req *req, struct ib_sge *sges)
{
	struct kverbs_chain *chain = recv_chain(set);
	int nr, ret;

	if (!chain)
		return -ENOMEM;
	kverbs_chain_reset(chain);
	nr = build_recv(queue, set, req, chain, sges);
	if (nr == -EAGAIN && chain->nr_regs) {
		ret = kverbs_queue_post_regs(queue, chain);
		if (ret && ret != -ENOTCONN)
			nr = ret;
	}
	return nr;
}

static int register_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
			 struct kverbs_req *req, struct ib_sge *sges)
{
	int nr;

	if (kverbs_queue_check_up(queue))
		return -EAGAIN;
	mutex_lock(&set->lock);
	nr = build_registered(queue, set, req, sges);
	mutex_unlock(&set->lock);
	return nr;
}

static int direct_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		       const struct kverbs_req *req, struct ib_sge *sges, int max)
{
	return direct_sges(accessor_of(queue), req, sges, min_t(int, queue->max_recv_sge, max));
}

/* Posts a receive whose buffer has many pieces or must be registered. */
static noinline_for_stack int recv_scattered(struct kverbs_queue *queue,
					     struct kverbs_lkey_cache *set,
					     struct kverbs_req *req)
{
	struct ib_sge sges[KVERBS_RECV_SGES];
	int nr = direct_recv(queue, set, req, sges, KVERBS_RECV_SGES);

	if (nr == -EMSGSIZE && !req->direct)
		nr = register_recv(queue, set, req, sges);
	return nr < 0 ? nr : kverbs_queue_post_recv(queue, req, sges, nr);
}

static int post_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		     struct kverbs_req *req)
{
	struct ib_sge sges[FEW_SGES];
	int nr;

	if (req->length > queue->max_recv)
		return -EMSGSIZE;
	nr = direct_recv(queue, set, req, sges, FEW_SGES);
	if (nr == -EMSGSIZE)
		return recv_scattered(queue, set, req);
	return nr < 0 ? nr : kverbs_queue_post_recv(queue, req, sges, nr);
}

static bool build_short_recv(struct kverbs_queue *queue, const struct kverbs_req *req,
			     struct kverbs_found *found, struct ib_recv_wr *wr,
			     struct ib_sge *sge)
{
	wr->sg_list = sge;
	wr->num_sge = 1;
	return req->length <= queue->max_recv &&
	       whole_sge(accessor_of(queue), req, found, sge) == 1;
}

/**
 * kverbs_wr_recv_list() - build and post the first deferred receives together
 * @queue: the queue
 * @reqs: from kverbs_queue_peek_deferred()
 * @nr: how many, at least 1 and at most KVERBS_RECV_LIST
 * @error: 0; -EAGAIN if the next one must wait for kverbs_queue_ops.kick; or why that can never
 *	be posted
 *
 * Builds receives whose buffers are mapped and take one entry, if there are several.
 *
 * Context: process; the connection's HCA objects stay.
 * Return: how many were posted, from the first on. The next one is for kverbs_wr_recv() unless
 * @error is set.
 */
unsigned int kverbs_wr_recv_list(struct kverbs_queue *queue, struct kverbs_req **reqs,
				 unsigned int nr, int *error)
{
	struct ib_recv_wr wrs[KVERBS_RECV_LIST];
	struct ib_sge sges[KVERBS_RECV_LIST];
	struct kverbs_found found = {};
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!build_short_recv(queue, reqs[i], &found, &wrs[i], &sges[i]))
			break;
	*error = 0;
	if (i < 2)
		return 0;
	i = kverbs_queue_post_recvs(queue, reqs, wrs, i, error);
	/* A closed queue completes its deferred receives in kverbs_queue_flush_remaining(). */
	if (*error == -ENOTCONN)
		*error = -EAGAIN;
	return i;
}

/**
 * kverbs_wr_recv() - build and post the first deferred receive
 * @queue: the queue
 * @set: the lkey cache of the connection
 * @req: the first one of kverbs_queue_peek_deferred()
 *
 * Context: process, may sleep; the connection's HCA objects stay.
 * Return: 0; -EAGAIN if it must wait for kverbs_queue_ops.kick; -ENXIO if a region is not mapped on
 * this device; or why it can never be posted.
 */
int kverbs_wr_recv(struct kverbs_queue *queue, struct kverbs_lkey_cache *set,
		   struct kverbs_req *req)
{
	int ret = post_recv(queue, set, req);

	/* A closed queue completes its deferred receives in kverbs_queue_flush_remaining(). */
	return ret == -ENOTCONN ? -EAGAIN : ret;
}

/**
 * kverbs_wr_direct_recv() - name the buffer of a receive without registering it
 * @pd: the protection domain
 * @tenant: the connection or group that receives
 * @req: the receive
 * @sges: filled in
 * @max: room in @sges
 *
 * Context: any.
 * Return: number of entries; -EMSGSIZE if the buffer has more pieces; -ENXIO if a region is not
 * mapped on the device.
 */
int kverbs_wr_direct_recv(struct ib_pd *pd, const struct kverbs_tenant *tenant,
			  const struct kverbs_req *req, struct ib_sge *sges, int max)
{
	const struct accessor by = { pd->device, tenant, pd->local_dma_lkey };

	return direct_sges(by, req, sges, max);
}

/* ---- posting without sleeping --------------------------------------------- */

/* Appends entries that name the pages of the buffer, and work requests for them. */
static int add_mapped(struct builder *b, struct ib_pd *pd, struct kverbs_extent extent)
{
	const struct kverbs_map *map = kverbs_map_lookup(extent.region, pd->device,
							 b->queue->tenant);
	struct ib_sge *sge;
	u64 part;
	int ret;

	if (!map)
		return -ENXIO;
	while (extent.length) {
		ret = make_room(b);
		if (ret)
			return ret;
		sge = &b->chain->sges[b->chain->nr_sges++];
		part = kverbs_map_sge(map, extent.offset, min(extent.length, b->room),
				      pd->local_dma_lkey, sge);
		b->wr->num_sge++;
		b->room -= part;
		b->done += part;
		extent.offset += part;
		extent.length -= part;
	}
	return 0;
}

static int build_mapped(struct kverbs_queue *queue, struct ib_pd *pd, struct kverbs_req *req,
			struct kverbs_chain *chain)
{
	struct builder builder = {
		.queue = queue,
		.req = req,
		.chain = chain,
		.max_sges = max_sges(queue, req),
	};
	unsigned int i;
	int ret = 0;

	if (!req->length)
		return build_direct(queue, req, chain);
	for (i = 0; i < kverbs_req_extents(req) && !ret; i++)
		ret = add_mapped(&builder, pd, kverbs_req_extent(req, i));
	return ret;
}

/* One work request, whose sink is a reserved MR. */
static int build_reserved(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
			  struct kverbs_req *req, struct kverbs_chain *chain,
			  struct kverbs_mr *mr)
{
	const struct kverbs_map *map = kverbs_map_lookup(req->region, pool->pd->device,
							 pool->tenant);
	struct ib_send_wr *wr;
	int ret;

	if (!map)
		return -ENXIO;
	if (!mr || req->length > queue->max_recv)
		return -EMSGSIZE;
	if (mr->state != KVERBS_MR_FREE)
		return -EBUSY;
	ret = kverbs_mr_cover(pool, mr, map, req->offset, req->length,
			      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (ret)
		return ret;
	chain->sinks = true;
	chain->regs[chain->nr_regs++] = mr;
	wr = add_wr(req, chain, 0);
	chain->sges[chain->nr_sges++] = (struct ib_sge) {
		.addr = mr->ib->iova,
		.length = req->length,
		.lkey = mr->ib->lkey,
	};
	wr->num_sge = 1;
	return 0;
}

static int post_reserved(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
			 struct kverbs_req *req, struct kverbs_chain *chain,
			 struct kverbs_mr *mr)
{
	int ret;

	ret = build_reserved(queue, pool, req, chain, mr);
	if (ret)
		return ret;
	seal(req, chain, 1);
	chain->wrs[0].wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	chain->wrs[0].wr.ex.invalidate_rkey = mr->ib->lkey;
	ret = kverbs_queue_post(queue, req, chain);
	if (ret)
		kverbs_mr_uncover(pool, mr);
	return ret;
}

/**
 * kverbs_wr_post_now() - build and post an operation without sleeping
 * @queue: the queue
 * @pool: the MRs of the connection
 * @req: the operation, none that receives, whose regions are mapped
 * @chain: room for one work request more than its entries take
 * @mr: a reserved MR, or NULL. If it is MAPPED, its registration goes first. If the operation
 *	kverbs_wr_needs_sink(), this is the sink, which must be FREE and covers the buffer until
 *	kverbs_mr_uncover().
 *
 * Context: process or softirq; the connection's HCA objects stay.
 * Return: as kverbs_queue_post(); -ENXIO if a region is not mapped on this device; -EMSGSIZE also
 * if @chain or @mr is too small; -EBUSY also if the sink is in use.
 */
int kverbs_wr_post_now(struct kverbs_queue *queue, struct kverbs_mr_pool *pool,
		       struct kverbs_req *req, struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	int ret;

	drop_useless_fence(queue, req);
	kverbs_chain_reset(chain);
	if (kverbs_wr_needs_sink(queue, req))
		return post_reserved(queue, pool, req, chain, mr);
	if (mr && mr->state == KVERBS_MR_MAPPED)
		chain->regs[chain->nr_regs++] = mr;
	ret = build_mapped(queue, pool->pd, req, chain);
	if (ret)
		return ret;
	seal(req, chain, chain->nr_wrs);
	return kverbs_queue_post(queue, req, chain);
}

/**
 * kverbs_wr_invalidate_now() - post the invalidation of an MR without sleeping
 * @queue: the queue
 * @req: an operation of KVERBS_OP_NONE
 * @chain: room for one work request
 * @mr: a reserved MR, VALID; after @req has succeeded kverbs_mr_uncover() is due
 *
 * Context: process or softirq; the connection's HCA objects stay.
 * Return: as kverbs_queue_post(); -EBUSY also if the MR is not VALID.
 */
int kverbs_wr_invalidate_now(struct kverbs_queue *queue, struct kverbs_req *req,
			     struct kverbs_chain *chain, struct kverbs_mr *mr)
{
	struct ib_send_wr *wr;
	int ret;

	/* The peer may revoke the key at any time. */
	if (cmpxchg(&mr->state, KVERBS_MR_VALID, KVERBS_MR_POSTED) != KVERBS_MR_VALID)
		return -EBUSY;
	kverbs_chain_reset(chain);
	wr = add_wr(req, chain, 0);
	wr->opcode = IB_WR_LOCAL_INV;
	wr->sg_list = NULL;
	wr->ex.invalidate_rkey = mr->ib->rkey;
	ret = kverbs_queue_post(queue, req, chain);
	if (ret)
		cmpxchg(&mr->state, KVERBS_MR_POSTED, KVERBS_MR_VALID);
	return ret;
}

/**
 * kverbs_wr_recv_now() - build and post a receive without sleeping
 * @queue: the queue, which has a queue pair
 * @pd: the protection domain
 * @req: the receive, whose regions are mapped
 * @chain: room for its entries
 *
 * Context: process or softirq; the connection's HCA objects stay.
 * Return: as kverbs_queue_recv_now(); -ENXIO if a region is not mapped on this device; -EMSGSIZE
 * if the buffer takes too many entries or is too long.
 */
int kverbs_wr_recv_now(struct kverbs_queue *queue, struct ib_pd *pd, struct kverbs_req *req,
		       struct kverbs_chain *chain)
{
	int nr;

	if (req->length > queue->max_recv)
		return -EMSGSIZE;
	nr = kverbs_wr_direct_recv(pd, queue->tenant, req, chain->sges,
				   min_t(int, queue->max_recv_sge, chain->max_sges));
	return nr < 0 ? nr : kverbs_queue_recv_now(queue, req, chain->sges, nr);
}
