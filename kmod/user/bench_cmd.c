// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Measuring, as user space asks for it. The traffic engine is a module of its own, which is loaded
 * when it is needed.
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bench.h"
#include "bench_cmd.h"
#include "compat.h"
#include "conn.h"
#include "conn_cmd.h"
#include "file.h"
#include "k_conn.h"
#include "opcode.h"
#include "queue.h"
#include "region.h"
#include "region_cmd.h"

#define DEFAULT_TIMEOUT_MS	10000
#define MAX_DURATION_MS		86400000
#define FLAGS			(KVERBS_BENCH_LATENCY | KVERBS_BENCH_HALF)
/* Length of the message that gives credit. */
#define NOTE_LEN		8

/* Guards @engine, and keeps it registered until its module has been referenced. */
static DEFINE_MUTEX(engine_lock);
static const struct kverbs_bench_ops *engine;

/**
 * kverbs_bench_register() - let BENCH reach the engine
 * @ops: the engine
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if there is one.
 */
int kverbs_bench_register(const struct kverbs_bench_ops *ops)
{
	int ret = 0;

	mutex_lock(&engine_lock);
	if (engine)
		ret = -EBUSY;
	else
		engine = ops;
	mutex_unlock(&engine_lock);
	return ret;
}
EXPORT_SYMBOL_KVERBS(kverbs_bench_register);

/**
 * kverbs_bench_unregister() - undo kverbs_bench_register()
 * @ops: the engine; no command has a reference to its module
 *
 * Context: process, may sleep.
 */
void kverbs_bench_unregister(const struct kverbs_bench_ops *ops)
{
	mutex_lock(&engine_lock);
	if (engine == ops)
		engine = NULL;
	mutex_unlock(&engine_lock);
}
EXPORT_SYMBOL_KVERBS(kverbs_bench_unregister);

/* References the module of the engine, if it is loaded. */
static const struct kverbs_bench_ops *get_loaded(void)
{
	const struct kverbs_bench_ops *ops;

	mutex_lock(&engine_lock);
	ops = engine;
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	mutex_unlock(&engine_lock);
	return ops;
}

/*
 * References the module of the engine until put_engine(). modprobe may take its time, so this is
 * called before any object of the caller is in use.
 */
static const struct kverbs_bench_ops *get_engine(void)
{
	const struct kverbs_bench_ops *ops = get_loaded();
	int ret;

	if (ops)
		return ops;
	ret = request_module("kverbs_bench");
	ops = get_loaded();
	if (ops)
		return ops;
	return ERR_PTR(ret == -ENOMEM ? ret : -EOPNOTSUPP);
}

static void put_engine(const struct kverbs_bench_ops *ops)
{
	module_put(ops->owner);
}

static bool is_latency(const struct kverbs_cmd_bench *cmd)
{
	return cmd->flags & KVERBS_BENCH_LATENCY;
}

static bool has(const struct kverbs_cmd_bench *cmd, u16 flags)
{
	return kverbs_opcode_has(cmd->opcode, flags);
}

static bool amount_fits(const struct kverbs_cmd_bench *cmd)
{
	if (cmd->warm_up > U32_MAX || cmd->iterations > U32_MAX)
		return false;
	return !cmd->iterations == !!cmd->duration_ms &&
	       cmd->duration_ms <= MAX_DURATION_MS && cmd->timeout_ms <= INT_MAX;
}

static bool depth_fits(const struct kverbs_cmd_bench *cmd)
{
	return cmd->depth && cmd->depth <= KVERBS_BENCH_REQS_MAX / max(cmd->segs_len, 1U) &&
	       cmd->post_list && cmd->post_list <= cmd->depth && cmd->cq_mod <= cmd->depth;
}

static bool segs_fit(const struct kverbs_cmd_bench *cmd)
{
	if (has(cmd, KVERBS_OPF_MESSAGE))
		return !cmd->segs_len && !cmd->segs_uptr;
	return cmd->segs_len && cmd->segs_len <= KVERBS_BENCH_SEGS_MAX &&
	       (!has(cmd, KVERBS_OPF_ATOMIC) || cmd->length == sizeof(u64));
}

static bool has_no_recvs(const struct kverbs_cmd_bench *cmd)
{
	return !cmd->recvs && !cmd->recv_length && !cmd->recv_offset && !cmd->recv_stride &&
	       !cmd->credit;
}

/* A bandwidth measurement receives credit, a latency measurement answers. */
static bool recvs_fit(const struct kverbs_cmd_bench *cmd)
{
	if (cmd->recvs > KVERBS_BENCH_RECVS_MAX)
		return false;
	if (is_latency(cmd) && cmd->opcode == KVERBS_OP_WRITE)
		return !cmd->recvs && cmd->recv_length && !cmd->recv_stride && !cmd->credit;
	if (!has(cmd, KVERBS_OPF_TAKES_RECV))
		return has_no_recvs(cmd);
	if (is_latency(cmd))
		return cmd->recvs && !cmd->credit;
	return cmd->credit ? cmd->recvs && cmd->recv_length >= NOTE_LEN : has_no_recvs(cmd);
}

