// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "cli/util.h"
#include "watch/top_view.h"

/* Letters to sort by. */
static const struct {
	char letter;
	enum top_column by;
} sorts[] = {
	{ 'O', TOP_OUT },
	{ 'I', TOP_IN },
	{ 'T', TOP_BOTH },
	{ 'N', TOP_OPS },
	{ 'E', TOP_ERRORS },
	{ 'S', TOP_SQ },
	{ 'U', TOP_RQ },
	{ 'P', TOP_PID },
	{ 'C', TOP_COMMAND },
	{ 'D', TOP_DEVICE },
	{ 'A', TOP_PEER },
};

static void sort_by_letter(struct top_view *view, int key)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sorts); i++)
		if (sorts[i].letter == key)
			view->by = sorts[i].by;
}

/* The next column that is seen, from one that may be hidden. */
static void sort_beside(struct top_view *view, int step)
{
	int by = view->by;

	do
		by += step;
	while (by >= 0 && by < TOP_COLUMNS && !view->widths[by]);
	if (by >= 0 && by < TOP_COLUMNS)
		view->by = by;
}

static void scroll(struct top_view *view, int by)
{
	view->first = max(min(view->first + by, view->nr_rows - view->page), 0);
}

static void ask(struct top_view *view, enum top_mode mode)
{
	view->mode = mode;
	view->typed[0] = 0;
	view->message[0] = 0;
}

static void answer_delay(struct top_view *view)
{
	char *end;
	double ms = strtod(view->typed, &end) * 1000;

	if (!*view->typed)
		return;
	if (*end || !(ms >= TOP_MIN_DELAY_MS && ms <= TOP_MAX_DELAY_MS))
		snprintf(view->message, sizeof(view->message),
			 "'%s' is not a time from %g to %g seconds", view->typed,
			 TOP_MIN_DELAY_MS / 1e3, TOP_MAX_DELAY_MS / 1e3);
	else
		view->delay_ms = ms + 0.5;
}

static void answer(struct top_view *view)
{
	if (view->mode == TOP_ASK_DELAY)
		answer_delay(view);
	else
		snprintf(view->word, sizeof(view->word), "%s", view->typed);
	view->mode = TOP_NORMAL;
}

static void type(struct top_view *view, int key)
{
	size_t length = strlen(view->typed);

	if (key == TOP_KEY_ENTER) {
		answer(view);
	} else if (key == TOP_KEY_ESCAPE) {
		view->mode = TOP_NORMAL;
	} else if (key == TOP_KEY_BACKSPACE) {
		view->typed[length ? length - 1 : 0] = 0;
	} else if (key < 0x80 && isprint(key) && length + 1 < sizeof(view->typed)) {
		view->typed[length] = key;
		view->typed[length + 1] = 0;
	}
}

static void move(struct top_view *view, int key)
{
	switch (key) {
	case '<':
	case TOP_KEY_LEFT:
		sort_beside(view, -1);
		break;
	case '>':
	case TOP_KEY_RIGHT:
		sort_beside(view, 1);
		break;
	case TOP_KEY_UP:
		scroll(view, -1);
		break;
	case TOP_KEY_DOWN:
		scroll(view, 1);
		break;
	case TOP_KEY_PAGE_UP:
		scroll(view, -view->page);
		break;
	case TOP_KEY_PAGE_DOWN:
		scroll(view, view->page);
		break;
	case TOP_KEY_HOME:
		scroll(view, -view->nr_rows);
		break;
	case TOP_KEY_END:
		scroll(view, view->nr_rows);
		break;
	default:
		sort_by_letter(view, key);
	}
}

static void command(struct top_view *view, int key)
{
	switch (key) {
	case 'q':
		view->quit = true;
		break;
	case 'h':
	case '?':
		view->mode = TOP_HELP;
		break;
	case 'p':
	case ' ':
		view->paused = !view->paused;
		break;
	case 'r':
	case 'R':
		view->reverse = !view->reverse;
		break;
	case 'd':
	case 's':
		ask(view, TOP_ASK_DELAY);
		break;
	case 'f':
		ask(view, TOP_ASK_FILTER);
		break;
	default:
		move(view, key);
	}
}

void top_view_key(struct top_view *view, int key)
{
	if (view->mode == TOP_HELP)
		view->mode = TOP_NORMAL;
	else if (view->mode != TOP_NORMAL)
		type(view, key);
	else
		command(view, key);
}

/* Rates have room for "999.9 MB" from the beginning. */
#define BYTES_WIDTH	8
#define COUNT_WIDTH	6

void top_view_init(struct top_view *view)
{
	*view = (struct top_view){ .by = TOP_BOTH, .delay_ms = 2000 };
}

