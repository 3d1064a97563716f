// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters as their drivers in Linux 6.12 describe them, ionic as in 7.3, and a registered
 * device of such an adapter. Comments name the file below drivers/infiniband and the function.
 */
#include "conn.h"
#include "device.h"
#include "fake_device.h"
#include "fake_qp.h"
#include "profile.h"
#include "quirks.h"

#define DMA_LKEY	0xfffff001
/* RDMA_DRIVER_IONIC, which came with Linux 6.18 */
#define DRIVER_IONIC	((enum rdma_driver_id)21)

#define SENDS		(BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_INV))
#define RDMAS		(BIT_ULL(IB_WR_RDMA_WRITE) | BIT_ULL(IB_WR_RDMA_READ))
#define READ_INV	BIT_ULL(IB_WR_RDMA_READ_WITH_INV)
#define IMMS		(BIT_ULL(IB_WR_SEND_WITH_IMM) | BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM))
#define ATOMICS		(BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) | BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD))
#define REGS		(BIT_ULL(IB_WR_REG_MR) | BIT_ULL(IB_WR_LOCAL_INV))

/* Small enough for tests; no limit of these is near what a test needs. */
#define COUNTS		.max_qp = 64, .max_cq = 64, .max_mr = 4096, .max_pd = 64

const struct fake_profile fake_profiles[] = {
	{
		.name = "mlx5",
		.driver = RDMA_DRIVER_MLX5,
		/*
		 * hw/mlx5/wr.c: mlx5_ib_post_send() skips empty entries, mlx5_ib_post_recv() does
		 * not; mr.c: mlx5_set_umr_free_mkey() relaxes the order, mlx5_ib_dereg_mr();
		 * main.c: .drain_sq; wr.c: set_reg_mkey_seg() has log2_page_size
		 */
		.ways = FAKE_EMPTY_RECV_SGE_IS_2G | FAKE_LAST_BYTE_FIRST | FAKE_OWN_DRAIN |
			FAKE_KEEPS_MRS | FAKE_HUGE_PAGES,
		/* wr.c: handle_qpt_rc() has no atomics, whatever atomic_cap says */
		.opcodes = SENDS | RDMAS | IMMS | REGS,
		.refusal = -EOPNOTSUPP,
		.dma_lkey = DMA_LKEY,
		/* main.c: mlx5_ib_query_device(), get_atomic_caps(); no local_dma_lkey */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.page_size_cap = ~0xfffULL,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 8192,
			.max_send_sge = 30,
			.max_recv_sge = 32,
			.max_sge_rd = 30,
			.max_cqe = 4194303,
			.max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 16,
			.max_fast_reg_page_list_len = 65536,
			COUNTS,
		},
	},
	{
		.name = "mlx5 without UMR of atomics",
		.driver = RDMA_DRIVER_MLX5,
		/* hw/mlx5/umr.h: mlx5r_umr_can_reconfig(), asked by wr.c: set_reg_wr() */
		.ways = FAKE_EMPTY_RECV_SGE_IS_2G | FAKE_LAST_BYTE_FIRST | FAKE_OWN_DRAIN |
			FAKE_KEEPS_MRS | FAKE_NO_ATOMIC_MR | FAKE_HUGE_PAGES,
		.opcodes = SENDS | RDMAS | IMMS | REGS,
		.refusal = -EOPNOTSUPP,
		.dma_lkey = DMA_LKEY,
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.page_size_cap = ~0xfffULL,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 8192,
			.max_send_sge = 30,
			.max_recv_sge = 32,
			.max_sge_rd = 30,
			.max_cqe = 4194303,
			.max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 16,
			.max_fast_reg_page_list_len = 65536,
			COUNTS,
		},
	},
	{
		.name = "mlx4",
		.driver = RDMA_DRIVER_MLX4,
		/*
		 * hw/mlx4/qp.c: set_data_seg(), __set_data_seg(), set_reg_seg() has page_size;
		 * main.c: .drain_sq; mr.c: mlx4_ib_dereg_mr()
		 */
		.ways = FAKE_EMPTY_SEND_SGE_IS_2G | FAKE_EMPTY_RECV_SGE_IS_2G | FAKE_OWN_DRAIN |
			FAKE_KEEPS_MRS | FAKE_HUGE_PAGES,
		/* qp.c: _mlx4_ib_post_send() */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		/* main.c: caps.reserved_lkey */
		.dma_lkey = DMA_LKEY,
		/* main.c: mlx4_ib_query_device() */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = 0xfffffe00,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 16351,
			.max_send_sge = 32,
			.max_recv_sge = 32,
			.max_sge_rd = 30,
			.max_cqe = 4194303,
			.max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 128,
			.max_fast_reg_page_list_len = 511,
			COUNTS,
		},
	},
	{
		.name = "irdma RoCE",
		.driver = RDMA_DRIVER_IRDMA,
		/*
		 * hw/irdma/uk.c: irdma_uk_rdma_read() and others set the first fragment in any
		 * case; verbs.c: irdma_alloc_mr() lets irdma_get_pble() use two levels,
		 * irdma_dereg_mr(); ctrl.c: irdma_sc_mr_fast_register() knows 4K, 2M and 1G
		 */
		.ways = FAKE_TAKES_FIRST_SGE | FAKE_TWO_LEVELS | FAKE_KEEPS_MRS |
			FAKE_HUGE_PAGES,
		/* verbs.c: irdma_post_send(), irdma_create_qp() for qp_caps */
		.opcodes = SENDS | RDMAS | READ_INV | IMMS | REGS,
		.refusal = -EINVAL,
		.dma_lkey = 0,
		/* verbs.c: irdma_query_device(); ctrl.c, icrdma_hw.c */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = SZ_4K | SZ_2M | SZ_1G,
			.atomic_cap = IB_ATOMIC_NONE,
			.max_qp_wr = 4063,
			.max_send_sge = 13,
			.max_recv_sge = 13,
			.max_sge_rd = 13,
			.max_cqe = 1048574,
			.max_qp_rd_atom = 127,
			.max_qp_init_rd_atom = 255,
			.max_fast_reg_page_list_len = 262144,
			COUNTS,
		},
	},
	{
		.name = "irdma iWARP",
		.driver = RDMA_DRIVER_IRDMA,
		.iwarp = true,
		.ways = FAKE_TAKES_FIRST_SGE | FAKE_TWO_LEVELS | FAKE_READ_SINK | FAKE_NO_RNR |
			FAKE_KEEPS_MRS | FAKE_HUGE_PAGES,
		/* hw/irdma/verbs.c: irdma_create_qp(): IRDMA_WRITE_WITH_IMM only */
		.opcodes = SENDS | RDMAS | READ_INV | BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM) | REGS,
		.refusal = -EINVAL,
		.dma_lkey = 0,
		/* i40iw_hw.c: i40iw_init_hw() (X722), which has the tightest limits */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = SZ_4K | SZ_2M,
			.atomic_cap = IB_ATOMIC_NONE,
			.max_qp_wr = 1023,
			.max_send_sge = 3,
			.max_recv_sge = 3,
			.max_sge_rd = 1,
			.max_cqe = 1048574,
			.max_qp_rd_atom = 63,
			.max_qp_init_rd_atom = 127,
			.max_fast_reg_page_list_len = 262144,
			COUNTS,
		},
	},
	{
		.name = "bnxt_re",
		.driver = RDMA_DRIVER_BNXT_RE,
		/* hw/bnxt_re/ib_verbs.c: bnxt_re_dereg_mr(), bnxt_re_build_reg_wqe() */
		.ways = FAKE_KEEPS_MRS | FAKE_HUGE_PAGES,
		/* ib_verbs.c: bnxt_re_post_send() */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		/* main.c: BNXT_QPLIB_RSVD_LKEY */
		.dma_lkey = 0xffffffff,
		/* ib_verbs.c: bnxt_re_query_device(); qplib_sp.c: static WQEs */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = 0x7ffff000,
			.atomic_cap = IB_ATOMIC_GLOB,
			.max_qp_wr = 4351,
			.max_send_sge = 6,
			.max_recv_sge = 6,
			.max_sge_rd = 6,
			.max_cqe = 8388608,
			.max_qp_rd_atom = 126,
			.max_qp_init_rd_atom = 126,
			.max_fast_reg_page_list_len = 512,
			COUNTS,
		},
	},
	{
		.name = "hns HIP08",
		.driver = RDMA_DRIVER_HNS,
		/* hw/hns/hns_roce_hw_v2.c: set_rc_opcode(): REG_MR from HIP09 on */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS,
		.refusal = -EOPNOTSUPP,
		.dma_lkey = DMA_LKEY,
		/* hns_roce_main.c: hns_roce_query_device(): no MEM_MGT_EXTENSIONS */
		.limits = {
			.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN,
			.page_size_cap = 0xffff000,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 32768,
			.max_send_sge = 64,
			.max_recv_sge = 64,
			.max_sge_rd = 64,
			.max_cqe = 4194304,
			.max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 128,
			COUNTS,
		},
	},
	{
		.name = "hns HIP09",
		.driver = RDMA_DRIVER_HNS,
		/* hw/hns/hns_roce_mr.c: hns_roce_map_mr_sg(); hns_roce_hw_v2.c: set_frmr_seg() */
		.ways = FAKE_HUGE_PAGES,
		/* hns_roce_hw_v2.c: set_rc_opcode() warns of LOCAL_INV */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | BIT_ULL(IB_WR_REG_MR),
		.refusal = -EINVAL,
		.dma_lkey = DMA_LKEY,
		/* hns_roce_main.c: hns_roce_query_device() */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.page_size_cap = 0xffff000,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 32768,
			.max_send_sge = 64,
			.max_recv_sge = 64,
			.max_sge_rd = 64,
			.max_cqe = 4194304,
			.max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 128,
			.max_fast_reg_page_list_len = 512,
			COUNTS,
		},
	},
	{
		.name = "cxgb4",
		.driver = RDMA_DRIVER_CXGB4,
		.iwarp = true,
		/*
		 * hw/cxgb4/qp.c: c4iw_post_send() reads the length of a READ's first entry;
		 * post_write_cmpl(); build_memreg() has pgsz_shift
		 */
		.ways = FAKE_READ_DEREFERENCES_LIST | FAKE_TAKES_FIRST_SGE | FAKE_READ_SINK |
			FAKE_NO_RNR | FAKE_FUSES_SENDS | FAKE_HUGE_PAGES,
		/* qp.c: c4iw_post_send(), without write_w_imm_support (before T6) */
		.opcodes = SENDS | RDMAS | READ_INV | REGS,
		.refusal = -EINVAL,
		/* provider.c: local_dma_lkey is 0 */
		.dma_lkey = 0,
		/* provider.c: c4iw_query_device(); t4.h: t4_max_fr_depth(), T4_MAX_*_SGE */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = 0xffff000,
			.atomic_cap = IB_ATOMIC_NONE,
			.max_qp_wr = 4096,
			.max_send_sge = 17,
			.max_recv_sge = 4,
			.max_sge_rd = 1,
			.max_cqe = 8190,
			.max_qp_rd_atom = 32,
			.max_qp_init_rd_atom = 32,
			.max_fast_reg_page_list_len = 128,
			COUNTS,
		},
	},
	{
		.name = "qedr",
		.driver = RDMA_DRIVER_QEDR,
		/* hw/qedr/verbs.c: qedr_dereg_mr(), qedr_prepare_reg() */
		.ways = FAKE_KEEPS_MRS | FAKE_HUGE_PAGES,
		/* verbs.c: __qedr_post_send() */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		.dma_lkey = 0,
		/* verbs.c: qedr_query_device(); qed_rdma.c: qed_rdma_init_devinfo() */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = 0xfffff000,
			.atomic_cap = IB_ATOMIC_GLOB,
			.max_qp_wr = 32767,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_sge_rd = 4,
			.max_cqe = 8388606,
			.max_qp_rd_atom = 32,
			.max_qp_init_rd_atom = 32,
			.max_fast_reg_page_list_len = 16383,
			COUNTS,
		},
	},
	{
		.name = "erdma",
		.driver = RDMA_DRIVER_ERDMA,
		.iwarp = true,
		/* hw/erdma/erdma_qp.c: erdma_push_one_sqe() */
		.ways = FAKE_READ_HAS_ONE_SGE | FAKE_READ_SINK | FAKE_NO_RNR,
		.opcodes = SENDS | RDMAS | READ_INV | IMMS | ATOMICS | REGS,
		.refusal = -EOPNOTSUPP,
		.dma_lkey = DMA_LKEY,
		/* erdma_verbs.c: erdma_query_device() */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.kernel_cap_flags = IBK_LOCAL_DMA_LKEY,
			.page_size_cap = 0x7ffff000,
			.atomic_cap = IB_ATOMIC_GLOB,
			.max_qp_wr = 8192,
			.max_send_sge = 6,
			.max_recv_sge = 1,
			.max_sge_rd = 1,
			.max_cqe = 1048576,
			.max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 128,
			.max_fast_reg_page_list_len = 512,
			COUNTS,
		},
	},
	{
		.name = "hfi1",
		.driver = RDMA_DRIVER_HFI1,
		/*
		 * sw/rdmavt/mr.c: rvt_lkey_ok() counts from user_base, of rvt_map_mr_sg();
		 * rvt_check_refs()
		 */
		.ways = FAKE_LOCAL_BASE | FAKE_KEEPS_MRS,
		/* hw/hfi1/qp.c: hfi1_post_parms */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		/* sw/rdmavt/qp.c: rvt_post_send() in a state in which it does not send */
		.bad_wr = FAKE_BAD_WR_UNSET,
		/* sw/rdmavt/mr.c: rvt_get_dma_mr() */
		.dma_lkey = 0,
		/* hw/hfi1/verbs.c: hfi1_fill_device_attr() */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.page_size_cap = PAGE_SIZE,
			.atomic_cap = IB_ATOMIC_GLOB,
			.max_qp_wr = 16383,
			.max_send_sge = 96,
			.max_recv_sge = 96,
			.max_sge_rd = 96,
			.max_cqe = 3145727,
			.max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 255,
			.max_fast_reg_page_list_len = UINT_MAX,
			COUNTS,
		},
	},
	{
		.name = "ionic",
		.driver = DRIVER_IONIC,
		/*
		 * hw/ionic/ionic_datapath.c: ionic_prep_pld(), ionic_prep_rdma(),
		 * ionic_prep_atomic(); ionic_controlpath.c: ionic_dereg_mr()
		 */
		.ways = FAKE_EMPTY_SEND_SGE_IS_2G | FAKE_EMPTY_RECV_SGE_IS_2G |
			FAKE_SOLICITS_MESSAGES | FAKE_KEEPS_MRS,
		/* ionic_datapath.c: ionic_prep_one_rc() */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		/* ionic_controlpath.c: ionic_get_dma_mr() */
		.dma_lkey = 0,
		/* ionic_ibdev.c: ionic_query_device(); ionic_ibdev.h, ionic_queue.h, _lif_cfg.h */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.page_size_cap = SZ_4K | SZ_2M | SZ_1G,
			.atomic_cap = IB_ATOMIC_GLOB,
			.max_qp_wr = 65535,
			.max_send_sge = 8,
			.max_recv_sge = 8,
			.max_sge_rd = 8,
			.max_cqe = 65435,
			.max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 16,
			.max_fast_reg_page_list_len = 32768,
			COUNTS,
		},
	},
	{
		.name = "rxe",
		.driver = RDMA_DRIVER_RXE,
		/* sw/rxe/rxe_verbs.c: init_send_wr() */
		.opcodes = SENDS | RDMAS | IMMS | ATOMICS | REGS,
		.refusal = -EINVAL,
		/* rxe_verbs.c: rxe_get_dma_mr() */
		.dma_lkey = 0,
		/* rxe_param.h */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_RC_RNR_NAK_GEN,
			.page_size_cap = 0xfffff000,
			.atomic_cap = IB_ATOMIC_HCA,
			.max_qp_wr = 1048576,
			.max_send_sge = 32,
			.max_recv_sge = 32,
			.max_sge_rd = 32,
			.max_cqe = 32767,
			.max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 128,
			.max_fast_reg_page_list_len = 512,
			COUNTS,
		},
	},
	{
		.name = "siw",
		.driver = RDMA_DRIVER_SIW,
		.iwarp = true,
		/*
		 * sw/siw/siw_verbs.c: siw_post_send(); siw_qp.c: siw_activate_tx(); siw_qp_tx.c:
		 * siw_tx_hdt() does not restart in the MR of the next entry
		 */
		.ways = FAKE_READ_HAS_ONE_SGE | FAKE_READ_SINK | FAKE_NO_READ_FENCE |
			FAKE_ONE_MR | FAKE_NO_RNR,
		.opcodes = SENDS | RDMAS | READ_INV | REGS,
		.refusal = -EINVAL,
		/* siw_verbs.c: siw_post_send(), if siw_activate_tx() or siw_sq_start() fails */
		.bad_wr = FAKE_BAD_WR_LATE,
		.dma_lkey = DMA_LKEY,
		/* siw_verbs.c: siw_query_device(); siw.h */
		.limits = {
			.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
			.page_size_cap = PAGE_SIZE,
			.atomic_cap = IB_ATOMIC_NONE,
			.max_qp_wr = 32768,
			.max_send_sge = 6,
			.max_recv_sge = 6,
			.max_sge_rd = 1,
			.max_cqe = 3276800,
			.max_qp_rd_atom = 128,
			.max_qp_init_rd_atom = 128,
			.max_fast_reg_page_list_len = 256,
			COUNTS,
		},
	},
};

