/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Profiles: the fake device behaves as the driver of a real adapter does. It refuses what that
 * refuses, moves data between the ends of a connection of a queue pair to itself, and notes
 * each work request that the adapter would not understand as kverbs means it.
 */
#ifndef KVERBS_FAKE_PROFILE_H
#define KVERBS_FAKE_PROFILE_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>

#include "fake_hca.h"

struct kverbs_conn;

/**
 * enum fake_ways - ways of a driver or its adapter
 * @FAKE_EMPTY_SEND_SGE_IS_2G: an empty entry of a send means 2^31 bytes
 * @FAKE_EMPTY_RECV_SGE_IS_2G: an empty entry of a receive means 2^31 bytes
 * @FAKE_READ_HAS_ONE_SGE: a READ is refused unless it has one entry
 * @FAKE_TAKES_FIRST_SGE: the first entry is used even if the number of entries is 0
 * @FAKE_READ_DEREFERENCES_LIST: the list of a READ must not be NULL
 * @FAKE_READ_SINK: the key of a READ's sink must allow remote writes
 * @FAKE_NO_READ_FENCE: a READ must not be fenced
 * @FAKE_ONE_MR: all entries of a work request that name an MR must name the same
 * @FAKE_LOCAL_BASE: an lkey counts from the address that the MR had when it was mapped
 * @FAKE_TWO_LEVELS: an MR of more than 512 pages may have a page list of two levels, which
 *	REG_MR takes for one of one level
 * @FAKE_NO_ATOMIC_MR: REG_MR refuses the right to atomics
 * @FAKE_LAST_BYTE_FIRST: bytes become visible in any order; here the last one is the first
 * @FAKE_OWN_DRAIN: drains queue pairs by operations of its own
 * @FAKE_NO_RNR: a message that finds no receive breaks the queue pair
 * @FAKE_SOLICITS_MESSAGES: refuses to mark what consumes no receive as solicited
 * @FAKE_KEEPS_MRS: deregistering an MR may fail
 * @FAKE_FUSES_SENDS: a chain of a WRITE and a SEND of 16 bytes loses the flags of the SEND
 * @FAKE_HUGE_PAGES: REG_MR heeds the size of the pages, of all that page_size_cap has. Others
 *	are not known to do so
 */
enum fake_ways {
	FAKE_EMPTY_SEND_SGE_IS_2G	= BIT(0),
	FAKE_EMPTY_RECV_SGE_IS_2G	= BIT(1),
	FAKE_READ_HAS_ONE_SGE		= BIT(2),
	FAKE_TAKES_FIRST_SGE		= BIT(3),
	FAKE_READ_DEREFERENCES_LIST	= BIT(4),
	FAKE_READ_SINK			= BIT(5),
	FAKE_NO_READ_FENCE		= BIT(6),
	FAKE_ONE_MR			= BIT(7),
	FAKE_LOCAL_BASE			= BIT(8),
	FAKE_TWO_LEVELS			= BIT(9),
	FAKE_NO_ATOMIC_MR		= BIT(10),
	FAKE_LAST_BYTE_FIRST		= BIT(11),
	FAKE_OWN_DRAIN			= BIT(12),
	FAKE_NO_RNR			= BIT(13),
	FAKE_SOLICITS_MESSAGES		= BIT(14),
	FAKE_KEEPS_MRS			= BIT(15),
	FAKE_FUSES_SENDS		= BIT(16),
	FAKE_HUGE_PAGES			= BIT(17),
};

/**
 * struct fake_profile - an adapter
 * @name: for the names of cases
 * @driver: its driver
 * @iwarp: its transport is iWARP, else RoCE
 * @ways: FAKE_*
 * @opcodes: bits of the IB_WR_* that can be posted
 * @refusal: errno for others
 * @bad_wr: what it says of the work requests before one that it refuses
 * @dma_lkey: key of all memory, local_dma_lkey or that of its MR
 * @limits: what query_device tells. What the firmware tells the driver is as usual for
 *	that adapter.
 */
struct fake_profile {
	const char *name;
	enum rdma_driver_id driver;
	bool iwarp;
	u32 ways;
	u64 opcodes;
	int refusal;
	enum fake_bad_wr bad_wr;
	u32 dma_lkey;
	struct ib_device_attr limits;
};

extern const struct fake_profile fake_profiles[];
extern const unsigned int fake_nr_profiles;

const void *fake_profile_gen_params(GENERATOR_TEST const void *prev, char *desc);
const void *fake_usable_profile_gen_params(GENERATOR_TEST const void *prev, char *desc);
const void *fake_profile_gen_params_with(GENERATOR_TEST const void *prev, char *desc,
					 u32 ways);
bool fake_profile_is_usable(const struct fake_profile *profile);
struct fake_hca *fake_profile_device(struct kunit *test, const struct fake_profile *profile);
void fake_conn_disguise(struct kverbs_conn *conn);

/* profile_check.c: what is misread */
void fake_misread(struct fake_hca *hca, const char *why);
int fake_check_send(struct ib_qp *qp, const struct ib_send_wr *wr);
void fake_check_chain(struct fake_hca *hca, const struct ib_send_wr *first);
int fake_check_recv(struct ib_qp *qp, const struct ib_recv_wr *wr);
void fake_check_map(struct fake_mr *mr);
struct fake_mr *fake_mr_find(struct fake_hca *hca, u32 key);
u32 fake_dma_lkey(struct fake_hca *hca);

/* profile_run.c: work that is done */
bool fake_execute(struct fake_hca *hca, struct fake_wr *wr);

#endif /* KVERBS_FAKE_PROFILE_H */
