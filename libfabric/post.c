// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting: from an operation of the application to entries of the submission ring.
 *
 * A message is one entry. A READ or a WRITE is cut where the peer's memory changes its key: all
 * entries are signalled, and the operation is complete when the last of them is. The slots of
 * its completions are counted before it is posted, so SUBMIT takes all entries.
 *
 * The lock of the fabric serialises all that is done here to the submission rings.
 */
#include <string.h>

#include "fi_kverbs.h"
#include "sys.h"

/* Entries that are submitted together */
#define BATCH 32

/**
 * struct posting - an operation while it is posted
 * @ep: the endpoint
 * @work: what is wanted
 * @local: pieces of the local buffer, without empty ones
 * @nr_local: length of @local
 * @length: bytes of all pieces
 * @segs: memory of the peer
 * @nr_segs: length of @segs, 0: a message
 * @lists: lists of the entries of a batch
 * @filled: entries of the batch
 */
struct posting {
	struct kvf_ep *ep;
	const struct kvf_work *work;
	struct kverbs_piece local[KVF_IOV_LIMIT];
	uint32_t nr_local;
	uint64_t length;
	const struct kverbs_segment *segs;
	uint32_t nr_segs;
	struct kverbs_piece lists[BATCH][KVF_IOV_LIMIT];
	uint32_t filled;
};

/* ---- the local buffer ---- */

static bool contains(const struct kvf_mr *mr, const struct kvf_ep *ep, const struct iovec *iov)
{
	const char *start = iov->iov_base;

	return mr && mr->domain == ep->domain && start >= mr->base &&
	       iov->iov_len <= mr->length &&
	       (size_t)(start - mr->base) <= mr->length - iov->iov_len;
}

/* READ stores to its local buffer, and so does a receive. */
static bool stores(const struct kvf_work *work)
{
	return work->opcode == KVERBS_OP_READ || work->opcode == KVERBS_OP_RECV;
}

/* A buffer that the program did not register: with FI_MR_LOCAL that is an error. */
static int set_cached_piece(struct kvf_op *op, const struct kvf_work *work,
			    const struct iovec *iov, struct kverbs_piece *piece)
{
	struct kvf_reg *reg;
	int ret;

	ret = kvf_cache_get(kvf_ep_fabric(op->ep), iov->iov_base, iov->iov_len, stores(work), &reg);
	if (ret)
		return ret;
	op->regs[op->nr_regs++] = reg;
	*piece = (struct kverbs_piece){
		.region_id = reg->region_id,
		.offset = (uintptr_t)iov->iov_base - reg->start,
		.length = iov->iov_len,
	};
	return 0;
}

static int set_piece(struct kvf_op *op, const struct kvf_work *work, size_t i,
		     struct kverbs_piece *piece)
{
	const struct kvf_mr *mr = work->desc ? work->desc[i] : NULL;
	const struct iovec *iov = &work->iov[i];
	int ret = -FI_ENOSYS;

	if (!mr)
		ret = set_cached_piece(op, work, iov, piece);
	if (ret != -FI_ENOSYS)
		return ret;
	if (!contains(mr, op->ep, iov)) {
		kvf_warn(EP_DATA, "a buffer is not in the memory region of its descriptor\n");
		return -FI_EINVAL;
	}
	*piece = (struct kverbs_piece){
		.region_id = mr->region_id,
		.offset = mr->offset + (uint64_t)((const char *)iov->iov_base - mr->base),
		.length = iov->iov_len,
	};
	return 0;
}

/* Set the pieces of registered buffers. */
static int set_pieces(struct kvf_op *op, const struct kvf_work *work,
		      struct kverbs_piece *pieces, uint32_t *nr, uint64_t *length)
{
	size_t i;
	int ret;

