// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Traffic from within the kernel, on the way that storage takes. */
#include <linux/kverbs.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "bench.h"
#include "conn.h"
#include "region.h"

/* ---- completions: in whatever context the queue is polled ----------------------- */

/* What was only flushed says less than what it was flushed for. */
static void note_error(struct kverbs_bench *bench, const struct kverbs_req *req)
{
	if (!req->result || (bench->error && bench->wc_status != IB_WC_WR_FLUSH_ERR))
		return;
	bench->wc_status = req->wc_status;
	WRITE_ONCE(bench->error, req->result);
}

static void count(struct kverbs_bench *bench, u64 *counter, u64 nr)
{
	/* All that the completions wrote is there when they are seen to be counted. */
	smp_store_release(counter, *counter + nr);
	if (wq_has_sleeper(&bench->wait))
		wake_up(&bench->wait);
}

/* A connection is measured by one at a time: all are of the same measurement. */
static void op_done(struct list_head *over)
{
	struct kverbs_bench *bench = NULL;
	struct kverbs_bench_op *op;
	struct kverbs_req *req;
	u64 nr = 0;

	for (; (req = kverbs_req_pop(over, op_done)); nr++) {
		op = container_of(req, struct kverbs_bench_op, req);
		bench = op->bench;
		note_error(bench, req);
		WRITE_ONCE(op->busy, false);
	}
	count(bench, &bench->done, nr);
}

static void recv_done(struct list_head *over)
{
	struct kverbs_bench *bench = NULL;
	struct kverbs_req *req;
	u64 nr = 0;

	for (; (req = kverbs_req_pop(over, recv_done)); nr++) {
		bench = container_of(req, struct kverbs_bench_op, req)->bench;
		note_error(bench, req);
	}
	count(bench, &bench->recvs_done, nr);
}

static u64 counted(const u64 *counter)
{
	/* Pairs with count(). */
	return smp_load_acquire(counter);
}

static bool is_above(const u64 *what, u64 above)
{
	return counted(what) > above;
}

static int look_until(struct kverbs_bench *bench, const u64 *what, u64 above)
{
	struct kverbs_cq_set *cqs = bench->conn->attr.cqs;
	u64 until = ktime_get_ns() + bench->plan->timeout_ns;

	for (;;) {
		kverbs_cq_set_poll(cqs);
		if (is_above(what, above))
			return 0;
		if (signal_pending(current))
			return -EINTR;
		if (kverbs_cq_has_passed(until))
			return -ETIMEDOUT;
		kverbs_cq_give_way();
	}
}

/* Nobody wakes who waits for a queue that he must poll. */
static int poll_until(struct kverbs_bench *bench, const u64 *what, u64 above)
{
	int ret;

	kverbs_cq_poll_begin();
	ret = look_until(bench, what, above);
	kverbs_cq_poll_end();
	return ret;
}

/**
 * kverbs_bench_wait() - wait for completions
 * @bench: the measurement
 * @what: counter of it
 * @above: until it is above that
 *
 * What is under way completes even if the connection ends.
 *
 * Context: process, sleeps, or polls if the connection's queue is direct.
 * Return: 0, -EINTR: a signal; -ETIMEDOUT.
 */
int kverbs_bench_wait(struct kverbs_bench *bench, const u64 *what, u64 above)
{
	unsigned long jiffies_left = nsecs_to_jiffies(bench->plan->timeout_ns);
	long ret;

	cond_resched();
	if (signal_pending(current))
		return -EINTR;
	if (is_above(what, above))
		return 0;
	if (bench->conn->attr.cqs->direct)
		return poll_until(bench, what, above);
	ret = wait_event_interruptible_timeout(bench->wait, is_above(what, above),
					       jiffies_left);
	if (ret < 0)
		return -EINTR;
	return ret ? 0 : -ETIMEDOUT;
}

/* ---- what counts ---------------------------------------------------------------- */

/* Whoever is scheduled is charged for what he ran until then. */
static u64 thread_ns(void)
{
	schedule();
	return current->se.sum_exec_runtime;
}

/**
 * kverbs_bench_begin() - begin to count
 * @bench: the measurement, with nothing under way
 */
