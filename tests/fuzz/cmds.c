// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands: mostly right, so that they get far; and garbage, so that they do not. */
#include <string.h>

#include "world.h"

static struct kverbs_conn_param param(struct fuzzer *f)
{
	struct kverbs_conn_param param = {
		.sq_depth = rng_below(&f->rng, 64),
		.rq_depth = rng_below(&f->rng, 64),
		.max_sge = rng_below(&f->rng, 4),
		.max_read = rng_below(&f->rng, 4),
		.keepalive_ms = rng_once_in(&f->rng, 4) ? 10 + rng_below(&f->rng, 100) : 0,
	};

	/* Who sends waits for a receive, most of the time. */
	param.valid = KVERBS_PARAM_RNR_RETRY;
	param.rnr_retry = 7;
	if (!rng_once_in(&f->rng, 4))
		return param;
	param.valid = rng_below(&f->rng, 32);
	param.retry = rng_below(&f->rng, 8);
	param.rnr_retry = rng_below(&f->rng, 7);
	param.rnr_timer = rng_below(&f->rng, 16);
	param.ack_timeout = rng_below(&f->rng, 16);
	param.tos = rng_next(&f->rng);
	return param;
}

static void make_region(struct fuzzer *f)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = rng_once_in(&f->rng, 4) ? KVERBS_REGION_READ_ONLY : 0,
	};

	cmd.addr = (uintptr_t)memory_choose(f->world, &f->rng, (uint64_t *)&cmd.length);
	if (!world_cmd(f->world, KVERBS_REGION_CREATE, &cmd))
		world_note(f->world, &f->rng, REGION, cmd.out_id);
}

static void listen(struct fuzzer *f)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = world_ring(f),
		.backlog = rng_below(&f->rng, 8),
		.addr = f->world->addr,
	};

	if (world_cmd(f->world, KVERBS_LISTEN, &cmd))
		return;
	world_note(f->world, &f->rng, LISTENER, cmd.out_id);
	f->world->ports[rng_below(&f->rng, IDS)] = cmd.addr.port;
	f->port = cmd.addr.port;
}

static void connect(struct fuzzer *f)
{
	unsigned int n = rng_below(&f->rng, IDS);
	/* So that who is asked knows which it is. */
	char priv[KVERBS_PRIV_CONNECT_MAX] = { n };
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = world_ring(f),
		.timeout_ms = 1 + rng_below(&f->rng, 2000),
		.dst = f->world->addr,
		.param = param(f),
		.priv_uptr = (uintptr_t)priv,
		.priv_len = 1 + rng_below(&f->rng, sizeof(priv) + 1),
	};

	cmd.dst.port = f->port;
	if (rng_once_in(&f->rng, 3))
		cmd.dst.port = f->world->ports[rng_below(&f->rng, IDS)];
	if (rng_once_in(&f->rng, 20))
		((unsigned char *)&cmd.dst)[rng_below(&f->rng, sizeof(cmd.dst))] =
			rng_next(&f->rng);
	if (world_cmd(f->world, KVERBS_CONNECT, &cmd))
		return;
	world_note(f->world, &f->rng, CONN, cmd.out_id);
	f->world->links[n] = (struct link){
		.conn = { cmd.out_id },
		.ring = { cmd.ring_id },
	};
}

/* Which of the links a request belongs to. */
static struct link *link_of(struct fuzzer *f, uint32_t conn)
{
	unsigned char priv[KVERBS_PRIV_ACCEPT_MAX] = "";
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.priv_len = sizeof(priv),
	};

	world_cmd(f->world, KVERBS_CONN_QUERY, &cmd);
	return &f->world->links[priv[0] % IDS];
}

static void accept(struct fuzzer *f, uint32_t conn)
{
	struct link *link = link_of(f, conn);
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.ring_id = world_ring(f),
		.timeout_ms = 1 + rng_below(&f->rng, 2000),
		.param = param(f),
	};

	link->conn[1] = conn;
	link->ring[1] = cmd.ring_id;
	world_cmd(f->world, KVERBS_ACCEPT, &cmd);
}

static void reject(struct fuzzer *f, uint32_t conn)
{
	char priv[KVERBS_PRIV_REJECT_MAX] = "";
	struct kverbs_cmd_reject cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.priv_len = rng_below(&f->rng, sizeof(priv) + 2),
	};

	world_cmd(f->world, KVERBS_REJECT, &cmd);
}

static void destroy(struct fuzzer *f, uint32_t id)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd), .id = id };

	world_cmd(f->world, KVERBS_DESTROY, &cmd);
}

/**
 * cmds_answer() - answer a peer's request, one way or another
 * @f: the thread
 * @conn: the connection asked for
 */
