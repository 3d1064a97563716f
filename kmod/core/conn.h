/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONN_H
#define KVERBS_CONN_H

#include <linux/kverbs.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <rdma/rdma_cm.h>

#include "backlog.h"
#include "cq.h"
#include "device.h"
#include "connect.h"
#include "keepalive.h"
#include "lkey.h"
#include "mr.h"
#include "pool.h"
#include "queue.h"
#include "sync.h"
#include "turn.h"

struct kverbs_conn;
struct kverbs_conn_attr;
struct kverbs_group;
struct kverbs_srq;

/**
 * struct kverbs_conn_ops - events for the owner of a connection
 * @accepting: kverbs_conn_accept() has found a request and copied this attr; called with
 *	the mutex of the connection held; may be NULL
 * @established: the connection is up; called from the CM's handler, so must be short
 * @ended: the connection is DEAD, and nothing of it is on the HCA; the last call
 */
struct kverbs_conn_ops {
	void (*accepting)(struct kverbs_conn *conn, struct kverbs_conn_attr *attr);
	void (*established)(struct kverbs_conn *conn);
	void (*ended)(struct kverbs_conn *conn);
};

/**
 * struct kverbs_conn_attr - parameters of a connection
 * @ops: events for the owner
 * @owner: the owner
 * @cqs: where the completion queue comes from
 * @group: the group whose protection domain it gets, or NULL; the owner keeps the group until
 *	kverbs_group_reclaim()
 * @recv_pool: where the buffers of its receives come from, or NULL
 * @param: depths, retries and timers
 * @timeout_ms: time to become ESTABLISHED
 * @priv_len: bytes in @priv
 * @priv: private data for the peer
 */
struct kverbs_conn_attr {
	const struct kverbs_conn_ops *ops;
	void *owner;
	struct kverbs_cq_set *cqs;
	struct kverbs_group *group;
	struct kverbs_recv_pool *recv_pool;
	struct kverbs_conn_param param;
	unsigned int timeout_ms;
	u8 priv_len;
	u8 priv[KVERBS_PRIV_ACCEPT_MAX];
};

/* Private data that an answer can carry. */
#define KVERBS_PEER_PRIV_MAX	KVERBS_PRIV_ACCEPT_MAX

/**
 * struct kverbs_conn_end - why a connection ended
 * @type: enum kverbs_cqe_type
 * @error: -errno, or 0 if this side ended it
 * @reason: reason of a REJECTED
 */
struct kverbs_conn_end {
	u8 type;
	int error;
	u32 reason;
};

/**
 * enum kverbs_conn_step - the next step of the active side
 * @KVERBS_STEP_NONE: nothing
 * @KVERBS_STEP_ADDR: resolve the address again
 * @KVERBS_STEP_ROUTE: the address is resolved: resolve the route
 * @KVERBS_STEP_CONNECT: the route is resolved: make the QP, post the receives, connect
 */
enum kverbs_conn_step {
	KVERBS_STEP_NONE,
	KVERBS_STEP_ADDR,
	KVERBS_STEP_ROUTE,
	KVERBS_STEP_CONNECT,
};

/**
 * enum kverbs_conn_stamp - timestamps of a connection that comes up
 * @KVERBS_STAMP_BEGIN: it was allocated
 * @KVERBS_STAMP_ADDR: the address is resolved
 * @KVERBS_STAMP_ROUTE: the route is resolved
 * @KVERBS_STAMP_QP: the queue pair is created
 * @KVERBS_STAMP_UP: the connection is established
 * @KVERBS_STAMPS: number of timestamps
 */
enum kverbs_conn_stamp {
	KVERBS_STAMP_BEGIN,
	KVERBS_STAMP_ADDR,
	KVERBS_STAMP_ROUTE,
	KVERBS_STAMP_QP,
	KVERBS_STAMP_UP,
	KVERBS_STAMPS,
};

