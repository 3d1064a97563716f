// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connection setup: how connections are established, and how setup fails. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"

/* Timeout of a CONNECT that is expected to time out */
#define TIMEOUT_MS	500

static struct pair pair;
static struct buf buf;

/* Set up a listener and a connection request that waits for an answer. */
static void set_up_request(const void *priv, uint32_t priv_len)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.user_data = 0xc11e,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.priv_uptr = (uintptr_t)priv,
		.priv_len = priv_len,
	};

	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	ring_open(&pair.ring, pair.fd, 64, 256);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	cmd.ring_id = pair.ring.id;
	cmd.dst = pair.addr;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	pair.client = cmd.out_id;
	pair.server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

static void await_both(void)
{
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, pair.client).result);
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, pair.server).result);
}

static void check_priv(uint32_t conn, const unsigned char *want, uint32_t len)
{
	unsigned char got[KVERBS_PRIV_ACCEPT_MAX + 1];
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.inout_priv_len = sizeof(got),
		.priv_uptr = (uintptr_t)got,
	};
	uint32_t i;

	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &cmd));
	CHECK(cmd.inout_priv_len >= len);
	CHECK(!memcmp(got, want, len));
	for (i = len; i < cmd.inout_priv_len; i++)
		CHECK_EQ(got[i], 0);
}

static void fill_bytes(unsigned char *bytes, size_t n, unsigned int seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		bytes[i] = 1 + (i * 7 + seed) % 255;
}

TEST(events_carry_the_user_data_of_who_made_the_object)
{
	struct kverbs_cqe cqe;

	set_up_request(NULL, 0);
	CHECK_OK(dev_accept(&pair.ring, pair.server, NULL));
	cqe = ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, pair.client);
	CHECK_EQ(cqe.user_data, 0xc11e);
	cqe = ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, pair.server);
	CHECK_EQ(cqe.user_data, 0x5e7e);
}

TEST(private_data_travels_both_ways)
{
	unsigned char there[KVERBS_PRIV_CONNECT_MAX], back[KVERBS_PRIV_ACCEPT_MAX];
	struct kverbs_cmd_accept accept = { .size = sizeof(accept),
					    .timeout_ns = MS_TO_NS(test_patience_ms()) };

	fill_bytes(there, sizeof(there), 1);
	fill_bytes(back, sizeof(back), 2);
	set_up_request(there, sizeof(there));
	check_priv(pair.server, there, sizeof(there));
	accept.conn_id = pair.server;
	accept.priv_uptr = (uintptr_t)back;
	accept.priv_len = sizeof(back);
	CHECK_OK(dev_cmd(pair.fd, KVERBS_ACCEPT, &accept));
	await_both();
	check_priv(pair.client, back, sizeof(back));
	check_priv(pair.server, there, sizeof(there));
}

TEST(CONN_QUERY_with_too_little_room_for_private_data_gives_EMSGSIZE)
{
	unsigned char there[8], got[4];
	struct kverbs_cmd_conn_query cmd = { .size = sizeof(cmd), .inout_priv_len = sizeof(got),
					     .priv_uptr = (uintptr_t)got };

	fill_bytes(there, sizeof(there), 1);
	set_up_request(there, sizeof(there));
	cmd.conn_id = pair.server;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &cmd), EMSGSIZE);
	CHECK(cmd.inout_priv_len >= sizeof(there));
	CHECK_EQ(cmd.out_state, KVERBS_CONN_REQUESTED);
	cmd.inout_priv_len = sizeof(got);
	cmd.priv_uptr = 8;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &cmd), EFAULT);
}

TEST(REJECT_carries_private_data_and_a_reason)
{
	struct kverbs_cmd_reject reject = { .size = sizeof(reject) };
	unsigned char why[KVERBS_PRIV_REJECT_MAX];
	struct kverbs_cqe cqe;

	fill_bytes(why, sizeof(why), 3);
	set_up_request(NULL, 0);
	reject.conn_id = pair.server;
	reject.priv_uptr = (uintptr_t)why;
	reject.priv_len = sizeof(why);
	CHECK_OK(dev_cmd(pair.fd, KVERBS_REJECT, &reject));
	cqe = ring_end_of(&pair.ring, pair.client);
	CHECK_EQ(cqe.type, KVERBS_CQE_REJECTED);
	CHECK_EQ(cqe.result, -ECONNREFUSED);
	CHECK(cqe.imm);
	check_priv(pair.client, why, sizeof(why));
	cqe = ring_end_of(&pair.ring, pair.server);
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK_EQ(cqe.result, -ECANCELED);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_DEAD);
}

