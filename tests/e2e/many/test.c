// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rounds of a thousand connections to one listener: their cost, and leaks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "resources.h"

#define CONNS		1000
#define MAX_ROUNDS	10
#define MESSAGE		64
/* Slack for memory that the kernel may keep: free lists, empty slabs */
#define SLACK		(8 * (long)MIB)

/**
 * struct round - cost of the connections of one round
 * @name: kind of connection
 * @param: their parameters
 * @messages: each connection carries a message
 * @up_us: setup time of one connection
 * @down_us: time to close and destroy one connection
 * @bytes: kernel memory of both ends of an idle connection
 * @left: kernel memory still in use after the round
 */
struct round {
	char name[64];
	struct kverbs_conn_param param;
	bool messages;
	long up_us;
	long down_us;
	long bytes;
	long left;
};

/* Shared by the tests, which run in separate processes. */
static struct round *rounds;
static int nr_rounds, nr_repeats;

static struct pair pair;
static struct buf source, sink;
static uint32_t clients[CONNS], servers[CONNS];

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

/* The CM frees the ids of the other side asynchronously. */
static void await_resources(const char *wanted)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + test_patience_ms();
	char now[512];

	for (;;) {
		resources_count(now, sizeof(now));
		if (!strcmp(now, wanted))
			return;
		if (test_now_ms() > end)
			FAIL("left: %s, not %s", now, wanted);
		nanosleep(&soon, NULL);
	}
}

static void all_carry_messages(void)
{
	struct kverbs_sqe sqe;
	uint32_t i;

	for (i = 0; i < CONNS; i++) {
		sqe = sqe_recv(servers[i], sink.region, MESSAGE * i, MESSAGE);
		sqe.user_data = i;
		CHECK_OK(ring_put(&pair.ring, &sqe));
		sqe = sqe_send(clients[i], source.region, MESSAGE * i, MESSAGE);
		sqe.flags = 0;
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	for (i = 0; i < CONNS; i++)
		CHECK_DONE(ring_work(&pair.ring, i));
	buf_check_moved(&sink, 0, &source, 0, MESSAGE * CONNS);
}

static void all_come(struct round *round)
{
	long start = now_us();
	int i;

	for (i = 0; i < CONNS; i++)
		pair_join(&pair, &clients[i], &servers[i]);
	round->up_us = (now_us() - start) / CONNS;
}

static void all_go(struct round *round)
{
	long start = now_us();
	int i;

	for (i = 0; i < CONNS; i++) {
		CHECK_OK(dev_disconnect(pair.fd, clients[i]));
		CHECK_EQ(ring_end_of(&pair.ring, clients[i]).result, 0);
		CHECK_EQ(ring_end_of(&pair.ring, servers[i]).result, -ECONNRESET);
		CHECK_OK(dev_destroy(pair.fd, clients[i]));
		CHECK_OK(dev_destroy(pair.fd, servers[i]));
	}
	round->down_us = (now_us() - start) / CONNS;
}

static void set_up(const struct kverbs_conn_param *param)
{
	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0), .param = *param };
	ring_open(&pair.ring, pair.fd, 256, 16384);
	buf_open(&source, pair.fd, BUF_ANON, MESSAGE * CONNS);
	buf_open(&sink, pair.fd, BUF_ANON, MESSAGE * CONNS);
	buf_poison(&sink);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
}

/* No id, no completion and no pinned page is left: nothing is busy. */
static void check_file_is_empty(void)
{
	struct kverbs_cmd_conn_query query = { .size = sizeof(query) };
	int i;

	for (i = 0; i < CONNS; i++) {
		query.conn_id = i % 2 ? clients[i] : servers[i];
		CHECK_ERR(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &query), ENOENT);
	}
	CHECK_EQ(ring_unread(&pair.ring) + pair.ring.nr_stash, 0);
	CHECK_OK(dev_destroy(pair.fd, source.region));
	CHECK_OK(dev_destroy(pair.fd, sink.region));
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

static void come_and_go(const void *arg)
{
	struct round *round = &rounds[(const struct round *)arg - rounds];
	char before[512];
	long bytes;

	resources_count(before, sizeof(before));
	CHECK(strstr(before, "qp "));
	set_up(&round->param);
	bytes = resources_kernel_bytes();
	all_come(round);
	round->bytes = (resources_kernel_bytes() - bytes) / CONNS;
	if (round->messages)
		all_carry_messages();
	all_go(round);
	check_file_is_empty();
	await_resources(before);
	round->left = resources_kernel_bytes();
	printf("#| %-36s %7ld us up %7ld us down %8ld bytes\n", round->name, round->up_us,
	       round->down_us, round->bytes);
}

