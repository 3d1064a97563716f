/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Members of a JSON object; a key names the unit of its value. */
#ifndef KVERBS_TOOL_JSON_H
#define KVERBS_TOOL_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct hist;
struct json_object;

void json_put_int(struct json_object *row, const char *key, uint64_t v);
void json_put_num(struct json_object *row, const char *key, double v);
void json_put_str(struct json_object *row, const char *key, const char *v);
void json_put_flag(struct json_object *row, const char *key, bool v);
/* Statistics of a histogram, in microseconds. */
void json_put_times(struct json_object *row, const struct hist *h);

#endif /* KVERBS_TOOL_JSON_H */
