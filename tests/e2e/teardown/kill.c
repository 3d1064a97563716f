// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SIGKILL of either side, at any moment. */
#include <unistd.h>

#include "peer.h"

static struct link both;

/* Both sides in one process, busy until it is killed. */
static void be_busy(uint8_t opcode)
{
	struct kverbs_sqe sqe;

	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	side_post_recvs(&both.server, 100);
	child_ready();
	for (;;) {
		sqe = sqe_rdma(opcode, both.client.conn, both.client.region, 0, SIZE,
			       &both.seg);
		CHECK_DONE(ring_do(&both.client.ring, sqe));
	}
}

static void be_busy_writing(void)
{
	be_busy(KVERBS_OP_WRITE);
}

static void be_busy_reading(void)
{
	be_busy(KVERBS_OP_READ);
}

TEST(SIGKILL_while_writing)
{
	child_kill(child_start(be_busy_writing));
}

TEST(SIGKILL_while_reading)
{
	child_kill(child_start(be_busy_reading));
}

static void wait_in_submit(void)
{
	struct kverbs_cmd_submit cmd = { .size = sizeof(cmd), .min_complete = 1 };

	link_open(&both);
	cmd.ring_id = both.client.ring.id;
	child_ready();
	dev_cmd(both.client.ring.fd, KVERBS_SUBMIT, &cmd);
}

TEST(SIGKILL_while_waiting_for_a_completion)
{
	child_kill(child_start(wait_in_submit));
}

static void watch_in_submit(void)
{
	static uint8_t never;
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_SUBMIT_WATCH,
		.min_complete = 1,
		.watch_uptr = (uintptr_t)&never,
	};

	link_open(&both);
	cmd.ring_id = both.client.ring.id;
	child_ready();
	dev_cmd(both.client.ring.fd, KVERBS_SUBMIT, &cmd);
}

TEST(SIGKILL_while_watching_a_byte)
{
	child_kill(child_start(watch_in_submit));
}

static void connect_all_the_time(void)
{
	struct pair pair;
	uint32_t client, server;

	pair_open(&pair);
	child_ready();
	for (;;) {
		pair_join(&pair, &client, &server);
		CHECK_OK(dev_destroy(pair.fd, client));
		CHECK_OK(dev_destroy(pair.fd, server));
	}
}

TEST(SIGKILL_while_connecting_and_disconnecting)
{
	int i;

	for (i = 0; i < test_repeats(5); i++)
		child_kill(child_start(connect_all_the_time));
}

static void export_all_the_time(void)
{
	link_open(&both);
	child_ready();
	for (;;) {
		link_export(&both, KVERBS_REMOTE_WRITE);
		CHECK_OK(dev_destroy(both.server.ring.fd, both.export));
	}
}

TEST(SIGKILL_while_exporting)
{
	int i;

	for (i = 0; i < test_repeats(5); i++)
		child_kill(child_start(export_all_the_time));
}

static void register_all_the_time(void)
{
	uint32_t region;

	side_open(&both.client);
	child_ready();
	for (;;) {
		region = dev_region(both.client.ring.fd, both.client.memory, SIZE, 0);
		CHECK_OK(dev_destroy(both.client.ring.fd, region));
	}
}

TEST(SIGKILL_while_registering)
{
	int i;

	for (i = 0; i < test_repeats(5); i++)
		child_kill(child_start(register_all_the_time));
}

static void be_client(void)
{
	struct side *side = &both.client;
	struct kverbs_sqe sqe;

	side_open(side);
	side->conn = dev_connect(&side->ring, &both.addr);
	CHECK_OK(ring_event(&side->ring, KVERBS_CQE_ESTABLISHED, 0).result);
	side_post_recvs(side, 50);
	sqe = sqe_send(side->conn, side->region, 0, 64);
	sqe.flags = 0;
	CHECK_OK(ring_put(&side->ring, &sqe));
	child_ready();
	pause();
}

static void accept_one(struct side *side)
{
	side->conn = ring_event(&side->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	side_post_recvs(side, 50);
	CHECK_OK(dev_accept(&side->ring, side->conn, NULL));
}

TEST(the_peer_of_a_killed_process_gets_an_event_and_stays_usable)
{
	struct side *side = &both.server;
	struct kverbs_cqe cqe;
	int pid, i;

	side_open(side);
	both.addr = addr_of("a", 0);
	both.listener = dev_listen(&side->ring, &both.addr);
	for (i = 0; i < test_repeats(3); i++) {
		pid = child_fork(be_client);
		accept_one(side);
		CHECK_OK(ring_event(&side->ring, KVERBS_CQE_ESTABLISHED, side->conn).result);
		child_await();
		child_kill(pid);
		cqe = ring_end_of(&side->ring, side->conn);
		CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
		CHECK_EQ(cqe.result, -ECONNRESET);
	}
}
