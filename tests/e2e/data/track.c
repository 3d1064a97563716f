// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* KVERBS_REGION_TRACK: what makes a region stale, what does not, and what still works then. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"

#define RW	(PROT_READ | PROT_WRITE)
#define NPAGES	4
#define SIZE	(NPAGES * PAGE)
#define DATA	0x7ac4

static struct ring ring;
static unsigned char *memory;

static uint32_t nr_stale(const struct ring *r)
{
	return __atomic_load_n(&r->kernel->stale, __ATOMIC_ACQUIRE);
}

static int try_track(struct ring *r, const void *addr, uint64_t length, uint32_t flags,
		     uint32_t *id)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags | KVERBS_REGION_TRACK,
		.addr = (uintptr_t)addr,
		.length = length,
		.ring_id = r->id,
		.user_data = DATA,
	};
	int ret = dev_cmd(r->fd, KVERBS_REGION_CREATE, &cmd);

	*id = ret ? 0 : cmd.out_id;
	return ret;
}

static uint32_t track(struct ring *r, const void *addr, uint64_t length)
{
	uint32_t id;

	CHECK_OK(try_track(r, addr, length, 0, &id));
	CHECK(id);
	return id;
}

static unsigned char *map_pages(int flags, int fd)
{
	unsigned char *map = mmap(NULL, SIZE, RW, flags, fd, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

static uint32_t set_up(void)
{
	ring_open(&ring, dev_open(), 8, 32);
	memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(memory, 0x11, SIZE);
	return track(&ring, memory, SIZE);
}

/* All is told by the time at which the system call has returned, so nothing waits here. */
static void check_stale(struct ring *r, uint32_t region)
{
	struct kverbs_cqe cqe;

	CHECK_EQ(nr_stale(r), 1);
	CHECK(ring_peek(r, &cqe));
	CHECK_EQ(cqe.type, KVERBS_CQE_REGION_STALE);
	CHECK_EQ(cqe.id, region);
	CHECK_EQ(cqe.user_data, DATA);
	CHECK_EQ(cqe.result, 0);
	CHECK_EQ(ring_unread(r), 0);
	CHECK_OK(dev_destroy(r->fd, region));
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

static void check_not_stale(struct ring *r, uint32_t region)
{
	CHECK_EQ(nr_stale(r), 0);
	CHECK_EQ(ring_unread(r), 0);
	CHECK_OK(dev_destroy(r->fd, region));
}

static void await_child(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

TEST(munmap_makes_a_region_stale)
{
	uint32_t region = set_up();

	CHECK_EQ(nr_stale(&ring), 0);
	CHECK_EQ(munmap(memory, SIZE), 0);
	check_stale(&ring, region);
}

TEST(munmap_of_one_page_makes_a_region_stale)
{
	uint32_t region = set_up();

	CHECK_EQ(munmap(memory + 3 * PAGE, PAGE), 0);
	check_stale(&ring, region);
}

TEST(munmap_beside_a_region_does_not_make_it_stale)
{
	uint32_t region;

	set_up();
	region = track(&ring, memory + PAGE + 1, 2 * PAGE - 1);
	CHECK_EQ(munmap(memory, PAGE), 0);
	/* The region of all pages. */
	CHECK_EQ(ring_next(&ring).type, KVERBS_CQE_REGION_STALE);
	CHECK_EQ(munmap(memory + 3 * PAGE, PAGE), 0);
	CHECK_EQ(nr_stale(&ring), 1);
	CHECK_EQ(munmap(memory + 2 * PAGE, PAGE), 0);
	CHECK_EQ(nr_stale(&ring), 2);
	CHECK_EQ(ring_next(&ring).id, region);
}

TEST(mremap_to_another_place_makes_a_region_stale)
{
	uint32_t region = set_up();
	void *place = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	CHECK(mremap(memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	check_stale(&ring, region);
}

TEST(mremap_over_a_region_makes_it_stale)
{
	uint32_t region = set_up();
	void *other = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	CHECK(mremap(other, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory);
	check_stale(&ring, region);
}

TEST(MADV_DONTNEED_makes_a_region_stale)
{
	uint32_t region = set_up();

	CHECK_EQ(madvise(memory + PAGE, PAGE, MADV_DONTNEED), 0);
	CHECK_EQ(memory[PAGE], 0);
	check_stale(&ring, region);
}

TEST(MADV_FREE_makes_a_region_stale)
{
	uint32_t region = set_up();

	CHECK_EQ(madvise(memory + PAGE, PAGE, MADV_FREE), 0);
	check_stale(&ring, region);
}

TEST(other_memory_at_the_same_address_makes_a_region_stale_once)
{
	uint32_t region = set_up();

	CHECK_EQ(munmap(memory, SIZE), 0);
	CHECK(mmap(memory, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
	CHECK_EQ(munmap(memory, SIZE), 0);
	check_stale(&ring, region);
}

TEST(mmap_over_a_region_makes_it_stale)
{
	uint32_t region = set_up();

	CHECK(mmap(memory, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
	check_stale(&ring, region);
}

TEST(mprotect_does_not_make_a_region_stale)
{
	uint32_t region = set_up();

	CHECK_EQ(mprotect(memory, SIZE, PROT_READ), 0);
	CHECK_EQ(mprotect(memory, SIZE, PROT_NONE), 0);
	CHECK_EQ(mprotect(memory, SIZE, RW), 0);
	memory[0] = 1;
	check_not_stale(&ring, region);
}

TEST(clear_refs_does_not_make_a_region_stale)
{
	uint32_t region = set_up();
	int fd = open("/proc/self/clear_refs", O_WRONLY);

	CHECK(fd >= 0);
	/* Not every kernel has soft-dirty bits. */
	CHECK(write(fd, "4", 1) == 1 || errno == EINVAL);
	CHECK_EQ(write(fd, "1", 1), 1);
	memory[0] = 1;
	check_not_stale(&ring, region);
}

/* Reading maps the zero page, which is replaced when the memory is pinned. */
TEST(memory_that_was_only_read_does_not_begin_as_stale)
{
	uint32_t region;

	set_up();
	memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	CHECK_EQ(memory[0] + memory[PAGE], 0);
	region = track(&ring, memory, SIZE);
	memory[0] = 1;
	check_not_stale(&ring, region);
}

static int make_file(void)
{
	int fd = memfd_create("track", 0);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, SIZE), 0);
	return fd;
}

TEST(a_hole_that_another_process_punches_into_the_file_makes_a_region_stale)
{
	int fd = make_file();
	uint32_t region;
	pid_t pid;

	ring_open(&ring, dev_open(), 8, 32);
	memory = map_pages(MAP_SHARED, fd);
	region = track(&ring, memory, SIZE);
	pid = fork();
	if (!pid) {
		CHECK_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE), 0);
		_exit(0);
	}
	await_child(pid);
	CHECK_EQ(nr_stale(&ring), 1);
	CHECK_EQ(ring_next(&ring).id, region);
}

TEST(truncation_of_the_file_makes_a_region_stale)
{
	int fd = make_file();
	uint32_t region;

	ring_open(&ring, dev_open(), 8, 32);
	memory = map_pages(MAP_SHARED, fd);
	region = track(&ring, memory, SIZE);
	CHECK_EQ(ftruncate(fd, 2 * PAGE), 0);
	check_stale(&ring, region);
}

/* The child gets copies of pinned pages, so the pages of the parent stay its own. */
TEST(fork_does_not_make_a_region_stale)
{
	uint32_t region = set_up();
	int pipe_fds[2];
	char byte;
	pid_t pid;

	CHECK_EQ(pipe(pipe_fds), 0);
	pid = fork();
	if (!pid) {
		memory[PAGE] = 2;
		CHECK_EQ(read(pipe_fds[0], &byte, 1), 1);
		CHECK_EQ(memory[0], 0x11);
		CHECK_EQ(munmap(memory, SIZE), 0);
		_exit(0);
	}
	memory[0] = 1;
	memory[PAGE] = 1;
	CHECK_EQ(write(pipe_fds[1], "x", 1), 1);
	await_child(pid);
	CHECK_EQ(memory[PAGE], 1);
	check_not_stale(&ring, region);
}

TEST(exit_of_the_process_makes_its_regions_stale)
{
	uint32_t region;
	pid_t pid;

	ring_open(&ring, dev_open(), 8, 32);
	pid = fork();
	if (!pid) {
		memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
		track(&ring, memory, SIZE);
		_exit(0);
	}
	await_child(pid);
	region = ring_event(&ring, KVERBS_CQE_REGION_STALE, 0).id;
	CHECK_EQ(nr_stale(&ring), 1);
	CHECK_OK(dev_destroy(ring.fd, region));
	CHECK_OK(dev_destroy(ring.fd, ring.id));
}

/* The new program lives on, with the file, until its input ends. */
TEST(execve_makes_the_regions_of_the_process_stale)
{
	int pipe_fds[2];
	pid_t pid;

	ring_open(&ring, dev_open(), 8, 32);
	CHECK_EQ(fcntl(ring.fd, F_SETFD, 0), 0);
	CHECK_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
		track(&ring, memory, SIZE);
		dup2(pipe_fds[0], STDIN_FILENO);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	CHECK(ring_event(&ring, KVERBS_CQE_REGION_STALE, 0).id);
	CHECK_EQ(nr_stale(&ring), 1);
	CHECK_EQ(waitpid(pid, NULL, WNOHANG), 0);
	CHECK_EQ(close(pipe_fds[1]), 0);
	await_child(pid);
}

TEST(a_process_may_exit_with_regions_that_are_stale_and_others)
{
	pid_t pid = fork();

	if (!pid) {
		set_up();
		track(&ring, memory + PAGE, PAGE);
		CHECK_EQ(munmap(memory, PAGE), 0);
		_exit(0);
	}
	await_child(pid);
}

TEST(a_stale_region_makes_the_file_readable)
{
	uint32_t region = set_up();
	struct pollfd wait = { .fd = ring.fd, .events = POLLIN };

	CHECK_EQ(poll(&wait, 1, 0), 0);
	CHECK_EQ(munmap(memory, SIZE), 0);
	CHECK_EQ(poll(&wait, 1, 0), 1);
	check_stale(&ring, region);
}

TEST(a_tracked_region_needs_a_ring_and_a_slot)
{
	uint32_t ids[4], id, i;

	ring_open(&ring, dev_open(), 4, 4);
	memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		CHECK_OK(try_track(&ring, memory, SIZE, KVERBS_REGION_READ_ONLY, &ids[i]));
	CHECK_ERR(try_track(&ring, memory, SIZE, 0, &id), EAGAIN);
	CHECK_ERR(dev_destroy(ring.fd, ring.id), EBUSY);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		CHECK_OK(dev_destroy(ring.fd, ids[i]));
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	CHECK_OK(dev_destroy(ring.fd, ring.id));
	CHECK_ERR(try_track(&ring, memory, SIZE, 0, &id), ENOENT);
}

static struct pair pair;
static struct buf local;

/* Connect, fill a page to send, and track so many bytes of other memory. Returns their region. */
static uint32_t open_tracked(uint64_t length)
{
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, PAGE);
	buf_fill(&local, 1);
	memory = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return track(&pair.ring, memory, length);
}

static void put_recv(uint32_t region, uint64_t offset, uint64_t user_data)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, region, offset, PAGE);

	sqe.user_data = user_data;
	CHECK_OK(ring_put(&pair.ring, &sqe));
}

/* A receive keeps its pages, and new memory at the same address stays as it is. */
TEST(a_receive_into_a_stale_region_completes_and_leaves_new_memory_alone)
{
	uint32_t region = open_tracked(PAGE);

	put_recv(region, 0, 7);
	CHECK(mmap(memory, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
	CHECK_EQ(ring_event(&pair.ring, KVERBS_CQE_REGION_STALE, region).user_data, DATA);
	memset(memory, 0x33, SIZE);
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, local.region, 0, PAGE)));
	CHECK_DONE(ring_work(&pair.ring, 7));
	CHECK_EQ(memory[0], 0x33);
	CHECK_EQ(memcmp(memory, memory + PAGE, PAGE), 0);
	CHECK_OK(dev_destroy(pair.fd, region));
}

/* The peer's WRITEs go on while the memory is unmapped under them. */
TEST(a_peer_may_write_to_an_export_while_its_region_becomes_stale)
{
	struct kverbs_segment seg;
	uint32_t region = open_tracked(PAGE), export;
	struct kverbs_sqe sqe;
	unsigned int i;

	export = dev_export(pair.fd, pair.server, region, 0, PAGE, KVERBS_REMOTE_WRITE, &seg,
			    NULL);
	for (i = 0; i < 16; i++) {
		sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0, PAGE, &seg);
		sqe.user_data = i;
		sqe.flags = KVERBS_SQE_SIGNAL;
		CHECK_OK(ring_put(&pair.ring, &sqe));
		if (i == 8)
			CHECK_EQ(munmap(memory, SIZE), 0);
	}
	for (i = 0; i < 16; i++)
		CHECK_DONE(ring_work(&pair.ring, i));
	CHECK_EQ(nr_stale(&pair.ring), 1);
	CHECK_EQ(ring_event(&pair.ring, KVERBS_CQE_REGION_STALE, region).id, region);
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(a_tracked_region_moves_data_like_any_other)
{
	uint32_t region = open_tracked(SIZE);

	put_recv(region, 100, 8);
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, local.region, 0, PAGE)));
	CHECK_DONE(ring_work(&pair.ring, 8));
	CHECK_EQ(memcmp(memory + 100, local.addr, PAGE), 0);
	check_not_stale(&pair.ring, region);
}
