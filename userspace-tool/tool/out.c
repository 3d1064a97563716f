// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "err.h"
#include "out.h"

static struct json_object *root;

void out_begin(const char *command, bool json)
{
	if (!json)
		return;
	root = json_object_new_object();
	json_object_object_add(root, "schema", json_object_new_int(1));
	json_object_object_add(root, "command", json_object_new_string(command));
}

bool out_is_json(void)
{
	return root;
}

struct json_object *out_root(void)
{
	return root;
}

static struct json_object *failure(const struct err_last *last)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "step", json_object_new_string(last->step));
	json_object_object_add(o, "errno", json_object_new_string(err_name(last->err)));
	json_object_object_add(o, "message",
			       json_object_new_string(strerror(-last->err)));
	if (last->remedy)
		json_object_object_add(o, "remedy",
				       json_object_new_string(last->remedy));
	return o;
}

/* Print the object, failed or not: whoever reads JSON always gets some. */
void out_end(int exit_status)
{
	const struct err_last *last = err_last();

	if (!root)
		return;
	json_object_object_add(root, "status",
			       json_object_new_string(exit_status ? "failed" : "ok"));
	json_object_object_add(root, "exit_status", json_object_new_int(exit_status));
	if (last)
		json_object_object_add(root, "error", failure(last));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
						  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	root = NULL;
}

void out_text(const char *fmt, ...)
{
	va_list ap;

	if (root)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fflush(stdout);
}
