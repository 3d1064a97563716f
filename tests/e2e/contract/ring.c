// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings: hostile indices, full rings, waiting. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "waiter.h"

static struct pair pair;

static void set_cq_head(uint32_t head)
{
	__atomic_store_n(&pair.ring.user->cq_head, head, __ATOMIC_RELEASE);
}

static void set_sq_tail(uint32_t tail)
{
	__atomic_store_n(&pair.ring.user->sq_tail, tail, __ATOMIC_RELEASE);
}

static int put_recv(uint64_t user_data)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, 0, 0, 0);

	sqe.user_data = user_data;
	return ring_put(&pair.ring, &sqe);
}

/* Complete one receive, so that there is a completion to wait for. */
static void send_nothing(void)
{
	struct kverbs_sqe sqe = sqe_send(pair.client, 0, 0, 0);

	sqe.flags = 0;
	CHECK_OK(ring_put(&pair.ring, &sqe));
}

TEST(an_sq_tail_too_far_ahead_gives_EINVAL_and_no_entry_is_accepted)
{
	struct kverbs_cmd_submit out;
	uint32_t tail, far[] = { 257, 0x80000000, 0xffffffff };
	size_t i;

	pair_open(&pair);
	tail = pair.ring.user->sq_tail;
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		set_sq_tail(tail + far[i]);
		CHECK_ERR(ring_submit(&pair.ring, 1, &out), EINVAL);
		CHECK_EQ(pair.ring.kernel->sq_head, tail);
	}
	set_sq_tail(tail);
	CHECK_OK(put_recv(1));
}

TEST(a_cq_head_out_of_range_affects_only_its_own_ring)
{
	uint32_t head, wrong[] = { 1, 0x1000, 0x80000000, 0xfffff000 };
	size_t i;

	pair_open(&pair);
	head = pair.ring.user->cq_head;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		set_cq_head(head + wrong[i]);
		CHECK_ERR(put_recv(1), EAGAIN);
		set_cq_head(head);
		CHECK_OK(put_recv(i));
	}
	send_nothing();
	CHECK_DONE(ring_work(&pair.ring, 0));
}

/* A SEND keeps its completion slot until its acknowledgment, which may come after the message. */
TEST(indices_wrap)
{
	struct kverbs_sqe send;
	unsigned int i;

	pair_open_with(&pair, NULL, 16);
	send = sqe_send(pair.client, 0, 0, 0);
	send.user_data = 1000;
	for (i = 0; i < 300; i++) {
		CHECK_OK(put_recv(i));
		CHECK_OK(ring_put(&pair.ring, &send));
		CHECK_DONE(ring_work(&pair.ring, i));
		CHECK_DONE(ring_work(&pair.ring, 1000));
	}
	CHECK_EQ(pair.ring.kernel->sq_head, 600);
}

TEST(without_a_completion_slot_no_entry_is_accepted_and_none_is_lost)
{
	unsigned int taken = 0, i;

	pair_open_with(&pair, NULL, 16);
	while (!put_recv(taken))
		taken++;
	CHECK(taken > 8 && taken < 16);
	CHECK_ERR(put_recv(taken), EAGAIN);
	CHECK_OK(dev_disconnect(pair.fd, pair.server));
	for (i = 0; i < taken; i++) {
		struct kverbs_cqe cqe = ring_work(&pair.ring, i);

		CHECK_EQ(cqe.result, -EIO);
		CHECK_EQ(cqe.id, pair.server);
	}
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
}

TEST(unread_completions_keep_their_slots)
{
	unsigned int taken = 0, i;

	pair_open_with(&pair, NULL, 16);
	for (i = 0; i < 4; i++)
		CHECK_OK(put_recv(i));
	for (i = 0; i < 4; i++)
		send_nothing();
	CHECK_OK(ring_wait(&pair.ring, 4, test_patience_ms()));
	CHECK_EQ(ring_unread(&pair.ring), 4);
	while (!put_recv(100 + taken))
		taken++;
	CHECK(taken < 12);
	for (i = 0; i < 4; i++)
		CHECK_EQ(ring_next(&pair.ring).user_data, i);
	CHECK_OK(put_recv(200));
}

TEST(CONNECT_and_LISTEN_without_slots_give_EAGAIN)
{
	struct kverbs_cmd_connect connect = { .size = sizeof(connect) };
	struct kverbs_cmd_listen listen = { .size = sizeof(listen) };
	static struct ring small;
	int fd = dev_open();

	ring_open(&small, fd, 1, 1);
	connect.ring_id = small.id;
	listen.ring_id = small.id;
	connect.dst = addr_of("a", 1);
	listen.inout_addr = addr_of("a", 0);
	CHECK_ERR(dev_cmd(fd, KVERBS_CONNECT, &connect), EAGAIN);
	CHECK_OK(dev_cmd(fd, KVERBS_LISTEN, &listen));
	CHECK_ERR(dev_cmd(fd, KVERBS_LISTEN, &listen), EAGAIN);
	CHECK_OK(dev_destroy(fd, listen.out_id));
	CHECK_OK(dev_destroy(fd, small.id));
}

