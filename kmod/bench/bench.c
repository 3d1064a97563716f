// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic from within the kernel, posted as a storage driver would: bandwidth() keeps the
 * queue full, latency() times one operation after another.
 */
#include <kverbs/kverbs.h>
#include <linux/bits.h>
#include <linux/kverbs.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "bench.h"
#include "version.h"

/* Most requests that are posted together. */
#define LIST_MAX	64
#define STEPS	BIT(KVERBS_BENCH_BUCKET_BITS)
/* Reads of memory between two polls of the completion queue. */
#define MEMORY_READS	8

/**
 * struct kverbs_bench_op - state of a request of a measurement
 * @bench: the measurement
 * @busy: the request is posted and has not completed; a failed one stays busy until its
 *	connection ends
 */
struct kverbs_bench_op {
	struct kverbs_bench *bench;
	bool busy;
};

/**
 * struct kverbs_bench - a measurement under way
 * @conn: where
 * @plan: what
 * @result: so far
 * @info: of @conn
 * @batch: room to post requests together
 * @list: the requests that are posted together
 * @ops: requests of operations, as many as may be in flight
 * @states: state of each of @ops
 * @nr_ops: how many
 * @recvs: receives
 * @posted: requests posted, ever
 * @goal: how many shall be
 * @done: of those, over; written by completions, which come one at a time
 * @recvs_posted: receives posted, ever
 * @recvs_done: of those, over; written by completions
 * @recvs_taken: of those, looked at
 * @granted: requests that the peer is ready for
 * @error: of the first request that failed; written by completions
 * @wc_status: likewise
 * @wait: woken by completions
 * @start: when it began to count, ns
 * @cpu_start: the thread's processor time then, ns
 * @counts: warm-up is over
 */
struct kverbs_bench {
	struct kverbs_k_conn *conn;
	const struct kverbs_bench_plan *plan;
	struct kverbs_bench_result *result;
	struct kverbs_k_conn_info info;
	struct kverbs_k_batch *batch;
	struct kverbs_k_req *list[LIST_MAX];
	struct kverbs_k_req **ops;
	struct kverbs_bench_op *states;
	unsigned int nr_ops;
	struct kverbs_k_req **recvs;
	u64 posted;
	u64 goal;
	u64 done;
	u64 recvs_posted;
	u64 recvs_done;
	u64 recvs_taken;
	u64 granted;
	int error;
	u8 wc_status;
	wait_queue_head_t wait;
	u64 start;
	u64 cpu_start;
	bool counts;
};

/* A flush is a consequence: keep the first error that is not WR_FLUSH_ERR. */
static void note_error(struct kverbs_bench *bench, const struct kverbs_k_req *req)
{
	if (!req->result || (bench->error && bench->wc_status != IB_WC_WR_FLUSH_ERR))
		return;
	bench->wc_status = req->wc_status;
	WRITE_ONCE(bench->error, req->result);
}

static void count(struct kverbs_bench *bench, u64 *counter)
{
	/* All that the completion wrote is there when it is seen to be counted. */
	smp_store_release(counter, *counter + 1);
	/*
	 * The waiter may see the count already; settle() waits until the callback has returned.
	 * A task that polls does not sleep, so that needs no barrier.
	 */
	if (!bench->info.is_polled && wq_has_sleeper(&bench->wait))
		wake_up(&bench->wait);
}

static void op_done(struct kverbs_k_req *req)
{
	struct kverbs_bench_op *op = req->context;
	struct kverbs_bench *bench = op->bench;

	note_error(bench, req);
	WRITE_ONCE(op->busy, false);
	count(bench, &bench->done);
}

static void recv_done(struct kverbs_k_req *req)
{
	struct kverbs_bench *bench = req->context;

	note_error(bench, req);
	count(bench, &bench->recvs_done);
}

static u64 counted(const u64 *counter)
{
	/* Pairs with count(). */
	return smp_load_acquire(counter);
}

/* ktime_get_ns() can take longer than a poll, so the coarse clock tells when to ask it. */
static bool has_passed(u64 deadline_ns)
{
	if (ktime_get_coarse_ns() + TICK_NSEC < deadline_ns)
		return false;
	return ktime_get_ns() >= deadline_ns;
}

/* Between two polls. */
static void relax(void)
{
	if (need_resched())
		cond_resched();
	else
		cpu_relax();
}

