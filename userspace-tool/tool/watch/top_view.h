/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Display and keys of kverbs top, on a screen in memory. */
#ifndef KVERBS_TOOL_TOP_VIEW_H
#define KVERBS_TOOL_TOP_VIEW_H

#include <stdbool.h>

#include "watch/snap.h"
#include "watch/top_rows.h"

#define TOP_MIN_DELAY_MS	100
#define TOP_MAX_DELAY_MS	(24 * 3600 * 1000)

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x1000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_BACKSPACE,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
};

/**
 * enum top_mode - what keys are for
 * @TOP_NORMAL: each does something
 * @TOP_HELP: any ends the explanation
 * @TOP_ASK_DELAY: they are the answer
 * @TOP_ASK_FILTER: the same
 */
enum top_mode {
	TOP_NORMAL,
	TOP_HELP,
	TOP_ASK_DELAY,
	TOP_ASK_FILTER,
};

/**
 * struct top_view - what is shown, and how
 * @now: the last look
 * @before: the one before
 * @looks: how many there were, up to 2
 * @device: only this one's connections, or NULL
 * @process: only these processes', or NULL
 * @word: only connections that have it, if it is not empty
 * @by: sorted by this column
 * @reverse: the other way
 * @delay_ms: between looks
 * @paused: no looks
 * @quit: no more
 * @mode: what keys are for
 * @typed: of an answer
 * @message: what went wrong, or empty
 * @clock: the time of day of the last look
 * @first: row at the top of the table
 * @page: rows that fit
 * @nr_rows: all rows
 * @wants: the most that columns have wanted so far, so that they do not jump
 * @device_wants: the same
 * @widths: of columns, as they were drawn
 */
struct top_view {
	struct snap now;
	struct snap before;
	unsigned int looks;
	const char *device;
	const char *process;
	char word[64];
	enum top_column by;
	bool reverse;
	int delay_ms;
	bool paused;
	bool quit;
	enum top_mode mode;
	char typed[64];
	char message[256];
	char clock[16];
	int first;
	int page;
	int nr_rows;
	unsigned int wants[TOP_COLUMNS];
	unsigned int device_wants[TOP_DEV_COLUMNS];
	unsigned int widths[TOP_COLUMNS];
};

void top_view_init(struct top_view *view);
void top_view_exit(struct top_view *view);
/* A look, which is the view's from now on. */
void top_view_look(struct top_view *view, struct snap *snap);
/* There is nothing to look at; it may come again. */
void top_view_lose(struct top_view *view, const char *message);
const struct snap *top_view_before(const struct top_view *view);
struct top_filter top_view_filter(const struct top_view *view);
void top_view_key(struct top_view *view, int key);
/* 0 or -ENOMEM. */
int top_view_draw(struct top_view *view, struct screen *screen);
/* The lines of all that there is to show. */
unsigned int top_view_height(const struct top_view *view);

#endif /* KVERBS_TOOL_TOP_VIEW_H */
