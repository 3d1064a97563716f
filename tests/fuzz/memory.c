// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory for regions, and everything that may happen to it meanwhile. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

#define RW	(PROT_READ | PROT_WRITE)

static char *map(void *at, size_t size, int flags, int fd, off_t offset)
{
	return mmap(at, size, RW, flags | (at ? MAP_FIXED : 0), fd, offset);
}

/**
 * memory_create() - map the arenas
 * @world: where; an arena that cannot be had is left out
 */
void memory_create(struct world *world)
{
	world->memfd = memfd_create("fuzz", MFD_CLOEXEC);
	if (world->memfd < 0 || ftruncate(world->memfd, ARENA_SIZE))
		abort();
	world->arenas[ANON] = map(NULL, ARENA_SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	world->arenas[SHARED] = map(NULL, ARENA_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	world->arenas[MEMFD] = map(NULL, ARENA_SIZE, MAP_SHARED, world->memfd, 0);
	world->arenas[HUGE] = map(NULL, ARENA_SIZE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
}

/**
 * memory_choose() - some memory, not necessarily all there
 * @world: where
 * @rng: says which
 * @length: how much
 *
 * Return: its start.
 */
char *memory_choose(struct world *world, struct rng *rng, uint64_t *length)
{
	char *arena = world->arenas[rng_below(rng, NR_ARENAS)];
	uint64_t start = rng_below(rng, ARENA_SIZE);
	uint64_t most = rng_once_in(rng, 8) ? ARENA_SIZE : 16 * PAGE;

	*length = 1 + rng_below(rng, most);
	if (rng_once_in(rng, 4))
		start &= ~(PAGE - 1);
	return rng_once_in(rng, 100) ? (char *)rng_number(rng) : arena + start;
}

static void fork_a_writer(struct fuzzer *f, char *at, size_t size)
{
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	/* The pages may not be there, or not be writable: then this child dies. */
	while (size >= PAGE) {
		size -= PAGE;
		at[size] = rng_next(&f->rng);
	}
	_exit(0);
}

/**
 * memory_disturb() - unmap, remap, protect, truncate, discard or fork
 * @f: the thread
 */
void memory_disturb(struct fuzzer *f)
{
	struct world *world = f->world;
	enum arena arena = rng_below(&f->rng, HUGE);
	size_t offset = rng_below(&f->rng, ARENA_SIZE / PAGE) * PAGE;
	size_t size = (1 + rng_below(&f->rng, 64)) * PAGE;
	char *at = world->arenas[arena] + offset;

	if (size > ARENA_SIZE - offset)
		size = ARENA_SIZE - offset;
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
		if (!ftruncate(world->memfd, offset))
			(void)!ftruncate(world->memfd, ARENA_SIZE);
		break;
	case 4:
		fallocate(world->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			  size);
		break;
	case 5:
		fork_a_writer(f, at, size);
		break;
	default:
		if (arena == MEMFD)
			map(at, size, MAP_SHARED, world->memfd, offset);
		else
			map(at, size, MAP_ANONYMOUS | (arena == ANON ? MAP_PRIVATE : MAP_SHARED),
			    -1, 0);
	}
}
