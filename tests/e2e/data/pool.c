// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages into buffers of a receive pool. */
#include <string.h>

#include "buf.h"
#include "pool.h"

#define BUFS	16
#define SIZE	PAGE
#define DEPTH	4
#define ROUNDS	200
#define CONNS	2
#define MEMBERS	6

static struct pair pair;
static struct buf to, from;
static struct pool pool;

static void open_all(uint32_t entries, enum buf_kind kind)
{
	pair_open(&pair);
	buf_open(&to, pair.fd, kind, BUFS * SIZE);
	buf_open(&from, pair.fd, BUF_ANON, BUFS * SIZE);
	buf_fill(&from, 7);
	pool_open(&pool, pair.fd, entries);
}

static void add(uint16_t id)
{
	pool_add(&pool, to.region, id * SIZE, SIZE, id);
}

static void add_all(void)
{
	uint16_t id;

	for (id = 0; id < BUFS; id++)
		add(id);
}

static void send_to(uint32_t client, uint64_t offset, uint64_t length)
{
	struct kverbs_sqe sqe = sqe_send(client, from.region, offset, length);

	sqe.flags = 0;
	CHECK_OK(ring_put(&pair.ring, &sqe));
}

/* The next message, of any connection. */
static struct kverbs_cqe next_message(void)
{
	struct kverbs_cqe cqe = ring_work(&pair.ring, 0x5e7e);

	CHECK_DONE(cqe);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER | KVERBS_CQE_F_MORE);
	return cqe;
}

TEST(two_connections_share_a_pool_and_every_byte_arrives)
{
	uint32_t client[CONNS], server[CONNS], round, i;
	struct kverbs_cqe cqe;

	open_all(BUFS, BUF_SCATTERED);
	add_all();
	for (i = 0; i < CONNS; i++)
		pool_join(&pool, &pair, DEPTH, &client[i], &server[i]);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t length = 1 + round * 17 % (SIZE - 1);

		for (i = 0; i < CONNS; i++) {
			pool_await_posted(&pair.ring, server[i], DEPTH);
			send_to(client[i], round + i, length + i);
		}
		for (i = 0; i < CONNS; i++) {
			uint32_t from_offset;

			cqe = next_message();
			CHECK(cqe.id == server[0] || cqe.id == server[1]);
			from_offset = round + (cqe.id == server[1]);
			CHECK_EQ(cqe.byte_len, length + (cqe.id == server[1]));
			CHECK(!memcmp(to.addr + cqe.buf_id * SIZE, from.addr + from_offset,
				      cqe.byte_len));
			add(cqe.buf_id);
		}
		CHECK(!pool_is_waiting(&pool));
	}
}

/* Many messages in a row use more buffers than the pool has, each again and again. */
TEST(buffers_of_a_pool_are_used_again_without_a_system_call)
{
	uint32_t client, server, i, sent = 0;
	struct kverbs_cqe cqe;

	if (dev_is_iwarp())
		test_skip("the peer cannot know when a buffer is posted again");
	open_all(BUFS, BUF_ANON);
	add_all();
	pool_join(&pool, &pair, BUFS, &client, &server);
	for (i = 0; i < 20 * BUFS; i++) {
		for (; sent < 20 * BUFS && sent < i + BUFS / 2; sent++)
			send_to(client, 0, 1 + sent);
		cqe = next_message();
		CHECK_EQ(cqe.byte_len, 1 + i);
		add(cqe.buf_id);
		CHECK(!pool_is_waiting(&pool));
	}
}

TEST(a_message_waits_until_a_buffer_is_added)
{
	uint32_t client, server;

	if (dev_is_iwarp())
		test_skip("without a receive the connection ends on iWARP");
	open_all(BUFS, BUF_ANON);
	pool_join(&pool, &pair, DEPTH, &client, &server);
	CHECK(pool_is_waiting(&pool));
	send_to(client, 3, 100);
	add(5);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	CHECK_EQ(next_message().buf_id, 5);
	CHECK(!memcmp(to.addr + 5 * SIZE, from.addr + 3, 100));
}

TEST(a_long_message_arrives_in_a_buffer_of_many_pieces)
{
	uint32_t client, server;

	open_all(2, BUF_SCATTERED);
	pool_join(&pool, &pair, 1, &client, &server);
	pool_add(&pool, to.region, 1, BUFS * SIZE - 1, 9);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	pool_await_posted(&pair.ring, server, 1);
	/* A buffer that has to be registered is posted some time after it was taken. */
	if (dev_is_iwarp())
		test_skip("the peer cannot know when the buffer is posted");
	send_to(client, 0, BUFS * SIZE - 1);
	CHECK_EQ(next_message().byte_len, BUFS * SIZE - 1);
	CHECK(!memcmp(to.addr + 1, from.addr, BUFS * SIZE - 1));
}

TEST(a_WRITE_IMM_takes_a_buffer_and_leaves_it_as_it_is)
{
	struct kverbs_segment none = { 0 };
	uint32_t client, server;
	struct kverbs_sqe sqe;
	struct kverbs_cqe cqe;

	if (dev_is_iwarp())
		test_skip("iWARP has no immediate data");
	open_all(BUFS, BUF_ANON);
	buf_poison(&to);
	add(1);
	pool_join(&pool, &pair, DEPTH, &client, &server);
	sqe = sqe_rdma(KVERBS_OP_WRITE_IMM, client, 0, 0, 0, &none);
	sqe.imm = 0xabcd;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	cqe = ring_work(&pair.ring, 0x5e7e);
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.buf_id, 1);
	CHECK_EQ(cqe.imm, 0xabcd);
	CHECK(cqe.flags & KVERBS_CQE_F_WRITE && cqe.flags & KVERBS_CQE_F_BUFFER);
	buf_check_untouched(&to);
}

