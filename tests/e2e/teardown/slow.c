// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands whose answer faults on the caller's memory, as it might with memory from a file server.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "slow.h"

#define PAGE	4096UL
/* More than any device here covers with one registration */
#define LARGE	(4UL << 20)

static struct link both;
static struct slow slow;

static void open_page(struct slow *slow, uint64_t mode, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register range = {
		.range.len = PAGE,
		.mode = mode,
	};

	if (mode == UFFDIO_REGISTER_MODE_WP && test_kernel_is("uml"))
		test_skip("user-mode Linux has no write protection by userfaultfd");
	slow->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	CHECK(slow->page != MAP_FAILED);
	slow->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	CHECK(slow->uffd >= 0);
	CHECK(!ioctl(slow->uffd, UFFDIO_API, &api));
	range.range.start = (uintptr_t)slow->page;
	CHECK(!ioctl(slow->uffd, UFFDIO_REGISTER, &range));
}

/**
 * slow_open() - create a page that is not present
 * @slow: filled in
 */
void slow_open(struct slow *slow)
{
	open_page(slow, UFFDIO_REGISTER_MODE_MISSING, 0);
}

/* Create a page that, once protected, can be read but faults when it is written. */
static void open_for_answer(struct slow *slow)
{
	open_page(slow, UFFDIO_REGISTER_MODE_WP, UFFD_FEATURE_PAGEFAULT_FLAG_WP);
	memset(slow->page, 0, PAGE);
}

static void protect(struct slow *slow, uint64_t mode)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)slow->page, .len = PAGE },
		.mode = mode,
	};

	CHECK(!ioctl(slow->uffd, UFFDIO_WRITEPROTECT, &wp));
}

static void *give(void *arg)
{
	struct slow *slow = arg;

	slow->result = dev_cmd(slow->fd, slow->number, slow->cmd);
	return NULL;
}

/**
 * slow_start() - start a command, and wait until it faults on the page
 * @slow: from slow_open()
 * @fd: the file
 * @number: the command
 * @cmd: its struct, which has the page for its answer
 */
void slow_start(struct slow *slow, int fd, unsigned long number, void *cmd)
{
	struct pollfd poll_fd = { .fd = slow->uffd, .events = POLLIN };

	slow->fd = fd;
	slow->number = number;
	slow->cmd = cmd;
	CHECK(!pthread_create(&slow->thread, NULL, give, slow));
	CHECK_EQ(poll(&poll_fd, 1, test_patience_ms()), 1);
	CHECK_EQ(poll_fd.revents, POLLIN);
}

/**
 * slow_finish() - provide the page
 * @slow: started
 *
 * Return: what the command returned.
 */
int slow_finish(struct slow *slow)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)slow->page, .len = PAGE },
	};

	CHECK(!ioctl(slow->uffd, UFFDIO_ZEROPAGE, &zero));
	CHECK(!pthread_join(slow->thread, NULL));
	return slow->result;
}

/* The export has several segments; the first one is being copied to the caller. */
TEST(EXPORT_is_described_even_if_its_connection_ends_concurrently)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.access = KVERBS_REMOTE_READ,
		.inout_segs_len = PAGE / sizeof(struct kverbs_segment),
		.length = LARGE,
	};
	const struct kverbs_segment *segs;
	uint64_t told = 0;
	unsigned int i;
	void *memory;

	link_open(&both);
	memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	cmd.conn_id = both.server.conn;
	cmd.region_id = dev_region(both.server.ring.fd, memory, LARGE, 0);
	slow_open(&slow);
	cmd.segs_uptr = (uintptr_t)slow.page;
	slow_start(&slow, both.server.ring.fd, KVERBS_EXPORT, &cmd);
	CHECK_OK(dev_disconnect(both.client.ring.fd, both.client.conn));
	ring_end_of(&both.server.ring, both.server.conn);
	CHECK_OK(slow_finish(&slow));
	CHECK(cmd.inout_segs_len > 1);
	for (i = 0, segs = slow.page; i < cmd.inout_segs_len; i++) {
		CHECK(segs[i].rkey);
		told += segs[i].length;
	}
	CHECK_EQ(told, LARGE);
	CHECK_OK(dev_destroy(both.server.ring.fd, cmd.out_id));
	CHECK_OK(dev_destroy(both.server.ring.fd, cmd.region_id));
}

static void *destroy_conn(void *arg)
{
	int *result = arg;

	*result = dev_destroy(both.server.ring.fd, both.server.conn);
	return NULL;
}

/* The struct of the command cannot be written; DESTROY begins meanwhile. */
/* DESTROY hides the id first, and reports no event. */
static void await_hidden(int fd, uint32_t conn)
{
	struct kverbs_cmd_conn_query cmd;
	int ret;

	do {
		sched_yield();
		cmd = (struct kverbs_cmd_conn_query) { .size = sizeof(cmd), .conn_id = conn };
		ret = dev_cmd(fd, KVERBS_CONN_QUERY, &cmd);
	} while (!ret);
	CHECK_ERR(ret, ENOENT);
}

TEST(EXPORT_leaves_no_id_behind_when_its_connection_is_destroyed_meanwhile)
{
	struct kverbs_cmd_export *cmd;
	struct timespec moment;
	pthread_t thread;
	void *memory;
	int result;

	link_open(&both);
	memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	open_for_answer(&slow);
	cmd = slow.page;
	*cmd = (struct kverbs_cmd_export) {
		.size = sizeof(*cmd),
		.access = KVERBS_REMOTE_READ,
		.conn_id = both.server.conn,
		.region_id = dev_region(both.server.ring.fd, memory, LARGE, 0),
		.inout_segs_len = PAGE / sizeof(struct kverbs_segment),
		.length = LARGE,
	};
	cmd->segs_uptr = (uintptr_t)malloc(PAGE);
	protect(&slow, UFFDIO_WRITEPROTECT_MODE_WP);
	slow_start(&slow, both.server.ring.fd, KVERBS_EXPORT, cmd);
	CHECK(!pthread_create(&thread, NULL, destroy_conn, &result));
	await_hidden(both.server.ring.fd, both.server.conn);
	clock_gettime(CLOCK_REALTIME, &moment);
	moment.tv_sec++;
	CHECK_EQ(pthread_timedjoin_np(thread, NULL, &moment), ETIMEDOUT);
	protect(&slow, 0);
	CHECK(!pthread_join(slow.thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK_OK(slow.result);
	CHECK_OK(result);
	CHECK_ERR(dev_destroy(both.server.ring.fd, cmd->out_id), ENOENT);
	CHECK_OK(dev_destroy(both.server.ring.fd, cmd->region_id));
}