/**
 * struct kverbs_conn - a connection
 * @attr: its parameters; ACCEPT replaces them before @queue is up
 * @memcg: the control group that its memory is charged to, whichever task allocates it
 * @lock: guards @state, @end, @step, @stamps, @unanswered and @peer_priv; taken in any context
 * @state: enum kverbs_conn_state, written by conn.c only
 * @end: why it ended, set when it enters CLOSING
 * @step: next step for @work
 * @stamps: ktime_get_ns() of each enum kverbs_conn_stamp, 0: not reached yet
 * @was_up: it has been ESTABLISHED
 * @unanswered: the peer has not answered yet, and tearing down would wait for that
 * @answered: woken when @unanswered is cleared
 * @mutex: held while HCA objects are created or torn down
 * @use: read-locked by users of the HCA objects except kverbs_wr_post_direct(), write-locked by
 *	the teardown
 * @recv_lock: held while deferred receives are posted
 * @held_lock: guards @held_chain; held while held operations are posted
 * @recv_waiter: queues @work when another task no longer maps a region that the first deferred
 *	receive names; left under @recv_lock
 * @held_waiter: the same of the held operations, left under @held_lock
 * @sync_turn: held while a synchronous chain is posted and waited for
 * @reserved: what is charged to the user until the device is known, of the active side
 * @quotas: what is charged to the user on the device; given back by the teardown
 * @tenant: on the device, once that is known
 * @group_entry: in the list of the group, under its lock, while this has a queue pair
 * @lent: users from kverbs_group_borrow(), under the lock of the group
 * @id: the CM id, NULL when torn down
 * @connect: the call of rdma_connect()
 * @qp: the queue pair
 * @cq: its completion queue
 * @cq_need: completions reserved in @cq
 * @queue: the work of the queue pair
 * @taker: takes buffers of @attr.recv_pool for the own receive queue
 * @srq: the shared receive queue, or NULL
 * @srq_entry: in the list of @srq, under its lock
 * @srq_index: of @qp among those of @srq, 0: none
 * @last_recv: completed when @qp, in ERR, has taken its last receive of @srq
 * @held_chain: to post held operations; allocated when first needed
 * @sync: its synchronous chains, under @sync_turn
 * @pool: its MRs
 * @lkeys: its registrations for local access
 * @backlog: the backlog of the listener, while REQUESTED
 * @work: takes the next step, posts deferred receives and held operations, and takes buffers
 *	from the receive pool
 * @close_work: tears down
 * @deadline: ends a connection that is not established in time
 * @keepalive: ends a connection whose peer does not answer
 * @responder_resources: READs that the peer may have in flight
 * @initiator_depth: READs that this side may have in flight
 * @port: of the device
 * @transport: enum kverbs_transport
 * @device_index: of the device, U32_MAX before it is known
 * @node: NUMA node of the device, NUMA_NO_NODE before it is known
 * @mtu: path MTU in bytes, 0 before it is known
 * @local: its address here
 * @remote: its address there
 * @peer_priv: the peer's private data
 * @peer_priv_len: bytes of it
 *
 * Lock order: @mutex, @use, @recv_lock, @held_lock or @sync_turn, @lkeys.lock,
 * region->mapping, @pool.lock, @queue.lock, @lock. The task that maps a region may hold any of
 * those before, so no other task waits for it with one of them but @use and @sync_turn: that one
 * is of a user, and can be killed. The locks of a receive pool and of a shared
 * receive queue come after @mutex and @use. The CM's handler mutex comes after @mutex and
 * before @lock; a CM handler takes none but @lock and @queue.lock.
 *
 * Life: created as CONNECTING or REQUESTED, perhaps ESTABLISHED, then CLOSING from the
 * first kverbs_conn_end(), then DEAD when teardown is complete: stop connecting, close
 * the queue, disconnect, drain, destroy id and QP, flush remaining operations,
 * deregister, give back CQ and PD, leave the device. While it is @unanswered, teardown only
 * closes the queue: the CM's next event continues it, so that no worker waits for the peer.
 * kverbs_conn_free() ends and frees it.
 */
struct kverbs_conn {
	struct kverbs_conn_attr attr;
	struct mem_cgroup *memcg;
	spinlock_t lock;
	enum kverbs_conn_state state;
	struct kverbs_conn_end end;
	enum kverbs_conn_step step;
	u64 stamps[KVERBS_STAMPS];
	bool was_up;
	bool unanswered;
	wait_queue_head_t answered;
	struct mutex mutex;
	struct rw_semaphore use;
	struct mutex recv_lock;
	struct mutex held_lock;
	struct kverbs_turn_waiter recv_waiter;
	struct kverbs_turn_waiter held_waiter;
	struct kverbs_turn sync_turn;
	struct list_head reserved;
	struct kverbs_quota quotas[KVERBS_CONN_OBJECTS];
	struct kverbs_tenant tenant;
	struct list_head group_entry;
	unsigned int lent;
	struct rdma_cm_id *id;
	struct kverbs_connect connect;
	struct ib_qp *qp;
	struct kverbs_cq *cq;
	struct kverbs_cq_need cq_need;
	struct kverbs_queue queue;
	struct kverbs_pool_taker taker;
	struct kverbs_srq *srq;
	struct list_head srq_entry;
	unsigned long srq_index;
	struct completion last_recv;
	struct kverbs_chain *held_chain;
	struct kverbs_sync sync;
	struct kverbs_mr_pool pool;
	struct kverbs_lkey_cache lkeys;
	struct kverbs_backlog *backlog;
	struct work_struct work;
	struct work_struct close_work;
	struct delayed_work deadline;
	struct kverbs_keepalive keepalive;
	u8 responder_resources;
	u8 initiator_depth;
	u32 port;
	enum kverbs_transport transport;
	u32 device_index;
	int node;
	u32 mtu;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	u8 peer_priv[KVERBS_PEER_PRIV_MAX];
	u8 peer_priv_len;
};

struct kverbs_conn *kverbs_conn_alloc(enum kverbs_conn_state state, int node);
void kverbs_conn_release(struct kverbs_conn *conn);
bool kverbs_conn_move(struct kverbs_conn *conn, enum kverbs_conn_state from,
		      enum kverbs_conn_state to);
bool kverbs_conn_set_up(struct kverbs_conn *conn);
bool kverbs_conn_end(struct kverbs_conn *conn, enum kverbs_cqe_type type, int error,
		     u32 reason);
void kverbs_conn_expire(struct kverbs_conn *conn);
void kverbs_conn_set_dead(struct kverbs_conn *conn);
void kverbs_conn_note_asked(struct kverbs_conn *conn);
void kverbs_conn_note_answer(struct kverbs_conn *conn);
bool kverbs_conn_is_unanswered(struct kverbs_conn *conn);
void kverbs_conn_stamp(struct kverbs_conn *conn, enum kverbs_conn_stamp what);
void kverbs_conn_set_step(struct kverbs_conn *conn, enum kverbs_conn_step step);

/* True in CLOSING and DEAD; otherwise the end may begin at any time. */
static inline bool kverbs_conn_is_ending(const struct kverbs_conn *conn)
{
	return READ_ONCE(conn->state) >= KVERBS_CONN_CLOSING;
}

#endif /* KVERBS_CONN_H */
