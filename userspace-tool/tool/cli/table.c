// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli/hist.h"
#include "cli/out.h"
#include "cli/table.h"

void row_int(struct json_object *row, const char *key, uint64_t v)
{
	json_object_object_add(row, key, json_object_new_int64(v));
}

void row_num(struct json_object *row, const char *key, double v)
{
	json_object_object_add(row, key, json_object_new_double(v));
}

void row_str(struct json_object *row, const char *key, const char *v)
{
	json_object_object_add(row, key, json_object_new_string(v));
}

void row_flag(struct json_object *row, const char *key, bool v)
{
	json_object_object_add(row, key, json_object_new_boolean(v));
}

void row_times(struct json_object *row, const struct hist *h)
{
	row_num(row, "t_min_us", h->rtt.min / 1e3);
	row_num(row, "t_max_us", h->rtt.max / 1e3);
	row_num(row, "t_typical_us", hist_us(h, 50));
	row_num(row, "t_avg_us", h->rtt.mean / 1e3);
	row_num(row, "t_stdev_us", rtt_mdev(&h->rtt) / 1e3);
	row_num(row, "p50_us", hist_us(h, 50));
	row_num(row, "p90_us", hist_us(h, 90));
	row_num(row, "p99_us", hist_us(h, 99));
	row_num(row, "p99_9_us", hist_us(h, 99.9));
	row_num(row, "p99_99_us", hist_us(h, 99.99));
}

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
