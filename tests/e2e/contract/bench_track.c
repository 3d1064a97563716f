// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench.h"

struct track track;

void track_open(void)
{
	static char memory[MEMORY] __aligned(4096);
	uint32_t nr = 1;

	track.memory = memory;
	pair_open(&track.pair);
	track.region = dev_region(track.pair.fd, memory, MEMORY, 0);
	dev_export(track.pair.fd, track.pair.server, track.region, 0, MEMORY,
		   KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &track.seg, &nr);
	CHECK_EQ(nr, 1);
}

struct kverbs_cmd_bench good(void)
{
	return (struct kverbs_cmd_bench){
		.size = sizeof(struct kverbs_cmd_bench),
		.conn_id = track.pair.client,
		.region_id = track.region,
		.length = LENGTH,
		.opcode = KVERBS_OP_WRITE,
		.depth = 8,
		.post_list = 4,
		.segs_len = 1,
		.segs_uptr = (uintptr_t)&track.seg,
		.timeout_ms = test_patience_ms(),
		.warm_up = 3,
		.iterations = 100,
	};
}

static void make_latency(struct kverbs_cmd_bench *cmd)
{
	cmd->flags = KVERBS_BENCH_LATENCY;
	cmd->hist_len = KVERBS_BENCH_BUCKETS;
	cmd->hist_uptr = (uintptr_t)track.hist;
}

struct kverbs_cmd_bench good_latency(void)
{
	struct kverbs_cmd_bench cmd = good();

	make_latency(&cmd);
	cmd.opcode = KVERBS_OP_READ;
	return cmd;
}

struct kverbs_cmd_bench good_send(void)
{
	struct kverbs_cmd_bench cmd = good();

	cmd.opcode = KVERBS_OP_SEND;
	cmd.segs_len = 0;
	cmd.segs_uptr = 0;
	return cmd;
}

struct kverbs_cmd_bench good_answered(void)
{
	struct kverbs_cmd_bench cmd = good_send();

	make_latency(&cmd);
	cmd.recvs = 2;
	cmd.recv_length = LENGTH;
	cmd.recv_offset = INBOX;
	return cmd;
}

struct kverbs_cmd_bench good_marked(void)
{
	struct kverbs_cmd_bench cmd = good_latency();

	cmd.opcode = KVERBS_OP_WRITE;
	cmd.recv_length = LENGTH;
	cmd.recv_offset = INBOX;
	return cmd;
}

struct kverbs_cmd_bench good_credit(void)
{
	struct kverbs_cmd_bench cmd = good_send();

	cmd.recvs = 2;
	cmd.recv_length = 8;
	cmd.recv_offset = INBOX;
	cmd.credit = 4;
	return cmd;
}

struct kverbs_cmd_bench good_atomic(void)
{
	struct kverbs_cmd_bench cmd = good();

	cmd.opcode = KVERBS_OP_FETCH_ADD;
	cmd.length = 8;
	return cmd;
}

int track_run(struct kverbs_cmd_bench *cmd)
{
	return dev_cmd(track.pair.fd, KVERBS_BENCH, cmd);
}
