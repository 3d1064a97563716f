// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs stat: the connections of all processes, and what they move.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "cmd.h"
#include "err.h"
#include "opts.h"
#include "out.h"
#include "prom.h"
#include "row.h"
#include "snap.h"
#include "units.h"
#include "util.h"

#define ROW "%7s %-15s %5s %-11s %-8s %7s %9s %9s %10s %10s %10s %7s  %s\n"

#define MAX_INTERVAL_MS	(24 * 3600 * 1000)

/* What the command line says. */
struct stat {
	const char *from;
	bool prometheus;
	int interval_ms;
	uint64_t count;
};

/* ---- rates ------------------------------------------------------------- */

/**
 * struct rates - what a connection does in a second, or has done in all
 * @ops: operations
 * @out: bytes
 * @in: bytes
 */
struct rates {
	double ops;
	double out;
	double in;
};

/* Since it began, if there was no look before or it was not there. */
static struct rates rates_of(const struct snap *now, const struct snap *before,
			     const struct snap_conn *conn)
{
	const struct snap_conn *was = before ? snap_find(before, conn) : NULL;
	double seconds = before ? now->at - before->at : 1;
	struct rates rates = { conn->ops, conn->bytes_out, conn->bytes_in };

	if (was) {
		rates.ops -= was->ops;
		rates.out -= was->bytes_out;
		rates.in -= was->bytes_in;
	}
	rates.ops /= seconds;
	rates.out /= seconds;
	rates.in /= seconds;
	return rates;
}

/* ---- text -------------------------------------------------------------- */

static void print_head(bool per_second)
{
	out_text(ROW, "PID", "COMMAND", "CONN", "STATE", "DEVICE", "QP", "SQ", "RQ",
		 per_second ? "OPS/s" : "OPS", per_second ? "OUT/s" : "OUT",
		 per_second ? "IN/s" : "IN", "ERRORS", "REMOTE");
}

static const char *number_text(uint64_t number, char *buf)
{
	snprintf(buf, UNITS_LEN, "%" PRIu64, number);
	return buf;
}

