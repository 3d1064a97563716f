/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The result of a command: text as it goes, or JSON: one object at the end, or samples. */
#ifndef KVERBS_TOOL_OUT_H
#define KVERBS_TOOL_OUT_H

#include <stdbool.h>

#include "cli/util.h"

struct json_object;

void out_begin(const char *command, bool json);
/* JSON after all, if nothing has been said yet. */
void out_want_json(void);
bool out_is_json(void);
struct json_object *out_root(void);
/*
 * For what has no end, when JSON was asked for: an object of its own to a line, at once.
 * out_sample() puts it.
 */
struct json_object *out_new_sample(void);
void out_sample(struct json_object *sample);
void out_end(int exit_status);

/* Whatever is no UTF-8 becomes question marks. */
void out_make_utf8(char *text);

/* Text for people; nothing when JSON was asked for. */
void out_text(const char *fmt, ...) __printf(1, 2);

#endif /* KVERBS_TOOL_OUT_H */
