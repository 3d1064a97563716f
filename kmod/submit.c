// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Taking entries from the submission ring. */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "chardev.h"
#include "conn_cmd.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "sqe.h"

/**
 * struct batch - entries of one SUBMIT
 * @file: whose
 * @ring: from which ring
 * @conn: the last entry's connection, which the next one's often is too
 * @region: the last entry's region, likewise
 */
struct batch {
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_conn_obj *conn;
	struct kverbs_region_obj *region;
};

static void put_conn(struct batch *batch)
{
	if (batch->conn)
		kverbs_object_put(&batch->conn->obj);
	batch->conn = NULL;
}

static void put_region(struct batch *batch)
{
	if (batch->region)
		kverbs_object_put(&batch->region->obj);
	batch->region = NULL;
}

static int get_conn(struct batch *batch, u32 id)
{
	struct kverbs_conn_obj *conn;

	if (batch->conn && batch->conn->obj.id == id)
		return 0;
	put_conn(batch);
	conn = kverbs_conn_obj_get(batch->file, id);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	batch->conn = conn;
	return 0;
}

static int get_region(struct batch *batch, u32 id)
{
	struct kverbs_region_obj *region;

	if (batch->region && batch->region->obj.id == id)
		return 0;
	put_region(batch);
	region = kverbs_region_obj_get(batch->file, id);
	if (IS_ERR(region))
		return PTR_ERR(region);
	batch->region = region;
	return 0;
}

static int find_extent(struct batch *batch, const struct kverbs_sqe *sqe, u32 region_id,
		       struct kverbs_extent *extent)
{
	struct kverbs_region *region;
	int ret;

	ret = get_region(batch, region_id);
	if (ret)
		return ret;
	region = batch->region->region;
	if (!kverbs_region_covers(region, extent->offset, extent->length))
		return -EINVAL;
	if (kverbs_sqe_writes(sqe) && !region->writable)
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
	if (kverbs_sqe_is_atomic(sqe) &&
	    !IS_ALIGNED(extent.region->page_offset + extent.offset, sizeof(u64)))
		return -EINVAL;
	req->region = extent.region;
	req->offset = extent.offset;
	req->length = extent.length;
	kverbs_req_use(req);
	return 0;
}

