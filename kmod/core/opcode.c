// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of opcodes. A new opcode is a row here and a name in trace.h; everything else
 * asks for the flags of the row.
 */
#include "opcode.h"

#define SQE_ANY		(KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED | \
			 KVERBS_SQE_LIST)
#define SQE_NO_LIST	(SQE_ANY & ~KVERBS_SQE_LIST)

#define MESSAGE		(KVERBS_OPF_MESSAGE | KVERBS_OPF_TAKES_RECV)
#define RDMA		(KVERBS_OPF_REMOTE | KVERBS_OPF_KEY)
#define ATOMIC		(RDMA | KVERBS_OPF_ATOMIC | KVERBS_OPF_WRITES | KVERBS_OPF_RESPONSE)

const struct kverbs_opdef kverbs_opdefs[KVERBS_OP_FETCH_ADD + 1] = {
	[KVERBS_OP_SEND] = {
		.flags = MESSAGE | KVERBS_OPF_BENCH,
		.wr = IB_WR_SEND,
		.last_wr = IB_WR_SEND,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_RECV] = {
		.flags = KVERBS_OPF_RECV | KVERBS_OPF_WRITES,
		.sqe_flags = KVERBS_SQE_LIST,
	},
	[KVERBS_OP_WRITE] = {
		.flags = RDMA | KVERBS_OPF_BENCH,
		.wr = IB_WR_RDMA_WRITE,
		.last_wr = IB_WR_RDMA_WRITE,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_WRITE_IMM] = {
		.flags = RDMA | KVERBS_OPF_IMM | KVERBS_OPF_TAKES_RECV | KVERBS_OPF_BENCH,
		.wr = IB_WR_RDMA_WRITE,
		.last_wr = IB_WR_RDMA_WRITE_WITH_IMM,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_READ] = {
		.flags = RDMA | KVERBS_OPF_READ | KVERBS_OPF_WRITES | KVERBS_OPF_RESPONSE |
			 KVERBS_OPF_BENCH,
		.wr = IB_WR_RDMA_READ,
		.last_wr = IB_WR_RDMA_READ,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_SEND_IMM] = {
		.flags = MESSAGE | KVERBS_OPF_IMM | KVERBS_OPF_BENCH,
		.wr = IB_WR_SEND_WITH_IMM,
		.last_wr = IB_WR_SEND_WITH_IMM,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_SEND_INV] = {
		.flags = MESSAGE | KVERBS_OPF_KEY,
		.wr = IB_WR_SEND_WITH_INV,
		.last_wr = IB_WR_SEND_WITH_INV,
		.sqe_flags = SQE_ANY,
	},
	[KVERBS_OP_CMP_SWAP] = {
		.flags = ATOMIC,
		.wr = IB_WR_ATOMIC_CMP_AND_SWP,
		.last_wr = IB_WR_ATOMIC_CMP_AND_SWP,
		.sqe_flags = SQE_NO_LIST,
	},
	[KVERBS_OP_FETCH_ADD] = {
		.flags = ATOMIC | KVERBS_OPF_BENCH,
		.wr = IB_WR_ATOMIC_FETCH_AND_ADD,
		.last_wr = IB_WR_ATOMIC_FETCH_AND_ADD,
		.sqe_flags = SQE_NO_LIST,
	},
};
