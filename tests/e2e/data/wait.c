// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for completions: with an eventfd, or by polling. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "buf.h"

static struct pair pair;
static struct buf buf;

/* Open a connection of this host to itself on a ring with these flags. */
static void open_pair(uint32_t flags, int event_fd, uint16_t keepalive_ms)
{
	pair = (struct pair){
		.fd = dev_open(),
		.addr = addr_of("a", 0),
		.param.keepalive_ns = MS_TO_NS(keepalive_ms),
	};
	ring_open_as(&pair.ring, pair.fd, 256, 1024, flags, event_fd);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	pair_join(&pair, &pair.client, &pair.server);
	buf_open(&buf, pair.fd, BUF_ANON, 4 * PAGE);
}

static void send_one(void)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, buf.region, 0, PAGE);

	sqe.user_data = 7;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, buf.region, PAGE, PAGE)));
	CHECK_DONE(ring_work(&pair.ring, 7));
}

/* A completion may be visible in the ring a moment before its eventfd is signalled. */
static void expect_count(int event_fd, uint64_t expected)
{
	struct pollfd wait = { .fd = event_fd, .events = POLLIN };
	uint64_t sum = 0, count;

	while (sum < expected) {
		CHECK_EQ(poll(&wait, 1, test_patience_ms()), 1);
		CHECK_EQ(read(event_fd, &count, sizeof(count)), sizeof(count));
		sum += count;
	}
	CHECK_EQ(sum, expected);
	CHECK_EQ(poll(&wait, 1, 0), 0);
}

TEST(every_completion_of_a_ring_counts_in_its_eventfd)
{
	int event_fd = eventfd(0, EFD_NONBLOCK);

	open_pair(KVERBS_RING_EVENTFD, event_fd, 0);
	/* The connection request, and ESTABLISHED on both ends. */
	expect_count(event_fd, 3);
	send_one();
	expect_count(event_fd, 2);
}

TEST(the_eventfd_of_one_ring_does_not_hear_of_another)
{
	int event_fd = eventfd(0, EFD_NONBLOCK);
	struct ring other;

	open_pair(0, 0, 0);
	ring_open_as(&other, pair.fd, 4, 4, KVERBS_RING_EVENTFD, event_fd);
	send_one();
	expect_count(event_fd, 0);
}

TEST(a_ring_keeps_its_eventfd_when_the_descriptor_is_closed)
{
	int event_fd = eventfd(0, EFD_NONBLOCK);
	int kept = dup(event_fd);

	open_pair(KVERBS_RING_EVENTFD, event_fd, 0);
	expect_count(kept, 3);
	close(event_fd);
	send_one();
	expect_count(kept, 2);
	close(kept);
	send_one();
}

TEST(what_is_not_an_eventfd_makes_no_ring)
{
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_RING_EVENTFD,
		.sq_entries = 1,
		.cq_entries = 1,
		.event_fd = -1,
	};
	int fd = dev_open();

	CHECK_EQ(dev_cmd(fd, KVERBS_RING_CREATE, &cmd), -EBADF);
	cmd.event_fd = fd;
	CHECK_EQ(dev_cmd(fd, KVERBS_RING_CREATE, &cmd), -EINVAL);
}

TEST(on_a_polled_ring_work_completes_when_somebody_submits)
{
	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	buf_fill(&buf, 1);
	send_one();
	CHECK(!memcmp(buf.addr, buf.addr + PAGE, PAGE));
	CHECK_EQ(ring_unread(&pair.ring), 0);
}

TEST(a_submit_that_asks_for_nothing_looks_once)
{
	struct kverbs_sqe sqe;
	struct kverbs_cmd_submit out;
	long long end = test_now_ms() + test_patience_ms();

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	sqe = sqe_recv(pair.server, 0, 0, 0);
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_send(pair.client, 0, 0, 0);
	CHECK_OK(ring_put(&pair.ring, &sqe));
	do {
		CHECK_OK(ring_submit(&pair.ring, 0, &out));
	} while (out.out_ready < 2 && test_now_ms() < end);
	CHECK_EQ(out.out_ready, 2);
}

