// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench: what the way through the kernel gives, measured against a server. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/conn.h"
#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/server_opts.h"
#include "cli/util.h"

/* Default of --iters for connect and reg. */
#define ALONE_COUNT 100

static const char usage[] =
"usage: kverbs bench OP HOST [options]\n"
"       kverbs bench reg [HOST] [options]\n"
"\n"
"Measure against a kverbs server, which takes its parameters from the client. OP is\n"
"  send-bw, write-bw, read-bw                        bandwidth\n"
"  send-lat, write-lat, read-lat, imm-lat, atomic-lat  latency\n"
"  connect  time of each step of connecting and disconnecting\n"
"  reg      time to register memory, export it to HOST, revoke and unregister it, by\n"
"           size and kind of pages\n";

static const char notes[] =
"Exit status: 0 done and no limit missed, 1 failed, 2 usage, 3 cannot reach,\n"
"4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_RANGE("size", 's', OPTS_NUMBER, struct bench, size, 1, BENCH_SIZE_MAX,
		   OPTS_HELP("BYTES", "operation size (default 64K, for latencies 2, for reg 4K\n"
			     "to 16M); atomic-lat always uses 8"),
		   OPTS_DOC("Operation size; default 64K, for latencies 2, for reg 4K to 16M;\n"
			    "atomic-lat always uses 8. *K*, *M* and *G* are powers of 1024. A\n"
			    "connection can access up to 203 segments of the server's memory,\n"
			    "each as large as the device allows: with Soft-RoCE 406 MiB, with\n"
			    "siw 203 MiB. With ``--verify``, each of the ``--tx-depth``\n"
			    "operations needs its own part of that memory.")),
	OPTS_OPTION("all", 'a', OPTS_SET, struct bench, all,
		    OPTS_HELP(NULL, "sizes from 2 to 8M, doubling; for reg 4K to 64M; not\n"
			      "for atomic-lat"),
		    OPTS_DOC("Sizes from 2 bytes to 8M, doubling, each on new connections; for\n"
			     "reg 4K to 64M. SENDs stop at the largest message that the device\n"
			     "supports. Not for atomic-lat.")),
	OPTS_RANGE("iters", 'n', OPTS_NUMBER, struct bench, count, 1, UINT32_MAX,
		   OPTS_HELP("N", "operations on each connection (default 1000, for write-bw\n"
			     "5000, for reg and connect 100)"),
		   OPTS_DOC("Operations on each connection; default 1000, for write-bw 5000,\n"
			    "for reg and connect 100.")),
	OPTS_RANGE("duration", 'D', OPTS_MILLIS, struct bench, duration_ms, 100,
		   BENCH_DURATION_MAX,
		   OPTS_HELP("S", "measure for S seconds instead, and print a line every second"),
		   OPTS_DOC("Measure for *S* seconds instead, and print a line every second.\n"
			    "Operations in flight at the end are abandoned and not counted;\n"
			    "with ``--verify`` they are waited for.")),
	OPTS_RANGE("qp", 'q', OPTS_NUMBER, struct bench, lanes, 1, BENCH_LANES_MAX,
		   OPTS_HELP("N", "number of connections, for bandwidths (default 1)"),
		   OPTS_DOC("Number of connections, for bandwidths, 1 to 1024; default 1.\n"
			    "**send-bw** is limited to 2^18 receives and completions in total:\n"
			    "496 connections with the default of **-r**, 385 with **-b**.")),
	OPTS_OPTION("bidirectional", 'b', OPTS_SET, struct bench, both,
		    OPTS_HELP(NULL, "run the same in the other direction as well"),
		    OPTS_DOC("Use as many connections again, on which the server runs the same\n"
			     "operation at the same time; for bandwidths. The result is the sum\n"
			     "of both directions, each over its own time.")),
	OPTS_RANGE("tx-depth", 't', OPTS_NUMBER, struct bench, tx_depth, 1, BENCH_DEPTH_MAX,
		   OPTS_HELP("N", "operations in flight on each connection (default 128)"),
		   OPTS_DOC("Operations in flight on each connection; default 128.")),
	OPTS_RANGE("rx-depth", 'r', OPTS_NUMBER, struct bench, rx_depth, 2, BENCH_DEPTH_MAX,
		   OPTS_HELP("N", "receives posted on each connection (default 512)"),
		   OPTS_DOC("Receives posted on each connection; default 512.")),
	OPTS_RANGE("post-list", 'l', OPTS_NUMBER, struct bench, post_list, 1, BENCH_DEPTH_MAX,
		   OPTS_HELP("N", "post N with one call, for bandwidths (default 1)"),
		   OPTS_DOC("Post *N* operations with one call of libkverbs, which is one\n"
			    "system call, when there is room for all of them; for bandwidths.\n"
			    "Default 1. At most ``--tx-depth``, for send-bw also at most a\n"
			    "quarter of ``--rx-depth``. Receives of send-bw are reposted in\n"
			    "lists of *N*, or of 16 if that is more and does not exceed a\n"
			    "quarter of ``--rx-depth``.")),
	OPTS_RANGE("cq-mod", 'Q', OPTS_NUMBER, struct bench, cq_mod, 1, BENCH_DEPTH_MAX,
		   OPTS_HELP("N", "signal every N-th operation, for bandwidths (default 1)"),
		   OPTS_DOC("Signal only every *N*-th operation, whose completion covers the\n"
			    "ones before it; for bandwidths. Default 1, at most ``--tx-depth``.\n"
			    "The last operation is always signalled, as is one that must\n"
			    "complete before the next list fits. Completions of small\n"
			    "operations posted in one list are coalesced in any case, up to 32\n"
			    "operations or 16 KiB; the program still gets one for each.")),
	OPTS_OPTION("events", 'e', OPTS_SET, struct bench, events,
		    OPTS_HELP(NULL, "sleep for completions (default: poll); not for write-lat"),
		    OPTS_DOC("Sleep for completions, on both sides. Without it both poll, which\n"
			     "occupies a CPU on the client and on a server that has to answer.\n"
			     "Not for write-lat, where both sides poll memory because a WRITE\n"
			     "causes no event. For reg and connect only the client is affected;\n"
			     "the server sleeps.")),
	OPTS_OPTION("engine", 0, OPTS_TEXT, struct bench, engine_name,
		    OPTS_HELP("ENGINE", "user: this program, with a ring (default); kernel: a\n"
			      "loop in the module, not with --verify"),
		    OPTS_VALUES("user kernel"),
		    OPTS_DOC("Generator of the traffic. *user*, the default, is this program\n"
			     "with libkverbs and a ring. *kernel* is a loop in the module, on\n"
			     "the path that storage over RDMA takes; it does not support\n"
			     "``--verify``. The server cannot tell the difference.")),
	OPTS_OPTION("poll", 0, OPTS_TEXT, struct bench, poll_name,
		    OPTS_HELP("HOW", "context in which the kernel engine handles completions:\n"
			      "softirq, workqueue (default with -e), or the loop itself,\n"
			      "direct (default)"),
		    OPTS_VALUES("softirq workqueue direct"),
		    OPTS_DOC("Context in which the kernel engine handles completions: a\n"
			     "*softirq*, a *workqueue*, or the loop itself, *direct*. The\n"
			     "default is direct, with ``-e`` workqueue.")),
	OPTS_OPTION("no-warm-up", 0, OPTS_CLEAR, struct bench, warm_up,
		    OPTS_HELP(NULL, "count from the first operation on"),
		    OPTS_DOC("Count from the first operation on.")),
	OPTS_OPTION("verify", 0, OPTS_SET, struct bench, verify,
		    OPTS_HELP(NULL, "verify every byte on arrival"),
		    OPTS_DOC("Give every operation its own data and memory, and verify every\n"
			     "byte on arrival. Differences are counted and fail the run. The\n"
			     "figures include the time this takes.")),
	OPTS_OPTION("limit-bw", 0, OPTS_REAL, struct bench, limit_bw,
		    OPTS_HELP("MIBPS", "fail if a bandwidth is below MIBPS MiB/s"),
		    OPTS_DOC("Fail if an average bandwidth is below *MIBPS* MiB/s.")),
	OPTS_OPTION("limit-msgrate", 0, OPTS_REAL, struct bench, limit_rate,
		    OPTS_HELP("M", "fail below M million operations per second"),
		    OPTS_DOC("Fail if a bandwidth test does fewer than *M* million operations\n"
			     "per second.")),
	OPTS_OPTION("limit-lat-p99", 0, OPTS_REAL, struct bench, limit_p99,
		    OPTS_HELP("US", "fail if the 99th percentile exceeds US microseconds"),
		    OPTS_DOC("Fail if the 99th percentile of a latency exceeds *US*\n"
			     "microseconds.")),
	SERVER_OPTS_SOURCE(struct bench, to),
	SERVER_OPTS_EXPLAIN(struct bench, to),
	OPTS_RANGE("gid-index", 'x', OPTS_NUMBER, struct bench, gid, 0, UINT16_MAX,
		   OPTS_HELP("N", "connect from GID N of kverbs dev; RoCE v2 only"),
		   OPTS_DOC("Connect from the address of GID *N* of :manpage:`kverbs-dev(1)`,\n"
			    "which must be a RoCE v2 GID, the type that the connection manager\n"
			    "uses. If several ports have a GID *N*, use ``-I`` instead. Not\n"
			    "together with ``-I``.")),
	OPTS_RANGE("timeout", 'W', OPTS_MILLIS, struct bench, to.timeout_ms, 1, 86400000,
		   OPTS_HELP("S", "give up after S seconds without progress (default 30)"),
		   OPTS_DOC("Give up when nothing happens for *S* seconds; default 30.")),
	SERVER_OPTS_KEY(struct bench, to,
			"\nThe connections used for the measurement itself are not\n"
			"authenticated with the key; see *Wire protocol* in kverbs'\n"
			"documentation."),
	SERVER_OPTS_KEY_NAME(struct bench, to),
	SERVER_OPTS_PORT(struct bench, to, "", ".\n"
			 "Measurements use additional ports that the server chooses."),
	{ }
};

