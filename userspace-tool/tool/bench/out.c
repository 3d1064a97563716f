// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Results: perftest's words for people, rows with units in their keys for programs. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/json.h"
#include "cli/out.h"
#include "cli/table.h"
#include "cli/util.h"

/* The first processor's; others are rarely of another kind. */
static void put_cpu(struct json_object *o)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) || !strchr(line, ':'))
			continue;
		line[strcspn(line, "\n")] = '\0';
		json_put_str(o, "cpu", strchr(line, ':') + 2);
		break;
	}
	if (f)
		fclose(f);
	json_put_int(o, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_device(struct json_object *o, struct kverbs *kv, uint32_t index)
{
	struct kverbs_device *list;
	int i, n = kverbs_device_list(kv, &list);

	for (i = 0; i < n; i++) {
		if (list[i].attr->out_index != index)
			continue;
		json_put_str(o, "device", list[i].attr->out_name);
		json_put_str(o, "provider", list[i].attr->out_driver);
		json_put_str(o, "firmware", list[i].attr->out_fw_version);
	}
	if (n >= 0)
		kverbs_device_list_free(list, n);
}

static void put_link(struct json_object *o, const struct bench *b)
{
	struct kverbs_cmd_conn_query q;

	if (!b->s.conn || kverbs_conn_query(b->s.conn, &q, sizeof(q)))
		return;
	put_device(o, b->kv, q.out_device_index);
	json_put_str(o, "transport", kverbs_transport_str(q.out_transport));
	json_put_int(o, "path_mtu_bytes", q.out_mtu);
}

/* Add hosts, device and versions to the JSON result. */
static void put_environment(const struct bench *b, struct json_object *to)
{
	struct json_object *o = json_object_new_object();
	struct kverbs_cmd_info info;
	struct utsname uts;

	json_object_object_add(to, "environment", o);
	if (!uname(&uts)) {
		json_put_str(o, "kernel", uts.release);
		json_put_str(o, "machine", uts.machine);
	}
	put_cpu(o);
	json_put_str(o, "kverbs", kverbs_version());
	if (!kverbs_info(b->kv, &info, sizeof(info)))
		json_put_str(o, "module", info.out_version);
	put_link(o, b);
}

#define MIB (1024. * 1024)

static double per_second(const struct bench_result *r, double what)
{
	return r->elapsed_ns ? what * 1e9 / r->elapsed_ns : 0;
}

double bench_MiBps(const struct bench *b)
{
	double rate = per_second(&b->f.result, b->f.result.bytes);

	if (b->both)
		rate += per_second(&b->theirs, b->theirs.bytes);
	return rate / MIB;
}

double bench_Mpps(const struct bench *b)
{
	double rate = per_second(&b->f.result, b->f.result.ops);

	if (b->both)
		rate += per_second(&b->theirs, b->theirs.ops);
	return rate / 1e6;
}

/* A run that is one stretch has its average for a peak. */
static double peak_MiBps(const struct bench *b)
{
	double peak = b->f.result.peak_Bps;

	if (b->both)
		peak += b->theirs.peak_Bps;
	return max(peak / MIB, bench_MiBps(b));
}

static uint64_t all_ops(const struct bench *b)
{
	return b->f.result.ops + (b->both ? b->theirs.ops : 0);
}

double bench_p99_us(const struct bench *b)
{
	return hist_us(&b->f.hist, 99);
}

/* CPU time for each operation. */
static double cpu_us(const struct bench *b, uint64_t cpu_ns)
{
	return all_ops(b) ? cpu_ns / 1e3 / all_ops(b) : 0;
}

static void print_bandwidth_setting(const struct bench *b)
{
	out_text(" TX depth        : %" PRIu64 "\n", b->tx_depth);
	out_text(" Post List       : %" PRIu64 "\n", b->post_list);
	out_text(" CQ Moderation   : %" PRIu64 "\n", b->cq_mod);
}

static void print_setting(const struct bench *b)
{
	out_text("%s Test%s\n", b->rule->title, b->both ? ", bidirectional" : "");
	out_text(" Server          : %s port %s (%s)\n", b->to.host, b->to.port, b->s.peer);
	out_text(" Connections     : %" PRIu64 "%s\n", b->lanes,
		 b->both ? " each way" : "");
	if (b->rule->kind == BENCH_BANDWIDTH)
		print_bandwidth_setting(b);
	if (b->rule->receives)
		out_text(" RX depth        : %" PRIu64 "\n", b->rx_depth);
	out_text(" Completions     : %s\n", b->events ? "events" : "polling");
	if (b->engine == BENCH_ENGINE_KERNEL)
		out_text(" Engine          : kernel, completions by %s\n", bench_poll_name(b));
	if (b->rule->kind == BENCH_LATENCY)
		out_text(" Times           : %s\n", b->rule->half ?
			 "half of a round trip" : "a whole round trip");
	out_text("\n");
}

static const char *const bandwidth_columns[] = {
	"#bytes  ", "#iterations", "BW peak[MiB/sec]", "BW average[MiB/sec]",
	"MsgRate[Mpps]", NULL
};

static const char *const latency_columns[] = {
	"#bytes  ", "#iterations", TABLE_TIMES, NULL
};

static const char *const *columns_of(const struct bench *b)
{
	return b->rule->kind == BENCH_BANDWIDTH ? bandwidth_columns : latency_columns;
}

static void print_bandwidth(const struct bench *b)
{
	const char *const *column = bandwidth_columns + 2;

	table_number(*column++, 2, peak_MiBps(b));
	table_number(*column++, 2, bench_MiBps(b));
	table_number(*column, 6, bench_Mpps(b));
	out_text("\n");
}

static void print_row(const struct bench *b)
{
	const char *const *column = columns_of(b);

	table_number(*column++, 0, b->f.param.size);
	table_number(*column++, 0, all_ops(b));
	if (b->rule->kind == BENCH_BANDWIDTH)
		print_bandwidth(b);
	else
		table_times(column, &b->f.hist);
}

static const char *const cost_columns[] = {
	"CPU   ", "thread[usec/op]", "switches  ", "host[usec/op]", "switches  ",
	"interrupts", NULL
};

static void print_side(const struct bench *b, const char *side, const struct bench_result *r)
{
	const char *const *column = cost_columns;

	table_cell(*column++, side);
	table_number(*column++, 2, cpu_us(b, r->cpu_ns));
	table_number(*column++, 0, r->sleeps + r->preempted);
	table_number(*column++, 2, cpu_us(b, r->host_cpu_ns));
	table_number(*column++, 0, r->host_switches);
	table_number(*column, 0, r->host_interrupts);
	out_text("\n");
}

/* A table of its own, which would tear that of a sweep. */
static void print_cost(const struct bench *b)
{
	if (b->all)
		return;
	out_text("\n");
	table_head(cost_columns);
	print_side(b, "client", &b->f.result);
	print_side(b, "server", &b->theirs);
}

static void put_side(struct json_object *row, const char *key, const struct bench *b,
		     const struct bench_result *r)
{
	struct json_object *o = json_object_new_object();

	json_put_num(o, "cpu_us_per_operation", cpu_us(b, r->cpu_ns));
	json_put_int(o, "voluntary_context_switches", r->sleeps);
	json_put_int(o, "involuntary_context_switches", r->preempted);
	json_put_num(o, "host_cpu_us_per_operation", cpu_us(b, r->host_cpu_ns));
	json_put_int(o, "host_interrupts", r->host_interrupts);
	json_put_int(o, "host_context_switches", r->host_switches);
	json_object_object_add(row, key, o);
}

static void put_bandwidth(struct json_object *row, const struct bench *b)
{
	json_put_num(row, "bw_peak_MiBps", peak_MiBps(b));
	json_put_num(row, "bw_avg_MiBps", bench_MiBps(b));
	json_put_num(row, "msg_rate_Mpps", bench_Mpps(b));
}

static void put_latency(struct json_object *row, const struct bench *b)
{
	json_put_str(row, "times", b->rule->half ? "half_round_trip" : "round_trip");
	json_put_times(row, &b->f.hist);
}

static struct json_object *new_row(struct bench *b)
{
	struct json_object *row = bench_out_new_row(b, b->rule->name);
	const struct bench_param *p = &b->f.param;

	json_put_int(row, "size_bytes", p->size);
	json_put_int(row, "iterations", all_ops(b));
	json_put_num(row, "seconds", b->f.result.elapsed_ns / 1e9);
	json_put_int(row, "connections", p->lanes);
	json_put_int(row, "tx_depth", p->tx_depth);
	json_put_int(row, "rx_depth", p->rx_depth);
	json_put_int(row, "post_list", p->post_list);
	json_put_int(row, "cq_mod", p->cq_mod);
	json_put_flag(row, "bidirectional", b->both);
	json_put_flag(row, "verified", b->verify);
	json_put_int(row, "differed", b->f.result.differed);
	return row;
}

static void put_row(struct bench *b)
{
	struct json_object *row = new_row(b);

	if (b->rule->kind == BENCH_BANDWIDTH)
		put_bandwidth(row, b);
	else
		put_latency(row, b);
	put_side(row, "client", b, &b->f.result);
	put_side(row, "server", b, &b->theirs);
	if (b->ticks)
		json_object_object_add(row, "seconds_each", b->ticks);
	b->ticks = NULL;
}

bool bench_out_rows(struct bench *b)
{
	if (!out_is_json())
		return false;
	put_environment(b, out_root());
	b->rows = json_object_new_array();
	json_object_object_add(out_root(), "rows", b->rows);
	return true;
}

struct json_object *bench_out_new_row(struct bench *b, const char *operation)
{
	struct json_object *row = json_object_new_object();

	json_object_array_add(b->rows, row);
	json_put_str(row, "operation", operation);
	json_put_str(row, "engine", bench_engine_name(b));
	json_put_str(row, "poll", bench_poll_name(b));
	json_put_str(row, "completions", b->events ? "events" : "polling");
	return row;
}

void bench_out_begin(struct bench *b)
{
	if (bench_out_rows(b))
		return;
	print_setting(b);
	table_head(columns_of(b));
}

void bench_out_row(struct bench *b)
{
	if (out_is_json())
		put_row(b);
	else
		print_row(b);
	if (b->f.result.differed)
		out_text(" %" PRIu64 " DIFFERED\n", b->f.result.differed);
	if (!out_is_json())
		print_cost(b);
}

/* Report the operations of this side since the last tick, about a second ago. */
void bench_out_tick(struct bench *b)
{
	uint64_t ops = b->f.done - b->ticked;
	double seconds = b->f.tick_ns / 1e9;
	struct json_object *o;

	b->ticked = b->f.done;
	if (!out_is_json()) {
		out_text(" %8.0f s: %" PRIu64 " operations, %.2f MiB/sec, %.6f Mpps\n",
			 (b->f.last_tick - b->f.start) / 1e9, ops,
			 ops * b->f.param.size / seconds / MIB, ops / seconds / 1e6);
		return;
	}
	o = json_object_new_object();
	json_put_int(o, "iterations", ops);
	json_put_num(o, "seconds", seconds);
	json_put_num(o, "bw_MiBps", ops * b->f.param.size / seconds / MIB);
	if (!b->ticks)
		b->ticks = json_object_new_array();
	json_object_array_add(b->ticks, o);
}
