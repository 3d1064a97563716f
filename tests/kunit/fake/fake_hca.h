/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device that records work requests, and completes them on request. */
#ifndef KVERBS_FAKE_HCA_H
#define KVERBS_FAKE_HCA_H

#include <kunit/test.h>
#include <linux/interrupt.h>
#include <rdma/ib_verbs.h>

#define FAKE_WRS	160
#define FAKE_SGES	16
/* Pages of an MR: the default, that of a registered device, and the most. */
#define FAKE_MR_PAGES	4
#define FAKE_MR_ROOM	16
#define FAKE_MR_LARGE	32
/* No MR has it: their keys are counted up, with a random last byte. */
#define FAKE_LKEY	0xfffff001

/**
 * enum fake_verb - what a device can be told to fail
 * @FAKE_ALLOC_PD: making a protection domain
 * @FAKE_CREATE_CQ: making a completion queue
 * @FAKE_CREATE_QP: making a queue pair
 * @FAKE_MODIFY_QP: moving one to another state but ERR
 * @FAKE_QUERY_PORT: asking about the port
 * @FAKE_ALLOC_MR: making an MR
 * @FAKE_MAP_MR: giving it its pages
 * @FAKE_DEREG_MR: giving an MR up
 * @FAKE_CONNECT: asking a peer
 * @FAKE_ACCEPT: accepting a peer
 * @FAKE_LISTEN: listening
 * @FAKE_GET_DMA_MR: making the MR of all memory
 * @FAKE_POST_SEND: posting to a send queue, unless the queue pair is in ERR
 * @FAKE_POST_RECV: posting to a receive queue, unless the queue pair is in ERR
 * @FAKE_CREATE_SRQ: making a shared receive queue
 * @FAKE_MODIFY_SRQ: setting its limit
 * @FAKE_POST_SRQ_RECV: posting to it
 * @FAKE_VERBS: how many there are
 */
enum fake_verb {
	FAKE_ALLOC_PD,
	FAKE_CREATE_CQ,
	FAKE_CREATE_QP,
	FAKE_MODIFY_QP,
	FAKE_QUERY_PORT,
	FAKE_ALLOC_MR,
	FAKE_MAP_MR,
	FAKE_DEREG_MR,
	FAKE_CONNECT,
	FAKE_ACCEPT,
	FAKE_LISTEN,
	FAKE_GET_DMA_MR,
	FAKE_POST_SEND,
	FAKE_POST_RECV,
	FAKE_CREATE_SRQ,
	FAKE_MODIFY_SRQ,
	FAKE_POST_SRQ_RECV,
	FAKE_VERBS,
};

/**
 * enum fake_bad_wr - what a device that refuses a send says of those before it
 * @FAKE_BAD_WR_SET: that they were posted: bad_wr is the one that was refused
 * @FAKE_BAD_WR_UNSET: nothing if it refused all: bad_wr is as it was
 * @FAKE_BAD_WR_LATE: nothing: it has posted all of them, and bad_wr is as it was
 */
enum fake_bad_wr {
	FAKE_BAD_WR_SET,
	FAKE_BAD_WR_UNSET,
	FAKE_BAD_WR_LATE,
};

/**
 * struct fake_wr - a posted work request
 * @qp: its queue pair; of a shared receive NULL until a message takes it
 * @srq: the shared receive queue that it was posted to, or NULL
 * @cqe: its completion handler
 * @ended: it has completed, or is known to have succeeded
 * @opcode: opcode of a send
 * @send_flags: flags of a send
 * @imm: immediate data of a send
 * @remote_addr: remote address of a WRITE, READ or atomic
 * @rkey: key of a WRITE, READ or atomic
 * @operand: operand of an atomic
 * @swap: new value of an atomic
 * @mr: MR of a REG_MR
 * @key: key of a REG_MR
 * @access: rights of a REG_MR
 * @num_sge: number of scatter/gather entries
 * @sges: the first scatter/gather entries
 */
