// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Results: perftest's words for people, rows with units in their keys for programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "bench.h"
#include "out.h"
#include "util.h"

#define MIB (1024. * 1024)

/* ---- what there is to tell ------------------------------------------------- */

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

static double us(const struct bench *b, double percent)
{
	return hist_percentile(&b->f.hist, percent) / 1e3;
}

double bench_p99_us(const struct bench *b)
{
	return us(b, 99);
}

/* Of one side's processor for each operation that it saw. */
static double cpu_us(const struct bench *b, const struct bench_result *r)
{
	return all_ops(b) ? r->cpu_ns / 1e3 / all_ops(b) : 0;
}

/* ---- for people ------------------------------------------------------------- */

static void print_setting(const struct bench *b)
{
	out_text("%s Test%s\n", b->rule->title, b->both ? ", bidirectional" : "");
	out_text(" Server          : %s port %s (%s)\n", b->to.host, b->to.port, b->s.peer);
	out_text(" Connections     : %" PRIu64 "%s\n", b->lanes,
		 b->both ? " each way" : "");
	if (b->rule->kind == BENCH_BANDWIDTH)
		out_text(" TX depth        : %" PRIu64 "\n", b->tx_depth);
	if (b->rule->receives)
		out_text(" RX depth        : %" PRIu64 "\n", b->rx_depth);
	out_text(" Completions     : %s\n", b->events ? "events" : "polling");
	if (b->rule->kind == BENCH_LATENCY)
		out_text(" Times           : %s\n", b->rule->half ?
			 "half of a round trip" : "a whole round trip");
	out_text("\n");
}

/* A cell is as wide as what stands above it. */
static void print_cell(const char *column, const char *text)
{
	out_text(" %-*s ", (int)strlen(column), text);
}

static void print_number(const char *column, int digits, double v)
{
	char text[48];

	snprintf(text, sizeof(text), "%.*f", digits, v);
	print_cell(column, text);
}

static const char * const bandwidth_columns[] = {
	"#bytes  ", "#iterations", "BW peak[MiB/sec]", "BW average[MiB/sec]",
	"MsgRate[Mpps]", NULL
};

static const char * const latency_columns[] = {
	"#bytes  ", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]",
	"t_avg[usec]", "t_stdev[usec]", "90% percentile[usec]", "99% percentile[usec]",
	"99.9% percentile[usec]", "99.99% percentile[usec]", NULL
};

static const char * const *columns_of(const struct bench *b)
{
	return b->rule->kind == BENCH_BANDWIDTH ? bandwidth_columns : latency_columns;
}

static void print_columns(const struct bench *b)
{
	const char * const *column;

	for (column = columns_of(b); *column; column++)
		print_cell(*column, *column);
	out_text("\n");
}

/* After size and number, which all have. */
static void print_values(const struct bench *b, const double *v, int digits)
{
	const char * const *column = columns_of(b);

	print_number(*column++, 0, b->f.param.size);
	print_number(*column++, 0, all_ops(b));
	for (; column[1]; column++)
		print_number(*column, 2, *v++);
	print_number(*column, digits, *v);
	out_text("\n");
}

static void print_bandwidth(const struct bench *b)
{
	const double v[] = { peak_MiBps(b), bench_MiBps(b), bench_Mpps(b) };

	print_values(b, v, 6);
}

static void print_latency(const struct bench *b)
{
	const struct rtt *rtt = &b->f.hist.rtt;
	const double v[] = {
		rtt->min / 1e3, rtt->max / 1e3, us(b, 50), rtt->mean / 1e3,
		rtt_mdev(rtt) / 1e3, us(b, 90), us(b, 99), us(b, 99.9), us(b, 99.99),
	};

	print_values(b, v, 2);
}

/* ---- for programs ------------------------------------------------------------- */

static void put_num(struct json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, json_object_new_double(v));
}

