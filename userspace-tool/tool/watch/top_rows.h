/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The rows of kverbs top: which connections, in which order, in which words. */
#ifndef KVERBS_TOOL_TOP_ROWS_H
#define KVERBS_TOOL_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "watch/rate.h"
#include "watch/screen.h"

struct snap;
struct snap_conn;
struct snap_device;

/* As they stand on the screen. */
enum top_column {
	TOP_PID,
	TOP_COMMAND,
	TOP_CONN,
	TOP_DEVICE,
	TOP_QP,
	TOP_STATE,
	TOP_OUT,
	TOP_IN,
	TOP_BOTH,
	TOP_OPS,
	TOP_SQ,
	TOP_RQ,
	TOP_ERRORS,
	TOP_PEER,
	TOP_LOCAL,
	TOP_SUM_OUT,
	TOP_SUM_IN,
	TOP_COLUMNS,
};

enum top_device_column {
	TOP_DEV_NAME,
	TOP_DEV_CONNS,
	TOP_DEV_OUT,
	TOP_DEV_IN,
	TOP_DEV_OPS,
	TOP_DEV_ERRORS,
	TOP_DEV_RETRIES,
	TOP_DEV_RETRIES_SUM,
	TOP_DEV_COLUMNS,
};

extern const struct screen_column top_columns[TOP_COLUMNS];
extern const struct screen_column top_device_columns[TOP_DEV_COLUMNS];

/**
 * struct top_row - a connection to be shown
 * @conn: the connection
 * @known: there was a look before, so that there is a rate
 * @rate: what it does in a second
 */
struct top_row {
	const struct snap_conn *conn;
	bool known;
	struct rate rate;
};

/**
 * struct top_filter - what is shown
 * @device: only what is on that device; NULL: on any
 * @process: only of processes with that pid or name; NULL: of all
 * @word: a number: only that pid or the peer's port; else only connections with it in their
 *        device, command or peer; empty: all
 */
struct top_filter {
	const char *device;
	const char *process;
	const char *word;
};

/*
 * The connections of @now that pass. Returns their number, or -ENOMEM. The rows are the
 * caller's to free, and good as long as @now. @before: NULL if there was no look before.
 */
int top_rows(const struct snap *now, const struct snap *before,
	     const struct top_filter *filter, struct top_row **rows);
/* Numbers from the largest down, words and pids up; @reverse: the other way. */
void top_sort(struct top_row *rows, int nr, enum top_column by, bool reverse);
const char *top_cell(const struct top_row *row, enum top_column column, char *buf,
		     size_t room);
const char *top_device_cell(const struct snap_device *device, const struct rate *rate,
			    enum top_device_column column, char *buf, size_t room);

#endif /* KVERBS_TOOL_TOP_ROWS_H */
