// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* close(2) and DESTROY in every state. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"

static struct link both;

static void expect_end(struct side *side, int result)
{
	struct kverbs_cqe cqe = ring_end_of(&side->ring, side->conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, result);
}

static void expect_nothing_pinned(void)
{
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

TEST(close_while_the_address_is_resolved)
{
	struct kverbs_addr nobody = { .family = 2, .port = 1, .addr = { 192, 0, 2, 77 } };

	side_open(&both.client);
	dev_connect(&both.client.ring, &nobody);
	side_close(&both.client);
	expect_nothing_pinned();
}

TEST(close_by_the_client_before_the_answer)
{
	link_request(&both);
	side_close(&both.client);
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.conn));
	side_close(&both.server);
	expect_nothing_pinned();
}

TEST(close_by_the_server_before_the_answer)
{
	struct kverbs_cqe cqe;

	link_request(&both);
	side_close(&both.server);
	cqe = ring_end_of(&both.client.ring, both.client.conn);
	CHECK(cqe.type == KVERBS_CQE_REJECTED || cqe.type == KVERBS_CQE_FAILED);
	side_close(&both.client);
	expect_nothing_pinned();
}

/*
 * The peer is told by a REJ. ib_cm has a workqueue with a worker on each CPU, and drops a REJ that
 * is handled before the REP; so only the keepalive is certain to find out.
 */
TEST(close_right_after_ACCEPT)
{
	struct kverbs_conn_param param = { .keepalive_ns = MS_TO_NS(test_keepalive_ms()) };

	link_request_as(&both, &param);
	CHECK_OK(dev_accept(&both.server.ring, both.server.conn, NULL));
	side_close(&both.server);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	side_close(&both.client);
	expect_nothing_pinned();
}

TEST(close_of_the_client_right_after_ACCEPT)
{
	link_request(&both);
	CHECK_OK(dev_accept(&both.server.ring, both.server.conn, NULL));
	side_close(&both.client);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	side_close(&both.server);
	expect_nothing_pinned();
}

TEST(close_while_idle)
{
	link_open(&both);
	side_close(&both.client);
	expect_end(&both.server, -ECONNRESET);
	side_close(&both.server);
	expect_nothing_pinned();
}

TEST(close_right_after_DISCONNECT)
{
	link_open(&both);
	CHECK_OK(dev_disconnect(both.client.ring.fd, both.client.conn));
	side_close(&both.client);
	expect_end(&both.server, -ECONNRESET);
	side_close(&both.server);
	expect_nothing_pinned();
}

TEST(close_with_receives_outstanding)
{
	link_open(&both);
	side_post_recvs(&both.client, 100);
	side_post_recvs(&both.server, 100);
	side_close(&both.server);
	expect_end(&both.client, -ECONNRESET);
	side_close(&both.client);
	expect_nothing_pinned();
}

TEST(close_with_WRITEs_in_flight)
{
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_WRITE);
	link_start(&both, KVERBS_OP_WRITE, WRITES);
	side_close(&both.client);
	expect_end(&both.server, -ECONNRESET);
	side_close(&both.server);
	expect_nothing_pinned();
}

TEST(close_while_the_peer_writes_into_an_export)
{
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_WRITE);
	link_start(&both, KVERBS_OP_WRITE, WRITES);
	side_close(&both.server);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	side_close(&both.client);
	expect_nothing_pinned();
}

TEST(close_while_the_peer_reads_from_an_export)
{
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ);
	link_start(&both, KVERBS_OP_READ, WRITES);
	side_close(&both.server);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	side_close(&both.client);
	expect_nothing_pinned();
}

TEST(DESTROY_with_READs_in_flight_leaves_the_region_free)
{
	int ret;

	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ);
	link_start(&both, KVERBS_OP_READ, WRITES);
	/* A fast guest may have completed all of them already. */
	ret = dev_destroy(both.client.ring.fd, both.client.region);
	CHECK(!ret || ret == -EBUSY);
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.conn));
	CHECK_ERR(dev_destroy(both.client.ring.fd, both.client.region), ret ? 0 : ENOENT);
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.ring.id));
	/* A failed READ response may end the connection before the disconnect does. */
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
}

/* rxe of 6.1 may stop in the middle of a READ response without an error. */
static bool leaves_readers_waiting(void)
{
	return test_kernel_is("6.1") && !dev_is_iwarp();
}

/* Unless the connection has ended already. */
static void end_connection(void)
{
	int ret = dev_disconnect(both.client.ring.fd, both.client.conn);

	if (ret)
		CHECK_ERR(ret, ENOTCONN);
}

/* READs that started before may move data until then, but none afterwards. */
TEST(DESTROY_of_an_export_ends_the_peers_READs)
{
	struct kverbs_cqe cqe;
	unsigned int i, failed = 0;

	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ);
	link_start(&both, KVERBS_OP_READ, WRITES);
	CHECK_OK(dev_destroy(both.server.ring.fd, both.export));
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.region));
	CHECK_EQ(munmap(both.server.memory, SIZE), 0);
	if (leaves_readers_waiting())
		end_connection();
	for (i = 0; i < WRITES; i++) {
		cqe = ring_work(&both.client.ring, i);
		failed += !!cqe.result;
		CHECK(!failed || cqe.result == -EIO);
	}
	if (failed && !leaves_readers_waiting())
		CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
}

TEST(every_accepted_entry_completes_when_the_connection_ends)
{
	unsigned int i;

	link_open(&both);
	link_export(&both, KVERBS_REMOTE_WRITE);
	link_start(&both, KVERBS_OP_WRITE, WRITES);
	CHECK_OK(dev_disconnect(both.client.ring.fd, both.client.conn));
	for (i = 0; i < WRITES; i++) {
		struct kverbs_cqe cqe = ring_work(&both.client.ring, i);

		CHECK(!cqe.result || cqe.result == -EIO);
	}
	expect_end(&both.client, 0);
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
}

TEST(a_request_outlives_its_listener)
{
	link_request(&both);
	CHECK_OK(dev_destroy(both.server.ring.fd, both.listener));
	CHECK_OK(dev_accept(&both.server.ring, both.server.conn, NULL));
	CHECK_OK(ring_event(&both.client.ring, KVERBS_CQE_ESTABLISHED, 0).result);
}

TEST(after_DESTROY_of_a_listener_its_port_is_free)
{
	link_open(&both);
	CHECK_OK(dev_destroy(both.server.ring.fd, both.listener));
	CHECK(dev_listen(&both.server.ring, &both.addr));
}

TEST(close_with_twenty_connections_up)
{
	struct pair pair;
	uint32_t client, server;
	int i;

	pair_open(&pair);
	for (i = 0; i < 19; i++)
		pair_join(&pair, &client, &server);
	ring_unmap(&pair.ring);
	CHECK_EQ(close(pair.fd), 0);
}

TEST(charges_of_an_unprivileged_user_are_released_by_close_under_traffic)
{
	struct rlimit limit = { 2 * SIZE, 2 * SIZE };

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_EQ(chmod("/dev/kverbs", 0666), 0);
	CHECK_EQ(setuid(65534), 0);
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_WRITE);
	link_start(&both, KVERBS_OP_WRITE, WRITES);
	side_close(&both.server);
	side_close(&both.client);
	expect_nothing_pinned();
	link_open(&both);
}
