// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic that the kernel makes.
 */
#include <errno.h>
#include <stdlib.h>

#include "buf.h"
#include "conn.h"
#include "internal.h"

/* Copy @token's segments from @offset on; NULL: no memory. */
static struct kverbs_segment *segs_from(const struct kverbs_token *token, uint64_t offset,
					uint32_t *nr)
{
	struct kverbs_segment *segs = calloc(token->nr_segs ? token->nr_segs : 1, sizeof(*segs));
	uint32_t i;

	*nr = 0;
	for (i = 0; segs && i < token->nr_segs; i++) {
		struct kverbs_segment seg = token->segs[i];

		if (offset >= seg.length) {
			offset -= seg.length;
			continue;
		}
		seg.addr += offset;
		seg.length -= offset;
		offset = 0;
		segs[(*nr)++] = seg;
	}
	return segs;
}

static void fill(struct kverbs_cmd_bench *cmd, const struct kverbs_conn *conn,
		 const struct kverbs_bench_opts *opts, uint64_t *hist)
{
	*cmd = (struct kverbs_cmd_bench){
		.size = sizeof(*cmd),
		.flags = opts->flags,
		.conn_id = conn->obj.id,
		.region_id = opts->buf->id,
		.offset = opts->offset,
		.length = opts->length,
		.opcode = opts->opcode,
		.depth = opts->depth ? opts->depth : 1,
		.post_list = opts->post_list ? opts->post_list : 1,
		.cq_mod = opts->cq_mod,
		.warm_up = opts->warm_up,
		.iterations = opts->iterations,
		.duration_ms = opts->duration_ms,
		.timeout_ms = opts->timeout_ms,
		.recvs = opts->recvs,
		.recv_length = opts->recv_length,
		.recv_offset = opts->recv_offset,
		.recv_stride = opts->recv_stride,
		.credit = opts->credit,
		.hist_uptr = (uintptr_t)hist,
		.hist_len = hist ? KVERBS_BENCH_BUCKETS : 0,
	};
}

/* The kernel touches no more segments than the operation needs, nor takes many more. */
static int add_token(struct kverbs_cmd_bench *cmd, const struct kverbs_bench_opts *opts)
{
	struct kverbs_segment *segs;
	uint32_t nr;

	if (opts->remote_offset > opts->token->length ||
	    opts->length > opts->token->length - opts->remote_offset)
		return -EINVAL;
	segs = segs_from(opts->token, opts->remote_offset, &nr);
	if (!segs)
		return -ENOMEM;
	cmd->segs_uptr = (uintptr_t)segs;
	cmd->segs_len = nr < KVERBS_BENCH_SEGS_MAX ? nr : KVERBS_BENCH_SEGS_MAX;
	return 0;
}

static int run(struct kverbs_conn *conn, const struct kverbs_bench_opts *opts,
	       struct kverbs_cmd_bench *cmd, uint64_t *hist)
{
	int ret;

	if (!opts->buf || !kverbs_buf_holds(opts->buf, conn->kv, opts->offset, opts->length))
		return -EINVAL;
	fill(cmd, conn, opts, hist);
	ret = opts->token ? add_token(cmd, opts) : 0;
	if (!ret)
		ret = kverbs_ioctl(conn->kv, KVERBS_BENCH, cmd);
	free((void *)(uintptr_t)cmd->segs_uptr);
	cmd->segs_uptr = 0;
	return ret ? ret : cmd->out_error;
}

int kverbs_bench(struct kverbs_conn *conn, const struct kverbs_bench_opts *given,
		 struct kverbs_cmd_bench *result, size_t sz, uint64_t *hist)
{
	struct kverbs_cmd_bench cmd = { .size = 0 };
	struct kverbs_bench_opts opts;
	int ret;

	ret = kverbs_opts_copy(&opts, sizeof(opts), given);
	if (!ret)
		ret = run(conn, &opts, &cmd, hist);
	kverbs_answer(result, sz, &cmd, sizeof(cmd));
	return ret;
}
