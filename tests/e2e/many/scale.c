// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The cost of idle connections with receives of their own, and with a shared pool. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "buf.h"
#include "pool.h"
#include "resources.h"

#define DEFAULT_CONNS	500
#define MOST_CONNS	10000
#define DEPTH		16
#define MESSAGE		1024
#define POOL_BUFS	1024
/* SUBMITs of which the shortest counts */
#define TRIES		32

static struct pair pair;
static struct buf source, sink;
static struct pool pool;
static uint32_t clients[MOST_CONNS], servers[MOST_CONNS];
static bool pooled;
static int nr_conns;

/* MANY_CONNS=N is the number of connections. */
static int wanted_conns(void)
{
	const char *wanted = getenv("MANY_CONNS");
	int nr = wanted ? atoi(wanted) : DEFAULT_CONNS;

	CHECK(nr > 0 && nr <= MOST_CONNS);
	return nr;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void set_up(void)
{
	pair = (struct pair){
		.fd = dev_open(),
		.addr = addr_of("a", 0),
		/* A message may wait until there is a buffer. */
		.param = {
			.valid = KVERBS_PARAM_RNR_RETRY,
			.sq_depth = DEPTH,
			.rq_depth = DEPTH,
			.rnr_retry = 7,
		},
	};
	ring_open(&pair.ring, pair.fd, 16384, 262144);
	buf_open(&source, pair.fd, BUF_ANON, MESSAGE);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	if (pooled) {
		pair.group = dev_group(pair.fd);
		buf_open(&sink, pair.fd, BUF_ANON, POOL_BUFS * MESSAGE);
		pool_open(&pool, pair.fd, POOL_BUFS);
	} else {
		buf_open(&sink, pair.fd, BUF_ANON, (uint64_t)nr_conns * DEPTH * MESSAGE);
	}
}

static void add_buffers(void)
{
	uint32_t id;

	for (id = 0; id < POOL_BUFS; id++)
		pool_add(&pool, sink.region, (uint64_t)id * MESSAGE, MESSAGE, id);
}

/* Receive @n of connection @i; its completion has the number of the buffer. */
static void post_recv(int i, uint64_t n)
{
	uint64_t buffer = (uint64_t)i * DEPTH + n;
	struct kverbs_sqe sqe = sqe_recv(servers[i], sink.region, buffer * MESSAGE, MESSAGE);

	sqe.user_data = buffer;
	CHECK_OK(ring_put(&pair.ring, &sqe));
}

static void join(int i)
{
	int n;

	if (pooled) {
		pool_join(&pool, &pair, DEPTH, &clients[i], &servers[i]);
		return;
	}
	pair_join(&pair, &clients[i], &servers[i]);
	for (n = 0; n < DEPTH; n++)
		post_recv(i, n);
}

/* Reads the completion of one message, and makes its buffer available again. */
static void take_message(void)
{
	struct kverbs_cqe cqe = ring_next(&pair.ring);

	CHECK_EQ(cqe.type, KVERBS_CQE_WORK);
	CHECK_DONE(cqe);
	CHECK(cqe.flags & KVERBS_CQE_F_RECV);
	CHECK_EQ(cqe.byte_len, 64);
	if (!pooled) {
		post_recv(cqe.user_data / DEPTH, cqe.user_data % DEPTH);
		return;
	}
	pool_add(&pool, sink.region, (uint64_t)cqe.buf_id * MESSAGE, MESSAGE, cqe.buf_id);
	if (pool_is_waiting(&pool))
		CHECK_OK(pool_wake(&pool, &pair.ring));
}

static void push_send(int i)
{
	struct kverbs_sqe sqe = sqe_send(clients[i], source.region, 0, 64);

	sqe.flags = 0;
	ring_push(&pair.ring, &sqe);
}

/* Time of a SUBMIT with a message of each of @nr connections from @first on. */
static long submit_ns(int first, int nr)
{
	struct kverbs_cmd_submit out;
	long start;
	int i;

	for (i = first; i < first + nr; i++)
		push_send(i);
	start = now_ns();
	CHECK_OK(ring_submit(&pair.ring, nr, &out));
	start = now_ns() - start;
	CHECK_EQ(out.out_taken, nr);
	for (i = 0; i < nr; i++)
		take_message();
	return start;
}

static long shortest_submit_ns(void)
{
	long best = submit_ns(0, 1), ns;
	int i;

	for (i = 1; i < TRIES; i++) {
		ns = submit_ns(i * (nr_conns / TRIES), 1);
		best = ns < best ? ns : best;
	}
	return best;
}

static void cost_of(const void *arg)
{
	long start, up_us, kernel, one_ns, all_ns;
	long pinned;
	int i;

	pooled = arg;
	nr_conns = wanted_conns();
	set_up();
	if (pooled)
		add_buffers();
	kernel = resources_kernel_bytes();
	start = now_ns();
	for (i = 0; i < nr_conns; i++)
		join(i);
	up_us = (now_ns() - start) / 1000 / nr_conns;
	kernel = (resources_kernel_bytes() - kernel) / nr_conns;
	pinned = test_status_kb(0, "VmPin") * 1024 / nr_conns;
	one_ns = shortest_submit_ns();
	all_ns = submit_ns(0, nr_conns) / nr_conns;
	printf("#| %5d %-8s %8ld us %8ld bytes %7ld pinned %8ld ns %8ld ns\n", nr_conns,
	       pooled ? "pool" : "receives", up_us, kernel, pinned, one_ns, all_ns);
}

TEST_GROUP(scale)
{
	test_add("many connections with receives of their own all carry messages", cost_of, NULL);
	test_add("many connections in a group with a pool all carry messages", cost_of, "pool");
}