	*nr = 0;
	*length = 0;
	if (work->count > KVF_IOV_LIMIT)
		return -FI_EINVAL;
	for (i = 0; i < work->count; i++) {
		if (!work->iov[i].iov_len)
			continue;
		ret = set_piece(op, work, i, &pieces[(*nr)++]);
		if (ret)
			return ret;
		*length += work->iov[i].iov_len;
	}
	return 0;
}

/* Copy the data to a slot; an operation without data needs none. */
static int set_slot(struct posting *p, struct kvf_op *op)
{
	const struct kvf_work *work = p->work;
	size_t i;

	p->nr_local = 0;
	p->length = 0;
	for (i = 0; i < work->count; i++)
		p->length += work->iov[i].iov_len;
	if (p->length > kvf_param.inject)
		return -FI_EMSGSIZE;
	if (!p->length)
		return 0;
	op->slot = kvf_slot_get(p->ep->domain);
	if (!op->slot)
		return -FI_ENOMEM;
	p->length = 0;
	for (i = 0; i < work->count; i++) {
		memcpy((char *)op->slot->data + p->length, work->iov[i].iov_base,
		       work->iov[i].iov_len);
		p->length += work->iov[i].iov_len;
	}
	p->local[p->nr_local++] = (struct kverbs_piece){
		.region_id = op->slot->region_id,
		.offset = op->slot->offset,
		.length = p->length,
	};
	return 0;
}

/* ---- the peer's memory ---- */

static bool is_rma(const struct kvf_work *work)
{
	return work->opcode == KVERBS_OP_READ || work->opcode == KVERBS_OP_WRITE ||
	       work->opcode == KVERBS_OP_WRITE_IMM;
}

/* Let @segs begin with the segment that has the first byte. */
static int skip_segments(struct posting *p)
{
	uint64_t addr = p->work->addr;

	while (p->nr_segs && addr - p->segs->addr >= p->segs->length) {
		p->segs++;
		p->nr_segs--;
	}
	return p->nr_segs && addr >= p->segs->addr ? 0 : -FI_EACCES;
}

/* How many entries it takes; -FI_EACCES: the memory region ends before. */
static int64_t count_parts(const struct posting *p)
{
	uint64_t done = 0, at = p->work->addr;
	uint32_t i;

	if (!p->nr_segs || !p->length)
		return 1;
	for (i = 0; i < p->nr_segs; i++) {
		done += p->segs[i].length - (at - p->segs[i].addr);
		at = p->segs[i].addr + p->segs[i].length;
		if (done >= p->length)
			return i + 1;
	}
	return -FI_EACCES;
}

/* ---- entries ---- */

static void set_buffer(struct kverbs_sqe *sqe, const struct kverbs_piece *pieces, uint32_t nr)
{
	if (nr == 1) {
		sqe->region_id = pieces->region_id;
		sqe->offset = pieces->offset;
		sqe->length = pieces->length;
	} else if (nr) {
		sqe->flags |= KVERBS_SQE_LIST;
		sqe->piece_stride = sizeof(*pieces);
		sqe->offset = (uintptr_t)pieces;
		sqe->length = nr;
	}
}

/* Take the next @length bytes off the local pieces. */
static uint32_t take_local(struct posting *p, uint64_t length, struct kverbs_piece *to)
{
	uint32_t nr = 0, first = 0;

	while (length) {
		struct kverbs_piece *from = &p->local[first];

		to[nr] = *from;
		if (to[nr].length > length)
			to[nr].length = length;
		from->offset += to[nr].length;
		from->length -= to[nr].length;
		length -= to[nr++].length;
		first += !from->length;
	}
	p->nr_local -= first;
	memmove(p->local, p->local + first, p->nr_local * sizeof(p->local[0]));
	return nr;
}

