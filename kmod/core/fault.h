/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Verbs that fail on demand, for tests: by debugfs, and in debug builds by KUnit. */
#ifndef KVERBS_FAULT_H
#define KVERBS_FAULT_H

#include <linux/compiler.h>
#include <linux/jump_label.h>

/**
 * enum kverbs_fault_point - a call that can be made to fail
 * @KVERBS_FAULT_QUERY_PORT: ib_query_port()
 * @KVERBS_FAULT_ALLOC_PD: ib_alloc_pd()
 * @KVERBS_FAULT_ALLOC_CQ: ib_alloc_cq_any() or ib_create_cq()
 * @KVERBS_FAULT_ALLOC_MR: ib_alloc_mr()
 * @KVERBS_FAULT_MAP_MR_SG: ib_map_mr_sg()
 * @KVERBS_FAULT_DMA_MAP: ib_dma_map_sgtable_attrs()
 * @KVERBS_FAULT_DMABUF_ATTACH: dma_buf_dynamic_attach()
 * @KVERBS_FAULT_DMABUF_PIN: dma_buf_pin()
 * @KVERBS_FAULT_DMABUF_MAP: dma_buf_map_attachment()
 * @KVERBS_FAULT_POST_SEND: ib_post_send()
 * @KVERBS_FAULT_POST_RECV: ib_post_recv()
 * @KVERBS_FAULT_POST_SRQ_RECV: ib_post_srq_recv()
 * @KVERBS_FAULT_CREATE_ID: rdma_create_id()
 * @KVERBS_FAULT_CREATE_SRQ: ib_create_srq()
 * @KVERBS_FAULT_CREATE_QP: rdma_create_qp()
 * @KVERBS_FAULT_RNR_TIMER: rdma_set_min_rnr_timer()
 * @KVERBS_FAULT_AFONLY: rdma_set_afonly()
 * @KVERBS_FAULT_BIND: rdma_bind_addr()
 * @KVERBS_FAULT_LISTEN: rdma_listen()
 * @KVERBS_FAULT_RESOLVE_ADDR: rdma_resolve_addr()
 * @KVERBS_FAULT_RESOLVE_ROUTE: rdma_resolve_route()
 * @KVERBS_FAULT_CONNECT: rdma_connect()
 * @KVERBS_FAULT_ACCEPT: rdma_accept()
 * @KVERBS_FAULT_POINTS: how many there are
 */
enum kverbs_fault_point {
	KVERBS_FAULT_QUERY_PORT,
	KVERBS_FAULT_ALLOC_PD,
	KVERBS_FAULT_ALLOC_CQ,
	KVERBS_FAULT_ALLOC_MR,
	KVERBS_FAULT_MAP_MR_SG,
	KVERBS_FAULT_DMA_MAP,
	KVERBS_FAULT_DMABUF_ATTACH,
	KVERBS_FAULT_DMABUF_PIN,
	KVERBS_FAULT_DMABUF_MAP,
	KVERBS_FAULT_POST_SEND,
	KVERBS_FAULT_POST_RECV,
	KVERBS_FAULT_POST_SRQ_RECV,
	KVERBS_FAULT_CREATE_ID,
	KVERBS_FAULT_CREATE_SRQ,
	KVERBS_FAULT_CREATE_QP,
	KVERBS_FAULT_RNR_TIMER,
	KVERBS_FAULT_AFONLY,
	KVERBS_FAULT_BIND,
	KVERBS_FAULT_LISTEN,
	KVERBS_FAULT_RESOLVE_ADDR,
	KVERBS_FAULT_RESOLVE_ROUTE,
	KVERBS_FAULT_CONNECT,
	KVERBS_FAULT_ACCEPT,
	KVERBS_FAULT_POINTS,
};

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
void kverbs_fault_init(void);
void kverbs_fault_exit(void);
int kverbs_fault_injected(void);
#else
static inline void kverbs_fault_init(void)
{
}

static inline void kverbs_fault_exit(void)
{
}

static inline int kverbs_fault_injected(void)
{
	return 0;
}
#endif

#ifdef KVERBS_DEBUG
/* While the key is enabled, the function decides whether a call fails, in any context. */
DECLARE_STATIC_KEY_FALSE(kverbs_fault_tested);
extern int (*kverbs_fault_test)(enum kverbs_fault_point point);

static inline int kverbs_fault_of_test(enum kverbs_fault_point point)
{
	return static_branch_unlikely(&kverbs_fault_tested) ? kverbs_fault_test(point) : 0;
}
#else
static inline int kverbs_fault_of_test(enum kverbs_fault_point point)
{
	return 0;
}
#endif

/* To be asked before the call, which is left out if this does not return 0. */
static inline int kverbs_fault(enum kverbs_fault_point point)
{
	return kverbs_fault_of_test(point) ?: kverbs_fault_injected();
}

#endif /* KVERBS_FAULT_H */
