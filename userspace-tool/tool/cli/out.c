// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/err.h"
#include "cli/json.h"
#include "cli/out.h"

static const char *command_name = "";
static struct json_object *root;
/* Samples were printed: a good end needs no more words. */
static bool sampled;

static struct json_object *new_head(void)
{
	struct json_object *o = json_object_new_object();

	json_put_int(o, "schema", 1);
	json_put_str(o, "command", command_name);
	return o;
}

void out_begin(const char *command, bool json)
{
	sampled = false;
	command_name = command;
	root = json ? new_head() : NULL;
}

void out_want_json(void)
{
	if (!root)
		root = new_head();
}

bool out_is_json(void)
{
	return root;
}

struct json_object *out_root(void)
{
	return root;
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the character that begins here; 0: there is none. */
static size_t utf8_len(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || !is_tail(s[1]))
		return 0;
	if (s[0] < 0xe0)
		return 2;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || !is_tail(s[2]))
		return 0;
	if (s[0] < 0xf0)
		return 3;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90) || !is_tail(s[3]))
		return 0;
	return 4;
}

void out_make_utf8(char *text)
{
	size_t len;

	for (; *text; text += len) {
		len = utf8_len((unsigned char *)text);
		if (!len) {
			*text = '?';
			len = 1;
		}
	}
}

static struct json_object *failure(const struct err_last *last)
{
	struct json_object *o = json_object_new_object();
	char step[sizeof(last->step)];

	snprintf(step, sizeof(step), "%s", last->step);
	out_make_utf8(step);
	json_put_str(o, "step", step);
	json_put_str(o, "errno", err_name(last->err));
	json_put_str(o, "message", strerror(-last->err));
	if (last->remedy)
		json_put_str(o, "remedy", last->remedy);
	return o;
}

struct json_object *out_new_sample(void)
{
	return new_head();
}

void out_sample(struct json_object *sample)
{
	puts(json_object_to_json_string_ext(sample, JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(sample);
	sampled = true;
}

/* Print the object also after a failure: a reader of JSON always gets one. */
void out_end(int exit_status)
{
	const struct err_last *last = err_last();

	if (!root)
		return;
	json_put_str(root, "status", exit_status ? "failed" : "ok");
	json_put_int(root, "exit_status", exit_status);
	if (last)
		json_object_object_add(root, "error", failure(last));
	if (!sampled || exit_status)
		puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE |
						    (sampled ? JSON_C_TO_STRING_PLAIN :
							       JSON_C_TO_STRING_PRETTY)));
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