static int refuse(const char *why)
{
	err_usage("%s", why);
	return -EINVAL;
}

static bool has_lists(const struct bench *b)
{
	return b->post_list > 1 || b->cq_mod > 1;
}

static int check_bandwidth(const struct bench *b)
{
	if (b->limit_p99)
		return refuse("--limit-lat-p99 is for latencies");
	if (b->post_list > b->tx_depth || b->cq_mod > b->tx_depth)
		return refuse("-l and -Q must not exceed -t");
	if (b->rule->receives && b->post_list > 1 && b->post_list > b->rx_depth / 4)
		return refuse("-l must not exceed a quarter of -r");
	return 0;
}

static int check_latency(const struct bench *b)
{
	if (b->both || b->lanes > 1 || has_lists(b))
		return refuse("-b, -q, -l and -Q are for bandwidths");
	if (b->limit_bw || b->limit_rate)
		return refuse("--limit-bw and --limit-msgrate are for bandwidths");
	if (b->op == BENCH_WRITE_LAT && b->events)
		return refuse("write-lat excludes -e: a WRITE causes no event at the peer");
	if (b->op == BENCH_ATOMIC_LAT && (b->size != 8 || b->all))
		return refuse("atomic-lat requires --size 8");
	return 0;
}

/* Operations of a bandwidth that fill the queues twice; 100 of a latency. */
static uint64_t warm_up(const struct bench *b)
{
	return bench_warm_up(b, b->rule->kind == BENCH_BANDWIDTH ? 2 * b->tx_depth : 100);
}

