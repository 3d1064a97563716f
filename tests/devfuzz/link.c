// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of this host to itself: connect, answer, disconnect, and again. */
#include <string.h>

#include "world.h"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* Receives to keep posted for the peer's messages */
#define RECEIVES	12

/* Choose any valid option of the CM and the HCA. */
static void choose_options(struct fuzzer *f, struct kverbs_conn_param *param)
{
	param->valid = rng_below(&f->rng, 32);
	if (param->valid & KVERBS_PARAM_RETRY)
		param->retry = rng_below(&f->rng, 8);
	if (param->valid & KVERBS_PARAM_RNR_RETRY)
		param->rnr_retry = rng_below(&f->rng, 8);
	if (param->valid & KVERBS_PARAM_RNR_TIMER)
		param->rnr_timer = rng_below(&f->rng, 32);
	if (param->valid & KVERBS_PARAM_ACK_TIMEOUT)
		param->ack_timeout = rng_below(&f->rng, 32);
	if (param->valid & KVERBS_PARAM_TOS)
		param->tos = rng_next(&f->rng);
}

static uint64_t choose_keepalive(struct fuzzer *f)
{
	switch (rng_below(&f->rng, 16)) {
	case 0:
		return 10 * NSEC_PER_MSEC + rng_below(&f->rng, 100 * NSEC_PER_MSEC);
	case 1 ... 4:
		return NSEC_PER_SEC + rng_below(&f->rng, 2 * NSEC_PER_SEC);
	default:
		return 0;
	}
}

static struct kverbs_conn_param choose_param(struct fuzzer *f)
{
	bool small = rng_once_in(&f->rng, 8);
	struct kverbs_conn_param param = {
		.sq_depth = small ? 1 + rng_below(&f->rng, 8) : 16 + rng_below(&f->rng, 112),
		.rq_depth = small ? 1 + rng_below(&f->rng, 8) : 16 + rng_below(&f->rng, 112),
		.max_sge = rng_below(&f->rng, 5),
		.max_read = rng_below(&f->rng, 4),
		.keepalive_ns = choose_keepalive(f),
		/* A sender waits for a receive without limit. */
		.valid = KVERBS_PARAM_RNR_RETRY,
		.rnr_retry = 7,
	};

	if (rng_once_in(&f->rng, 10))
		choose_options(f, &param);
	return param;
}

static uint64_t choose_timeout(struct fuzzer *f)
{
	return rng_once_in(&f->rng, 20) ? 1 + rng_below(&f->rng, 200 * NSEC_PER_MSEC) : 0;
}

/**
 * link_group() - create a group for connections on the first device
 * @f: the thread
 */
void link_group(struct fuzzer *f)
{
	struct kverbs_cmd_device_query device = { .size = sizeof(device) };
	struct kverbs_cmd_group_create cmd = { .size = sizeof(cmd) };

	world_cmd(f->world, KVERBS_DEVICE_QUERY, &device);
	cmd.device_index = device.out_index;
	if (!world_try(f, KVERBS_GROUP_CREATE, &cmd))
		world_note(f, GROUP, cmd.out_id);
}

static uint32_t choose_group(struct fuzzer *f)
{
	return rng_once_in(&f->rng, 2) ? world_id(f, GROUP) : 0;
}

/**
 * link_listen() - create a listener for the thread
 * @f: the thread
 */
void link_listen(struct fuzzer *f)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = world_ring(f),
		.backlog = rng_below(&f->rng, 8),
		.inout_addr = f->world->addr,
	};

	if (world_try(f, KVERBS_LISTEN, &cmd))
		return;
	world_note(f, LISTENER, cmd.out_id);
	f->world->ports[rng_below(&f->rng, IDS)] = cmd.inout_addr.port;
	f->port = cmd.inout_addr.port;
}