const unsigned int fake_nr_profiles = ARRAY_SIZE(fake_profiles);

/**
 * fake_profile_is_usable() - whether kverbs takes such an adapter at all
 * @profile: the adapter
 *
 * Return: true if it registers memory by work requests.
 */
bool fake_profile_is_usable(const struct fake_profile *profile)
{
	return profile->opcodes & BIT_ULL(IB_WR_REG_MR);
}

/**
 * fake_profile_gen_params() - let a case run for all profiles
 * @prev: the last profile, or NULL
 * @desc: set to the name of the next
 *
 * Return: the next profile, or NULL.
 */
const void *fake_profile_gen_params(GENERATOR_TEST const void *prev, char *desc)
{
	const struct fake_profile *next = prev ? prev : fake_profiles - 1;

	if (++next == fake_profiles + ARRAY_SIZE(fake_profiles))
		return NULL;
	strscpy(desc, next->name, KUNIT_PARAM_DESC_SIZE);
	return next;
}

/**
 * fake_usable_profile_gen_params() - let a case run for all profiles that kverbs takes
 * @prev: the last profile, or NULL
 * @desc: set to the name of the next
 *
 * Return: the next profile, or NULL.
 */
const void *fake_usable_profile_gen_params(GENERATOR_TEST const void *prev, char *desc)
{
	const struct fake_profile *next = prev;

	do {
		next = fake_profile_gen_params(GENERATOR_PASS next, desc);
	} while (next && !fake_profile_is_usable(next));
	return next;
}