static void fill_param(const struct bench *b, uint64_t size, struct bench_param *p)
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

/* Refuse options that exclude each other, and more than a server accepts. */
static int check_rates(const struct bench *b)
{
	struct bench_param p;
	int ret;

	ret = b->rule->kind == BENCH_BANDWIDTH ? check_bandwidth(b) : check_latency(b);
	if (ret)
		return ret;
	fill_param(b, b->all ? BENCH_SWEEP_LAST : b->size, &p);
	if (bench_param_check(&p))
		return refuse("more than a server accepts: lower -s, -t, -r or -q");
	return 0;
}

static int set_rates(struct bench *b, const char *name)
{
	b->op = bench_op_find(name);
	b->rule = bench_rule(b->op);
	if (!b->rule) {
		err_usage("no operation '%s'", name);
		return -EINVAL;
	}
	if (!b->to.host)
		return refuse("give OP and HOST");
	if (b->size == BENCH_UNSET)
		b->size = b->rule->size;
	if (b->count == BENCH_UNSET)
		b->count = b->rule->count;
	return check_rates(b);
}

/* Refuse options that reg and connect do not have. */
static int check_alone(const struct bench *b)
{
	if (b->engine == BENCH_ENGINE_KERNEL)
		return refuse("--engine kernel is for operations");
	if (b->both || b->lanes > 1 || has_lists(b) || b->verify || b->duration_ms)
		return refuse("-b, -q, -l, -Q, -D and --verify are for operations");
	if (b->limit_bw || b->limit_rate)
		return refuse("--limit-bw and --limit-msgrate are for bandwidths");
	return 0;
}

