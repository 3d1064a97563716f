/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REQ_H
#define KVERBS_REQ_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

struct kverbs_mr;
struct kverbs_queue;
struct kverbs_region;
struct kverbs_srq;

/**
 * struct kverbs_extent - a range of a region
 * @region: the region, counted in its uses
 * @offset: first byte
 * @length: bytes
 */
struct kverbs_extent {
	struct kverbs_region *region;
	u64 offset;
	u64 length;
};

/**
 * struct kverbs_req - an operation, from acceptance to completion
 * @last: completion of its last work request
 * @part: completions of the work requests before it, which come only on failure
 * @entry: in one of the queue's lists
 * @queue: the queue that accepted it
 * @region: the local buffer's, counted in its uses unless @kept; NULL if there is none or a list
 * @offset: of the buffer in the region
 * @length: of the buffer, or of all that is in the list
 * @list: the buffer's pieces, if there are several; they belong to the owner of the
 *	operation
 * @nr_list: number of pieces
 * @remote_addr: WRITE*, READ, atomics
 * @rkey: WRITE*, READ, atomics, SEND_INV
 * @imm: *_IMM: data to send; of a receive: data that arrived
 * @operand: CMP_SWAP: expected value; FETCH_ADD: value to add
 * @swap: CMP_SWAP: the new value
 * @opcode: enum kverbs_opcode
 * @fence: wait for earlier READs
 * @solicited: mark it solicited
 * @unsignalled: the owner needs no completion of it alone: a later one may cover it
 * @privileged: accepted even if the queue is reserved
 * @pooled: a receive whose buffer comes from a pool
 * @kept: the owner counts the use of @region itself, and ends it in @done
 * @direct: a receive that may not use the lkey cache, so its buffer must fit into its entries
 * @held: waits, or has waited, for slots in one of the queue's lists
 * @ends_list: of a held operation: it is the last of the list that was submitted with it
 * @coalesced: posted unsignalled; the completion of a later operation ends both
 * @nr_wrs: send slots that it holds
 * @sinks: MRs of a READ, with KVERBS_QUIRK_READ_SINK
 * @srq: the shared receive queue that a receive was posted to; not set otherwise
 * @done: called on completion, under no lock of the queue, with a list of completed
 *	operations that begins with this one. Takes this one off the list by
 *	kverbs_req_pop(), and those behind it that have the same @done
 * @result: 0 or -errno, for @done
 * @wc_status: of the first work request that failed
 * @flags: KVERBS_CQE_F_*
 * @byte_len: bytes transferred
 */
struct kverbs_req {
	struct ib_cqe last;
	struct ib_cqe part;
	struct list_head entry;
	struct kverbs_queue *queue;
	struct kverbs_region *region;
	u64 offset;
	u64 length;
	struct kverbs_extent *list;
	unsigned int nr_list;
	u64 remote_addr;
	u32 rkey;
	u32 imm;
	u64 operand;
	u64 swap;
	u8 opcode;
	bool fence;
	bool solicited;
	bool unsignalled;
	bool privileged;
	bool pooled;
	bool kept;
	bool direct;
	bool held;
	bool ends_list;
	bool coalesced;
	unsigned int nr_wrs;
	struct kverbs_mr *sinks;
	struct kverbs_srq *srq;
	void (*done)(struct list_head *done_list);
	int result;
	u8 wc_status;
	u16 flags;
	u64 byte_len;
};

/**
 * kverbs_req_pop() - take the first operation off a list of completed ones
 * @done_list: the list
 * @done: the callback of the caller
 *
 * Return: the operation, or NULL if the list is empty or begins with an operation that
 * has another callback.
 */
static inline struct kverbs_req *
kverbs_req_pop(struct list_head *done_list, void (*done)(struct list_head *done_list))
{
	struct kverbs_req *req =
		list_first_entry_or_null(done_list, struct kverbs_req, entry);

	if (!req || req->done != done)
		return NULL;
	list_del(&req->entry);
	return req;
}

static inline unsigned int kverbs_req_extents(const struct kverbs_req *req)
{
	return req->list ? req->nr_list : !!req->region;
}

static inline struct kverbs_extent kverbs_req_extent(const struct kverbs_req *req,
						     unsigned int i)
{
	if (req->list)
		return req->list[i];
	return (struct kverbs_extent){ req->region, req->offset, req->length };
}

void kverbs_req_return_sinks(struct kverbs_req *req);
void kverbs_req_use(const struct kverbs_req *req);
void kverbs_req_unuse(const struct kverbs_req *req);
void kverbs_req_unuse_list(struct list_head *reqs);

#endif /* KVERBS_REQ_H */
