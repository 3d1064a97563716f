// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* KVERBS_REGION_EXPORT_FD: one piece of memory, pinned once, in regions of several files. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "fds.h"

#define SIZE	(4 * PAGE)

static struct pair pair;
static struct buf owned;
static int owner;

/* A region of a file without connections. */
static void set_up(void)
{
	pair_open(&pair);
	owner = dev_open();
	buf_open(&owned, owner, BUF_SHMEM, SIZE);
	buf_fill(&owned, 1);
}

static int try_share(int fd, uint32_t region, uint32_t flags, int *out)
{
	struct kverbs_cmd_region_export_fd cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.region_id = region,
	};
	int ret = dev_cmd(fd, KVERBS_REGION_EXPORT_FD, &cmd);

	*out = ret ? -1 : cmd.out_fd;
	return ret;
}

static int share(int fd, uint32_t region, uint32_t flags)
{
	int out;

	CHECK_OK(try_share(fd, region, flags, &out));
	return out;
}

static int try_import(int fd, int shared, uint32_t flags, struct kverbs_cmd_region_create *cmd)
{
	*cmd = (struct kverbs_cmd_region_create){
		.size = sizeof(*cmd),
		.flags = flags | KVERBS_REGION_FD,
		.fd = shared,
	};
	return dev_cmd(fd, KVERBS_REGION_CREATE, cmd);
}

static uint32_t import(int fd, int shared, uint32_t flags)
{
	struct kverbs_cmd_region_create cmd;

	CHECK_OK(try_import(fd, shared, flags, &cmd));
	CHECK_EQ(cmd.out_length, SIZE);
	return cmd.out_id;
}

static unsigned long pinned_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	CHECK(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmPin: %lu", &kib);
	fclose(status);
	return kib;
}

/* The peer READs the region into other memory, which must become what @owned is. */
static void check_readable(uint32_t region)
{
	struct kverbs_segment seg;
	struct buf copy;
	uint32_t export;

	buf_open(&copy, pair.fd, BUF_ANON, SIZE);
	buf_poison(&copy);
	export = dev_export(pair.fd, pair.server, region, 0, SIZE, KVERBS_REMOTE_READ, &seg, NULL);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, copy.region, 0, SIZE,
						&seg)));
	buf_check_moved(&copy, 0, &owned, 0, SIZE);
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, copy.region));
}

TEST(a_region_of_a_descriptor_has_the_memory_of_the_first_region)
{
	set_up();
	check_readable(import(pair.fd, share(owner, owned.region, 0), 0));
}

TEST(data_arrives_in_the_memory_by_a_region_of_its_descriptor)
{
	struct buf local;
	uint32_t region;
	struct kverbs_sqe sqe;

	set_up();
	buf_open(&local, pair.fd, BUF_ANON, SIZE);
	buf_fill(&local, 2);
	buf_poison(&owned);
	region = import(pair.fd, share(owner, owned.region, 0), 0);
	sqe = sqe_recv(pair.server, region, PAGE, PAGE);
	sqe.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, local.region, 5, PAGE)));
	CHECK_DONE(ring_work(&pair.ring, 77));
	buf_check_moved(&owned, PAGE, &local, 5, PAGE);
}

TEST(the_memory_outlives_the_region_and_the_file_that_pinned_it)
{
	uint32_t region;
	int shared;

	set_up();
	shared = share(owner, owned.region, 0);
	region = import(pair.fd, shared, 0);
	CHECK_OK(dev_destroy(owner, owned.region));
	check_readable(region);
	close(owner);
	close(shared);
	check_readable(region);
}

TEST(the_memory_is_pinned_until_its_last_region_and_descriptor_are_gone)
{
	unsigned long before, with;
	uint32_t region;
	int shared;

	pair_open(&pair);
	before = pinned_kib();
	owner = dev_open();
	buf_open(&owned, owner, BUF_ANON, SIZE);
	with = pinned_kib();
	CHECK_EQ(with - before, SIZE / 1024);
	shared = share(owner, owned.region, 0);
	region = import(pair.fd, shared, 0);
	CHECK_EQ(pinned_kib(), with);
	CHECK_OK(dev_destroy(owner, owned.region));
	close(shared);
	CHECK_EQ(pinned_kib(), with);
	shared = share(pair.fd, region, 0);
	CHECK_OK(dev_destroy(pair.fd, region));
	CHECK_EQ(pinned_kib(), with);
	close(shared);
	CHECK_EQ(pinned_kib(), before);
}