TEST(on_a_polled_ring_more_work_than_fits_goes_through_by_submitting)
{
	struct kverbs_sqe sqe;
	int i;

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	for (i = 0; i < 1000; i++) {
		sqe = sqe_recv(pair.server, 0, 0, 0);
		CHECK_OK(ring_put(&pair.ring, &sqe));
		sqe = sqe_send(pair.client, 0, 0, 0);
		sqe.flags = 0;
		while (ring_put(&pair.ring, &sqe) == -EAGAIN)
			;
		CHECK_DONE(ring_next(&pair.ring));
	}
}

TEST(a_polled_wait_ends_at_its_deadline)
{
	long long start;

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	start = test_now_ms();
	CHECK_OK(ring_wait(&pair.ring, 1, 100));
	CHECK(test_now_ms() - start >= 99);
	CHECK_EQ(ring_unread(&pair.ring), 0);
}

static void on_alarm(int number)
{
	(void)number;
}

TEST(a_polled_wait_ends_with_a_signal)
{
	/* Repeat the signal, since the first one may come before the wait starts. */
	struct itimerval soon = { .it_value.tv_usec = 50000, .it_interval.tv_usec = 50000 };
	struct sigaction action = { .sa_handler = on_alarm };

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	CHECK_OK(sigaction(SIGALRM, &action, NULL));
	CHECK_OK(setitimer(ITIMER_REAL, &soon, NULL));
	CHECK_EQ(ring_wait(&pair.ring, 1, test_patience_ms()), -EINTR);
}

TEST(on_a_polled_ring_exports_come_and_go_without_a_submit)
{
	struct kverbs_segment seg;
	uint32_t nr = 1, id;

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	id = dev_export(pair.fd, pair.server, buf.region, 0, PAGE, KVERBS_REMOTE_WRITE,
			&seg, &nr);
	buf_fill(&buf, 1);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, buf.region, PAGE,
						PAGE, &seg)));
	CHECK(!memcmp(buf.addr, buf.addr + PAGE, PAGE));
	CHECK_OK(dev_destroy(pair.fd, id));
	buf_fill(&buf, 2);
	/*
	 * iWARP reports no refusal to the writer, but ends the connection as other transports do.
	 */
	ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, buf.region, PAGE, PAGE,
				     &seg));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
	CHECK(memcmp(buf.addr, buf.addr + PAGE, PAGE));
}

TEST(a_polled_connection_is_destroyed_while_work_is_outstanding)
{
	struct kverbs_sqe sqe;
	struct kverbs_cqe cqe;

	open_pair(KVERBS_RING_BUSY_POLL, 0, 0);
	sqe = sqe_recv(pair.server, buf.region, 0, PAGE);
	sqe.user_data = 7;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	cqe = ring_work(&pair.ring, 7);
	CHECK_EQ(cqe.result, -EIO);
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
}

/* Idle for three keepalive intervals; a dead peer would be detected in the second one. */
TEST_IDLE(connections_that_nobody_looks_at_are_kept_alive_polled_or_not)
{
	int ms = test_keepalive_ms();
	struct pollfd wait[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct pair polled;
	struct buf polled_buf;

	open_pair(KVERBS_RING_BUSY_POLL, 0, ms);
	polled = pair;
	polled_buf = buf;
	open_pair(0, 0, ms);
	wait[0].fd = polled.fd;
	wait[1].fd = pair.fd;
	CHECK_EQ(poll(wait, 2, 3 * ms), 0);
	CHECK_EQ(ring_unread(&polled.ring), 0);
	CHECK_EQ(ring_unread(&pair.ring), 0);
	send_one();
	pair = polled;
	buf = polled_buf;
	send_one();
}
