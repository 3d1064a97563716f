// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SUBMIT with WATCH, which also waits for a byte of memory. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "dev.h"

#define OLD	7
#define SIZE	4096

static struct pair pair;
static uint8_t *byte;

static void set_up(void)
{
	pair_open(&pair);
	byte = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(byte != MAP_FAILED);
	*byte = OLD;
}

static struct kverbs_cmd_submit watch(int timeout_ms)
{
	return (struct kverbs_cmd_submit){
		.size = sizeof(struct kverbs_cmd_submit),
		.flags = KVERBS_SUBMIT_WATCH,
		.ring_id = pair.ring.id,
		.min_complete = 1,
		.timeout_ns = MS_TO_NS(timeout_ms),
		.watch_uptr = (uintptr_t)byte,
		.watch_old = OLD,
	};
}

static int submit(struct kverbs_cmd_submit *cmd)
{
	return dev_cmd(pair.fd, KVERBS_SUBMIT, cmd);
}

static void push_recv(void)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, 0, 0, 0);

	ring_push(&pair.ring, &sqe);
}

TEST(a_byte_that_has_changed_already_is_not_waited_for)
{
	struct kverbs_cmd_submit cmd;

	set_up();
	*byte = OLD + 1;
	cmd = watch(test_patience_ms());
	cmd.timeout_ns = 0;
	CHECK_OK(submit(&cmd));
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(a_watch_lasts_until_its_deadline)
{
	struct kverbs_cmd_submit cmd;
	long long start;

	set_up();
	start = test_now_ms();
	cmd = watch(100);
	CHECK_OK(submit(&cmd));
	CHECK(test_now_ms() >= start + 99);
	CHECK_EQ(cmd.out_ready, 0);
}

TEST(a_watch_that_waits_for_no_completion_is_refused)
{
	struct kverbs_cmd_submit cmd;

	set_up();
	cmd = watch(0);
	cmd.min_complete = 0;
	CHECK_ERR(submit(&cmd), EINVAL);
}

TEST(an_old_value_that_is_no_byte_is_refused)
{
	const uint32_t wrong[] = { 256, 0xffffffff };
	struct kverbs_cmd_submit cmd;
	size_t i;

	set_up();
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		cmd = watch(0);
		cmd.watch_old = wrong[i];
		CHECK_ERR(submit(&cmd), EINVAL);
	}
}

TEST(an_address_that_is_not_there_gives_EFAULT_and_nothing_is_taken)
{
	const uint64_t wrong[] = { 0, (uintptr_t)-1, 1ULL << 63, 0xffffffff81000000 };
	struct kverbs_cmd_submit cmd;
	size_t i;

	set_up();
	push_recv();
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		cmd = watch(test_patience_ms());
		cmd.to_submit = 1;
		cmd.watch_uptr = wrong[i];
		CHECK_ERR(submit(&cmd), EFAULT);
		CHECK(pair.ring.kernel->sq_head != pair.ring.user->sq_tail);
	}
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

	CHECK_OK(sigaction(SIGALRM, &action, NULL));
	CHECK_OK(setitimer(ITIMER_REAL, &soon, NULL));
}

TEST(a_signal_ends_a_watch_with_EINTR)
{
	struct kverbs_cmd_submit cmd;

	set_up();
	cmd = watch(test_patience_ms());
	alarm_soon();
	CHECK_ERR(submit(&cmd), EINTR);
}

TEST(a_signal_ends_a_watch_with_0_if_entries_were_taken)
{
	struct kverbs_cmd_submit cmd;

	set_up();
	push_recv();
	cmd = watch(test_patience_ms());
	cmd.to_submit = 1;
	alarm_soon();
	CHECK_OK(submit(&cmd));
	CHECK_EQ(cmd.out_taken, 1);
	CHECK_EQ(cmd.out_ready, 0);
}

/* A thread that waits in SUBMIT with WATCH. */
struct watcher {
	pthread_t thread;
	int tid;
	int ret;
	struct kverbs_cmd_submit cmd;
};

static void *watcher_run(void *arg)
{
	struct watcher *watcher = arg;

	__atomic_store_n(&watcher->tid, gettid(), __ATOMIC_RELEASE);
	watcher->ret = submit(&watcher->cmd);
	return NULL;
}

/* Returns the clock ticks that a thread has spent in the kernel. */
static unsigned long kernel_ticks(int tid)
{
	char path[64], line[512] = "";
	unsigned long ticks = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %lu",
		       &ticks);
	fclose(file);
	return ticks;
}

/* Returns when the thread polls: a polling thread does not sleep, but uses CPU time. */
static void watcher_start(struct watcher *watcher, uint32_t to_submit)
{
	watcher->cmd = watch(test_patience_ms());
	watcher->cmd.to_submit = to_submit;
	CHECK_EQ(pthread_create(&watcher->thread, NULL, watcher_run, watcher), 0);
	while (kernel_ticks(__atomic_load_n(&watcher->tid, __ATOMIC_ACQUIRE)) < 2)
		sched_yield();
}

TEST(another_thread_ends_a_watch_by_writing)
{
	struct watcher watcher = { 0 };

	set_up();
	watcher_start(&watcher, 0);
	__atomic_store_n(byte, OLD + 1, __ATOMIC_RELEASE);
	pthread_join(watcher.thread, NULL);
	CHECK_OK(watcher.ret);
	CHECK_EQ(watcher.cmd.out_ready, 0);
}

TEST(a_byte_that_goes_away_ends_a_watch_with_EFAULT)
{
	struct watcher watcher = { 0 };

	set_up();
	watcher_start(&watcher, 0);
	CHECK_OK(munmap(byte, SIZE));
	pthread_join(watcher.thread, NULL);
	CHECK_ERR(watcher.ret, EFAULT);
}

TEST(a_byte_that_goes_away_ends_a_watch_with_0_if_entries_were_taken)
{
	struct watcher watcher = { 0 };

	set_up();
	push_recv();
	watcher_start(&watcher, 1);
	CHECK_OK(munmap(byte, SIZE));
	pthread_join(watcher.thread, NULL);
	CHECK_OK(watcher.ret);
	CHECK_EQ(watcher.cmd.out_taken, 1);
	CHECK_EQ(watcher.cmd.out_ready, 0);
}

TEST(DESTROY_of_a_ring_sends_who_watches_there_back_with_ENOENT)
{
	struct watcher watcher = { 0 };

	set_up();
	ring_open(&pair.ring, pair.fd, 8, 32);
	watcher_start(&watcher, 0);
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
	pthread_join(watcher.thread, NULL);
	CHECK_ERR(watcher.ret, ENOENT);
}
