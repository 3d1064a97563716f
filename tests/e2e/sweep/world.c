// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects that the commands need, created without faults, and the events that follow. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"
#include "world.h"

void world_with_nothing(struct world *w)
{
	(void)w;
}

void world_with_ring(struct world *w)
{
	ring_open(&w->ring, w->fd, 64, 128);
	w->addr = addr_of("a", 0);
}

void world_with_listener(struct world *w)
{
	world_with_ring(w);
	w->listener = dev_listen(&w->ring, &w->addr);
}

/*
 * If a fault keeps a REJECT from being sent, the client ends by its timeout. Each such fault
 * costs that time, so it is shorter than elsewhere.
 */
static uint32_t connect_for_a_while(struct world *w)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = w->ring.id,
		.timeout_ns = MS_TO_NS(test_keepalive_ms()),
		.dst = w->addr,
	};

	CHECK_OK(dev_cmd(w->fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

void world_with_request(struct world *w)
{
	world_with_listener(w);
	w->client = connect_for_a_while(w);
	w->server = ring_event(&w->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

void world_with_pair(struct world *w)
{
	world_with_request(w);
	CHECK_OK(dev_accept(&w->ring, w->server, NULL));
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->server).result, 0);
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->client).result, 0);
}

void world_with_memory(struct world *w)
{
	world_with_pair(w);
	w->region = dev_region(w->fd, w->memory, WORLD_MEMORY, 0);
}

void world_with_export(struct world *w)
{
	struct kverbs_segment segs[4];
	uint32_t nr = ARRAY_SIZE(segs);

	world_with_memory(w);
	w->export = dev_export(w->fd, w->server, w->region, 0, WORLD_MEMORY,
			       KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, segs, &nr);
	w->seg = segs[0];
}

void world_with_dmabuf(struct world *w)
{
	char *memory;

	w->dmabuf = dmabuf_open(&memory, WORLD_DMABUF);
	munmap(memory, WORLD_DMABUF);
}

void world_with_group(struct world *w)
{
	world_with_listener(w);
	w->group = dev_group(w->fd);
}

void world_with_group_request(struct world *w)
{
	world_with_group(w);
	w->client = connect_for_a_while(w);
	w->server = ring_event(&w->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

void world_with_member(struct world *w)
{
	world_with_group_request(w);
	CHECK_OK(dev_accept_into(&w->ring, w->server, NULL, w->group));
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->server).result, 0);
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->client).result, 0);
	w->region = dev_region(w->fd, w->memory, WORLD_MEMORY, 0);
}

void world_with_group_export(struct world *w)
{
	struct kverbs_segment segs[4];
	uint32_t nr = ARRAY_SIZE(segs);

	world_with_member(w);
	w->export = dev_export(w->fd, w->group, w->region, 0, WORLD_MEMORY,
			       KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, segs, &nr);
	w->seg = segs[0];
}

void world_with_group_pool(struct world *w)
{
	uint16_t id;

	world_with_group(w);
	w->region = dev_region(w->fd, w->memory, WORLD_MEMORY, 0);
	pool_open(&w->pool, w->fd, 4);
	for (id = 0; id < 4; id++)
		pool_add(&w->pool, w->region, id * 4096, 4096, id);
}

void world_with_group_pool_request(struct world *w)
{
	world_with_group_pool(w);
	w->client = connect_for_a_while(w);
	w->server = ring_event(&w->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

void world_with_group_pool_member(struct world *w)
{
	struct kverbs_cmd_accept cmd = { .size = sizeof(cmd) };

	world_with_group_pool_request(w);
	cmd.conn_id = w->server;
	cmd.ring_id = w->ring.id;
	cmd.timeout_ns = MS_TO_NS(test_patience_ms());
	cmd.group_id = w->group;
	cmd.pool_id = w->pool.id;
	CHECK_OK(dev_cmd(w->fd, KVERBS_ACCEPT, &cmd));
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->server).result, 0);
	CHECK_EQ(ring_event(&w->ring, KVERBS_CQE_ESTABLISHED, w->client).result, 0);
}

/* All worlds of a process share it: filling it takes longer than the rest. */
static void *memory(void)
{
	static void *all;

	if (!all)
		all = mmap(NULL, WORLD_MEMORY, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(all != MAP_FAILED);
	return all;
}

void world_open(struct world *w, const struct sweep *sweep)
{
	*w = (struct world){ .fd = dev_open(), .memory = memory() };
	w->device_index = dev_device_index(w->fd);
	sweep->set_up(w);
}

void world_close(struct world *w)
{
	if (w->ring.id)
		ring_unmap(&w->ring);
	if (w->pool.id)
		pool_unmap(&w->pool);
	if (w->dmabuf)
		close(w->dmabuf);
	free(w->ring.stash);
	CHECK_EQ(close(w->fd), 0);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

/* ---- connections ------------------------------------------------------- */

/* Accept each request, until the connection is established or has ended. */
static int settle_conn(struct world *w, uint32_t conn)
{
	struct kverbs_cqe cqe;

	for (;;) {
		cqe = ring_next(&w->ring);
		if (cqe.type == KVERBS_CQE_CONN_REQUEST)
			dev_accept(&w->ring, cqe.id, NULL);
		else if (cqe.id == conn && cqe.type >= KVERBS_CQE_ESTABLISHED)
			return cqe.result;
	}
}

int settle_connect(struct world *w)
{
	return settle_conn(w, w->client);
}

int settle_accept(struct world *w)
{
	return settle_conn(w, w->server);
}

int settle_end(struct world *w)
{
	ring_end_of(&w->ring, w->client);
	return 0;
}
