// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands: mostly valid, so that they get far; and garbage, which is refused early. */
#include <string.h>

#include "world.h"

static void info(struct fuzzer *f)
{
	struct kverbs_cmd_info cmd = { .size = sizeof(cmd) };
	struct kverbs_port ports[2];
	struct kverbs_gid gids[16];
	struct kverbs_cmd_device_query device = {
		.size = sizeof(device),
		.index = rng_once_in(&f->rng, 4),
		.inout_ports_len = rng_once_in(&f->rng, 6) ? 0 : 2,
		.inout_gids_len = rng_below(&f->rng, 17),
		.ports_uptr = (uintptr_t)ports,
		.gids_uptr = (uintptr_t)gids,
	};

	world_try(f, KVERBS_INFO, &cmd);
	world_try(f, KVERBS_DEVICE_QUERY, &device);
}

/**
 * cmds_garbage() - run a command with random bytes
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
		((struct kverbs_cmd_submit *)words)->timeout_ns = 1;
	world_cmd(f->world, _IO(KVERBS_IOC_TYPE, number),
		  rng_once_in(&f->rng, 20) ? (void *)rng_number(&f->rng) : words);
}

/**
 * cmds_begin() - create objects for the commands to use
 * @f: the thread, with a ring
 */
void cmds_begin(struct fuzzer *f)
{
	int i;

	for (i = 0; i < 6; i++)
		region_make(f);
	link_group(f);
	while (link_keep(f) && ++i < 16)
		;
	ring_settle(f);
}

static void withdraw(struct fuzzer *f)
{
	struct end *end = link_choose(f);

	if (end)
		grant_withdraw(f, end);
}

static void make_grant(struct fuzzer *f)
{
	struct end *end = link_choose(f);

	if (end)
		grant_make(f, end);
}

static uint8_t choose_opcode(struct fuzzer *f)
{
	static const uint8_t opcodes[] = {
		KVERBS_OP_WRITE, KVERBS_OP_READ, KVERBS_OP_FETCH_ADD, KVERBS_OP_WRITE_IMM,
		KVERBS_OP_SEND, KVERBS_OP_SEND_IMM,
	};

	return opcodes[rng_below(&f->rng, sizeof(opcodes))];
}

static bool needs_grant(uint8_t opcode)
{
	return opcode != KVERBS_OP_SEND && opcode != KVERBS_OP_SEND_IMM;
}

static void time_each(struct fuzzer *f, struct kverbs_cmd_bench *cmd, uint64_t *hist)
{
	bool answered = !needs_grant(cmd->opcode) || cmd->opcode == KVERBS_OP_WRITE_IMM;

	cmd->flags = KVERBS_BENCH_LATENCY;
	cmd->hist_len = KVERBS_BENCH_BUCKETS;
	cmd->hist_uptr = (uintptr_t)hist;
	cmd->recvs = answered ? 1 + rng_below(&f->rng, 4) : 0;
	cmd->recv_length = answered || cmd->opcode == KVERBS_OP_WRITE ? 64 : 0;
}

static void choose_amount(struct fuzzer *f, struct kverbs_cmd_bench *cmd)
{
	cmd->length = cmd->opcode == KVERBS_OP_FETCH_ADD ? 8 : 1 + rng_below(&f->rng, 64);
	cmd->depth = 1 + rng_below(&f->rng, 64);
	cmd->post_list = 1 + rng_below(&f->rng, cmd->depth);
	cmd->cq_mod = rng_below(&f->rng, cmd->depth + 1);
	cmd->warm_up = rng_below(&f->rng, 4);
	cmd->timeout_ms = 1 + rng_below(&f->rng, 100);
	if (rng_once_in(&f->rng, 2))
		cmd->iterations = 1 + rng_below(&f->rng, 1000);
	else
		cmd->duration_ms = 1 + rng_below(&f->rng, 20);
}

/* Run traffic on a connection, which is mostly in use by others. */
static void bench(struct fuzzer *f)
{
	const struct region *region = region_choose(f, 4096, true, true);
	struct end *end = link_choose(f);
	struct kverbs_cmd_bench cmd = { .size = sizeof(cmd), .opcode = choose_opcode(f) };
	uint64_t hist[KVERBS_BENCH_BUCKETS];
	struct grant *grant = NULL;

	if (!end || !region)
		return;
	if (needs_grant(cmd.opcode))
		grant = grant_choose(f, link_peer(f->world, end),
				     KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	if (grant) {
		cmd.segs_len = 1;
		cmd.segs_uptr = (uintptr_t)&grant->segment;
	}
	cmd.conn_id = end->conn;
	cmd.region_id = region->id;
	choose_amount(f, &cmd);
	if (rng_once_in(&f->rng, 2))
		time_each(f, &cmd, hist);
	world_try(f, KVERBS_BENCH, &cmd);
}

/**
 * cmds_any() - run a valid command
 * @f: the thread
 */
void cmds_any(struct fuzzer *f)
{
	switch (rng_below(&f->rng, 44)) {
	case 43:
		region_of_dmabuf(f);
		break;
	case 41 ... 42:
		ring_use_fd(f);
		break;
	case 33:
		pool_make(f);
		break;
	case 34 ... 37:
		pool_feed(f);
		break;
	case 39 ... 40:
		region_share(f);
		break;
	case 38:
		if (rng_once_in(&f->rng, 2))
			link_group(f);
		break;
	case 32:
		bench(f);
		break;
	case 0 ... 5:
		link_keep(f);
		break;
	case 6 ... 10:
		region_make(f);
		break;
	case 11 ... 19:
		make_grant(f);
		break;
	case 20 ... 22:
		withdraw(f);
		break;
	case 23 ... 26:
		link_query(f);
		break;
	case 27 ... 28:
		info(f);
		break;
	case 29:
		if (rng_once_in(&f->rng, 4))
			link_break(f);
		break;
	case 30:
		if (rng_once_in(&f->rng, 2))
			link_listen(f);
		break;
	default:
		if (rng_once_in(&f->rng, 3))
			world_destroy(f, world_id(f, rng_below(&f->rng, NR_KINDS)));
	}
}
