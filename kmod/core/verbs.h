/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs and calls of the connection manager that can fail for want of resources. Each
 * has its fault point here, see fault.h. The drain posts without: teardown must not fail.
 */
#ifndef KVERBS_VERBS_H
#define KVERBS_VERBS_H

#include <linux/jump_label.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "fault.h"
#include "queue.h"
#include "srq.h"

/* Debug builds check each work request; a test that measures can switch that off. */
#ifdef KVERBS_DEBUG
DECLARE_STATIC_KEY_TRUE(kverbs_checks);
const char *kverbs_check_limits(const struct kverbs_queue *queue);
const char *kverbs_check_send(const struct kverbs_queue *queue, const struct ib_send_wr *wr);
const char *kverbs_check_recv(const struct kverbs_queue *queue, const struct ib_recv_wr *wr);
const char *kverbs_check_srq_recv(const struct kverbs_srq *srq, const struct ib_recv_wr *wr);
bool kverbs_may_build(const struct kverbs_queue *queue);
bool kverbs_may_post_send(const struct kverbs_queue *queue, const struct ib_send_wr *wr);
bool kverbs_may_post_recv(const struct kverbs_queue *queue, const struct ib_recv_wr *wr);
bool kverbs_may_post_srq_recv(const struct kverbs_srq *srq, const struct ib_recv_wr *wr);

static inline bool kverbs_queue_is_right(const struct kverbs_queue *queue)
{
	return !static_branch_unlikely(&kverbs_checks) || kverbs_may_build(queue);
}

static inline bool kverbs_send_is_right(const struct kverbs_queue *queue,
					const struct ib_send_wr *wr)
{
	return !static_branch_unlikely(&kverbs_checks) || kverbs_may_post_send(queue, wr);
}

static inline bool kverbs_recv_is_right(const struct kverbs_queue *queue,
					const struct ib_recv_wr *wr)
{
	return !static_branch_unlikely(&kverbs_checks) || kverbs_may_post_recv(queue, wr);
}

static inline bool kverbs_srq_recv_is_right(const struct kverbs_srq *srq,
					    const struct ib_recv_wr *wr)
{
	return !static_branch_unlikely(&kverbs_checks) || kverbs_may_post_srq_recv(srq, wr);
}
#else
static inline bool kverbs_queue_is_right(const struct kverbs_queue *queue)
{
	return true;
}

static inline bool kverbs_send_is_right(const struct kverbs_queue *queue,
					const struct ib_send_wr *wr)
{
	return true;
}

static inline bool kverbs_recv_is_right(const struct kverbs_queue *queue,
					const struct ib_recv_wr *wr)
{
	return true;
}

static inline bool kverbs_srq_recv_is_right(const struct kverbs_srq *srq,
					    const struct ib_recv_wr *wr)
{
	return true;
}
#endif

/*
 * Nothing is posted to a device but by these three. The queue's limits are set. After an
 * error @bad is the first work request that was not posted; or NULL, since not every driver
 * says that: then any of them may have been.
 */
static inline int kverbs_post_send(const struct kverbs_queue *queue,
				   const struct ib_send_wr *wr,
				   const struct ib_send_wr **bad)
{
	*bad = wr;
	if (!kverbs_send_is_right(queue, wr))
		return -EINVAL;
	*bad = NULL;
	return ib_post_send(queue->qp, wr, bad);
}

static inline int kverbs_post_recv(const struct kverbs_queue *queue,
				   const struct ib_recv_wr *wr,
				   const struct ib_recv_wr **bad)
{
	*bad = wr;
	if (!kverbs_recv_is_right(queue, wr))
		return -EINVAL;
	*bad = NULL;
	return ib_post_recv(queue->qp, wr, bad);
}

static inline int kverbs_post_srq_recv(const struct kverbs_srq *srq,
				       const struct ib_recv_wr *wr)
{
	if (!kverbs_srq_recv_is_right(srq, wr))
		return -EINVAL;
	return ib_post_srq_recv(srq->ib, wr, NULL);
}

static inline int kverbs_ib_query_port(struct ib_device *ib, u32 port,
				       struct ib_port_attr *attr)
{
	return kverbs_fault(KVERBS_FAULT_QUERY_PORT) ?: ib_query_port(ib, port, attr);
}

static inline struct ib_pd *kverbs_ib_alloc_pd(struct ib_device *ib)
{
	int ret = kverbs_fault(KVERBS_FAULT_ALLOC_PD);

	return ret ? ERR_PTR(ret) : ib_alloc_pd(ib, 0);
}

static inline struct ib_cq *kverbs_ib_alloc_cq(struct ib_device *ib, void *context, int size,
					       enum ib_poll_context poll)
{
	int ret = kverbs_fault(KVERBS_FAULT_ALLOC_CQ);

	return ret ? ERR_PTR(ret) : ib_alloc_cq_any(ib, context, size, poll);
}