static int find_piece(struct batch *batch, const struct kverbs_sqe *sqe,
		      const struct kverbs_piece __user *user, struct kverbs_req *req)
{
	struct kverbs_extent *extent = &req->list[req->nr_list];
	struct kverbs_piece piece;
	int ret;

	if (copy_from_user(&piece, user, sizeof(piece)))
		return -EFAULT;
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

static void drop_buffer(struct kverbs_req *req)
{
	kverbs_req_unuse(req);
	kfree(req->list);
}

static int find_list(struct batch *batch, const struct kverbs_sqe *sqe,
		     struct kverbs_req *req)
{
	const struct kverbs_piece __user *pieces = u64_to_user_ptr(sqe->offset);
	unsigned int i;
	int ret;

	req->list = kmalloc_array(sqe->length, sizeof(*req->list), GFP_KERNEL_ACCOUNT);
	if (!req->list)
		return -ENOMEM;
	for (i = 0; i < sqe->length; i++) {
		ret = find_piece(batch, sqe, &pieces[i], req);
		if (ret) {
			drop_buffer(req);
			return ret;
		}
	}
	return 0;
}

static void work_done(struct kverbs_req *req)
{
	struct kverbs_work *work = container_of(req, struct kverbs_work, req);
	struct kverbs_cqe cqe = {
		.user_data = work->user_data,
		.byte_len = req->result ? 0 : req->byte_len,
		.id = work->conn_id,
		.result = req->result,
		.type = KVERBS_CQE_WORK,
		.wc_status = req->wc_status,
		.flags = req->flags,
		.imm = req->flags & (KVERBS_CQE_F_IMM | KVERBS_CQE_F_INV) ? req->imm : 0,
	};

	kfree(req->list);
	if (work->signal || req->result)
		kverbs_ring_complete(work->ring, work, &cqe);
	else
		kverbs_ring_return_work(work->ring, work);
}

static void fill_req(const struct kverbs_sqe *sqe, struct kverbs_work *work)
{
	bool recv = sqe->opcode == KVERBS_OP_RECV;

	work->user_data = sqe->user_data;
	work->conn_id = sqe->conn_id;
	work->signal = recv || sqe->flags & KVERBS_SQE_SIGNAL;
	work->req = (struct kverbs_req) {
		.remote_addr = sqe->remote_addr,
		.rkey = sqe->rkey,
		.imm = sqe->imm,
		.operand = sqe->operand,
		.swap = sqe->swap,
		.opcode = sqe->opcode,
		.fence = sqe->flags & KVERBS_SQE_FENCE,
		.solicited = sqe->flags & KVERBS_SQE_SOLICITED,
		.done = work_done,
		.flags = recv ? KVERBS_CQE_F_RECV : 0,
	};
}

static int post_work(struct batch *batch, const struct kverbs_sqe *sqe,
		     struct kverbs_req *req)
{
	struct kverbs_conn *conn = batch->conn->conn;
	int ret;

	if (sqe->flags & KVERBS_SQE_LIST)
		ret = find_list(batch, sqe, req);
	else
		ret = find_buffer(batch, sqe, req);
	if (ret)
		return ret;
	if (req->opcode == KVERBS_OP_RECV)
		ret = kverbs_conn_recv(conn, req);
	else
		ret = kverbs_conn_post(conn, req, batch->ring->chain);
	if (ret)
		drop_buffer(req);
	return ret;
}

static int take_entry(struct batch *batch, const struct kverbs_sqe *sqe)
{
	struct kverbs_work *work;
	int ret;

	ret = kverbs_sqe_check(sqe);
	if (!ret)
		ret = get_conn(batch, sqe->conn_id);
	if (!ret && READ_ONCE(batch->conn->ring) != batch->ring)
		ret = -EINVAL;
	if (ret)
		return ret;
	work = kverbs_ring_take_work(batch->ring);
	if (!work)
		return -EAGAIN;
	fill_req(sqe, work);
	ret = post_work(batch, sqe, &work->req);
	if (ret)
		kverbs_ring_return_work(batch->ring, work);
	return ret;
}

/* Read once: what the user writes meanwhile is not looked at again. */
static void read_entry(struct kverbs_ring *ring, struct kverbs_sqe *sqe)
{
	const struct kverbs_sqe *sqes = ring->sq.addr;

	memcpy(sqe, &sqes[ring->sq_head & (ring->sq_entries - 1)], sizeof(*sqe));
	/* The compiler must not go back to shared memory for a field. */
	barrier();
}

static int take_entries(struct batch *batch, u32 nr, u32 *taken)
{
	struct kverbs_ring *ring = batch->ring;
	struct kverbs_ring_kernel *shared = ring->cq.addr;
	struct kverbs_ring_user *user = ring->idx.addr;
	struct kverbs_sqe sqe;
	int ret = 0;
	u32 filled;

	lockdep_assert_held(&ring->submit_lock);
	/* Pairs with the user's release: the entries are written. */
	filled = smp_load_acquire(&user->sq_tail) - ring->sq_head;
	if (filled > ring->sq_entries)
		return -EINVAL;
	for (nr = min(nr, filled); *taken < nr; (*taken)++) {
		read_entry(ring, &sqe);
		ret = take_entry(batch, &sqe);
		if (ret)
			break;
		ring->sq_head++;
		/* The entry is read before the user may write it again. */
		smp_store_release(&shared->sq_head, ring->sq_head);
		cond_resched();
	}
	return ret;
}

static int submit(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	struct batch batch = { .file = ucmd->file, .ring = ring };
	int ret;

	if (mutex_lock_interruptible(&ring->submit_lock))
		return -ERESTARTNOHAND;
	ret = take_entries(&batch, cmd->to_submit, &cmd->out_taken);
	mutex_unlock(&ring->submit_lock);
	put_region(&batch);
	put_conn(&batch);
	cmd->out_error = ret;
	return cmd->out_taken ? 0 : ret;
}

static int submit_and_wait(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	int ret = 0;

	if (cmd->min_complete > ring->cq_entries)
		return -EINVAL;
	/* What has completed gives its slots back before more is taken. */
	if (ring->cqs.direct)
		kverbs_cq_set_poll(&ring->cqs);
	if (cmd->to_submit)
		ret = submit(ucmd, ring);
	if (!ret && cmd->min_complete) {
		ret = kverbs_ring_wait(ring, cmd->min_complete, cmd->deadline_ns);
		if (ret == -ETIME || (ret == -ERESTARTNOHAND && cmd->out_taken))
			ret = 0;
	}
	cmd->out_ready = kverbs_ring_unread(ring);
	return ret;
}

/**
 * kverbs_cmd_submit() - KVERBS_SUBMIT
 * @ucmd: the ioctl
 *
 * Return: 0 or -errno.
 */
int kverbs_cmd_submit(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_submit *cmd = ucmd->cmd;
	struct kverbs_ring *ring;
	int ret;

	if (cmd->flags)
		return -EINVAL;
	cmd->out_taken = 0;
	cmd->out_error = 0;
	ring = kverbs_ring_get(ucmd->file, cmd->ring_id);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = submit_and_wait(ucmd, ring);
	kverbs_object_put(&ring->obj);
	return ret;
}
