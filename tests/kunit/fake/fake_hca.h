/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device that remembers what it is given, and completes it when it is told to. */
#ifndef KVERBS_FAKE_HCA_H
#define KVERBS_FAKE_HCA_H

#include <kunit/test.h>
#include <linux/interrupt.h>
#include <rdma/ib_verbs.h>

#define FAKE_WRS	160
#define FAKE_SGES	16
/* Pages of an MR where nobody says otherwise, and at most. */
#define FAKE_MR_PAGES	4
#define FAKE_MR_ROOM	16
#define FAKE_LKEY	0x1001

/**
 * enum fake_verb - what a device can be told to fail
 * @FAKE_ALLOC_PD: making a protection domain
 * @FAKE_CREATE_CQ: making a completion queue
 * @FAKE_CREATE_QP: making a queue pair
 * @FAKE_MODIFY_QP: moving one to another state but ERR
 * @FAKE_QUERY_PORT: asking about the port
 * @FAKE_ALLOC_MR: making an MR
 * @FAKE_MAP_MR: giving it its pages
 * @FAKE_CONNECT: asking a peer
 * @FAKE_ACCEPT: accepting a peer
 * @FAKE_LISTEN: listening
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
	FAKE_CONNECT,
	FAKE_ACCEPT,
	FAKE_LISTEN,
	FAKE_VERBS,
};

/**
 * struct fake_wr - a work request that was posted
 * @qp: where
 * @cqe: whom its completion is for
 * @ended: it is complete, or is known to have gone well
 * @opcode: of a send
 * @send_flags: of a send
 * @imm: of a send
 * @remote_addr: of a WRITE, READ or atomic
 * @rkey: of a WRITE, READ or atomic
 * @operand: of an atomic
 * @swap: of an atomic
 * @mr: of a REG_MR
 * @num_sge: entries
 * @sges: the first of them
 */
struct fake_wr {
	struct ib_qp *qp;
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
	int num_sge;
	struct ib_sge sges[FAKE_SGES];
};

/**
 * struct fake_hca - the device, a protection domain and a queue pair
 * @ib: the device
 * @pd: the protection domain, of a device that is not registered
 * @qp: the queue pair, of a device that is not registered
 * @lock: guards what was posted, and the states of queue pairs
 * @sends: what was posted to send
 * @nr_sends: how many
 * @nr_doorbells: in how many calls
 * @recvs: what was posted to receive
 * @nr_recvs: how many
 * @room: so many more requests are taken
 * @error: what the one after them is refused with
 * @work: completes @sends, for those who wait for that
 * @nr_completed: of @sends, by @work
 * @work_bad: the one that this fails, or NULL
 * @work_bad_nr: the first, second, ... of @sends that this fails, or 0
 * @work_queued: queue @work when something is posted to send
 * @tasklet: the same before the poster goes on; it forgets what is complete
 * @tasklet_scheduled: schedule @tasklet instead of @work
 * @errors: what each verb fails with, or 0
 * @limits: what it says of itself when it is registered
 * @port_caps: RDMA_CORE_*, of its port
 * @registered: it is
 * @nr_pds: protection domains that exist
 * @nr_cqs: completion queues that exist
 * @nr_qps: queue pairs that exist
 * @nr_mrs: MRs that exist
 * @nr_allocs: MRs that were made so far
 * @dereg_held: MRs are not given up before fake_hca_let_dereg()
 * @dereg_begun: somebody wants to give one up
 * @dereg_let: they may be given up
 * @never_flushes: in ERR nothing completes
 * @nr_overflows: completions that found no room
 * @qps: struct fake_qp, by number
 * @last_qpn: number of the last one
 * @listening: the iWARP CM's id that listens, or NULL
 * @pending: the queue pair whose CM waits to be told what became of it, or NULL
 * @asked: there was one
 * @nr_rejects: requests that were refused
 * @removal: takes the device away
 * @removed: it is gone
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
	unsigned int room;
	int error;
	struct work_struct work;
	unsigned int nr_completed;
	struct ib_cqe *work_bad;
	unsigned int work_bad_nr;
	bool work_queued;
	struct tasklet_struct tasklet;
	bool tasklet_scheduled;
	int errors[FAKE_VERBS];
	struct ib_device_attr limits;
	u32 port_caps;
	bool registered;
	atomic_t nr_pds;
	atomic_t nr_cqs;
	atomic_t nr_qps;
	atomic_t nr_mrs;
	unsigned int nr_allocs;
	bool dereg_held;
	struct completion dereg_begun;
	struct completion dereg_let;
	bool never_flushes;
	atomic_t nr_overflows;
	struct xarray qps;
	u32 last_qpn;
	struct iw_cm_id *listening;
	struct ib_qp *pending;
	struct completion asked;
	unsigned int nr_rejects;
	struct work_struct removal;
	struct completion removed;
};

/**
 * struct fake_mr - an MR
 * @ib: the MR
 * @max_pages: pages that it can have
 * @nr_pages: pages in it
 * @pages: their addresses
 */
struct fake_mr {
	struct ib_mr ib;
	unsigned int max_pages;
	unsigned int nr_pages;
	u64 pages[FAKE_MR_ROOM];
};

struct fake_hca *fake_hca_create(struct kunit *test);
void fake_hca_init(struct fake_hca *hca);
void fake_hca_stop_work(struct fake_hca *hca);
void fake_hca_forget(struct fake_hca *hca);
void fake_hca_refuse(struct fake_hca *hca, unsigned int room, int error);
void fake_hca_flush(struct fake_hca *hca, struct ib_qp *qp);
void fake_wr_end(struct fake_wr *wr, struct ib_wc wc);
void fake_wr_complete(struct fake_wr *wr, enum ib_wc_status status);

/* fake_mr.c */
void fake_hca_set_mr_ops(struct fake_hca *hca);
void fake_hca_hold_dereg(struct fake_hca *hca);
void fake_hca_let_dereg(struct fake_hca *hca);

/* fake_cq.c */
void fake_hca_set_cq_ops(struct fake_hca *hca);
void fake_cq_push(struct ib_cq *cq, const struct ib_wc *wc);

static inline struct fake_hca *to_fake_hca(struct ib_device *ib)
{
	return container_of(ib, struct fake_hca, ib);
}

static inline struct fake_mr *to_fake_mr(struct ib_mr *ib)
{
	return container_of(ib, struct fake_mr, ib);
}

#endif /* KVERBS_FAKE_HCA_H */
