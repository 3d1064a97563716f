// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory for regions, and disturbances of it while it is in use. */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

#define RW	(PROT_READ | PROT_WRITE)

static char *map(void *at, size_t size, int flags, int fd, off_t offset)
{
	return mmap(at, size, RW, flags | (at ? MAP_FIXED : 0), fd, offset);
}

/* Its memory is not in an arena, so nothing disturbs it. */
static int make_dmabuf(void)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = DMABUF_SIZE };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memfd, fd;

	if (device < 0)
		return -1;
	memfd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memfd < 0 || ftruncate(memfd, DMABUF_SIZE) ||
	    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		abort();
	create.memfd = memfd;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	close(memfd);
	close(device);
	return fd;
}

/**
 * memory_create() - map the arenas
 * @world: the world; an arena that cannot be mapped is left out
 */
void memory_create(struct world *world)
{
	char *huge = map(NULL, ARENA_SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	world->memfd = memfd_create("fuzz", MFD_CLOEXEC);
	if (world->memfd < 0 || ftruncate(world->memfd, ARENA_SIZE))
		abort();
	world->arenas[ANON] = map(NULL, ARENA_SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	world->arenas[SHARED] = map(NULL, ARENA_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	world->arenas[MEMFD] = map(NULL, ARENA_SIZE, MAP_SHARED, world->memfd, 0);
	world->arenas[HUGE] = huge == MAP_FAILED ? NULL : huge;
	world->dmabuf = make_dmabuf();
}

static uint64_t choose_length(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 1 + rng_below(rng, PAGE);
	case 1:
		return 1 + rng_below(rng, ARENA_SIZE);
	default:
		return MESSAGE + rng_below(rng, 16 * PAGE);
	}
}

/**
 * memory_choose() - choose a range of memory, parts of which may be unmapped
 * @f: the thread
 * @length: length of the range
 *
 * Return: its start.
 */
char *memory_choose(struct fuzzer *f, uint64_t *length)
{
	char *arena = f->world->arenas[rng_below(&f->rng, NR_ARENAS)];
	uint64_t start;

	*length = choose_length(&f->rng);
	start = rng_below(&f->rng, ARENA_SIZE - *length + 1);
	if (rng_once_in(&f->rng, 4))
		start &= ~(PAGE - 1);
	return (arena ?: f->world->arenas[ANON]) + start;
}

/* Returns the arena of an address, HUGE if it is in none of the others. */
static enum arena arena_of(const struct world *world, const char *at)
{
	enum arena arena;

	for (arena = ANON; arena < HUGE; arena++)
		if (at >= world->arenas[arena] && at < world->arenas[arena] + ARENA_SIZE)
			break;
	return arena;
}

static void map_anew(struct world *world, enum arena arena, char *at, size_t size)
{
	if (arena == MEMFD)
		map(at, size, MAP_SHARED, world->memfd, at - world->arenas[MEMFD]);
	else
		map(at, size, MAP_ANONYMOUS | (arena == ANON ? MAP_PRIVATE : MAP_SHARED), -1, 0);
}

static size_t until_end(const struct world *world, enum arena arena, const char *at)
{
	return world->arenas[arena] + ARENA_SIZE - at;
}

/**
 * memory_mend() - map an unusable range again
 * @world: the world
 * @at: its start
 * @size: bytes
 */
void memory_mend(struct world *world, char *at, size_t size)
{
	enum arena arena = arena_of(world, at);
	size_t into = (uintptr_t)at % PAGE;

	if (arena == HUGE)
		return;
	at -= into;
	size += into;
	if (size > until_end(world, arena, at))
		size = until_end(world, arena, at);
	map_anew(world, arena, at, (size + PAGE - 1) & ~(PAGE - 1));
}

static void fork_a_writer(struct fuzzer *f, char *at, size_t size)
{
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	/* The pages may be unmapped or read-only: then this child dies. */
	while (size >= PAGE) {
		size -= PAGE;
		at[size] = rng_next(&f->rng);
	}
	_exit(0);
}

/* Mostly choose memory of a region. */
static char *choose_victim(struct fuzzer *f, enum arena *arena)
{
	const struct region *region = region_choose(f, 1, false, rng_once_in(&f->rng, 2));
	size_t offset = rng_below(&f->rng, ARENA_SIZE / PAGE) * PAGE;
	char *at = region ? (char *)(region->addr & ~(PAGE - 1)) : NULL;

	*arena = arena_of(f->world, at);
	if (*arena != HUGE && !rng_once_in(&f->rng, 4))
		return at;
	*arena = rng_below(&f->rng, HUGE);
	return f->world->arenas[*arena] + offset;
}

static void truncate_behind(struct world *world, off_t offset)
{
	if (!ftruncate(world->memfd, offset))
		(void)!ftruncate(world->memfd, ARENA_SIZE);
}

/**
 * memory_disturb() - unmap, remap, protect, truncate, discard or fork
 * @f: the thread
 */
void memory_disturb(struct fuzzer *f)
{
	struct world *world = f->world;
	enum arena arena;
	char *at = choose_victim(f, &arena);
	size_t size = (1 + rng_below(&f->rng, 32)) * PAGE;
	off_t offset = at - world->arenas[arena];

	if (size > until_end(world, arena, at))
		size = until_end(world, arena, at);
	switch (rng_below(&f->rng, 8)) {
	case 0:
		munmap(at, size);
		break;
	case 1:
		madvise(at, size, MADV_DONTNEED);
		break;
	case 2:
		mprotect(at, size, rng_below(&f->rng, 4));
		break;
	case 3:
		truncate_behind(world, offset);
		break;
	case 4:
		fallocate(world->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			  size);
		break;
	case 5:
		fork_a_writer(f, at, size);
		break;
	default:
		map_anew(world, arena, at, size);
	}
}
