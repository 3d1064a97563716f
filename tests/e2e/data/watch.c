// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for a peer's WRITE, which generates no completion. */
#include <string.h>

#include "buf.h"

#define LAST	(PAGE - 1)

static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment seg;

static void open_pair(uint32_t flags)
{
	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	ring_open_as(&pair.ring, pair.fd, 256, 1024, flags, 0);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	pair_join(&pair, &pair.client, &pair.server);
	buf_open(&local, pair.fd, BUF_ANON, PAGE);
	buf_open(&remote, pair.fd, BUF_ANON, PAGE);
	buf_fill(&local, 1);
	buf_poison(&remote);
	local.addr[LAST] = ~remote.addr[LAST];
	dev_export(pair.fd, pair.server, remote.region, 0, PAGE, KVERBS_REMOTE_WRITE, &seg,
		   NULL);
}

/* One entry, and a watch on the last byte of the remote memory, in one call. */
static struct kverbs_cmd_submit submit_and_watch(struct kverbs_sqe sqe)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_SUBMIT_WATCH,
		.ring_id = pair.ring.id,
		.to_submit = 1,
		.min_complete = 1,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.watch_uptr = (uintptr_t)&remote.addr[LAST],
		.watch_old = remote.addr[LAST],
	};

	ring_push(&pair.ring, &sqe);
	CHECK_OK(dev_cmd(pair.fd, KVERBS_SUBMIT, &cmd));
	CHECK_EQ(cmd.out_taken, 1);
	return cmd;
}

static void write_and_watch(uint32_t flags)
{
	struct kverbs_sqe sqe;
	struct kverbs_cmd_submit out;

	open_pair(flags);
	sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0, PAGE, &seg);
	sqe.flags = 0;
	out = submit_and_watch(sqe);
	CHECK_EQ(out.out_ready, 0);
	CHECK(!memcmp(local.addr, remote.addr, PAGE));
}

TEST(a_write_ends_the_wait_of_who_watches_its_last_byte)
{
	write_and_watch(0);
}

TEST(on_a_polled_ring_a_write_ends_the_wait_of_who_watches)
{
	write_and_watch(KVERBS_RING_BUSY_POLL);
}

TEST(on_a_softirq_ring_a_write_ends_the_wait_of_who_watches)
{
	write_and_watch(KVERBS_RING_SOFTIRQ);
}

static void send_and_watch(uint32_t flags)
{
	struct kverbs_sqe sqe;
	struct kverbs_cmd_submit out;
	unsigned char last;

	open_pair(flags);
	last = remote.addr[LAST];
	sqe = sqe_recv(pair.server, 0, 0, 0);
	sqe.user_data = 7;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_send(pair.client, 0, 0, 0);
	sqe.flags = 0;
	out = submit_and_watch(sqe);
	CHECK_EQ(out.out_ready, 1);
	CHECK_EQ(remote.addr[LAST], last);
	CHECK_DONE(ring_work(&pair.ring, 7));
}

TEST(a_completion_ends_it_too)
{
	send_and_watch(0);
}

TEST(on_a_polled_ring_a_completion_ends_it_too)
{
	send_and_watch(KVERBS_RING_BUSY_POLL);
}
