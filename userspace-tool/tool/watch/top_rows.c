// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "cli/util.h"
#include "watch/snap.h"
#include "watch/top_rows.h"

const struct screen_column top_columns[TOP_COLUMNS] = {
	[TOP_PID]	= { "PID", true, 0, 1 },
	[TOP_COMMAND]	= { "COMMAND", false, 7, 7 },
	[TOP_CONN]	= { "CONN", true, 0, 13 },
	[TOP_DEVICE]	= { "DEVICE", false, 6, 5 },
	[TOP_QP]	= { "QP", true, 0, 14 },
	[TOP_STATE]	= { "STATE", false, 0, 10 },
	[TOP_OUT]	= { "OUT/s", true, 0, 2 },
	[TOP_IN]	= { "IN/s", true, 0, 3 },
	[TOP_BOTH]	= { "BOTH/s", true, 0, 12 },
	[TOP_OPS]	= { "OPS/s", true, 0, 4 },
	[TOP_SQ]	= { "SQ", true, 0, 8 },
	[TOP_RQ]	= { "RQ", true, 0, 11 },
	[TOP_ERRORS]	= { "ERR", true, 0, 9 },
	[TOP_PEER]	= { "PEER", false, 15, 6 },
	[TOP_LOCAL]	= { "LOCAL", false, 15, 15 },
	[TOP_SUM_OUT]	= { "OUT", true, 0, 16 },
	[TOP_SUM_IN]	= { "IN", true, 0, 17 },
};

const struct screen_column top_device_columns[TOP_DEV_COLUMNS] = {
	[TOP_DEV_NAME]		= { "DEVICE", false, 6, 1 },
	[TOP_DEV_CONNS]		= { "CONNS", true, 0, 4 },
	[TOP_DEV_OUT]		= { "OUT/s", true, 0, 2 },
	[TOP_DEV_IN]		= { "IN/s", true, 0, 3 },
	[TOP_DEV_OPS]		= { "OPS/s", true, 0, 5 },
	[TOP_DEV_ERRORS]	= { "ERRORS", true, 0, 6 },
	[TOP_DEV_RETRIES]	= { "RETRIES/s", true, 0, 7 },
	[TOP_DEV_RETRIES_SUM]	= { "RETRIES", true, 0, 8 },
};

static bool is_process(const struct snap_conn *conn, const char *process)
{
	char pid[UNITS_LEN];

	snprintf(pid, sizeof(pid), "%" PRIu64, conn->pid);
	return !strcmp(pid, process) || !strcmp(conn->comm, process);
}

/* A number is a whole PID or port: as a part of one it would match connections at random. */
static bool has_number(const struct snap_conn *conn, const char *number)
{
	const char *port = strrchr(conn->remote, ':');
	char pid[UNITS_LEN];

	snprintf(pid, sizeof(pid), "%" PRIu64, conn->pid);
	return !strcmp(pid, number) || (port && !strcmp(port + 1, number));
}

static bool has_word(const struct snap_conn *conn, const char *word)
{
	if (word[0] && !word[strspn(word, "0123456789")])
		return has_number(conn, word);
	return strstr(conn->device, word) || strstr(conn->comm, word) ||
	       strstr(conn->remote, word);
}

static bool passes(const struct snap_conn *conn, const struct top_filter *filter)
{
	return (!filter->device || !strcmp(conn->device, filter->device)) &&
	       (!filter->process || is_process(conn, filter->process)) &&
	       (!filter->word || has_word(conn, filter->word));
}

