// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device is removed in every possible way, and comes back. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"
#include "slow.h"

static struct link both;

static const char *driver(void)
{
	return dev_is_iwarp() ? "siw" : "rdma_rxe";
}

static void add_device(void)
{
	CHECK_OK(device_restore());
}

static void remove_link(void)
{
	CHECK(!test_shell("rdma link delete %s0", dev_provider()));
}

static void remove_netdev(void)
{
	CHECK(!test_shell("ip link delete dummy0"));
}

static void remove_driver(void)
{
	if (test_kernel_is("debug-7"))
		test_skip("with lockdep the sockets of rxe hold its module");
	CHECK(!test_shell("rmmod %s", driver()));
}

/* Ways to remove a device. */
static const struct way {
	const char *name;
	void (*remove)(void);
} ways[] = {
	{ "rdma link delete", remove_link },
	{ "ip link delete", remove_netdev },
	{ "rmmod of the driver", remove_driver },
};

/* Deleting a netdev only starts the removal. */
static void expect_removed(struct side *side, uint32_t id)
{
	struct kverbs_cqe cqe = ring_end_of(&side->ring, id);

	CHECK_EQ(cqe.result, -ENODEV);
	CHECK_EQ(cqe.type, KVERBS_CQE_DEVICE_REMOVED);
}

static void expect_all_removed(void)
{
	expect_removed(&both.client, both.client.conn);
	expect_removed(&both.server, both.server.conn);
	expect_removed(&both.server, both.listener);
	CHECK_EQ(dev_query(both.server.ring.fd, both.server.conn).out_state,
		 KVERBS_CONN_DEAD);
	CHECK_EQ(dev_query(both.server.ring.fd, both.server.conn).out_error, -ENODEV);
}

/*
 * Under traffic, work may fail before the device is removed; that failure then ends the connection.
 */
static void expect_all_ended(void)
{
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	expect_removed(&both.server, both.listener);
}

/* A removal may wait for all work, which takes long on kernels that check memory. */
static unsigned int in_flight(void)
{
	return test_kernel_is("debug") ? WRITES / 8 : WRITES;
}

static void set_up(void)
{
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	side_post_recvs(&both.server, 50);
	link_start(&both, KVERBS_OP_READ, in_flight());
}

/* The same file, ring and region serve the next connection. */
static void connect_again(void)
{
	struct side *client = &both.client, *server = &both.server;

	CHECK_OK(dev_destroy(client->ring.fd, client->conn));
	CHECK_OK(dev_destroy(server->ring.fd, server->conn));
	CHECK_OK(dev_destroy(server->ring.fd, both.listener));
	both.listener = dev_listen(&server->ring, &both.addr);
	client->conn = dev_connect(&client->ring, &both.addr);
	server->conn = ring_event(&server->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	side_post_recvs(server, 1);
	CHECK_OK(dev_accept(&server->ring, server->conn, NULL));
	CHECK_OK(ring_event(&client->ring, KVERBS_CQE_ESTABLISHED, client->conn).result);
	CHECK_DONE(ring_do(&client->ring, sqe_send(client->conn, client->region, 0, 64)));
}

static void removed_while_idle(const void *arg)
{
	const struct way *way = arg;

	link_open(&both);
	link_export(&both, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	side_post_recvs(&both.server, 50);
	way->remove();
	expect_all_removed();
	add_device();
	connect_again();
}

static void removed_under_traffic(const void *arg)
{
	const struct way *way = arg;
	unsigned int i;

	set_up();
	way->remove();
	expect_all_ended();
	for (i = 0; i < in_flight(); i++)
		ring_work(&both.client.ring, i);
	add_device();
	connect_again();
}

static void own_and_sleep(void)
{
	set_up();
	child_ready();
	expect_all_ended();
}

/* A debugger has stopped the task, so it cannot react before the removal has returned. */
static void removed_under_the_stopped(const void *arg)
{
	int status, pid = child_start(own_and_sleep);
	const struct way *way = arg;

	CHECK_EQ(kill(pid, SIGSTOP), 0);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	way->remove();
	add_device();
	CHECK_EQ(kill(pid, SIGCONT), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

TEST_GROUP(removals)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(name, sizeof(name), "%s while idle", ways[i].name);
		test_add(name, removed_while_idle, &ways[i]);
		snprintf(name, sizeof(name), "%s under traffic", ways[i].name);
		test_add(name, removed_under_traffic, &ways[i]);
		snprintf(name, sizeof(name), "%s while the owner is stopped", ways[i].name);
		test_add(name, removed_under_the_stopped, &ways[i]);
	}
}

TEST(rdma_link_delete_with_a_request_waiting)
{
	link_request(&both);
	remove_link();
	expect_removed(&both.server, both.server.conn);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	CHECK_ERR(dev_accept(&both.server.ring, both.server.conn, NULL), ENOTCONN);
	add_device();
}

TEST(DEVICE_QUERY_whose_answer_faults_does_not_keep_the_device)
{
	struct kverbs_cmd_device_query cmd = { .size = sizeof(cmd), .inout_ports_len = 1 };
	struct slow slow;

	slow_open(&slow);
	cmd.ports_uptr = (uintptr_t)slow.page;
	slow_start(&slow, dev_open(), KVERBS_DEVICE_QUERY, &cmd);
	remove_link();
	CHECK_ERR(slow_finish(&slow), EMSGSIZE);
	CHECK_EQ(cmd.inout_ports_len, 1);
	add_device();
}

TEST(without_a_device_CONNECT_fails_with_ENODEV)
{
	struct kverbs_addr addr = addr_of("a", 9);

	side_open(&both.client);
	remove_link();
	CHECK_EQ(ring_end_of(&both.client.ring, dev_connect(&both.client.ring, &addr)).result,
		 -ENODEV);
	add_device();
}

TEST(rmmod_kverbs_is_refused_while_it_is_open_and_clean_after)
{
	link_open(&both);
	CHECK(test_shell("rmmod kverbs 2>/dev/null"));
	side_close(&both.client);
	CHECK(test_shell("rmmod kverbs 2>/dev/null"));
	side_close(&both.server);
	test_shell("rmmod kverbs_bench 2>/dev/null");
	CHECK(!test_shell("rmmod kverbs"));
	CHECK(access("/dev/kverbs", F_OK));
	CHECK(!test_shell("insmod $KVERBS_MODULES/kmod/kverbs.ko"));
	link_open(&both);
}
