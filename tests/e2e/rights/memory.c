// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A process may pin only memory that it may read, and, for writing, that it may write. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"

#define RW		(PROT_READ | PROT_WRITE)
#define HUGE_PAGE	(2 * MIB)

static void *must_map(size_t size, int prot, int flags, int fd)
{
	void *map = mmap(NULL, size, prot, flags, fd, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

/* Memory that holds something, of which not even its owner may read any more. */
static char *secret(int flags)
{
	char *map = must_map(PAGE, RW, flags | MAP_ANONYMOUS, -1);

	memset(map, 'x', PAGE);
	CHECK_EQ(mprotect(map, PAGE, PROT_NONE), 0);
	return map;
}

TEST(private_PROT_NONE_memory_cannot_be_pinned)
{
	int fd = dev_open();
	char *map = secret(MAP_PRIVATE);

	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_ERR(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL), EFAULT);
}

TEST(shared_PROT_NONE_memory_cannot_be_pinned)
{
	int fd = dev_open();
	char *map = secret(MAP_SHARED);

	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_ERR(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL), EFAULT);
}

TEST(a_region_does_not_reach_into_a_guard_page)
{
	int fd = dev_open();
	char *map = must_map(2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	CHECK_EQ(mprotect(map + PAGE, PAGE, PROT_NONE), 0);
	CHECK_ERR(dev_try_region(fd, map, PAGE + 1, KVERBS_REGION_READ_ONLY, NULL), EFAULT);
	CHECK_OK(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL));
	CHECK_EQ(test_status_kb(0, "VmPin"), 4);
}

TEST(private_read_only_memory_can_be_a_READ_ONLY_region)
{
	int fd = dev_open();
	char *map = must_map(PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_OK(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL));
}

/* Memory to which the calling thread has only the rights that it gives the returned key. */
static int must_guard(void *map, size_t size)
{
	int key = pkey_alloc(0, 0);

	if (key < 0)
		test_skip("no protection keys: %s", test_errno(errno));
	CHECK_EQ(pkey_mprotect(map, size, RW, key), 0);
	return key;
}

static void check_key_forbids_access(int flags)
{
	char *map = must_map(PAGE, RW, flags | MAP_ANONYMOUS, -1);
	int fd = dev_open(), key = must_guard(map, PAGE);

	memset(map, 'x', PAGE);
	CHECK_EQ(pkey_set(key, PKEY_DISABLE_ACCESS), 0);
	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_ERR(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL), EFAULT);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	CHECK_EQ(pkey_set(key, 0), 0);
	CHECK_OK(dev_try_region(fd, map, PAGE, 0, NULL));
}

TEST(private_memory_behind_a_closed_protection_key_cannot_be_pinned)
{
	check_key_forbids_access(MAP_PRIVATE);
}

TEST(shared_memory_behind_a_closed_protection_key_cannot_be_pinned)
{
	check_key_forbids_access(MAP_SHARED);
}

static void check_key_forbids_writes(int flags, int error)
{
	char *map = must_map(PAGE, RW, flags | MAP_ANONYMOUS, -1);
	int fd = dev_open(), key = must_guard(map, PAGE);

	memset(map, 'x', PAGE);
	CHECK_EQ(pkey_set(key, PKEY_DISABLE_WRITE), 0);
	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_ERR(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL), error);
}

/* 6.1 breaks copy-on-write only for a pin that may write. */
TEST(private_memory_that_a_protection_key_makes_read_only_can_be_a_READ_ONLY_region)
{
	check_key_forbids_writes(MAP_PRIVATE, test_kernel_is("6.1") ? EFAULT : 0);
}

TEST(shared_memory_that_a_protection_key_makes_read_only_can_be_a_READ_ONLY_region)
{
	check_key_forbids_writes(MAP_SHARED, 0);
}

