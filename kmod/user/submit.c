// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Taking entries from the submission ring. */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "conn_cmd.h"
#include "conn_io.h"
#include "file.h"
#include "pool_cmd.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "sqe.h"
#include "slot.h"
#include "submit.h"
#include "timeout.h"

/**
 * struct batch - entries of one SUBMIT
 * @file: whose
 * @ring: from which ring
 * @slots: for entries to come, linked by their next
 * @refused: operations of entries that are invalid, to be completed
 * @sqe: the entry that was read last
 * @ahead: it is not in a run yet
 *
 * Entries that follow each other to one connection are posted together, a run:
 * looked at first, while user memory may be read, then handed to the connection.
 */
struct batch {
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_slot *slots;
	struct list_head refused;
	struct kverbs_sqe sqe;
	bool ahead;
};

static struct kverbs_conn_obj *conn_of(const struct batch *batch)
{
	return container_of(batch->ring->conn, struct kverbs_conn_obj, obj);
}

static struct kverbs_region *region_of(const struct batch *batch)
{
	return kverbs_region_of_obj(batch->ring->region);
}

static int get_conn(struct batch *batch, u32 id)
{
	struct kverbs_ring *ring = batch->ring;
	struct kverbs_conn_obj *conn;

	if (ring->conn && ring->conn->id == id)
		return 0;
	if (ring->conn)
		kverbs_object_put(ring->conn);
	ring->conn = NULL;
	conn = kverbs_conn_obj_get(batch->file, id);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ring->conn = &conn->obj;
	return 0;
}

static int get_region(struct batch *batch, u32 id)
{
	struct kverbs_ring *ring = batch->ring;
	struct kverbs_region_obj *region;

	if (ring->region && ring->region->id == id)
		return 0;
	region = kverbs_region_obj_get(batch->file, id);
	if (IS_ERR(region))
		return PTR_ERR(region);
	kverbs_ring_keep_region(ring, &region->obj);
	return 0;
}

static inline int find_extent(struct batch *batch, const struct kverbs_sqe *sqe,
			      u32 region_id, struct kverbs_extent *extent)
{
	struct kverbs_region *region;
	int ret;

	ret = get_region(batch, region_id);
	if (ret)
		return ret;
	region = region_of(batch);
	if (!kverbs_region_covers(region, extent->offset, extent->length))
		return -EINVAL;
	if (kverbs_opcode_has(sqe->opcode, KVERBS_OPF_WRITES) && !region->writable)
		return -EINVAL;
	extent->region = region;
	return 0;
}

static int find_buffer(struct batch *batch, const struct kverbs_sqe *sqe,
		       struct kverbs_req *req)
{
	struct kverbs_extent extent = {
		.offset = sqe->offset,
		.length = kverbs_sqe_length(sqe),
	};
	int ret;

	if (!extent.length)
		return 0;
	ret = find_extent(batch, sqe, sqe->region_id, &extent);
	if (ret)
		return ret;
	if (kverbs_opcode_has(sqe->opcode, KVERBS_OPF_ATOMIC) &&
	    !IS_ALIGNED(extent.region->page_offset + extent.offset, sizeof(u64)))
		return -EINVAL;
	req->region = extent.region;
	req->offset = extent.offset;
	req->length = extent.length;
	req->kept = true;
	container_of(req, struct kverbs_slot, req)->epoch = batch->ring->epoch;
	batch->ring->region_posted++;
	return 0;
}

static int find_piece(struct batch *batch, const struct kverbs_sqe *sqe,
		      struct kverbs_req *req)
{
	struct kverbs_extent *extent = &req->list[req->nr_list];
	struct kverbs_piece piece;
	int ret;

	ret = kverbs_array_get(&piece, sizeof(piece), sqe->offset, sqe->piece_stride,
			       req->nr_list);
	if (ret)
		return ret == -E2BIG ? -EINVAL : ret;
	if (!piece.length || piece.__reserved)
		return -EINVAL;
	extent->offset = piece.offset;
	extent->length = piece.length;
	ret = find_extent(batch, sqe, piece.region_id, extent);
	if (ret)
		return ret;
	/* Its object is put when the next region is looked up. */
	kverbs_region_use(extent->region);
	req->nr_list++;
	req->length += extent->length;
	return 0;
}

static int find_list(struct batch *batch, const struct kverbs_sqe *sqe,
		     struct kverbs_req *req)
{
	struct kverbs_list *list = kverbs_list_get(batch->ring);
	unsigned int i;
	int ret;