static int poll_counter(struct kverbs_bench *bench, const u64 *counter, u64 above)
{
	u64 deadline_ns = ktime_get_ns() + bench->plan->timeout_ns;

	for (;;) {
		kverbs_k_conn_poll(bench->conn);
		if (counted(counter) > above)
			return 0;
		if (signal_pending(current))
			return -EINTR;
		if (has_passed(deadline_ns))
			return -ETIMEDOUT;
		relax();
	}
}

/*
 * Waits until a counter of completions is above a value. Operations under way complete even if
 * the connection ends.
 */
static int await(struct kverbs_bench *bench, const u64 *counter, u64 above)
{
	long ret;

	cond_resched();
	if (signal_pending(current))
		return -EINTR;
	if (counted(counter) > above)
		return 0;
	if (bench->info.is_polled)
		return poll_counter(bench, counter, above);
	ret = wait_event_interruptible_timeout(bench->wait, counted(counter) > above,
					       nsecs_to_jiffies(bench->plan->timeout_ns));
	if (ret < 0)
		return -EINTR;
	return ret ? 0 : -ETIMEDOUT;
}

/* schedule() charges the task for the time that it ran. */
static u64 thread_ns(void)
{
	schedule();
	return current->se.sum_exec_runtime;
}

static void begin_counting(struct kverbs_bench *bench)
{
	bench->cpu_start = thread_ns();
	bench->start = ktime_get_ns();
	bench->counts = true;
}

static void end_counting(struct kverbs_bench *bench, u64 ops)
{
	bench->result->ops = ops;
	bench->result->elapsed_ns = ktime_get_ns() - bench->start;
	/* This clock is read outside the other's time, and so may have gone further. */
	bench->result->cpu_ns = min(thread_ns() - bench->cpu_start,
				    bench->result->elapsed_ns);
	bench->counts = false;
}

static bool time_is_over(const struct kverbs_bench *bench, u64 now)
{
	return bench->counts && bench->plan->duration_ns &&
	       now - bench->start >= bench->plan->duration_ns;
}

static int post_recv(struct kverbs_bench *bench)
{
	struct kverbs_k_req **req = &bench->recvs[bench->recvs_posted % bench->plan->nr_recvs];
	int ret;

	bench->recvs_posted += kverbs_k_post_list(bench->batch, req, 1, &ret);
	return ret;
}

/* The peer tells how many messages it has had receives for since those of the plan. */
static int take_credit(struct kverbs_bench *bench, const struct kverbs_k_req *req)
{
	__be64 note;
	u64 number;

	if (req->byte_len < sizeof(note))
		return -EBADMSG;
	kverbs_k_region_read(req->region, req->offset, &note, sizeof(note));
	number = be64_to_cpu(note);
	if (number > bench->posted || bench->plan->credit + number < bench->granted)
		return -EPROTO;
	bench->granted = bench->plan->credit + number;
	return 0;
}

