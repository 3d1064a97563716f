// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SEND_INV: the peer revokes a key with a message. */
#include <string.h>

#include "buf.h"

static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment seg;
static uint32_t export;

static void set_up(void)
{
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, PAGE);
	buf_open(&remote, pair.fd, BUF_ANON, PAGE);
	buf_fill(&local, 1);
	buf_poison(&remote);
	export = dev_export(pair.fd, pair.server, remote.region, 0, PAGE, KVERBS_REMOTE_WRITE,
			    &seg, NULL);
}

static struct kverbs_cqe revoke(uint32_t rkey)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, 0, 0, 0);

	sqe.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_send(pair.client, 0, 0, 0);
	sqe.opcode = KVERBS_OP_SEND_INV;
	sqe.rkey = rkey;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	return ring_work(&pair.ring, 77);
}

TEST(SEND_INV_tells_the_receiver_which_key_is_gone)
{
	struct kverbs_cqe cqe;

	set_up();
	cqe = revoke(seg.rkey);
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_INV);
	CHECK_EQ(cqe.imm, seg.rkey);
}

TEST(after_SEND_INV_the_key_is_worth_nothing)
{
	struct kverbs_sqe sqe;

	set_up();
	CHECK_DONE(revoke(seg.rkey));
	sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0, 64, &seg);
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
	buf_check_untouched(&remote);
}

TEST(after_SEND_INV_a_new_export_works)
{
	uint32_t old;

	set_up();
	old = seg.rkey;
	CHECK_DONE(revoke(seg.rkey));
	CHECK_OK(dev_destroy(pair.fd, export));
	export = dev_export(pair.fd, pair.server, remote.region, 0, PAGE, KVERBS_REMOTE_WRITE,
			    &seg, NULL);
	CHECK(seg.rkey != old);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0,
						PAGE, &seg)));
	CHECK_DONE(revoke(seg.rkey));
	buf_check_moved(&remote, 0, &local, 0, PAGE);
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, remote.region));
}

/* The peer revokes one half of an export, this side the other half. */
TEST(one_segment_of_several_can_be_taken_back)
{
	struct kverbs_segment segs[8];
	struct kverbs_sqe sqe;
	struct buf large;
	uint32_t nr = 8;

	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, PAGE);
	buf_open(&large, pair.fd, BUF_ANON, 3 * MIB);
	export = dev_export(pair.fd, pair.server, large.region, 0, 3 * MIB,
			    KVERBS_REMOTE_WRITE, segs, &nr);
	CHECK(nr > 1);
	CHECK_DONE(revoke(segs[0].rkey));
	sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0, PAGE, &segs[1]);
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, large.region));
}

TEST(SEND_INV_of_a_key_that_is_none_ends_the_connection_and_no_other)
{
	uint32_t client, server;
	struct kverbs_sqe sqe;

	set_up();
	pair_join(&pair, &client, &server);
	sqe = sqe_recv(pair.server, 0, 0, 0);
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_send(pair.client, 0, 0, 0);
	sqe.opcode = KVERBS_OP_SEND_INV;
	sqe.rkey = seg.rkey ^ 0x550000;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).type, KVERBS_CQE_DISCONNECTED);
	sqe = sqe_recv(server, 0, 0, 0);
	sqe.user_data = 78;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(client, 0, 0, 0)));
	CHECK_DONE(ring_work(&pair.ring, 78));
}