static uint16_t choose_port(struct fuzzer *f)
{
	uint16_t other = f->world->ports[rng_below(&f->rng, IDS)];

	return other && rng_once_in(&f->rng, 5) ? other : f->port;
}

static void connect(struct fuzzer *f, unsigned int link)
{
	struct end *end = &f->world->ends[2 * link];
	/* The passive side identifies the connection by it. */
	char priv[KVERBS_PRIV_CONNECT_MAX] = { link };
	struct kverbs_conn_param param = choose_param(f);
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = world_ring(f),
		/* Counted as the opcode of completions from a pool. */
		.user_data = KVERBS_OP_RECV,
		.pool_id = pool_choose(f),
		.timeout_ns = choose_timeout(f),
		.dst = f->world->addr,
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
		.priv_uptr = (uintptr_t)priv,
		.priv_len = 1 + rng_below(&f->rng, sizeof(priv)),
		.group_id = choose_group(f),
	};

	cmd.dst.port = choose_port(f);
	memset(end, 0, 2 * sizeof(*end));
	if (world_try(f, KVERBS_CONNECT, &cmd))
		return;
	world_note(f, CONN, cmd.out_id);
	end->ring = cmd.ring_id;
	end->group = cmd.group_id;
	end->pooled = cmd.pool_id;
	end->conn = cmd.out_id;
}

/**
 * link_keep() - connect, if the thread lacks a connection
 * @f: the thread
 *
 * Return: true if it has started to connect.
 */
bool link_keep(struct fuzzer *f)
{
	unsigned int link;

	for (link = f->first; link < f->first + OWN_LINKS; link++) {
		if (f->world->ends[2 * link].conn)
			continue;
		if (!f->port || rng_once_in(&f->rng, 8))
			link_listen(f);
		connect(f, link);
		return true;
	}
	return false;
}

static unsigned int query(struct fuzzer *f, uint32_t conn, unsigned char *priv,
			  uint32_t length)
{
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.inout_priv_len = length,
	};

	return world_try(f, KVERBS_CONN_QUERY, &cmd) ? 0 : cmd.out_state;
}

static void reject(struct fuzzer *f, uint32_t conn)
{
	char priv[KVERBS_PRIV_REJECT_MAX] = "";
	struct kverbs_cmd_reject cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.priv_uptr = (uintptr_t)priv,
		.priv_len = rng_below(&f->rng, sizeof(priv) + 1),
	};

	world_try(f, KVERBS_REJECT, &cmd);
}

static void accept(struct fuzzer *f, uint32_t conn)
{
	unsigned char priv[KVERBS_PRIV_ACCEPT_MAX] = "";
	struct kverbs_conn_param param = choose_param(f);
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		/* 0: keep the listener's ring, which is this one. */
		.ring_id = rng_once_in(&f->rng, 4) ? 0 : world_ring(f),
		.user_data = KVERBS_OP_RECV,
		.pool_id = pool_choose(f),
		.timeout_ns = choose_timeout(f),
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
		.group_id = choose_group(f),
	};
	struct end *end;

	/* The active side chooses them. */
	param.valid &= ~(KVERBS_PARAM_TOS | KVERBS_PARAM_RETRY);
	param.tos = 0;
	param.retry = 0;
	query(f, conn, priv, sizeof(priv));
	end = &f->world->ends[2 * (priv[0] % LINKS) + 1];
	*end = (struct end){
		.ring = cmd.ring_id ?: f->ring.out_id, .group = cmd.group_id, .conn = conn,
		.pooled = cmd.pool_id,
	};
	world_note(f, CONN, conn);
	/* The group may be gone. */
	if (world_try(f, KVERBS_ACCEPT, &cmd) && cmd.group_id) {
		cmd.group_id = 0;
		world_cmd(f->world, KVERBS_ACCEPT, &cmd);
	}
}

/**
 * link_answer() - accept, reject or ignore a peer's request
 * @f: the thread
 * @conn: the requested connection
 */
