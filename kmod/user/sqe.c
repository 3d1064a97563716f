// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What an entry may say, opcode by opcode. */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "sqe.h"

#define FLAGS	(KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED | \
		 KVERBS_SQE_LIST)

/* What an opcode has; fields of what it does not have must be zero. */
#define REMOTE	BIT(0)	/* an address at the peer */
#define KEY	BIT(1)	/* a key of the peer's */
#define IMM	BIT(2)	/* immediate data */
#define ATOMIC	BIT(3)	/* an operand, and a buffer of 8 bytes */

static const u8 rules[] = {
	[KVERBS_OP_SEND]	= 0,
	[KVERBS_OP_RECV]	= 0,
	[KVERBS_OP_WRITE]	= REMOTE | KEY,
	[KVERBS_OP_WRITE_IMM]	= REMOTE | KEY | IMM,
	[KVERBS_OP_READ]	= REMOTE | KEY,
	[KVERBS_OP_SEND_IMM]	= IMM,
	[KVERBS_OP_SEND_INV]	= KEY,
	[KVERBS_OP_CMP_SWAP]	= REMOTE | KEY | ATOMIC,
	[KVERBS_OP_FETCH_ADD]	= REMOTE | KEY | ATOMIC,
};

static bool flags_fit(const struct kverbs_sqe *sqe)
{
	u8 may = FLAGS;

	if (sqe->opcode == KVERBS_OP_RECV)
		may = KVERBS_SQE_LIST;
	else if (kverbs_sqe_is_atomic(sqe))
		may &= ~KVERBS_SQE_LIST;
	return !(sqe->flags & ~may);
}

static bool buffer_fits(const struct kverbs_sqe *sqe)
{
	if (sqe->flags & KVERBS_SQE_LIST)
		return !sqe->region_id && sqe->length && sqe->length <= KVERBS_LIST_MAX;
	if (sqe->opcode == KVERBS_OP_CMP_SWAP)
		return true;
	if (sqe->opcode == KVERBS_OP_FETCH_ADD)
		return sqe->length == sizeof(u64);
	return sqe->length || (!sqe->region_id && !sqe->offset);
}

/**
 * kverbs_sqe_check() - whether an entry is well formed
 * @sqe: the entry, copied from the user
 *
 * Return: 0 or -EINVAL.
 */
int kverbs_sqe_check(const struct kverbs_sqe *sqe)
{
	u8 has;

	if (sqe->opcode < KVERBS_OP_SEND || sqe->opcode >= ARRAY_SIZE(rules))
		return -EINVAL;
	has = rules[sqe->opcode];
	if (!flags_fit(sqe) || sqe->__reserved || sqe->__reserved2)
		return -EINVAL;
	if ((!(has & REMOTE) && sqe->remote_addr) || (!(has & KEY) && sqe->rkey) ||
	    (!(has & IMM) && sqe->imm) || (!(has & ATOMIC) && sqe->operand))
		return -EINVAL;
	if (has & ATOMIC && !IS_ALIGNED(sqe->remote_addr, sizeof(u64)))
		return -EINVAL;
	return buffer_fits(sqe) ? 0 : -EINVAL;
}
