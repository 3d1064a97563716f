// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/json.h"
#include "cli/out.h"
#include "doctor/finding.h"

#define WIDTH 80
#define WIDTH_MIN 40u
/* "protocol  not asked  " */
#define ID_WIDTH 10
#define VERDICT_WIDTH 11
#define INDENT (ID_WIDTH + VERDICT_WIDTH)

void finding_set(struct finding *f, enum finding_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	f->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(f->seen, sizeof(f->seen), fmt, ap);
	va_end(ap);
}

void finding_mend(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	if (f->nr == FINDING_COMMANDS)
		return;
	va_start(ap, fmt);
	vsnprintf(f->remedy[f->nr++], sizeof(f->remedy[0]), fmt, ap);
	va_end(ap);
}

void finding_advise(struct finding *f, const char *fmt, ...)
{
	size_t len = strlen(f->advice);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->advice + len, sizeof(f->advice) - len, fmt, ap);
	va_end(ap);
}

const char *finding_verdict_name(enum finding_verdict verdict)
{
	static const char * const names[] = {
		[FINDING_SKIP] = "not asked",
		[FINDING_OK] = "ok",
		[FINDING_WARN] = "warn",
		[FINDING_FAIL] = "fail",
	};

	return names[verdict];
}

unsigned int finding_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH;
	return size.ws_col > WIDTH_MIN ? size.ws_col : WIDTH_MIN;
}

/* Words from the indent on, as many as fit in a line. */
static void print_words(const char *text, unsigned int width)
{
	unsigned int at = INDENT;
	size_t len;

	while (*text) {
		len = strcspn(text, " ");
		if (at > INDENT && at + 1 + len > width) {
			out_text("\n%*s", INDENT, "");
			at = INDENT;
		}
		out_text("%s%.*s", at > INDENT ? " " : "", (int)len, text);
		at += (at > INDENT) + len;
		text += len + (text[len] == ' ');
	}
	out_text("\n");
}

/* In one piece, to be copied: further left if it has no room. */
static void print_command(const char *command, unsigned int width)
{
	unsigned int indent = INDENT + 2;

	while (indent > 4 && indent + strlen(command) > width)
		indent -= 2;
	out_text("%*s%s\n", indent, "", command);
}

/* Advice that ends with a colon leads to them. */
static void print_commands(const struct finding *f, const char *host, unsigned int width)
{
	size_t len = strlen(f->advice);
	unsigned int i;

	if (f->there)
		out_text("%*sFix it on %s with:\n", INDENT, "", host);
	else if (!len || f->advice[len - 1] != ':')
		out_text("%*sFix it with:\n", INDENT, "");
	for (i = 0; i < f->nr; i++)
		print_command(f->remedy[i], width);
}

void finding_print(const struct finding *f, const char *id, const char *host,
		   unsigned int width)
{
	out_text("%-*s%-*s", ID_WIDTH, id, VERDICT_WIDTH,
		 finding_verdict_name(f->verdict));
	print_words(f->seen, width);
	if (*f->advice) {
		out_text("%*s", INDENT, "");
		print_words(f->advice, width);
	}
	if (f->nr)
		print_commands(f, host, width);
}

struct json_object *finding_json(const struct finding *f, const char *id, const char *host)
{
	struct json_object *o = json_object_new_object();
	struct json_object *remedy = json_object_new_array();
	unsigned int i;

	json_put_str(o, "id", id);
	json_put_str(o, "verdict", finding_verdict_name(f->verdict));
	json_put_str(o, "seen", f->seen);
	for (i = 0; i < f->nr; i++)
		json_object_array_add(remedy, json_object_new_string(f->remedy[i]));
	json_object_object_add(o, "remedy", remedy);
	if (f->there && f->nr)
		json_put_str(o, "remedy_on", host);
	if (*f->advice)
		json_put_str(o, "advice", f->advice);
	return o;
}
