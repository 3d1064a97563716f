// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting: from operations to entries in the ring, however many those take, and back
 * to requests when the kernel does not take all.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "batch.h"
#include "buf.h"
#include "conn.h"
#include "internal.h"
#include "request.h"
#include "split.h"
#include "wait.h"

/*
 * struct rule - requirements of an opcode
 * @access: access that its token must grant, 0: no token
 * @part: the opcode of all entries but the last, 0: never split
 * @imm: immediate data
 */
struct rule {
	uint32_t access;
	uint8_t part;
	bool imm;
};

static const struct rule rules[] = {
	[KVERBS_OP_SEND]	= { 0 },
	[KVERBS_OP_RECV]	= { 0 },
	[KVERBS_OP_WRITE]	= { KVERBS_REMOTE_WRITE, KVERBS_OP_WRITE, false },
	[KVERBS_OP_WRITE_IMM]	= { KVERBS_REMOTE_WRITE, KVERBS_OP_WRITE, true },
	[KVERBS_OP_READ]	= { KVERBS_REMOTE_READ, KVERBS_OP_READ, false },
	[KVERBS_OP_SEND_IMM]	= { .imm = true },
	[KVERBS_OP_SEND_INV]	= { 0 },
	[KVERBS_OP_CMP_SWAP]	= { KVERBS_REMOTE_ATOMIC, 0, false },
	[KVERBS_OP_FETCH_ADD]	= { KVERBS_REMOTE_ATOMIC, 0, false },
};

/*
 * An entry of a batch.
 * @op: whose it is
 * @whole: that is one entry
 * @split: else what is left of it
 * @behind: entries of it before this one
 */
struct place {
	size_t op;
	bool whole;
	struct kverbs_split split;
	unsigned int behind;
};

/*
 * A batch while it is being posted.
 * @b: what was asked for
 * @nr: the first so many can be posted
 * @max_msg: the most for one entry of an operation that may be cut
 * @parts: entries of the last one
 * @all_whole: is_whole() is true of all
 * @nr_pieces: pieces of the lists of all entries, at most
 * @pieces: the lists of the entries in the ring, which the next SUBMIT reads
 * @max_pieces: room in @pieces, enough for one entry
 * @pieces_used: how much of it is filled
 * @at: the first entry that was not taken yet
 * @wants_room: counted in the context's @room_wanted
 * @late: the time for room was over before the last attempt
 */
struct posting {
	const struct kverbs_batch *b;
	size_t nr;
	uint64_t max_msg;
	int64_t parts;
	bool all_whole;
	uint64_t nr_pieces;
	struct kverbs_piece *pieces;
	size_t max_pieces;
	size_t pieces_used;
	struct place at;
	bool wants_room;
	bool late;
};

#define OP_FLAGS (KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED)

/* Members without a meaning must be zero, so that they can get one. */
static bool is_known(const struct kverbs_op *op)
{
	size_t i;

	for (i = 0; i < sizeof(op->reserved) / sizeof(op->reserved[0]); i++)
		if (op->reserved[i])
			return false;
	return op->opcode >= KVERBS_OP_SEND && op->opcode <= KVERBS_OP_FETCH_ADD &&
	       !(op->flags & ~OP_FLAGS);
}

static bool is_recv(const struct kverbs_op *op)
{
	return op->opcode == KVERBS_OP_RECV;
}

static bool is_atomic(const struct kverbs_op *op)
{
	return rules[op->opcode].access == KVERBS_REMOTE_ATOMIC;
}

static uint64_t length_of(const struct kverbs_op *op)
{
	uint64_t length = 0;
	size_t i;

	if (!op->nr_vec)
		return is_atomic(op) ? sizeof(uint64_t) : op->length;
	for (i = 0; i < op->nr_vec; i++)
		length += op->vec[i].length;
	return length;
}

/* A message is one entry. */
static bool may_have_list(const struct kverbs_op *op)
{
	return op->vec && !op->buf && !op->offset && !op->length && !is_atomic(op) &&
	       (op->nr_vec <= KVERBS_LIST_MAX || rules[op->opcode].part);
}

static bool lists_memory(const struct kverbs_op *op, const struct kverbs *kv)
{
	uint64_t left = UINT64_MAX;
	size_t i;

	for (i = 0; i < op->nr_vec; i++) {
		const struct kverbs_vec *vec = &op->vec[i];

		if (!vec->length || vec->length > left ||
		    !kverbs_buf_holds(vec->buf, kv, vec->offset, vec->length))
			return false;
		left -= vec->length;
	}
	return true;
}