void link_answer(struct fuzzer *f, uint32_t conn)
{
	switch (rng_below(&f->rng, 40)) {
	case 0:
		reject(f, conn);
		break;
	case 1:
		world_destroy(f, conn);
		break;
	case 2:
		break;
	default:
		accept(f, conn);
	}
}

static struct end *find(struct world *world, uint32_t conn)
{
	unsigned int i;

	for (i = 0; i < 2 * LINKS; i++)
		if (world->ends[i].conn == conn)
			return &world->ends[i];
	return NULL;
}

/**
 * link_up() - record that a connection is established
 * @f: the thread
 * @conn: the connection
 */
void link_up(struct fuzzer *f, uint32_t conn)
{
	struct end *end = find(f->world, conn);

	if (!end)
		return;
	/* Receives use half of a ring's slots, so that all can complete. */
	end->most = f->ring.cq_entries / (4 * OWN_LINKS);
	if (end->most > RECEIVES)
		end->most = RECEIVES;
	end->up = true;
	grant_make(f, end);
	grant_make(f, end);
}

/**
 * link_down() - record that a connection has ended
 * @f: the thread
 * @conn: the connection
 */
void link_down(struct fuzzer *f, uint32_t conn)
{
	struct end *end = find(f->world, conn);

	if (end)
		*end = (struct end){};
	if (!rng_once_in(&f->rng, 10))
		world_destroy(f, conn);
}

/**
 * link_query() - query a connection, and record its state
 * @f: the thread
 */
void link_query(struct fuzzer *f)
{
	struct end *end = &f->world->ends[2 * f->first + rng_below(&f->rng, 2 * OWN_LINKS)];
	unsigned char priv[256];
	unsigned int state;

	if (!end->conn)
		return;
	state = query(f, end->conn, priv, sizeof(priv));
	if (state == KVERBS_CONN_ESTABLISHED && !end->up)
		link_up(f, end->conn);
	if (!state || state == KVERBS_CONN_DEAD)
		link_down(f, end->conn);
}

/**
 * link_break() - end a connection, whatever is in flight
 * @f: the thread
 */
void link_break(struct fuzzer *f)
{
	struct end *end = link_choose(f);
	struct kverbs_cmd_disconnect cmd = { .size = sizeof(cmd) };

	if (!end)
		return;
	cmd.conn_id = end->conn;
	if (rng_once_in(&f->rng, 2))
		world_try(f, KVERBS_DISCONNECT, &cmd);
	else
		link_down(f, end->conn);
}

/**
 * link_leave() - give up the thread's connections together with its ring
 * @f: the thread
 */
void link_leave(struct fuzzer *f)
{
	struct end *ends = &f->world->ends[2 * f->first];
	unsigned int i;

	for (i = 0; i < 2 * OWN_LINKS; i++)
		if (ends[i].conn)
			link_down(f, ends[i].conn);
	f->port = 0;
}

/**
 * link_choose() - choose a connection that is established and completes on the thread's ring
 * @f: the thread
 *
 * Return: an end of it, or NULL if there is none.
 */
struct end *link_choose(struct fuzzer *f)
{
	unsigned int i, first = 2 * f->first + rng_below(&f->rng, 2 * OWN_LINKS);
	struct end *end;

	/* Rarely start at any link; otherwise start at one of the thread's own. */
	if (rng_once_in(&f->rng, 8))
		first = rng_below(&f->rng, 2 * LINKS);
	for (i = 0; i < 2 * LINKS; i++) {
		end = &f->world->ends[(first + i) % (2 * LINKS)];
		if (end->up && end->conn && end->ring == f->ring.out_id)
			return end;
	}
	return NULL;
}

/**
 * link_peer() - get the other end
 * @world: the world
 * @end: this end
 *
 * Return: the other end, about which little may be known.
 */
struct end *link_peer(struct world *world, const struct end *end)
{
	return &world->ends[(end - world->ends) ^ 1];
}
