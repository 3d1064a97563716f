// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/mman.h>

#include "bench/pages.h"

#define HUGE_BYTES ((size_t)2 << 20)

#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS)
#define HUGE_FLAGS (FLAGS | MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE)

size_t pages_bytes(enum pages_kind kind)
{
	return kind == PAGES_HUGE ? HUGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);
}

static int map(struct pages *p, size_t size, int flags)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (addr == MAP_FAILED)
		return -ENOMEM;
	p->addr = addr;
	p->mapped = size;
	return 0;
}

/* Cut down to what begins and ends with a huge page. */
static void trim(struct pages *p, size_t size)
{
	size_t head = -(uintptr_t)p->addr & (HUGE_BYTES - 1);
	size_t tail = p->mapped - head - size;
	char *addr = p->addr;

	if (head)
		munmap(addr, head);
	if (tail)
		munmap(addr + head + size, tail);
	p->addr = addr + head;
	p->mapped = size;
}

/* Whether a line of smaps begins the mapping that @addr is in. */
static bool begins(const char *line, const void *addr, bool *here)
{
	unsigned long from, to;

	if (sscanf(line, "%lx-%lx ", &from, &to) != 2)
		return false;
	*here = (uintptr_t)addr >= from && (uintptr_t)addr < to;
	return true;
}

/* The kernel gives huge pages if it has some, and does not say whether it did. */
static bool is_huge(const struct pages *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool here = false;
	char line[512];
	size_t kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!begins(line, p->addr, &here) && here &&
		    sscanf(line, "AnonHugePages: %zu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb >= p->mapped / 1024;
}

/* Reserved ones by preference, since those are huge for certain. */
static int alloc_huge(struct pages *p, size_t size)
{
	if (!map(p, size, HUGE_FLAGS))
		return 0;
	if (map(p, size + HUGE_BYTES, FLAGS))
		return -ENOMEM;
	trim(p, size);
	madvise(p->addr, size, MADV_HUGEPAGE);
	memset(p->addr, 1, size);
	if (is_huge(p))
		return 0;
	pages_free(p);
	return -ENODATA;
}

static int alloc_base(struct pages *p, size_t size)
{
	int ret = map(p, size, FLAGS);

	if (ret)
		return ret;
	/* A kernel without huge pages refuses, and gives none anyway. */
	madvise(p->addr, size, MADV_NOHUGEPAGE);
	memset(p->addr, 1, size);
	return 0;
}

int pages_alloc(struct pages *p, enum pages_kind kind, size_t size)
{
	size_t page = pages_bytes(kind);

	size = (size + page - 1) / page * page;
	return kind == PAGES_HUGE ? alloc_huge(p, size) : alloc_base(p, size);
}

void pages_free(struct pages *p)
{
	munmap(p->addr, p->mapped);
	p->addr = NULL;
	p->mapped = 0;
}