static bool has_buffer(const struct kverbs_op *op, const struct kverbs *kv)
{
	if (op->nr_vec)
		return may_have_list(op) && lists_memory(op, kv);
	return kverbs_buf_holds(op->buf, kv, op->offset, length_of(op));
}

static int check_token(const struct kverbs_op *op)
{
	const struct rule *rule = &rules[op->opcode];

	if (!rule->access)
		return 0;
	/* A WRITE_IMM of no bytes needs no token. */
	if (!op->token)
		return rule->imm && !length_of(op) ? 0 : -EINVAL;
	return op->token->access & rule->access ? 0 : -EACCES;
}

/* Most are one entry, which can be told at a glance. */
static bool is_whole(const struct posting *p, const struct kverbs_op *op)
{
	const struct rule *rule = &rules[op->opcode];
	const struct kverbs_token *token = op->token;
	uint64_t length, end;

	if (op->nr_vec)
		return false;
	if (!rule->access)
		return true;
	length = length_of(op);
	end = op->remote_offset + length;
	if (!token || token->nr_segs != 1 || end < length)
		return false;
	return end <= token->length && end <= token->segs->length &&
	       (!rule->part || length <= p->max_msg);
}

/* Find out how to cut it into entries, or why it cannot be posted. */
static int cut(const struct posting *p, const struct kverbs_op *op,
	       struct kverbs_split *split)
{
	const struct rule *rule = &rules[op->opcode];
	int ret;

	ret = kverbs_split_init(split, op->offset, length_of(op),
				rule->access ? op->token : NULL, op->remote_offset);
	if (rule->part)
		split->max = p->max_msg;
	if (op->nr_vec)
		kverbs_split_set_list(split, op->vec);
	return ret;
}

/*
 * A peer chooses the segments of its token. Those of a device have at least a page, so that this
 * limit is only met by a peer that wants many entries for few bytes.
 */
#define FEW_PARTS 1024
#define LEAST_SEGMENT 4096

/* Entries for the caller's own list are not the peer's choice. */
static bool has_too_many_parts(const struct kverbs_op *op, uint64_t parts)
{
	return parts > FEW_PARTS &&
	       parts > length_of(op) / LEAST_SEGMENT + op->nr_vec / KVERBS_LIST_MAX + 2;
}

/* How many entries it takes, and whether is_whole(), or -errno. */
static int64_t count_parts(const struct posting *p, const struct kverbs_op *op, bool *whole)
{
	struct kverbs_split split;
	uint64_t parts;
	int ret;

	if (!has_buffer(op, p->b->conn->kv))
		return -EINVAL;
	ret = check_token(op);
	if (ret)
		return ret;
	*whole = is_whole(p, op);
	if (*whole)
		return 1;
	ret = cut(p, op, &split);
	if (ret)
		return ret;
	parts = kverbs_split_count(&split);
	if (parts > 1 && !rules[op->opcode].part)
		return -ERANGE;
	if (has_too_many_parts(op, parts))
		return -EMSGSIZE;
	return parts < UINT_MAX ? (int64_t)parts : -EINVAL;
}

static inline void go_to(const struct posting *p, struct place *at, size_t op)
{
	at->op = op;
	at->behind = 0;
	if (op == p->nr)
		return;
	at->whole = p->all_whole || is_whole(p, &p->b->ops[op]);
	/* count_parts() has split this operation before: splitting cannot fail now. */
	if (!at->whole)
		cut(p, &p->b->ops[op], &at->split);
}

static inline void take_whole(const struct kverbs_op *op, struct kverbs_sqe *sqe)
{
	sqe->length = length_of(op);
	sqe->offset = sqe->length ? op->offset : 0;
	if (!rules[op->opcode].access)
		return;
	sqe->remote_addr = op->token->segs->addr + op->remote_offset;
	sqe->rkey = op->token->segs->rkey;
}

/* Set the range of the entry that is there, and go on to the next. */
static inline void next_entry(const struct posting *p, struct place *at, struct kverbs_sqe *sqe)
{
	if (at->whole) {
		take_whole(&p->b->ops[at->op], sqe);
		go_to(p, at, at->op + 1);
		return;
	}
	kverbs_split_next(&at->split, sqe);
	at->behind++;
	if (at->split.ended)
		go_to(p, at, at->op + 1);
}

