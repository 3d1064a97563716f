// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* All commands but SUBMIT. */
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"
#include "world.h"

#define RUN(fd, cmd, number) dev_cmd(fd, KVERBS_##number, cmd)

/* ---- queries ----------------------------------------------------------- */

static int info(struct world *w)
{
	struct kverbs_cmd_info cmd = { .size = sizeof(cmd) };

	return RUN(w->fd, &cmd, INFO);
}

static int device_query(struct world *w)
{
	static struct kverbs_port ports[4];
	static struct kverbs_gid gids[64];
	struct kverbs_cmd_device_query cmd = {
		.size = sizeof(cmd),
		.inout_ports_len = ARRAY_SIZE(ports),
		.inout_gids_len = ARRAY_SIZE(gids),
		.ports_uptr = (uintptr_t)ports,
		.gids_uptr = (uintptr_t)gids,
	};

	return RUN(w->fd, &cmd, DEVICE_QUERY);
}

static int conn_query(struct world *w)
{
	struct kverbs_cmd_conn_query cmd = { .size = sizeof(cmd), .conn_id = w->client };

	return RUN(w->fd, &cmd, CONN_QUERY);
}

/* ---- creating objects -------------------------------------------------- */

static int ring_create(struct world *w)
{
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd), .sq_entries = 256, .cq_entries = 1024,
	};
	int ret = RUN(w->fd, &cmd, RING_CREATE);

	w->id = cmd.out_id;
	return ret;
}

static int ring_create_fd(struct world *w)
{
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd), .flags = KVERBS_RING_FD,
		.sq_entries = 256, .cq_entries = 1024,
	};
	int ret = RUN(w->fd, &cmd, RING_CREATE);

	if (!ret)
		close(cmd.out_fd);
	w->id = cmd.out_id;
	return ret;
}

static int map_ring(struct world *w)
{
	const struct kverbs_cmd_ring_create *made = &w->ring.made;
	void *map = mmap(NULL, made->out_sq_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 w->fd, made->out_sq_offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, made->out_sq_size);
	return 0;
}

static int region_create(struct world *w)
{
	return dev_try_region(w->fd, w->memory + 1, WORLD_MEMORY - 2, 0, &w->id);
}

static int region_create_ro(struct world *w)
{
	return dev_try_region(w->fd, w->memory, 4096, KVERBS_REGION_READ_ONLY, &w->id);
}

static int region_create_tracked(struct world *w)
{
	return dev_try_tracked(&w->ring, w->memory, WORLD_MEMORY, &w->id);
}

static int region_create_dmabuf(struct world *w)
{
	return dmabuf_try_region(w->fd, w->dmabuf, 1, WORLD_DMABUF - 2, 0, &w->id);
}

/* Shares a region, and makes another one of the descriptor. */
static int region_export_fd(struct world *w)
{
	struct kverbs_cmd_region_export_fd cmd = { .size = sizeof(cmd), .region_id = w->region };
	struct kverbs_cmd_region_create create = { .size = sizeof(create),
						   .flags = KVERBS_REGION_FD };
	int ret = RUN(w->fd, &cmd, REGION_EXPORT_FD);

	if (ret)
		return ret;
	create.fd = cmd.out_fd;
	ret = RUN(w->fd, &create, REGION_CREATE);
	close(cmd.out_fd);
	w->id = create.out_id;
	return ret;
}

static int listen_cmd(struct world *w)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd), .ring_id = w->ring.id, .inout_addr = w->addr,
	};
	int ret = RUN(w->fd, &cmd, LISTEN);

	w->id = cmd.out_id;
	return ret;
}

static int connect_cmd(struct world *w)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd), .ring_id = w->ring.id, .dst = w->addr,
		.timeout_ns = MS_TO_NS(test_patience_ms()), .group_id = w->group,
		.pool_id = w->pool.id,
	};
	int ret = RUN(w->fd, &cmd, CONNECT);

	w->id = cmd.out_id;
	w->client = cmd.out_id;
	return ret;
}

