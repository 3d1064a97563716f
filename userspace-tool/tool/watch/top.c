// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs top: what connections do, live on a terminal, or in tables or JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/units.h"
#include "watch/screen.h"
#include "watch/snap.h"
#include "watch/snap_json.h"
#include "watch/top_tty.h"
#include "watch/top_view.h"

/* Width of a table that goes elsewhere than to a terminal: room for all columns. */
#define WIDE 512

/* Options. */
struct top {
	const char *from;
	const char *device;
	const char *process;
	const char *sort;
	bool batch;
	bool reverse;
	int delay_ms;
	uint64_t count;
};

static void set_clock(struct top_view *view)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(view->clock, sizeof(view->clock), "%H:%M:%S", localtime_r(&now, &tm));
}

static int look(struct top_view *view, const struct top *top)
{
	struct snap snap;
	int ret = snap_take(&snap, top->from);

	if (ret)
		return ret;
	set_clock(view);
	top_view_look(view, &snap);
	return 0;
}

static int report(const struct top *top, int err)
{
	return err_report(ERR_OBJECTS, err, "read %s", top->from);
}

static struct json_object *json_conns(const struct top_row *rows, int nr)
{
	struct json_object *conns = json_object_new_array();
	struct json_object *conn;
	int i;

	for (i = 0; i < nr; i++) {
		conn = snap_json_conn(rows[i].conn);
		snap_json_rate(conn, &rows[i].rate);
		json_object_array_add(conns, conn);
	}
	return conns;
}

static int print_sample(struct top_view *view)
{
	const struct top_filter filter = top_view_filter(view);
	struct json_object *sample;
	struct top_row *rows;
	int nr = top_rows(&view->now, &view->before, &filter, &rows);

	if (nr < 0)
		return nr;
	top_sort(rows, nr, view->by, view->reverse);
	sample = out_new_sample();
	json_put_str(sample, "time", view->clock);
	json_put_num(sample, "seconds", view->now.at - view->before.at);
	json_object_object_add(sample, "devices",
			       snap_json_devices(&view->now, &view->before));
	json_object_object_add(sample, "connections", json_conns(rows, nr));
	free(rows);
	out_sample(sample);
	return 0;
}

static unsigned int table_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;

	return width && width < WIDE ? width : WIDE;
}

static void print_line(const char *line)
{
	int length = strlen(line);

	while (length && line[length - 1] == ' ')
		length--;
	out_text("%.*s\n", length, line);
}

static int print_tables(struct top_view *view)
{
	struct screen screen;
	unsigned int i;
	int ret;

	ret = screen_init(&screen, table_width(), top_view_height(view));
	if (ret)
		return ret;
	ret = top_view_draw(view, &screen);
	for (i = 0; !ret && i < screen.height; i++)
		print_line(screen_line(&screen, i));
	out_text("\n");
	screen_free(&screen);
	return ret;
}

/* By the first one's clock, so that what a look takes does not add up. */
static int batch(struct top_view *view, const struct top *top)
{
	double due = units_now();
	uint64_t i;
	int ret;

	ret = look(view, top);
	if (ret)
		return report(top, ret);
	for (i = 0; !top->count || i < top->count; i++) {
		due += view->delay_ms / 1e3;
		units_sleep_until(due);
		ret = look(view, top);
		if (ret)
			return report(top, ret);
		ret = out_is_json() ? print_sample(view) : print_tables(view);
		if (ret)
			return err_report(ERR_LOCAL, ret, "print");
	}
	return EXIT_OK;
}

/* Take a snapshot; wait for the module if it is not loaded. */
static void take(struct top_view *view, void *arg)
{
	const struct top *top = arg;
	char message[128];
	int ret = look(view, top);

	if (!ret)
		return;
	if (ret == -ENOENT)
		snprintf(message, sizeof(message), "The module is not loaded; waiting for it");
	else
		snprintf(message, sizeof(message), "Cannot read the list: %s", strerror(-ret));
	set_clock(view);
	top_view_lose(view, message);
}

static int live(struct top_view *view, struct top *top)
{
	int ret;

	/* Report an error of the first snapshot on standard error, not on the screen. */
	ret = look(view, top);
	if (ret)
		return report(top, ret);
	top_view_lose(view, "");
	ret = top_tty_run(view, top->count, take, top);
	if (ret == -ENOTTY)
		return err_usage("the terminal, TERM=%s, is not supported; use --batch",
				 getenv("TERM") ?: "");
	return ret ? err_report(ERR_LOCAL, ret, "draw") : EXIT_OK;
}

