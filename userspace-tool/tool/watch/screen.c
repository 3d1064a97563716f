// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "watch/screen.h"

static char *line_of(const struct screen *screen, unsigned int line)
{
	return screen->cells + (size_t)line * (screen->width + 1);
}

int screen_init(struct screen *screen, unsigned int width, unsigned int height)
{
	*screen = (struct screen){ .width = width, .height = height };
	screen->cells = calloc((size_t)(width + 1) * height + 1, 1);
	screen->looks = calloc(height + 1, sizeof(*screen->looks));
	if (!screen->cells || !screen->looks) {
		screen_free(screen);
		return -ENOMEM;
	}
	screen_clear(screen);
	return 0;
}

void screen_free(struct screen *screen)
{
	free(screen->cells);
	free(screen->looks);
	*screen = (struct screen){ };
}

void screen_clear(struct screen *screen)
{
	unsigned int i;

	for (i = 0; i < screen->height; i++) {
		memset(line_of(screen, i), ' ', screen->width);
		screen->looks[i] = SCREEN_PLAIN;
	}
}

void screen_look(struct screen *screen, unsigned int line, enum screen_look look)
{
	if (line < screen->height)
		screen->looks[line] = look;
}

void screen_text(struct screen *screen, unsigned int line, unsigned int column,
		 const char *text)
{
	if (line >= screen->height || column >= screen->width)
		return;
	memcpy(line_of(screen, line) + column, text,
	       min(strlen(text), (size_t)screen->width - column));
}

void screen_cell(struct screen *screen, unsigned int line, unsigned int column,
		 unsigned int width, bool right, const char *text)
{
	unsigned int length = strlen(text);
	char *to;

	if (line >= screen->height || column + width > screen->width || !width)
		return;
	to = line_of(screen, line) + column;
	if (length > width) {
		memcpy(to, text, width);
		to[width - 1] = '+';
	} else {
		memcpy(to + (right ? width - length : 0), text, length);
	}
}

const char *screen_line(const struct screen *screen, unsigned int line)
{
	return line < screen->height ? line_of(screen, line) : "";
}

static unsigned int least(const struct screen_column *column, unsigned int want)
{
	return column->min ? min(column->min, want) : want;
}

/* The first of those that are still out, or @nr. */
static unsigned int next_in_rank(const struct screen_column *columns, unsigned int nr,
				 unsigned int rank)
{
	unsigned int i, best = nr;

	for (i = 0; i < nr; i++)
		if (columns[i].rank > rank &&
		    (best == nr || columns[i].rank < columns[best].rank))
			best = i;
	return best;
}

void screen_fit(const struct screen_column *columns, unsigned int nr,
		const unsigned int *wants, unsigned int width, unsigned int *widths)
{
	unsigned int i, need, used = 0;

	memset(widths, 0, nr * sizeof(*widths));
	/* A column that does not fit ends it: none of a lower rank takes its place. */
	for (i = next_in_rank(columns, nr, 0); i < nr;
	     i = next_in_rank(columns, nr, columns[i].rank)) {
		need = least(&columns[i], wants[i]) + !!used;
		if (used + need > width)
			break;
		widths[i] = need - !!used;
		used += need;
	}
	for (i = next_in_rank(columns, nr, 0); i < nr;
	     i = next_in_rank(columns, nr, columns[i].rank)) {
		need = widths[i] ? min(wants[i] - widths[i], width - used) : 0;
		widths[i] += need;
		used += need;
	}
}
