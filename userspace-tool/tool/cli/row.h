/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A row of a result in JSON: values, whose keys say their units. */
#ifndef KVERBS_TOOL_ROW_H
#define KVERBS_TOOL_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct hist;
struct json_object;

void row_int(struct json_object *row, const char *key, uint64_t v);
void row_num(struct json_object *row, const char *key, double v);
void row_str(struct json_object *row, const char *key, const char *v);
void row_flag(struct json_object *row, const char *key, bool v);
/* What a histogram tells, in microseconds. */
void row_times(struct json_object *row, const struct hist *h);

#endif /* KVERBS_TOOL_ROW_H */
