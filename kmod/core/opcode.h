/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_OPCODE_H
#define KVERBS_OPCODE_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/kverbs.h>
#include <linux/nospec.h>
#include <rdma/ib_verbs.h>

/**
 * enum kverbs_opcode_flags - what an opcode has and does
 * @KVERBS_OPF_RECV: goes to the receive queue
 * @KVERBS_OPF_MESSAGE: a SEND: its data goes where a receive of the peer says, so it
 *	has no remote address and fits into one work request
 * @KVERBS_OPF_REMOTE: has an address at the peer
 * @KVERBS_OPF_KEY: has a key of the peer
 * @KVERBS_OPF_IMM: carries immediate data; the transport must have it
 * @KVERBS_OPF_ATOMIC: has an operand and a buffer of 8 bytes; the device must have atomics
 * @KVERBS_OPF_WRITES: writes the local buffer, and its bytes count as inbound
 * @KVERBS_OPF_READ: is an RDMA READ: its sink may need a key, and it may need an SGE even
 *	for no bytes
 * @KVERBS_OPF_RESPONSE: the peer's device sends a response, so it must accept READs
 * @KVERBS_OPF_TAKES_RECV: consumes a receive of the peer
 * @KVERBS_OPF_BENCH: BENCH can measure it
 */
enum kverbs_opcode_flags {
	KVERBS_OPF_RECV		= BIT(0),
	KVERBS_OPF_MESSAGE	= BIT(1),
	KVERBS_OPF_REMOTE	= BIT(2),
	KVERBS_OPF_KEY		= BIT(3),
	KVERBS_OPF_IMM		= BIT(4),
	KVERBS_OPF_ATOMIC	= BIT(5),
	KVERBS_OPF_WRITES	= BIT(6),
	KVERBS_OPF_READ		= BIT(7),
	KVERBS_OPF_RESPONSE	= BIT(8),
	KVERBS_OPF_TAKES_RECV	= BIT(9),
	KVERBS_OPF_BENCH	= BIT(10),
};

/* Of a request that only invalidates an MR. */
#define KVERBS_OP_NONE	0

/**
 * struct kverbs_opdef - a row of the table of opcodes
 * @flags: KVERBS_OPF_*
 * @wr: opcode of its work requests
 * @last_wr: opcode of the last of them
 * @sqe_flags: KVERBS_SQE_* that a submission entry may have
 */
struct kverbs_opdef {
	u32 flags;
	u8 wr;
	u8 last_wr;
	u8 sqe_flags;
};

extern const struct kverbs_opdef kverbs_opdefs[KVERBS_OP_FETCH_ADD + 1];

/**
 * kverbs_opcode_clamp() - confine an opcode from user space to the table
 * @opcode: the number
 *
 * A CPU that mispredicts the check of the opcode would otherwise read beyond the table, and
 * let the cache tell what it found there.
 *
 * Return: @opcode if the table has such a row, else 0, whose row is empty.
 */
static inline u8 kverbs_opcode_clamp(u32 opcode)
{
	return array_index_nospec(opcode, ARRAY_SIZE(kverbs_opdefs));
}

/**
 * kverbs_opdef_find() - look up an opcode that user space gave
 * @opcode: the number
 *
 * Return: the opcode, or NULL if there is none of that number.
 */
static inline const struct kverbs_opdef *kverbs_opdef_find(u32 opcode)
{
	const struct kverbs_opdef *op = &kverbs_opdefs[kverbs_opcode_clamp(opcode)];

	return op->flags ? op : NULL;
}

/* True if the opcode, which is a valid one, has any of the KVERBS_OPF_*. */
static inline bool kverbs_opcode_has(u8 opcode, u32 flags)
{
	return kverbs_opdefs[opcode].flags & flags;
}

#endif /* KVERBS_OPCODE_H */
