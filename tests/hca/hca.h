/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An iWARP device without a network: its queue pairs are connected to each other, and its data is
 * moved by a DMA engine, piece by piece. So every address in a work request is used by a device.
 */
#ifndef HCA_HCA_H
#define HCA_HCA_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "edu.h"

#define HCA_SGES	4
#define HCA_MR_PAGES	64
#define HCA_DMA_LKEY	1
#define HCA_MAX_MSG	SZ_1G

/**
 * struct hca - the device
 * @ib: the device of ib_core
 * @edu: what moves the data
 * @mac: address of the network interface, which is the port's GID
 * @wq: does the work of all queue pairs, which take turns piece by piece
 * @fence: held for each piece of a transfer, so that no piece is being moved when access ends
 * @lock: guards the queues and the states of queue pairs
 * @qps: struct hca_qp, by number
 * @mrs: struct hca_mr, by the upper 24 bits of their keys
 * @next_mr: where the search for a free key begins
 * @next_qp: where the search for a free number begins
 * @cm_lock: guards @listeners
 * @listeners: struct hca_listener
 * @calls: struct hca_call, by index
 * @next_call: where the search for a free index begins
 */
struct hca {
	struct ib_device ib;
	struct edu edu;
	u8 mac[ETH_ALEN];
	struct workqueue_struct *wq;
	struct mutex fence;
	spinlock_t lock;
	struct xarray qps;
	struct xarray mrs;
	u32 next_mr;
	u32 next_qp;
	struct mutex cm_lock;
	struct list_head listeners;
	struct xarray calls;
	u32 next_call;
};

/**
 * struct hca_mr - a memory region
 * @ib: the region of ib_core
 * @max_pages: capacity in pages
 * @nr_pages: number of pages
 * @pages: their bus addresses
 * @skip: of the first page, the bytes before the region
 * @valid: a REG_MR was done, and no invalidation after it; guarded by @fence of the device
 * @key: its key while @valid
 * @access: its rights while @valid
 * @iova: its address while @valid
 * @length: its length while @valid
 */
struct hca_mr {
	struct ib_mr ib;
	u32 max_pages;
	u32 nr_pages;
	u64 *pages;
	u32 skip;
	bool valid;
	u32 key;
	int access;
	u64 iova;
	u64 length;
};

/**
 * struct hca_wr - a work request
 * @opcode: opcode of a send
 * @send_flags: flags of a send
 * @cqe: its completion handler
 * @inv_key: key that a send invalidates
 * @remote_addr: address of a WRITE or READ at the peer
 * @rkey: key of a WRITE or READ
 * @mr: of a REG_MR
 * @key: of a REG_MR
 * @access: of a REG_MR
 * @num_sge: number of entries
 * @sges: the entries
 */
struct hca_wr {
	enum ib_wr_opcode opcode;
	int send_flags;
	struct ib_cqe *cqe;
	u32 inv_key;
	u64 remote_addr;
	u32 rkey;
	struct hca_mr *mr;
	u32 key;
	int access;
	int num_sge;
	struct ib_sge sges[HCA_SGES];
};

/**
 * struct hca_queue - a send or receive queue
 * @wrs: array of @size
 * @size: capacity
 * @head: number of work requests ever taken
 * @tail: number of work requests ever posted
 */
struct hca_queue {
	struct hca_wr *wrs;
	u32 size;
	u32 head;
	u32 tail;
};

/**
 * struct hca_qp - a queue pair
 * @ib: the queue pair of ib_core
 * @state: its state; guarded by @lock of the device
 * @sends: send queue, guarded by @lock
 * @recvs: receive queue, guarded by @lock
 * @receiving: the peer has taken a receive that has not completed yet; guarded by @lock
 * @peer: other end of the connection until one of them is destroyed; guarded by @fence
 * @cm: id of its connection, of which it has a reference, or NULL
 * @work: does what is posted
 */
struct hca_qp {
	struct ib_qp ib;
	enum ib_qp_state state;
	struct hca_queue sends;
	struct hca_queue recvs;
	bool receiving;
	struct hca_qp *peer;
	struct iw_cm_id *cm;
	struct work_struct work;
};

static inline struct hca *to_hca(struct ib_device *ib)
{
	return container_of(ib, struct hca, ib);
}

static inline struct hca_qp *to_hca_qp(struct ib_qp *ib)
{
	return container_of(ib, struct hca_qp, ib);
}

static inline struct hca_mr *to_hca_mr(struct ib_mr *ib)
{
	return container_of(ib, struct hca_mr, ib);
}

/* cq.c */
extern const struct ib_device_ops hca_cq_ops;
void hca_cq_push(struct ib_cq *cq, const struct ib_wc *wc);

/* mr.c */
extern const struct ib_device_ops hca_mr_ops;
struct hca_mr *hca_mr_find(struct hca *hca, const struct ib_pd *pd, u32 key);

/* qp.c */
extern const struct ib_device_ops hca_qp_ops;
bool hca_qp_take_send(struct hca_qp *qp, struct hca_wr *wr);
bool hca_qp_take_recv(struct hca_qp *qp, struct hca_wr *wr, bool receiving);
void hca_qp_end_recv(struct hca_qp *qp);
bool hca_qp_is_up(struct hca_qp *qp);
void hca_qp_break(struct hca_qp *qp);
void hca_qp_connect(struct hca_qp *qp, struct hca_qp *peer);

/* run.c */
void hca_run(struct work_struct *work);

/* iw.c */
extern const struct ib_device_ops hca_iw_ops;
void hca_iw_close(struct hca_qp *qp);

/* probe.c */
void hca_probe_init(void);
void hca_probe_exit(void);
int hca_probe_add(struct hca *hca);
void hca_probe_remove(struct hca *hca);
void hca_probe_note(const char *what, u64 addr, u64 length);

#endif /* HCA_HCA_H */