	if (!list)
		return -ENOMEM;
	container_of(req, struct kverbs_slot, req)->list = list;
	req->list = list->extents;
	for (i = 0; i < sqe->length; i++) {
		ret = find_piece(batch, sqe, req);
		if (ret) {
			kverbs_req_unuse(req);
			return ret;
		}
	}
	if (req->length > U32_MAX) {
		kverbs_req_unuse(req);
		return -EMSGSIZE;
	}
	return 0;
}

/* Field by field: what the queue writes need not be zeroed before. */
static void fill_req(const struct kverbs_sqe *sqe, struct kverbs_slot *slot)
{
	struct kverbs_req *req = &slot->req;
	bool recv = kverbs_opcode_has(sqe->opcode, KVERBS_OPF_RECV);

	slot->user_data = sqe->user_data;
	slot->conn_id = sqe->conn_id;
	slot->signal = recv || sqe->flags & KVERBS_SQE_SIGNAL;
	req->region = NULL;
	req->offset = 0;
	req->length = 0;
	req->list = NULL;
	req->nr_list = 0;
	req->remote_addr = sqe->remote_addr;
	req->rkey = sqe->rkey;
	req->imm = sqe->imm;
	req->operand = sqe->operand;
	req->swap = sqe->swap;
	req->opcode = sqe->opcode;
	req->fence = sqe->flags & KVERBS_SQE_FENCE;
	req->solicited = sqe->flags & KVERBS_SQE_SOLICITED;
	req->unsignalled = !slot->signal;
	req->privileged = false;
	req->pooled = false;
	req->kept = false;
	req->held = false;
	req->done = kverbs_slots_done;
	req->result = 0;
	req->wc_status = 0;
	req->flags = recv ? KVERBS_CQE_F_RECV : 0;
	req->byte_len = 0;
}

static struct kverbs_slot *pop_slot(struct batch *batch, u32 nr)
{
	struct kverbs_slot *slot;

	if (!batch->slots)
		batch->slots = kverbs_slots_get(batch->ring, nr);
	slot = batch->slots;
	if (!slot)
		return NULL;
	batch->slots = slot->next;
	slot->next = NULL;
	return slot;
}

static int find_memory(struct batch *batch, struct kverbs_req *req)
{
	if (batch->sqe.flags & KVERBS_SQE_LIST)
		return find_list(batch, &batch->sqe, req);
	return find_buffer(batch, &batch->sqe, req);
}

static bool is_recv(const struct batch *batch)
{
	return batch->sqe.opcode == KVERBS_OP_RECV;
}

/* True if an earlier operation of this SUBMIT was refused: this one must not overtake it. */
static bool is_cancelled(const struct batch *batch)
{
	return !is_recv(batch) && conn_of(batch)->refused == batch->ring->nr_submits;
}

/* Makes an operation of the entry. */
static int prepare(struct batch *batch, struct kverbs_slot *slot)
{
	int ret;

	ret = kverbs_sqe_check(&batch->sqe);
	if (!ret)
		ret = get_conn(batch, batch->sqe.conn_id);
	if (!ret && READ_ONCE(conn_of(batch)->ring) != batch->ring)
		ret = -EINVAL;
	if (!ret && is_cancelled(batch))
		ret = -ECANCELED;
	if (ret)
		return ret;
	fill_req(&batch->sqe, slot);
	return find_memory(batch, &slot->req);
}

/* An invalid entry completes with its error, so that it delays no other entry. */
static void refuse(struct batch *batch, struct kverbs_slot *slot, int error)
{
	const struct kverbs_sqe *sqe = &batch->sqe;
	const struct kverbs_object *conn = batch->ring->conn;
	struct kverbs_req *req = &slot->req;

	slot->user_data = sqe->user_data;
	slot->conn_id = sqe->conn_id;
	slot->signal = true;
	req->kept = false;
	req->done = kverbs_slots_done;
	req->result = error;
	req->wc_status = 0;
	req->flags = is_recv(batch) ? KVERBS_CQE_F_RECV : 0;
	list_add_tail(&req->entry, &batch->refused);
	if (!is_recv(batch) && conn && conn->id == sqe->conn_id)
		conn_of(batch)->refused = batch->ring->nr_submits;
}

