// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>

#include "cli/hist.h"
#include "cli/out.h"
#include "cli/table.h"

void table_head(const char *const *columns)
{
	for (; *columns; columns++)
		table_cell(*columns, *columns);
	out_text("\n");
}

void table_cell(const char *column, const char *text)
{
	out_text(" %-*s ", (int)strlen(column), text);
}

void table_number(const char *column, int digits, double v)
{
	char text[48];

	snprintf(text, sizeof(text), "%.*f", digits, v);
	table_cell(column, text);
}

void table_times(const char *const *columns, const struct hist *h)
{
	const double v[] = {
		h->rtt.min / 1e3, h->rtt.max / 1e3, hist_us(h, 50), h->rtt.mean / 1e3,
		rtt_mdev(&h->rtt) / 1e3, hist_us(h, 90), hist_us(h, 99), hist_us(h, 99.9),
		hist_us(h, 99.99),
	};
	unsigned int i;

	for (i = 0; columns[i]; i++)
		table_number(columns[i], 2, v[i]);
	out_text("\n");
}
