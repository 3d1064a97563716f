/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tables for people: a cell is as wide as what stands above it. */
#ifndef KVERBS_TOOL_TABLE_H
#define KVERBS_TOOL_TABLE_H

struct hist;

/* perftest's words for what a histogram tells. */
#define TABLE_TIMES								\
	"t_min[usec]", "t_max[usec]", "t_typical[usec]", "t_avg[usec]",		\
	"t_stdev[usec]", "90% percentile[usec]", "99% percentile[usec]",	\
	"99.9% percentile[usec]", "99.99% percentile[usec]"

/* Columns go up to NULL. */
void table_head(const char *const *columns);
void table_cell(const char *column, const char *text);
void table_number(const char *column, int digits, double v);
/* The last cells of a line; @columns begins with TABLE_TIMES. */
void table_times(const char *const *columns, const struct hist *h);

#endif /* KVERBS_TOOL_TABLE_H */
