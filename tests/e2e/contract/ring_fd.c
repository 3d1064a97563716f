// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* KVERBS_RING_FD: a ring with a descriptor of its own. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "waiter.h"

#define RW	(PROT_READ | PROT_WRITE)

static struct ring ring;
static int fd, ring_fd;

static void open_ring(void)
{
	fd = dev_open();
	ring_open_as(&ring, fd, 8, 16, KVERBS_RING_FD, 0);
	ring_fd = ring.made.out_fd;
}

/* An entry for no connection completes at once. */
static void complete_one(struct ring *to)
{
	struct kverbs_sqe sqe = { .opcode = KVERBS_OP_SEND };

	ring_push(to, &sqe);
	CHECK_OK(ring_submit(to, 1, NULL));
	CHECK_EQ(ring_unread(to), 1);
}

/* Events of poll(2) at this moment. */
static short events_of(int of)
{
	struct pollfd poll_fd = { .fd = of, .events = POLLIN | POLLOUT };

	CHECK(poll(&poll_fd, 1, 0) >= 0);
	return poll_fd.revents;
}

static int try_map(int of, uint64_t offset, uint64_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_SHARED, of, offset) == MAP_FAILED ? -errno : 0;
}

TEST(the_descriptor_of_a_ring_can_be_mapped_as_the_file_can)
{
	struct kverbs_ring_kernel *kernel;

	open_ring();
	CHECK_OK(try_map(ring_fd, ring.made.out_sq_offset, ring.made.out_sq_size, RW));
	CHECK_OK(try_map(ring_fd, ring.made.out_idx_offset, ring.made.out_idx_size, RW));
	kernel = mmap(NULL, ring.made.out_cq_size, PROT_READ, MAP_SHARED, ring_fd,
		      ring.made.out_cq_offset);
	CHECK(kernel != MAP_FAILED);
	complete_one(&ring);
	CHECK_EQ(kernel->cq_tail, 1);
	CHECK_ERR(try_map(ring_fd, ring.made.out_cq_offset, ring.made.out_cq_size, RW), EPERM);
}

TEST(the_descriptor_of_a_ring_cannot_map_another_ring)
{
	struct ring other;

	open_ring();
	ring_open_as(&other, fd, 8, 16, 0, 0);
	CHECK_EQ(other.made.out_fd, 0);
	CHECK_ERR(try_map(ring_fd, other.made.out_idx_offset, other.made.out_idx_size, RW),
		  EINVAL);
	CHECK_ERR(try_map(ring_fd, ring.made.out_idx_offset + 4096, ring.made.out_idx_size, RW),
		  EINVAL);
	/* The part behind the last one. */
	CHECK_ERR(try_map(ring_fd, 2 * ring.made.out_idx_offset - ring.made.out_cq_offset,
			  ring.made.out_idx_size, RW), EINVAL);
}

TEST(the_descriptor_of_a_ring_is_closed_by_execve)
{
	open_ring();
	CHECK_EQ(fcntl(ring_fd, F_GETFD), FD_CLOEXEC);
}

TEST(poll_of_a_descriptor_reports_its_ring_and_poll_of_the_file_the_others)
{
	struct ring second, third;

	open_ring();
	ring_open_as(&second, fd, 8, 16, KVERBS_RING_FD, 0);
	CHECK_EQ(events_of(fd), 0);
	ring_open_as(&third, fd, 8, 16, 0, 0);
	complete_one(&ring);
	CHECK_EQ(events_of(ring_fd), POLLIN | POLLOUT);
	CHECK_EQ(events_of(second.made.out_fd), POLLOUT);
	CHECK_EQ(events_of(fd), POLLOUT);
	ring_next(&ring);
	CHECK_EQ(events_of(ring_fd), POLLOUT);
	complete_one(&third);
	CHECK_EQ(events_of(ring_fd), POLLOUT);
	CHECK_EQ(events_of(fd), POLLIN | POLLOUT);
}

static int wait_in_poll(void)
{
	struct pollfd poll_fd = { .fd = ring_fd, .events = POLLIN };

	return poll(&poll_fd, 1, test_patience_ms()) == 1 ? poll_fd.revents : -1;
}

TEST(a_completion_wakes_a_waiter_in_poll_of_the_descriptor)
{
	struct waiter waiter = { 0 };

	open_ring();
	waiter_start(&waiter, wait_in_poll);
	complete_one(&ring);
	CHECK_EQ(waiter_join(&waiter), POLLIN);
}