TEST(buffers_come_back_when_the_connection_ends)
{
	uint32_t client, server, i, seen = 0;
	struct kverbs_cqe cqe;

	open_all(BUFS, BUF_ANON);
	add_all();
	pool_join(&pool, &pair, DEPTH, &client, &server);
	CHECK_OK(dev_disconnect(pair.fd, client));
	for (i = 0; i < DEPTH; i++) {
		cqe = ring_work(&pair.ring, 0x5e7e);
		CHECK_EQ(cqe.result, -EIO);
		CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER);
		seen |= 1U << cqe.buf_id;
	}
	CHECK_EQ(seen, (1U << DEPTH) - 1);
	ring_end_of(&pair.ring, server);
	CHECK_OK(dev_destroy(pair.fd, to.region));
	CHECK_ERR(dev_destroy(pair.fd, pool.id), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, server));
	CHECK_OK(dev_destroy(pair.fd, pool.id));
}

/* ---- connections of a group ------------------------------------------------ */

/* A device that has shared receive queues posts all buffers for each of the connections. */
static bool is_shared(uint32_t server)
{
	return dev_query(pair.fd, server).out_rq_used > DEPTH;
}

static void join_group(uint32_t *client, uint32_t *server, uint32_t nr)
{
	uint32_t i;

	pair.group = dev_group(pair.fd);
	for (i = 0; i < nr; i++)
		pool_join(&pool, &pair, DEPTH, &client[i], &server[i]);
}

static void send_and_check(uint32_t client, uint32_t server, uint32_t offset, uint32_t length)
{
	struct kverbs_cqe cqe;

	send_to(client, offset, length);
	cqe = next_message();
	CHECK_EQ(cqe.id, server);
	CHECK_EQ(cqe.byte_len, length);
	CHECK(!memcmp(to.addr + cqe.buf_id * SIZE, from.addr + offset, length));
	add(cqe.buf_id);
}

TEST(connections_of_a_group_share_a_pool_and_every_byte_arrives)
{
	uint32_t client[CONNS], server[CONNS], round, i;

	open_all(BUFS, BUF_SCATTERED);
	add_all();
	join_group(client, server, CONNS);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < CONNS; i++) {
			if (dev_is_iwarp())
				pool_await_posted(&pair.ring, server[i], DEPTH);
			send_and_check(client[i], server[i], round + i,
				       1 + round * 17 % (SIZE - 1));
		}
}

TEST(a_pool_serves_more_connections_of_a_group_than_it_has_buffers)
{
	uint32_t client[MEMBERS], server[MEMBERS], round, i;

	if (dev_is_iwarp())
		test_skip("without a receive the connection ends on iWARP");
	open_all(BUFS, BUF_ANON);
	add(0);
	add(1);
	join_group(client, server, MEMBERS);
	for (round = 0; round < 20; round++)
		for (i = 0; i < MEMBERS; i++) {
			send_and_check(client[i], server[i], i, 1 + round);
			CHECK_OK(pool_wake(&pool, &pair.ring));
		}
}

TEST(idle_connections_of_a_group_hold_no_buffers)
{
	uint32_t client[MEMBERS], server[MEMBERS], i;

	open_all(BUFS, BUF_ANON);
	add_all();
	join_group(client, server, MEMBERS);
	if (!is_shared(server[0]))
		test_skip("the device fills the queue of each connection");
	for (i = 0; i < MEMBERS; i++)
		CHECK_EQ(dev_query(pair.fd, server[i]).out_rq_used, BUFS);
	CHECK_EQ(pool.kernel->head, BUFS);
	CHECK(!pool_is_waiting(&pool));
}

TEST(the_last_connection_of_a_group_returns_the_buffers)
{
	uint32_t client[CONNS], server[CONNS], i, seen = 0;
	struct kverbs_cqe cqe;

	open_all(BUFS, BUF_ANON);
	add_all();
	join_group(client, server, CONNS);
	if (!is_shared(server[0]))
		test_skip("the device fills the queue of each connection");
	CHECK_OK(dev_disconnect(pair.fd, client[0]));
	ring_end_of(&pair.ring, server[0]);
	send_to(client[1], 0, SIZE);
	seen |= 1U << next_message().buf_id;
	CHECK_OK(dev_disconnect(pair.fd, client[1]));
	for (i = 0; i < BUFS - 1; i++) {
		cqe = ring_work(&pair.ring, 0x5e7e);
		CHECK_EQ(cqe.result, -EIO);
		CHECK_EQ(cqe.id, server[1]);
		CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER);
		seen |= 1U << cqe.buf_id;
	}
	CHECK_EQ(seen, (1U << BUFS) - 1);
	ring_end_of(&pair.ring, server[1]);
	CHECK_OK(dev_destroy(pair.fd, server[0]));
	CHECK_OK(dev_destroy(pair.fd, server[1]));
	CHECK_OK(dev_destroy(pair.fd, pool.id));
	CHECK_OK(dev_destroy(pair.fd, to.region));
	CHECK_OK(dev_destroy(pair.fd, pair.group));
}