/* An export keeps its region, and no other region of the same memory. */
TEST(use_of_one_region_does_not_make_the_others_busy)
{
	struct kverbs_segment seg;
	uint32_t region, export;

	set_up();
	region = import(pair.fd, share(owner, owned.region, 0), 0);
	export = dev_export(pair.fd, pair.server, region, 0, SIZE, KVERBS_REMOTE_READ, &seg, NULL);
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
	CHECK_OK(dev_destroy(owner, owned.region));
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, region));
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	CHECK_EQ(recvmsg(socket, &msg, 0), 1);
	CHECK(CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The child pins memory, passes it on, and is gone before the memory is used. */
TEST(memory_of_another_process_can_be_used_after_that_process_is_gone)
{
	int sockets[2], status, fd;
	uint32_t region;
	pid_t child;

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		owner = dev_open();
		buf_open(&owned, owner, BUF_ANON, SIZE);
		buf_fill(&owned, 1);
		fd = share(owner, owned.region, KVERBS_REGION_READ_ONLY);
		fds_send(sockets[1], &fd, 1);
		_exit(0);
	}
	region = receive_fd(sockets[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	set_up();
	check_readable(import(pair.fd, region, KVERBS_REGION_READ_ONLY));
}

TEST(a_read_only_descriptor_gives_read_only_regions)
{
	struct kverbs_cmd_region_create cmd;
	int shared;

	set_up();
	shared = share(owner, owned.region, KVERBS_REGION_READ_ONLY);
	CHECK_EQ(fcntl(shared, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK_ERR(try_import(pair.fd, shared, 0, &cmd), EACCES);
	check_readable(import(pair.fd, shared, KVERBS_REGION_READ_ONLY));
}

TEST(a_read_only_region_cannot_be_shared_for_writing)
{
	uint32_t region;
	int shared;

	set_up();
	region = dev_region(owner, owned.addr, SIZE, KVERBS_REGION_READ_ONLY);
	CHECK_ERR(try_share(owner, region, 0, &shared), EACCES);
	close(share(owner, region, KVERBS_REGION_READ_ONLY));
	region = import(pair.fd, share(owner, owned.region, 0), KVERBS_REGION_READ_ONLY);
	CHECK_ERR(try_share(pair.fd, region, 0, &shared), EACCES);
}

TEST(other_descriptors_are_refused)
{
	struct kverbs_cmd_region_create cmd;
	int shared;

	set_up();
	CHECK_ERR(try_import(pair.fd, -1, 0, &cmd), EBADF);
	CHECK_ERR(try_import(pair.fd, pair.fd, 0, &cmd), EINVAL);
	CHECK_ERR(try_import(pair.fd, STDERR_FILENO, 0, &cmd), EINVAL);
	shared = share(owner, owned.region, 0);
	close(shared);
	CHECK_ERR(try_import(pair.fd, shared, 0, &cmd), EBADF);
}

TEST(a_descriptor_takes_no_range_and_no_tracking)
{
	struct kverbs_cmd_region_create cmd = { .size = sizeof(cmd), .flags = KVERBS_REGION_FD };

	set_up();
	cmd.fd = share(owner, owned.region, 0);
	cmd.addr = (uintptr_t)owned.addr;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_REGION_CREATE, &cmd), EINVAL);
	cmd.addr = 0;
	cmd.length = SIZE;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_REGION_CREATE, &cmd), EINVAL);
	cmd.length = 0;
	cmd.flags |= KVERBS_REGION_TRACK;
	cmd.ring_id = pair.ring.id;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_REGION_CREATE, &cmd), EINVAL);
}

TEST(a_descriptor_is_closed_by_exec_and_shows_its_length)
{
	unsigned long length = 0;
	char path[64], line[128];
	FILE *info;
	int shared;

	set_up();
	shared = share(owner, owned.region, 0);
	CHECK(fcntl(shared, F_GETFD) & FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", shared);
	info = fopen(path, "r");
	CHECK(info);
	while (fgets(line, sizeof(line), info))
		sscanf(line, "length: %lu", &length);
	fclose(info);
	CHECK_EQ(length, SIZE);
}

TEST(memory_cannot_be_read_or_mapped_by_its_descriptor)
{
	char byte;
	int shared;

	set_up();
	shared = share(owner, owned.region, 0);
	CHECK_EQ(read(shared, &byte, 1), -1);
	CHECK_EQ(write(shared, &byte, 1), -1);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, shared, 0) == MAP_FAILED);
}

/* The next descriptor to be given out tells whether one was used up. */
TEST(a_failed_command_leaves_no_descriptor)
{
	struct kverbs_cmd_region_export_fd *cmd;
	struct rlimit limit;
	int next, shared;

	set_up();
	next = dup(owner);
	close(next);
	cmd = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
	CHECK(cmd != MAP_FAILED);
	cmd->size = sizeof(*cmd);
	cmd->region_id = owned.region;
	CHECK_OK(mprotect(cmd, PAGE, PROT_READ));
	CHECK_ERR(dev_cmd(owner, KVERBS_REGION_EXPORT_FD, cmd), EFAULT);
	CHECK_EQ(fcntl(next, F_GETFD), -1);

	CHECK_OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = next;
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_ERR(try_share(owner, owned.region, 0, &shared), EMFILE);
	CHECK_OK(dev_destroy(owner, owned.region));
}