int top_rows(const struct snap *now, const struct snap *before,
	     const struct top_filter *filter, struct top_row **rows)
{
	struct top_row *row;
	unsigned int i;

	*rows = calloc(now->nr + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	row = *rows;
	for (i = 0; i < now->nr; i++) {
		if (!passes(&now->conns[i], filter))
			continue;
		row->conn = &now->conns[i];
		row->known = before;
		if (before)
			row->rate = rate_conn(now, before, row->conn);
		row++;
	}
	return row - *rows;
}

static double number_of(const struct top_row *row, enum top_column column)
{
	const struct snap_conn *conn = row->conn;

	switch (column) {
	case TOP_OUT:
		return row->rate.out;
	case TOP_IN:
		return row->rate.in;
	case TOP_BOTH:
		return row->rate.out + row->rate.in;
	case TOP_OPS:
		return row->rate.ops;
	case TOP_SQ:
		return conn->sq_used;
	case TOP_RQ:
		return conn->rq_used;
	case TOP_ERRORS:
		return conn->moved.errors;
	case TOP_SUM_OUT:
		return conn->moved.bytes_out;
	case TOP_SUM_IN:
		return conn->moved.bytes_in;
	case TOP_CONN:
		return -(double)conn->id;
	case TOP_QP:
		return -(double)conn->qp;
	default:
		return -(double)conn->pid;
	}
}

static const char *text_of(const struct top_row *row, enum top_column column)
{
	switch (column) {
	case TOP_COMMAND:
		return row->conn->comm;
	case TOP_DEVICE:
		return row->conn->device;
	case TOP_STATE:
		return row->conn->state;
	case TOP_PEER:
		return row->conn->remote;
	case TOP_LOCAL:
		return row->conn->local;
	default:
		return NULL;
	}
}

/* So that those that are equal stay where they are from one look to the next. */
static int compare_names(const struct snap_conn *a, const struct snap_conn *b)
{
	int order = (a->pid > b->pid) - (a->pid < b->pid);

	if (!order)
		order = (a->file > b->file) - (a->file < b->file);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

/**
 * struct order - how to sort
 * @by: a column
 * @reverse: the other way
 */
struct order {
	enum top_column by;
	bool reverse;
};

static int compare(const void *one, const void *other, void *arg)
{
	const struct top_row *a = one, *b = other;
	const struct order *order = arg;
	const char *text = text_of(a, order->by);
	double left, right;
	int result;

	if (text) {
		result = strcmp(text, text_of(b, order->by));
	} else {
		left = number_of(a, order->by);
		right = number_of(b, order->by);
		result = (left < right) - (left > right);
	}
	if (!result)
		return compare_names(a->conn, b->conn);
	return order->reverse ? -result : result;
}

void top_sort(struct top_row *rows, int nr, enum top_column by, bool reverse)
{
	struct order order = { by, reverse };

	qsort_r(rows, nr, sizeof(*rows), compare, &order);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static const char *count_text(uint64_t number, char *buf, size_t room)
{
	snprintf(buf, room, "%" PRIu64, number);
	return buf;
}

static const char *bytes_text(bool known, double bytes, char *buf, size_t room)
{
	return known ? units_bytes(bytes + 0.5, buf, room) : "-";
}

static const char *ops_text(bool known, double ops, char *buf, size_t room)
{
	if (!known)
		return "-";
	snprintf(buf, room, "%.0f", ops);
	return buf;
}

/* As ss(8) cuts them. */
static const char *state_text(const char *state)
{
	static const char *const names[][2] = {
		{ "CONNECTING", "DIAL" },
		{ "REQUESTED", "REQ" },
		{ "ACCEPTING", "ACC" },
		{ "ESTABLISHED", "ESTAB" },
		{ "CLOSING", "CLOSE" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(state, names[i][0]))
			return names[i][1];
	return or_dash(state);
}

const char *top_cell(const struct top_row *row, enum top_column column, char *buf,
		     size_t room)
{
	const struct snap_conn *conn = row->conn;

	switch (column) {
	case TOP_PID:
		return count_text(conn->pid, buf, room);
	case TOP_CONN:
		return count_text(conn->id, buf, room);
	case TOP_QP:
		return conn->qp ? count_text(conn->qp, buf, room) : "-";
	case TOP_SQ:
		return count_text(conn->sq_used, buf, room);
	case TOP_RQ:
		return count_text(conn->rq_used, buf, room);
	case TOP_ERRORS:
		return count_text(conn->moved.errors, buf, room);
	case TOP_SUM_OUT:
		return units_bytes(conn->moved.bytes_out, buf, room);
	case TOP_SUM_IN:
		return units_bytes(conn->moved.bytes_in, buf, room);
	case TOP_STATE:
		return state_text(conn->state);
	case TOP_COMMAND:
	case TOP_DEVICE:
	case TOP_PEER:
	case TOP_LOCAL:
		return or_dash(text_of(row, column));
	case TOP_OPS:
		return ops_text(row->known, row->rate.ops, buf, room);
	default:
		return bytes_text(row->known, number_of(row, column), buf, room);
	}
}

const char *top_device_cell(const struct snap_device *device, const struct rate *rate,
			    enum top_device_column column, char *buf, size_t room)
{
	bool retries = device->retries >= 0;

	switch (column) {
	case TOP_DEV_NAME:
		return or_dash(device->device);
	case TOP_DEV_CONNS:
		return count_text(device->conns, buf, room);
	case TOP_DEV_OUT:
		return bytes_text(rate, rate ? rate->out : 0, buf, room);
	case TOP_DEV_IN:
		return bytes_text(rate, rate ? rate->in : 0, buf, room);
	case TOP_DEV_OPS:
		return ops_text(rate, rate ? rate->ops : 0, buf, room);
	case TOP_DEV_ERRORS:
		return count_text(device->moved.errors, buf, room);
	case TOP_DEV_RETRIES:
		return ops_text(rate && retries, rate ? rate->retries : 0, buf, room);
	default:
		return retries ? count_text(device->retries, buf, room) : "-";
	}
}