static const char *used_text(uint64_t used, uint64_t depth, char *buf)
{
	snprintf(buf, UNITS_LEN, "%" PRIu64 "/%" PRIu64, used, depth);
	return buf;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void print_conn(const struct snap_conn *conn, const struct rates *rates)
{
	char pid[UNITS_LEN], id[UNITS_LEN], qp[UNITS_LEN], sq[UNITS_LEN], rq[UNITS_LEN];
	char ops[UNITS_LEN], out[UNITS_LEN], in[UNITS_LEN], errors[UNITS_LEN];

	out_text(ROW, number_text(conn->pid, pid), or_dash(conn->comm),
		 number_text(conn->id, id), conn->state, or_dash(conn->device),
		 conn->qp ? number_text(conn->qp, qp) : "-",
		 used_text(conn->sq_used, conn->sq_depth, sq),
		 used_text(conn->rq_used, conn->rq_depth, rq),
		 number_text(rates->ops + 0.5, ops),
		 units_bytes(rates->out + 0.5, out, sizeof(out)),
		 units_bytes(rates->in + 0.5, in, sizeof(in)),
		 number_text(conn->errors, errors), or_dash(conn->remote));
}

static void print_text(const struct snap *now, const struct snap *before)
{
	struct rates rates;
	unsigned int i;

	print_head(before);
	for (i = 0; i < now->nr; i++) {
		rates = rates_of(now, before, &now->conns[i]);
		print_conn(&now->conns[i], &rates);
	}
}

/* ---- JSON -------------------------------------------------------------- */

static struct json_object *json_conn(const struct snap_conn *conn)
{
	struct json_object *o = json_object_new_object();

	row_int(o, "pid", conn->pid);
	row_str(o, "command", conn->comm);
	row_int(o, "conn", conn->id);
	row_str(o, "state", conn->state);
	row_str(o, "errno", conn->error ? err_name(conn->error) : "");
	row_str(o, "device", conn->device);
	row_int(o, "qp", conn->qp);
	row_str(o, "local", conn->local);
	row_str(o, "remote", conn->remote);
	row_int(o, "sq_used", conn->sq_used);
	row_int(o, "sq_depth", conn->sq_depth);
	row_int(o, "rq_used", conn->rq_used);
	row_int(o, "rq_depth", conn->rq_depth);
	row_int(o, "operations", conn->ops);
	row_int(o, "errors", conn->errors);
	row_int(o, "bytes_out", conn->bytes_out);
	row_int(o, "bytes_in", conn->bytes_in);
	return o;
}

static void add_rates(struct json_object *o, const struct rates *rates)
{
	row_num(o, "operations_per_second", rates->ops);
	row_num(o, "bytes_out_per_second", rates->out);
	row_num(o, "bytes_in_per_second", rates->in);
}

static void add_look(struct json_object *looks, const struct snap *now,
		     const struct snap *before)
{
	struct json_object *look = json_object_new_object();
	struct json_object *conns = json_object_new_array();
	struct json_object *conn;
	struct rates rates;
	unsigned int i;

	row_num(look, "seconds", before ? now->at - before->at : 0);
	for (i = 0; i < now->nr; i++) {
		conn = json_conn(&now->conns[i]);
		rates = rates_of(now, before, &now->conns[i]);
		if (before)
			add_rates(conn, &rates);
		json_object_array_add(conns, conn);
	}
	json_object_object_add(look, "connections", conns);
	json_object_array_add(looks, look);
}

/* ---- the command ------------------------------------------------------- */

static int take(struct snap *snap, const struct stat *stat)
{
	int ret = snap_take(snap, stat->from);

	return ret ? err_report(ERR_OBJECTS, ret, "read %s", stat->from) : EXIT_OK;
}

static void show(const struct stat *stat, struct json_object *looks,
		 const struct snap *now, const struct snap *before)
{
	if (looks)
		add_look(looks, now, before);
	else if (stat->prometheus)
		prom_print(stdout, now);
	else
		print_text(now, before);
}

static struct json_object *begin_looks(void)
{
	struct json_object *looks = out_is_json() ? json_object_new_array() : NULL;

	if (looks)
		json_object_object_add(out_root(), "looks", looks);
	return looks;
}

static int look_once(const struct stat *stat)
{
	struct json_object *looks = begin_looks();
	struct snap now;
	int status;

	status = take(&now, stat);
	if (status)
		return status;
	show(stat, looks, &now, NULL);
	snap_free(&now);
	return EXIT_OK;
}

static void await(double at)
{
	const struct timespec ts = { at, (at - (time_t)at) * 1e9 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int look_on(const struct stat *stat)
{
	struct json_object *looks = begin_looks();
	struct snap before = { }, now;
	int status;
	uint64_t i;

	status = take(&before, stat);
	for (i = 0; !status && (!stat->count || i < stat->count); i++) {
		await(before.at + stat->interval_ms / 1e3);
		status = take(&now, stat);
		if (status)
			break;
		show(stat, looks, &now, &before);
		snap_free(&before);
		before = now;
	}
	snap_free(&before);
	return status;
}

static const char help[] =
"usage: kverbs stat [INTERVAL [COUNT]] [options]\n"
"\n"
"Show the connections of all processes, with what they have moved so far, or, with\n"
"INTERVAL, what they move in a second: every INTERVAL seconds, COUNT times or for ever.\n"
"Only root may look.\n"
"\n"
"      --prometheus     in Prometheus' exposition format, once\n"
"  -f, --from FILE      look there instead of at " SNAP_OBJECTS "\n"
"  -j, --json           as JSON; with INTERVAL it needs COUNT\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0 shown, 1 failed, 2 usage, 4 not permitted or no module.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("prometheus", 0, OPTS_SET, struct stat, prometheus),
	OPTS_OPTION("from", 'f', OPTS_TEXT, struct stat, from),
	{ }
};

static int parse(struct stat *stat, int argc, char **argv)
{
	int at = opts_parse(argc, argv, options, stat);

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc && opts_millis("INTERVAL", argv[at++], 1, MAX_INTERVAL_MS,
				     &stat->interval_ms))
		return EXIT_USAGE;
	if (at < argc && opts_number("COUNT", argv[at++], 1, UINT32_MAX, &stat->count))
		return EXIT_USAGE;
	if (at < argc)
		return err_usage("'%s' is one word too many", argv[at]);
	if (stat->interval_ms && stat->prometheus)
		return err_usage("--prometheus is once; leave INTERVAL to who asks for it");
	if (stat->interval_ms && !stat->count && out_is_json())
		return err_usage("JSON has an end, so COUNT is needed");
	return EXIT_OK;
}

static int stat_run(int argc, char **argv)
{
	struct stat stat = { .from = SNAP_OBJECTS };
	int status = parse(&stat, argc, argv);

	if (status)
		return status;
	return stat.interval_ms ? look_on(&stat) : look_once(&stat);
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "Show the connections of all processes",
	.help = help,
	.run = stat_run,
};