static void fill(struct posting *p, struct kvf_op *op, struct kverbs_sqe *sqe, uint64_t done,
		 bool is_last)
{
	const struct kvf_work *work = p->work;
	uint64_t length = p->length - done;
	uint32_t nr;

	sqe->opcode = work->opcode;
	sqe->flags = KVERBS_SQE_SIGNAL;
	if (work->flags & FI_FENCE && !done)
		sqe->flags |= KVERBS_SQE_FENCE;
	sqe->conn_id = p->ep->conn_id;
	sqe->user_data = (uintptr_t)op;
	if (p->nr_segs) {
		sqe->remote_addr = work->addr + done;
		sqe->rkey = p->segs->rkey;
		if (length > p->segs->length - (sqe->remote_addr - p->segs->addr))
			length = p->segs->length - (sqe->remote_addr - p->segs->addr);
	}
	if (work->opcode == KVERBS_OP_WRITE_IMM && !is_last)
		sqe->opcode = KVERBS_OP_WRITE;
	if (sqe->opcode == KVERBS_OP_WRITE_IMM || sqe->opcode == KVERBS_OP_SEND_IMM)
		sqe->imm = htonl((uint32_t)work->data);
	nr = take_local(p, length, p->lists[p->filled]);
	set_buffer(sqe, p->lists[p->filled], nr);
	p->filled++;
}

/* Bytes that the entry at the head of @segs moves, from @done on. */
static uint64_t step(const struct posting *p, uint64_t done)
{
	uint64_t left = p->length - done, in_seg;

	if (!p->nr_segs)
		return left;
	in_seg = p->segs->length - (p->work->addr + done - p->segs->addr);
	return left < in_seg ? left : in_seg;
}

/* Returns how many of @parts entries were taken; *error says why not all. */
static uint32_t submit(struct posting *p, struct kvf_op *op, uint32_t parts, int *error)
{
	struct kverbs_ring *ring = &p->ep->ring->ring;
	uint32_t at = 0, taken = 0;
	uint64_t done = 0, moved;

	*error = 0;
	while (at < parts && !*error) {
		for (p->filled = 0; at < parts && p->filled < BATCH; at++) {
			moved = step(p, done);
			fill(p, op, kverbs_ring_sqe(ring), done, at == parts - 1);
			done += moved;
			if (p->nr_segs > 1 && at < parts - 1) {
				p->segs++;
				p->nr_segs--;
			}
		}
		taken += kverbs_ring_submit(ring, error);
	}
	return taken;
}

/* ---- credits ---- */

static bool has_room(const struct kvf_ep *ep, uint32_t parts, bool is_recv)
{
	const struct kvf_ring *ring = ep->ring;

	if (is_recv ? ep->rx_used >= ep->info->rx_attr->size :
		      ep->tx_used >= ep->info->tx_attr->size)
		return false;
	return ring->ring.cq_entries - ring->used >= parts;
}

/* Slots and places in the queue become free when completions are read. */
static int reserve(struct kvf_ep *ep, uint32_t parts, bool is_recv)
{
	if (!has_room(ep, parts, is_recv)) {
		kvf_progress(kvf_ep_fabric(ep));
		if (!has_room(ep, parts, is_recv))
			return -FI_EAGAIN;
	}
	ep->ring->used += parts;
	if (is_recv)
		ep->rx_used++;
	else
		ep->tx_used++;
	return 0;
}

static void unreserve(struct kvf_ep *ep, uint32_t parts, bool is_recv)
{
	ep->ring->used -= parts;
	if (is_recv)
		ep->rx_used--;
	else
		ep->tx_used--;
}

/* ---- operations ---- */

static struct kvf_op *new_op(struct kvf_ep *ep, const struct kvf_work *work)
{
	struct kvf_op *op = kvf_op_get(kvf_ep_fabric(ep));

	if (!op)
		return NULL;
	op->ep = ep;
	op->ring = ep->ring;
	op->cntr = ep->cntrs[work->counted];
	op->context = work->context;
	op->buf = work->count ? work->iov->iov_base : NULL;
	op->flags = work->comp_flags;
	return op;
}

static void drop_op(struct kvf_ep *ep, struct kvf_op *op)
{
	if (op->slot)
		kvf_slot_put(ep->domain, op->slot);
	kvf_op_put(kvf_ep_fabric(ep), op);
}

