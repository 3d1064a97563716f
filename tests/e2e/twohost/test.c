// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* On host b: the peer on host a dies, or the wire is cut. */
#include <string.h>

#include <kverbs.h>

#include "dev.h"

#define PORT		7000
#define WC_RETRY_EXC	12

static char memory[4096] __aligned(4096);
static struct ring ring;
static uint32_t conn, region;

/* While the server restarts, no listener exists. */
static void connect_to_a(const struct kverbs_conn_param *param)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .dst = addr_of("a", PORT),
					  .param_uptr = (uintptr_t)param,
					  .param_size = sizeof(*param),
					  .timeout_ns = MS_TO_NS(test_patience_ms()) };
	long long end = test_now_ms() + test_patience_ms();
	struct kverbs_cqe cqe;

	ring_open(&ring, dev_open(), 64, 256);
	region = dev_region(ring.fd, memory, sizeof(memory), 0);
	cmd.ring_id = ring.id;
	do {
		CHECK(test_now_ms() < end);
		CHECK_OK(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd));
		cqe = ring_next(&ring);
	} while (cqe.result == -ECONNREFUSED);
	CHECK_EQ(cqe.type, KVERBS_CQE_ESTABLISHED);
	conn = cmd.out_id;
}

static void post_recvs(void)
{
	struct kverbs_sqe sqe = sqe_recv(conn, region, 1024, 64);
	int i;

	for (i = 0; i < 20; i++) {
		sqe.user_data = i;
		CHECK_OK(ring_put(&ring, &sqe));
	}
}

static void expect_flushed(void)
{
	int i;

	for (i = 0; i < 20; i++)
		CHECK_EQ(ring_work(&ring, i).result, -EIO);
}

TEST(a_peer_killed_on_another_host_ends_the_connection)
{
	struct kverbs_conn_param param = { 0 };
	struct kverbs_cqe cqe;
	struct kverbs_sqe sqe;

	connect_to_a(&param);
	post_recvs();
	strcpy(memory, "die");
	sqe = sqe_send(conn, region, 0, 64);
	sqe.flags = 0;
	CHECK_OK(ring_put(&ring, &sqe));
	cqe = ring_end_of(&ring, conn);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	/* siw may instead report that the data it was about to send failed. */
	if (!dev_is_iwarp() || cqe.result != -EIO)
		CHECK_EQ(cqe.result, -ECONNRESET);
	expect_flushed();
	CHECK_OK(dev_destroy(ring.fd, conn));
	CHECK_OK(dev_destroy(ring.fd, region));
}

/* The peer leaves after the eighth message, perhaps before its SEND has completed here. */
TEST(messages_to_another_host_arrive)
{
	struct kverbs_conn_param param = { 0 };
	struct kverbs_sqe sqe;
	int i;

	connect_to_a(&param);
	for (i = 0; i < 7; i++)
		CHECK_DONE(ring_do(&ring, sqe_send(conn, region, 0, 64)));
	sqe = sqe_send(conn, region, 0, 64);
	sqe.flags = 0;
	CHECK_OK(ring_put(&ring, &sqe));
	CHECK_EQ(ring_end_of(&ring, conn).result, -ECONNRESET);
}

static const char our_wire[] = "$(ip -o addr | awk '/192.0.2.2/ { print $2 }')";

static void cut_wire(void)
{
	CHECK(!test_shell("tc qdisc add dev %s root netem loss 100%%", our_wire));
}

static void mend_wire(void)
{
	CHECK(!test_shell("tc qdisc del dev %s root", our_wire));
}

static struct kverbs_conn *connect_by_library(struct kverbs *kv)
{
	long long end = test_now_ms() + test_patience_ms();
	struct kverbs_conn *conn = NULL;
	int ret;

	do {
		CHECK(test_now_ms() < end);
		ret = kverbs_connect(kv, "a", "7000", NULL, &conn);
	} while (ret == -ECONNREFUSED);
	CHECK_OK(ret);
	return conn;
}

