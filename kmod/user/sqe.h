/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SQE_H
#define KVERBS_SQE_H

#include <linux/kverbs.h>

#include "opcode.h"

int kverbs_sqe_check(const struct kverbs_sqe *sqe);

/* Bytes of the buffer of an entry that has no list. */
static inline u64 kverbs_sqe_length(const struct kverbs_sqe *sqe)
{
	return kverbs_opcode_has(sqe->opcode, KVERBS_OPF_ATOMIC) ? sizeof(u64) : sqe->length;
}

#endif /* KVERBS_SQE_H */
