// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The network interface goes down and up again under full traffic. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "peer.h"

static struct link both;
static atomic_bool enough;
static int flows[2];

static void set_link(const char *how)
{
	CHECK(!test_shell("ip link set dummy0 %s", how));
}

/* An interface that goes down loses its IPv6 addresses: add the address again. */
static void set_up(void)
{
	set_link("up");
	CHECK(!test_shell("ip addr replace 2001:db8::1/64 dev dummy0 nodad"));
}

/* Submit WRITEs until the queue is full or the connection ends. */
static unsigned int start_writes(void)
{
	struct kverbs_sqe sqe = sqe_rdma(KVERBS_OP_WRITE, both.client.conn,
					 both.client.region, 0, SIZE, &both.seg);
	unsigned int nr;
	int ret = 0;

	for (nr = 0; nr < WRITES; nr++) {
		sqe.user_data = nr;
		ret = ring_put(&both.client.ring, &sqe);
		if (ret)
			break;
	}
	if (ret)
		CHECK_ERR(ret, ENOTCONN);
	return nr;
}

/* Returns true if all WRITEs succeeded; each accepted entry completes. */
static bool write_once(void)
{
	unsigned int nr = start_writes(), i;
	bool ok = nr == WRITES;
	struct kverbs_cqe cqe;

	for (i = 0; i < nr; i++) {
		cqe = ring_work(&both.client.ring, i);
		CHECK(!cqe.result || cqe.result == -EIO);
		ok = ok && !cqe.result;
	}
	return ok;
}

static bool is_up(const struct side *side)
{
	return dev_query(side->ring.fd, side->conn).out_state == KVERBS_CONN_ESTABLISHED;
}

/* Runs until the connection ends or the test stops the thread. */
static void *write_on(void *arg)
{
	while (!atomic_load(&enough) && is_up(&both.client) && write_once())
		CHECK_EQ(write(flows[1], "", 1), 1);
	close(flows[1]);
	return arg;
}

/* Returns false if the connection has ended. */
static bool await_flow(void)
{
	char byte;

	return read(flows[0], &byte, 1) == 1;
}

static void accept_with(const struct kverbs_conn_param *param)
{
	CHECK_OK(dev_accept(&both.server.ring, both.server.conn, param));
	CHECK_OK(ring_event(&both.client.ring, KVERBS_CQE_ESTABLISHED, 0).result);
	CHECK_OK(ring_event(&both.server.ring, KVERBS_CQE_ESTABLISHED, 0).result);
}

/* The passive side sends nothing: it needs keepalive to detect that the peer is gone. */
static pthread_t start_traffic(void)
{
	struct kverbs_conn_param param = { .keepalive_ns = MS_TO_NS(test_keepalive_ms()) };
	pthread_t thread;

	link_request(&both);
	accept_with(&param);
	link_export(&both, KVERBS_REMOTE_WRITE);
	side_post_recvs(&both.server, 50);
	CHECK_EQ(pipe(flows), 0);
	CHECK_EQ(pthread_create(&thread, NULL, write_on, NULL), 0);
	CHECK(await_flow());
	return thread;
}

static void stop_traffic(pthread_t thread)
{
	atomic_store(&enough, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* Either traffic continued, or both sides have reported the end. */
static void expect_up_or_ended(void)
{
	if (is_up(&both.client) && write_once())
		return;
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
}

/*
 * If the CM of rxe cannot send, QP 1 enters the error state and loses its receives for good: no
 * connection can be set up until the device has been created anew.
 */
static void remake_device(void)
{
	if (dev_is_iwarp())
		return;
	CHECK(!test_shell("rdma link delete rxe0"));
	CHECK_OK(device_restore());
}

static void listen_again(void)
{
	CHECK_OK(dev_destroy(both.server.ring.fd, both.listener));
	both.listener = dev_listen(&both.server.ring, &both.addr);
}

/* The same files, rings and regions serve the next connection. */
static void connect_again(void)
{
	struct side *client = &both.client, *server = &both.server;

	CHECK_OK(dev_destroy(client->ring.fd, client->conn));
	CHECK_OK(dev_destroy(server->ring.fd, server->conn));
	remake_device();
	listen_again();
	client->conn = dev_connect(&client->ring, &both.addr);
	server->conn = ring_event(&server->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	accept_with(NULL);
	link_export(&both, KVERBS_REMOTE_WRITE);
	CHECK(write_once());
}

TEST(down_and_up_at_once_under_traffic)
{
	pthread_t thread = start_traffic();
	int i;

	for (i = 0; i < test_repeats(5); i++) {
		set_link("down");
		set_up();
		await_flow();
	}
	stop_traffic(thread);
	expect_up_or_ended();
	connect_again();
}

/* Traffic of a host with itself may not use the interface at all. */
TEST(down_under_traffic_until_it_ends_or_goes_on_for_long)
{
	pthread_t thread = start_traffic();
	int i;

	set_link("down");
	for (i = 0; i < test_repeats(5) && await_flow(); i++)
		;
	set_up();
	stop_traffic(thread);
	expect_up_or_ended();
	connect_again();
}

TEST(close_under_traffic_while_the_interface_is_down)
{
	pthread_t thread = start_traffic();

	set_link("down");
	stop_traffic(thread);
	side_close(&both.client);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	side_close(&both.server);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	set_up();
	remake_device();
}

TEST(CONNECT_ends_while_the_interface_is_down)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .timeout_ns = MS_TO_NS(2000) };
	struct side *client = &both.client;

	link_open(&both);
	set_link("down");
	cmd.ring_id = client->ring.id;
	cmd.dst = both.addr;
	CHECK_OK(dev_cmd(client->ring.fd, KVERBS_CONNECT, &cmd));
	CHECK(ring_end_of(&client->ring, cmd.out_id).result);
	set_up();
	remake_device();
	CHECK_OK(dev_destroy(client->ring.fd, cmd.out_id));
}
