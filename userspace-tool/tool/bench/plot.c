// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a diagram is made of. How it looks is in plot_svg.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plot.h"

#define VALUE_MAX 1e18

int plot_begin(struct plot *p, const char *name)
{
	struct plot_line *line = &p->lines[p->nr_lines];

	if (p->nr_lines == PLOT_LINES_MAX)
		return -ENOSPC;
	line->name = strdup(name);
	if (!line->name)
		return -ENOMEM;
	p->nr_lines++;
	return 0;
}

static bool has_place(double v)
{
	return v > 1 / VALUE_MAX && v < VALUE_MAX;
}

int plot_add(struct plot *p, double size, double value)
{
	struct plot_line *line = &p->lines[p->nr_lines - 1];
	struct plot_point *points;

	if (!has_place(size) || !has_place(value))
		return -EINVAL;
	points = realloc(line->points, (line->nr_points + 1) * sizeof(*points));
	if (!points)
		return -ENOMEM;
	line->points = points;
	points[line->nr_points++] = (struct plot_point){ .size = size, .value = value };
	return 0;
}

bool plot_empty(const struct plot *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_lines; i++)
		if (p->lines[i].nr_points)
			return false;
	return true;
}

int plot_save(const struct plot *p, const char *path)
{
	FILE *f;
	int ret;

	if (plot_empty(p))
		return -EINVAL;
	f = fopen(path, "w");
	if (!f)
		return -errno;
	plot_draw(p, f);
	ret = ferror(f) ? -EIO : 0;
	if (fclose(f))
		ret = -errno;
	return ret;
}

void plot_free(struct plot *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_lines; i++) {
		free(p->lines[i].name);
		free(p->lines[i].points);
	}
	memset(p, 0, sizeof(*p));
}