TEST(private_read_only_huge_pages_can_be_a_READ_ONLY_region)
{
	int fd = dev_open();
	void *map;

	if (test_kernel_is("6.1"))
		test_skip("6.1 cannot unshare a huge page that is only readable");
	test_shell("f=/proc/sys/vm/nr_hugepages; [ ! -e $f ] || echo $(($(cat $f) + 1)) >$f");
	map = mmap(NULL, HUGE_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (map == MAP_FAILED)
		test_skip("no huge pages: %s", test_errno(errno));
	CHECK_ERR(dev_try_region(fd, map, PAGE, 0, NULL), EFAULT);
	CHECK_OK(dev_try_region(fd, map, PAGE, KVERBS_REGION_READ_ONLY, NULL));
}

/* Writes through the process's own mapping, then has the HCA read. */
static void check_seen(char *map, uint32_t region, struct pair *pair)
{
	struct kverbs_sqe recv;
	struct buf to;

	memset(map, 'n', PAGE);
	buf_open(&to, pair->fd, BUF_ANON, PAGE);
	recv = sqe_recv(pair->server, to.region, 0, PAGE);
	recv.user_data = 7;
	CHECK_OK(ring_put(&pair->ring, &recv));
	CHECK_DONE(ring_do(&pair->ring, sqe_send(pair->client, region, 0, PAGE)));
	CHECK_DONE(ring_work(&pair->ring, 7));
	CHECK_EQ(memcmp(to.addr, map, PAGE), 0);
}

static void read_a_byte(const char *map)
{
	__atomic_load_n(map, __ATOMIC_RELAXED);
}

TEST(a_READ_ONLY_region_shows_later_writes_to_memory_that_was_only_read)
{
	char *map = must_map(PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct pair pair;

	pair_open(&pair);
	read_a_byte(map);
	check_seen(map, dev_region(pair.fd, map, PAGE, KVERBS_REGION_READ_ONLY), &pair);
}

TEST(a_READ_ONLY_region_shows_later_writes_to_a_private_file_mapping)
{
	char path[] = "/tmp/kverbs-test.XXXXXX", *map;
	int file = mkstemp(path);
	struct pair pair;

	CHECK(file >= 0);
	unlink(path);
	CHECK_EQ(ftruncate(file, PAGE), 0);
	map = must_map(PAGE, RW, MAP_PRIVATE, file);
	pair_open(&pair);
	read_a_byte(map);
	check_seen(map, dev_region(pair.fd, map, PAGE, KVERBS_REGION_READ_ONLY), &pair);
}

TEST(a_READ_ONLY_region_shows_later_writes_to_memory_shared_with_a_child)
{
	char *map = must_map(PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct pair pair;

	memset(map, 'x', PAGE);
	pair_open(&pair);
	if (!fork()) {
		pause();
		_exit(0);
	}
	check_seen(map, dev_region(pair.fd, map, PAGE, KVERBS_REGION_READ_ONLY), &pair);
}

static int new_file_on(const char *mount)
{
	struct stat here, there;
	int fd;

	CHECK_EQ(stat("/mnt", &here), 0);
	if (stat(mount, &there) || here.st_dev == there.st_dev)
		test_skip("no disk at %s", mount);
	fd = open(mount, O_TMPFILE | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, 4 * PAGE), 0);
	return fd;
}

/* Its file system writes a page back, and then expects to be asked before the next write. */
static void check_shared_file(const char *mount)
{
	int fd = dev_open(), file = new_file_on(mount), ret;
	char *map = must_map(4 * PAGE, RW, MAP_SHARED, file);

	memset(map, 'x', 4 * PAGE);
	ret = dev_try_region(fd, map, 4 * PAGE, 0, NULL);
	if (ret != -EFAULT)
		CHECK_ERR(ret, EOPNOTSUPP);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	CHECK_OK(dev_try_region(fd, map, 4 * PAGE, KVERBS_REGION_READ_ONLY, NULL));
	map = must_map(4 * PAGE, RW, MAP_PRIVATE, file);
	CHECK_OK(dev_try_region(fd, map, 4 * PAGE, 0, NULL));
}

TEST(a_shared_mapping_of_a_file_on_ext4_cannot_be_pinned_for_writing)
{
	check_shared_file("/mnt/ext4");
}

TEST(a_shared_mapping_of_a_file_on_xfs_cannot_be_pinned_for_writing)
{
	check_shared_file("/mnt/xfs");
}
