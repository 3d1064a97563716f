/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_QUEUE_H
#define KVERBS_QUEUE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "req.h"

struct kverbs_map;
struct kverbs_mr;
struct kverbs_region;

/* Work requests of one operation, registrations included. */
#define KVERBS_OP_WRS	64
/* Scatter/gather entries of one operation. */
#define KVERBS_OP_SGES	256
/* Scatter/gather entries of a receive, which is built on the stack. */
#define KVERBS_RECV_SGES	32
/* How long a registration may stand behind other work in the send queue. */
#define KVERBS_REG_TIMEOUT	(30 * HZ)

/**
 * struct kverbs_queue_ops - what the owner of a queue must know
 * @broken: a work request failed with this status; atomic context
 * @revoked: the peer took this key back; atomic context
 * @kick: parked receives may be able to go on; atomic context
 */
struct kverbs_queue_ops {
	void (*broken)(struct kverbs_queue *queue, enum ib_wc_status status);
	void (*revoked)(struct kverbs_queue *queue, u32 rkey);
	void (*kick)(struct kverbs_queue *queue);
};

/**
 * enum kverbs_queue_state - what may be posted
 * @KVERBS_QUEUE_NEW: no queue pair yet: receives are parked
 * @KVERBS_QUEUE_RECV: receives
 * @KVERBS_QUEUE_UP: all
 * @KVERBS_QUEUE_CLOSED: nothing, ever again
 */
enum kverbs_queue_state {
	KVERBS_QUEUE_NEW,
	KVERBS_QUEUE_RECV,
	KVERBS_QUEUE_UP,
	KVERBS_QUEUE_CLOSED,
};

/**
 * struct kverbs_queue - the work of one queue pair
 * @qp: the queue pair
 * @ops: what the owner must know
 * @lock: guards all below; taken around posting, so that nothing is posted
 *	after kverbs_queue_close(). Taken by completions: bottom halves off.
 * @state: enum kverbs_queue_state
 * @posted: operations but receives that the HCA has, oldest first
 * @posted_recvs: receives that it has, oldest first
 * @parked: receives that it does not have yet, oldest first
 * @nr_parked: receives that were ever parked
 * @nr_unparked: of those, left that list
 * @unparked: woken when one does
 * @sq_depth: send slots
 * @sq_free: of those, free
 * @rq_depth: receive slots, posted or parked
 * @rq_free: of those, free
 * @quirks: KVERBS_QUIRK_* of the device and its transport
 * @max_sge: entries of one SEND, RECV or WRITE
 * @max_read_sge: entries of one READ
 * @max_local: entries of one request that name local registrations
 * @max_msg: bytes of one work request
 * @max_recv: bytes of a receive: of the longest message there is
 * @ops_done: operations that went well
 * @errors: operations that failed, but not what was flushed
 * @bytes_out: of SEND and WRITE
 * @bytes_in: of RECV and READ
 *
 * Slots are taken before posting and given back by the completion that retires
 * them. The last work request of every operation but joined ones is signalled, so the
 * slots of those before it are known to be free when it completes. Behind joined ones
 * stands one that is not, or, if all of them are silent, there is a slot for one.
 */
struct kverbs_queue {
	struct ib_qp *qp;
	const struct kverbs_queue_ops *ops;
	spinlock_t lock;
	enum kverbs_queue_state state;
	struct list_head posted;
	struct list_head posted_recvs;
	struct list_head parked;
	u32 nr_parked;
	u32 nr_unparked;
	wait_queue_head_t unparked;
	unsigned int sq_depth;
	unsigned int sq_free;
	unsigned int rq_depth;
	unsigned int rq_free;
	u32 quirks;
	unsigned int max_sge;
	unsigned int max_read_sge;
	unsigned int max_local;
	u64 max_msg;
	u64 max_recv;
	u64 ops_done;
	u64 errors;
	u64 bytes_out;
	u64 bytes_in;
};

/**
 * union kverbs_wr - a work request of any kind
 * @wr: what all have
 * @rdma: WRITE*, READ
 * @atomic: CMP_SWAP, FETCH_ADD
 */
union kverbs_wr {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

/**
 * struct kverbs_chain - work requests being built, of one operation or one for each of several
 * @reqs: operations to build them for
 * @region: the last whose pages were asked for, while the chain is built
 * @map: its map
 * @nr_regs: registrations in @regs
 * @nr_wrs: requests in @wrs
 * @nr_sges: entries in @sges
 * @regs: registrations that must go before
 * @wrs: the requests
 * @sges: their entries
 *
 * Too large for the stack; whoever posts has one of his own.
 */
struct kverbs_chain {
	struct kverbs_req *reqs[KVERBS_OP_WRS];
	const struct kverbs_region *region;
	struct kverbs_map *map;
	unsigned int nr_regs;
	unsigned int nr_wrs;
	unsigned int nr_sges;
	struct kverbs_mr *regs[KVERBS_OP_WRS];
	union kverbs_wr wrs[KVERBS_OP_WRS];
	struct ib_sge sges[KVERBS_OP_SGES];
};

void kverbs_queue_init(struct kverbs_queue *queue, const struct kverbs_queue_ops *ops,
		       unsigned int sq_depth, unsigned int rq_depth);
int kverbs_queue_resize(struct kverbs_queue *queue, unsigned int sq_depth,
			unsigned int rq_depth);
void kverbs_queue_open(struct kverbs_queue *queue, struct ib_qp *qp);
int kverbs_queue_up(struct kverbs_queue *queue);
void kverbs_queue_close(struct kverbs_queue *queue);
void kverbs_queue_sweep(struct kverbs_queue *queue);

int kverbs_queue_check_up(struct kverbs_queue *queue);
int kverbs_queue_post(struct kverbs_queue *queue, struct kverbs_req *req,
		      struct kverbs_chain *chain);
unsigned int kverbs_queue_post_list(struct kverbs_queue *queue, struct kverbs_req **reqs,
				    unsigned int nr, struct kverbs_chain *chain, int *error);
int kverbs_queue_post_regs(struct kverbs_queue *queue, struct kverbs_chain *chain);

unsigned int kverbs_queue_park(struct kverbs_queue *queue, struct kverbs_req **reqs,
			       unsigned int nr, u32 *ticket, int *error);
bool kverbs_queue_is_posted(struct kverbs_queue *queue, u32 ticket);
void kverbs_queue_await_posted(struct kverbs_queue *queue, u32 ticket);
struct kverbs_req *kverbs_queue_first_parked(struct kverbs_queue *queue);
int kverbs_queue_post_recv(struct kverbs_queue *queue, struct kverbs_req *req,
			   struct ib_sge *sges, int nr);
void kverbs_queue_fail_parked(struct kverbs_queue *queue, struct kverbs_req *req,
			      int result);

#endif /* KVERBS_QUEUE_H */