void top_view_exit(struct top_view *view)
{
	snap_free(&view->now);
	snap_free(&view->before);
}

void top_view_look(struct top_view *view, struct snap *snap)
{
	snap_free(&view->before);
	view->before = view->now;
	view->now = *snap;
	*snap = (struct snap){ };
	view->looks = min(view->looks + 1, 2u);
	view->message[0] = 0;
}

void top_view_lose(struct top_view *view, const char *message)
{
	snap_free(&view->before);
	snap_free(&view->now);
	view->looks = 0;
	snprintf(view->message, sizeof(view->message), "%s", message);
}

const struct snap *top_view_before(const struct top_view *view)
{
	return view->looks > 1 ? &view->before : NULL;
}

struct top_filter top_view_filter(const struct top_view *view)
{
	return (struct top_filter){
		.device = view->device,
		.process = view->process,
		.word = *view->word ? view->word : NULL,
	};
}

/* Title, message, head of the connections, and the devices with theirs. */
unsigned int top_view_height(const struct top_view *view)
{
	return 3 + (view->now.nr_devices ? view->now.nr_devices + 1 : 0) + view->now.nr;
}

/**
 * struct table - what a table is made of
 * @columns: its columns
 * @nr: how many
 * @widths: theirs
 */
struct table {
	const struct screen_column *columns;
	unsigned int nr;
	const unsigned int *widths;
};

static void draw_cell(struct screen *screen, unsigned int line, const struct table *table,
		      unsigned int *at, unsigned int column, const char *text)
{
	unsigned int width = table->widths[column];

	if (!width)
		return;
	screen_cell(screen, line, *at, width, table->columns[column].right, text);
	*at += width + 1;
}

static void draw_head(struct screen *screen, unsigned int line, const struct table *table)
{
	unsigned int i, at = 0;

	for (i = 0; i < table->nr; i++)
		draw_cell(screen, line, table, &at, i, table->columns[i].title);
	screen_look(screen, line, SCREEN_REVERSE);
}

static void want(unsigned int *wants, unsigned int width)
{
	*wants = max(*wants, width);
}

static const struct rate *device_rate(const struct top_view *view, unsigned int i,
				      struct rate *rate)
{
	const struct snap *before = top_view_before(view);

	if (!before)
		return NULL;
	*rate = rate_device(&view->now, before, &view->now.devices[i]);
	return rate;
}

static void want_device(struct top_view *view, unsigned int i)
{
	char buf[UNITS_LEN];
	struct rate rate;
	const struct rate *known = device_rate(view, i, &rate);
	unsigned int c;

	for (c = 0; c < TOP_DEV_COLUMNS; c++)
		want(&view->device_wants[c],
		     strlen(top_device_cell(&view->now.devices[i], known, c, buf,
					    sizeof(buf))));
}

static void draw_device(struct top_view *view, struct screen *screen, unsigned int line,
			const struct table *table, unsigned int i)
{
	char buf[UNITS_LEN];
	struct rate rate;
	const struct rate *known = device_rate(view, i, &rate);
	unsigned int c, at = 0;

	for (c = 0; c < TOP_DEV_COLUMNS; c++)
		draw_cell(screen, line, table, &at, c,
			  top_device_cell(&view->now.devices[i], known, c, buf,
					  sizeof(buf)));
}

/* Returns the line below. */
static unsigned int draw_devices(struct top_view *view, struct screen *screen,
				 unsigned int line)
{
	unsigned int widths[TOP_DEV_COLUMNS];
	const struct table table = { top_device_columns, TOP_DEV_COLUMNS, widths };
	unsigned int i;

	if (!view->now.nr_devices)
		return line;
	for (i = 0; i < TOP_DEV_COLUMNS; i++)
		want(&view->device_wants[i], strlen(top_device_columns[i].title));
	want(&view->device_wants[TOP_DEV_OUT], BYTES_WIDTH);
	want(&view->device_wants[TOP_DEV_IN], BYTES_WIDTH);
	want(&view->device_wants[TOP_DEV_OPS], COUNT_WIDTH);
	for (i = 0; i < view->now.nr_devices; i++)
		want_device(view, i);
	screen_fit(top_device_columns, TOP_DEV_COLUMNS, view->device_wants, screen->width,
		   widths);
	draw_head(screen, line++, &table);
	for (i = 0; i < view->now.nr_devices; i++)
		draw_device(view, screen, line++, &table, i);
	return line;
}