/* Reads the entry once, so that a later write of user space has no effect. */
static void read_entry(struct batch *batch, u32 n)
{
	const struct kverbs_sqe *sqes = batch->ring->sq.addr;

	if (batch->ahead)
		return;
	memcpy(&batch->sqe, &sqes[n & (batch->ring->sq_entries - 1)], sizeof(batch->sqe));
	/* The compiler must not go back to shared memory for a field. */
	barrier();
	batch->sqe.opcode = kverbs_opcode_clamp(batch->sqe.opcode);
	batch->ahead = true;
}

/*
 * Whether the entry can be posted together with @first, the first of a run. Its opcode is
 * not checked yet.
 */
static bool joins(const struct batch *batch, const struct kverbs_req *first)
{
	return batch->sqe.conn_id == batch->ring->conn->id &&
	       is_recv(batch) == (first->opcode == KVERBS_OP_RECV);
}

/**
 * gather() - accept entries up to the end of a run
 * @batch: the entries
 * @max: accept at most this many
 * @nr: set to the number of operations in the run
 *
 * Return: how many entries were accepted, those included that were refused.
 */
static u32 gather(struct batch *batch, u32 max, unsigned int *nr)
{
	struct kverbs_req **reqs = batch->ring->chain->reqs;
	struct kverbs_slot *slot;
	u32 taken;
	int ret;

	*nr = 0;
	max = min_t(u32, max, KVERBS_OP_WRS);
	for (taken = 0; taken < max; taken++) {
		read_entry(batch, batch->ring->sq_head + taken);
		if (*nr && !joins(batch, reqs[0]))
			break;
		slot = pop_slot(batch, max - taken);
		if (!slot)
			break;
		batch->ahead = false;
		ret = prepare(batch, slot);
		if (ret)
			refuse(batch, slot, ret);
		else
			reqs[(*nr)++] = &slot->req;
	}
	return taken;
}

static void post_gathered(struct batch *batch, unsigned int nr)
{
	struct kverbs_chain *chain = batch->ring->chain;
	struct kverbs_conn_obj *obj = conn_of(batch);
	struct kverbs_conn *conn = obj->conn;

	if (kverbs_opcode_has(chain->reqs[0]->opcode, KVERBS_OPF_RECV))
		kverbs_conn_submit_recvs(conn, chain->reqs, nr);
	else if (!kverbs_conn_submit_list(conn, chain->reqs, nr, chain))
		obj->refused = batch->ring->nr_submits;
}

/* Accepts a run of at most @max entries. Returns how many, 0 for want of a slot. */
static u32 take_run(struct batch *batch, u32 max)
{
	struct kverbs_ring *ring = batch->ring;
	struct kverbs_ring_kernel *shared = ring->cq.addr;
	unsigned int nr;
	u32 taken;

	taken = gather(batch, max, &nr);
	if (nr)
		post_gathered(batch, nr);
	if (!list_empty(&batch->refused))
		kverbs_slots_done(&batch->refused);
	ring->sq_head += taken;
	/* The entries are read before the user may write them again. */
	smp_store_release(&shared->sq_head, ring->sq_head);
	return taken;
}

static void set_ring_flag(struct kverbs_ring *ring, u32 flag, bool set)
{
	struct kverbs_ring_kernel *shared = ring->cq.addr;

	lockdep_assert_held(&ring->submit_lock);
	if (set != !!(ring->flags & flag)) {
		ring->flags ^= flag;
		WRITE_ONCE(shared->flags, ring->flags);
	}
}

static int take_entries(struct batch *batch, u32 nr, u32 *taken)
{
	struct kverbs_ring *ring = batch->ring;
	struct kverbs_ring_user *user = ring->idx.addr;
	u32 filled, run = 1;

	lockdep_assert_held(&ring->submit_lock);
	ring->nr_submits++;
	/* Pairs with the user's release: the entries are written. */
	filled = smp_load_acquire(&user->sq_tail) - ring->sq_head;
	if (filled > ring->sq_entries) {
		set_ring_flag(ring, KVERBS_KFLAG_BAD_INDEX, true);
		return -EINVAL;
	}
	nr = min(nr, filled);
	while (*taken < nr && run) {
		run = take_run(batch, nr - *taken);
		*taken += run;
		cond_resched();
	}
	if (batch->slots)
		kverbs_slots_put(ring, batch->slots);
	set_ring_flag(ring, KVERBS_KFLAG_FULL, !run);
	return run ? 0 : -EAGAIN;
}