static int check(const struct kverbs_cmd_bench *cmd)
{
	const struct kverbs_opdef *op = kverbs_opdef_find(cmd->opcode);

	if (cmd->flags & ~FLAGS || cmd->flags == KVERBS_BENCH_HALF)
		return -EINVAL;
	if (!op || !(op->flags & KVERBS_OPF_BENCH) || !cmd->length)
		return -EINVAL;
	if (!amount_fits(cmd) || !segs_fit(cmd) || !depth_fits(cmd) || !recvs_fit(cmd))
		return -EINVAL;
	return !is_latency(cmd) && (cmd->hist_uptr || cmd->hist_len) ? -EINVAL : 0;
}

/*
 * Tells how many there are, whether they fit or not. That they cannot be written is to be
 * known before there is any traffic; and if it fails, nothing is written.
 */
static int check_hist(struct kverbs_cmd_bench *cmd)
{
	u32 room = cmd->hist_len;

	cmd->hist_len = is_latency(cmd) ? KVERBS_BENCH_BUCKETS : 0;
	if (room < cmd->hist_len)
		return -EMSGSIZE;
	return fault_in_safe_writeable(u64_to_user_ptr(cmd->hist_uptr),
				       cmd->hist_len * sizeof(u64)) ? -EFAULT : 0;
}

static int set_part(struct kverbs_bench_part *part, const struct kverbs_segment *seg,
		    u64 left)
{
	u64 end;

	if (!seg->length || seg->__reserved ||
	    check_add_overflow(seg->addr, seg->length, &end))
		return -EINVAL;
	part->addr = seg->addr;
	part->length = min(seg->length, left);
	part->rkey = seg->rkey;
	return 0;
}

static int set_parts(struct kverbs_bench_plan *plan, const struct kverbs_segment *segs,
		     unsigned int nr)
{
	u64 left = plan->local.length;
	unsigned int i;
	int ret;

	for (i = 0; i < nr && left; i++) {
		ret = set_part(&plan->parts[i], &segs[i], left);
		if (ret)
			return ret;
		left -= plan->parts[i].length;
	}
	plan->nr_parts = i;
	if (kverbs_opcode_has(plan->opcode, KVERBS_OPF_ATOMIC) &&
	    (i > 1 || !IS_ALIGNED(plan->parts[0].addr, sizeof(u64))))
		return -EINVAL;
	return left ? -EINVAL : 0;
}

static int read_segs(struct kverbs_bench_plan *plan, const struct kverbs_cmd_bench *cmd)
{
	struct kverbs_segment *segs;
	int ret;

	plan->nr_parts = 1;
	if (!cmd->segs_len)
		return 0;
	segs = memdup_user(u64_to_user_ptr(cmd->segs_uptr), cmd->segs_len * sizeof(*segs));
	if (IS_ERR(segs))
		return PTR_ERR(segs);
	plan->parts = kcalloc(cmd->segs_len, sizeof(*plan->parts), GFP_KERNEL_ACCOUNT);
	ret = plan->parts ? set_parts(plan, segs, cmd->segs_len) : -ENOMEM;
	kfree(segs);
	return ret;
}

static void fill_plan(struct kverbs_bench_plan *plan, const struct kverbs_cmd_bench *cmd)
{
	*plan = (struct kverbs_bench_plan) {
		.opcode = cmd->opcode,
		.latency = is_latency(cmd),
		.half = cmd->flags & KVERBS_BENCH_HALF,
		.local.offset = cmd->offset,
		.local.length = cmd->length,
		.depth = cmd->depth,
		.post_list = cmd->post_list,
		.cq_mod = cmd->cq_mod,
		.warm_up = cmd->warm_up,
		.count = cmd->iterations,
		.duration_ns = (u64)cmd->duration_ms * NSEC_PER_MSEC,
		.timeout_ns = (u64)(cmd->timeout_ms ?: DEFAULT_TIMEOUT_MS) * NSEC_PER_MSEC,
		.answer.offset = cmd->recv_offset,
		.answer.length = cmd->recv_length,
		.nr_recvs = cmd->recvs,
		.recv_stride = cmd->recv_stride,
		.credit = cmd->credit,
	};
}

/* Whether something is received, or must be marked, or comes back. */
static bool writes(const struct kverbs_bench_plan *plan)
{
	return plan->nr_recvs || plan->answer.length ||
	       kverbs_opcode_has(plan->opcode, KVERBS_OPF_WRITES);
}

static bool answers_fit(const struct kverbs_bench_plan *plan,
			const struct kverbs_region *region)
{
	u64 more = max(plan->nr_recvs, 1U) - 1, span = more * plan->recv_stride, end;

	return !check_add_overflow(span, plan->answer.length, &end) &&
	       kverbs_region_covers(region, plan->answer.offset, end);
}