static void want_conns(struct top_view *view, const struct top_row *rows, int nr)
{
	char buf[UNITS_LEN];
	unsigned int c;
	int i;

	for (c = 0; c < TOP_COLUMNS; c++) {
		want(&view->wants[c], strlen(top_columns[c].title));
		for (i = 0; i < nr; i++)
			want(&view->wants[c], strlen(top_cell(&rows[i], c, buf, sizeof(buf))));
	}
	want(&view->wants[TOP_OUT], BYTES_WIDTH);
	want(&view->wants[TOP_IN], BYTES_WIDTH);
	want(&view->wants[TOP_BOTH], BYTES_WIDTH);
	want(&view->wants[TOP_OPS], COUNT_WIDTH);
}

/* Rows may have gone since it was scrolled. */
static void settle(struct top_view *view, struct screen *screen, unsigned int line, int nr)
{
	view->nr_rows = nr;
	view->page = screen->height > line ? screen->height - line : 0;
	view->first = max(min(view->first, nr - view->page), 0);
}

static void draw_conns(struct top_view *view, struct screen *screen, unsigned int line,
		       const struct top_row *rows, int nr)
{
	const struct table table = { top_columns, TOP_COLUMNS, view->widths };
	char buf[UNITS_LEN];
	unsigned int c, at;
	int i;

	want_conns(view, rows, nr);
	screen_fit(top_columns, TOP_COLUMNS, view->wants, screen->width, view->widths);
	draw_head(screen, line++, &table);
	settle(view, screen, line, nr);
	for (i = view->first; i < nr && line < screen->height; i++, line++) {
		at = 0;
		for (c = 0; c < TOP_COLUMNS; c++)
			draw_cell(screen, line, &table, &at, c,
				  top_cell(&rows[i], c, buf, sizeof(buf)));
	}
}

static void draw_title(const struct top_view *view, struct screen *screen)
{
	char text[256];

	snprintf(text, sizeof(text), "kverbs top - %s, %u connections, every %g s, by %s%s%s%s%s",
		 view->clock, view->now.nr, view->delay_ms / 1e3, top_columns[view->by].title,
		 view->reverse ? " reversed" : "", *view->word ? ", only " : "", view->word,
		 view->paused ? ", PAUSED" : "");
	screen_text(screen, 0, 0, text);
	screen_look(screen, 0, SCREEN_BOLD);
}

/* Draw the question or the error message, if any. */
static void draw_message(const struct top_view *view, struct screen *screen,
			 unsigned int line)
{
	static const char *const questions[] = {
		[TOP_ASK_DELAY] = "Seconds between updates: ",
		[TOP_ASK_FILTER] = "Show only this device, name, pid or peer: ",
	};
	char text[256];

	if (view->mode == TOP_ASK_DELAY || view->mode == TOP_ASK_FILTER)
		snprintf(text, sizeof(text), "%s%s_", questions[view->mode], view->typed);
	else
		snprintf(text, sizeof(text), "%s", view->message);
	screen_text(screen, line, 0, text);
	screen_look(screen, line, SCREEN_BOLD);
}

static void draw_help(struct screen *screen)
{
	static const char *const lines[] = {
		"kverbs top: rates of this host's RDMA connections, per second",
		"",
		"  O I T    sort by bytes out, bytes in, both",
		"  N E      sort by operations, errors",
		"  S U      sort by work outstanding: sends (SQ), receives (RQ)",
		"  P C D A  sort by pid, command, device, address of the peer",
		"  < >      sort by the column to the left, to the right",
		"  r        reverse the order",
		"",
		"  d        change the delay",
		"  f        show only lines with a word; an empty word shows all",
		"  space p  pause, continue",
		"  up down PgUp PgDn Home End   scroll",
		"  h ?      this text",
		"  q        quit",
		"",
		"OUT/s, IN/s: payload to the peer, from it. ERR: operations that failed.",
		"RETRIES: requests that the device has sent again, counted by its driver,",
		"for all its users; - if the driver does not count them.",
		"",
		"Press any key to return.",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		screen_text(screen, i, 0, lines[i]);
}

int top_view_draw(struct top_view *view, struct screen *screen)
{
	const struct top_filter filter = top_view_filter(view);
	struct top_row *rows;
	unsigned int line;
	int nr;

	screen_clear(screen);
	if (view->mode == TOP_HELP) {
		draw_help(screen);
		return 0;
	}
	nr = top_rows(&view->now, top_view_before(view), &filter, &rows);
	if (nr < 0)
		return nr;
	top_sort(rows, nr, view->by, view->reverse);
	draw_title(view, screen);
	line = draw_devices(view, screen, 1);
	draw_message(view, screen, line++);
	draw_conns(view, screen, line, rows, nr);
	free(rows);
	return 0;
}
