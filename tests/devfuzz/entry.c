// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Submission entries: mostly valid, so that data moves and the connection lives. */
#include <string.h>

#include "world.h"

#define WORD		sizeof(uint64_t)

/* Rights of the export that an operation needs. */
static const uint8_t rights[] = {
	[KVERBS_OP_WRITE] = KVERBS_REMOTE_WRITE,
	[KVERBS_OP_WRITE_IMM] = KVERBS_REMOTE_WRITE,
	[KVERBS_OP_READ] = KVERBS_REMOTE_READ,
	[KVERBS_OP_CMP_SWAP] = KVERBS_REMOTE_ATOMIC,
	[KVERBS_OP_FETCH_ADD] = KVERBS_REMOTE_ATOMIC,
};

static bool is_atomic(const struct kverbs_sqe *sqe)
{
	return sqe->opcode == KVERBS_OP_CMP_SWAP || sqe->opcode == KVERBS_OP_FETCH_ADD;
}

static bool is_message(unsigned int opcode)
{
	return opcode == KVERBS_OP_SEND || opcode == KVERBS_OP_SEND_IMM ||
	       opcode == KVERBS_OP_SEND_INV || opcode == KVERBS_OP_WRITE_IMM;
}

static bool is_written(const struct kverbs_sqe *sqe)
{
	return sqe->opcode == KVERBS_OP_RECV || sqe->opcode == KVERBS_OP_READ ||
	       is_atomic(sqe);
}

static bool wants_receive(struct fuzzer *f, const struct end *end)
{
	if (end->pooled || end->receives >= end->most)
		return rng_once_in(&f->rng, 100);
	return rng_once_in(&f->rng, 2 * end->receives < end->most ? 2 : 8);
}

/* Buffers of a pool are mostly there. */
static bool has_receive(const struct end *end)
{
	return end->pooled || end->receives > 0;
}

static unsigned int choose_opcode(struct fuzzer *f, const struct end *end)
{
	static const uint8_t opcodes[] = {
		KVERBS_OP_SEND, KVERBS_OP_SEND, KVERBS_OP_SEND, KVERBS_OP_SEND_IMM,
		KVERBS_OP_SEND_IMM, KVERBS_OP_SEND_INV, KVERBS_OP_WRITE_IMM,
		KVERBS_OP_WRITE_IMM, KVERBS_OP_WRITE_IMM, KVERBS_OP_WRITE, KVERBS_OP_WRITE,
		KVERBS_OP_WRITE, KVERBS_OP_WRITE, KVERBS_OP_READ, KVERBS_OP_READ,
		KVERBS_OP_READ, KVERBS_OP_READ, KVERBS_OP_CMP_SWAP, KVERBS_OP_CMP_SWAP,
		KVERBS_OP_FETCH_ADD, KVERBS_OP_FETCH_ADD,
	};
	unsigned int opcode = opcodes[rng_below(&f->rng, sizeof(opcodes))];

	if (wants_receive(f, end))
		return KVERBS_OP_RECV;
	if (is_message(opcode) && !has_receive(link_peer(f->world, end)) &&
	    !rng_once_in(&f->rng, 50))
		return KVERBS_OP_WRITE;
	return opcode;
}

/* Choose an export with the right to do this operation, and a range in it. */
static bool fill_remote(struct fuzzer *f, const struct end *end, struct kverbs_sqe *sqe)
{
	struct grant *grant = grant_choose(f, link_peer(f->world, end), rights[sqe->opcode]);
	struct kverbs_segment to;

	if (!grant)
		return false;
	to = grant->segment;
	if (is_atomic(sqe)) {
		uint64_t first = (to.addr + WORD - 1) & ~(WORD - 1);

		if (to.addr + to.length < first + WORD)
			return false;
		to.length = to.addr + to.length - first;
		sqe->remote_addr = first + rng_below(&f->rng, to.length / WORD) * WORD;
	} else {
		if (to.length > 2 * PAGE && !rng_once_in(&f->rng, 8))
			to.length = 2 * PAGE;
		sqe->length = rng_below(&f->rng, to.length + 1);
		sqe->remote_addr = to.addr + rng_below(&f->rng, to.length - sqe->length + 1);
	}
	sqe->rkey = to.rkey;
	return true;
}

/* The peer can revoke a key once: then no other operation may use the key. */
static bool fill_key(struct fuzzer *f, const struct end *end, struct kverbs_sqe *sqe)
{
	struct grant *grant = grant_choose(f, link_peer(f->world, end), 0);

	if (!grant)
		return false;
	sqe->rkey = grant->segment.rkey;
	grant->segment.length = 0;
	return true;
}

static bool fill_peer(struct fuzzer *f, const struct end *end, struct kverbs_sqe *sqe)
{
	if (sqe->opcode == KVERBS_OP_SEND_INV)
		return fill_key(f, end, sqe);
	return !rights[sqe->opcode] || fill_remote(f, end, sqe);
}

/* Receives hold any message, and messages fit in any receive. */
static uint64_t choose_length(struct fuzzer *f, const struct kverbs_sqe *sqe)
{
	if (sqe->opcode == KVERBS_OP_RECV)
		return MESSAGE + (rng_once_in(&f->rng, 8) ? rng_below(&f->rng, ARENA_SIZE / 4) : 0);
	return rng_below(&f->rng, MESSAGE + 1);
}

