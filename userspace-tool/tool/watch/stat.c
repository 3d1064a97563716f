// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs stat: the connections of all processes, and what they move.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/units.h"
#include "watch/prom.h"
#include "watch/rate.h"
#include "watch/snap.h"
#include "watch/snap_json.h"

#define ROW "%7s %-15s %5s %-11s %-8s %7s %9s %9s %10s %10s %10s %7s  %s\n"

#define MAX_INTERVAL_MS	(24 * 3600 * 1000)

/* Options. */
struct stat {
	const char *from;
	bool prometheus;
	int interval_ms;
	uint64_t count;
};

/* Rate of a connection, or its totals without an earlier snapshot. */
static struct rate rate_of(const struct snap *now, const struct snap *before,
			   const struct snap_conn *conn)
{
	const struct snap_moved *moved = &conn->moved;

	if (before)
		return rate_conn(now, before, conn);
	return (struct rate){
		.ops = moved->ops, .out = moved->bytes_out, .in = moved->bytes_in,
	};
}

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

static void print_conn(const struct snap_conn *conn, const struct rate *rate)
{
	char pid[UNITS_LEN], id[UNITS_LEN], qp[UNITS_LEN], sq[UNITS_LEN], rq[UNITS_LEN];
	char ops[UNITS_LEN], out[UNITS_LEN], in[UNITS_LEN], errors[UNITS_LEN];

	out_text(ROW, number_text(conn->pid, pid), or_dash(conn->comm),
		 number_text(conn->id, id), conn->state, or_dash(conn->device),
		 conn->qp ? number_text(conn->qp, qp) : "-",
		 used_text(conn->sq_used, conn->sq_depth, sq),
		 used_text(conn->rq_used, conn->rq_depth, rq),
		 number_text(rate->ops + 0.5, ops),
		 units_bytes(rate->out + 0.5, out, sizeof(out)),
		 units_bytes(rate->in + 0.5, in, sizeof(in)),
		 number_text(conn->moved.errors, errors), or_dash(conn->remote));
}

static void print_text(const struct snap *now, const struct snap *before)
{
	struct rate rate;
	unsigned int i;

	print_head(before);
	for (i = 0; i < now->nr; i++) {
		rate = rate_of(now, before, &now->conns[i]);
		print_conn(&now->conns[i], &rate);
	}
}

static void add_look(struct json_object *looks, const struct snap *now,
		     const struct snap *before)
{
	struct json_object *look = json_object_new_object();
	struct json_object *conns = json_object_new_array();
	struct json_object *conn;
	struct rate rate;
	unsigned int i;

	json_put_num(look, "seconds", before ? now->at - before->at : 0);
	for (i = 0; i < now->nr; i++) {
		conn = snap_json_conn(&now->conns[i]);
		rate = rate_of(now, before, &now->conns[i]);
		if (before)
			snap_json_rate(conn, &rate);
		json_object_array_add(conns, conn);
	}
	json_object_object_add(look, "connections", conns);
	json_object_object_add(look, "devices", snap_json_devices(now, before));
	json_object_array_add(looks, look);
}

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

static int look_on(const struct stat *stat)
{
	struct json_object *looks = begin_looks();
	struct snap before = { }, now;
	int status;
	uint64_t i;

	status = take(&before, stat);
	for (i = 0; !status && (!stat->count || i < stat->count); i++) {
		units_sleep_until(before.at + stat->interval_ms / 1e3);
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

static const char usage[] =
"usage: kverbs stat [INTERVAL [COUNT]] [options]\n"
"\n"
"Show the connections of all processes, with their totals or, with INTERVAL, their\n"
"rates per second: every INTERVAL seconds, COUNT times or until interrupted. Needs root.\n";

static const char notes[] =
"Exit status: 0 shown, 1 failed, 2 usage, 4 not permitted or no module.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("prometheus", 0, OPTS_SET, struct stat, prometheus,
		    OPTS_HELP(NULL, "print metrics once, in the Prometheus exposition format"),
		    OPTS_DOC("Print metrics once, in the Prometheus exposition format, version\n"
			     "0.0.4. Metrics of connections begin with ``kverbs_connection_``,\n"
			     "those of devices with ``kverbs_device_``. *file* and *conn*\n"
			     "together identify a connection. Counters of a device include\n"
			     "connections that have ended.")),
	OPTS_OPTION("from", 'f', OPTS_TEXT, struct stat, from,
		    OPTS_HELP("FILE", "read FILE instead of " SNAP_OBJECTS),
		    OPTS_DOC("Read *FILE*, for example a copy from another host, instead of the\n"
			     "module's list.")),
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
		return err_usage("unexpected argument '%s'", argv[at]);
	if (stat->interval_ms && stat->prometheus)
		return err_usage("--prometheus prints once and takes no INTERVAL");
	if (stat->interval_ms && !stat->count && out_is_json())
		return err_usage("--json with INTERVAL requires COUNT");
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
	.usage = usage,
	.options = options,
	.json = "print JSON; with INTERVAL it needs COUNT",
	.json_doc = "Print JSON: an array of samples, each with its connections and devices.\n"
		    "With *INTERVAL*, *COUNT* is required.",
	.notes = notes,
	.run = stat_run,
};