/* A transfer of which a part was not taken cannot be taken back: the connection ends. */
static void end_connection(struct kvf_ep *ep)
{
	struct kverbs_cmd_disconnect cmd = { .size = sizeof(cmd), .conn_id = ep->conn_id };

	kverbs_sys_ioctl(kvf_ep_fabric(ep)->fd, KVERBS_DISCONNECT, &cmd);
}

static int post_parts(struct posting *p, struct kvf_op *op)
{
	struct kverbs_segment one;
	const struct kverbs_segment *all = NULL;
	int64_t parts;
	uint32_t taken, nr = 0;
	int ret, error;

	if (is_rma(p->work)) {
		ret = kvf_key_resolve(p->ep, p->work->key, &one, &all, &nr);
		if (ret)
			return ret;
		p->segs = all;
		p->nr_segs = nr;
		ret = p->length ? skip_segments(p) : 0;
		if (ret)
			return ret;
	}
	parts = count_parts(p);
	if (parts < 0)
		return (int)parts;
	ret = reserve(p->ep, parts, false);
	if (ret)
		return ret;
	op->parts = parts;
	taken = submit(p, op, parts, &error);
	if (taken == parts)
		return 0;
	if (!taken) {
		unreserve(p->ep, parts, false);
		return error;
	}
	kvf_op_fail(op, parts - taken, error);
	end_connection(p->ep);
	return 0;
}

static int prepare(struct posting *p, struct kvf_op *op)
{
	const struct kvf_domain *domain = p->ep->domain;
	int ret;

	if (p->work->flags & FI_INJECT)
		ret = set_slot(p, op);
	else
		ret = set_pieces(op, p->work, p->local, &p->nr_local, &p->length);
	if (!ret && p->length > (is_rma(p->work) ? domain->max_rma : domain->max_msg))
		ret = -FI_EMSGSIZE;
	return ret;
}

static ssize_t post_locked(struct posting *p)
{
	struct kvf_ep *ep = p->ep;
	struct kvf_op *op;
	int ret;

	if (ep->state != KVF_EP_UP && ep->state != KVF_EP_DOWN)
		return -FI_ENOTCONN;
	if (ep->domain->is_iwarp && p->work->flags & FI_REMOTE_CQ_DATA)
		return -FI_EOPNOTSUPP;
	op = new_op(ep, p->work);
	if (!op)
		return -FI_ENOMEM;
	/* Not even failures are reported of what has no context; ofi_rxm relies on that. */
	op->cq = p->work->never_reported ? NULL : ep->tx_cq;
	op->is_silent = ep->tx_selective && !(p->work->flags & FI_COMPLETION);
	ret = prepare(p, op);
	if (!ret)
		ret = post_parts(p, op);
	if (ret)
		drop_op(ep, op);
	return ret;
}

ssize_t kvf_post(struct kvf_ep *ep, const struct kvf_work *work)
{
	struct posting p = { .ep = ep, .work = work };
	ssize_t ret;

	pthread_mutex_lock(&kvf_ep_fabric(ep)->lock);
	ret = post_locked(&p);
	pthread_mutex_unlock(&kvf_ep_fabric(ep)->lock);
	return ret;
}

/* ---- receives ---- */

static int submit_recv(struct kvf_op *op)
{
	struct kverbs_ring *ring = &op->ring->ring;
	int error;

	op->sqe.conn_id = op->ep->conn_id;
	*kverbs_ring_sqe(ring) = op->sqe;
	kverbs_ring_submit(ring, &error);
	return error;
}

static int fill_recv(struct kvf_op *op, const struct kvf_work *work)
{
	uint64_t length;
	uint32_t nr;
	int ret;

	ret = set_pieces(op, work, op->pieces, &nr, &length);
	if (ret)
		return ret;
	memset(&op->sqe, 0, sizeof(op->sqe));
	op->sqe.opcode = KVERBS_OP_RECV;
	op->sqe.user_data = (uintptr_t)op;
	set_buffer(&op->sqe, op->pieces, nr);
	return 0;
}

