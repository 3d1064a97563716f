// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cache of registrations, FI_KVERBS_MR_CACHE=1.
 *
 * A cached region is tracked by the kernel (KVERBS_REGION_TRACK): before a call returns that takes
 * its pages away from its addresses, the kernel increments a counter in a ring. Each look-up reads
 * the counter first, so that it never finds a region whose pages are not those of the addresses.
 * The ring is the cache's own, and has no other completions than those that name stale regions.
 *
 * A program must not unmap memory that an operation uses, but it may once the operation is
 * complete. A stale region that is in use is not found any more, and is destroyed when the last
 * operation or memory region that uses it is done.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fi_kverbs.h"
#include "sys.h"

/* Completion slots for each entry: regions in use are not limited by the number of entries. */
#define SLOTS_PER_ENTRY 4
#define MIN_SLOTS 1024

static bool is_open(const struct kvf_cache *cache)
{
	return cache->ring.kernel;
}

int kvf_cache_open(struct kvf_fabric *fabric)
{
	struct kvf_cache *cache = &fabric->cache;
	uint32_t slots = MIN_SLOTS;

	list_init(&cache->entries);
	list_init(&cache->dead);
	list_init(&cache->busy);
	if (!kvf_cache_is_wanted(&fabric->limits))
		return 0;
	while (slots < kvf_param.mr_cache_entries * SLOTS_PER_ENTRY &&
	       slots < fabric->limits.out_max_cq_entries)
		slots *= 2;
	return kverbs_ring_open(&cache->ring, fabric->fd, 1, slots, 0, 0);
}

/* ---- stale regions ---- */

static void unlist(struct kvf_cache *cache, struct kvf_reg *reg)
{
	list_del(&reg->node);
	if (!reg->is_listed)
		return;
	reg->is_listed = false;
	cache->nr--;
	cache->bytes -= reg->end - reg->start;
}

/* Let stale regions be found no more. */
static void read_notices(struct kvf_cache *cache)
{
	struct kverbs_cqe cqe;
	struct kvf_reg *reg;
	uint32_t n;

	for (n = 0; kverbs_ring_next(&cache->ring, &cqe); n++) {
		reg = (struct kvf_reg *)(uintptr_t)cqe.user_data;
		reg->is_stale = true;
		unlist(cache, reg);
		if (!reg->users)
			list_add_tail(&reg->node, &cache->dead);
	}
	if (!n)
		return;
	kverbs_ring_seen(&cache->ring);
	cache->nr_stale += n;
}

/*
 * Nothing uses the region but, maybe, operations with the descriptor of a memory region that was
 * closed too early. Then the kernel keeps it, and it has to be tried again.
 */
static void destroy(struct kvf_fabric *fabric, struct kvf_reg *reg)
{
	struct kvf_cache *cache = &fabric->cache;

	unlist(cache, reg);
	if (kverbs_sys_destroy(fabric->fd, reg->region_id)) {
		list_add_tail(&reg->node, &cache->busy);
		return;
	}
	/* The region may have become stale before; no notice may name @reg once it is freed. */
	read_notices(cache);
	list_del(&reg->node);
	free(reg);
}

static void drop_stale(struct kvf_fabric *fabric)
{
	struct kvf_cache *cache = &fabric->cache;

	/* Notices that were read have taken effect. */
	if (__atomic_load_n(&cache->ring.kernel->stale, __ATOMIC_ACQUIRE) != cache->nr_stale)
		read_notices(cache);
	while (!list_empty(&cache->dead))
		destroy(fabric, list_entry(cache->dead.next, struct kvf_reg, node));
}

static void retry_busy(struct kvf_fabric *fabric)
{
	struct kvf_cache *cache = &fabric->cache;

	if (!list_empty(&cache->busy))
		destroy(fabric, list_entry(cache->busy.next, struct kvf_reg, node));
}

/* ---- limits ---- */

static bool is_over(const struct kvf_cache *cache)
{
	return cache->nr > kvf_param.mr_cache_entries || cache->bytes > kvf_param.mr_cache_size;
}

/* Destroy the region that was used longest ago of those that nothing uses. False: there is none. */
static bool evict(struct kvf_fabric *fabric)
{
	struct kvf_cache *cache = &fabric->cache;
	struct list_head *at;
	struct kvf_reg *reg;

	for (at = cache->entries.next; at != &cache->entries; at = at->next) {
		reg = list_entry(at, struct kvf_reg, node);
		if (reg->users)
			continue;
		destroy(fabric, reg);
		cache->evicted++;
		return true;
	}
	return false;
}

static void trim(struct kvf_fabric *fabric)
{
	while (is_over(&fabric->cache) && evict(fabric))
		;
}

/* ---- regions ---- */

/* Search from the region that was used last. */
static struct kvf_reg *find(struct kvf_cache *cache, uintptr_t start, uintptr_t end, bool writable)
{
	struct list_head *at;
	struct kvf_reg *reg;

