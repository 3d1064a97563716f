// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What keys do. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