TEST(DESTROY_of_a_request_refuses_it)
{
	struct kverbs_cqe cqe;

	set_up_request(NULL, 0);
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	cqe = ring_end_of(&pair.ring, pair.client);
	CHECK(cqe.type == KVERBS_CQE_REJECTED || cqe.type == KVERBS_CQE_FAILED);
	CHECK(cqe.result == -ECONNREFUSED || cqe.result == -ECONNRESET);
}

/* The refusal must end the CONNECT: its own timeout would expire after days. */
TEST(a_port_on_which_nobody_listens_refuses)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .timeout_ns = MS_TO_NS(INT32_MAX),
					  .dst = addr_of("a", 9) };
	struct kverbs_cqe cqe;
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	cmd.ring_id = ring.id;
	CHECK_OK(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd));
	cqe = ring_end_of(&ring, cmd.out_id);
	CHECK_EQ(cqe.result, -ECONNREFUSED);
	CHECK_EQ(cqe.type, dev_is_iwarp() ? KVERBS_CQE_FAILED : KVERBS_CQE_REJECTED);
}

TEST(an_address_without_a_route_fails)
{
	struct kverbs_addr far = { .family = AF_INET, .port = htons(9),
				   .addr = { 203, 0, 113, 1 } };
	static struct ring ring;
	struct kverbs_cqe cqe;

	ring_open(&ring, dev_open(), 8, 32);
	cqe = ring_end_of(&ring, dev_connect(&ring, &far));
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK(cqe.result == -ENETUNREACH || cqe.result == -EHOSTUNREACH);
}

TEST(an_address_on_no_RDMA_device_fails)
{
	struct kverbs_addr home = { .family = AF_INET, .port = htons(9),
				    .addr = { 127, 0, 0, 1 } };
	static struct ring ring;
	struct kverbs_cqe cqe;

	ring_open(&ring, dev_open(), 8, 32);
	cqe = ring_end_of(&ring, dev_connect(&ring, &home));
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK_EQ(cqe.result, dev_is_iwarp() ? -EINVAL : -ENODEV);
}

TEST(a_listener_that_does_not_answer_costs_the_timeout)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .timeout_ns = MS_TO_NS(TIMEOUT_MS) };
	struct kverbs_cqe cqe;
	long long start;

	set_up_request(NULL, 0);
	start = test_tick_ms();
	cmd.ring_id = pair.ring.id;
	cmd.dst = pair.addr;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	cqe = ring_end_of(&pair.ring, cmd.out_id);
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK_EQ(cqe.result, -ETIMEDOUT);
	CHECK(test_tick_ms() - start >= TIMEOUT_MS - 1);
}

TEST(a_host_that_is_not_there_costs_the_timeout)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .timeout_ns = MS_TO_NS(TIMEOUT_MS),
					  .dst = { .family = AF_INET, .port = htons(9),
						   .addr = { 192, 0, 2, 77 } } };
	long long start = test_tick_ms();
	static struct ring ring;
	struct kverbs_cqe cqe;

	ring_open(&ring, dev_open(), 8, 32);
	cmd.ring_id = ring.id;
	CHECK_OK(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd));
	cqe = ring_end_of(&ring, cmd.out_id);
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK_EQ(cqe.result, -ETIMEDOUT);
	CHECK_OK(dev_destroy(ring.fd, cmd.out_id));
	CHECK(test_tick_ms() - start >= TIMEOUT_MS - 1);
}

TEST(the_peers_DISCONNECT_shows_as_ECONNRESET)
{
	struct kverbs_cqe cqe;

	pair_open(&pair);
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	cqe = ring_end_of(&pair.ring, pair.client);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, 0);
	cqe = ring_end_of(&pair.ring, pair.server);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, -ECONNRESET);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_DEAD);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_error, -ECONNRESET);
}

TEST(nothing_of_a_connection_comes_after_its_end)
{
	struct kverbs_cqe cqe;
	struct kverbs_sqe sqe;
	int i;

	pair_open(&pair);
	for (i = 0; i < 10; i++) {
		sqe = sqe_recv(pair.server, 0, 0, 0);
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	for (i = 0; i < 10; ) {
		cqe = ring_next(&pair.ring);
		if (cqe.id != pair.server)
			continue;
		CHECK_EQ(cqe.type, KVERBS_CQE_WORK);
		CHECK_EQ(cqe.result, -EIO);
		i++;
	}
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).type, KVERBS_CQE_DISCONNECTED);
}

