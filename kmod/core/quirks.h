/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_QUIRKS_H
#define KVERBS_QUIRKS_H

#include <linux/bits.h>
#include <linux/kverbs.h>
#include <linux/types.h>

struct ib_device;

/**
 * enum kverbs_quirks - what drivers and transports do differently
 * @KVERBS_QUIRK_NO_IMM: no immediate data
 * @KVERBS_QUIRK_NO_ATOMICS: no atomics
 * @KVERBS_QUIRK_READ_SINK: the sink of a READ must be registered for remote write, since
 *	its key travels in the request; READ_WITH_INV can invalidate it
 * @KVERBS_QUIRK_ORDERED_READS: READs are answered in order, so they need no fence
 * @KVERBS_QUIRK_ONE_READ_SGE: a READ has one SGE
 * @KVERBS_QUIRK_NO_COALESCING: an operation may complete before an earlier READ, so its
 *	completion says nothing of that
 * @KVERBS_QUIRK_READ_PROBE: TCP acknowledges a WRITE, not the peer's device; only the
 *	response to a READ proves that the peer is alive
 * @KVERBS_QUIRK_VAGUE_ANSWER: drivers differ in which of the two READ depths of the
 *	peer's answer they call which, and in the status of a rejection
 * @KVERBS_QUIRK_ONE_MR_PER_WR: the driver does not begin at the start of the next MR when
 *	the second SGE of a work request names another MR, and sends other bytes instead
 * @KVERBS_QUIRK_BLOCKING_CONNECT: rdma_connect() waits for the TCP connection
 * @KVERBS_QUIRK_NUDGE: what arrives right behind the answer to a connection request may
 *	be noticed only when more arrives
 * @KVERBS_QUIRK_READ_ENTRY: the driver refuses a READ without an SGE, even one of no
 *	bytes. Others must not get an empty SGE: to mlx4 a length of 0 means 2^31 bytes
 * @KVERBS_QUIRK_LARGE_MRS: an MR of thousands of pages does no harm. irdma may keep one of
 *	more than 512 in a list of two levels, of which REG_MR then names the wrong one
 * @KVERBS_QUIRK_AWAITS_ANSWER: rdma_disconnect() and rdma_destroy_id() wait, and cannot be
 *	interrupted, until the peer has answered a connect or an accept
 * @KVERBS_QUIRK_NO_LOCAL_INV: the driver registers memory by work requests but does not
 *	invalidate it so: it warns, and refuses LOCAL_INV
 * @KVERBS_QUIRK_NO_ATOMIC_WRS: the device answers atomics, but its driver does not post them
 *	for the kernel: it warns each time, and refuses them
 * @KVERBS_QUIRK_FUSES_SENDS: the driver makes one request of a chain of a WRITE and a short
 *	SEND, which then has neither fence nor solicited event
 * @KVERBS_QUIRK_HUGE_PAGES: REG_MR takes pages of all sizes that the device says it has. Not
 *	every driver heeds the size, and rxe's has long moved other bytes with large ones
 * @KVERBS_QUIRK_NO_RNR: a message that finds no receive ends its connection, as there is no
 *	retry. In a shared queue one peer could use up the receives of all others
 * @KVERBS_QUIRK_NO_SRQ: the driver has shared receive queues, but none for the kernel: it
 *	warns each time, and refuses
 * @KVERBS_QUIRK_FIXED_IOVA: REG_MR is right only if the address of an MR is the DMA address of
 *	its first byte: the driver subtracts the two to find the offset in the first page
 */
enum kverbs_quirks {
	KVERBS_QUIRK_NO_IMM		= BIT(0),
	KVERBS_QUIRK_NO_ATOMICS		= BIT(1),
	KVERBS_QUIRK_READ_SINK		= BIT(2),
	KVERBS_QUIRK_ORDERED_READS	= BIT(3),
	KVERBS_QUIRK_ONE_READ_SGE	= BIT(4),
	KVERBS_QUIRK_NO_COALESCING	= BIT(5),
	KVERBS_QUIRK_READ_PROBE		= BIT(6),
	KVERBS_QUIRK_VAGUE_ANSWER	= BIT(7),
	KVERBS_QUIRK_ONE_MR_PER_WR	= BIT(8),
	KVERBS_QUIRK_BLOCKING_CONNECT	= BIT(9),
	KVERBS_QUIRK_NUDGE		= BIT(10),
	KVERBS_QUIRK_READ_ENTRY		= BIT(11),
	KVERBS_QUIRK_LARGE_MRS		= BIT(12),
	KVERBS_QUIRK_NO_LOCAL_INV	= BIT(13),
	KVERBS_QUIRK_AWAITS_ANSWER	= BIT(14),
	KVERBS_QUIRK_NO_ATOMIC_WRS	= BIT(15),
	KVERBS_QUIRK_FUSES_SENDS	= BIT(16),
	KVERBS_QUIRK_HUGE_PAGES		= BIT(17),
	KVERBS_QUIRK_NO_RNR		= BIT(18),
	KVERBS_QUIRK_NO_SRQ		= BIT(19),
	KVERBS_QUIRK_FIXED_IOVA		= BIT(20),
};

enum kverbs_transport kverbs_port_transport(struct ib_device *ib, u32 port);
u32 kverbs_driver_quirks(const struct ib_device *ib);
u32 kverbs_quirks(struct ib_device *ib, u32 port);

#endif /* KVERBS_QUIRKS_H */