/**
 * fake_profile_gen_params_with() - as fake_usable_profile_gen_params(), for some profiles
 * @prev: the last profile, or NULL
 * @desc: set to the name of the next
 * @ways: FAKE_* that the profile must have
 *
 * Return: the next profile, or NULL.
 */
const void *fake_profile_gen_params_with(GENERATOR_TEST const void *prev, char *desc,
					 u32 ways)
{
	const struct fake_profile *next = prev;

	do {
		next = fake_usable_profile_gen_params(GENERATOR_PASS next, desc);
	} while (next && (next->ways & ways) != ways);
	return next;
}

/**
 * struct drain - the last work request of a queue
 * @cqe: its completion
 * @done: it has completed
 */
struct drain {
	struct ib_cqe cqe;
	struct completion done;
};

static void drained(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct drain, cqe)->done);
}

static void begin_drain(struct ib_qp *qp, struct drain *drain)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	to_fake_hca(qp->device)->nr_drains++;
	to_fake_hca(qp->device)->draining = true;
	drain->cqe.done = drained;
	init_completion(&drain->done);
	ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static void await_drain(struct ib_cq *cq, struct drain *drain)
{
	while (cq->poll_ctx == IB_POLL_DIRECT &&
	       !wait_for_completion_timeout(&drain->done, HZ / 10))
		ib_process_cq_direct(cq, -1);
	if (cq->poll_ctx != IB_POLL_DIRECT)
		wait_for_completion(&drain->done);
}

