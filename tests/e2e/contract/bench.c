// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* BENCH: what it measures, what it refuses, and how it ends. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static struct kverbs_sqe a_write(void)
{
	return sqe_rdma(KVERBS_OP_WRITE, track.pair.client, track.region, 0, 8, &track.seg);
}

/* ---- results --------------------------------------------------------------------- */

TEST(BENCH_of_WRITEs_reports_the_requested_iterations)
{
	struct kverbs_cmd_bench cmd;
	uint64_t before;

	track_open();
	before = dev_query(track.pair.fd, track.pair.client).out_ops;
	cmd = good();
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	CHECK_EQ(cmd.out_ops, 100);
	CHECK_EQ(cmd.out_sent, 103);
	CHECK_EQ(cmd.out_received, 0);
	CHECK_EQ(cmd.hist_len, 0);
	CHECK(cmd.out_elapsed_ns > 0);
	CHECK(cmd.out_cpu_ns <= cmd.out_elapsed_ns);
	CHECK_EQ(dev_query(track.pair.fd, track.pair.client).out_ops, before + 103);
	CHECK_EQ(dev_query(track.pair.fd, track.pair.client).out_sq_used, 0);
}

TEST(BENCH_leaves_its_connection_up_if_nothing_was_received)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good();
	CHECK_OK(track_run(&cmd));
	cmd = good_latency();
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	CHECK_EQ(dev_query(track.pair.fd, track.pair.client).out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_DONE(ring_do(&track.pair.ring, a_write()));
	CHECK_OK(dev_disconnect(track.pair.fd, track.pair.client));
	ring_end_of(&track.pair.ring, track.pair.client);
	CHECK_OK(dev_destroy(track.pair.fd, track.pair.client));
	CHECK_OK(dev_destroy(track.pair.fd, track.pair.server));
	CHECK_OK(dev_destroy(track.pair.fd, track.region));
}

TEST(BENCH_of_READs_fetches_the_peers_bytes)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	memset(track.memory, 0x5a, LENGTH);
	cmd = good();
	cmd.opcode = KVERBS_OP_READ;
	cmd.offset = INBOX;
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	CHECK_EQ(track.memory[INBOX + LENGTH - 1], 0x5a);
	CHECK_EQ(track.memory[INBOX + LENGTH], 0);
}

TEST(BENCH_times_each_operation_of_a_latency)
{
	struct kverbs_cmd_bench cmd;
	uint64_t sum = 0;
	unsigned int i;

	track_open();
	cmd = good_latency();
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	for (i = 0; i < KVERBS_BENCH_BUCKETS; i++)
		sum += track.hist[i];
	CHECK_EQ(sum, 100);
	CHECK_EQ(cmd.out_ops, 100);
	CHECK_EQ(cmd.hist_len, KVERBS_BENCH_BUCKETS);
	CHECK(cmd.out_min_ns > 0 && cmd.out_min_ns <= cmd.out_max_ns);
	CHECK(cmd.out_sum_ns >= 100 * cmd.out_min_ns);
	CHECK(cmd.out_sum_ns <= cmd.out_elapsed_ns);
}

TEST(BENCH_runs_for_the_requested_time)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good();
	cmd.iterations = 0;
	cmd.duration_ms = 200;
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	CHECK(cmd.out_elapsed_ns >= 200000000);
	/* More than the warm-up; no operation need have completed in that time. */
	CHECK(cmd.out_sent > 3);
}

