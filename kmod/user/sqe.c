// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Validation of submission entries against the table of opcodes. */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "array.h"
#include "opcode.h"
#include "sqe.h"

static bool buffer_fits(const struct kverbs_sqe *sqe, const struct kverbs_opdef *op)
{
	if (sqe->flags & KVERBS_SQE_LIST)
		return !sqe->region_id && sqe->length && sqe->length <= KVERBS_LIST_MAX &&
		       !kverbs_array_check(sqe->piece_stride, sizeof(struct kverbs_piece));
	if (sqe->piece_stride)
		return false;
	/* The length of a CMP_SWAP is implied: its place holds the new value. */
	if (sqe->opcode == KVERBS_OP_CMP_SWAP)
		return true;
	if (op->flags & KVERBS_OPF_ATOMIC)
		return sqe->length == sizeof(u64);
	return sqe->length || (!sqe->region_id && !sqe->offset);
}

/**
 * kverbs_sqe_check() - whether an entry is well formed
 * @sqe: the entry, copied from the user, its opcode from kverbs_opcode_clamp()
 *
 * Return: 0, -EINVAL, -EMSGSIZE.
 */
int kverbs_sqe_check(const struct kverbs_sqe *sqe)
{
	const struct kverbs_opdef *op = &kverbs_opdefs[sqe->opcode];

	if (!op->flags || sqe->flags & ~op->sqe_flags || sqe->__reserved)
		return -EINVAL;
	/* Fields that the opcode does not have must be zero. */
	if ((!(op->flags & KVERBS_OPF_REMOTE) && sqe->remote_addr) ||
	    (!(op->flags & KVERBS_OPF_KEY) && sqe->rkey) ||
	    (!(op->flags & KVERBS_OPF_IMM) && sqe->imm) ||
	    (!(op->flags & KVERBS_OPF_ATOMIC) && sqe->operand))
		return -EINVAL;
	if (op->flags & KVERBS_OPF_ATOMIC && !IS_ALIGNED(sqe->remote_addr, sizeof(u64)))
		return -EINVAL;
	if (!buffer_fits(sqe, op))
		return -EINVAL;
	if (sqe->opcode != KVERBS_OP_CMP_SWAP && sqe->length > U32_MAX)
		return -EMSGSIZE;
	return 0;
}
