// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* KVERBS_UFLAG_NO_WAIT and KVERBS_SUBMIT_WAKE: one thread ends the waits of all. */
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dev.h"
#include "waiter.h"

static struct ring ring;
static int fd;

static void open_ring(uint32_t flags, int event_fd)
{
	fd = dev_open();
	ring_open_as(&ring, fd, 8, 16, flags, event_fd);
}

static void set_user_flags(uint32_t flags)
{
	__atomic_store_n(&ring.user->flags, flags, __ATOMIC_SEQ_CST);
}

static int submit(uint32_t flags, uint32_t min_complete, struct kverbs_cmd_submit *cmd)
{
	*cmd = (struct kverbs_cmd_submit){
		.size = sizeof(*cmd),
		.flags = flags,
		.ring_id = ring.id,
		.min_complete = min_complete,
	};
	return dev_cmd(fd, KVERBS_SUBMIT, cmd);
}

static void wake(void)
{
	struct kverbs_cmd_submit cmd;

	CHECK_OK(submit(KVERBS_SUBMIT_WAKE, 0, &cmd));
}

/* Returns how many completions are unread, or -errno. */
static int wait_in_submit(void)
{
	struct kverbs_cmd_submit cmd;
	int ret = submit(0, 1, &cmd);

	return ret ? ret : (int)cmd.out_ready;
}

static int wait_in_poll(void)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, -1);
}

TEST(SUBMIT_does_not_wait_with_NO_WAIT)
{
	struct pollfd poll_fd = { .events = POLLIN };

	open_ring(0, 0);
	poll_fd.fd = fd;
	CHECK_EQ(poll(&poll_fd, 1, 0), 0);
	set_user_flags(KVERBS_UFLAG_NO_WAIT);
	CHECK_EQ(wait_in_submit(), 0);
	CHECK_EQ(poll(&poll_fd, 1, 0), 1);
	set_user_flags(0);
	CHECK_EQ(poll(&poll_fd, 1, 0), 0);
}

TEST(SUBMIT_does_not_watch_a_byte_with_NO_WAIT)
{
	static uint8_t byte;
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_SUBMIT_WATCH,
		.min_complete = 1,
		.watch_uptr = (uintptr_t)&byte,
	};

	open_ring(0, 0);
	cmd.ring_id = ring.id;
	set_user_flags(KVERBS_UFLAG_NO_WAIT);
	CHECK_OK(dev_cmd(fd, KVERBS_SUBMIT, &cmd));
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(WAKE_and_NO_WAIT_end_the_waits_of_all_threads)
{
	struct waiter submitters[3] = { 0 }, poller = { 0 };
	size_t i;

	open_ring(0, 0);
	for (i = 0; i < ARRAY_SIZE(submitters); i++)
		waiter_start(&submitters[i], wait_in_submit);
	waiter_start(&poller, wait_in_poll);
	set_user_flags(KVERBS_UFLAG_NO_WAIT);
	wake();
	for (i = 0; i < ARRAY_SIZE(submitters); i++)
		CHECK_EQ(waiter_join(&submitters[i]), 0);
	CHECK_EQ(waiter_join(&poller), 1);
}

TEST(WAKE_without_NO_WAIT_ends_no_wait)
{
	struct kverbs_sqe sqe = { .opcode = KVERBS_OP_SEND };
	struct waiter waiter = { 0 };
	long before;

	open_ring(0, 0);
	waiter_start(&waiter, wait_in_submit);
	before = waiter_sleeps(&waiter);
	wake();
	while (waiter_sleeps(&waiter) == before)
		sched_yield();
	ring_push(&ring, &sqe);
	CHECK_OK(ring_submit(&ring, 1, NULL));
	CHECK_EQ(waiter_join(&waiter), 1);
}

TEST(a_SUBMIT_that_polls_the_device_notices_NO_WAIT_by_itself)
{
	struct kverbs_cmd_submit cmd;

	open_ring(KVERBS_RING_BUSY_POLL, 0);
	set_user_flags(KVERBS_UFLAG_NO_WAIT);
	CHECK_OK(submit(0, 1, &cmd));
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(WAKE_signals_the_eventfd)
{
	int event_fd = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;

	open_ring(KVERBS_RING_EVENTFD, event_fd);
	wake();
	CHECK_EQ(read(event_fd, &count, sizeof(count)), sizeof(count));
	CHECK_EQ(count, 1);
}