TEST(poll_is_readable_while_a_completion_is_unread)
{
	struct pollfd poll_fd = { .events = POLLIN };

	pair_open(&pair);
	poll_fd.fd = pair.fd;
	CHECK_EQ(poll(&poll_fd, 1, 0), 0);
	CHECK_OK(put_recv(1));
	send_nothing();
	CHECK_EQ(poll(&poll_fd, 1, test_patience_ms()), 1);
	CHECK_EQ(poll_fd.revents, POLLIN);
	CHECK_EQ(poll(&poll_fd, 1, 0), 1);
	ring_next(&pair.ring);
	CHECK_EQ(poll(&poll_fd, 1, 0), 0);
}

static int submit_until(uint32_t to_submit, uint32_t min_complete, uint64_t deadline_ns,
			struct kverbs_cmd_submit *cmd)
{
	*cmd = (struct kverbs_cmd_submit){
		.size = sizeof(*cmd),
		.flags = KVERBS_TIME_ABSOLUTE,
		.ring_id = pair.ring.id,
		.to_submit = to_submit,
		.min_complete = min_complete,
		.timeout_ns = deadline_ns,
	};
	return dev_cmd(pair.fd, KVERBS_SUBMIT, cmd);
}

TEST(a_deadline_in_the_past_does_not_wait)
{
	struct kverbs_cmd_submit cmd;

	pair_open(&pair);
	CHECK_OK(submit_until(0, 1, 1, &cmd));
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(a_deadline_in_the_future_is_waited_for)
{
	struct kverbs_cmd_submit cmd;
	long long start;

	pair_open(&pair);
	start = test_now_ms();
	CHECK_OK(submit_until(0, 1, (start + 200) * 1000000ULL, &cmd));
	CHECK(test_now_ms() >= start + 199);
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(a_relative_timeout_is_waited_for)
{
	struct kverbs_cmd_submit cmd = { .size = sizeof(cmd), .min_complete = 1 };
	long long start;

	pair_open(&pair);
	cmd.ring_id = pair.ring.id;
	cmd.timeout_ns = 1;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_SUBMIT, &cmd));
	start = test_now_ms();
	cmd.timeout_ns = MS_TO_NS(200);
	CHECK_OK(dev_cmd(pair.fd, KVERBS_SUBMIT, &cmd));
	CHECK(test_now_ms() >= start + 199);
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(the_largest_relative_timeout_waits_for_a_completion)
{
	struct kverbs_cmd_submit cmd = { .size = sizeof(cmd), .min_complete = 1 };

	pair_open(&pair);
	CHECK_OK(put_recv(1));
	send_nothing();
	cmd.ring_id = pair.ring.id;
	cmd.timeout_ns = UINT64_MAX;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_SUBMIT, &cmd));
	CHECK_EQ(cmd.out_ready, 1);
}

TEST(the_largest_deadline_waits_for_a_completion)
{
	struct kverbs_cmd_submit cmd;

	pair_open(&pair);
	CHECK_OK(put_recv(1));
	send_nothing();
	CHECK_OK(submit_until(0, 1, UINT64_MAX, &cmd));
	CHECK_EQ(cmd.out_ready, 1);
}

TEST(SUBMIT_accepts_waits_and_reports_how_many_completions_are_ready)
{
	struct kverbs_cmd_submit cmd;
	struct kverbs_sqe sqe;
	int i;

	pair_open(&pair);
	for (i = 0; i < 3; i++) {
		sqe = sqe_recv(pair.server, 0, 0, 0);
		ring_push(&pair.ring, &sqe);
	}
	for (i = 0; i < 3; i++) {
		sqe = sqe_send(pair.client, 0, 0, 0);
		ring_push(&pair.ring, &sqe);
	}
	CHECK_OK(submit_until(6, 6, 0, &cmd));
	CHECK_EQ(cmd.out_taken, 6);
	CHECK_EQ(cmd.out_ready, 6);
}

static void on_alarm(int number)
{
	(void)number;
}

static void alarm_soon(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value.tv_usec = 200000,
				  .it_interval.tv_usec = 200000 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
}

TEST(a_signal_ends_the_wait_with_EINTR)
{
	struct kverbs_cmd_submit cmd;

	pair_open(&pair);
	alarm_soon();
	CHECK_ERR(submit_until(0, 1, 0, &cmd), EINTR);
}

TEST(a_signal_ends_the_wait_with_0_if_entries_were_accepted)
{
	struct kverbs_sqe sqe = { 0 };
	struct kverbs_cmd_submit cmd;

	pair_open(&pair);
	sqe = sqe_recv(pair.server, 0, 0, 0);
	ring_push(&pair.ring, &sqe);
	alarm_soon();
	CHECK_OK(submit_until(1, 1, 0, &cmd));
	CHECK_EQ(cmd.out_taken, 1);
	CHECK_EQ(cmd.out_ready, 0);
}

static int wait_in_submit(void)
{
	struct kverbs_cmd_submit cmd;

	return submit_until(0, 1, 0, &cmd);
}

