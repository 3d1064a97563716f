// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting: from a call to entries in the ring, however many it takes.
 */
#include <errno.h>
#include <limits.h>

#include "buf.h"
#include "conn.h"
#include "done.h"
#include "internal.h"
#include "request.h"
#include "split.h"

/*
 * One call's work.
 * @conn: the connection
 * @req: the request that it completes
 * @split: what has not been taken yet
 * @opcode: of all entries but the last
 * @last_opcode: of the last
 * @imm: of the last
 * @rkey: SEND_INV
 * @operand: atomics
 * @swap: CMP_SWAP
 * @region_id: the local buffer's
 * @pieces: the local buffer's, if it is a list; @split is nothing then
 * @nr_pieces: how many
 */
struct post {
	struct kverbs_conn *conn;
	struct kverbs_req *req;
	struct kverbs_split split;
	uint8_t opcode;
	uint8_t last_opcode;
	uint32_t imm;
	uint32_t rkey;
	uint64_t operand;
	uint64_t swap;
	uint32_t region_id;
	const struct kverbs_piece *pieces;
	size_t nr_pieces;
};

static bool has_imm(unsigned int opcode)
{
	return opcode == KVERBS_OP_WRITE_IMM || opcode == KVERBS_OP_SEND_IMM;
}

static void fill_list(const struct post *p, struct kverbs_sqe *sqe)
{
	sqe->flags |= KVERBS_SQE_LIST;
	sqe->region_id = 0;
	sqe->offset = (uintptr_t)p->pieces;
	sqe->length = p->nr_pieces;
}

static void fill_entry(const struct post *p, struct kverbs_split *split,
		       struct kverbs_sqe *sqe)
{
	kverbs_split_next(split, sqe);
	sqe->opcode = split->ended ? p->last_opcode : p->opcode;
	sqe->flags = sqe->opcode == KVERBS_OP_RECV ? 0 : KVERBS_SQE_SIGNAL;
	sqe->conn_id = p->conn->obj.id;
	sqe->user_data = (uintptr_t)p->req;
	sqe->imm = has_imm(sqe->opcode) ? p->imm : 0;
	sqe->region_id = sqe->length ? p->region_id : 0;
	sqe->operand = p->operand;
	if (sqe->opcode == KVERBS_OP_SEND_INV)
		sqe->rkey = p->rkey;
	if (sqe->opcode == KVERBS_OP_CMP_SWAP)
		sqe->swap = p->swap;
	if (p->pieces)
		fill_list(p, sqe);
}

static void fill_ring(const struct post *p, struct kverbs_ring *r)
{
	struct kverbs_split split = p->split;
	struct kverbs_sqe *sqe;

	while (!split.ended && (sqe = kverbs_ring_sqe(r)))
		fill_entry(p, &split, sqe);
}

static void skip_taken(struct kverbs_split *split, unsigned int n)
{
	struct kverbs_sqe sqe;

	while (n--)
		kverbs_split_next(split, &sqe);
}

/* Hand over what fits in one go. 0: all of that was taken, else why not. */
static int submit(struct post *p, unsigned int *taken)
{
	struct kverbs_ring *r = &p->conn->kv->ring;
	unsigned int n;
	int error;

	kverbs_ring_lock(r);
	fill_ring(p, r);
	n = kverbs_ring_submit(r, &error);
	kverbs_ring_unlock(r);
	skip_taken(&p->split, n);
	*taken += n;
	return error;
}

struct room {
	const struct kverbs_conn *conn;
	uint32_t seen;
};

static bool maybe_room(struct kverbs *kv, const void *arg)
{
	const struct room *room = arg;

	return kverbs_reaped(kv) != room->seen || room->conn->error;
}

/*
 * Every completion read since @seen may have made room. One that is not read
 * yet wakes whoever leads.
 */