static void end_drain(struct ib_qp *qp)
{
	to_fake_hca(qp->device)->draining = false;
}

/* As hw/mlx5/qp.c: mlx5_ib_drain_sq() */
static void drain_sq(struct ib_qp *qp)
{
	struct drain drain;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &drain.cqe, .opcode = IB_WR_RDMA_WRITE },
	};

	begin_drain(qp, &drain);
	if (!ib_post_send(qp, &wr.wr, NULL))
		await_drain(qp->send_cq, &drain);
	end_drain(qp);
}

/* As hw/mlx5/qp.c: mlx5_ib_drain_rq() */
static void drain_rq(struct ib_qp *qp)
{
	struct drain drain;
	struct ib_recv_wr wr = { .wr_cqe = &drain.cqe };

	begin_drain(qp, &drain);
	if (!ib_post_recv(qp, &wr, NULL))
		await_drain(qp->recv_cq, &drain);
	end_drain(qp);
}

static struct ib_device *make_guise(struct kunit *test, const struct fake_profile *profile)
{
	struct ib_device *guise = kunit_kzalloc(test, sizeof(*guise), GFP_KERNEL);
	struct ib_port_data *ports = kunit_kcalloc(test, 2, sizeof(*ports), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guise);
	KUNIT_ASSERT_NOT_NULL(test, ports);
	ports[1].immutable.core_cap_flags =
		profile->iwarp ? RDMA_CORE_PORT_IWARP : RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	guise->port_data = ports;
	guise->ops.driver_id = profile->driver;
	return guise;
}