struct fake_wr {
	struct ib_qp *qp;
	struct ib_srq *srq;
	struct ib_cqe *cqe;
	bool ended;
	enum ib_wr_opcode opcode;
	int send_flags;
	u32 imm;
	u64 remote_addr;
	u32 rkey;
	u64 operand;
	u64 swap;
	struct ib_mr *mr;
	u32 key;
	int access;
	int num_sge;
	struct ib_sge sges[FAKE_SGES];
};

struct fake_profile;

/**
 * struct fake_hca - the device, a protection domain and a queue pair
 * @ib: the device
 * @pd: the protection domain of an unregistered device
 * @qp: the queue pair of an unregistered device
 * @lock: protects the posted work requests and the states of queue pairs
 * @sends: work requests posted to send queues
 * @nr_sends: length of @sends
 * @nr_doorbells: number of calls of ib_post_send()
 * @recvs: work requests posted to receive queues
 * @nr_recvs: length of @recvs
 * @nr_recv_doorbells: number of calls of ib_post_recv()
 * @recv_bad_unset: ib_post_recv() leaves bad_wr as it was when it refuses a receive
 * @room: number of work requests to accept
 * @error: errno of the next one after that
 * @bad_wr: what is said of which one was refused
 * @work: completes @sends, for posters that sleep until then
 * @nr_completed: number of @sends that @work has completed
 * @work_bad: the one that @work lets fail, or NULL
 * @work_bad_nr: number of the one in @sends that @work lets fail, from 1, or 0
 * @work_queued: posting to a send queue queues @work
 * @tasklet: completes @sends before their poster continues, and forgets completed ones
 * @tasklet_scheduled: posting schedules @tasklet instead of @work
 * @errors: errno of each verb, or 0
 * @fail_verb: the verb of which one call fails
 * @fail_at: number of the call of @fail_verb that fails, from 1, or 0
 * @nr_calls: calls of @fail_verb so far, while @fail_at is set
 * @failed: that call has been made
 * @limits: attributes with which it is registered
 * @port_caps: RDMA_CORE_* of its port
 * @speed: enum ib_port_speed of its port
 * @registered: it is registered
 * @nr_pds: number of protection domains
 * @nr_cqs: number of completion queues
 * @nr_qps: number of queue pairs
 * @nr_mrs: number of MRs
 * @nr_allocs: number of MRs allocated so far
 * @nr_lost: number of MRs whose deregistration has failed
 * @mrs: struct fake_mr, by the upper 24 bits of their keys
 * @dereg_held: deregistering an MR waits for fake_hca_let_dereg()
 * @dereg_begun: signalled when a task wants to deregister an MR
 * @dereg_let: signalled when MRs may be deregistered
 * @never_flushes: ERR does not complete work requests
 * @nr_srqs: number of shared receive queues
 * @loses_recvs: ERR does not complete shared receives that a message has taken
 * @mute: a queue pair in ERR does not tell when it has taken its last shared receive
 * @nr_overflows: completions lost in full queues
 * @qps: struct fake_qp, by number
 * @last_qpn: number of the last queue pair
 * @listening: id of the iWARP CM that listens, or NULL
 * @pending: the queue pair whose CM waits for an answer, or NULL
 * @asked: signalled when @pending is set
 * @nr_rejects: number of rejected requests
 * @removal: removes the device
 * @removed: signalled when the device is removed
 * @profile: the adapter that it behaves like, or NULL
 * @guise: a port of the transport of @profile, for kverbs' questions about it
 * @misread: the first work request that the adapter would misunderstand, or NULL
 * @stalled: @work waits for a receive
 * @nr_drains: calls of the adapter's own drain
 * @dead: it accepts nothing but from that drain, and flushes
 * @draining: that drain runs
 */