static void fill_word(struct fuzzer *f, struct kverbs_sqe *sqe)
{
	const struct region *region = region_choose(f, 2 * WORD, true, false);
	uint64_t first;

	if (!region)
		return;
	first = -region->addr % WORD;
	sqe->region_id = region->id;
	sqe->offset = first + rng_below(&f->rng, (region->length - first) / WORD) * WORD;
	/* This union member is the new value of a CMP_SWAP. */
	sqe->length = WORD;
	sqe->operand = rng_number(&f->rng);
}

static void fill_buffer(struct fuzzer *f, struct kverbs_sqe *sqe)
{
	bool lasting = sqe->opcode == KVERBS_OP_RECV;
	const struct region *region = region_choose(f, sqe->length, is_written(sqe), lasting);

	if (!region && lasting)
		region = region_choose(f, sqe->length = MESSAGE, true, true);
	if (!region || !sqe->length) {
		sqe->length = 0;
		return;
	}
	sqe->region_id = region->id;
	sqe->offset = rng_below(&f->rng, region->length - sqe->length + 1);
}

static bool fill_piece(struct fuzzer *f, const struct kverbs_sqe *sqe, uint64_t length,
		       struct kverbs_piece *piece)
{
	const struct region *region = region_choose(f, length, is_written(sqe), false);

	if (!region)
		return false;
	*piece = (struct kverbs_piece){
		.region_id = region->id,
		.offset = rng_below(&f->rng, region->length - length + 1),
		.length = length,
	};
	return true;
}

/* Pieces whose lengths add up to the entry's length. */
static bool fill_list(struct fuzzer *f, struct kverbs_sqe *sqe, struct kverbs_piece *pieces)
{
	unsigned int i, nr = 1 + rng_below(&f->rng, rng_once_in(&f->rng, 8) ?
						    KVERBS_LIST_MAX : 6);
	uint64_t each = sqe->length / nr;

	for (i = 1; i < nr; i++)
		if (!fill_piece(f, sqe, each, &pieces[i]))
			return false;
	if (!fill_piece(f, sqe, sqe->length - (nr - 1) * each, &pieces[0]))
		return false;
	sqe->flags |= KVERBS_SQE_LIST;
	sqe->offset = (uintptr_t)pieces;
	sqe->piece_stride = rng_once_in(&f->rng, 2) ? sizeof(*pieces) : 0;
	sqe->length = nr;
	return true;
}

static void fill_local(struct fuzzer *f, struct kverbs_sqe *sqe, struct kverbs_piece *pieces)
{
	if (is_atomic(sqe)) {
		fill_word(f, sqe);
		return;
	}
	if (!rights[sqe->opcode])
		sqe->length = choose_length(f, sqe);
	if (sqe->length < KVERBS_LIST_MAX || !rng_once_in(&f->rng, 6) ||
	    !fill_list(f, sqe, pieces))
		fill_buffer(f, sqe);
}

static void spoil(struct fuzzer *f, struct kverbs_sqe *sqe)
{
	if (rng_once_in(&f->rng, 2))
		world_spoil(f, sqe, sizeof(*sqe));
	else
		((unsigned char *)sqe)[rng_below(&f->rng, sizeof(*sqe))] ^=
			1U << rng_below(&f->rng, 8);
}

/**
 * entry_fill() - fill in an entry of which at most one field is wrong
 * @f: the thread
 * @end: this end of the connection
 * @sqe: the entry
 * @i: its index in the batch
 */
void entry_fill(struct fuzzer *f, struct end *end, struct kverbs_sqe *sqe, unsigned int i)
{
	struct kverbs_sqe new = { .opcode = choose_opcode(f, end), .conn_id = end->conn };

	if (!fill_peer(f, end, &new))
		new.opcode = has_receive(link_peer(f->world, end)) ? KVERBS_OP_SEND :
								     KVERBS_OP_RECV;
	fill_local(f, &new, f->pieces[i]);
	if (new.opcode != KVERBS_OP_RECV) {
		new.flags |= rng_below(&f->rng, 8);
		if (!rng_once_in(&f->rng, 8))
			new.flags |= KVERBS_SQE_SIGNAL;
	}
	if (new.opcode == KVERBS_OP_SEND_IMM || new.opcode == KVERBS_OP_WRITE_IMM)
		new.imm = rng_next(&f->rng);
	new.user_data = rng_next(&f->rng) << 8 | new.opcode;
	f->opcodes[i] = new.opcode;
	f->used[i] = end;
	if (rng_once_in(&f->rng, 150))
		spoil(f, &new);
	*sqe = new;
}

/**
 * entry_taken() - record that an entry was accepted
 * @f: the thread
 * @i: its index in the batch
 */
void entry_taken(struct fuzzer *f, unsigned int i)
{
	if (f->opcodes[i] == KVERBS_OP_RECV)
		f->used[i]->receives++;
	else if (is_message(f->opcodes[i]))
		link_peer(f->world, f->used[i])->receives--;
}

/**
 * entry_refused() - record that an entry found no room; lower the target of receives
 * @f: the thread
 * @i: its index in the batch
 */
void entry_refused(struct fuzzer *f, unsigned int i)
{
	if (f->opcodes[i] == KVERBS_OP_RECV && f->used[i]->receives > 0)
		f->used[i]->most = f->used[i]->receives;
}