/**
 * fake_profile_device() - create a device of an adapter and register it
 * @test: the test, at whose end it is removed
 * @profile: the adapter
 *
 * The CM of InfiniBand needs more of a device than can be faked, so each has the CM of iWARP.
 * A connection nevertheless treats its port as one of the adapter's transport.
 *
 * Return: the device, which does its work by itself.
 */
struct fake_hca *fake_profile_device(struct kunit *test, const struct fake_profile *profile)
{
	struct fake_hca *hca = fake_device_new(test);

	hca->profile = profile;
	hca->limits = profile->limits;
	hca->bad_wr = profile->bad_wr;
	hca->ib.local_dma_lkey = profile->dma_lkey;
	hca->ib.ops.driver_id = profile->driver;
	hca->ib.ops.get_dma_mr = fake_mr_get_dma;
	if (profile->ways & FAKE_OWN_DRAIN) {
		hca->ib.ops.drain_sq = drain_sq;
		hca->ib.ops.drain_rq = drain_rq;
	}
	hca->guise = make_guise(test, profile);
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	hca->work_queued = true;
	return hca;
}

/**
 * fake_conn_disguise() - let a connection see the transport of its adapter
 * @conn: the connection, on a fake device, before it has a queue pair
 */
void fake_conn_disguise(struct kverbs_conn *conn)
{
	struct ib_device *guise = to_fake_hca(conn->id->device)->guise;

	if (!guise)
		return;
	conn->transport = kverbs_port_transport(guise, 1);
	conn->queue.quirks = kverbs_quirks(guise, 1);
}