TEST(receives_submitted_before_ACCEPT_and_ESTABLISHED_take_the_first_messages)
{
	struct kverbs_sqe sqe;

	set_up_request(NULL, 0);
	buf_open(&buf, pair.fd, BUF_ANON, 4 * PAGE);
	sqe = sqe_recv(pair.client, buf.region, 0, 100);
	sqe.user_data = 1;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_recv(pair.server, buf.region, PAGE, 100);
	sqe.user_data = 2;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_OK(dev_accept(&pair.ring, pair.server, NULL));
	await_both();
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, buf.region, 2 * PAGE, 100)));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.server, buf.region, 3 * PAGE, 100)));
	CHECK_DONE(ring_work(&pair.ring, 1));
	CHECK_DONE(ring_work(&pair.ring, 2));
	CHECK(!memcmp(buf.addr, buf.addr + 3 * PAGE, 100));
	CHECK(!memcmp(buf.addr + PAGE, buf.addr + 2 * PAGE, 100));
}

TEST(ACCEPT_on_another_ring_moves_the_connection_there)
{
	static struct ring other;
	struct kverbs_sqe sqe;

	set_up_request(NULL, 0);
	ring_open(&other, pair.fd, 8, 32);
	sqe = sqe_recv(pair.server, 0, 0, 0);
	sqe.user_data = 3;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_OK(dev_accept(&other, pair.server, NULL));
	CHECK_OK(ring_event(&other, KVERBS_CQE_ESTABLISHED, pair.server).result);
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, pair.client).result);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
	sqe.user_data = 4;
	CHECK_OK(ring_put(&other, &sqe));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, 0, 0, 0)));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, 0, 0, 0)));
	CHECK_DONE(ring_work(&other, 4));
	CHECK_DONE(ring_work(&pair.ring, 3));
}

/* Returns the next final event of any connection. */
static struct kverbs_cqe next_end(struct ring *ring)
{
	struct kverbs_cqe cqe;

	do {
		cqe = ring_next(ring);
	} while (cqe.type < KVERBS_CQE_DISCONNECTED);
	return cqe;
}

TEST(a_listener_keeps_no_more_requests_waiting_than_its_backlog)
{
	struct kverbs_cmd_listen listen = { .size = sizeof(listen), .backlog = 2 };
	uint32_t conns[3], first, i;
	struct kverbs_cqe cqe;
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 64);
	listen.ring_id = ring.id;
	listen.inout_addr = addr_of("a", 0);
	CHECK_OK(dev_cmd(ring.fd, KVERBS_LISTEN, &listen));
	for (i = 0; i < 2; i++)
		conns[i] = dev_connect(&ring, &listen.inout_addr);
	first = ring_event(&ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	ring_event(&ring, KVERBS_CQE_CONN_REQUEST, 0);
	conns[2] = dev_connect(&ring, &listen.inout_addr);
	CHECK(ring_end_of(&ring, conns[2]).result);
	CHECK_OK(dev_destroy(ring.fd, first));
	cqe = next_end(&ring);
	CHECK(cqe.result);
	CHECK(cqe.id == conns[0] || cqe.id == conns[1]);
	conns[2] = dev_connect(&ring, &listen.inout_addr);
	CHECK(ring_event(&ring, KVERBS_CQE_CONN_REQUEST, 0).id);
}

static void check_query(const struct kverbs_cmd_conn_query *got,
			const struct kverbs_conn_param *param)
{
	CHECK_EQ(got->out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_EQ(got->out_error, 0);
	CHECK_EQ(got->out_port, 1);
	CHECK_EQ(got->out_transport, dev_is_iwarp() ? KVERBS_TRANSPORT_IWARP :
		 KVERBS_TRANSPORT_ROCE);
	CHECK_EQ(got->out_sq_depth, param->sq_depth);
	CHECK_EQ(got->out_rq_depth, param->rq_depth);
	CHECK_EQ(got->out_max_sge, param->max_sge);
	CHECK_EQ(got->out_max_read, param->max_read);
	CHECK(got->out_max_msg >= PAGE);
	CHECK(got->out_max_segment >= 256 * PAGE);
	if (!dev_is_iwarp())
		CHECK_EQ(got->out_mtu, 4096);
}

TEST(CONN_QUERY_tells_what_a_connection_is_made_of)
{
	struct kverbs_conn_param param = { .sq_depth = 33, .rq_depth = 44, .max_sge = 3,
					   .max_read = 5 };
	struct kverbs_cmd_conn_query client, server;

	pair_open_with(&pair, &param, 256);
	client = dev_query(pair.fd, pair.client);
	server = dev_query(pair.fd, pair.server);
	check_query(&client, &param);
	check_query(&server, &param);
	CHECK(!memcmp(&client.out_remote, &pair.addr, sizeof(pair.addr)));
	CHECK(!memcmp(&client.out_local, &server.out_remote, sizeof(pair.addr)));
	CHECK(!memcmp(&client.out_remote, &server.out_local, sizeof(pair.addr)));
	CHECK_EQ(client.out_device_index, server.out_device_index);
}

TEST(CONN_QUERY_tells_no_more_READs_than_the_peer_answers)
{
	struct kverbs_conn_param few = { .max_read = 3 };

	if (dev_is_iwarp())
		test_skip("drivers differ in what they say of it");
	set_up_request(NULL, 0);
	CHECK_OK(dev_accept(&pair.ring, pair.server, &few));
	await_both();
	CHECK_EQ(dev_query(pair.fd, pair.server).out_max_read, 3);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_max_read, 3);
}