void cmds_answer(struct fuzzer *f, uint32_t conn)
{
	switch (rng_below(&f->rng, 10)) {
	case 0:
		reject(f, conn);
		break;
	case 1:
		destroy(f, conn);
		break;
	case 2:
		break;
	default:
		world_note(f->world, &f->rng, CONN, conn);
		accept(f, conn);
	}
}

static void disconnect(struct fuzzer *f)
{
	struct kverbs_cmd_disconnect cmd = {
		.size = sizeof(cmd),
		.conn_id = world_id(f->world, &f->rng, CONN),
	};

	world_cmd(f->world, KVERBS_DISCONNECT, &cmd);
}

static void query(struct fuzzer *f)
{
	char priv[256];
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = world_id(f->world, &f->rng, CONN),
		.priv_uptr = (uintptr_t)priv,
		.priv_len = rng_below(&f->rng, sizeof(priv)),
	};

	world_cmd(f->world, KVERBS_CONN_QUERY, &cmd);
}

static void export(struct fuzzer *f)
{
	unsigned int side;
	struct link *link = world_link(f, &side);
	struct kverbs_segment segs[8];
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = link->conn[side],
		.region_id = world_id(f->world, &f->rng, REGION),
		.access = 1 + rng_below(&f->rng, 7),
		.segs_len = rng_below(&f->rng, 9),
		.offset = rng_below(&f->rng, PAGE),
		.length = 1 + rng_below(&f->rng, rng_once_in(&f->rng, 4) ? ARENA_SIZE : PAGE),
		.segs_uptr = (uintptr_t)segs,
	};

	if (world_cmd(f->world, KVERBS_EXPORT, &cmd))
		return;
	world_note(f->world, &f->rng, EXPORT, cmd.out_id);
	link->segment[side] = segs[rng_below(&f->rng, cmd.segs_len)];
}

static void info(struct fuzzer *f)
{
	struct kverbs_cmd_info cmd = { .size = sizeof(cmd) };
	struct kverbs_port ports[2];
	struct kverbs_gid gids[4];
	struct kverbs_cmd_device_query device = {
		.size = sizeof(device),
		.index = rng_below(&f->rng, 3),
		.ports_len = rng_below(&f->rng, 3),
		.gids_len = rng_below(&f->rng, 5),
		.ports_uptr = (uintptr_t)ports,
		.gids_uptr = (uintptr_t)gids,
	};

	world_cmd(f->world, KVERBS_INFO, &cmd);
	world_cmd(f->world, KVERBS_DEVICE_QUERY, &device);
}

/**
 * cmds_garbage() - a command with whatever bytes
 * @f: the thread
 */
void cmds_garbage(struct fuzzer *f)
{
	uint64_t words[512];
	uint32_t *size = (uint32_t *)words;
	unsigned int i, nr = 1 + rng_below(&f->rng, 32);
	unsigned int number = rng_below(&f->rng, COMMANDS);

	memset(words, 0, sizeof(words));
	for (i = 0; i < nr; i++)
		words[i] = rng_number(&f->rng);
	*size = rng_once_in(&f->rng, 8) ? rng_number(&f->rng) : 8 * rng_below(&f->rng, 40);
	if (number == _IOC_NR(KVERBS_SUBMIT) && !rng_once_in(&f->rng, 20))
		((struct kverbs_cmd_submit *)words)->deadline_ns = 1;
	world_cmd(f->world, _IO(KVERBS_IOC_TYPE, number),
		  rng_once_in(&f->rng, 20) ? (void *)rng_number(&f->rng) : words);
}

/**
 * cmds_begin() - have something that commands can be right about
 * @f: the thread, with a ring
 */
void cmds_begin(struct fuzzer *f)
{
	int i;

	listen(f);
	for (i = 0; i < 3; i++) {
		make_region(f);
		connect(f);
	}
	ring_settle(f);
	for (i = 0; i < 3; i++)
		export(f);
}

/**
 * cmds_any() - a command that makes sense
 * @f: the thread
 */
void cmds_any(struct fuzzer *f)
{
	switch (rng_below(&f->rng, 16)) {
	case 0 ... 3:
		make_region(f);
		break;
	case 4:
		listen(f);
		break;
	case 5 ... 7:
		connect(f);
		break;
	case 8 ... 10:
		export(f);
		break;
	case 11:
		query(f);
		break;
	case 12:
		disconnect(f);
		break;
	case 13:
		info(f);
		break;
	case 14:
		destroy(f, world_id(f->world, &f->rng, REGION));
		break;
	default:
		destroy(f, world_id(f->world, &f->rng, rng_below(&f->rng, NR_KINDS)));
	}
}