/* The first entry of an operation waits for what came before, the last one wakes the peer. */
static uint8_t entry_flags(const struct kverbs_op *op, bool first, bool last)
{
	return (op->req && !is_recv(op) ? KVERBS_SQE_SIGNAL : 0) |
	       (first ? op->flags & KVERBS_SQE_FENCE : 0) |
	       (last ? op->flags & KVERBS_SQE_SOLICITED : 0);
}

/* Let @nr pieces behind those in use be the local buffer. */
static void set_list(struct posting *p, struct kverbs_sqe *sqe, int nr)
{
	sqe->flags |= KVERBS_SQE_LIST;
	sqe->piece_stride = sizeof(*p->pieces);
	sqe->offset = (uintptr_t)&p->pieces[p->pieces_used];
	sqe->length = (uint64_t)nr;
	p->pieces_used += (size_t)nr;
}

static void fill_sqe(const struct posting *p, struct place *at, struct kverbs_sqe *sqe)
{
	const struct kverbs_op *op = &p->b->ops[at->op];
	const struct rule *rule = &rules[op->opcode];
	bool first = !at->behind, last;
	size_t index = at->op;

	next_entry(p, at, sqe);
	last = at->op != index;
	sqe->opcode = last ? op->opcode : rule->part;
	sqe->flags = entry_flags(op, first, last);
	sqe->conn_id = p->b->conn->obj.id;
	sqe->user_data = (uintptr_t)op->req;
	sqe->imm = rules[sqe->opcode].imm ? op->imm : 0;
	sqe->region_id = sqe->length && op->buf ? op->buf->id : 0;
	if (rule->access == KVERBS_REMOTE_ATOMIC)
		sqe->operand = op->operand;
	if (op->opcode == KVERBS_OP_SEND_INV)
		sqe->rkey = op->rkey;
	if (op->opcode == KVERBS_OP_CMP_SWAP)
		sqe->swap = op->swap;
}

/* Fill the next entry, and go on; false: there is no room for it or for its pieces. */
static bool fill_entry(struct posting *p, struct place *at, struct kverbs_ring *r)
{
	struct kverbs_sqe *sqe;
	int nr_pieces = 0;

	if (p->b->ops[at->op].nr_vec)
		nr_pieces = kverbs_split_pieces(&at->split, p->pieces + p->pieces_used,
						p->max_pieces - p->pieces_used);
	if (nr_pieces < 0)
		return false;
	sqe = kverbs_ring_sqe(r);
	if (!sqe)
		return false;
	fill_sqe(p, at, sqe);
	if (nr_pieces)
		set_list(p, sqe, nr_pieces);
	return true;
}

static void fill_ring(struct posting *p, struct place *at, struct kverbs_ring *r)
{
	while (at->op < p->nr && fill_entry(p, at, r))
		;
}

static void skip_taken(struct posting *p, unsigned int n)
{
	struct kverbs_sqe sqe;

	while (n--)
		next_entry(p, &p->at, &sqe);
}

/* Hand over the only entry of all and wait for something to complete. */
static int submit_and_wait(struct posting *p)
{
	struct kverbs_batch_wait *wait = p->b->wait;
	struct kverbs_ring *r = &p->b->conn->kv->ring;
	struct place filled = p->at;
	int error;

	p->pieces_used = 0;
	kverbs_ring_lock(r);
	fill_entry(p, &filled, r);
	if (kverbs_ring_submit_wait(r, wait->deadline, wait->watch, &wait->early, &error))
		p->at = filled;
	kverbs_ring_unlock(r);
	return error;
}

/*
 * A request whose completion has been read sends no other: the thread would sleep for an
 * event that has passed. kv->lock keeps another thread from reading it in between.
 */
static bool begin_to_lead(struct kverbs *kv, const struct kverbs_req *awaited)
{
	bool leads;

	pthread_mutex_lock(&kv->lock);
	leads = (!awaited || kverbs_req_is_pending(awaited)) && kverbs_lead_begin(kv);
	pthread_mutex_unlock(&kv->lock);
	return leads;
}

/* A RECV is excluded: it may block on a registration with the lock held. */
static bool may_wait(const struct posting *p)
{
	return p->b->wait && !kverbs_deadline_is_now(p->b->wait->deadline) &&
	       p->parts == 1 && !is_recv(&p->b->ops[0]) &&
	       begin_to_lead(p->b->conn->kv, p->b->wait->req);
}