void kverbs_bench_begin(struct kverbs_bench *bench)
{
	bench->cpu_start = thread_ns();
	bench->start = ktime_get_ns();
	bench->counts = true;
}

/**
 * kverbs_bench_end() - count no more
 * @bench: the measurement
 * @ops: operations since it began
 */
void kverbs_bench_end(struct kverbs_bench *bench, u64 ops)
{
	bench->result->ops = ops;
	bench->result->elapsed_ns = ktime_get_ns() - bench->start;
	/* This clock is read outside the other's time, and so may have gone further. */
	bench->result->cpu_ns = min(thread_ns() - bench->cpu_start,
				    bench->result->elapsed_ns);
	bench->counts = false;
}

/**
 * kverbs_bench_time_is_over() - whether it has counted for long enough
 * @bench: the measurement
 * @now: ktime_get_ns()
 *
 * Return: true if it has, and is limited by time.
 */
bool kverbs_bench_time_is_over(const struct kverbs_bench *bench, u64 now)
{
	return bench->counts && bench->plan->duration_ns &&
	       now - bench->start >= bench->plan->duration_ns;
}

/* ---- receives -------------------------------------------------------------------- */

static int post_recv(struct kverbs_bench *bench)
{
	unsigned int i = bench->recvs_posted % bench->plan->nr_recvs;
	struct kverbs_req *req = &bench->recvs[i].req;
	int ret;

	req->flags = 0;
	kverbs_req_use(req);
	ret = kverbs_conn_recv(bench->conn, req);
	if (ret)
		kverbs_req_unuse(req);
	else
		bench->recvs_posted++;
	return ret;
}

/* The peer tells how many messages it has had receives for since those of the plan. */
static int take_credit(struct kverbs_bench *bench, const struct kverbs_req *req)
{
	__be64 note;
	u64 number;

	if (req->byte_len < sizeof(note))
		return -EBADMSG;
	kverbs_region_peek(req->region, req->offset, &note, sizeof(note));
	number = be64_to_cpu(note);
	if (number > bench->posted || bench->plan->credit + number < bench->granted)
		return -EPROTO;
	bench->granted = bench->plan->credit + number;
	return 0;
}

/**
 * kverbs_bench_repost() - look at what has come in, and be ready for more
 * @bench: the measurement
 *
 * Return: 0; -EBADMSG, -EPROTO: that was no credit; or why it cannot go on.
 */
int kverbs_bench_repost(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	const struct kverbs_req *req;
	int ret = 0;

	while (!ret && is_above(&bench->recvs_done, bench->recvs_taken)) {
		req = &bench->recvs[bench->recvs_taken++ % plan->nr_recvs].req;
		if (req->result)
			return req->result;
		bench->result->received++;
		if (plan->credit)
			ret = take_credit(bench, req);
		if (!ret)
			ret = post_recv(bench);
	}
	return ret;
}

static int post_recvs(struct kverbs_bench *bench)
{
	int ret = 0;

	while (!ret && bench->recvs_posted < bench->plan->nr_recvs)
		ret = post_recv(bench);
	return ret;
}

/* ---- operations ------------------------------------------------------------------ */

/* The queue sees to it that the last of those posted together tells. */
static void take_req(struct kverbs_bench *bench, u64 seq)
{
	struct kverbs_bench_op *op = &bench->ops[seq % bench->nr_ops];
	const struct kverbs_bench_plan *plan = bench->plan;

	op->busy = true;
	op->req.silent = plan->cq_mod > 1 && (seq + 1) % (plan->cq_mod * plan->nr_parts);
	op->req.imm = seq;
	kverbs_req_use(&op->req);
	bench->chain->reqs[seq - bench->posted] = &op->req;
}

/* Fills the chain with up to @nr requests that are free. */
static unsigned int take_reqs(struct kverbs_bench *bench, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (READ_ONCE(bench->ops[(bench->posted + i) % bench->nr_ops].busy))
			break;
		take_req(bench, bench->posted + i);
	}
	return i;
}

