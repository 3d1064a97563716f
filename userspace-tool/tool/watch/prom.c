// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "watch/prom.h"
#include "watch/snap.h"

/**
 * struct metric - a number of each connection, or of each device
 * @name: without what all names begin with
 * @type: "counter" or "gauge"
 * @label: what tells those of one name apart
 * @at: a uint64_t in the struct
 * @help: of all of that name, which stand together; the first one has it
 */
struct metric {
	const char *name;
	const char *type;
	const char *label;
	size_t at;
	const char *help;
};

#define CONN(_name, _type, _label, _field, _help)				\
	{ _name, _type, _label, offsetof(struct snap_conn, _field), _help }
#define DEVICE(_name, _type, _label, _field, _help)				\
	{ _name, _type, _label, offsetof(struct snap_device, _field), _help }

static const struct metric conn_metrics[] = {
	CONN("operations_total", "counter", "", moved.ops, "Operations that completed."),
	CONN("errors_total", "counter", "", moved.errors, "Operations that failed."),
	CONN("bytes_total", "counter", ",direction=\"out\"", moved.bytes_out, "Bytes moved."),
	CONN("bytes_total", "counter", ",direction=\"in\"", moved.bytes_in, NULL),
	CONN("outstanding", "gauge", ",queue=\"sq\"", sq_used,
	     "Work requests that the device has."),
	CONN("outstanding", "gauge", ",queue=\"rq\"", rq_used, NULL),
	CONN("queue_depth", "gauge", ",queue=\"sq\"", sq_depth,
	     "Work requests that there is room for."),
	CONN("queue_depth", "gauge", ",queue=\"rq\"", rq_depth, NULL),
	{ }
};

static const struct metric device_metrics[] = {
	DEVICE("connections", "gauge", "", conns, "Connections that are on it."),
	DEVICE("operations_total", "counter", "", moved.ops, "Operations that completed."),
	DEVICE("errors_total", "counter", "", moved.errors, "Operations that failed."),
	DEVICE("bytes_total", "counter", ",direction=\"out\"", moved.bytes_out,
	       "Bytes moved."),
	DEVICE("bytes_total", "counter", ",direction=\"in\"", moved.bytes_in, NULL),
	{ }
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

/* File and id make one of it; names and addresses are for people. */
static void print_conn_labels(FILE *to, const struct snap_conn *conn)
{
	fprintf(to, "file=\"%" PRIu64 "\",conn=\"%" PRIu64 "\",pid=\"%" PRIu64 "\",",
		conn->file, conn->id, conn->pid);
	print_label(to, "comm", conn->comm);
	print_label(to, ",device", conn->device);
	print_label(to, ",local", conn->local);
	print_label(to, ",remote", conn->remote);
}

static void print_head(FILE *to, const char *of, const char *name, const char *type,
		       const char *help)
{
	fprintf(to, "# HELP kverbs_%s_%s %s\n", of, name, help);
	fprintf(to, "# TYPE kverbs_%s_%s %s\n", of, name, type);
}

static void print_conn(FILE *to, const struct snap_conn *conn, const char *name,
		       const char *label, uint64_t value)
{
	fprintf(to, "kverbs_connection_%s{", name);
	print_conn_labels(to, conn);
	fprintf(to, "%s} %" PRIu64 "\n", label, value);
}

static void print_device(FILE *to, const struct snap_device *device, const char *name,
			 const char *label, uint64_t value)
{
	fprintf(to, "kverbs_device_%s{", name);
	print_label(to, "device", device->device);
	fprintf(to, "%s} %" PRIu64 "\n", label, value);
}

static uint64_t value_at(const void *object, size_t at)
{
	return *(const uint64_t *)((const char *)object + at);
}

static void print_up(FILE *to, const struct snap *snap)
{
	unsigned int i;

	print_head(to, "connection", "up", "gauge", "1 if it is established, else 0.");
	for (i = 0; i < snap->nr; i++)
		print_conn(to, &snap->conns[i], "up", "",
			   !strcmp(snap->conns[i].state, "ESTABLISHED"));
}

static void print_conns(FILE *to, const struct snap *snap)
{
	const struct metric *m;
	unsigned int i;

	print_up(to, snap);
	for (m = conn_metrics; m->name; m++) {
		if (m->help)
			print_head(to, "connection", m->name, m->type, m->help);
		for (i = 0; i < snap->nr; i++)
			print_conn(to, &snap->conns[i], m->name, m->label,
				   value_at(&snap->conns[i], m->at));
	}
}

static void print_retries(FILE *to, const struct snap *snap)
{
	unsigned int i;

	print_head(to, "device", "retries_total", "counter",
		   "Requests that the device sent again, for whomever.");
	for (i = 0; i < snap->nr_devices; i++)
		if (snap->devices[i].retries >= 0)
			print_device(to, &snap->devices[i], "retries_total", "",
				     snap->devices[i].retries);
}

static void print_devices(FILE *to, const struct snap *snap)
{
	const struct metric *m;
	unsigned int i;

	for (m = device_metrics; m->name; m++) {
		if (m->help)
			print_head(to, "device", m->name, m->type, m->help);
		for (i = 0; i < snap->nr_devices; i++)
			print_device(to, &snap->devices[i], m->name, m->label,
				     value_at(&snap->devices[i], m->at));
	}
	print_retries(to, snap);
}

void prom_print(FILE *to, const struct snap *snap)
{
	print_conns(to, snap);
	print_devices(to, snap);
}