static int wait_for_room(struct kverbs_conn *conn, uint32_t seen)
{
	struct room room = { .conn = conn, .seen = seen };
	struct kverbs *kv = conn->kv;
	int ret;

	pthread_mutex_lock(&kv->lock);
	ret = kverbs_wait_met(kv, maybe_room, &room, kv, 0);
	if (!ret)
		ret = conn->error;
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

/* Submit all of it, or as much as @error lets. Returns how many were taken. */
static unsigned int submit_all(struct post *p, bool may_wait, int *error)
{
	unsigned int taken = 0;
	uint32_t seen;

	do {
		seen = kverbs_reaped(p->conn->kv);
		*error = submit(p, &taken);
		if (*error == -EAGAIN && may_wait)
			*error = wait_for_room(p->conn, seen);
		/* Half a transfer cannot be taken back: a signal must wait. */
		if (*error == -EINTR && taken)
			*error = 0;
	} while (!*error && !p->split.ended);
	return taken;
}

/* A dead connection's own reason says more than that it is not connected. */
static int refine(const struct kverbs_conn *conn, int error)
{
	return error == -ENOTCONN && conn->error ? conn->error : error;
}

static int begin(struct post *p, unsigned int parts)
{
	struct kverbs *kv = p->conn->kv;
	int ret;

	pthread_mutex_lock(&kv->lock);
	ret = kverbs_req_begin(p->conn, p->req, parts);
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

/* None was taken: as if it had never been posted. */
static int abort_post(struct post *p, int error)
{
	struct kverbs *kv = p->conn->kv;

	pthread_mutex_lock(&kv->lock);
	kverbs_req_abort(p->conn, p->req);
	error = refine(p->conn, error);
	pthread_mutex_unlock(&kv->lock);
	return error;
}

/* Let go of a request that waits for @parts which do not come from the ring. */
static void settle(struct post *p, unsigned int parts, int error)
{
	struct kverbs *kv = p->conn->kv;

	pthread_mutex_lock(&kv->lock);
	kverbs_req_drop_parts(p->conn, p->req, parts, refine(p->conn, error));
	kverbs_done_run(kv);
	pthread_mutex_unlock(&kv->lock);
}

static int post_one(struct post *p, bool may_wait)
{
	int ret = begin(p, 1), error;

	if (ret)
		return ret;
	/* Once it is taken it may complete and be gone at any time. */
	if (submit_all(p, may_wait, &error))
		return 0;
	return abort_post(p, error);
}

/* One part more than entries: it cannot complete while they are being posted. */
static int post_many(struct post *p, unsigned int parts)
{
	unsigned int taken;
	int ret, error;

	ret = begin(p, parts + 1);
	if (ret)
		return ret;
	taken = submit_all(p, true, &error);
	if (!taken)
		return abort_post(p, error);
	settle(p, parts - taken + 1, error);
	return 0;
}

static int post_message(struct post *p, struct kverbs_buf *buf, size_t offset,
			size_t length)
{
	if (!kverbs_buf_holds(buf, p->conn->kv, offset, length))
		return -EINVAL;
	p->opcode = p->last_opcode;
	p->region_id = buf ? buf->id : 0;
	kverbs_split_init(&p->split, offset, length, NULL, 0);
	return post_one(p, p->last_opcode != KVERBS_OP_RECV);
}

int kverbs_send(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, struct kverbs_req *req)
{
	struct post p = { .conn = conn, .req = req, .last_opcode = KVERBS_OP_SEND };

	return post_message(&p, buf, offset, length);
}

int kverbs_send_imm(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    size_t length, uint32_t imm, struct kverbs_req *req)
{
	struct post p = {
		.conn = conn,
		.req = req,
		.last_opcode = KVERBS_OP_SEND_IMM,
		.imm = imm,
	};

	return post_message(&p, buf, offset, length);
}

int kverbs_send_inv(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    size_t length, uint32_t rkey, struct kverbs_req *req)
{
	struct post p = {
		.conn = conn,
		.req = req,
		.last_opcode = KVERBS_OP_SEND_INV,
		.rkey = rkey,
	};

	return post_message(&p, buf, offset, length);
}

int kverbs_recv(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, struct kverbs_req *req)
{
	struct post p = { .conn = conn, .req = req, .last_opcode = KVERBS_OP_RECV };

	return post_message(&p, buf, offset, length);
}

static int post_list(struct post *p, const struct kverbs_vec *vec, size_t nr)
{
	struct kverbs_piece pieces[KVERBS_LIST_MAX] = { 0 };
	size_t i;

	if (!nr || nr > KVERBS_LIST_MAX)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!vec[i].length ||
		    !kverbs_buf_holds(vec[i].buf, p->conn->kv, vec[i].offset, vec[i].length))
			return -EINVAL;
		pieces[i].region_id = vec[i].buf->id;
		pieces[i].offset = vec[i].offset;
		pieces[i].length = vec[i].length;
	}
	p->pieces = pieces;
	p->nr_pieces = nr;
	return post_message(p, NULL, 0, 0);
}

int kverbs_sendv(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		 struct kverbs_req *req)
{
	struct post p = { .conn = conn, .req = req, .last_opcode = KVERBS_OP_SEND };

	return post_list(&p, vec, nr);
}