/* Hand over what fits in one go. 0: all of that was taken, else why not. */
static int submit(struct posting *p)
{
	struct kverbs_ring *r = &p->b->conn->kv->ring;
	struct place filled = p->at;
	unsigned int n;
	int error;

	p->pieces_used = 0;
	kverbs_ring_lock(r);
	fill_ring(p, &filled, r);
	n = kverbs_ring_submit(r, &error);
	kverbs_ring_unlock(r);
	if (error)
		skip_taken(p, n);
	else
		p->at = filled;
	return error;
}

static int submit_some(struct posting *p)
{
	int error;

	if (!may_wait(p))
		return submit(p);
	error = submit_and_wait(p);
	kverbs_lead_end(p->b->conn->kv);
	return error;
}

struct room {
	const struct kverbs_conn *conn;
	uint32_t reaped;
	uint32_t rooms;
};

static bool maybe_room(struct kverbs *kv, const void *arg)
{
	const struct room *room = arg;

	return kverbs_reaped(kv) != room->reaped || kverbs_rooms(kv) != room->rooms ||
	       room->conn->error;
}

/*
 * From now on the kernel wakes the leader for a slot that work without a completion frees.
 * Slots may have become free before: the caller tries again, then waits.
 */
static void want_room(struct posting *p)
{
	struct kverbs *kv = p->b->conn->kv;

	pthread_mutex_lock(&kv->lock);
	if (!kv->room_wanted++)
		kverbs_ring_want_room(&kv->ring, true);
	pthread_mutex_unlock(&kv->lock);
	p->wants_room = true;
}

static void end_want_room(struct posting *p)
{
	struct kverbs *kv = p->b->conn->kv;

	pthread_mutex_lock(&kv->lock);
	if (!--kv->room_wanted)
		kverbs_ring_want_room(&kv->ring, false);
	pthread_mutex_unlock(&kv->lock);
	p->wants_room = false;
}

/*
 * Every completion read since @room was filled in may have made room, and so may a wait. With
 * @nowake kverbs_wakeup() does not end it, nor does @deadline.
 */
