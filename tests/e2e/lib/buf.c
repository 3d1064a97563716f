// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of every kind, and checks of its contents. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf.h"

#define POISON		0xa5
#define HUGE_PAGE	(2 * MIB)
#define RW		(PROT_READ | PROT_WRITE)

static unsigned char *must_map(void *addr, size_t size, int prot, int flags, int fd,
			       size_t offset)
{
	void *map = mmap(addr, size, prot, flags, fd, offset);

	CHECK(map != MAP_FAILED);
	return map;
}

static int new_memfd(size_t size)
{
	int fd = memfd_create("kverbs-test", 0);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, size), 0);
	return fd;
}

static int new_file(size_t size)
{
	char path[] = "/tmp/kverbs-test.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	unlink(path);
	CHECK_EQ(ftruncate(fd, size), 0);
	return fd;
}

static unsigned char *map_scattered(size_t size)
{
	unsigned char *map = must_map(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
				      -1, 0);
	int fd = new_memfd(size);
	size_t at;

	for (at = 0; at < size; at += PAGE)
		must_map(map + at, PAGE, RW, MAP_SHARED | MAP_FIXED, fd, size - PAGE - at);
	close(fd);
	return map;
}

static unsigned char *map_huge(size_t size)
{
	size_t pages = (size + HUGE_PAGE - 1) / HUGE_PAGE;
	void *map;

	test_shell("f=/proc/sys/vm/nr_hugepages; [ ! -e $f ] || echo $(($(cat $f) + %zu)) >$f",
		   pages);
	map = mmap(NULL, pages * HUGE_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		   -1, 0);
	if (map == MAP_FAILED)
		test_skip("no huge pages: %s", test_errno(errno));
	return map;
}

/* @twin: a writable mapping of the memory if the returned one is read-only */
static unsigned char *map_kind(enum buf_kind kind, size_t size, unsigned char **twin)
{
	int fd;

	*twin = NULL;
	switch (kind) {
	case BUF_SCATTERED:
		return map_scattered(size);
	case BUF_SHMEM:
		return must_map(NULL, size, RW, MAP_SHARED, new_memfd(size), 0);
	case BUF_FILE:
		return must_map(NULL, size, RW, MAP_PRIVATE, new_file(size), 0);
	case BUF_HUGE:
		return map_huge(size);
	case BUF_READ_ONLY:
		fd = new_memfd(size);
		*twin = must_map(NULL, size, RW, MAP_SHARED, fd, 0);
		return must_map(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	case BUF_FILE_READ_ONLY:
		fd = new_file(size);
		*twin = must_map(NULL, size, RW, MAP_SHARED, fd, 0);
		return must_map(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	default:
		return must_map(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
}

static unsigned char pattern(unsigned int seed, size_t at)
{
	return (at * 2654435761u >> 13) + seed + at;
}

/* Pinning copies private pages of a file: fill them before. */
void buf_open(struct buf *buf, int fd, enum buf_kind kind, size_t size)
{
	size_t whole = (size + PAGE - 1) / PAGE * PAGE + 2 * PAGE;
	bool read_only = kind == BUF_READ_ONLY || kind == BUF_FILE_READ_ONLY;
	unsigned char *map, *twin;

	map = map_kind(kind, whole, &twin);
	*buf = (struct buf){
		.addr = map + PAGE,
		.size = size,
		.twin = twin ? twin + PAGE : NULL,
	};
	buf_fill(buf, kind);
	buf->region = dev_region(fd, buf->addr, size,
				 read_only ? KVERBS_REGION_READ_ONLY : 0);
}

static unsigned char *writable(struct buf *buf)
{
	return buf->twin ? buf->twin : buf->addr;
}

void buf_fill(struct buf *buf, unsigned int seed)
{
	unsigned char *to = writable(buf);
	size_t at;

	for (at = 0; at < buf->size; at++)
		to[at] = pattern(seed, at);
}

/* Guard pages are poisoned, too. */
void buf_poison(struct buf *buf)
{
	memset(writable(buf) - PAGE, POISON, buf->size + 2 * PAGE);
}

static void check_poison(const unsigned char *at, size_t length, const struct buf *buf)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (at[i] != POISON)
			FAIL("byte %zd of the sink was written", at + i - buf->addr);
}

/* Compare every byte: the moved range has the source's bytes, the rest is unchanged. */
void buf_check_moved(const struct buf *to, size_t to_offset, const struct buf *from,
		     size_t from_offset, size_t length)
{
	const unsigned char *got = to->addr + to_offset;
	const unsigned char *want = from->addr + from_offset;
	const unsigned char *end = to->addr + to->size + PAGE;
	size_t i;

	if (memcmp(got, want, length))
		for (i = 0; i < length; i++)
			if (got[i] != want[i])
				FAIL("byte %zu of %zu is %#x, not %#x", i, length, got[i],
				     want[i]);
	check_poison(to->addr - PAGE, to_offset + PAGE, to);
	check_poison(got + length, end - (got + length), to);
}

void buf_check_untouched(const struct buf *buf)
{
	check_poison(buf->addr - PAGE, buf->size + 2 * PAGE, buf);
}
