// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Resource limits: which user is charged for what, and when the charge is returned. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"

#define PAGES		16
#define PAGE		4096UL
#define SOMEBODY	65534

static char memory[(PAGES + 1) * PAGE] __aligned(4096);

static void become_somebody(unsigned long pages)
{
	struct rlimit limit = { pages * PAGE, pages * PAGE };

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_EQ(setgid(SOMEBODY), 0);
	CHECK_EQ(setuid(SOMEBODY), 0);
}

static int try_pages(int fd, unsigned long pages, uint32_t *id)
{
	return dev_try_region(fd, memory, pages * PAGE, 0, id);
}

TEST(RLIMIT_MEMLOCK_is_kept_to_the_page)
{
	int fd = dev_open();
	uint32_t id;

	become_somebody(PAGES);
	CHECK_ERR(try_pages(fd, PAGES + 1, &id), ENOMEM);
	CHECK_OK(try_pages(fd, PAGES, &id));
	CHECK_ERR(try_pages(fd, 1, NULL), ENOMEM);
	CHECK_OK(dev_destroy(fd, id));
	CHECK_OK(try_pages(fd, PAGES, &id));
}

TEST(a_region_is_charged_for_every_page_that_it_touches)
{
	int fd = dev_open();
	uint32_t id;

	become_somebody(2);
	CHECK_ERR(dev_try_region(fd, memory + PAGE - 1, PAGE + 2, 0, &id), ENOMEM);
	CHECK_OK(dev_try_region(fd, memory + PAGE - 1, PAGE + 1, 0, &id));
	CHECK_EQ(test_status_kb(0, "VmPin"), 8);
}

TEST(a_limit_of_zero_gives_EPERM)
{
	int fd = dev_open();

	become_somebody(0);
	CHECK_ERR(try_pages(fd, 1, NULL), EPERM);
}

TEST(CAP_IPC_LOCK_removes_the_limit)
{
	struct rlimit none = { 0, 0 };
	int fd = dev_open();

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	CHECK_OK(try_pages(fd, PAGES, NULL));
	CHECK_EQ(test_status_kb(0, "VmPin"), PAGES * 4);
}

TEST(a_region_shows_in_VMPIN_until_DESTROY)
{
	long before = test_status_kb(0, "VmPin");
	int fd = dev_open();
	uint32_t one, two;

	CHECK_OK(try_pages(fd, 3, &one));
	CHECK_OK(try_pages(fd, 5, &two));
	CHECK_EQ(test_status_kb(0, "VmPin"), before + 32);
	CHECK_OK(dev_destroy(fd, one));
	CHECK_EQ(test_status_kb(0, "VmPin"), before + 20);
	CHECK_OK(dev_destroy(fd, two));
	CHECK_EQ(test_status_kb(0, "VmPin"), before);
}

TEST(close_releases_the_charge)
{
	int fd = dev_open(), next = dev_open();

	become_somebody(PAGES);
	CHECK_OK(try_pages(fd, PAGES, NULL));
	CHECK_ERR(try_pages(next, 1, NULL), ENOMEM);
	close(fd);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	CHECK_OK(try_pages(next, PAGES, NULL));
}

static int fork_and_pin(int fd)
{
	int pipe_fds[2], pid;
	char byte;

	CHECK_EQ(pipe(pipe_fds), 0);
	pid = fork();
	if (!pid) {
		CHECK_OK(try_pages(fd, PAGES, NULL));
		CHECK_EQ(write(pipe_fds[1], "x", 1), 1);
		pause();
	}
	close(pipe_fds[1]);
	CHECK_EQ(read(pipe_fds[0], &byte, 1), 1);
	return pid;
}

TEST(objects_of_a_child_live_while_the_parent_has_the_file_open)
{
	int next = dev_open();
	int pid, status;

	become_somebody(PAGES);
	pid = fork();
	if (!pid) {
		CHECK_OK(try_pages(next, 1, NULL));
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	/* The file is still open in this process, so the child's objects still exist. */
	CHECK_ERR(try_pages(next, PAGES, NULL), ENOMEM);
	CHECK_OK(try_pages(next, PAGES - 1, NULL));
}

TEST(SIGKILL_releases_the_charge)
{
	int next = dev_open(), fd = dev_open();
	int pid;

	become_somebody(PAGES);
	pid = fork_and_pin(fd);
	close(fd);
	CHECK_ERR(try_pages(next, 1, NULL), ENOMEM);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_OK(try_pages(next, PAGES, NULL));
}

TEST(memory_pinned_by_a_child_is_charged_to_it_and_released_by_the_parent)
{
	int fd = dev_open(), next = dev_open();
	int pid;

	become_somebody(PAGES);
	pid = fork_and_pin(fd);
	CHECK_EQ(test_status_kb(pid, "VmPin"), PAGES * 4);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_ERR(try_pages(next, 1, NULL), ENOMEM);
	close(fd);
	CHECK_OK(try_pages(next, PAGES, NULL));
}

TEST(a_failed_REGION_CREATE_charges_nothing)
{
	char *hole = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = dev_open();

	CHECK(hole != MAP_FAILED);
	CHECK_EQ(munmap(hole + 3 * PAGE, PAGE), 0);
	become_somebody(PAGES);
	CHECK_ERR(dev_try_region(fd, hole, 4 * PAGE, 0, NULL), EFAULT);
	CHECK_ERR(dev_try_region(fd, hole, 4 * PAGE, KVERBS_REGION_READ_ONLY, NULL), EFAULT);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	CHECK_OK(try_pages(fd, PAGES, NULL));
}

TEST(read_only_memory_needs_a_READ_ONLY_region)
{
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = dev_open();

	CHECK(map != MAP_FAILED);
	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_OK(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL));
}

TEST(a_region_of_one_byte_and_one_across_two_pages_are_fine)
{
	int fd = dev_open();

	CHECK_OK(dev_try_region(fd, memory + 1, 1, 0, NULL));
	CHECK_OK(dev_try_region(fd, memory + PAGE - 1, 2, 0, NULL));
	CHECK_EQ(test_status_kb(0, "VmPin"), 12);
}

TEST(a_file_can_have_as_many_objects_as_INFO_reports)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	int fd = dev_open();
	uint32_t i, id = 0;

	if (test_kernel_is("debug"))
		test_skip("too slow with a debug kernel");
	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	for (i = 0; i < info.out_max_objects; i++)
		CHECK_OK(dev_try_region(fd, memory, 1, 0, &id));
	CHECK_ERR(dev_try_region(fd, memory, 1, 0, NULL), ENOMEM);
	CHECK_OK(dev_destroy(fd, id));
	CHECK_OK(dev_try_region(fd, memory, 1, 0, NULL));
}

TEST(a_file_can_have_256_rings_and_no_more)
{
	struct kverbs_cmd_ring_create make = { .size = sizeof(make), .sq_entries = 1,
					       .cq_entries = 1 };
	int fd = dev_open();
	unsigned int i;

	for (i = 0; i < 256; i++)
		CHECK_OK(dev_cmd(fd, KVERBS_RING_CREATE, &make));
	CHECK_ERR(dev_cmd(fd, KVERBS_RING_CREATE, &make), ENOMEM);
	CHECK_OK(dev_destroy(fd, make.out_id));
	CHECK_OK(dev_cmd(fd, KVERBS_RING_CREATE, &make));
}