static int submit_locked(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	struct batch batch = {
		.file = ucmd->file,
		.ring = ring,
		.refused = LIST_HEAD_INIT(batch.refused),
	};

	cmd->out_error = take_entries(&batch, cmd->to_submit, &cmd->out_taken);
	return cmd->out_taken ? 0 : cmd->out_error;
}

static int submit(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	int ret;

	if (mutex_lock_interruptible(&ring->submit_lock))
		return -ERESTARTNOHAND;
	ret = submit_locked(ucmd, ring);
	mutex_unlock(&ring->submit_lock);
	return ret;
}

static bool watches(const struct kverbs_cmd_submit *cmd)
{
	return cmd->flags & KVERBS_SUBMIT_WATCH;
}

/* Validates the watched byte before an entry is accepted, so that a bad address fails it all. */
static int check_watch(const struct kverbs_cmd_submit *cmd)
{
	if (!watches(cmd))
		return cmd->watch_uptr || cmd->watch_old ? -EINVAL : 0;
	if (!cmd->min_complete || cmd->watch_old > U8_MAX)
		return -EINVAL;
	return fault_in_readable(u64_to_user_ptr(cmd->watch_uptr), 1) ? -EFAULT : 0;
}

static int check_cmd(const struct kverbs_cmd_submit *cmd, const struct kverbs_ring *ring)
{
	if (cmd->flags & ~(KVERBS_SUBMIT_WATCH | KVERBS_SUBMIT_WAKE | KVERBS_TIME_ABSOLUTE))
		return -EINVAL;
	if (cmd->min_complete > ring->cq_entries)
		return -EINVAL;
	return check_watch(cmd);
}

static int wait_or_watch(struct kverbs_ring *ring, const struct kverbs_cmd_submit *cmd)
{
	const struct kverbs_watch watch = {
		.at = u64_to_user_ptr(cmd->watch_uptr),
		.old = cmd->watch_old,
	};
	u64 deadline_ns = kverbs_timeout_deadline(cmd->flags, cmd->timeout_ns);

	if (watches(cmd))
		return kverbs_ring_watch(ring, cmd->min_complete, deadline_ns, &watch);
	return kverbs_ring_wait(ring, cmd->min_complete, deadline_ns);
}

static int submit_and_wait(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	int ret;

	ret = check_cmd(cmd, ring);
	if (!ret && cmd->pool_id)
		ret = kverbs_pool_obj_wake(ucmd->file, cmd->pool_id);
	if (ret)
		return ret;
	if (cmd->flags & KVERBS_SUBMIT_WAKE)
		kverbs_ring_wake(ring);
	/* Completions give their slots back before more entries are accepted. */
	if (ring->cqs.direct)
		kverbs_cq_set_poll(&ring->cqs);
	if (cmd->to_submit)
		ret = submit(ucmd, ring);
	if (!ret && cmd->min_complete) {
		ret = wait_or_watch(ring, cmd);
		/* Accepted entries are success, whatever ends the wait. */
		if (cmd->out_taken || ret == -ETIME)
			ret = 0;
	}
	cmd->out_ready = kverbs_ring_unread(ring);
	/* A poll-only SUBMIT that found nothing will be repeated at once. */
	if (ring->cqs.direct && !cmd->to_submit && !cmd->min_complete && !cmd->out_ready)
		kverbs_cq_relax();
	return ret;
}

/* A SUBMIT that neither waits nor wakes a pool needs its ring only under the lock. */
static bool is_plain(const struct kverbs_cmd_submit *cmd)
{
	return cmd->to_submit && !cmd->min_complete && !cmd->flags && !cmd->watch_uptr &&
	       !cmd->watch_old && !cmd->pool_id;
}

static int submit_plain(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	int ret;

	if (ring->cqs.direct)
		kverbs_cq_set_poll(&ring->cqs);
	ret = submit_locked(ucmd, ring);
	cmd->out_ready = kverbs_ring_unread(ring);
	return ret;
}

int kverbs_cmd_submit(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	struct kverbs_ring *ring;
	int ret;

	cmd->out_taken = 0;
	cmd->out_error = 0;
	ring = is_plain(cmd) ? kverbs_ring_trylock(ucmd->file, cmd->ring_id) : NULL;
	if (ring) {
		ret = submit_plain(ucmd, ring);
		kverbs_ring_unlock(ring);
		return ret;
	}
	ring = kverbs_ring_get(ucmd->file, cmd->ring_id);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = submit_and_wait(ucmd, ring);
	kverbs_object_put(&ring->obj);
	return ret;
}