static int group_create(struct world *w)
{
	struct kverbs_cmd_group_create cmd = {
		.size = sizeof(cmd), .device_index = w->device_index,
	};
	int ret = RUN(w->fd, &cmd, GROUP_CREATE);

	w->id = cmd.out_id;
	return ret;
}

/* @id: a connection or a group */
static int export_to(struct world *w, uint32_t id)
{
	struct kverbs_segment segs[4];
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = id,
		.region_id = w->region,
		.access = KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE,
		.inout_segs_len = ARRAY_SIZE(segs),
		.length = WORLD_MEMORY,
		.segs_uptr = (uintptr_t)segs,
	};
	int ret = RUN(w->fd, &cmd, EXPORT);

	w->id = cmd.out_id;
	return ret;
}

static int export_cmd(struct world *w)
{
	return export_to(w, w->server);
}

static int export_group(struct world *w)
{
	return export_to(w, w->group);
}

static int pool_create(struct world *w)
{
	struct kverbs_cmd_pool_create cmd = { .size = sizeof(cmd), .entries = 256 };
	int ret = RUN(w->fd, &cmd, POOL_CREATE);

	w->id = cmd.out_id;
	return ret;
}

/* ---- traffic ----------------------------------------------------------- */

/* Result of a BENCH that has started. */
static int bench_end;

static int bench(struct world *w, struct kverbs_cmd_bench cmd)
{
	int ret;

	cmd.size = sizeof(cmd);
	cmd.conn_id = w->client;
	cmd.region_id = w->region;
	cmd.length = 4096;
	cmd.depth = 4;
	cmd.post_list = 2;
	cmd.iterations = 6;
	ret = RUN(w->fd, &cmd, BENCH);
	bench_end = cmd.out_error;
	return ret;
}

/* A BENCH that did not finish has ended its connection. */
static int settle_bench(struct world *w)
{
	(void)w;
	return bench_end;
}

static int bench_write(struct world *w)
{
	return bench(w, (struct kverbs_cmd_bench){
		.opcode = KVERBS_OP_WRITE,
		.segs_len = 1,
		.segs_uptr = (uintptr_t)&w->seg,
	});
}

static int bench_read_latency(struct world *w)
{
	static uint64_t hist[KVERBS_BENCH_BUCKETS];

	return bench(w, (struct kverbs_cmd_bench){
		.flags = KVERBS_BENCH_LATENCY,
		.opcode = KVERBS_OP_READ,
		.segs_len = 1,
		.segs_uptr = (uintptr_t)&w->seg,
		.hist_len = KVERBS_BENCH_BUCKETS,
		.hist_uptr = (uintptr_t)hist,
	});
}

/* ---- answering and ending connections ---------------------------------- */

static int accept_cmd(struct world *w)
{
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd), .conn_id = w->server, .ring_id = w->ring.id,
		.timeout_ns = MS_TO_NS(test_patience_ms()), .group_id = w->group,
		.pool_id = w->pool.id,
	};

	return RUN(w->fd, &cmd, ACCEPT);
}

static int reject_cmd(struct world *w)
{
	struct kverbs_cmd_reject cmd = { .size = sizeof(cmd), .conn_id = w->server };

	return RUN(w->fd, &cmd, REJECT);
}

static int disconnect_cmd(struct world *w)
{
	return dev_disconnect(w->fd, w->client);
}

#define DESTROYS(what, object)						\
	static int destroy_##what(struct world *w)			\
	{								\
		struct kverbs_cmd_destroy cmd = {			\
			.size = sizeof(cmd), .id = (object),		\
		};							\
									\
		return RUN(w->fd, &cmd, DESTROY);			\
	}