/* Run BENCH on a ring with these flags; the peer's connection is on the default ring. */
static void bench_on(uint32_t flags)
{
	struct kverbs_segment there;
	struct kverbs_cmd_bench cmd;
	uint32_t conn, peer, nr = 1;
	struct ring ring;

	ring_open_as(&ring, track.pair.fd, 16, 64, flags, 0);
	conn = dev_connect(&ring, &track.pair.addr);
	peer = ring_event(&track.pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&track.pair.ring, peer, NULL));
	CHECK_OK(ring_event(&ring, KVERBS_CQE_ESTABLISHED, conn).result);
	CHECK_OK(ring_event(&track.pair.ring, KVERBS_CQE_ESTABLISHED, peer).result);
	dev_export(track.pair.fd, peer, track.region, 0, MEMORY, KVERBS_REMOTE_WRITE, &there, &nr);
	cmd = good();
	cmd.conn_id = conn;
	cmd.segs_uptr = (uintptr_t)&there;
	CHECK_OK(track_run(&cmd));
	CHECK_OK(cmd.out_error);
	CHECK_EQ(cmd.out_ops, 100);
	CHECK_EQ(ring_unread(&ring), 0);
}

TEST(BENCH_polls_as_the_ring_of_its_connection_does)
{
	track_open();
	bench_on(0);
	bench_on(KVERBS_RING_SOFTIRQ);
	bench_on(KVERBS_RING_BUSY_POLL);
}

/* ---- refusals ---------------------------------------------------------------------- */

TEST(BENCH_that_cannot_write_its_histogram_sends_nothing)
{
	void *map = mmap(NULL, sizeof(track.hist), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kverbs_cmd_bench cmd;

	CHECK(map != MAP_FAILED);
	track_open();
	cmd = good_latency();
	cmd.hist_uptr = (uintptr_t)map;
	CHECK_ERR(dev_cmd(track.pair.fd, KVERBS_BENCH, &cmd), EFAULT);
	CHECK_EQ(dev_query(track.pair.fd, track.pair.client).out_ops, 0);
}

TEST(BENCH_reports_the_size_of_its_histogram)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good_latency();
	cmd.hist_len = 0;
	CHECK_ERR(track_run(&cmd), EMSGSIZE);
	CHECK_EQ(cmd.hist_len, KVERBS_BENCH_BUCKETS);
}

static void refuse_segs(const struct kverbs_segment *segs, unsigned int nr)
{
	struct kverbs_cmd_bench cmd = good();

	cmd.segs_uptr = (uintptr_t)segs;
	cmd.segs_len = nr;
	CHECK_ERR(track_run(&cmd), EINVAL);
}

TEST(BENCH_refuses_segments_that_do_not_cover_its_length)
{
	struct kverbs_segment segs[] = { { .length = LENGTH / 2 }, { .length = LENGTH / 2 - 1 } };

	track_open();
	refuse_segs(segs, 2);
}

TEST(BENCH_refuses_a_segment_of_no_length)
{
	struct kverbs_segment none = { .addr = track.seg.addr };

	track_open();
	refuse_segs(&none, 1);
}

TEST(BENCH_refuses_a_segment_whose_reserved_field_is_not_zero)
{
	struct kverbs_segment odd;

	track_open();
	odd = track.seg;
	odd.__reserved = 1;
	refuse_segs(&odd, 1);
}

TEST(BENCH_refuses_a_segment_that_wraps)
{
	struct kverbs_segment odd = { .addr = UINT64_MAX - 8, .length = LENGTH };

	track_open();
	refuse_segs(&odd, 1);
}

TEST(BENCH_of_an_atomic_refuses_an_odd_address)
{
	struct kverbs_segment odd = { .addr = 4, .length = LENGTH };
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good_atomic();
	cmd.segs_uptr = (uintptr_t)&odd;
	CHECK_ERR(track_run(&cmd), EINVAL);
}

TEST(BENCH_refuses_to_write_to_a_READ_ONLY_region)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	track.region = dev_region(track.pair.fd, track.memory, MEMORY, KVERBS_REGION_READ_ONLY);
	cmd = good();
	CHECK_OK(track_run(&cmd));
	cmd = good_latency();
	CHECK_ERR(track_run(&cmd), EINVAL);
	cmd = good_marked();
	CHECK_ERR(track_run(&cmd), EINVAL);
	cmd = good_credit();
	CHECK_ERR(track_run(&cmd), EINVAL);
}

