// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: add buffers, and connections that receive into them. */
#include <sys/mman.h>

#include "pool.h"

static void *map_part(int fd, uint64_t offset, uint64_t size, int prot)
{
	void *addr = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	CHECK(addr != MAP_FAILED);
	return addr;
}

void pool_open(struct pool *pool, int fd, uint32_t entries)
{
	struct kverbs_cmd_pool_create *made = &pool->made;

	*pool = (struct pool){
		.fd = fd,
		.made = { .size = sizeof(*made), .entries = entries },
	};
	CHECK_OK(dev_cmd(fd, KVERBS_POOL_CREATE, made));
	CHECK(made->out_id);
	pool->id = made->out_id;
	pool->user = map_part(fd, made->out_user_offset, made->out_user_size,
			      PROT_READ | PROT_WRITE);
	pool->bufs = (void *)((char *)pool->user + made->out_bufs_offset);
	pool->kernel = map_part(fd, made->out_kernel_offset, made->out_kernel_size,
				PROT_READ);
}

void pool_unmap(struct pool *pool)
{
	munmap(pool->user, pool->made.out_user_size);
	munmap(pool->kernel, pool->made.out_kernel_size);
}

void pool_put(struct pool *pool, const struct kverbs_pool_buf *buf)
{
	uint32_t tail = pool->user->tail;

	pool->bufs[tail & (pool->made.entries - 1)] = *buf;
	__atomic_store_n(&pool->user->tail, tail + 1, __ATOMIC_RELEASE);
}

void pool_add(struct pool *pool, uint32_t region, uint64_t offset, uint32_t length,
	      uint16_t id)
{
	const struct kverbs_pool_buf buf = {
		.offset = offset, .length = length, .region_id = region, .id = id,
	};

	pool_put(pool, &buf);
}

bool pool_is_waiting(const struct pool *pool)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&pool->kernel->flags, __ATOMIC_RELAXED) &
	       KVERBS_POOL_KFLAG_WAITING;
}

/* Returns 0 or -errno. */
int pool_wake(const struct pool *pool, const struct ring *ring)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd), .ring_id = ring->id, .pool_id = pool->id,
	};

	return dev_cmd(pool->fd, KVERBS_SUBMIT, &cmd);
}

void pool_join(const struct pool *pool, struct pair *pair, uint32_t rq_depth,
	       uint32_t *client, uint32_t *server)
{
	struct kverbs_conn_param param = pair->param;
	struct kverbs_cmd_accept accept = {
		.size = sizeof(accept),
		.ring_id = pair->ring.id,
		.user_data = 0x5e7e,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
		.pool_id = pool->id,
		.group_id = pair->group,
	};

	*client = dev_connect_as(&pair->ring, &pair->addr, &param);
	param.rq_depth = rq_depth;
	param.valid &= ~(KVERBS_PARAM_TOS | KVERBS_PARAM_RETRY);
	*server = ring_event(&pair->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	accept.conn_id = *server;
	CHECK_OK(dev_cmd(pair->fd, KVERBS_ACCEPT, &accept));
	CHECK_OK(ring_event(&pair->ring, KVERBS_CQE_ESTABLISHED, *server).result);
	CHECK_OK(ring_event(&pair->ring, KVERBS_CQE_ESTABLISHED, *client).result);
}

void pool_await_posted(struct ring *ring, uint32_t conn, uint32_t nr)
{
	long long end = test_now_ms() + test_patience_ms();

	while (dev_query(ring->fd, conn).out_rq_used != nr)
		CHECK(test_now_ms() < end);
}