static inline struct ib_cq *kverbs_ib_create_cq(struct ib_device *ib, ib_comp_handler handler,
						void *context, int size, u32 vector)
{
	const struct ib_cq_init_attr attr = { .cqe = size, .comp_vector = vector };
	int ret = kverbs_fault(KVERBS_FAULT_ALLOC_CQ);

	return ret ? ERR_PTR(ret) : ib_create_cq(ib, handler, NULL, context, &attr);
}

static inline struct ib_mr *kverbs_ib_alloc_mr(struct ib_pd *pd, u32 pages)
{
	int ret = kverbs_fault(KVERBS_FAULT_ALLOC_MR);

	return ret ? ERR_PTR(ret) : ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, pages);
}

static inline int kverbs_ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int nents,
				      unsigned int *sg_offset, u32 page_size)
{
	return kverbs_fault(KVERBS_FAULT_MAP_MR_SG) ?:
	       ib_map_mr_sg(mr, sg, nents, sg_offset, page_size);
}

static inline int kverbs_ib_dma_map_sgtable(struct ib_device *ib, struct sg_table *sgt,
					    enum dma_data_direction direction)
{
	return kverbs_fault(KVERBS_FAULT_DMA_MAP) ?:
	       ib_dma_map_sgtable_attrs(ib, sgt, direction, 0);
}

static inline int kverbs_ib_post_send(const struct kverbs_queue *queue,
				      const struct ib_send_wr *wr,
				      const struct ib_send_wr **bad)
{
	*bad = wr;
	return kverbs_fault(KVERBS_FAULT_POST_SEND) ?: kverbs_post_send(queue, wr, bad);
}

static inline int kverbs_ib_post_recv(const struct kverbs_queue *queue,
				      const struct ib_recv_wr *wr,
				      const struct ib_recv_wr **bad)
{
	*bad = wr;
	return kverbs_fault(KVERBS_FAULT_POST_RECV) ?: kverbs_post_recv(queue, wr, bad);
}

static inline struct ib_srq *kverbs_ib_create_srq(struct ib_pd *pd,
						  struct ib_srq_init_attr *attr)
{
	int ret = kverbs_fault(KVERBS_FAULT_CREATE_SRQ);

	return ret ? ERR_PTR(ret) : ib_create_srq(pd, attr);
}

static inline int kverbs_ib_post_srq_recv(const struct kverbs_srq *srq,
					  const struct ib_recv_wr *wr)
{
	return kverbs_fault(KVERBS_FAULT_POST_SRQ_RECV) ?: kverbs_post_srq_recv(srq, wr);
}

static inline struct rdma_cm_id *kverbs_rdma_create_id(struct net *net,
						       rdma_cm_event_handler handler,
						       void *context)
{
	int ret = kverbs_fault(KVERBS_FAULT_CREATE_ID);

	return ret ? ERR_PTR(ret) :
	       rdma_create_id(net, handler, context, RDMA_PS_TCP, IB_QPT_RC);
}

static inline int kverbs_rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
					struct ib_qp_init_attr *attr)
{
	return kverbs_fault(KVERBS_FAULT_CREATE_QP) ?: rdma_create_qp(id, pd, attr);
}

static inline int kverbs_rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 timer)
{
	return kverbs_fault(KVERBS_FAULT_RNR_TIMER) ?: rdma_set_min_rnr_timer(id, timer);
}

static inline int kverbs_rdma_set_afonly(struct rdma_cm_id *id)
{
	return kverbs_fault(KVERBS_FAULT_AFONLY) ?: rdma_set_afonly(id, 1);
}

static inline int kverbs_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return kverbs_fault(KVERBS_FAULT_BIND) ?: rdma_bind_addr(id, addr);
}

static inline int kverbs_rdma_listen(struct rdma_cm_id *id, int backlog)
{
	return kverbs_fault(KVERBS_FAULT_LISTEN) ?: rdma_listen(id, backlog);
}

static inline int kverbs_rdma_resolve_addr(struct rdma_cm_id *id,
					   const struct sockaddr *dst, unsigned long ms)
{
	return kverbs_fault(KVERBS_FAULT_RESOLVE_ADDR) ?: rdma_resolve_addr(id, NULL, dst, ms);
}

static inline int kverbs_rdma_resolve_route(struct rdma_cm_id *id, unsigned long ms)
{
	return kverbs_fault(KVERBS_FAULT_RESOLVE_ROUTE) ?: rdma_resolve_route(id, ms);
}

static inline int kverbs_rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return kverbs_fault(KVERBS_FAULT_CONNECT) ?: rdma_connect(id, param);
}

static inline int kverbs_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return kverbs_fault(KVERBS_FAULT_ACCEPT) ?: rdma_accept(id, param);
}

#endif /* KVERBS_VERBS_H */