/* Memory regions of all devices. */
static int count_mrs(void)
{
	char text[512];
	const char *found;

	resources_count(text, sizeof(text));
	found = strstr(text, " mr ");
	CHECK(found);
	return atoi(found + strlen(" mr "));
}

static void all_read(const struct kverbs_segment *seg)
{
	struct kverbs_segment from = *seg;
	int i;

	for (i = 0; i < CONNS; i++) {
		from.addr = seg->addr + MESSAGE * i;
		CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, clients[i], sink.region,
							MESSAGE * i, MESSAGE, &from)));
	}
	buf_check_moved(&sink, 0, &source, 0, MESSAGE * CONNS);
}

TEST(one_registration_in_a_group_serves_a_thousand_connections)
{
	const struct kverbs_conn_param param = { .sq_depth = 16, .rq_depth = 16 };
	struct round round = { };
	struct kverbs_segment seg;
	uint32_t export;
	int before;

	set_up(&param);
	buf_fill(&source, 1);
	pair.group = dev_group(pair.fd);
	all_come(&round);
	before = count_mrs();
	export = dev_export(pair.fd, pair.group, source.region, 0, MESSAGE * CONNS,
			    KVERBS_REMOTE_READ, &seg, NULL);
	CHECK_EQ(count_mrs(), before + 1);
	all_read(&seg);
	/* On iWARP a READ registers its sink. */
	if (!dev_is_iwarp())
		CHECK_EQ(count_mrs(), before + 1);
	CHECK_OK(dev_destroy(pair.fd, export));
	all_go(&round);
	CHECK_OK(dev_destroy(pair.fd, pair.group));
	check_file_is_empty();
}

/* RCU and workers free memory asynchronously, on a busy host only after seconds. */
static long more_than(long bytes)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + test_patience_ms();

	while (resources_kernel_bytes() - bytes >= SLACK && test_now_ms() < end)
		nanosleep(&soon, NULL);
	return resources_kernel_bytes() - bytes;
}

static void the_last_round_leaves_no_more_than_the_second(const void *arg)
{
	const struct round *second = &rounds[1], *last = &rounds[nr_repeats - 1];

	(void)arg;
	if (!second->left || !last->left)
		test_skip("not all rounds were run");
	test_note("%ld bytes more", more_than(second->left));
	CHECK(more_than(second->left) < SLACK);
}

static struct round *add_round(const char *name)
{
	struct round *round = &rounds[nr_rounds++];
	char rule[128];

	snprintf(round->name, sizeof(round->name), "%s", name);
	snprintf(rule, sizeof(rule), "%s: a thousand connections come and go, and leave nothing",
		 name);
	test_add(rule, come_and_go, round);
	return round;
}

static void add_repeats(void)
{
	char name[64];
	int i;

	for (i = 0; i < nr_repeats; i++) {
		snprintf(name, sizeof(name), "round %d of %d", i + 1, nr_repeats);
		add_round(name)->messages = i == 0 || i == nr_repeats - 1;
	}
}

/* MANY_ROUNDS=N is the number of rounds, at least three. */
TEST_GROUP(all_rounds)
{
	const char *wanted = getenv("MANY_ROUNDS");
	struct round *round;

	nr_repeats = wanted ? atoi(wanted) : MAX_ROUNDS;
	if (nr_repeats < 3 || nr_repeats > MAX_ROUNDS)
		abort();
	rounds = mmap(NULL, 2 * MAX_ROUNDS * sizeof(*rounds), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rounds == MAP_FAILED)
		abort();
	add_repeats();
	test_add("the last round leaves no more memory in use than the second",
		 the_last_round_leaves_no_more_than_the_second, NULL);
	round = add_round("queues of 16");
	round->param = (struct kverbs_conn_param){ .sq_depth = 16, .rq_depth = 16 };
	round = add_round("queues of 16, messages in one piece");
	round->param = (struct kverbs_conn_param){ .sq_depth = 16, .rq_depth = 16,
						   .max_sge = 1 };
}