static int wait_for_room(const struct room *room, uint64_t deadline, bool nowake)
{
	struct kverbs *kv = room->conn->kv;
	int ret;

	pthread_mutex_lock(&kv->lock);
	ret = nowake ? kverbs_wait_met_nowake(kv, maybe_room, room, kv) :
		       kverbs_wait_met(kv, maybe_room, room, kv, deadline);
	if (!ret)
		ret = room->conn->error;
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

static int make_room(struct posting *p, const struct room *room)
{
	if (!p->wants_room) {
		want_room(p);
		return 0;
	}
	/* A wait that ended at its deadline may look like one that has found room. */
	if (p->late)
		return -ETIMEDOUT;
	p->late = kverbs_deadline_passed(p->b->deadline);
	/* Half a transfer cannot be taken back. */
	return wait_for_room(room, p->b->deadline, p->at.behind);
}

/* Submit all, or as much as is taken. 0, or why not all. */
static int submit_all(struct posting *p)
{
	const struct kverbs_batch *b = p->b;
	struct room room = { .conn = b->conn };
	int error;

	do {
		room.reaped = kverbs_reaped(b->conn->kv);
		room.rooms = kverbs_rooms(b->conn->kv);
		error = submit_some(p);
		if (error == -EAGAIN && !b->nowait && !is_recv(&b->ops[p->at.op]))
			error = make_room(p, &room);
		/* Half a transfer cannot be taken back: a signal must wait. */
		if (error == -EINTR && p->at.behind)
			error = 0;
	} while (!error && p->at.op != p->nr);
	if (p->wants_room)
		end_want_room(p);
	return error;
}

static int begin_req(const struct kverbs_batch *b, struct kverbs_req *req, int64_t parts)
{
	int ret = kverbs_req_begin(b->conn, req, (unsigned int)parts);

	if (!ret && b->slot) {
		req->priv.slot = *b->slot;
		*b->slot = 0;
	}
	return ret;
}

static int begin(struct posting *p, const struct kverbs_op *op)
{
	struct kverbs_conn *conn = p->b->conn;
	int64_t parts;
	bool whole;
	int ret;

	if (!is_known(op) || (is_recv(op) && (!op->req || op->flags)))
		return -EINVAL;
	parts = count_parts(p, op, &whole);
	if (parts < 0)
		return (int)parts;
	/* Half of an operation cannot be taken back if there is no room for the rest. */
	if (parts > 1 && p->b->nowait)
		return -EMSGSIZE;
	p->parts = parts;
	p->all_whole &= whole;
	if (op->nr_vec)
		p->nr_pieces += op->nr_vec + (uint64_t)parts - 1;
	if (op->req)
		ret = begin_req(p->b, op->req, parts);
	else
		ret = conn->error ? conn->error : kverbs_conn_silent_error(conn);
	if (!ret && !is_recv(op))
		conn->unflushed = op->req != &conn->flush;
	return ret;
}

/* Up to the first that cannot be posted: 0, unless that is the first of all. */
static int begin_all(struct posting *p)
{
	struct kverbs *kv = p->b->conn->kv;
	int ret = 0;

	pthread_mutex_lock(&kv->lock);
	while (p->nr < p->b->nr && p->nr < INT_MAX) {
		ret = begin(p, &p->b->ops[p->nr]);
		if (ret)
			break;
		p->nr++;
	}
	pthread_mutex_unlock(&kv->lock);
	return p->nr ? 0 : ret;
}

/* The kernel did not accept operations from @from on: undo kverbs_req_begin(). */
static void abort_from(struct posting *p, size_t from)
{
	for (; from < p->nr; from++)
		if (p->b->ops[from].req)
			kverbs_req_abort(p->b->conn, p->b->ops[from].req);
}

/*
 * Entries that the kernel accepted cannot be revoked: the operation counts as posted,
 * and its request ends with @error. Return true if it has no request to report that.
 */
static bool settle_half(struct posting *p, int error)
{
	const struct kverbs_op *op = &p->b->ops[p->at.op];
	struct kverbs_conn *conn = p->b->conn;
	unsigned int parts;
	bool whole;

	if (!op->req)
		return true;
	parts = (unsigned int)count_parts(p, op, &whole);
	kverbs_req_drop_parts(conn, op->req, parts - p->at.behind, error);
	return false;
}

/* The kernel has not taken all. Returns how many it has, or @error if none. */
static int settle(struct posting *p, int error)
{
	struct kverbs_conn *conn = p->b->conn;
	size_t posted = p->at.op + !!p->at.behind;
	bool end = false;

	pthread_mutex_lock(&conn->kv->lock);
	/* The reason why the connection ended says more than -ENOTCONN. */
	if (error == -ENOTCONN && conn->error)
		error = conn->error;
	abort_from(p, posted);
	if (p->at.behind)
		end = settle_half(p, error);
	kverbs_done_run(conn->kv, kverbs_at_once, NULL, 0);
	pthread_mutex_unlock(&conn->kv->lock);
	if (end)
		kverbs_disconnect(conn);
	return posted ? (int)posted : error;
}

/* Without the lock, since it may have to ask the kernel. */
static int find_max_msg(struct posting *p)
{
	const struct kverbs_batch *b = p->b;
	size_t i;

	for (i = 0; i < b->nr; i++)
		if (is_known(&b->ops[i]) && rules[b->ops[i].opcode].part)
			return kverbs_conn_max_msg(b->conn, &p->max_msg);
	return 0;
}

/* Without memory for all pieces the batch takes more SUBMITs. */
static void get_pieces(struct posting *p, struct kverbs_piece few[KVERBS_LIST_MAX])
{
	uint64_t most = (uint64_t)p->b->conn->kv->ring.sq_entries * KVERBS_LIST_MAX;
	uint64_t nr = p->nr_pieces < most ? p->nr_pieces : most;

	if (nr > KVERBS_LIST_MAX)
		p->pieces = calloc(nr, sizeof(*p->pieces));
	p->max_pieces = p->pieces ? nr : KVERBS_LIST_MAX;
	if (!p->pieces)
		p->pieces = few;
}

int kverbs_batch_post(const struct kverbs_batch *batch)
{
	struct kverbs_piece few[KVERBS_LIST_MAX];
	struct posting p = { .b = batch, .all_whole = true };
	int ret;

	if (kverbs_is_child(batch->conn->kv))
		return -ECHILD;
	ret = find_max_msg(&p);
	if (!ret)
		ret = begin_all(&p);
	if (ret || !p.nr)
		return ret;
	get_pieces(&p, few);
	go_to(&p, &p.at, 0);
	/* Once it is taken a request may complete and be gone at any time. */
	ret = submit_all(&p);
	ret = ret ? settle(&p, ret) : (int)p.nr;
	if (p.pieces != few)
		free(p.pieces);
	return ret;
}