static int wait_in_poll(void)
{
	struct pollfd poll_fd = { .fd = pair.fd, .events = POLLIN };

	return poll(&poll_fd, 1, test_patience_ms());
}

TEST(a_completion_wakes_a_waiter_in_SUBMIT)
{
	struct waiter waiter = { 0 };

	pair_open(&pair);
	CHECK_OK(put_recv(1));
	waiter_start(&waiter, wait_in_submit);
	send_nothing();
	CHECK_OK(waiter_join(&waiter));
}

TEST(a_completion_wakes_a_waiter_in_poll)
{
	struct waiter waiter = { 0 };

	pair_open(&pair);
	CHECK_OK(put_recv(1));
	waiter_start(&waiter, wait_in_poll);
	send_nothing();
	CHECK_EQ(waiter_join(&waiter), 1);
}

static void await_state(int pid, const char *state)
{
	long long end = test_now_ms() + test_patience_ms();

	while (test_shell("grep -q 'State:.%s' /proc/%d/status", state, pid))
		CHECK(test_now_ms() < end);
}

TEST(SIGSTOP_and_SIGCONT_do_not_end_the_wait)
{
	struct kverbs_cmd_submit cmd;
	int pid, status;

	pair_open(&pair);
	CHECK_OK(put_recv(1));
	pid = fork();
	if (!pid) {
		CHECK_OK(submit_until(0, 1, 0, &cmd));
		_exit(0);
	}
	await_state(pid, "S");
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	await_state(pid, "T");
	CHECK_EQ(kill(pid, SIGCONT), 0);
	send_nothing();
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* By the clock of this time namespace. */
static void check_deadline(void)
{
	long long start = test_now_ms();
	struct kverbs_cmd_submit cmd;

	CHECK_OK(submit_until(0, 1, MS_TO_NS(start + 500), &cmd));
	CHECK(test_now_ms() - start >= 499);
	start = test_now_ms();
	CHECK_OK(ring_wait(&pair.ring, 1, 500));
	CHECK(test_now_ms() - start >= 499);
}

/* The next child enters it, and then its offsets are fixed. */
static void new_time_namespace(const char *offsets)
{
	int fd;

	if (unshare(CLONE_NEWTIME))
		test_skip("no time namespace: %s", test_errno(errno));
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, offsets, strlen(offsets)), strlen(offsets));
	close(fd);
}

static void check_in_time_namespace(const char *offsets)
{
	int pid, status;

	new_time_namespace(offsets);
	pair = (struct pair){ .fd = dev_open() };
	ring_open(&pair.ring, pair.fd, 8, 32);
	pid = fork();
	if (!pid) {
		/* The rings are not mapped here, and are not needed. */
		check_deadline();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

TEST(a_deadline_is_met_in_a_time_namespace_that_is_ahead)
{
	check_in_time_namespace("monotonic 86400 0\n");
}

TEST(a_deadline_is_met_in_a_time_namespace_that_is_behind)
{
	check_in_time_namespace("monotonic -1 0\n");
}

TEST(DESTROY_of_a_ring_ends_its_waiters_with_ENOENT)
{
	struct waiter waiter = { 0 };

	pair = (struct pair){ .fd = dev_open() };
	ring_open(&pair.ring, pair.fd, 8, 32);
	waiter_start(&waiter, wait_in_submit);
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
	pthread_join(waiter.thread, NULL);
	CHECK_ERR(waiter.ret, ENOENT);
}

TEST(a_busy_ring_stays_usable_after_DESTROY_was_refused)
{
	pair_open(&pair);
	CHECK_ERR(dev_destroy(pair.fd, pair.ring.id), EBUSY);
	CHECK_OK(put_recv(1));
	send_nothing();
	CHECK_DONE(ring_work(&pair.ring, 1));
}

/* An entry may change after the kernel has read it, which must not affect the operation. */
static void *scribble(void *arg)
{
	struct kverbs_sqe *sqe = arg;
	unsigned int i;

	for (i = 0; i < 2000000; i++) {
		__atomic_store_n(&sqe->length, i & 1 ? UINT64_MAX : 64, __ATOMIC_RELAXED);
		__atomic_store_n(&sqe->region_id, i & 2 ? 0 : pair.ring.id + i % 3,
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(entries_that_change_while_the_kernel_reads_them_are_harmless)
{
	static char memory[4096];
	struct kverbs_sqe sqe;
	pthread_t thread;
	int i, ret;

	pair_open(&pair);
	sqe = sqe_recv(pair.server, dev_region(pair.fd, memory, 64, 0), 0, 64);
	ring_push(&pair.ring, &sqe);
	CHECK_EQ(pthread_create(&thread, NULL, scribble, &pair.ring.sqes[0]), 0);
	for (i = 0; i < 1000; i++) {
		ret = ring_submit(&pair.ring, 1, NULL);
		CHECK(!ret || ret == -EINVAL || ret == -ENOENT);
		if (!ret && pair.ring.user->sq_tail % 256 == 1)
			break;
	}
	pthread_join(thread, NULL);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_ESTABLISHED);
}