/* Looks at the messages that have come in and posts their receives again. */
static int take_recvs(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	const struct kverbs_k_req *req;
	int ret = 0;

	while (!ret && counted(&bench->recvs_done) > bench->recvs_taken) {
		req = bench->recvs[bench->recvs_taken++ % plan->nr_recvs];
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

/* The last of those posted together is signalled in any case. */
static void take_req(struct kverbs_bench *bench, u64 seq)
{
	struct kverbs_k_req *req = bench->ops[seq % bench->nr_ops];
	const struct kverbs_bench_plan *plan = bench->plan;

	bench->states[seq % bench->nr_ops].busy = true;
	req->flags = plan->cq_mod > 1 && (seq + 1) % (plan->cq_mod * plan->nr_parts) ?
		     KVERBS_K_UNSIGNALLED : 0;
	req->imm = (__force __be32)(u32)seq;
	bench->list[seq - bench->posted] = req;
}

/* Lists up to @nr requests that are free. */
static unsigned int take_reqs(struct kverbs_bench *bench, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (READ_ONCE(bench->states[(bench->posted + i) % bench->nr_ops].busy))
			break;
		take_req(bench, bench->posted + i);
	}
	return i;
}

/* Posts the next @nr requests, at most LIST_MAX. -EAGAIN: a request must complete first. */
static int post_ops(struct kverbs_bench *bench, unsigned int nr)
{
	unsigned int taken = take_reqs(bench, nr), posted = 0, i;
	int error = 0;

	if (taken)
		posted = kverbs_k_post_list(bench->batch, bench->list, taken, &error);
	for (i = posted; i < taken; i++)
		bench->states[(bench->posted + i) % bench->nr_ops].busy = false;
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
	bool was_idle = !in_flight(bench);
	u64 before = bench->posted;
	unsigned int some;
	int ret = 0;

	for (; nr && !ret; nr -= some) {
		some = min_t(u64, nr, LIST_MAX);
		ret = post_ops(bench, some);
	}
	/* The queue was full: completions make room, and may have done so by now. */
	if (ret == -EAGAIN && (!was_idle || bench->posted != before))
		return 0;
	return ret;
}

/*
 * Take what there is, post what there is room for: no more than can be under way, since a
 * device that completes as fast as it is posted to always has room.
 */
static int push(struct kverbs_bench *bench)
{
	u64 end = bench->posted + bench->nr_ops, before, nr;
	int ret;

	ret = READ_ONCE(bench->error) ?: take_recvs(bench);
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

/* Rounds the goal up, so that an operation of several parts is completed. */
static void end_goal(struct kverbs_bench *bench)
{
	unsigned int nr = bench->plan->nr_parts;

	bench->goal = min(bench->goal, DIV_ROUND_UP_ULL(bench->posted, nr) * nr);
}

static int await_any(struct kverbs_bench *bench, u64 done, u64 received)
{
	if (bench->plan->credit && bench->posted == done)
		return await(bench, &bench->recvs_done, received);
	return await(bench, &bench->done, done);
}

static int drive(struct kverbs_bench *bench, u64 count)
{
	u64 done, received;
	int ret = 0;

	bench->goal = count == U64_MAX ? count : bench->posted + count * bench->plan->nr_parts;
	for (;;) {
		if (time_is_over(bench, ktime_get_ns()))
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
	begin_counting(bench);
	ret = drive(bench, plan->duration_ns ? U64_MAX : plan->count);
	end_counting(bench, div_u64(READ_ONCE(bench->done) - before, plan->nr_parts));
	return ret;
}

/**
 * kverbs_bench_bucket() - where a time is counted
 * @ns: the time
 *
 * Return: index of the bucket, as KVERBS_BENCH_BUCKETS says.
 */
unsigned int kverbs_bench_bucket(u64 ns)
{
	unsigned int shift;

	if (ns < STEPS)
		return ns;
	if (ns >> KVERBS_BENCH_TOP_BIT)
		return KVERBS_BENCH_BUCKETS - 1;
	shift = ilog2(ns) - KVERBS_BENCH_BUCKET_BITS;
	return shift * STEPS + (ns >> shift);
}

static void note_time(struct kverbs_bench *bench, u64 ns)
{
	struct kverbs_bench_result *result = bench->result;

	result->min_ns = result->ops ? min(result->min_ns, ns) : ns;
	result->max_ns = max(result->max_ns, ns);
	result->sum_ns += ns;
	result->ops++;
	bench->plan->buckets[kverbs_bench_bucket(ns)]++;
}

/**
 * struct pair - memory of a WRITE ping-pong
 * @bench: the measurement
 * @out: last byte of the local buffer
 * @in: last byte of the peer's answer
 * @mark: value that the next answer puts into @in
 */
struct pair {
	struct kverbs_bench *bench;
	u8 *out;
	u8 *in;
	u8 mark;
};

/* Another byte than the last one's, and not 0. */
static u8 mark_of(u64 seq)
{
	return do_div(seq, U8_MAX) + 1;
}

static bool mark_has_arrived(const struct pair *pair)
{
	unsigned int i;

	for (i = 0; i < MEMORY_READS; i++) {
		if (READ_ONCE(*pair->in) == pair->mark)
			return true;
		cpu_relax();
	}
	return false;
}

/* A WRITE causes no completion at its target, so memory is polled. */
static int await_mark(struct pair *pair)
{
	struct kverbs_bench *bench = pair->bench;
	u64 deadline_ns = ktime_get_ns() + bench->plan->timeout_ns;

	for (;;) {
		kverbs_k_conn_poll(bench->conn);
		if (mark_has_arrived(pair))
			return 0;
		if (!kverbs_k_conn_is_up(bench->conn))
			return -ENOTCONN;
		if (signal_pending(current))
			return -EINTR;
		if (has_passed(deadline_ns))
			return -ETIMEDOUT;
		relax();
	}
}

static int round_trip(struct pair *pair, u64 seq)
{
	struct kverbs_bench *bench = pair->bench;
	int ret;

	pair->mark = mark_of(seq);
	if (pair->out)
		WRITE_ONCE(*pair->out, pair->mark);
	ret = post_ops(bench, bench->plan->nr_parts);
	if (ret)
		return ret;
	if (pair->in)
		return await_mark(pair);
	if (bench->plan->nr_recvs)
		return await(bench, &bench->recvs_done, bench->recvs_taken);
	return await(bench, &bench->done, bench->posted - 1);
}

/* As it was before: a receive posted, and room for an operation. */
static int make_ready(struct kverbs_bench *bench)
{
	unsigned int nr = bench->plan->nr_parts;
	int ret;

	ret = READ_ONCE(bench->error) ?: take_recvs(bench);
	if (!ret && bench->posted + nr > bench->nr_ops)
		ret = await(bench, &bench->done, bench->posted + nr - bench->nr_ops - 1);
	return ret ?: READ_ONCE(bench->error);
}

static int measure_one(struct pair *pair, u64 seq)
{
	struct kverbs_bench *bench = pair->bench;
	u64 before = ktime_get_ns(), took;
	int ret;

	ret = round_trip(pair, seq);
	took = ktime_get_ns() - before;
	if (!ret)
		ret = make_ready(bench);
	if (!ret && bench->counts)
		note_time(bench, bench->plan->half ? took / 2 : took);
	return ret;
}

/* As many as that, or until the time is over. */
static int measure(struct pair *pair, u64 *seq, u64 count)
{
	int ret = 0;

	while (count-- && !ret) {
		ret = measure_one(pair, (*seq)++);
		if (time_is_over(pair->bench, ktime_get_ns()))
			break;
	}
	return ret;
}

static u8 *last_byte(const struct kverbs_bench_extent *extent)
{
	return kverbs_k_region_byte(extent->region, extent->offset + extent->length - 1);
}

static int latency(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	struct pair pair = { .bench = bench };
	u64 seq = 0;
	int ret;

	if (plan->opcode == KVERBS_K_WRITE) {
		pair.out = last_byte(&plan->local);
		pair.in = last_byte(&plan->answer);
	}
	ret = measure(&pair, &seq, plan->warm_up);
	if (ret)
		return ret;
	begin_counting(bench);
	ret = measure(&pair, &seq, plan->duration_ns ? U64_MAX : plan->count);
	end_counting(bench, bench->result->ops);
	if (!ret)
		ret = await(bench, &bench->done, bench->posted - 1);
	return ret ?: READ_ONCE(bench->error);
}

static void init_op(struct kverbs_bench *bench, unsigned int i, struct kverbs_k_req *req)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	const struct kverbs_bench_part *part = NULL;
	unsigned int k;

	bench->states[i].bench = bench;
	bench->ops[i] = req;
	req->done = op_done;
	req->context = &bench->states[i];
	req->opcode = plan->opcode;
	req->region = plan->local.region;
	req->offset = plan->local.offset;
	req->length = plan->local.length;
	req->operand = plan->opcode == KVERBS_K_FETCH_ADD;
	if (!plan->parts)
		return;
	for (k = 0; k < i % plan->nr_parts; k++)
		req->offset += plan->parts[k].length;
	part = &plan->parts[k];
	req->length = part->length;
	req->remote_addr = part->addr;
	req->rkey = part->rkey;
}

static void init_recv(struct kverbs_bench *bench, unsigned int i, struct kverbs_k_req *req)
{
	const struct kverbs_bench_plan *plan = bench->plan;

	bench->recvs[i] = req;
	req->done = recv_done;
	req->context = bench;
	req->opcode = KVERBS_K_RECV;
	req->region = plan->answer.region;
	req->offset = plan->answer.offset + i * plan->recv_stride;
	req->length = plan->answer.length;
}

static int alloc_reqs(struct kverbs_bench *bench, unsigned int nr,
		      void (*init)(struct kverbs_bench *bench, unsigned int i,
				   struct kverbs_k_req *req))
{
	static const struct kverbs_k_req_size size;
	struct kverbs_k_req *req;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		req = kverbs_k_req_alloc(bench->conn, &size, GFP_KERNEL_ACCOUNT);
		if (IS_ERR(req))
			return PTR_ERR(req);
		init(bench, i, req);
		cond_resched();
	}
	return 0;
}

static void free_reqs(struct kverbs_k_req **reqs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; reqs && i < nr && reqs[i]; i++)
		kverbs_k_req_free(reqs[i]);
	kvfree(reqs);
}

