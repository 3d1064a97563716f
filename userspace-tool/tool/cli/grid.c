// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/out.h"

void grid_init(struct grid *g)
{
	memset(g, 0, sizeof(*g));
}

static int grow(struct grid *g)
{
	void *cell = realloc(g->cell, (g->rows + 1) * GRID_COLUMNS * sizeof(*g->cell));
	int *last;

	if (!cell)
		return -ENOMEM;
	g->cell = cell;
	last = realloc(g->last, (g->rows + 1) * sizeof(*g->last));
	if (!last)
		return -ENOMEM;
	g->last = last;
	return 0;
}

void grid_row(struct grid *g)
{
	if (g->failed)
		return;
	g->failed = grow(g);
	if (g->failed)
		return;
	memset(g->cell + g->rows * GRID_COLUMNS, 0, GRID_COLUMNS * sizeof(*g->cell));
	g->last[g->rows++] = -1;
}

void grid_cell(struct grid *g, unsigned int column, const char *fmt, ...)
{
	va_list ap;

	if (g->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(g->cell[(g->rows - 1) * GRID_COLUMNS + column], sizeof(*g->cell), fmt, ap);
	va_end(ap);
	if (g->last[g->rows - 1] < (int)column)
		g->last[g->rows - 1] = column;
}

static void measure(const struct grid *g, size_t width[GRID_COLUMNS])
{
	unsigned int row;
	int column;
	size_t len;

	memset(width, 0, GRID_COLUMNS * sizeof(*width));
	for (row = 0; row < g->rows; row++)
		for (column = 0; column < g->last[row]; column++) {
			len = strlen(g->cell[row * GRID_COLUMNS + column]);
			width[column] = max(width[column], len);
		}
}

static void print_row(const struct grid *g, unsigned int row, const size_t *width)
{
	int column;

	for (column = 0; column < g->last[row]; column++)
		out_text("%-*s  ", (int)width[column], g->cell[row * GRID_COLUMNS + column]);
	if (g->last[row] >= 0)
		out_text("%s", g->cell[row * GRID_COLUMNS + g->last[row]]);
	out_text("\n");
}

int grid_print(struct grid *g)
{
	size_t width[GRID_COLUMNS];
	unsigned int row;
	int ret = g->failed;

	measure(g, width);
	for (row = 0; !ret && row < g->rows; row++)
		print_row(g, row, width);
	free(g->cell);
	free(g->last);
	return ret;
}
