// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Valid arguments for every command. */
#include <stddef.h>
#include <string.h>

#include "cmds.h"

/* An id that no object has */
#define NOBODY	0x7ffffff0

static char page[4096] __aligned(4096);
static struct kverbs_port ports[8];
static struct kverbs_gid gids[64];
static struct kverbs_segment segs[1];

static void fill_nothing(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	(void)cmd;
}

static void fill_device_query(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->device_query.inout_ports_len = ARRAY_SIZE(ports);
	cmd->device_query.inout_gids_len = ARRAY_SIZE(gids);
	cmd->device_query.ports_uptr = (uintptr_t)ports;
	cmd->device_query.gids_uptr = (uintptr_t)gids;
}

static void fill_ring_create(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->ring_create.sq_entries = 4;
	cmd->ring_create.cq_entries = 8;
}

static void fill_submit(const struct ring *ring, union any_cmd *cmd)
{
	cmd->submit.ring_id = ring->id;
}

static void fill_region_create(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->region_create.addr = (uintptr_t)page;
	cmd->region_create.length = sizeof(page);
}

static void fill_listen(const struct ring *ring, union any_cmd *cmd)
{
	cmd->listen.ring_id = ring->id;
	cmd->listen.inout_addr = addr_of("a", 0);
}

static void fill_connect(const struct ring *ring, union any_cmd *cmd)
{
	cmd->connect.ring_id = ring->id;
	cmd->connect.dst = addr_of("a", 1);
}

static void fill_accept(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->accept.conn_id = NOBODY;
}

static void fill_reject(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->reject.conn_id = NOBODY;
}

static void fill_disconnect(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->disconnect.conn_id = NOBODY;
}

static void fill_conn_query(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->conn_query.conn_id = NOBODY;
}

static void fill_export(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->export.conn_id = NOBODY;
	cmd->export.access = KVERBS_REMOTE_READ;
	cmd->export.length = 1;
}

static void fill_destroy(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->destroy.id = NOBODY;
}

static void fill_bench(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	segs[0] = (struct kverbs_segment){ .length = 1 };
	cmd->bench = (struct kverbs_cmd_bench){
		.size = sizeof(cmd->bench),
		.conn_id = NOBODY,
		.region_id = NOBODY,
		.length = 1,
		.opcode = KVERBS_OP_WRITE,
		.depth = 1,
		.post_list = 1,
		.segs_len = 1,
		.segs_uptr = (uintptr_t)segs,
		.iterations = 1,
	};
}

static void fill_group_create(const struct ring *ring, union any_cmd *cmd)
{
	cmd->group_create.device_index = dev_device_index(ring->fd);
}

static void fill_pool_create(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->pool_create.entries = 4;
}

static void fill_region_export_fd(const struct ring *ring, union any_cmd *cmd)
{
	(void)ring;
	cmd->region_export_fd.region_id = NOBODY;
}

#define GROWN(_name, _struct, _first_size, _answer, _fill) {		\
		.name = #_name,						\
		.number = KVERBS_##_name,				\
		.size = sizeof(struct _struct),				\
		.first_size = _first_size,				\
		.answer = _answer,					\
		.fill = _fill,						\
	}

#define COMMAND(_name, _struct, _answer, _fill)				\
	GROWN(_name, _struct, 0, _answer, _fill)

const struct command commands[] = {
	GROWN(INFO, kverbs_cmd_info, offsetof(struct kverbs_cmd_info, out_max_pools), 0,
	      fill_nothing),
	COMMAND(DEVICE_QUERY, kverbs_cmd_device_query, 0, fill_device_query),
	GROWN(RING_CREATE, kverbs_cmd_ring_create,
	      offsetof(struct kverbs_cmd_ring_create, out_fd), 0, fill_ring_create),
	GROWN(SUBMIT, kverbs_cmd_submit, offsetof(struct kverbs_cmd_submit, watch_uptr), 0,
	      fill_submit),
	GROWN(REGION_CREATE, kverbs_cmd_region_create,
	      offsetof(struct kverbs_cmd_region_create, user_data), 0, fill_region_create),
	COMMAND(LISTEN, kverbs_cmd_listen, 0, fill_listen),
	GROWN(CONNECT, kverbs_cmd_connect, offsetof(struct kverbs_cmd_connect, group_id), 0,
	      fill_connect),
	GROWN(ACCEPT, kverbs_cmd_accept, offsetof(struct kverbs_cmd_accept, group_id), ENOENT,
	      fill_accept),
	COMMAND(REJECT, kverbs_cmd_reject, ENOENT, fill_reject),
	COMMAND(DISCONNECT, kverbs_cmd_disconnect, ENOENT, fill_disconnect),
	GROWN(CONN_QUERY, kverbs_cmd_conn_query,
	      offsetof(struct kverbs_cmd_conn_query, out_group_id), ENOENT, fill_conn_query),
	GROWN(EXPORT, kverbs_cmd_export, offsetof(struct kverbs_cmd_export, iova), ENOENT,
	      fill_export),
	COMMAND(DESTROY, kverbs_cmd_destroy, ENOENT, fill_destroy),
	COMMAND(BENCH, kverbs_cmd_bench, ENOENT, fill_bench),
	COMMAND(GROUP_CREATE, kverbs_cmd_group_create, 0, fill_group_create),
	COMMAND(POOL_CREATE, kverbs_cmd_pool_create, 0, fill_pool_create),
	COMMAND(REGION_EXPORT_FD, kverbs_cmd_region_export_fd, ENOENT, fill_region_export_fd),
};

const size_t nr_commands = ARRAY_SIZE(commands);

const struct command *command_by_number(unsigned long number)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

void command_fill(const struct command *command, const struct ring *ring,
		  union any_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->size = command->size;
	command->fill(ring, cmd);
}