TEST(CONN_QUERY_tells_who_asked_what_took_how_long)
{
	struct kverbs_cmd_conn_query client, server;

	pair_open(&pair);
	client = dev_query(pair.fd, pair.client);
	server = dev_query(pair.fd, pair.server);
	CHECK(client.out_addr_ns > 0);
	CHECK(client.out_route_ns > client.out_addr_ns);
	CHECK(client.out_qp_ns > client.out_route_ns);
	CHECK(client.out_up_ns > client.out_qp_ns);
	CHECK_EQ(server.out_addr_ns, 0);
	CHECK_EQ(server.out_route_ns, 0);
	CHECK_EQ(server.out_qp_ns, 0);
	CHECK_EQ(server.out_up_ns, 0);
}

TEST(CONN_QUERY_counts)
{
	struct kverbs_cmd_conn_query query;
	struct kverbs_sqe sqe;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_ANON, PAGE);
	sqe = sqe_recv(pair.server, buf.region, 0, 1000);
	sqe.user_data = 1;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_EQ(dev_query(pair.fd, pair.server).out_rq_used, 1);
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, buf.region, 2000, 700)));
	CHECK_DONE(ring_work(&pair.ring, 1));
	query = dev_query(pair.fd, pair.client);
	CHECK_EQ(query.out_ops, 1);
	CHECK_EQ(query.out_bytes_out, 700);
	CHECK_EQ(query.out_bytes_in, 0);
	CHECK_EQ(query.out_sq_used, 0);
	query = dev_query(pair.fd, pair.server);
	CHECK_EQ(query.out_ops, 1);
	CHECK_EQ(query.out_bytes_in, 700);
	CHECK_EQ(query.out_rq_used, 0);
	CHECK_EQ(query.out_errors, 0);
}

TEST(CONN_QUERY_before_the_device_is_known_says_so)
{
	struct kverbs_addr far = { .family = AF_INET, .port = htons(9),
				   .addr = { 192, 0, 2, 77 } };
	struct kverbs_cmd_conn_query query;
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	query = dev_query(ring.fd, dev_connect(&ring, &far));
	if (query.out_state == KVERBS_CONN_CONNECTING && !query.out_port)
		CHECK_EQ(query.out_device_index, UINT32_MAX);
	CHECK_EQ(query.out_mtu, 0);
}

TEST(depths_beyond_the_device_end_the_connection_with_EINVAL)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), CONN_PARAM(.max_sge = 1000) };
	struct kverbs_cqe cqe;
	int ret;

	set_up_request(NULL, 0);
	cmd.ring_id = pair.ring.id;
	cmd.dst = pair.addr;
	ret = dev_cmd(pair.fd, KVERBS_CONNECT, &cmd);
	if (ret) {
		CHECK_ERR(ret, EINVAL);
		return;
	}
	cqe = ring_end_of(&pair.ring, cmd.out_id);
	CHECK_EQ(cqe.type, KVERBS_CQE_FAILED);
	CHECK_EQ(cqe.result, -EINVAL);
}

TEST(IPv6_works_as_IPv4_does)
{
	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a6", 0) };
	ring_open(&pair.ring, pair.fd, 64, 256);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	CHECK_EQ(pair.addr.family, AF_INET6);
	pair_join(&pair, &pair.client, &pair.server);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_remote.family, AF_INET6);
}

TEST(a_source_address_and_port_are_used)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd),
					  .timeout_ns = MS_TO_NS(test_patience_ms()) };
	struct kverbs_addr source = addr_of("a", 5555);

	set_up_request(NULL, 0);
	cmd.ring_id = pair.ring.id;
	cmd.dst = pair.addr;
	cmd.src = source;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	pair.server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	source = dev_query(pair.fd, pair.server).out_remote;
	CHECK_EQ(ntohs(source.port), 5555);
}

TEST(a_source_address_that_is_not_ours_gives_EADDRNOTAVAIL)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd) };

	set_up_request(NULL, 0);
	cmd.ring_id = pair.ring.id;
	cmd.dst = pair.addr;
	cmd.src = pair.addr;
	cmd.src.port = 0;
	cmd.src.addr[3] = 77;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd), EADDRNOTAVAIL);
}