static int post_filled_recv(struct kvf_op *op)
{
	struct kvf_ep *ep = op->ep;
	int ret;

	ret = reserve(ep, 1, true);
	if (ret)
		return ret;
	op->parts = 1;
	if (ep->state == KVF_EP_IDLE || ep->state == KVF_EP_REQUESTED) {
		list_add_tail(&op->node, &ep->pending);
		return 0;
	}
	ret = submit_recv(op);
	if (ret)
		unreserve(ep, 1, true);
	return ret;
}

static ssize_t post_recv_locked(struct kvf_ep *ep, const struct kvf_work *work)
{
	struct kvf_op *op;
	int ret;

	if (!ep->is_enabled)
		return -FI_EOPBADSTATE;
	op = new_op(ep, work);
	if (!op)
		return -FI_ENOMEM;
	op->cq = ep->rx_cq;
	op->is_recv = true;
	op->is_silent = ep->rx_selective && !(work->flags & FI_COMPLETION);
	ret = fill_recv(op, work);
	if (!ret)
		ret = post_filled_recv(op);
	if (ret)
		drop_op(ep, op);
	return ret;
}

ssize_t kvf_post_recv(struct kvf_ep *ep, const struct kvf_work *work)
{
	ssize_t ret;

	pthread_mutex_lock(&kvf_ep_fabric(ep)->lock);
	ret = post_recv_locked(ep, work);
	pthread_mutex_unlock(&kvf_ep_fabric(ep)->lock);
	return ret;
}

void kvf_post_pending(struct kvf_ep *ep)
{
	struct kvf_op *op;
	int error;

	while (!list_empty(&ep->pending)) {
		op = list_entry(ep->pending.next, struct kvf_op, node);
		list_del(&op->node);
		error = submit_recv(op);
		if (error)
			kvf_op_fail(op, 1, error);
	}
}

/*
 * On iWARP a message that finds no receive ends the connection, and the peer may send as soon as it
 * is accepted. Before that, the kernel takes receives on the listener's ring only. Half of that is
 * left to its events.
 */
void kvf_post_early(struct kvf_ep *ep)
{
	struct kvf_ring *ring = &ep->early_eq->queue.ring;
	struct kvf_op *op;

	while (!list_empty(&ep->pending) && ring->used < ring->ring.cq_entries / 2) {
		op = list_entry(ep->pending.next, struct kvf_op, node);
		op->ring = ring;
		if (submit_recv(op)) {
			op->ring = ep->ring;
			return;
		}
		list_del(&op->node);
		ep->ring->used--;
		ring->used++;
		ep->early++;
	}
}

/* ---- key directories ---- */

int kvf_post_dir_read(struct kvf_ep *ep, struct kvf_dir *dir, uint32_t region_id,
		      uint32_t length, uint32_t rkey)
{
	const struct kvf_work work = { .opcode = KVERBS_OP_READ };
	struct kvf_ring *ring = ep->ring;
	struct kverbs_sqe *sqe;
	struct kvf_op *op;
	int error;

	if (ring->used == ring->ring.cq_entries)
		return -FI_EAGAIN;
	op = new_op(ep, &work);
	if (!op)
		return -FI_ENOMEM;
	op->dir = dir;
	op->parts = 1;
	sqe = kverbs_ring_sqe(&ring->ring);
	sqe->opcode = KVERBS_OP_READ;
	sqe->flags = KVERBS_SQE_SIGNAL;
	sqe->conn_id = ep->conn_id;
	sqe->user_data = (uintptr_t)op;
	sqe->region_id = region_id;
	sqe->length = length;
	sqe->rkey = rkey;
	kverbs_ring_submit(&ring->ring, &error);
	if (error)
		kvf_op_put(kvf_ep_fabric(ep), op);
	else
		ring->used++;
	return error;
}
