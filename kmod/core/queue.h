/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_QUEUE_H
#define KVERBS_QUEUE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "chain.h"
#include "req.h"

struct kverbs_cq_set;
struct kverbs_tenant;

/* Scatter/gather entries of a receive, which is built on the stack. */
#define KVERBS_RECV_SGES	32
/* How long a registration may wait behind work in the send queue that does not advance. */
#define KVERBS_REG_TIMEOUT	(30 * HZ)

/**
 * struct kverbs_queue_ops - events that a queue reports to its owner
 * @broken: a work request failed with this status; atomic context
 * @revoked: the peer invalidated this key; atomic context
 * @kick: deferred receives or held operations may be ready to be posted, or the receive queue
 *	has room for buffers of a pool; atomic context
 */
struct kverbs_queue_ops {
	void (*broken)(struct kverbs_queue *queue, enum ib_wc_status status);
	void (*revoked)(struct kverbs_queue *queue, u32 rkey);
	void (*kick)(struct kverbs_queue *queue);
};

/**
 * enum kverbs_queue_state - what may be posted
 * @KVERBS_QUEUE_NEW: no queue pair yet: receives are deferred
 * @KVERBS_QUEUE_RECV: only receives
 * @KVERBS_QUEUE_UP: any operation
 * @KVERBS_QUEUE_CLOSED: nothing, for good
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
 * @ib: the device of @qp; only compared by callers that do not keep it
 * @tenant: in whose name the device accesses memory; only compared
 * @local_lkey: the local DMA lkey of the protection domain
 * @ops: events for the owner
 * @lock: guards all below; held while posting, so that nothing is posted after
 *	kverbs_queue_close(). Completions take it, so bottom halves are off.
 * @state: enum kverbs_queue_state
 * @posted: operations other than receives that are with the HCA, oldest first
 * @posted_recvs: receives that are with the HCA, oldest first
 * @deferred: accepted receives that are not with the HCA yet, oldest first
 * @held: accepted operations other than receives that wait for send slots, oldest first
 * @held_recvs: accepted receives that wait for receive slots, oldest first
 * @nr_deferred: receives that ever entered @deferred
 * @nr_released: receives that ever left @deferred
 * @released: woken when a receive leaves @deferred
 * @sq_depth: send slots
 * @sq_free: free send slots
 * @nr_retired: send slots that completions ever gave back
 * @rq_depth: receive slots, for posted and deferred receives
 * @rq_free: free receive slots
 * @reserved: only operations that are marked as @privileged are accepted
 * @pooled: only receives that are marked as @pooled are accepted, for good
 * @shared: its receives come from a shared receive queue, and none is accepted; for good
 * @quirks: KVERBS_QUIRK_* of the device and its transport
 * @max_sge: entries of one SEND or WRITE
 * @max_recv_sge: entries of one RECV
 * @max_read_sge: entries of one READ
 * @max_local: entries of one work request that name registrations of the lkey cache
 * @max_msg: bytes of one work request
 * @max_recv: bytes of a receive, as long as the longest message
 * @ops_done: operations that succeeded
 * @errors: operations that failed, without flushed ones
 * @bytes_out: bytes of SEND and WRITE
 * @bytes_in: bytes of RECV, READ and atomics
 *
 * Posting takes slots, and the completion that retires them gives them back. Every
 * operation that is not coalesced has its last work request signalled, so that all slots
 * before it are free when it completes. Coalesced operations are followed by a signalled
 * one, or, if all of them are unsignalled, there is a free slot for one. The registration of
 * a sink takes no slot: the queue pair has one more for each.
 *
 * While operations are held, later ones of the same kind are held, too, so that all are posted
 * in the order in which they were accepted.
 */
