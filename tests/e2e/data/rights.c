// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Access that an export's key does not grant: the connection ends and no byte moves. */
#include <stdio.h>

#include "buf.h"

#define SIZE		(4 * PAGE)
#define START		100
#define LENGTH		(2 * PAGE)

static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment seg;
static uint32_t export;

/* Export the middle of @remote; both sides are filled with poison. */
static void set_up(uint32_t access)
{
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, SIZE);
	buf_open(&remote, pair.fd, BUF_SCATTERED, SIZE);
	buf_poison(&remote);
	buf_poison(&local);
	export = dev_export(pair.fd, pair.server, remote.region, START, LENGTH, access, &seg,
			    NULL);
}

/* On iWARP a refused WRITE has completed before the refusal arrives. */
static void check_refused(struct kverbs_cqe cqe, uint8_t opcode)
{
	if (!dev_is_iwarp())
		ring_check_refused(cqe);
	else if (opcode == KVERBS_OP_READ)
		CHECK_EQ(cqe.result, -EIO);
}

static void refused_on(uint32_t conn, uint8_t opcode, size_t length)
{
	check_refused(ring_do(&pair.ring, sqe_rdma(opcode, conn, local.region, 0, length,
						   &seg)), opcode);
	CHECK_EQ(ring_end_of(&pair.ring, conn).type, KVERBS_CQE_DISCONNECTED);
	buf_check_untouched(&remote);
	buf_check_untouched(&local);
}

static void refused(uint8_t opcode, size_t length)
{
	buf_fill(opcode == KVERBS_OP_READ ? &remote : &local, 1);
	buf_poison(opcode == KVERBS_OP_READ ? &remote : &local);
	refused_on(pair.client, opcode, length);
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).type, KVERBS_CQE_DISCONNECTED);
}

TEST(WRITE_with_a_key_for_READ_is_refused)
{
	set_up(KVERBS_REMOTE_READ);
	refused(KVERBS_OP_WRITE, 64);
}

TEST(READ_with_a_key_for_WRITE_is_refused)
{
	if (dev_is_iwarp())
		test_skip("siw lets a peer READ with any key of the connection");
	set_up(KVERBS_REMOTE_WRITE);
	refused(KVERBS_OP_READ, 64);
}

TEST(WRITE_beyond_the_export_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	seg.addr += LENGTH - 63;
	refused(KVERBS_OP_WRITE, 64);
}

TEST(WRITE_before_the_export_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	seg.addr -= 1;
	refused(KVERBS_OP_WRITE, 64);
}

TEST(READ_beyond_the_export_is_refused)
{
	set_up(KVERBS_REMOTE_READ);
	seg.addr += LENGTH;
	refused(KVERBS_OP_READ, 1);
}

TEST(READ_before_the_export_is_refused)
{
	set_up(KVERBS_REMOTE_READ);
	seg.addr -= START;
	refused(KVERBS_OP_READ, START + 1);
}

TEST(WRITE_longer_than_the_export_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	refused(KVERBS_OP_WRITE, LENGTH + 1);
}

TEST(an_address_that_overflows_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	seg.addr = UINT64_MAX - 7;
	refused(KVERBS_OP_WRITE, 64);
}

TEST(WRITE_with_another_key_byte_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	seg.rkey ^= 1;
	refused(KVERBS_OP_WRITE, 64);
}

TEST(READ_with_a_key_that_nobody_has_is_refused)
{
	set_up(KVERBS_REMOTE_READ);
	seg.rkey ^= 0x5a5a0000;
	refused(KVERBS_OP_READ, 64);
}

TEST(WRITE_with_the_key_of_a_destroyed_export_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	CHECK_OK(dev_destroy(pair.fd, export));
	refused(KVERBS_OP_WRITE, 64);
}

TEST(READ_with_the_key_of_a_destroyed_export_is_refused)
{
	set_up(KVERBS_REMOTE_READ);
	CHECK_OK(dev_destroy(pair.fd, export));
	refused(KVERBS_OP_READ, 64);
}

TEST(a_destroyed_exports_key_stays_dead_when_its_memory_is_exported_again)
{
	struct kverbs_segment again;

	set_up(KVERBS_REMOTE_WRITE);
	CHECK_OK(dev_destroy(pair.fd, export));
	dev_export(pair.fd, pair.server, remote.region, START, LENGTH, KVERBS_REMOTE_WRITE,
		   &again, NULL);
	CHECK(again.rkey != seg.rkey);
	refused(KVERBS_OP_WRITE, 64);
}

TEST(WRITE_with_the_key_of_another_connection_is_refused)
{
	uint32_t client, server;

	set_up(KVERBS_REMOTE_WRITE);
	pair_join(&pair, &client, &server);
	refused_on(client, KVERBS_OP_WRITE, 64);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(READ_with_the_key_of_another_connection_is_refused)
{
	uint32_t client, server;

	set_up(KVERBS_REMOTE_READ);
	pair_join(&pair, &client, &server);
	refused_on(client, KVERBS_OP_READ, 64);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(a_key_does_not_work_on_its_exporters_side)
{
	set_up(KVERBS_REMOTE_READ);
	refused_on(pair.server, KVERBS_OP_READ, 64);
}

TEST(exactly_the_exported_bytes_can_be_read)
{
	set_up(KVERBS_REMOTE_READ);
	buf_fill(&remote, 3);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, local.region, 5,
						LENGTH, &seg)));
	buf_check_moved(&local, 5, &remote, START, LENGTH);
}

TEST(one_export_for_both_rights_gives_both)
{
	static struct buf got;

	set_up(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	buf_open(&got, pair.fd, BUF_ANON, SIZE);
	buf_poison(&got);
	buf_fill(&local, 9);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region,
						0, LENGTH, &seg)));
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, got.region, 0,
						LENGTH, &seg)));
	buf_check_moved(&got, 0, &local, 0, LENGTH);
	buf_check_moved(&remote, START, &local, 0, LENGTH);
}

TEST(an_exports_addresses_tell_nothing_of_this_host)
{
	set_up(KVERBS_REMOTE_READ);
	CHECK_EQ(seg.addr, START);
	CHECK_EQ(seg.length, LENGTH);
	CHECK_EQ(seg.__reserved, 0);
}

TEST(keys_of_200_exports_on_one_connection_all_differ)
{
	uint32_t keys[200], i, j;

	set_up(KVERBS_REMOTE_READ);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		dev_export(pair.fd, pair.server, remote.region, i, 1, KVERBS_REMOTE_READ,
			   &seg, NULL);
		keys[i] = seg.rkey;
		for (j = 0; j < i; j++)
			CHECK(keys[j] != keys[i]);
	}
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_OK(dev_destroy(pair.fd, remote.region));
}
