// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: creating, adding buffers, and scribbling. */
#include <stddef.h>
#include <sys/mman.h>

#include "world.h"

/**
 * pool_make() - create a pool in place of an older one
 * @f: the thread
 */
void pool_make(struct fuzzer *f)
{
	struct kverbs_cmd_pool_create *place = &f->world->pools[rng_below(&f->rng, POOLS)];
	struct kverbs_cmd_pool_create cmd = {
		.size = sizeof(cmd),
		.entries = 1U << rng_below(&f->rng, 8),
	};

	if (place->out_id)
		world_destroy(f, place->out_id);
	if (world_try(f, KVERBS_POOL_CREATE, &cmd))
		return;
	world_note(f, POOL, cmd.out_id);
	*place = cmd;
}

/**
 * pool_choose() - choose a pool for a connection
 * @f: the thread
 *
 * Return: its id, mostly 0 for none.
 */
uint32_t pool_choose(struct fuzzer *f)
{
	return rng_once_in(&f->rng, 4) ? f->world->pools[rng_below(&f->rng, POOLS)].out_id : 0;
}

static void add_buf(struct fuzzer *f, const struct kverbs_cmd_pool_create *pool,
		    struct kverbs_pool_user *user)
{
	struct kverbs_pool_buf *bufs = (void *)((char *)user + pool->out_bufs_offset);
	const struct region *region = region_choose(f, MESSAGE, true, true);
	uint32_t tail = user->tail;
	struct kverbs_pool_buf buf = { .length = MESSAGE, .id = rng_next(&f->rng) };

	if (region) {
		buf.region_id = region->id;
		buf.offset = rng_below(&f->rng, region->length - MESSAGE + 1);
	}
	if (rng_once_in(&f->rng, 30))
		world_spoil(f, &buf, sizeof(buf));
	bufs[tail & (pool->entries - 1)] = buf;
	__atomic_store_n(&user->tail, tail + 1, __ATOMIC_RELEASE);
}

static void scribble(struct fuzzer *f, const struct kverbs_cmd_pool_create *pool,
		     struct kverbs_pool_user *user)
{
	unsigned char *bytes = (unsigned char *)user;

	if (rng_once_in(&f->rng, 4))
		user->tail = rng_number(&f->rng);
	else
		bytes[rng_below(&f->rng, pool->out_user_size)] = rng_next(&f->rng);
}

/* The index may be out of range, and then no connection gets a buffer ever again. */
static void mend(struct kverbs_pool_user *user, const struct kverbs_pool_kernel *kernel,
		 uint32_t entries)
{
	uint32_t head = __atomic_load_n(&kernel->head, __ATOMIC_ACQUIRE);

	if (user->tail - head > entries)
		user->tail = head;
}

static void wake(struct fuzzer *f, uint32_t id)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd), .ring_id = world_ring(f), .pool_id = id,
	};

	world_try(f, KVERBS_SUBMIT, &cmd);
}

static void *map(const struct world *world, uint64_t offset, uint64_t size, int prot)
{
	void *addr = mmap(NULL, size, prot, MAP_SHARED, world->fd, offset);

	return addr == MAP_FAILED ? NULL : addr;
}

/**
 * pool_feed() - add buffers to a pool, or scribble over it
 * @f: the thread
 */
void pool_feed(struct fuzzer *f)
{
	struct kverbs_cmd_pool_create pool = f->world->pools[rng_below(&f->rng, POOLS)];
	const struct kverbs_pool_kernel *kernel;
	struct kverbs_pool_user *user;
	unsigned int i, nr;

	if (!pool.out_id) {
		pool_make(f);
		return;
	}
	user = map(f->world, pool.out_user_offset, pool.out_user_size, PROT_READ | PROT_WRITE);
	kernel = map(f->world, pool.out_kernel_offset, pool.out_kernel_size, PROT_READ);
	if (user && kernel) {
		mend(user, kernel, pool.entries);
		nr = rng_below(&f->rng, pool.entries + 1);
		for (i = 0; i < nr && user->tail - kernel->head < pool.entries; i++)
			add_buf(f, &pool, user);
		if (rng_once_in(&f->rng, 10))
			scribble(f, &pool, user);
	}
	if (user)
		munmap(user, pool.out_user_size);
	if (kernel)
		munmap((void *)kernel, pool.out_kernel_size);
	wake(f, pool.out_id);
}
