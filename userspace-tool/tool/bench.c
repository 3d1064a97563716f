// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench: what the way through the kernel gives, measured against a server. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include <json-c/json.h>

#include "bench.h"
#include "bench_conn.h"
#include "cmd.h"
#include "err.h"
#include "kv.h"
#include "opts.h"
#include "out.h"
#include "util.h"

#define SWEEP_FIRST 2u
#define SWEEP_LAST (8u << 20)
#define UNSET UINT64_MAX

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

/* A tenth of what counts, or what fills the queues twice. */
static uint64_t warm_up(const struct bench *b)
{
	uint64_t most = b->rule->kind == BENCH_BANDWIDTH ? 2 * b->tx_depth : 100;

	if (!b->warm_up)
		return 0;
	return b->duration_ms ? most : min(most, b->count / 10 + 1);
}

void bench_fill_param(const struct bench *b, uint64_t size, struct bench_param *p)
{
	*p = (struct bench_param){
		.op = b->op,
		.lanes = b->lanes,
		.tx_depth = b->tx_depth,
		.rx_depth = b->rx_depth,
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

static void miss(struct bench *b, const char *what, double got, double limit)
{
	b->missed = true;
	err_warn("%s is %.2f, the limit %.2f", what, got, limit);
}

static void check_limits(struct bench *b)
{
	if (b->limit_bw && bench_MiBps(b) < b->limit_bw)
		miss(b, "BW average[MiB/sec]", bench_MiBps(b), b->limit_bw);
	if (b->limit_rate && bench_Mpps(b) < b->limit_rate)
		miss(b, "MsgRate[Mpps]", bench_Mpps(b), b->limit_rate);
	if (b->limit_p99 && bench_p99_us(b) > b->limit_p99)
		miss(b, "99% percentile[usec]", bench_p99_us(b), b->limit_p99);
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
	return b->f.result.differed ? EXIT_FAILED : EXIT_OK;
}

/* What does not go into one message is no size of a SEND. */
static uint64_t sweep_last(const struct bench *b)
{
	struct kverbs_cmd_conn_query q;

	if (b->rule->receives && !kverbs_conn_query(b->s.conn, &q) && q.out_max_msg)
		return min(q.out_max_msg, (uint64_t)SWEEP_LAST);
	return SWEEP_LAST;
}

static int rows(struct bench *b)
{
	uint64_t size, last = sweep_last(b);
	int status = EXIT_OK;

	bench_out_begin(b);
	if (!b->all)
		return row(b, b->size);
	for (size = SWEEP_FIRST; size <= last && !status; size *= 2)
		status = row(b, size);
	return status;
}

static int run_session(struct bench *b)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_BENCH,
		.msg_max = WIRE_MSG_MAX,
		.depth = WIRE_BENCH_DEPTH,
	};
	struct sigaction old[2];
	int status;

	status = kv_connect(&b->s, b->kv, &b->to, &hello);
	if (status)
		return status;
	b->s.stop = &interrupted;
	catch_signals(old);
	status = rows(b);
	restore_signals(old);
	if (b->ticks)
		json_object_put(b->ticks);
	session_free(&b->s);
	return !status && b->missed ? EXIT_FAILED : status;
}

static int run(struct bench *b)
{
	struct bench_param p;
	int ret, status;

	bench_fill_param(b, b->all ? SWEEP_LAST : b->size, &p);
	ret = bench_open(&b->kv, &p, true);
	if (ret)
		return err_report(ERR_OPEN, ret, "open /dev/kverbs");
	status = run_session(b);
	kverbs_close(b->kv);
	return status;
}

/* ---- options ------------------------------------------------------------------- */

