/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A diagram of something against size, as SVG: a line for each run. */
#ifndef KVERBS_TOOL_PLOT_H
#define KVERBS_TOOL_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#define PLOT_LINES_MAX 16

/**
 * struct plot_point - what is drawn of a row
 * @size: bytes
 * @value: in the unit of the diagram
 */
struct plot_point {
	double size;
	double value;
};

/**
 * struct plot_line - a run
 * @name: for the legend
 * @points: in the order in which they are joined
 * @nr_points: how many
 */
struct plot_line {
	char *name;
	struct plot_point *points;
	unsigned int nr_points;
};

/**
 * struct plot - a diagram; all zero is an empty one
 * @label: of its vertical axis, with the unit
 * @decades: that axis is logarithmic as the other one is, and begins above 0
 * @lines: the runs
 * @nr_lines: how many
 */
struct plot {
	const char *label;
	bool decades;
	struct plot_line lines[PLOT_LINES_MAX];
	unsigned int nr_lines;
};

/* Begin another line: 0, -ENOSPC or -ENOMEM. */
int plot_begin(struct plot *p, const char *name);
/* Another point of it: 0, -ENOMEM, or -EINVAL: it has no place in a diagram. */
int plot_add(struct plot *p, double size, double value);
/* Whether there is nothing to draw. */
bool plot_empty(const struct plot *p);
/* What is not empty. */
void plot_draw(const struct plot *p, FILE *to);
/* The same into a file: 0 or -errno; -EINVAL: it is empty. */
int plot_save(const struct plot *p, const char *path);
void plot_free(struct plot *p);

#endif /* KVERBS_TOOL_PLOT_H */