static void *alloc_items(const struct kverbs_bench *bench, size_t nr, size_t size)
{
	return kvzalloc_node(array_size(nr, size), GFP_KERNEL_ACCOUNT, bench->info.node);
}

static int alloc_batch(struct kverbs_bench *bench)
{
	struct kverbs_k_batch *batch;

	batch = kverbs_k_batch_alloc(bench->conn, LIST_MAX, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(batch))
		return PTR_ERR(batch);
	bench->batch = batch;
	return 0;
}

/* All that it takes, so that nothing is allocated while it runs. */
static int prepare(struct kverbs_bench *bench)
{
	const struct kverbs_bench_plan *plan = bench->plan;
	int ret;

	init_waitqueue_head(&bench->wait);
	bench->granted = plan->credit;
	bench->nr_ops = plan->depth * plan->nr_parts;
	bench->ops = alloc_items(bench, bench->nr_ops, sizeof(*bench->ops));
	bench->states = alloc_items(bench, bench->nr_ops, sizeof(*bench->states));
	bench->recvs = alloc_items(bench, max(plan->nr_recvs, 1U), sizeof(*bench->recvs));
	if (!bench->ops || !bench->states || !bench->recvs)
		return -ENOMEM;
	ret = alloc_batch(bench);
	if (!ret)
		ret = alloc_reqs(bench, bench->nr_ops, init_op);
	return ret ?: alloc_reqs(bench, plan->nr_recvs, init_recv);
}

