// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mmap(2) of a ring: what is allowed and what is refused. */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"

static struct kverbs_cmd_ring_create made;
static int fd;

static void make_ring(void)
{
	fd = dev_open();
	made = (struct kverbs_cmd_ring_create){
		.size = sizeof(made),
		.sq_entries = 256,
		.cq_entries = 256,
	};
	CHECK_OK(dev_cmd(fd, KVERBS_RING_CREATE, &made));
}

static void *map(uint64_t offset, uint64_t size, int prot, int flags)
{
	return mmap(NULL, size, prot, flags, fd, offset);
}

/* Returns 0 or -errno. */
static int try_map(uint64_t offset, uint64_t size, int prot, int flags)
{
	return map(offset, size, prot, flags) == MAP_FAILED ? -errno : 0;
}

#define RW	(PROT_READ | PROT_WRITE)

TEST(all_three_areas_can_be_mapped)
{
	make_ring();
	CHECK_OK(try_map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED));
	CHECK_OK(try_map(made.out_cq_offset, made.out_cq_size, PROT_READ, MAP_SHARED));
	CHECK_OK(try_map(made.out_idx_offset, made.out_idx_size, RW, MAP_SHARED));
}

TEST(an_area_cannot_be_mapped_with_another_size)
{
	make_ring();
	CHECK(made.out_sq_size > 4096);
	CHECK_ERR(try_map(made.out_sq_offset, made.out_sq_size - 4096, RW, MAP_SHARED),
		  EINVAL);
	CHECK_ERR(try_map(made.out_sq_offset, made.out_sq_size + 4096, RW, MAP_SHARED),
		  EINVAL);
	CHECK_ERR(try_map(made.out_cq_offset, made.out_cq_size + 4096, PROT_READ,
			  MAP_SHARED), EINVAL);
	CHECK_ERR(try_map(made.out_idx_offset, 2 * made.out_idx_size, RW, MAP_SHARED),
		  EINVAL);
}

TEST(an_offset_inside_an_area_cannot_be_mapped)
{
	make_ring();
	CHECK_ERR(try_map(made.out_sq_offset + 4096, made.out_sq_size, RW, MAP_SHARED),
		  EINVAL);
	CHECK_ERR(try_map(made.out_sq_offset + 4096, 4096, RW, MAP_SHARED), EINVAL);
}

TEST(an_offset_of_no_ring_cannot_be_mapped)
{
	make_ring();
	CHECK_ERR(try_map(made.out_idx_offset + (1ULL << 32), made.out_idx_size, RW,
			  MAP_SHARED), EINVAL);
	CHECK_ERR(try_map(0x7ffffffff000, made.out_idx_size, RW, MAP_SHARED), EINVAL);
	CHECK_OK(dev_destroy(fd, made.out_id));
	CHECK_ERR(try_map(made.out_idx_offset, made.out_idx_size, RW, MAP_SHARED), EINVAL);
}

TEST(completions_cannot_be_mapped_for_writing)
{
	make_ring();
	CHECK_ERR(try_map(made.out_cq_offset, made.out_cq_size, RW, MAP_SHARED), EPERM);
	CHECK_ERR(try_map(made.out_cq_offset, made.out_cq_size, PROT_WRITE, MAP_SHARED),
		  EPERM);
}

TEST(completions_cannot_be_made_writable_later)
{
	void *addr;

	make_ring();
	addr = map(made.out_cq_offset, made.out_cq_size, PROT_READ, MAP_SHARED);
	CHECK(addr != MAP_FAILED);
	CHECK_EQ(mprotect(addr, made.out_cq_size, RW), -1);
	CHECK_EQ(errno, EACCES);
}

TEST(no_area_can_be_mapped_privately)
{
	make_ring();
	CHECK_ERR(try_map(made.out_sq_offset, made.out_sq_size, RW, MAP_PRIVATE), EINVAL);
	CHECK_ERR(try_map(made.out_cq_offset, made.out_cq_size, PROT_READ, MAP_PRIVATE),
		  EINVAL);
	CHECK_ERR(try_map(made.out_idx_offset, made.out_idx_size, RW, MAP_PRIVATE), EINVAL);
}

TEST(no_area_can_be_executed)
{
	void *addr;

	make_ring();
	CHECK_ERR(try_map(made.out_sq_offset, made.out_sq_size, RW | PROT_EXEC, MAP_SHARED),
		  EPERM);
	CHECK_ERR(try_map(made.out_cq_offset, made.out_cq_size, PROT_READ | PROT_EXEC,
			  MAP_SHARED), EPERM);
	addr = map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED);
	CHECK(addr != MAP_FAILED);
	CHECK_EQ(mprotect(addr, made.out_sq_size, PROT_READ | PROT_EXEC), -1);
	CHECK_EQ(errno, EACCES);
}

TEST(a_mapping_cannot_grow)
{
	void *addr;

	make_ring();
	addr = map(made.out_idx_offset, made.out_idx_size, RW, MAP_SHARED);
	CHECK(addr != MAP_FAILED);
	CHECK(mremap(addr, made.out_idx_size, 2 * made.out_idx_size, MREMAP_MAYMOVE) ==
	      MAP_FAILED);
	CHECK_EQ(errno, EFAULT);
}

TEST(a_mapping_outlives_its_ring)
{
	struct kverbs_ring_user *user;

	make_ring();
	user = map(made.out_idx_offset, made.out_idx_size, RW, MAP_SHARED);
	CHECK(user != MAP_FAILED);
	CHECK_OK(dev_destroy(fd, made.out_id));
	user->sq_tail = 0x12345678;
	CHECK_EQ(user->sq_tail, 0x12345678);
}

TEST(new_rings_contain_nothing_of_old_ones)
{
	unsigned char *page;
	size_t i;

	make_ring();
	page = map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED);
	CHECK(page != MAP_FAILED);
	memset(page, 0xaa, made.out_sq_size);
	munmap(page, made.out_sq_size);
	CHECK_OK(dev_destroy(fd, made.out_id));
	make_ring();
	page = map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED);
	CHECK(page != MAP_FAILED);
	for (i = 0; i < made.out_sq_size; i++)
		CHECK_EQ(page[i], 0);
}

static void in_child(void (*run)(void *arg), void *arg)
{
	int status, pid = fork();

	if (!pid) {
		run(arg);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void not_mapped(void *addr)
{
	CHECK_EQ(msync(addr, 4096, MS_ASYNC), -1);
	CHECK_EQ(errno, ENOMEM);
}

TEST(a_forked_child_does_not_inherit_the_mappings)
{
	void *addr;

	make_ring();
	addr = map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED);
	CHECK(addr != MAP_FAILED);
	CHECK_EQ(msync(addr, 4096, MS_ASYNC), 0);
	in_child(not_mapped, addr);
}

static void use_file(void *arg)
{
	static char page[4096] __aligned(4096);
	long pinned = test_status_kb(0, "VmPin");
	uint32_t region;

	(void)arg;
	CHECK_OK(try_map(made.out_sq_offset, made.out_sq_size, RW, MAP_SHARED));
	region = dev_region(fd, page, sizeof(page), 0);
	CHECK_EQ(test_status_kb(0, "VmPin"), pinned + 4);
	CHECK_OK(dev_destroy(fd, region));
	CHECK_EQ(test_status_kb(0, "VmPin"), pinned);
}

TEST(a_forked_child_may_use_the_file_and_map_for_itself)
{
	make_ring();
	in_child(use_file, NULL);
}
