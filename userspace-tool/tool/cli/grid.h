/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Text in columns that are as wide as what stands in them. */
#ifndef KVERBS_TOOL_GRID_H
#define KVERBS_TOOL_GRID_H

#include "cli/util.h"

#define GRID_COLUMNS 12
#define GRID_CELL 80

/**
 * struct grid - rows, kept until all widths are known
 * @cell: rows times GRID_COLUMNS
 * @last: in each row the last cell that was filled in, -1: none
 * @rows: how many
 * @failed: there was no memory for one
 */
struct grid {
	char (*cell)[GRID_CELL];
	int *last;
	unsigned int rows;
	int failed;
};

void grid_init(struct grid *g);
void grid_row(struct grid *g);
/* In the last row; the last cell of a row may be wider than its column. */
void grid_cell(struct grid *g, unsigned int column, const char *fmt, ...) __printf(3, 4);
/* 0 or -ENOMEM, and then nothing is printed. Frees it. */
int grid_print(struct grid *g);

#endif /* KVERBS_TOOL_GRID_H */