	for (at = cache->entries.prev; at != &cache->entries; at = at->prev) {
		reg = list_entry(at, struct kvf_reg, node);
		if (reg->start <= start && end <= reg->end && (reg->is_writable || !writable))
			return reg;
	}
	return NULL;
}

static int create_region(struct kvf_fabric *fabric, struct kvf_reg *reg, bool writable)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_REGION_TRACK | (writable ? 0 : KVERBS_REGION_READ_ONLY),
		.addr = reg->start,
		.length = reg->end - reg->start,
		.ring_id = fabric->cache.ring.id,
		.user_data = (uintptr_t)reg,
	};
	int ret;

	do {
		ret = kverbs_sys_ioctl(fabric->fd, KVERBS_REGION_CREATE, &cmd);
	} while (ret == -EINTR);
	reg->region_id = cmd.out_id;
	reg->is_writable = writable;
	return ret;
}

/* Makes room for the region. Memory that is only sent need not be writable for the process. */
static int create_somehow(struct kvf_fabric *fabric, struct kvf_reg *reg, bool writable)
{
	int ret;

	do {
		ret = create_region(fabric, reg, true);
		if (ret == -EFAULT && !writable)
			ret = create_region(fabric, reg, false);
	} while ((ret == -ENOMEM || ret == -EPERM || ret == -EAGAIN) && evict(fabric));
	if (ret == -ENOMEM || ret == -EPERM)
		kvf_warn(MR, "cannot pin %zu bytes: see RLIMIT_MEMLOCK (ulimit -l)\n",
			 (size_t)(reg->end - reg->start));
	return ret;
}

/* The rest of the first and the last page belongs to the same mappings. */
static int add(struct kvf_fabric *fabric, uintptr_t start, uintptr_t end, bool writable,
	       struct kvf_reg **out)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	struct kvf_cache *cache = &fabric->cache;
	struct kvf_reg *reg;
	int ret;

	reg = calloc(1, sizeof(*reg));
	if (!reg)
		return -FI_ENOMEM;
	list_init(&reg->node);
	reg->start = start & ~(page - 1);
	reg->end = (end + page - 1) & ~(page - 1);
	ret = create_somehow(fabric, reg, writable);
	if (ret) {
		free(reg);
		return ret;
	}
	list_add_tail(&reg->node, &cache->entries);
	reg->is_listed = true;
	cache->nr++;
	cache->bytes += reg->end - reg->start;
	*out = reg;
	return 0;
}

int kvf_cache_get(struct kvf_fabric *fabric, const void *addr, size_t length, bool writable,
		  struct kvf_reg **out)
{
	struct kvf_cache *cache = &fabric->cache;
	uintptr_t start = (uintptr_t)addr, end = start + length;
	int ret;

	if (!is_open(cache))
		return -FI_ENOSYS;
	if (end < start)
		return -FI_EINVAL;
	cache->lookups++;
	drop_stale(fabric);
	*out = find(cache, start, end, writable);
	if (*out) {
		cache->hits++;
		list_del(&(*out)->node);
		list_add_tail(&(*out)->node, &cache->entries);
	} else {
		ret = add(fabric, start, end, writable, out);
		if (ret)
			return ret;
	}
	(*out)->users++;
	trim(fabric);
	return 0;
}

void kvf_cache_put(struct kvf_fabric *fabric, struct kvf_reg *reg)
{
	if (--reg->users)
		return;
	retry_busy(fabric);
	if (reg->is_stale)
		destroy(fabric, reg);
	else
		trim(fabric);
}

/* If the kernel still has it, it goes with the file. */
static void free_busy(struct kvf_fabric *fabric)
{
	struct kvf_reg *reg = list_entry(fabric->cache.busy.next, struct kvf_reg, node);
	int ret = kverbs_sys_destroy(fabric->fd, reg->region_id);

	if (ret)
		kvf_warn(MR, "region %u: %s\n", reg->region_id, fi_strerror(-ret));
	list_del(&reg->node);
	free(reg);
}

void kvf_cache_close(struct kvf_fabric *fabric)
{
	struct kvf_cache *cache = &fabric->cache;

	if (!is_open(cache))
		return;
	kvf_info(MR, "registration cache: %llu look-ups, %llu hits (%llu%%), %llu evicted, %u stale\n",
		 (unsigned long long)cache->lookups, (unsigned long long)cache->hits,
		 (unsigned long long)(cache->lookups ? 100 * cache->hits / cache->lookups : 0),
		 (unsigned long long)cache->evicted, cache->nr_stale);
	drop_stale(fabric);
	while (!list_empty(&cache->entries))
		destroy(fabric, list_entry(cache->entries.next, struct kvf_reg, node));
	/* Without endpoints nothing is in flight. */
	while (!list_empty(&cache->busy))
		free_busy(fabric);
	kverbs_ring_close(&cache->ring);
}