static void borrow(struct kverbs_conn *conn, struct kverbs_buf *buf, struct kverbs_token *token)
{
	char *mem = kverbs_buf_addr(buf);
	struct kverbs_req recv = { 0 }, req = { 0 };

	CHECK_OK(kverbs_recv(conn, buf, 0, 1024, &recv));
	strcpy(mem + 1024, "lend");
	CHECK_OK(kverbs_send(conn, buf, 1024, 64, &req));
	CHECK_OK(kverbs_wait(&req, -1));
	CHECK_OK(kverbs_wait(&recv, -1));
	CHECK(kverbs_token_unpack(token, mem, recv.byte_len) > 0);
}

/* The packets of this host arrive so late that rxe sends them again before. */
static void slow_wire(void)
{
	CHECK(!test_shell("tc qdisc add dev %s root netem delay 1500ms", our_wire));
}

/* The peer has handled what arrives twice when it answers the last READ. */
TEST(a_READ_that_arrives_again_after_a_WRITE_without_data_ends_no_connection)
{
	struct kverbs_req reqs[3] = { 0 };
	struct kverbs_token token;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;
	const char *mem;
	int i;

	CHECK_OK(kverbs_open(&kv, NULL));
	CHECK_OK(kverbs_buf_alloc(kv, 4096, &buf));
	mem = kverbs_buf_addr(buf);
	conn = connect_by_library(kv);
	borrow(conn, buf, &token);
	slow_wire();
	CHECK_OK(kverbs_read(conn, buf, 2048, 1024, &token, 0, &reqs[0]));
	CHECK_OK(kverbs_write(conn, NULL, 0, 0, &token, 0, &reqs[1]));
	for (i = 0; i < 2; i++)
		CHECK_OK(kverbs_wait(&reqs[i], -1));
	CHECK_OK(kverbs_read(conn, buf, 3072, 1024, &token, 1024, &reqs[2]));
	CHECK_OK(kverbs_wait(&reqs[2], -1));
	mend_wire();
	for (i = 2048; i < 4096; i++)
		CHECK_EQ(mem[i], 'l');
	kverbs_token_free(&token);
	kverbs_conn_free(conn);
	kverbs_close(kv);
}

TEST(with_keepalive_an_idle_connection_stays_up_as_long_as_the_peer_does)
{
	struct kverbs_conn_param param = { .keepalive_ns = MS_TO_NS(test_keepalive_ms()) };

	connect_to_a(&param);
	/* Idle for three keepalive intervals; a dead peer would be detected in the second one. */
	CHECK_OK(ring_wait(&ring, 1, 3 * test_keepalive_ms()));
	CHECK_EQ(ring_unread(&ring), 0);
	CHECK_DONE(ring_do(&ring, sqe_send(conn, region, 0, 64)));
}

/*
 * Only what this host sends is lost. Its probes must fail before those of the server, which
 * would disconnect: that arrives.
 */
TEST(with_keepalive_an_idle_connection_ends_with_its_peer)
{
	struct kverbs_conn_param param = { .keepalive_ns = MS_TO_NS(test_keepalive_ms() / 4) };
	struct kverbs_cqe cqe;

	connect_to_a(&param);
	cut_wire();
	cqe = ring_end_of(&ring, conn);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, -ETIMEDOUT);
	mend_wire();
}

/* This is the last test: the wire stays cut. */
TEST(a_wire_that_is_cut_ends_the_connection_with_ETIMEDOUT)
{
	struct kverbs_conn_param param = {
		.valid = KVERBS_PARAM_RETRY | KVERBS_PARAM_ACK_TIMEOUT,
		.retry = 2,
		.ack_timeout = 14,
	};
	struct kverbs_cqe cqe;

	/* TCP accepts data and retransmits it for a long time. */
	if (dev_is_iwarp())
		param.keepalive_ns = MS_TO_NS(test_keepalive_ms());
	connect_to_a(&param);
	cut_wire();
	cqe = ring_do(&ring, sqe_send(conn, region, 0, 64));
	CHECK_EQ(cqe.result, dev_is_iwarp() ? 0 : -EIO);
	CHECK_EQ(cqe.wc_status, dev_is_iwarp() ? 0 : WC_RETRY_EXC);
	cqe = ring_end_of(&ring, conn);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, -ETIMEDOUT);
}