static void put_int(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

static void put_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void put_flag(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

static void put_side(struct json_object *row, const char *key, const struct bench *b,
		     const struct bench_result *r)
{
	struct json_object *o = json_object_new_object();

	put_num(o, "cpu_us_per_operation", cpu_us(b, r));
	put_int(o, "voluntary_context_switches", r->sleeps);
	put_int(o, "involuntary_context_switches", r->preempted);
	json_object_object_add(row, key, o);
}

static void put_bandwidth(struct json_object *row, const struct bench *b)
{
	put_num(row, "bw_peak_MiBps", peak_MiBps(b));
	put_num(row, "bw_avg_MiBps", bench_MiBps(b));
	put_num(row, "msg_rate_Mpps", bench_Mpps(b));
}

static void put_latency(struct json_object *row, const struct bench *b)
{
	const struct rtt *rtt = &b->f.hist.rtt;

	put_str(row, "times", b->rule->half ? "half_round_trip" : "round_trip");
	put_num(row, "t_min_us", rtt->min / 1e3);
	put_num(row, "t_max_us", rtt->max / 1e3);
	put_num(row, "t_typical_us", us(b, 50));
	put_num(row, "t_avg_us", rtt->mean / 1e3);
	put_num(row, "t_stdev_us", rtt_mdev(rtt) / 1e3);
	put_num(row, "p50_us", us(b, 50));
	put_num(row, "p90_us", us(b, 90));
	put_num(row, "p99_us", us(b, 99));
	put_num(row, "p99_9_us", us(b, 99.9));
	put_num(row, "p99_99_us", us(b, 99.99));
}

static struct json_object *new_row(const struct bench *b)
{
	const struct bench_param *p = &b->f.param;
	struct json_object *row = json_object_new_object();

	put_str(row, "operation", b->rule->name);
	put_str(row, "engine", "user");
	put_int(row, "size_bytes", p->size);
	put_int(row, "iterations", all_ops(b));
	put_num(row, "seconds", b->f.result.elapsed_ns / 1e9);
	put_int(row, "connections", p->lanes);
	put_int(row, "tx_depth", p->tx_depth);
	put_int(row, "rx_depth", p->rx_depth);
	put_flag(row, "bidirectional", b->both);
	put_str(row, "completions", b->events ? "events" : "polling");
	put_flag(row, "verified", b->verify);
	put_int(row, "differed", b->f.result.differed);
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
	json_object_array_add(b->rows, row);
}

/* ---- calls ---------------------------------------------------------------------- */

void bench_out_begin(struct bench *b)
{
	if (out_is_json()) {
		bench_env_put(b, out_root());
		b->rows = json_object_new_array();
		json_object_object_add(out_root(), "rows", b->rows);
		return;
	}
	print_setting(b);
	print_columns(b);
}

void bench_out_row(struct bench *b)
{
	if (out_is_json())
		put_row(b);
	else if (b->rule->kind == BENCH_BANDWIDTH)
		print_bandwidth(b);
	else
		print_latency(b);
	if (b->f.result.differed)
		out_text(" %" PRIu64 " DIFFERED\n", b->f.result.differed);
}

/* What this side has done in the second that is over. */
void bench_out_tick(struct bench *b)
{
	uint64_t ops = b->f.done - b->ticked;
	double seconds = FIELD_TICK_NS / 1e9;
	struct json_object *o;

	b->ticked = b->f.done;
	if (!out_is_json()) {
		out_text(" %8.0f s: %" PRIu64 " operations, %.2f MiB/sec, %.6f Mpps\n",
			 (b->f.next_tick - b->f.start) / 1e9 - seconds, ops,
			 ops * b->f.param.size / seconds / MIB, ops / seconds / 1e6);
		return;
	}
	o = json_object_new_object();
	put_int(o, "iterations", ops);
	put_num(o, "bw_MiBps", ops * b->f.param.size / seconds / MIB);
	if (!b->ticks)
		b->ticks = json_object_new_array();
	json_object_array_add(b->ticks, o);
}