DESTROYS(ring, w->ring.id)
DESTROYS(region, w->region)
DESTROYS(listener, w->listener)
DESTROYS(connection, w->client)
DESTROYS(receiver, w->server)
DESTROYS(export, w->export)
DESTROYS(group, w->group)

const struct sweep sweeps[] = {
	{ "INFO", world_with_nothing, info, NULL },
	{ "DEVICE_QUERY", world_with_nothing, device_query, NULL },
	{ "RING_CREATE", world_with_nothing, ring_create, NULL },
	{ "RING_CREATE with a descriptor", world_with_nothing, ring_create_fd, NULL },
	{ "RING_CREATE and mmap", world_with_ring, map_ring, NULL },
	{ "SUBMIT of a RECV", world_with_memory, submit_recv, settle_recv },
	{ "SUBMIT of a long RECV", world_with_memory, submit_long_recv, settle_recv },
	{ "SUBMIT of a SEND", world_with_recv, submit_send, settle_work },
	{ "SUBMIT of a WRITE", world_with_export, submit_write, settle_work },
	{ "SUBMIT of a READ", world_with_export, submit_read, settle_work },
	{ "SUBMIT of a list", world_with_export, submit_list, settle_work },
	{ "SUBMIT of a long WRITE", world_with_export, submit_long, settle_work },
	{ "REGION_CREATE", world_with_nothing, region_create, NULL },
	{ "REGION_CREATE to read", world_with_nothing, region_create_ro, NULL },
	{ "REGION_CREATE with tracking", world_with_ring, region_create_tracked, NULL },
	{ "REGION_CREATE of a dma-buf", world_with_dmabuf, region_create_dmabuf, NULL },
	{ "REGION_EXPORT_FD", world_with_memory, region_export_fd, NULL },
	{ "LISTEN", world_with_ring, listen_cmd, NULL },
	{ "CONNECT", world_with_listener, connect_cmd, settle_connect },
	{ "ACCEPT", world_with_request, accept_cmd, settle_accept },
	{ "GROUP_CREATE", world_with_nothing, group_create, NULL },
	{ "CONNECT in a group", world_with_group, connect_cmd, settle_connect },
	{ "ACCEPT into a group", world_with_group_request, accept_cmd, settle_accept },
	{ "CONNECT in a group with a pool", world_with_group_pool, connect_cmd, settle_connect },
	{ "ACCEPT into a group with a pool", world_with_group_pool_request, accept_cmd,
	  settle_accept },
	{ "EXPORT of a group", world_with_member, export_group, NULL },
	{ "REJECT", world_with_request, reject_cmd, settle_end },
	{ "DISCONNECT", world_with_pair, disconnect_cmd, settle_end },
	{ "CONN_QUERY", world_with_pair, conn_query, NULL },
	{ "EXPORT", world_with_memory, export_cmd, NULL },
	{ "POOL_CREATE", world_with_nothing, pool_create, NULL },
	{ "BENCH of WRITEs", world_with_export, bench_write, settle_bench },
	{ "BENCH of READs, timed", world_with_export, bench_read_latency, settle_bench },
	{ "DESTROY of a ring", world_with_ring, destroy_ring, NULL },
	{ "DESTROY of a region", world_with_memory, destroy_region, NULL },
	{ "DESTROY of a listener", world_with_listener, destroy_listener, NULL },
	{ "DESTROY of a connection", world_with_pair, destroy_connection, NULL },
	{ "DESTROY of an export", world_with_export, destroy_export, NULL },
	{ "DESTROY of an export of a group", world_with_group_export, destroy_export, NULL },
	{ "DESTROY of a connection of a group", world_with_group_export, destroy_connection,
	  NULL },
	{ "DESTROY of a connection with a pool", world_with_group_pool_member, destroy_receiver,
	  NULL },
	{ "DESTROY of a group", world_with_group, destroy_group, NULL },
};

const size_t nr_sweeps = ARRAY_SIZE(sweeps);
