// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CMP_SWAP and FETCH_ADD: returned value, effect on memory, required rights. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

#define CLIENTS		8
#define ADDS_MAX	10000
#define ROUNDS_MAX	1000
#define IN_FLIGHT	8
#define ALL_RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)

static struct pair pair;
static struct buf counter, result;
static struct kverbs_segment seg;

static uint64_t *word(struct buf *buf, size_t i)
{
	return (uint64_t *)buf->addr + i;
}

static void set_up(uint32_t access)
{
	if (dev_is_iwarp())
		test_skip("iWARP has no atomics");
	pair_open(&pair);
	buf_open(&counter, pair.fd, BUF_ANON, PAGE);
	buf_open(&result, pair.fd, BUF_ANON, PAGE);
	buf_poison(&counter);
	buf_poison(&result);
	dev_export(pair.fd, pair.server, counter.region, 0, PAGE, access, &seg, NULL);
}

static struct kverbs_sqe atomic(uint8_t opcode, uint32_t conn, uint64_t operand,
				uint64_t swap)
{
	struct kverbs_sqe sqe = sqe_rdma(opcode, conn, result.region, 0, sizeof(uint64_t),
					 &seg);

	sqe.operand = operand;
	if (opcode == KVERBS_OP_CMP_SWAP)
		sqe.swap = swap;
	return sqe;
}

TEST(FETCH_ADD_adds_and_returns_what_was)
{
	struct kverbs_cqe cqe;

	set_up(KVERBS_REMOTE_ATOMIC);
	*word(&counter, 0) = UINT64_MAX - 1;
	cqe = ring_do(&pair.ring, atomic(KVERBS_OP_FETCH_ADD, pair.client, 5, 0));
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.byte_len, 8);
	CHECK_EQ(*word(&result, 0), UINT64_MAX - 1);
	CHECK_EQ(*word(&counter, 0), 3);
}

TEST(an_atomic_touches_its_8_bytes_only)
{
	struct kverbs_sqe sqe;
	struct buf poison;

	set_up(KVERBS_REMOTE_ATOMIC);
	buf_open(&poison, pair.fd, BUF_ANON, PAGE);
	buf_poison(&poison);
	sqe = atomic(KVERBS_OP_FETCH_ADD, pair.client, 0, 0);
	sqe.remote_addr += 128;
	sqe.offset = 256;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK(!memcmp(counter.addr, poison.addr, PAGE));
	CHECK_EQ(*word(&result, 32), *word(&poison, 16));
	*word(&result, 32) = *word(&poison, 32);
	CHECK(!memcmp(result.addr, poison.addr, PAGE));
}

TEST(CMP_SWAP_swaps_what_is_as_expected)
{
	set_up(KVERBS_REMOTE_ATOMIC);
	*word(&counter, 0) = 0x1122334455667788;
	CHECK_DONE(ring_do(&pair.ring, atomic(KVERBS_OP_CMP_SWAP, pair.client,
					      0x1122334455667788, 42)));
	CHECK_EQ(*word(&result, 0), 0x1122334455667788);
	CHECK_EQ(*word(&counter, 0), 42);
}

TEST(CMP_SWAP_leaves_what_is_not)
{
	set_up(KVERBS_REMOTE_ATOMIC);
	*word(&counter, 0) = 7;
	CHECK_DONE(ring_do(&pair.ring, atomic(KVERBS_OP_CMP_SWAP, pair.client, 8, 42)));
	CHECK_EQ(*word(&result, 0), 7);
	CHECK_EQ(*word(&counter, 0), 7);
}

TEST(an_atomic_on_an_export_for_WRITE_is_refused)
{
	set_up(KVERBS_REMOTE_WRITE);
	ring_check_refused(ring_do(&pair.ring, atomic(KVERBS_OP_FETCH_ADD, pair.client, 1, 0)));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
	buf_check_untouched(&counter);
	buf_check_untouched(&result);
}

TEST(a_WRITE_to_an_export_for_atomics_is_refused)
{
	struct kverbs_sqe sqe;

	set_up(KVERBS_REMOTE_ATOMIC);
	sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, result.region, 0, 8, &seg);
	ring_check_refused(ring_do(&pair.ring, sqe));
	buf_check_untouched(&counter);
}

static int try_export(uint32_t region, uint32_t room)
{
	struct kverbs_cmd_export cmd = { .size = sizeof(cmd) };

	cmd.conn_id = pair.server;
	cmd.region_id = region;
	cmd.access = KVERBS_REMOTE_ATOMIC;
	cmd.length = PAGE;
	cmd.inout_segs_len = room;
	cmd.segs_uptr = (uintptr_t)&seg;
	return dev_cmd(pair.fd, KVERBS_EXPORT, &cmd);
}

TEST(an_export_for_atomics_of_a_READ_ONLY_region_gives_EINVAL)
{
	struct buf sealed;

	pair_open(&pair);
	buf_open(&sealed, pair.fd, BUF_READ_ONLY, PAGE);
	CHECK_ERR(try_export(sealed.region, 1), EINVAL);
}

