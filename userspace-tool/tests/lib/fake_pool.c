// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel's receive pools. As in the kernel, a connection takes buffers when it begins,
 * when one of its receives completes, and when SUBMIT names the pool.
 */
#include <errno.h>
#include <stdlib.h>

#include "fake_internal.h"

/* mmap offsets of the areas, apart from those of rings */
#define AREA_SHIFT 32
#define AREA_USER 4u
#define AREA_KERNEL 5u
#define MAX_MAPPED 16

int fake_pool_create(int fd, struct kverbs_cmd_pool_create *cmd)
{
	struct fake_obj *o;

	if (cmd->flags || !cmd->entries || cmd->entries & (cmd->entries - 1))
		return -EINVAL;
	o = fake_new(fd, FAKE_POOL);
	o->pool.entries = cmd->entries;
	cmd->out_id = o->id;
	cmd->out_user_offset = (uint64_t)AREA_USER << AREA_SHIFT | o->id;
	cmd->out_kernel_offset = (uint64_t)AREA_KERNEL << AREA_SHIFT | o->id;
	cmd->out_bufs_offset = sizeof(struct kverbs_pool_user);
	cmd->out_user_size = cmd->out_bufs_offset +
			     cmd->entries * sizeof(struct kverbs_pool_buf);
	cmd->out_kernel_size = sizeof(struct kverbs_pool_kernel);
	o->pool.user = calloc(1, cmd->out_user_size);
	o->pool.kernel = calloc(1, cmd->out_kernel_size);
	o->pool.kernel->entries = cmd->entries;
	return 0;
}

/* Mapped areas, which outlive their pool */
static void *mapped[MAX_MAPPED];

static void **find_mapped(const void *addr)
{
	unsigned int i;

	for (i = 0; i < MAX_MAPPED; i++)
		if (mapped[i] == addr)
			return &mapped[i];
	return NULL;
}

static void free_area(void *addr)
{
	if (!find_mapped(addr))
		free(addr);
}

void fake_pool_free(struct fake_obj *o)
{
	free_area(o->pool.user);
	free_area(o->pool.kernel);
}

void *fake_pool_map(int fd, uint64_t offset)
{
	struct fake_obj *o = fake_find(fd, (uint32_t)offset, FAKE_POOL);
	void **place = find_mapped(NULL);

	if (!o)
		return NULL;
	fake_check(offset >> AREA_SHIFT == AREA_USER || offset >> AREA_SHIFT == AREA_KERNEL);
	fake_check(place);
	*place = offset >> AREA_SHIFT == AREA_USER ? (void *)o->pool.user : o->pool.kernel;
	return *place;
}

static bool has_pool(const void *addr)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_POOL &&
		    (addr == fk.objs[id]->pool.user || addr == fk.objs[id]->pool.kernel))
			return true;
	return false;
}

bool fake_pool_unmap(void *addr)
{
	void **place = find_mapped(addr);

	if (!place)
		return false;
	*place = NULL;
	if (!has_pool(addr))
		free(addr);
	return true;
}

/* Returns false if there is none. */
static bool next_buf(struct fake_pool *p, struct kverbs_pool_buf *buf)
{
	const struct kverbs_pool_buf *bufs = (const void *)(p->user + 1);
	uint32_t head = p->kernel->head;
	uint32_t n = __atomic_load_n(&p->user->tail, __ATOMIC_ACQUIRE) - head;

	fake_check(n <= p->entries);
	if (!n)
		return false;
	*buf = bufs[head & (p->entries - 1)];
	__atomic_store_n(&p->kernel->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

static bool is_waited_for(const struct fake_obj *pool)
{
	const struct fake_obj *o;
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++) {
		o = fk.objs[id];
		if (o && o->type == FAKE_CONN && o->conn.pool == pool->id &&
		    o->conn.state <= KVERBS_CONN_ESTABLISHED && !o->conn.rq_used)
			return true;
	}
	return false;
}

void fake_pool_fill(struct fake_obj *conn)
{
	struct fake_obj *pool = conn->conn.pool ? fk.objs[conn->conn.pool] : NULL;
	struct kverbs_pool_buf buf;

	if (!pool)
		return;
	while (conn->conn.state <= KVERBS_CONN_ESTABLISHED &&
	       conn->conn.rq_used < conn->conn.rq_depth &&
	       !fake_ring_reserve(fake_ring_of(conn), 1)) {
		if (!next_buf(&pool->pool, &buf)) {
			fake_ring_of(conn)->r.reserved--;
			break;
		}
		fake_work_take_buf(conn, &buf);
	}
	__atomic_store_n(&pool->pool.kernel->flags,
			 is_waited_for(pool) ? KVERBS_POOL_KFLAG_WAITING : 0,
			 __ATOMIC_SEQ_CST);
}

int fake_pool_wake(int fd, uint32_t pool_id)
{
	uint32_t id;

	if (!fake_find(fd, pool_id, FAKE_POOL))
		return -ENOENT;
	fake.wakes++;
	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_CONN &&
		    fk.objs[id]->conn.pool == pool_id)
			fake_pool_fill(fk.objs[id]);
	return 0;
}

bool fake_pool_used(const struct fake_obj *pool)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_CONN &&
		    fk.objs[id]->conn.pool == pool->id)
			return true;
	return false;
}