struct kverbs_queue {
	struct ib_qp *qp;
	struct ib_device *ib;
	const struct kverbs_tenant *tenant;
	u32 local_lkey;
	const struct kverbs_queue_ops *ops;
	spinlock_t lock;
	enum kverbs_queue_state state;
	struct list_head posted;
	struct list_head posted_recvs;
	struct list_head deferred;
	struct list_head held;
	struct list_head held_recvs;
	u32 nr_deferred;
	u32 nr_released;
	wait_queue_head_t released;
	unsigned int sq_depth;
	unsigned int sq_free;
	u32 nr_retired;
	unsigned int rq_depth;
	unsigned int rq_free;
	bool reserved;
	bool pooled;
	bool shared;
	u32 quirks;
	unsigned int max_sge;
	unsigned int max_recv_sge;
	unsigned int max_read_sge;
	unsigned int max_local;
	u64 max_msg;
	u64 max_recv;
	u64 ops_done;
	u64 errors;
	u64 bytes_out;
	u64 bytes_in;
};

void kverbs_queue_init(struct kverbs_queue *queue, const struct kverbs_queue_ops *ops,
		       unsigned int sq_depth, unsigned int rq_depth);
int kverbs_queue_resize(struct kverbs_queue *queue, unsigned int sq_depth,
			unsigned int rq_depth);
int kverbs_queue_set_pooled(struct kverbs_queue *queue);
void kverbs_queue_open(struct kverbs_queue *queue, struct ib_qp *qp);
int kverbs_queue_up(struct kverbs_queue *queue);
void kverbs_queue_close(struct kverbs_queue *queue);
void kverbs_queue_flush_remaining(struct kverbs_queue *queue);

const struct kverbs_req *kverbs_queue_req(const struct ib_cqe *cqe);
int kverbs_queue_check_up(struct kverbs_queue *queue);
int kverbs_queue_reserve(struct kverbs_queue *queue);
void kverbs_queue_unreserve(struct kverbs_queue *queue);
int kverbs_queue_post(struct kverbs_queue *queue, struct kverbs_req *req,
		      struct kverbs_chain *chain);
unsigned int kverbs_queue_post_list(struct kverbs_queue *queue, struct kverbs_req **reqs,
				    unsigned int nr, struct kverbs_chain *chain, int *error);
int kverbs_queue_post_regs(struct kverbs_queue *queue, struct kverbs_chain *chain);

unsigned int kverbs_queue_defer(struct kverbs_queue *queue, struct kverbs_req **reqs,
				unsigned int nr, u32 *ticket, int *error);
bool kverbs_queue_is_posted(struct kverbs_queue *queue, u32 ticket);
void kverbs_queue_await_posted(struct kverbs_queue *queue, struct kverbs_cq_set *cqs,
			       u32 ticket);
int kverbs_queue_hold(struct kverbs_queue *queue, struct kverbs_req **reqs,
		      unsigned int nr);
unsigned int kverbs_queue_peek_held(struct kverbs_queue *queue, struct kverbs_req **reqs,
				    unsigned int max);
void kverbs_queue_fail_held(struct kverbs_queue *queue, struct kverbs_req *req, int result);
void kverbs_queue_release_recvs(struct kverbs_queue *queue);
bool kverbs_queue_has_deferred(struct kverbs_queue *queue);
unsigned int kverbs_queue_peek_deferred(struct kverbs_queue *queue, struct kverbs_req **reqs,
					unsigned int max);
int kverbs_queue_post_recv(struct kverbs_queue *queue, struct kverbs_req *req,
			   struct ib_sge *sges, int nr);
unsigned int kverbs_queue_post_recvs(struct kverbs_queue *queue, struct kverbs_req **reqs,
				     struct ib_recv_wr *wrs, unsigned int nr, int *error);
void kverbs_queue_end_shared(struct kverbs_queue *queue, struct kverbs_req *req,
			     const struct ib_wc *wc);
int kverbs_queue_recv_now(struct kverbs_queue *queue, struct kverbs_req *req,
			  struct ib_sge *sges, int nr);
bool kverbs_queue_has_qp(struct kverbs_queue *queue);
void kverbs_queue_fail_deferred(struct kverbs_queue *queue, struct kverbs_req *req,
				int result);

#endif /* KVERBS_QUEUE_H */