int kverbs_recvv(struct kverbs_conn *conn, const struct kverbs_vec *vec, size_t nr,
		 struct kverbs_req *req)
{
	struct post p = { .conn = conn, .req = req, .last_opcode = KVERBS_OP_RECV };

	return post_list(&p, vec, nr);
}

/* A range of the local buffer and one of the token. */
struct range {
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
	const struct kverbs_token *token;
	uint64_t remote_offset;
	uint32_t access;
};

static int check_range(const struct kverbs_conn *conn, const struct range *r)
{
	if (!kverbs_buf_holds(r->buf, conn->kv, r->offset, r->length))
		return -EINVAL;
	if (!r->token)
		return r->length ? -EINVAL : 0;
	return r->token->access & r->access ? 0 : -EACCES;
}

static int post_remote(struct post *p, const struct range *r)
{
	uint64_t parts;
	int ret;

	ret = check_range(p->conn, r);
	if (ret)
		return ret;
	ret = kverbs_split_init(&p->split, r->offset, r->length, r->token,
				r->remote_offset);
	if (ret)
		return ret;
	ret = kverbs_conn_max_msg(p->conn, &p->split.max);
	if (ret)
		return ret;
	p->region_id = r->buf ? r->buf->id : 0;
	parts = kverbs_split_count(&p->split);
	if (parts == 1)
		return post_one(p, true);
	return parts < UINT_MAX ? post_many(p, (unsigned int)parts) : -EINVAL;
}

int kverbs_write(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		 size_t length, const struct kverbs_token *token,
		 uint64_t remote_offset, struct kverbs_req *req)
{
	struct range r = { buf, offset, length, token, remote_offset,
			   KVERBS_REMOTE_WRITE };
	struct post p = {
		.conn = conn,
		.req = req,
		.opcode = KVERBS_OP_WRITE,
		.last_opcode = KVERBS_OP_WRITE,
	};

	return token ? post_remote(&p, &r) : -EINVAL;
}

int kverbs_write_imm(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		     size_t length, const struct kverbs_token *token,
		     uint64_t remote_offset, uint32_t imm, struct kverbs_req *req)
{
	struct range r = { buf, offset, length, token, remote_offset,
			   KVERBS_REMOTE_WRITE };
	struct post p = {
		.conn = conn,
		.req = req,
		.opcode = KVERBS_OP_WRITE,
		.last_opcode = KVERBS_OP_WRITE_IMM,
		.imm = imm,
	};

	return post_remote(&p, &r);
}

int kverbs_read(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		size_t length, const struct kverbs_token *token,
		uint64_t remote_offset, struct kverbs_req *req)
{
	struct range r = { buf, offset, length, token, remote_offset,
			   KVERBS_REMOTE_READ };
	struct post p = {
		.conn = conn,
		.req = req,
		.opcode = KVERBS_OP_READ,
		.last_opcode = KVERBS_OP_READ,
	};

	return token ? post_remote(&p, &r) : -EINVAL;
}

/* Its 8 bytes lie in one segment. */
static int post_atomic(struct post *p, struct kverbs_buf *buf, size_t offset,
		       const struct kverbs_token *token, uint64_t remote_offset)
{
	struct range r = { buf, offset, sizeof(uint64_t), token, remote_offset,
			   KVERBS_REMOTE_ATOMIC };
	int ret;

	p->opcode = p->last_opcode;
	p->region_id = buf ? buf->id : 0;
	if (!token)
		return -EINVAL;
	ret = check_range(p->conn, &r);
	if (!ret)
		ret = kverbs_split_init(&p->split, offset, r.length, token, remote_offset);
	if (ret)
		return ret;
	return kverbs_split_count(&p->split) == 1 ? post_one(p, true) : -ERANGE;
}

int kverbs_fetch_add(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		     const struct kverbs_token *token, uint64_t remote_offset,
		     uint64_t add, struct kverbs_req *req)
{
	struct post p = {
		.conn = conn,
		.req = req,
		.last_opcode = KVERBS_OP_FETCH_ADD,
		.operand = add,
	};

	return post_atomic(&p, buf, offset, token, remote_offset);
}

int kverbs_cmp_swap(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		    const struct kverbs_token *token, uint64_t remote_offset,
		    uint64_t expected, uint64_t desired, struct kverbs_req *req)
{
	struct post p = {
		.conn = conn,
		.req = req,
		.last_opcode = KVERBS_OP_CMP_SWAP,
		.operand = expected,
		.swap = desired,
	};

	return post_atomic(&p, buf, offset, token, remote_offset);
}
