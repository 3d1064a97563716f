// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls that post.
 */
#include <errno.h>

#include "batch.h"

int kverbs_post(struct kverbs_conn *conn, const struct kverbs_op *ops, size_t nr)
{
	struct kverbs_batch batch = { .conn = conn, .ops = ops, .nr = nr };

	return kverbs_batch_post(&batch);
}

int kverbs_try_post(struct kverbs_conn *conn, const struct kverbs_op *ops, size_t nr)
{
	struct kverbs_batch batch = { .conn = conn, .ops = ops, .nr = nr, .nowait = true };

	return kverbs_batch_post(&batch);
}

static int post_one(struct kverbs_conn *conn, const struct kverbs_op *op)
{
	int ret = op->req ? kverbs_post(conn, op, 1) : -EINVAL;

	return ret < 0 ? ret : 0;
}

int kverbs_send(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND,
		.buf = buf,
		.offset = offset,
		.length = length,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_send_imm(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    size_t length, uint32_t imm, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND_IMM,
		.imm = imm,
		.buf = buf,
		.offset = offset,
		.length = length,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_send_inv(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    size_t length, uint32_t rkey, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_SEND_INV,
		.rkey = rkey,
		.buf = buf,
		.offset = offset,
		.length = length,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_recv(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_RECV,
		.buf = buf,
		.offset = offset,
		.length = length,
		.req = req,
	};

	return post_one(conn, &op);
}

/* An operation without pieces would be one without bytes. */
static int post_list(struct kverbs_conn *conn, unsigned int opcode,
		     const struct kverbs_vec *vec, size_t nr,
		     const struct kverbs_token *token, uint64_t remote_offset,
		     struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = opcode,
		.vec = vec,
		.nr_vec = nr,
		.token = token,
		.remote_offset = remote_offset,
		.req = req,
	};

	return nr ? post_one(conn, &op) : -EINVAL;
}

int kverbs_sendv(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		 struct kverbs_req *req)
{
	return post_list(conn, KVERBS_OP_SEND, vec, nr, NULL, 0, req);
}

int kverbs_recvv(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		 struct kverbs_req *req)
{
	return post_list(conn, KVERBS_OP_RECV, vec, nr, NULL, 0, req);
}

int kverbs_writev(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		  const struct kverbs_token *token, uint64_t remote_offset,
		  struct kverbs_req *req)
{
	return post_list(conn, KVERBS_OP_WRITE, vec, nr, token, remote_offset, req);
}

int kverbs_readv(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		 const struct kverbs_token *token, uint64_t remote_offset,
		 struct kverbs_req *req)
{
	return post_list(conn, KVERBS_OP_READ, vec, nr, token, remote_offset, req);
}

int kverbs_write(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		 size_t length, const struct kverbs_token *token,
		 uint64_t remote_offset, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE,
		.buf = buf,
		.offset = offset,
		.length = length,
		.token = token,
		.remote_offset = remote_offset,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_write_imm(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		     size_t length, const struct kverbs_token *token,
		     uint64_t remote_offset, uint32_t imm, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_WRITE_IMM,
		.imm = imm,
		.buf = buf,
		.offset = offset,
		.length = length,
		.token = token,
		.remote_offset = remote_offset,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_read(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, const struct kverbs_token *token,
		uint64_t remote_offset, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_READ,
		.buf = buf,
		.offset = offset,
		.length = length,
		.token = token,
		.remote_offset = remote_offset,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_fetch_add(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		     const struct kverbs_token *token, uint64_t remote_offset,
		     uint64_t add, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_FETCH_ADD,
		.buf = buf,
		.offset = offset,
		.token = token,
		.remote_offset = remote_offset,
		.operand = add,
		.req = req,
	};

	return post_one(conn, &op);
}

int kverbs_cmp_swap(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    const struct kverbs_token *token, uint64_t remote_offset,
		    uint64_t expected, uint64_t desired, struct kverbs_req *req)
{
	const struct kverbs_op op = {
		.opcode = KVERBS_OP_CMP_SWAP,
		.buf = buf,
		.offset = offset,
		.token = token,
		.remote_offset = remote_offset,
		.operand = expected,
		.swap = desired,
		.req = req,
	};

	return post_one(conn, &op);
}