/* A receive can only be taken back by ending the connection, and so can what hangs. */
static void settle(struct kverbs_bench *bench)
{
	if (in_flight(bench) || bench->recvs_posted != counted(&bench->recvs_done))
		kverbs_k_conn_close(bench->conn);
	/* Callbacks run in read-side critical sections, so all have returned after this. */
	synchronize_rcu();
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
	int ret = 0;

	while (!ret && bench->recvs_posted < bench->plan->nr_recvs)
		ret = post_recv(bench);
	if (!ret)
		ret = bench->plan->latency ? latency(bench) : bandwidth(bench);
	settle(bench);
	bench->result->sent = div_u64(bench->posted, bench->plan->nr_parts);
	note_end(bench, ret);
	return bench->posted || bench->recvs_posted ? 0 : ret;
}

/**
 * kverbs_bench_run() - measure
 * @conn: a connection with no operation in flight, lent for the measurement
 * @plan: the measurement, validated
 * @result: zeroed
 *
 * When it returns nothing is under way. If anything was, a receive perhaps, the
 * connection has been ended for that.
 *
 * Context: process, sleeps; a signal ends it early.
 * Return: 0, and @result tells whether it went through; or -errno: nothing was posted.
 */
int kverbs_bench_run(struct kverbs_k_conn *conn, const struct kverbs_bench_plan *plan,
		     struct kverbs_bench_result *result)
{
	struct kverbs_bench *bench = kzalloc(sizeof(*bench), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!bench)
		return -ENOMEM;
	bench->conn = conn;
	bench->plan = plan;
	bench->result = result;
	kverbs_k_conn_query(conn, &bench->info);
	ret = prepare(bench);
	if (!ret)
		ret = run(bench);
	free_reqs(bench->recvs, plan->nr_recvs);
	kvfree(bench->states);
	free_reqs(bench->ops, bench->nr_ops);
	kverbs_k_batch_free(bench->batch);
	kfree(bench);
	return ret;
}

static const struct kverbs_bench_ops ops = {
	.owner	= THIS_MODULE,
	.run	= kverbs_bench_run,
};

static int __init kverbs_bench_init(void)
{
	return kverbs_bench_register(&ops);
}

static void __exit kverbs_bench_exit(void)
{
	kverbs_bench_unregister(&ops);
}

module_init(kverbs_bench_init);
module_exit(kverbs_bench_exit);

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("Traffic within the kernel, for measurements of kverbs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(KVERBS_VERSION);
KVERBS_K_IMPORT();