static void drop_req(struct kverbs_bench *bench, u64 seq)
{
	struct kverbs_bench_op *op = &bench->ops[seq % bench->nr_ops];

	kverbs_req_unuse(&op->req);
	op->busy = false;
}

/**
 * kverbs_bench_post() - post the next requests together
 * @bench: the measurement, with room for them
 * @nr: how many, at most KVERBS_OP_WRS
 *
 * Context: process, may sleep.
 * Return: 0, or why not all were posted; -EAGAIN: something must complete before.
 */
int kverbs_bench_post(struct kverbs_bench *bench, unsigned int nr)
{
	unsigned int taken = take_reqs(bench, nr), posted = 0, i;
	int error = 0;

	if (taken)
		posted = kverbs_conn_post_list(bench->conn, bench->chain->reqs, taken,
					       bench->chain, &error);
	for (i = posted; i < taken; i++)
		drop_req(bench, bench->posted + i);
	bench->posted += posted;
	if (!error && taken < nr)
		error = -EAGAIN;
	return error;
}

static u64 in_flight(const struct kverbs_bench *bench)
{
	return bench->posted - counted(&bench->done);
}

/* A whole list, or what is left, once there is room for it; else 0. */
static u64 next_list(const struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	u64 room = bench->nr_ops - in_flight(bench);
	u64 nr = min_t(u64, bench->goal - bench->posted, plan->post_list * plan->nr_parts);

	if (plan->credit)
		room = min(room, bench->granted - bench->posted);
	return nr <= room ? nr : 0;
}

static int push_list(struct kverbs_bench *bench, u64 nr)
{
	unsigned int some;
	int ret = 0;

	for (; nr && !ret; nr -= some) {
		some = min_t(u64, nr, KVERBS_OP_WRS);
		ret = kverbs_bench_post(bench, some);
	}
	/* The queue is full: what completes makes room. */
	return ret == -EAGAIN && in_flight(bench) ? 0 : ret;
}

/*
 * Take what there is, post what there is room for: no more than can be under way, since a
 * device that completes as fast as it is posted to always has room.
 */
static int push(struct kverbs_bench *bench)
{
	u64 end = bench->posted + bench->nr_ops, before, nr;
	int ret;

	ret = READ_ONCE(bench->error) ?: kverbs_bench_repost(bench);
	while (!ret && bench->posted < end) {
		nr = next_list(bench);
		before = bench->posted;
		if (nr)
			ret = push_list(bench, nr);
		if (bench->posted == before)
			break;
	}
	return ret;
}

/* Of an operation that has begun the rest follows. */
static void end_goal(struct kverbs_bench *bench)
{
	unsigned int nr = bench->plan->nr_parts;

	bench->goal = min(bench->goal, DIV_ROUND_UP_ULL(bench->posted, nr) * nr);
}

static int await_any(struct kverbs_bench *bench, u64 done, u64 received)
{
	if (bench->plan->credit && bench->posted == done)
		return kverbs_bench_wait(bench, &bench->recvs_done, received);
	return kverbs_bench_wait(bench, &bench->done, done);
}

static int drive(struct kverbs_bench *bench, u64 count)
{
	u64 done, received;
	int ret = 0;

	bench->goal = count == U64_MAX ? count : bench->posted + count * bench->plan->nr_parts;
	for (;;) {
		if (kverbs_bench_time_is_over(bench, ktime_get_ns()))
			end_goal(bench);
		done = counted(&bench->done);
		received = bench->recvs_taken;
		ret = push(bench);
		if (ret || (bench->posted >= bench->goal && done == bench->posted))
			return ret;
		ret = await_any(bench, done, received);
		if (ret)
			return ret;
	}
}

static int bandwidth(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	u64 before;
	int ret;

	ret = drive(bench, plan->warm_up);
	if (ret)
		return ret;
	before = bench->done;
	kverbs_bench_begin(bench);
	ret = drive(bench, plan->duration_ns ? U64_MAX : plan->count);
	kverbs_bench_end(bench, div_u64(READ_ONCE(bench->done) - before, plan->nr_parts));
	return ret;
}

/* ---- a measurement ---------------------------------------------------------------- */

