/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_REQ_H
#define KVERBS_REQ_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

struct kverbs_queue;
struct kverbs_region;

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
 * struct kverbs_req - an operation, from being taken to being done
 * @last: completion of its last work request: the operation is over
 * @part: completions of those before, which come only if they failed
 * @entry: in one of the queue's lists
 * @queue: where
 * @region: the local buffer's, counted in its uses; NULL if there is none or a list
 * @offset: of the buffer in the region
 * @length: of the buffer, or of all that is in the list
 * @list: the buffer's pieces, if there are several; the owner's
 * @nr_list: how many
 * @remote_addr: WRITE*, READ, atomics
 * @rkey: WRITE*, READ, atomics, SEND_INV
 * @imm: *_IMM, and of a receive what came
 * @operand: CMP_SWAP: what is expected; FETCH_ADD: what is added
 * @swap: CMP_SWAP: the new value
 * @opcode: enum kverbs_opcode
 * @fence: wait for earlier READs
 * @solicited: mark it solicited
 * @silent: if it goes well nobody waits to be told, but with a later one
 * @joined: the device tells of it with a later one, which ends both
 * @nr_wrs: send slots that it holds
 * @done: called when it is over, never under a lock of the queue, with a list whose
 *	first it is: takes it off with kverbs_req_pop(), and those behind it that are
 *	its own, too
 * @result: 0 or -errno, for @done
 * @wc_status: of the first work request that failed
 * @flags: KVERBS_CQE_F_*
 * @byte_len: bytes moved
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
	bool silent;
	bool joined;
	unsigned int nr_wrs;
	void (*done)(struct list_head *over);
	int result;
	u8 wc_status;
	u16 flags;
	u64 byte_len;
};

/**
 * kverbs_req_pop() - take the first off a list of operations that are over
 * @over: the list
 * @done: whose
 *
 * Return: the operation, or NULL if there is none, or it is somebody else's.
 */
static inline struct kverbs_req *kverbs_req_pop(struct list_head *over,
						void (*done)(struct list_head *over))
{
	struct kverbs_req *req = list_first_entry_or_null(over, struct kverbs_req, entry);

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

void kverbs_req_use(const struct kverbs_req *req);
void kverbs_req_unuse(const struct kverbs_req *req);
void kverbs_req_unuse_list(struct list_head *reqs);

#endif /* KVERBS_REQ_H */
