/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device that remembers what it is given, and completes it when it is told to. */
#ifndef KVERBS_FAKE_HCA_H
#define KVERBS_FAKE_HCA_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>

#define FAKE_WRS	160
#define FAKE_SGES	16
#define FAKE_MR_PAGES	4
#define FAKE_LKEY	0x1001

/**
 * struct fake_wr - a work request that was posted
 * @cqe: whom its completion is for
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
	struct ib_cqe *cqe;
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
 * @pd: the protection domain
 * @qp: the queue pair
 * @sends: what was posted to send
 * @nr_sends: how many
 * @recvs: what was posted to receive
 * @nr_recvs: how many
 * @room: so many more requests are taken
 * @error: what the one after them is refused with
 * @work: completes @sends, for those who wait for that
 * @nr_completed: of @sends, by @work
 * @work_bad: the one that this fails, or NULL
 * @work_queued: queue @work when something is posted to send
 * @nr_mrs: MRs that exist
 * @nr_allocs: MRs that were made so far
 * @mr_error: what the next is refused with
 * @nr_cqs: completion queues that exist
 * @cq_error: what the next is refused with
 * @polled: whom the next completions to be polled are for
 * @nr_unpolled: how many there are
 */
struct fake_hca {
	struct ib_device ib;
	struct ib_pd pd;
	struct ib_qp qp;
	struct fake_wr sends[FAKE_WRS];
	unsigned int nr_sends;
	struct fake_wr recvs[FAKE_WRS];
	unsigned int nr_recvs;
	unsigned int room;
	int error;
	struct work_struct work;
	unsigned int nr_completed;
	struct ib_cqe *work_bad;
	bool work_queued;
	unsigned int nr_mrs;
	unsigned int nr_allocs;
	int mr_error;
	unsigned int nr_cqs;
	int cq_error;
	struct ib_cqe *polled;
	unsigned int nr_unpolled;
};

/**
 * struct fake_mr - an MR
 * @ib: the MR
 * @nr_pages: pages in it
 * @pages: their addresses
 */
struct fake_mr {
	struct ib_mr ib;
	unsigned int nr_pages;
	u64 pages[FAKE_MR_PAGES];
};

struct fake_hca *fake_hca_create(struct kunit *test);
void fake_hca_refuse(struct fake_hca *hca, unsigned int room, int error);
void fake_wr_end(const struct fake_wr *wr, struct ib_wc wc);
void fake_wr_complete(const struct fake_wr *wr, enum ib_wc_status status);
void fake_hca_set_mr_ops(struct fake_hca *hca);

static inline struct fake_hca *to_fake_hca(struct ib_device *ib)
{
	return container_of(ib, struct fake_hca, ib);
}

static inline struct fake_mr *to_fake_mr(struct ib_mr *ib)
{
	return container_of(ib, struct fake_mr, ib);
}

#endif /* KVERBS_FAKE_HCA_H */