TEST(BENCH_of_operations_that_iWARP_lacks_gives_EOPNOTSUPP)
{
	struct kverbs_cmd_bench cmd;

	if (!dev_is_iwarp())
		test_skip("this is not iWARP");
	track_open();
	cmd = good_atomic();
	CHECK_ERR(track_run(&cmd), EOPNOTSUPP);
	cmd = good();
	cmd.opcode = KVERBS_OP_WRITE_IMM;
	CHECK_ERR(track_run(&cmd), EOPNOTSUPP);
	cmd = good_send();
	cmd.opcode = KVERBS_OP_SEND_IMM;
	CHECK_ERR(track_run(&cmd), EOPNOTSUPP);
}

/* More than the scatter/gather entries of any device here can name, even as registered chunks */
#define TOO_LONG	(32UL << 20)

/*
 * Maps one page at every address: entries that name physical memory never cover two pages, as
 * they might by chance if the pages were different ones.
 */
static char *map_page_often(size_t size)
{
	char *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("kverbs-test", 0);
	size_t at;

	CHECK(map != MAP_FAILED && fd >= 0);
	CHECK_EQ(ftruncate(fd, 4096), 0);
	for (at = 0; at < size; at += 4096)
		CHECK(mmap(map + at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			   0) != MAP_FAILED);
	close(fd);
	return map;
}

TEST(BENCH_of_a_message_that_is_too_long_gives_EMSGSIZE)
{
	struct kverbs_cmd_bench cmd;
	char *pages;

	track_open();
	pages = map_page_often(TOO_LONG);
	track.region = dev_region(track.pair.fd, pages, TOO_LONG, 0);
	cmd = good_send();
	cmd.length = TOO_LONG;
	CHECK_ERR(track_run(&cmd), EMSGSIZE);
}

TEST(BENCH_on_an_ended_connection_gives_ENOTCONN)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	CHECK_OK(dev_disconnect(track.pair.fd, track.pair.client));
	ring_end_of(&track.pair.ring, track.pair.client);
	cmd = good();
	CHECK_ERR(track_run(&cmd), ENOTCONN);
}

TEST(BENCH_of_a_connection_with_work_in_flight_gives_EBUSY)
{
	struct kverbs_sqe recv;
	struct kverbs_cmd_bench cmd;

	track_open();
	recv = sqe_recv(track.pair.client, track.region, 0, 8);
	CHECK_OK(ring_put(&track.pair.ring, &recv));
	cmd = good();
	CHECK_ERR(track_run(&cmd), EBUSY);
}

/* ---- while BENCH runs, and how it ends ------------------------------------------------- */

static struct kverbs_cmd_bench endless;

/*
 * A SIGCHLD that is blocked in any thread is not ignored. While system() blocks it in another
 * thread, the kernel would deliver it here, and that would end BENCH.
 */
static void *run_endless(void *arg)
{
	sigset_t child;

	(void)arg;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	CHECK_EQ(pthread_sigmask(SIG_BLOCK, &child, NULL), 0);
	CHECK_OK(track_run(&endless));
	return NULL;
}

static int submit_write(void)
{
	struct kverbs_sqe sqe = a_write();

	sqe.flags = 0;
	return ring_put(&track.pair.ring, &sqe);
}

/* Starts endless BENCH in another thread and returns once operations complete. */
static pthread_t begin_endless(void)
{
	uint64_t before = dev_query(track.pair.fd, track.pair.client).out_ops;
	pthread_t thread;

	endless = good();
	endless.warm_up = 0;
	endless.iterations = 0;
	endless.duration_ms = 3600000;
	CHECK_EQ(pthread_create(&thread, NULL, run_endless, NULL), 0);
	/* BENCH posts beyond its depth only after the first completion. */
	while (dev_query(track.pair.fd, track.pair.client).out_ops <= before + endless.depth)
		;
	return thread;
}

