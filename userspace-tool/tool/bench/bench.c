// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench: what the way through the kernel gives, measured against a server. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include <json-c/json.h>

#include "bench/bench.h"
#include "bench/conn.h"
#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/out.h"
#include "cli/util.h"
#include "peer/kv.h"

static int interrupted;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
}

/* Without SA_RESTART, so that a wait ends. */
static void catch_signals(struct sigaction old[2])
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, &old[0]);
	sigaction(SIGTERM, &sa, &old[1]);
}

static void restore_signals(const struct sigaction old[2])
{
	sigaction(SIGINT, &old[0], NULL);
	sigaction(SIGTERM, &old[1], NULL);
}

int bench_interruptible(struct bench *b, int (*run)(struct bench *b))
{
	struct sigaction old[2];
	int status;

	catch_signals(old);
	status = run(b);
	restore_signals(old);
	return status;
}

uint64_t bench_warm_up(const struct bench *b, uint64_t most)
{
	if (!b->warm_up)
		return 0;
	return b->duration_ms ? most : min(most, b->count / 10 + 1);
}

/* What fills the queues twice. */
static uint64_t warm_up(const struct bench *b)
{
	return bench_warm_up(b, b->rule->kind == BENCH_BANDWIDTH ? 2 * b->tx_depth : 100);
}

void bench_fill_param(const struct bench *b, uint64_t size, struct bench_param *p)
{
	*p = (struct bench_param){
		.op = b->op,
		.lanes = b->lanes,
		.tx_depth = b->tx_depth,
		.rx_depth = b->rx_depth,
		.post_list = b->post_list,
		.cq_mod = b->cq_mod,
		.duration_ms = b->duration_ms,
		.size = size,
		.count = b->count,
		.warmup = warm_up(b),
	};
	p->flags |= b->events ? BENCH_F_EVENTS : 0;
	p->flags |= b->verify ? BENCH_F_VERIFY : 0;
	p->flags |= b->both ? BENCH_F_BOTH_WAYS : 0;
}

/* ---- limits ------------------------------------------------------------------ */

void bench_miss(struct bench *b, const char *what, double got, double limit)
{
	b->missed = true;
	err_warn("%s is %.2f, the limit %.2f", what, got, limit);
}

static void check_limits(struct bench *b)
{
	if (b->limit_bw && bench_MiBps(b) < b->limit_bw)
		bench_miss(b, "BW average[MiB/sec]", bench_MiBps(b), b->limit_bw);
	if (b->limit_rate && bench_Mpps(b) < b->limit_rate)
		bench_miss(b, "MsgRate[Mpps]", bench_Mpps(b), b->limit_rate);
	if (b->limit_p99 && bench_p99_us(b) > b->limit_p99)
		bench_miss(b, "99% percentile[usec]", bench_p99_us(b), b->limit_p99);
}

/* ---- a run ------------------------------------------------------------------- */

static int row(struct bench *b, uint64_t size)
{
	struct bench_param p;
	int status;

	bench_fill_param(b, size, &p);
	status = bench_measure(b, &p);
	if (status)
		return status;
	bench_out_row(b);
	check_limits(b);
	if (b->plot_to)
		status = bench_plot_row(b);
	return b->f.result.differed ? EXIT_FAILED : status;
}

/* What does not go into one message is no size of a SEND. */
static uint64_t sweep_last(const struct bench *b)
{
	struct kverbs_cmd_conn_query q;

	if (b->rule->receives && !kverbs_conn_query(b->s.conn, &q, sizeof(q)) && q.out_max_msg)
		return min(q.out_max_msg, (uint64_t)BENCH_SWEEP_LAST);
	return BENCH_SWEEP_LAST;
}

static int rows(struct bench *b)
{
	uint64_t size, last = sweep_last(b);
	int status = EXIT_OK;

	bench_out_begin(b);
	if (!b->all)
		return row(b, b->size);
	for (size = BENCH_SWEEP_FIRST; size <= last && !status; size *= 2)
		status = row(b, size);
	return status;
}

int bench_with_server(struct bench *b, const struct wire_hello *hello,
		      int (*run)(struct bench *b))
{
	int status;

	status = kv_connect(&b->s, b->kv, &b->to, hello);
	if (status)
		return status;
	b->s.stop = b->stop;
	status = bench_interruptible(b, run);
	session_free(&b->s);
	return status;
}

static int run_rates(struct bench *b)
{
	static const struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_BENCH,
		.msg_max = WIRE_MSG_MAX,
		.depth = WIRE_BENCH_DEPTH,
	};
	int status, ret;

	status = bench_with_server(b, &hello, rows);
	ret = bench_plot_end(b);
	if (b->ticks)
		json_object_put(b->ticks);
	return status ? status : ret;
}

static int open_context(struct bench *b)
{
	struct kverbs_opts opts = { .sz = sizeof(opts), .busy_poll = !b->events };
	struct bench_param p;

	if (b->task != BENCH_TASK_RATES)
		return kverbs_open(&b->kv, &opts);
	bench_fill_param(b, b->all ? BENCH_SWEEP_LAST : b->size, &p);
	if (b->engine == BENCH_ENGINE_KERNEL)
		return bench_open_as(&b->kv, &p, b->poll == BENCH_POLL_DIRECT,
				     b->poll == BENCH_POLL_SOFTIRQ);
	return bench_open(&b->kv, &p, true);
}

/* Where -x says to connect from. */
static int find_source(struct bench *b)
{
	struct kverbs_device *list;
	int ret, nr;

	if (b->gid == BENCH_UNSET)
		return EXIT_OK;
	nr = kverbs_device_list(b->kv, &list);
	ret = nr < 0 ? nr : gid_find(list, nr, b->gid, b->gid_addr);
	if (nr >= 0)
		kverbs_device_list_free(list, nr);
	if (ret)
		return err_report(ERR_DEVICE, ret, "connect from GID %" PRIu64, b->gid);
	b->to.source = b->gid_addr;
	return EXIT_OK;
}

static int (*const tasks[])(struct bench *b) = {
	[BENCH_TASK_RATES] = run_rates,
	[BENCH_TASK_REG] = bench_reg,
	[BENCH_TASK_CONNECT] = bench_connect,
};

static int run(struct bench *b)
{
	int ret, status;

	if (b->task == BENCH_TASK_PLOT)
		return bench_plot(b);
	status = bench_engine_can(b);
	if (status)
		return status;
	ret = open_context(b);
	if (ret)
		return err_report(ERR_OPEN, ret, "open /dev/kverbs");
	status = find_source(b);
	if (!status)
		status = tasks[b->task](b);
	kverbs_close(b->kv);
	return !status && b->missed ? EXIT_FAILED : status;
}

static int bench_run(int argc, char **argv)
{
	struct bench b = {
		.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
		.gid = BENCH_UNSET,
		.size = BENCH_UNSET,
		.count = BENCH_UNSET,
		.lanes = 1,
		.tx_depth = 128,
		.rx_depth = 512,
		.post_list = 1,
		.cq_mod = 1,
		.warm_up = true,
		.stop = &interrupted,
	};

	if (bench_parse(&b, argc, argv))
		return EXIT_USAGE;
	__atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
	return run(&b);
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "Measure bandwidth and latency against a server",
	.help = bench_help,
	.run = bench_run,
};