static const char help[] =
"usage: kverbs bench OP HOST [options]\n"
"\n"
"Measure against a kverbs server, which adopts what is asked for. OP is\n"
"  send-bw, write-bw, read-bw                        bandwidth\n"
"  send-lat, write-lat, read-lat, imm-lat, atomic-lat  latency\n"
"\n"
"  -s, --size BYTES       of an operation (default 64K, latency 2)\n"
"  -a, --all              sizes from 2 to 8M, one after another\n"
"  -n, --iters N          operations of each connection (default 1000, write-bw 5000)\n"
"  -D, --duration S       seconds instead of a number, with a line for each\n"
"  -q, --qp N             connections (default 1)\n"
"  -b, --bidirectional    as many connections the other way\n"
"  -t, --tx-depth N       operations in flight on each (default 128)\n"
"  -r, --rx-depth N       receives posted on each (default 512)\n"
"  -e, --events           sleep for completions (default: poll)\n"
"      --no-warm-up       count from the first operation on\n"
"      --verify           look at every byte on the other side\n"
"      --limit-bw MIBPS   fail below so many MiB/s\n"
"      --limit-msgrate M  fail below so many million operations per second\n"
"      --limit-lat-p99 US fail if 1% take longer than so many microseconds\n"
"  -I, --source ADDR      local address to use\n"
"  -W, --timeout S        seconds that nothing may happen (default 30)\n"
"  -p, --port PORT        the server's port (default " WIRE_DEFAULT_PORT ")\n"
"  -j, --json             the result as JSON\n"
"  -h, --help             this text\n"
"\n"
"Exit status: 0 done, and no limit missed, 1 failed, 2 usage, 3 cannot reach,\n"
"4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_RANGE("size", 's', OPTS_NUMBER, struct bench, size, 1, BENCH_SIZE_MAX),
	OPTS_OPTION("all", 'a', OPTS_SET, struct bench, all),
	OPTS_RANGE("iters", 'n', OPTS_NUMBER, struct bench, count, 1, UINT32_MAX),
	OPTS_RANGE("duration", 'D', OPTS_MILLIS, struct bench, duration_ms, 100,
		   BENCH_DURATION_MAX),
	OPTS_RANGE("qp", 'q', OPTS_NUMBER, struct bench, lanes, 1, BENCH_LANES_MAX),
	OPTS_OPTION("bidirectional", 'b', OPTS_SET, struct bench, both),
	OPTS_RANGE("tx-depth", 't', OPTS_NUMBER, struct bench, tx_depth, 1, BENCH_DEPTH_MAX),
	OPTS_RANGE("rx-depth", 'r', OPTS_NUMBER, struct bench, rx_depth, 2, BENCH_DEPTH_MAX),
	OPTS_OPTION("events", 'e', OPTS_SET, struct bench, events),
	OPTS_OPTION("no-warm-up", 0, OPTS_CLEAR, struct bench, warm_up),
	OPTS_OPTION("verify", 0, OPTS_SET, struct bench, verify),
	OPTS_OPTION("limit-bw", 0, OPTS_REAL, struct bench, limit_bw),
	OPTS_OPTION("limit-msgrate", 0, OPTS_REAL, struct bench, limit_rate),
	OPTS_OPTION("limit-lat-p99", 0, OPTS_REAL, struct bench, limit_p99),
	OPTS_OPTION("source", 'I', OPTS_TEXT, struct bench, to.source),
	OPTS_RANGE("timeout", 'W', OPTS_MILLIS, struct bench, to.timeout_ms, 1, 86400000),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct bench, to.port),
	{ }
};

static int refuse(const char *why)
{
	err_usage("%s", why);
	return -EINVAL;
}

/* What does not go together; what is left fits, or is more than a side takes. */
static int check(const struct bench *b)
{
	bool bandwidth = b->rule->kind == BENCH_BANDWIDTH;
	struct bench_param p;

	if (!bandwidth && (b->both || b->lanes > 1))
		return refuse("-b and -q are for bandwidths");
	if (!bandwidth && (b->limit_bw || b->limit_rate))
		return refuse("--limit-bw and --limit-msgrate are for bandwidths");
	if (bandwidth && b->limit_p99)
		return refuse("--limit-lat-p99 is for latencies");
	if (b->op == BENCH_WRITE_LAT && b->events)
		return refuse("write-lat knows no events: a WRITE causes none there");
	if (b->op == BENCH_ATOMIC_LAT && (b->size != 8 || b->all))
		return refuse("atomic-lat has a --size of 8");
	bench_fill_param(b, b->all ? SWEEP_LAST : b->size, &p);
	if (bench_param_check(&p))
		return refuse("more memory than a server takes: lower -s, -t, -r or -q");
	return 0;
}

static int parse(struct bench *b, int argc, char **argv)
{
	int first = opts_parse(argc, argv, options, b);

	if (first < 0)
		return first;
	if (first + 2 != argc)
		return refuse("give OP and HOST");
	b->op = bench_op_find(argv[first]);
	b->rule = bench_rule(b->op);
	if (!b->rule) {
		err_usage("no operation '%s'", argv[first]);
		return -EINVAL;
	}
	b->to.host = argv[first + 1];
	if (b->size == UNSET)
		b->size = b->rule->size;
	if (b->count == UNSET)
		b->count = b->rule->count;
	return check(b);
}

static int bench_run(int argc, char **argv)
{
	struct bench b = {
		.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
		.size = UNSET,
		.count = UNSET,
		.lanes = 1,
		.tx_depth = 128,
		.rx_depth = 512,
		.warm_up = true,
	};

	if (parse(&b, argc, argv))
		return EXIT_USAGE;
	__atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
	return run(&b);
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "Measure bandwidth and latency against a server",
	.help = help,
	.run = bench_run,
};
