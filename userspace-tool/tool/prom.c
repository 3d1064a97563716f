// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "prom.h"
#include "snap.h"
#include "util.h"

#define METRIC(_name, _type, _label, _field, _help)				\
	{ _name, _type, _label, offsetof(struct snap_conn, _field), _help }

/* Those of one name stand together, the first one's help is for all. */
static const struct metric {
	const char *name;
	const char *type;
	const char *label;
	size_t at;
	const char *help;
} metrics[] = {
	METRIC("operations_total", "counter", "", ops, "Operations that completed."),
	METRIC("errors_total", "counter", "", errors, "Operations that failed."),
	METRIC("bytes_total", "counter", ",direction=\"out\"", bytes_out, "Bytes moved."),
	METRIC("bytes_total", "counter", ",direction=\"in\"", bytes_in, NULL),
	METRIC("outstanding", "gauge", ",queue=\"sq\"", sq_used,
	       "Work requests that the device has."),
	METRIC("outstanding", "gauge", ",queue=\"rq\"", rq_used, NULL),
	METRIC("queue_depth", "gauge", ",queue=\"sq\"", sq_depth,
	       "Work requests that there is room for."),
	METRIC("queue_depth", "gauge", ",queue=\"rq\"", rq_depth, NULL),
};

static void print_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', to);
		fputc(*text, to);
	}
}

static void print_label(FILE *to, const char *name, const char *value)
{
	fprintf(to, "%s=\"", name);
	print_escaped(to, value);
	fputc('"', to);
}

static void print_labels(FILE *to, const struct snap_conn *conn, const char *more)
{
	fprintf(to, "{pid=\"%" PRIu64 "\",conn=\"%" PRIu64 "\",", conn->pid, conn->id);
	print_label(to, "comm", conn->comm);
	print_label(to, ",device", conn->device);
	print_label(to, ",local", conn->local);
	print_label(to, ",remote", conn->remote);
	fprintf(to, "%s} ", more);
}

static void print_head(FILE *to, const char *name, const char *type, const char *help)
{
	fprintf(to, "# HELP kverbs_connection_%s %s\n", name, help);
	fprintf(to, "# TYPE kverbs_connection_%s %s\n", name, type);
}

static void print_up(FILE *to, const struct snap *snap)
{
	unsigned int i;

	print_head(to, "up", "gauge", "1 if it is established, else 0.");
	for (i = 0; i < snap->nr; i++) {
		fputs("kverbs_connection_up", to);
		print_labels(to, &snap->conns[i], "");
		fprintf(to, "%d\n", !strcmp(snap->conns[i].state, "ESTABLISHED"));
	}
}

static void print_metric(FILE *to, const struct snap *snap, const struct metric *metric)
{
	const char *at;
	unsigned int i;

	if (metric->help)
		print_head(to, metric->name, metric->type, metric->help);
	for (i = 0; i < snap->nr; i++) {
		at = (const char *)&snap->conns[i] + metric->at;
		fprintf(to, "kverbs_connection_%s", metric->name);
		print_labels(to, &snap->conns[i], metric->label);
		fprintf(to, "%" PRIu64 "\n", *(const uint64_t *)at);
	}
}

void prom_print(FILE *to, const struct snap *snap)
{
	unsigned int i;

	print_up(to, snap);
	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		print_metric(to, snap, &metrics[i]);
}