TEST(an_export_for_atomics_on_iWARP_gives_EOPNOTSUPP)
{
	if (!dev_is_iwarp())
		test_skip("not iWARP");
	pair_open(&pair);
	buf_open(&counter, pair.fd, BUF_ANON, PAGE);
	CHECK_ERR(try_export(counter.region, 1), EOPNOTSUPP);
	CHECK_ERR(try_export(counter.region, 0), EOPNOTSUPP);
}

/**
 * struct client - one of several clients that share the counter
 * @ring: its ring
 * @result: its buffer for previous values
 * @conn: its connection
 * @seg: export of the counter to this client
 * @done: values that it received, or rounds that it won
 * @next: number of values in @done
 */
struct client {
	struct ring ring;
	struct buf result;
	uint32_t conn;
	struct kverbs_segment seg;
	uint64_t *done;
	size_t next;
};

static struct client clients[CLIENTS];
static pthread_barrier_t round_start;
static size_t adds;
static uint64_t rounds;

/* Fewer iterations on the debug kernel, which is ten times slower. */
static size_t most(size_t number)
{
	return test_kernel_is("debug") ? number / 10 : number;
}

static void join(struct client *client)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .dst = pair.addr,
					  .timeout_ns = MS_TO_NS(test_patience_ms()) };
	uint32_t server;

	ring_open(&client->ring, pair.fd, 64, 256);
	buf_open(&client->result, pair.fd, BUF_ANON, PAGE);
	cmd.ring_id = client->ring.id;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	client->conn = cmd.out_id;
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&pair.ring, server, NULL));
	ring_event(&client->ring, KVERBS_CQE_ESTABLISHED, client->conn);
	ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, server);
	dev_export(pair.fd, server, counter.region, 0, PAGE, KVERBS_REMOTE_ATOMIC,
		   &client->seg, NULL);
	client->done = calloc(ADDS_MAX, sizeof(*client->done));
	CHECK(client->done);
}

static void share(void *(*run)(void *))
{
	pthread_t threads[CLIENTS];
	size_t i;

	set_up(KVERBS_REMOTE_ATOMIC);
	memset(counter.addr, 0, PAGE);
	pthread_barrier_init(&round_start, NULL, CLIENTS);
	for (i = 0; i < CLIENTS; i++)
		join(&clients[i]);
	for (i = 0; i < CLIENTS; i++)
		CHECK_OK(-pthread_create(&threads[i], NULL, run, &clients[i]));
	for (i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
}

static void push_add(struct client *client, size_t slot)
{
	struct kverbs_sqe sqe = sqe_rdma(KVERBS_OP_FETCH_ADD, client->conn,
					 client->result.region, slot * 8, 8, &client->seg);

	sqe.operand = 1;
	sqe.user_data = slot;
	ring_push(&client->ring, &sqe);
}

static void *add_all(void *arg)
{
	struct client *client = arg;
	size_t i;

	while (client->next < adds) {
		for (i = 0; i < IN_FLIGHT; i++)
			push_add(client, i);
		CHECK_OK(ring_submit(&client->ring, IN_FLIGHT, NULL));
		for (i = 0; i < IN_FLIGHT; i++)
			CHECK_DONE(ring_work(&client->ring, i));
		for (i = 0; i < IN_FLIGHT; i++)
			client->done[client->next++] = *word(&client->result, i);
	}
	return NULL;
}

TEST(eight_clients_that_FETCH_ADD_at_once_never_get_the_same_value)
{
	static unsigned char seen[CLIENTS * ADDS_MAX];
	size_t i, j;

	adds = most(ADDS_MAX);
	share(add_all);
	CHECK_EQ(*word(&counter, 0), CLIENTS * adds);
	for (i = 0; i < CLIENTS; i++) {
		CHECK_EQ(clients[i].next, adds);
		for (j = 0; j < adds; j++) {
			CHECK(clients[i].done[j] < CLIENTS * adds);
			CHECK_EQ(seen[clients[i].done[j]]++, 0);
		}
	}
	test_note("%d clients, %zu times each", CLIENTS, adds);
}

/* In round n the client that reads n writes n + 1. */
static void *compete(void *arg)
{
	struct client *client = arg;
	struct kverbs_sqe sqe;
	uint64_t round;

	for (round = 0; round < rounds; round++) {
		pthread_barrier_wait(&round_start);
		sqe = sqe_rdma(KVERBS_OP_CMP_SWAP, client->conn, client->result.region, 0, 0,
			       &client->seg);
		sqe.operand = round;
		sqe.swap = round + 1;
		CHECK_DONE(ring_do(&client->ring, sqe));
		client->done[round] = *word(&client->result, 0) == round;
	}
	return NULL;
}

TEST(CMP_SWAP_has_one_winner_a_round)
{
	uint64_t round, winners;
	size_t i;

	rounds = most(ROUNDS_MAX);
	share(compete);
	CHECK_EQ(*word(&counter, 0), rounds);
	for (round = 0; round < rounds; round++) {
		for (winners = 0, i = 0; i < CLIENTS; i++)
			winners += clients[i].done[round];
		CHECK_EQ(winners, 1);
	}
}
