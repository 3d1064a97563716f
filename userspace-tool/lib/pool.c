// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive pools: the ring of buffers, and which request each of them has.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "buf.h"
#include "conn.h"
#include "internal.h"
#include "pool.h"
#include "request.h"
#include "sys.h"

#define DEFAULT_ENTRIES 256

static int map_pool(struct kverbs_pool *pool, const struct kverbs_cmd_pool_create *cmd)
{
	int fd = pool->kv->fd, ret;
	void *user, *kernel;

	ret = kverbs_sys_mmap(fd, cmd->out_user_offset, cmd->out_user_size,
			      PROT_READ | PROT_WRITE, &user);
	if (ret)
		return ret;
	ret = kverbs_sys_mmap(fd, cmd->out_kernel_offset, cmd->out_kernel_size, PROT_READ,
			      &kernel);
	if (ret) {
		kverbs_sys_munmap(user, cmd->out_user_size);
		return ret;
	}
	pool->user = user;
	pool->bufs = (void *)((char *)user + cmd->out_bufs_offset);
	pool->kernel = kernel;
	pool->user_size = cmd->out_user_size;
	pool->kernel_size = cmd->out_kernel_size;
	return 0;
}

static void unmap_pool(struct kverbs_pool *pool)
{
	kverbs_sys_munmap((void *)pool->kernel, pool->kernel_size);
	kverbs_sys_munmap(pool->user, pool->user_size);
}

static int open_pool(struct kverbs_pool *pool)
{
	struct kverbs_cmd_pool_create cmd = {
		.size = sizeof(cmd),
		.entries = pool->entries,
	};
	int ret;

	ret = kverbs_ioctl(pool->kv, KVERBS_POOL_CREATE, &cmd);
	if (ret)
		return ret;
	pool->id = cmd.out_id;
	ret = map_pool(pool, &cmd);
	if (ret)
		kverbs_destroy(pool->kv, pool->id);
	return ret;
}

static void free_pool(struct kverbs_pool *pool)
{
	free(pool->free_ids);
	free(pool->reqs);
	free(pool);
}

static struct kverbs_pool *alloc_pool(struct kverbs *kv, unsigned int entries)
{
	struct kverbs_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->kv = kv;
	pool->entries = entries;
	pool->reqs = calloc(entries, sizeof(pool->reqs[0]));
	pool->free_ids = calloc(entries, sizeof(pool->free_ids[0]));
	if (!pool->reqs || !pool->free_ids) {
		free_pool(pool);
		return NULL;
	}
	while (pool->nr_free < entries) {
		pool->free_ids[pool->nr_free] = (uint16_t)(entries - 1 - pool->nr_free);
		pool->nr_free++;
	}
	return pool;
}

int kverbs_pool_create(struct kverbs *kv, unsigned int entries, struct kverbs_pool **pool)
{
	struct kverbs_pool *p;
	int ret;

	entries = entries ? entries : DEFAULT_ENTRIES;
	/* Ids have 16 bits; the kernel knows the rest. */
	if (entries > UINT16_MAX + 1u)
		return -EINVAL;
	p = alloc_pool(kv, entries);
	if (!p)
		return -ENOMEM;
	ret = open_pool(p);
	if (ret) {
		free_pool(p);
		return ret;
	}
	pthread_mutex_lock(&kv->lock);
	list_add_tail(&p->node, &kv->pools);
	pthread_mutex_unlock(&kv->lock);
	*pool = p;
	return 0;
}

/* Requests of buffers that no connection has taken return as if they had never been added. */
static void abort_reqs(struct kverbs_pool *pool)
{
	uint32_t id;

	for (id = 0; id < pool->entries; id++)
		if (pool->reqs[id])
			kverbs_req_abort_pooled(pool->reqs[id]);
}

static void close_pool(struct kverbs_pool *pool)
{
	pthread_mutex_lock(&pool->kv->lock);
	abort_reqs(pool);
	list_del(&pool->node);
	pthread_mutex_unlock(&pool->kv->lock);
	unmap_pool(pool);
	free_pool(pool);
}

