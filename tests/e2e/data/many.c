// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Many connections, rings and threads at a time. */
#include <pthread.h>
#include <string.h>

#include "buf.h"

#define CONNS	50
#define THREADS	4
#define ROUNDS	50

static struct pair pair;
static struct buf buf;

TEST(fifty_connections_to_one_listener_carry_their_own_messages)
{
	uint32_t clients[CONNS], servers[CONNS], i;
	struct kverbs_sqe sqe;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_ANON, 2 * PAGE);
	for (i = 0; i < CONNS; i++)
		pair_join(&pair, &clients[i], &servers[i]);
	for (i = 0; i < CONNS; i++) {
		sqe = sqe_recv(servers[i], buf.region, 16 * i, 16);
		sqe.user_data = i;
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	for (i = 0; i < CONNS; i++) {
		sqe = sqe_send(clients[i], buf.region, PAGE + 16 * i, 16);
		sqe.flags = 0;
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	for (i = 0; i < CONNS; i++)
		CHECK_EQ(ring_work(&pair.ring, i).id, servers[i]);
	CHECK(!memcmp(buf.addr, buf.addr + PAGE, 16 * CONNS));
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
	for (i = 0; i < CONNS; i++) {
		CHECK_OK(dev_destroy(pair.fd, clients[i]));
		CHECK_OK(dev_destroy(pair.fd, servers[i]));
	}
}

TEST(fifty_connections_may_be_asked_for_at_once)
{
	uint32_t clients[CONNS], i;

	pair_open(&pair);
	for (i = 0; i < CONNS; i++)
		clients[i] = dev_connect(&pair.ring, &pair.addr);
	for (i = 0; i < CONNS; i++)
		CHECK_OK(dev_accept(&pair.ring, ring_event(&pair.ring,
							   KVERBS_CQE_CONN_REQUEST, 0).id,
				    NULL));
	for (i = 0; i < CONNS; i++)
		CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, clients[i]).result);
}

/* A thread with its own ring, listener and connection on a shared file. */
struct worker {
	pthread_t thread;
	struct pair pair;
	struct buf from;
	struct buf to;
};

static void exchange(struct worker *worker, unsigned int round)
{
	struct ring *ring = &worker->pair.ring;
	struct kverbs_sqe sqe;

	buf_fill(&worker->from, round);
	buf_poison(&worker->to);
	sqe = sqe_recv(worker->pair.server, worker->to.region, round, PAGE);
	sqe.user_data = round;
	CHECK_OK(ring_put(ring, &sqe));
	CHECK_DONE(ring_do(ring, sqe_send(worker->pair.client, worker->from.region, 1,
					  PAGE)));
	CHECK_DONE(ring_work(ring, round));
	buf_check_moved(&worker->to, round, &worker->from, 1, PAGE);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int round;

	worker->pair.listener = dev_listen(&worker->pair.ring, &worker->pair.addr);
	pair_join(&worker->pair, &worker->pair.client, &worker->pair.server);
	for (round = 0; round < ROUNDS; round++)
		exchange(worker, round);
	CHECK_OK(dev_destroy(worker->pair.fd, worker->pair.client));
	CHECK_OK(dev_destroy(worker->pair.fd, worker->pair.server));
	return NULL;
}

TEST(threads_with_rings_of_their_own_share_a_file)
{
	static struct worker workers[THREADS];
	int fd = dev_open(), i;

	for (i = 0; i < THREADS; i++) {
		workers[i].pair = (struct pair){ .fd = fd, .addr = addr_of("a", 0) };
		ring_open(&workers[i].pair.ring, fd, 64, 256);
		buf_open(&workers[i].from, fd, BUF_ANON, 2 * PAGE);
		buf_open(&workers[i].to, fd, BUF_SCATTERED, 2 * PAGE);
	}
	for (i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void *submit_all(void *arg)
{
	struct kverbs_cmd_submit out;

	(void)arg;
	do {
		CHECK_OK(ring_submit(&pair.ring, 3, &out));
	} while (out.out_taken);
	return NULL;
}

TEST(threads_that_submit_the_same_ring_take_each_entry_once)
{
	pthread_t threads[THREADS];
	struct kverbs_sqe sqe;
	int i;

	pair_open(&pair);
	for (i = 0; i < 100; i++) {
		sqe = sqe_recv(pair.server, 0, 0, 0);
		sqe.user_data = i;
		ring_push(&pair.ring, &sqe);
	}
	for (i = 0; i < 100; i++) {
		sqe = sqe_send(pair.client, 0, 0, 0);
		sqe.user_data = 1000 + i;
		ring_push(&pair.ring, &sqe);
	}
	for (i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, submit_all, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 100; i++) {
		CHECK_DONE(ring_work(&pair.ring, i));
		CHECK_DONE(ring_work(&pair.ring, 1000 + i));
	}
	CHECK_EQ(ring_unread(&pair.ring), 0);
}

/* A message may arrive before the SEND completes; on a BUSY_POLL ring only SUBMIT polls. */
static void await_empty_sq(void)
{
	long long end = test_now_ms() + test_patience_ms();

	while (dev_query(pair.fd, pair.client).out_sq_used) {
		CHECK_OK(ring_submit(&pair.ring, 0, NULL));
		CHECK(test_now_ms() < end);
	}
}

/* More entries than the send queue has slots: what has no slot waits for one. */
TEST(more_sends_than_sq_depth_are_accepted_and_arrive_in_order)
{
	struct kverbs_conn_param param = { .sq_depth = 8, .rq_depth = 128 };
	struct kverbs_sqe recv, send;
	unsigned int i;

	pair_open_with(&pair, &param, 1024);
	buf_open(&buf, pair.fd, BUF_ANON, PAGE);
	for (i = 0; i < 100; i++) {
		recv = sqe_recv(pair.server, buf.region, 512 + 4 * i, 4);
		recv.user_data = i;
		CHECK_OK(ring_put(&pair.ring, &recv));
	}
	for (i = 0; i < 100; i++) {
		((uint32_t *)buf.addr)[i] = i;
		send = sqe_send(pair.client, buf.region, 4 * i, 4);
		send.flags = 0;
		CHECK_OK(ring_put(&pair.ring, &send));
	}
	for (i = 0; i < 100; i++) {
		CHECK_DONE(ring_work(&pair.ring, i));
		CHECK_EQ(((uint32_t *)buf.addr)[128 + i], i);
	}
	await_empty_sq();
}