struct fake_hca {
	struct ib_device ib;
	struct ib_pd pd;
	struct ib_qp qp;
	spinlock_t lock;
	struct fake_wr sends[FAKE_WRS];
	unsigned int nr_sends;
	unsigned int nr_doorbells;
	struct fake_wr recvs[FAKE_WRS];
	unsigned int nr_recvs;
	unsigned int nr_recv_doorbells;
	bool recv_bad_unset;
	unsigned int room;
	int error;
	enum fake_bad_wr bad_wr;
	struct work_struct work;
	unsigned int nr_completed;
	struct ib_cqe *work_bad;
	unsigned int work_bad_nr;
	bool work_queued;
	struct tasklet_struct tasklet;
	bool tasklet_scheduled;
	int errors[FAKE_VERBS];
	enum fake_verb fail_verb;
	unsigned int fail_at;
	atomic_t nr_calls;
	bool failed;
	struct ib_device_attr limits;
	u32 port_caps;
	u16 speed;
	bool registered;
	atomic_t nr_pds;
	atomic_t nr_cqs;
	atomic_t nr_qps;
	atomic_t nr_mrs;
	unsigned int nr_allocs;
	unsigned int nr_lost;
	struct xarray mrs;
	bool dereg_held;
	struct completion dereg_begun;
	struct completion dereg_let;
	bool never_flushes;
	atomic_t nr_srqs;
	bool loses_recvs;
	bool mute;
	atomic_t nr_overflows;
	struct xarray qps;
	u32 last_qpn;
	struct iw_cm_id *listening;
	struct ib_qp *pending;
	struct completion asked;
	unsigned int nr_rejects;
	struct work_struct removal;
	struct completion removed;
	const struct fake_profile *profile;
	struct ib_device *guise;
	const char *misread;
	bool stalled;
	unsigned int nr_drains;
	bool dead;
	bool draining;
};

/**
 * struct fake_mr - an MR
 * @ib: the MR
 * @max_pages: capacity in pages
 * @nr_pages: number of pages
 * @pages: addresses of the pages
 * @dma: it covers all memory
 * @lost: deregistering it has failed
 * @posted: a REG_MR was posted, and no LOCAL_INV after it
 * @valid: the REG_MR was done, and no LOCAL_INV or peer has undone it
 * @key: its key while @posted
 * @access: its rights while @posted
 * @base: its iova when it got its pages
 */
struct fake_mr {
	struct ib_mr ib;
	unsigned int max_pages;
	unsigned int nr_pages;
	u64 *pages;
	bool dma;
	bool lost;
	bool posted;
	bool valid;
	u32 key;
	int access;
	u64 base;
};

struct fake_hca *fake_hca_create(struct kunit *test);
void fake_hca_init(struct fake_hca *hca);
void fake_hca_stop_work(struct fake_hca *hca);
void fake_hca_forget(struct fake_hca *hca);
void fake_hca_refuse(struct fake_hca *hca, unsigned int room, int error);
void fake_hca_flush(struct fake_hca *hca, struct ib_qp *qp);
int fake_hca_fails(struct fake_hca *hca, enum fake_verb verb);
void fake_wr_end_locked(struct fake_hca *hca, struct fake_wr *wr, struct ib_wc *wc,
			struct fake_wr *recv, enum ib_wc_status status);
void fake_wr_end(struct fake_wr *wr, struct ib_wc wc);
void fake_wr_complete(struct fake_wr *wr, enum ib_wc_status status);

/* fake_mr.c */
void fake_hca_set_mr_ops(struct fake_hca *hca);
struct ib_mr *fake_mr_get_dma(struct ib_pd *pd, int access);
void fake_hca_free_lost(struct fake_hca *hca);
void fake_hca_hold_dereg(struct fake_hca *hca);
void fake_hca_let_dereg(struct fake_hca *hca);

/* fake_srq.c */
struct fake_wr *fake_srq_take(struct ib_qp *qp);
void fake_srq_fail(struct ib_srq *ib);
unsigned int fake_srq_limit(struct ib_srq *ib);

/* fake_cq.c */
void fake_hca_set_cq_ops(struct fake_hca *hca);
void fake_cq_push(struct ib_cq *cq, const struct ib_wc *wc);
void fake_cq_flush(struct ib_cq *cq);

static inline struct fake_hca *to_fake_hca(struct ib_device *ib)
{
	return container_of(ib, struct fake_hca, ib);
}

static inline struct fake_mr *to_fake_mr(struct ib_mr *ib)
{
	return container_of(ib, struct fake_mr, ib);
}

#endif /* KVERBS_FAKE_HCA_H */