TEST(a_descriptor_outlives_its_ring_but_reports_that_it_has_gone)
{
	struct waiter waiter = { 0 };

	open_ring();
	complete_one(&ring);
	ring_next(&ring);
	waiter_start(&waiter, wait_in_poll);
	CHECK_OK(dev_destroy(fd, ring.id));
	CHECK(waiter_join(&waiter) & POLLHUP);
	CHECK(events_of(ring_fd) & POLLHUP);
	CHECK_ERR(try_map(ring_fd, ring.made.out_idx_offset, ring.made.out_idx_size, RW), ENODEV);
	CHECK_EQ(ring.kernel->cq_tail, 1);
}

TEST(a_descriptor_of_a_ring_does_not_keep_its_file_open)
{
	struct waiter waiter = { 0 };

	open_ring();
	ring_unmap(&ring);
	waiter_start(&waiter, wait_in_poll);
	CHECK_EQ(close(fd), 0);
	CHECK(waiter_join(&waiter) & POLLHUP);
	CHECK_ERR(try_map(ring_fd, ring.made.out_idx_offset, ring.made.out_idx_size, RW), ENODEV);
}

TEST(a_new_ring_in_the_place_of_an_old_one_is_not_that_of_its_descriptor)
{
	struct ring second;

	open_ring();
	CHECK_OK(dev_destroy(fd, ring.id));
	ring_open_as(&second, fd, 8, 16, 0, 0);
	CHECK_EQ(second.made.out_idx_offset, ring.made.out_idx_offset);
	complete_one(&second);
	CHECK(events_of(ring_fd) & POLLHUP);
	CHECK_ERR(try_map(ring_fd, ring.made.out_idx_offset, ring.made.out_idx_size, RW), ENODEV);
}

TEST(a_ring_outlives_its_descriptor)
{
	open_ring();
	CHECK_EQ(close(ring_fd), 0);
	complete_one(&ring);
	CHECK_EQ(events_of(fd), 0);
	CHECK_OK(dev_destroy(fd, ring.id));
}

/* The child has the descriptor, but not the file. */
static void read_one(void)
{
	struct kverbs_ring_kernel *kernel;
	struct kverbs_cmd_info info = { .size = sizeof(info) };

	close(fd);
	CHECK_EQ(ioctl(ring_fd, KVERBS_INFO, &info), -1);
	CHECK_EQ(errno, ENOTTY);
	kernel = mmap(NULL, ring.made.out_cq_size, PROT_READ, MAP_SHARED, ring_fd,
		      ring.made.out_cq_offset);
	CHECK(kernel != MAP_FAILED);
	CHECK_EQ(kernel->cq_tail, 1);
	CHECK_EQ(events_of(ring_fd), POLLIN | POLLOUT);
}

TEST(a_process_without_the_file_can_read_completions_but_give_no_command)
{
	int pid, status;

	open_ring();
	complete_one(&ring);
	pid = fork();
	if (!pid) {
		read_one();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static int try_ring(struct kverbs_cmd_ring_create *cmd)
{
	*cmd = (struct kverbs_cmd_ring_create){
		.size = sizeof(*cmd),
		.flags = KVERBS_RING_FD,
		.sq_entries = 8,
		.cq_entries = 16,
	};
	return dev_cmd(fd, KVERBS_RING_CREATE, cmd);
}

TEST(a_process_with_all_its_descriptors_in_use_gets_no_ring)
{
	struct kverbs_cmd_ring_create cmd, first;
	struct rlimit limit;
	int next;

	open_ring();
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	next = dup(fd);
	close(next);
	limit.rlim_cur = next;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_ERR(try_ring(&cmd), EMFILE);
	limit.rlim_cur = next + 1;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_OK(try_ring(&first));
	CHECK_EQ(first.out_fd, next);
	/* No place among the rings of the file was used up: two are taken. */
	CHECK_EQ(first.out_sq_offset, 4 * (ring.made.out_cq_offset - ring.made.out_sq_offset));
}

TEST(a_RING_CREATE_whose_answer_cannot_be_written_leaves_no_descriptor)
{
	struct kverbs_cmd_ring_create *cmd;
	int next;

	open_ring();
	next = dup(fd);
	close(next);
	cmd = mmap(NULL, 4096, RW, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
	CHECK(cmd != MAP_FAILED);
	*cmd = (struct kverbs_cmd_ring_create){
		.size = sizeof(*cmd),
		.flags = KVERBS_RING_FD,
		.sq_entries = 8,
		.cq_entries = 16,
	};
	CHECK_EQ(mprotect(cmd, 4096, PROT_READ), 0);
	CHECK_ERR(dev_cmd(fd, KVERBS_RING_CREATE, cmd), EFAULT);
	CHECK_EQ(fcntl(next, F_GETFD), -1);
}
