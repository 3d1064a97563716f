// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A user at the RLIMIT_MEMLOCK limit, with a connection in use. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"

#define SOMEBODY	65534
#define ROOM		8
#define PAGE		4096UL

static struct link both;
static char memory[ROOM * PAGE] __aligned(4096);
static uint32_t regions[ROOM], exports[ROOM];

/* Registered memory of both sides, and some more pages. */
static void open_as_somebody(void)
{
	struct rlimit limit = { 2 * SIZE + ROOM * PAGE, 2 * SIZE + ROOM * PAGE };

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_EQ(chmod("/dev/kverbs", 0666), 0);
	CHECK_EQ(setuid(SOMEBODY), 0);
	link_open(&both);
	link_export(&both, KVERBS_REMOTE_WRITE);
}

static void lock_and_lend_all(void)
{
	struct kverbs_segment seg;
	int fd = both.server.ring.fd, i;

	for (i = 0; i < ROOM; i++) {
		regions[i] = dev_region(fd, memory + i * PAGE, PAGE, 0);
		exports[i] = dev_export(fd, both.server.conn, regions[i], 0, PAGE,
					KVERBS_REMOTE_WRITE, &seg, NULL);
	}
}

static void give_all_back(void)
{
	int fd = both.server.ring.fd, i;

	for (i = 0; i < ROOM; i++) {
		CHECK_OK(dev_destroy(fd, exports[i]));
		CHECK_OK(dev_destroy(fd, regions[i]));
	}
}

static void expect_refused(void)
{
	CHECK_ERR(dev_try_region(both.client.ring.fd, memory, 1, 0, NULL), ENOMEM);
	CHECK_ERR(dev_try_region(both.server.ring.fd, memory, PAGE, 0, NULL), ENOMEM);
}

TEST(existing_connections_work_at_the_limit_of_locked_memory)
{
	struct kverbs_sqe sqe;
	unsigned int j;
	int i;

	open_as_somebody();
	for (i = 0; i < test_repeats(5); i++) {
		lock_and_lend_all();
		link_start(&both, KVERBS_OP_WRITE, WRITES);
		expect_refused();
		for (j = 0; j < WRITES; j++)
			CHECK_DONE(ring_work(&both.client.ring, j));
		give_all_back();
	}
	side_post_recvs(&both.server, 1);
	sqe = sqe_send(both.client.conn, both.client.region, 0, 64);
	CHECK_DONE(ring_do(&both.client.ring, sqe));
	CHECK_EQ(test_status_kb(0, "VmPin"), 2 * SIZE / 1024);
}

TEST(locked_memory_is_released_by_DESTROY_not_by_the_end_of_a_connection)
{
	open_as_somebody();
	lock_and_lend_all();
	CHECK_OK(dev_disconnect(both.client.ring.fd, both.client.conn));
	CHECK_OK(ring_end_of(&both.client.ring, both.client.conn).result);
	CHECK(ring_end_of(&both.server.ring, both.server.conn).result);
	expect_refused();
	give_all_back();
	dev_region(both.client.ring.fd, memory, sizeof(memory), 0);
	expect_refused();
}

static void be_at_the_limit(void)
{
	open_as_somebody();
	child_ready();
	for (;;) {
		lock_and_lend_all();
		expect_refused();
		give_all_back();
	}
}

TEST(SIGKILL_at_the_limit_of_locked_memory)
{
	int i;

	for (i = 0; i < test_repeats(5); i++)
		child_kill(child_start(be_at_the_limit));
}