int kverbs_pool_destroy(struct kverbs_pool *pool)
{
	int ret;

	if (!pool)
		return 0;
	ret = kverbs_destroy(pool->kv, pool->id);
	if (!ret)
		close_pool(pool);
	return ret;
}

/* A pool that the kernel does not let go goes with the file. */
void kverbs_pools_free(struct kverbs *kv)
{
	struct kverbs_pool *pool;

	while (!list_empty(&kv->pools)) {
		pool = list_entry(kv->pools.next, struct kverbs_pool, node);
		kverbs_destroy(kv, pool->id);
		close_pool(pool);
	}
}

/* Buffers complete in any order, so there may be an id, but no place in the ring yet. */
static bool is_full(const struct kverbs_pool *pool)
{
	uint32_t head = __atomic_load_n(&pool->kernel->head, __ATOMIC_ACQUIRE);

	return !pool->nr_free || pool->tail - head >= pool->entries;
}

static int add(struct kverbs_pool *pool, const struct kverbs_buf *buf, size_t offset,
	       size_t length, struct kverbs_req *req)
{
	uint16_t id;
	int ret;

	if (is_full(pool))
		return -EAGAIN;
	ret = kverbs_req_begin_pooled(pool->kv, req);
	if (ret)
		return ret;
	id = pool->free_ids[--pool->nr_free];
	pool->reqs[id] = req;
	pool->bufs[pool->tail & (pool->entries - 1)] = (struct kverbs_pool_buf){
		.offset = offset,
		.length = (uint32_t)length,
		.region_id = buf->id,
		.id = id,
	};
	__atomic_store_n(&pool->user->tail, ++pool->tail, __ATOMIC_RELEASE);
	return 0;
}

/* True if connections wait for buffers or completion slots that there may be now. */
static bool is_waited_for(const struct kverbs_pool *pool)
{
	uint32_t flags, head;

	/* Pairs with the kernel's, between its flag and its look at the ring. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	flags = __atomic_load_n(&pool->kernel->flags, __ATOMIC_RELAXED);
	head = __atomic_load_n(&pool->kernel->head, __ATOMIC_RELAXED);
	return flags & KVERBS_POOL_KFLAG_WAITING && head != pool->tail;
}

static void wake(const struct kverbs_pool *pool)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = pool->kv->ring.id,
		.pool_id = pool->id,
	};

	kverbs_sys_ioctl(pool->kv->fd, KVERBS_SUBMIT, &cmd);
}

void kverbs_pools_wake(struct kverbs *kv)
{
	struct kverbs_pool *pool;
	struct list_head *pos;

	for (pos = kv->pools.next; pos != &kv->pools; pos = pos->next) {
		pool = list_entry(pos, struct kverbs_pool, node);
		if (is_waited_for(pool))
			wake(pool);
	}
}

int kverbs_pool_add(struct kverbs_pool *pool, struct kverbs_buf *buf, size_t offset,
		    size_t length, struct kverbs_req *req)
{
	struct kverbs *kv = pool->kv;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	if (!length || length > UINT32_MAX || !kverbs_buf_holds(buf, kv, offset, length))
		return -EINVAL;
	pthread_mutex_lock(&kv->lock);
	ret = add(pool, buf, offset, length, req);
	if (!ret && is_waited_for(pool))
		wake(pool);
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

struct kverbs_req *kverbs_pool_take(struct kverbs_conn *conn, uint16_t id)
{
	struct kverbs_pool *pool = conn->pool;
	struct kverbs_req *req;

	if (!pool || id >= pool->entries || !pool->reqs[id])
		return NULL;
	req = pool->reqs[id];
	pool->reqs[id] = NULL;
	pool->free_ids[pool->nr_free++] = id;
	kverbs_req_adopt(conn, req);
	return req;
}