/* A receive of nothing has no buffer. */
static int set_region(struct kverbs_bench_plan *plan, struct kverbs_region *region)
{
	u64 start = region->page_offset + plan->local.offset;

	if (!kverbs_region_covers(region, plan->local.offset, plan->local.length) ||
	    !answers_fit(plan, region) || (writes(plan) && !region->writable))
		return -EINVAL;
	/* The engine reads messages, and waits for bytes to change. */
	if (region->opaque && plan->answer.length)
		return -EOPNOTSUPP;
	if (kverbs_opcode_has(plan->opcode, KVERBS_OPF_ATOMIC) && !IS_ALIGNED(start, sizeof(u64)))
		return -EINVAL;
	plan->local.region = region;
	plan->answer.region = plan->answer.length ? region : NULL;
	return 0;
}

static int run_alone(const struct kverbs_bench_ops *ops, struct kverbs_conn *conn,
		     const struct kverbs_bench_plan *plan, struct kverbs_bench_result *result)
{
	struct kverbs_k_conn lent;
	int ret;

	ret = kverbs_queue_reserve(&conn->queue);
	if (ret)
		return ret;
	kverbs_k_conn_lend(&lent, conn);
	ret = ops->run(&lent, plan, result);
	kverbs_queue_unreserve(&conn->queue);
	return ret;
}

static void tell(struct kverbs_cmd_bench *cmd, const struct kverbs_bench_result *result)
{
	cmd->out_ops = result->ops;
	cmd->out_sent = result->sent;
	cmd->out_received = result->received;
	cmd->out_elapsed_ns = result->elapsed_ns;
	cmd->out_cpu_ns = result->cpu_ns;
	cmd->out_min_ns = result->min_ns;
	cmd->out_max_ns = result->max_ns;
	cmd->out_sum_ns = result->sum_ns;
	cmd->out_error = result->error;
	cmd->out_wc_status = result->wc_status;
}

static int run_on_conn(struct kverbs_ucmd *ucmd, const struct kverbs_bench_ops *ops,
		       struct kverbs_bench_plan *plan)
{
	struct kverbs_cmd_bench *cmd = ucmd->cmd;
	struct kverbs_bench_result result = {};
	struct kverbs_conn_obj *conn_obj;
	int ret;

	conn_obj = kverbs_conn_obj_get(ucmd->file, cmd->conn_id);
	if (IS_ERR(conn_obj))
		return PTR_ERR(conn_obj);
	ret = run_alone(ops, conn_obj->conn, plan, &result);
	kverbs_object_put(&conn_obj->obj);
	tell(cmd, &result);
	return ret;
}

static int run_on_region(struct kverbs_ucmd *ucmd, const struct kverbs_bench_ops *ops,
			 struct kverbs_bench_plan *plan)
{
	struct kverbs_cmd_bench *cmd = ucmd->cmd;
	struct kverbs_region_obj *region_obj;
	int ret;

	region_obj = kverbs_region_obj_get(ucmd->file, cmd->region_id);
	if (IS_ERR(region_obj))
		return PTR_ERR(region_obj);
	/* In use all the time, not only while an operation is under way. */
	kverbs_region_use(region_obj->region);
	ret = set_region(plan, region_obj->region);
	if (!ret)
		ret = run_on_conn(ucmd, ops, plan);
	kverbs_region_unuse(region_obj->region);
	kverbs_object_put(&region_obj->obj);
	return ret;
}

static int run_with_hist(struct kverbs_ucmd *ucmd, const struct kverbs_bench_ops *ops,
			 struct kverbs_bench_plan *plan)
{
	struct kverbs_cmd_bench *cmd = ucmd->cmd;
	int ret;

	if (plan->latency) {
		plan->buckets = kvcalloc(KVERBS_BENCH_BUCKETS, sizeof(*plan->buckets),
					 GFP_KERNEL_ACCOUNT);
		if (!plan->buckets)
			return -ENOMEM;
	}
	ret = run_on_region(ucmd, ops, plan);
	if (!ret && plan->latency &&
	    copy_to_user(u64_to_user_ptr(cmd->hist_uptr), plan->buckets,
			 KVERBS_BENCH_BUCKETS * sizeof(*plan->buckets)))
		ret = -EFAULT;
	kvfree(plan->buckets);
	return ret;
}

int kverbs_cmd_bench(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_bench *cmd = ucmd->cmd;
	const struct kverbs_bench_ops *ops;
	struct kverbs_bench_plan plan;
	int ret;

	ret = check(cmd);
	if (!ret)
		ret = check_hist(cmd);
	if (ret)
		return ret;
	ops = get_engine();
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	fill_plan(&plan, cmd);
	ret = read_segs(&plan, cmd);
	if (!ret)
		ret = run_with_hist(ucmd, ops, &plan);
	kfree(plan.parts);
	put_engine(ops);
	return ret;
}