static int set_reg(struct bench *b)
{
	if (b->limit_p99)
		return refuse("--limit-lat-p99 is for latencies");
	if (b->all && b->size != BENCH_UNSET)
		return refuse("-a and -s exclude each other");
	b->task = BENCH_TASK_REG;
	if (b->count == BENCH_UNSET)
		b->count = ALONE_COUNT;
	return check_alone(b);
}

static int set_connect(struct bench *b)
{
	if (!b->to.host)
		return refuse("give OP and HOST");
	if (b->all || b->size != BENCH_UNSET)
		return refuse("a connection has no size");
	b->task = BENCH_TASK_CONNECT;
	if (b->count == BENCH_UNSET)
		b->count = ALONE_COUNT;
	return check_alone(b);
}

/* Fill @b; -EINVAL having said why. */
static int parse(struct bench *b, int argc, char **argv)
{
	int first = opts_parse(argc, argv, options, b);

	if (first < 0)
		return first;
	if (first + 1 != argc && first + 2 != argc)
		return refuse("give OP and HOST");
	if (first + 2 == argc)
		b->to.host = argv[first + 1];
	if (bench_choose_engine(b))
		return -EINVAL;
	if (b->gid != BENCH_UNSET && (!b->to.host || b->to.source))
		return refuse("-x says where to connect a HOST from, and so does -I");
	if (!strcmp(argv[first], "reg"))
		return set_reg(b);
	if (!strcmp(argv[first], "connect"))
		return set_connect(b);
	return set_rates(b, argv[first]);
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

static int row(struct bench *b, uint64_t size)
{
	struct bench_param p;
	int status;

	fill_param(b, size, &p);
	status = bench_measure(b, &p);
	if (status)
		return status;
	bench_out_row(b);
	check_limits(b);
	return b->f.result.differed ? EXIT_FAILED : status;
}

/* The largest size of a sweep: a SEND must fit into one message. */
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

static int run_rates(struct bench *b)
{
	static const struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_BENCH,
		.msg_max = WIRE_MSG_MAX,
		.depth = WIRE_BENCH_DEPTH,
	};
	int status;

	status = bench_with_server(b, &hello, rows);
	if (b->ticks)
		json_object_put(b->ticks);
	return status;
}

static int open_context(struct bench *b)
{
	struct kverbs_opts opts = { .sz = sizeof(opts), .busy_poll = !b->events };
	struct bench_param p;

	if (b->task != BENCH_TASK_RATES)
		return kverbs_open(&b->kv, &opts);
	fill_param(b, b->all ? BENCH_SWEEP_LAST : b->size, &p);
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
	};

	if (parse(&b, argc, argv))
		return EXIT_USAGE;
	return run(&b);
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "Measure bandwidth and latency against a server",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON, see below.",
	.notes = notes,
	.run = bench_run,
};
