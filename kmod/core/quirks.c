// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The tables of quirks: no other file asks for a driver or a transport by its name. */
#include <rdma/ib_verbs.h>

#include "quirks.h"

static const u32 transports[] = {
	[KVERBS_TRANSPORT_IWARP] = KVERBS_QUIRK_NO_IMM | KVERBS_QUIRK_NO_ATOMICS |
				   KVERBS_QUIRK_READ_SINK | KVERBS_QUIRK_ORDERED_READS |
				   KVERBS_QUIRK_ONE_READ_SGE |
				   KVERBS_QUIRK_NO_COALESCING |
				   KVERBS_QUIRK_READ_PROBE | KVERBS_QUIRK_VAGUE_ANSWER |
				   KVERBS_QUIRK_AWAITS_ANSWER | KVERBS_QUIRK_NO_RNR,
};

static const struct {
	enum rdma_driver_id driver;
	u32 quirks;
} drivers[] = {
	{ RDMA_DRIVER_SIW, KVERBS_QUIRK_ONE_MR_PER_WR | KVERBS_QUIRK_BLOCKING_CONNECT |
			   KVERBS_QUIRK_NUDGE | KVERBS_QUIRK_READ_ENTRY },
	{ RDMA_DRIVER_ERDMA, KVERBS_QUIRK_READ_ENTRY },
	{ RDMA_DRIVER_HNS, KVERBS_QUIRK_NO_LOCAL_INV | KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_CXGB4, KVERBS_QUIRK_FUSES_SENDS | KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_MLX5, KVERBS_QUIRK_LARGE_MRS | KVERBS_QUIRK_NO_ATOMIC_WRS |
			    KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_MLX4, KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_IRDMA, KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_BNXT_RE, KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_QEDR, KVERBS_QUIRK_HUGE_PAGES },
	{ RDMA_DRIVER_VMW_PVRDMA, KVERBS_QUIRK_NO_SRQ },
	{ RDMA_DRIVER_OCRDMA, KVERBS_QUIRK_FIXED_IOVA },
};

/**
 * kverbs_port_transport() - the transport of a port
 * @ib: the device
 * @port: of the device
 *
 * Return: enum kverbs_transport.
 */
enum kverbs_transport kverbs_port_transport(struct ib_device *ib, u32 port)
{
	if (rdma_protocol_iwarp(ib, port))
		return KVERBS_TRANSPORT_IWARP;
	if (rdma_protocol_roce(ib, port))
		return KVERBS_TRANSPORT_ROCE;
	if (rdma_protocol_ib(ib, port))
		return KVERBS_TRANSPORT_IB;
	return KVERBS_TRANSPORT_UNKNOWN;
}

/**
 * kverbs_driver_quirks() - the quirks of a device, whatever its transport
 * @ib: the device
 *
 * Return: KVERBS_QUIRK_*.
 */
u32 kverbs_driver_quirks(const struct ib_device *ib)
{
	unsigned int i;
	u32 quirks = 0;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (ib->ops.driver_id == drivers[i].driver)
			quirks |= drivers[i].quirks;
	return quirks;
}

/**
 * kverbs_quirks() - the quirks of a port
 * @ib: the device
 * @port: of the device
 *
 * Return: KVERBS_QUIRK_*.
 */
u32 kverbs_quirks(struct ib_device *ib, u32 port)
{
	enum kverbs_transport transport = kverbs_port_transport(ib, port);
	u32 quirks = kverbs_driver_quirks(ib);

	if (transport < ARRAY_SIZE(transports))
		quirks |= transports[transport];
	return quirks;
}
