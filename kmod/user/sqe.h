/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SQE_H
#define KVERBS_SQE_H

#include <linux/kverbs.h>

/* Every opcode that there is, as INFO tells. */
#define KVERBS_OPCODES	GENMASK_ULL(KVERBS_OP_FETCH_ADD, KVERBS_OP_SEND)

int kverbs_sqe_check(const struct kverbs_sqe *sqe);

static inline bool kverbs_sqe_is_atomic(const struct kverbs_sqe *sqe)
{
	return sqe->opcode == KVERBS_OP_CMP_SWAP || sqe->opcode == KVERBS_OP_FETCH_ADD;
}

/* Whether the local buffer is written. */
static inline bool kverbs_sqe_writes(const struct kverbs_sqe *sqe)
{
	return sqe->opcode == KVERBS_OP_RECV || sqe->opcode == KVERBS_OP_READ ||
	       kverbs_sqe_is_atomic(sqe);
}

/* Bytes of the buffer of an entry that has no list. */
static inline u64 kverbs_sqe_length(const struct kverbs_sqe *sqe)
{
	return kverbs_sqe_is_atomic(sqe) ? sizeof(u64) : sqe->length;
}

#endif /* KVERBS_SQE_H */