static const char usage[] =
"usage: kverbs top [options]\n"
"\n"
"Show the rates of RDMA connections of this host: live on a terminal, where 'h' explains\n"
"the keys, else in tables. Needs root.\n";

static const char notes[] =
"COLUMN is PID, COMMAND, CONN, DEVICE, QP, STATE, OUT/s, IN/s, BOTH/s, OPS/s, SQ, RQ,\n"
"ERR, PEER, LOCAL, OUT or IN.\n"
"\n"
"Exit status: 0 shown, 1 failed, 2 usage, 4 not permitted or no module.\n";

static const struct opts_option options[] = {
	OPTS_RANGE("delay", 'd', OPTS_MILLIS, struct top, delay_ms, TOP_MIN_DELAY_MS,
		   TOP_MAX_DELAY_MS,
		   OPTS_HELP("SECONDS", "time between updates (default 2)"),
		   OPTS_DOC("Time between samples; default 2, at least 0.1.")),
	OPTS_RANGE("count", 'n', OPTS_NUMBER, struct top, count, 1, UINT32_MAX,
		   OPTS_HELP("COUNT", "stop after COUNT updates (default: never)"),
		   OPTS_DOC("Exit after *COUNT* samples; by default run until stopped.")),
	OPTS_OPTION("device", 'D', OPTS_TEXT, struct top, device,
		    OPTS_HELP("DEV", "show only connections on that device"),
		    OPTS_DOC("Show only connections on that device.")),
	OPTS_OPTION("process", 'p', OPTS_TEXT, struct top, process,
		    OPTS_HELP("PROC", "show only connections of processes with that pid or name"),
		    OPTS_DOC("Show only connections of processes with that pid or name.")),
	OPTS_OPTION("sort", 'o', OPTS_TEXT, struct top, sort,
		    OPTS_HELP("COLUMN", "sort by a column, such as OPS/s (default BOTH/s)"),
		    OPTS_DOC("Sort by that column; default BOTH/s.")),
	OPTS_OPTION("reverse", 'r', OPTS_SET, struct top, reverse,
		    OPTS_HELP(NULL, "reverse the order"),
		    OPTS_DOC("Reverse the order.")),
	OPTS_OPTION("batch", 'b', OPTS_SET, struct top, batch,
		    OPTS_HELP(NULL, "print tables even on a terminal"),
		    OPTS_DOC("Print tables even on a terminal. ``COLUMNS`` sets their width; by\n"
			     "default all columns are shown.")),
	OPTS_OPTION("from", 'f', OPTS_TEXT, struct top, from,
		    OPTS_HELP("FILE", "read FILE instead of " SNAP_OBJECTS),
		    OPTS_DOC("Read *FILE*, for example a copy from another host, instead of the\n"
			     "module's list.")),
	{ }
};

static int parse_sort(struct top_view *view, const char *title)
{
	unsigned int i;

	for (i = 0; i < TOP_COLUMNS; i++) {
		if (!strcasecmp(title, top_columns[i].title)) {
			view->by = i;
			return EXIT_OK;
		}
	}
	return err_usage("--sort: there is no column '%s'", title);
}

static int parse(struct top *top, struct top_view *view, int argc, char **argv)
{
	int at = opts_parse(argc, argv, options, top);

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc)
		return err_usage("unexpected argument '%s'", argv[at]);
	view->delay_ms = top->delay_ms;
	view->device = top->device;
	view->process = top->process;
	view->reverse = top->reverse;
	return top->sort ? parse_sort(view, top->sort) : EXIT_OK;
}

static int top_run(int argc, char **argv)
{
	struct top top = { .from = SNAP_OBJECTS, .delay_ms = 2000 };
	struct top_view view;
	int status;

	top_view_init(&view);
	status = parse(&top, &view, argc, argv);
	if (status)
		return status;
	if (top.batch || out_is_json() || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		status = batch(&view, &top);
	else
		status = live(&view, &top);
	top_view_exit(&view);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "Show the rates of connections, live",
	.usage = usage,
	.options = options,
	.json = "print a line of JSON for each update",
	.json_doc = "Print a line of JSON for each sample, an object with *seconds*, *devices*\n"
		    "and *connections*.",
	.notes = notes,
	.run = top_run,
};