TEST(BENCH_excludes_other_users_of_its_connection)
{
	struct kverbs_cmd_bench cmd;
	pthread_t thread;

	track_open();
	thread = begin_endless();
	CHECK_ERR(submit_write(), EBUSY);
	cmd = good();
	CHECK_ERR(track_run(&cmd), EBUSY);
	CHECK_ERR(dev_destroy(track.pair.fd, track.region), EBUSY);
	CHECK_OK(dev_disconnect(track.pair.fd, track.pair.client));
	pthread_join(thread, NULL);
	CHECK(endless.out_error == -EIO || endless.out_error == -ENOTCONN);
	CHECK(endless.out_ops > 0);
}

/* The kernel asks no modprobe for the module until this has returned. */
static int run_without_modprobe(struct kverbs_cmd_bench *cmd)
{
	int ret;

	CHECK(!test_shell("cat /proc/sys/kernel/modprobe >/run/modprobe"));
	CHECK(!test_shell("echo /bin/false >/proc/sys/kernel/modprobe"));
	ret = track_run(cmd);
	CHECK(!test_shell("cat /run/modprobe >/proc/sys/kernel/modprobe"));
	return ret;
}

TEST(BENCH_gives_EOPNOTSUPP_if_the_module_of_its_engine_cannot_be_loaded)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good();
	CHECK_OK(track_run(&cmd));
	CHECK(!test_shell("rmmod kverbs_bench"));
	CHECK_ERR(run_without_modprobe(&cmd), EOPNOTSUPP);
	CHECK_EQ(dev_query(track.pair.fd, track.pair.client).out_sq_used, 0);
	CHECK_OK(track_run(&cmd));
}

TEST(the_module_of_the_engine_stays_while_a_BENCH_runs)
{
	pthread_t thread;

	track_open();
	thread = begin_endless();
	CHECK(test_shell("rmmod kverbs_bench 2>/dev/null"));
	CHECK_OK(dev_disconnect(track.pair.fd, track.pair.client));
	pthread_join(thread, NULL);
	CHECK(!test_shell("rmmod kverbs_bench"));
}

TEST(DESTROY_ends_a_BENCH)
{
	pthread_t thread;

	track_open();
	thread = begin_endless();
	CHECK_OK(dev_destroy(track.pair.fd, track.pair.client));
	pthread_join(thread, NULL);
	CHECK(endless.out_error == -EIO || endless.out_error == -ENOTCONN);
}

static void on_signal(int number)
{
	(void)number;
}

TEST(a_signal_ends_a_BENCH_which_reports_its_progress)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;

	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	track_open();
	thread = begin_endless();
	CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
	pthread_join(thread, NULL);
	CHECK_ERR(endless.out_error, EINTR);
	CHECK(endless.out_ops > 0);
	CHECK(endless.out_elapsed_ns > 0);
}

TEST(a_process_can_be_killed_while_it_runs_a_BENCH)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		track_open();
		begin_endless();
		kill(getpid(), SIGKILL);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGKILL);
}

TEST(BENCH_with_a_wrong_key_gives_EIO_and_the_status)
{
	struct kverbs_segment wrong;
	struct kverbs_cmd_bench cmd;

	track_open();
	wrong = track.seg;
	wrong.rkey ^= 1;
	cmd = good();
	cmd.opcode = KVERBS_OP_READ;
	cmd.segs_uptr = (uintptr_t)&wrong;
	CHECK_OK(track_run(&cmd));
	CHECK_ERR(cmd.out_error, EIO);
	if (!dev_is_iwarp())
		ring_check_refusal(cmd.out_wc_status);
	CHECK(cmd.out_wc_status);
	CHECK_EQ(cmd.out_ops, 0);
	CHECK_ERR(track_run(&cmd), ENOTCONN);
}

TEST(BENCH_without_an_answer_times_out)
{
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good_marked();
	cmd.timeout_ms = 50;
	CHECK_OK(track_run(&cmd));
	CHECK_ERR(cmd.out_error, ETIMEDOUT);
	CHECK_EQ(cmd.out_sent, 1);
}
