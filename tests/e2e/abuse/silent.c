// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A peer that never posts a receive. */
#include <unistd.h>

#include "peer.h"

#define WC_RNR_RETRY_EXC	13
#define ENDLESS			7
#define MESSAGES		100

static struct link both;

/* The receiver's rnr_retry determines how often the sender retries. */
static void open_to_silent(uint8_t rnr_retry, uint16_t keepalive_ms)
{
	struct kverbs_conn_param param = {
		.valid = KVERBS_PARAM_RNR_RETRY,
		.rnr_retry = rnr_retry,
	};
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		CONN_PARAM(.keepalive_ns = MS_TO_NS(keepalive_ms)),
		.timeout_ns = MS_TO_NS(test_patience_ms()),
	};

	both = (struct link){ .addr = addr_of("a", 0) };
	side_open(&both.client);
	side_open(&both.server);
	both.listener = dev_listen(&both.server.ring, &both.addr);
	cmd.ring_id = both.client.ring.id;
	cmd.dst = both.addr;
	CHECK_OK(dev_cmd(both.client.ring.fd, KVERBS_CONNECT, &cmd));
	both.client.conn = cmd.out_id;
	both.server.conn = ring_event(&both.server.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&both.server.ring, both.server.conn, &param));
	CHECK_OK(ring_event(&both.client.ring, KVERBS_CQE_ESTABLISHED, 0).result);
	CHECK_OK(ring_event(&both.server.ring, KVERBS_CQE_ESTABLISHED, 0).result);
}

/* Returns the number of accepted entries: the first one may already end the connection. */
static unsigned int send_some(void)
{
	struct kverbs_sqe sqe = sqe_send(both.client.conn, both.client.region, 0, 64);
	unsigned int i;
	int ret;

	for (i = 0; i < MESSAGES; i++) {
		sqe.user_data = i;
		ret = ring_put(&both.client.ring, &sqe);
		if (ret) {
			CHECK_ERR(ret, ENOTCONN);
			break;
		}
	}
	CHECK(i);
	return i;
}

static void expect_end(struct side *side, int result)
{
	struct kverbs_cqe cqe = ring_end_of(&side->ring, side->conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_ERR(cqe.result, -result);
}

static void expect_complete(unsigned int first, unsigned int nr)
{
	struct kverbs_cqe cqe;
	unsigned int i;

	for (i = first; i < nr; i++) {
		cqe = ring_work(&both.client.ring, i);
		CHECK(!cqe.result || cqe.result == -EIO);
	}
}

/* iWARP has no RNR retries: the receiver ends the connection. */
TEST(messages_without_a_posted_receive_end_the_connection)
{
	unsigned int sent;
	struct kverbs_cqe cqe;

	open_to_silent(3, 0);
	sent = send_some();
	cqe = ring_work(&both.client.ring, 0);
	if (!dev_is_iwarp()) {
		CHECK_ERR(cqe.result, EIO);
		CHECK_EQ(cqe.wc_status, WC_RNR_RETRY_EXC);
	}
	cqe = ring_end_of(&both.client.ring, both.client.conn);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	if (!dev_is_iwarp())
		CHECK_ERR(cqe.result, ETIMEDOUT);
	else
		CHECK(cqe.result == -EIO || cqe.result == -ECONNRESET);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	expect_complete(1, sent);
}

static void endless_retries_wait_for_the_receive(const void *arg)
{
	unsigned int sent;

	(void)arg;
	open_to_silent(ENDLESS, 0);
	sent = send_some();
	/* This is longer than any finite number of retries lasts. */
	CHECK_OK(ring_wait(&both.client.ring, 1, 1000));
	CHECK_EQ(ring_unread(&both.client.ring), 0);
	side_post_recvs(&both.server, MESSAGES);
	expect_complete(0, sent);
}

static void keepalive_ends_endless_retries(const void *arg)
{
	unsigned int sent;

	(void)arg;
	open_to_silent(ENDLESS, test_keepalive_ms());
	sent = send_some();
	expect_end(&both.client, -ETIMEDOUT);
	expect_end(&both.server, -ECONNRESET);
	expect_complete(0, sent);
}

TEST_GROUP(endless_retries)
{
	if (dev_is_iwarp())
		return;
	test_add("messages with unlimited retries wait for the receive",
		 endless_retries_wait_for_the_receive, NULL);
	test_add("keepalive ends a connection whose messages are retried without limit",
		 keepalive_ends_endless_retries, NULL);
}

TEST(close_does_not_wait_for_messages_without_a_posted_receive)
{
	open_to_silent(ENDLESS, 0);
	send_some();
	side_close(&both.client);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	side_close(&both.server);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

TEST(close_of_a_silent_peer_ends_the_sender)
{
	unsigned int sent;

	open_to_silent(ENDLESS, 0);
	sent = send_some();
	side_close(&both.server);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
	expect_complete(0, sent);
	side_close(&both.client);
}

static void send_in_vain(void)
{
	open_to_silent(ENDLESS, 0);
	send_some();
	child_ready();
	pause();
}

TEST(SIGKILL_does_not_wait_for_messages_without_a_posted_receive)
{
	int pid = child_start(send_in_vain);

	child_kill(pid);
}