static void init_op(struct kverbs_bench *bench, unsigned int i)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	const struct kverbs_bench_part *part = NULL;
	struct kverbs_bench_op *op = &bench->ops[i];
	unsigned int k;

	op->bench = bench;
	op->req.done = op_done;
	op->req.opcode = plan->opcode;
	op->req.region = plan->local.region;
	op->req.offset = plan->local.offset;
	op->req.length = plan->local.length;
	op->req.operand = plan->opcode == KVERBS_OP_FETCH_ADD;
	if (!plan->parts)
		return;
	for (k = 0; k < i % plan->nr_parts; k++)
		op->req.offset += plan->parts[k].length;
	part = &plan->parts[k];
	op->req.length = part->length;
	op->req.remote_addr = part->addr;
	op->req.rkey = part->rkey;
}

static void init_recv(struct kverbs_bench *bench, unsigned int i)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	struct kverbs_bench_op *op = &bench->recvs[i];

	op->bench = bench;
	op->req.done = recv_done;
	op->req.opcode = KVERBS_OP_RECV;
	op->req.region = plan->answer.region;
	op->req.offset = plan->answer.offset + i * plan->recv_stride;
	op->req.length = plan->answer.length;
}

/* All that it takes, so that nothing is allocated while it runs. */
static int prepare(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	unsigned int i;

	init_waitqueue_head(&bench->wait);
	bench->granted = plan->credit;
	bench->nr_ops = plan->depth * plan->nr_parts;
	bench->chain = kvmalloc(sizeof(*bench->chain), GFP_KERNEL_ACCOUNT);
	bench->ops = kvcalloc(bench->nr_ops, sizeof(*bench->ops), GFP_KERNEL_ACCOUNT);
	bench->recvs = kvcalloc(max(plan->nr_recvs, 1U), sizeof(*bench->recvs),
				GFP_KERNEL_ACCOUNT);
	if (!bench->chain || !bench->ops || !bench->recvs)
		return -ENOMEM;
	for (i = 0; i < bench->nr_ops; i++)
		init_op(bench, i);
	for (i = 0; i < plan->nr_recvs; i++)
		init_recv(bench, i);
	return 0;
}

/* A receive can only be taken back by ending the connection, and so can what hangs. */
static void settle(struct kverbs_bench *bench)
{
	if (in_flight(bench) || bench->recvs_posted != counted(&bench->recvs_done))
		kverbs_conn_close(bench->conn);
	kverbs_conn_flush(bench->conn);
}

/* The request that failed says why the connection ended. */
static void note_end(struct kverbs_bench *bench, int error)
{
	if ((error == -ENOTCONN || error == -EAGAIN) && bench->error)
		error = bench->error;
	bench->result->error = error;
	bench->result->wc_status = error == -EIO ? bench->wc_status : 0;
}

static int run(struct kverbs_bench *bench)
{
	int ret;

	ret = post_recvs(bench);
	if (!ret)
		ret = bench->plan->latency ? kverbs_bench_latency(bench) : bandwidth(bench);
	settle(bench);
	bench->result->sent = div_u64(bench->posted, bench->plan->nr_parts);
	note_end(bench, ret);
	return bench->posted || bench->recvs_posted ? 0 : ret;
}

/**
 * kverbs_bench_run() - measure
 * @conn: a connection with nothing under way, and nobody else who posts to it
 * @plan: what; checked
 * @result: zeroed
 *
 * When it returns nothing is under way. If anything was, a receive perhaps, the
 * connection has been ended for that.
 *
 * Context: process, sleeps; a signal ends it early.
 * Return: 0, and @result tells whether it went through; or -errno: nothing was posted.
 */
int kverbs_bench_run(struct kverbs_conn *conn, const struct kverbs_bench_plan *plan,
		     struct kverbs_bench_result *result)
{
	struct kverbs_bench *bench = kzalloc(sizeof(*bench), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!bench)
		return -ENOMEM;
	bench->conn = conn;
	bench->plan = plan;
	bench->result = result;
	ret = prepare(bench);
	if (!ret)
		ret = run(bench);
	kvfree(bench->recvs);
	kvfree(bench->ops);
	kvfree(bench->chain);
	kfree(bench);
	return ret;
}
