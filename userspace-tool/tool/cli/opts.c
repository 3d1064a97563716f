// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/util.h"

#define OPTIONS_MAX 64
/* getopt_long() gives an option's number from here on, or -1, '?' or this. */
#define FIRST_OPTION 256
#define JSON_OPTION 255

static int shift_of(const char *suffix)
{
	static const char letters[] = "kmgt";
	const char *at;

	if (!*suffix)
		return 0;
	at = strchr(letters, tolower((unsigned char)*suffix));
	if (!at || suffix[1])
		return -1;
	return 10 * (at - letters + 1);
}

/* A number with K, M, G or T for powers of 1024. */
int opts_number(const char *name, const char *arg, uint64_t min, uint64_t max,
		uint64_t *value)
{
	char *end;
	uint64_t v;
	int shift;

	errno = 0;
	/* Not base 0: it would read 010 as 8. */
	v = strtoull(arg, &end, arg[0] == '0' && (arg[1] == 'x' || arg[1] == 'X') ? 16 : 10);
	shift = shift_of(end);
	if (errno || end == arg || shift < 0 || !isdigit((unsigned char)*arg) ||
	    v > UINT64_MAX >> shift || v << shift < min || v << shift > max) {
		err_usage("%s: '%s' is not a number from %" PRIu64 " to %" PRIu64,
			  name, arg, min, max);
		return -EINVAL;
	}
	*value = v << shift;
	return 0;
}

int opts_real(const char *name, const char *arg, double *value)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(arg, &end);
	if (errno || end == arg || *end || !(v > 0 && v < 1e18)) {
		err_usage("%s: '%s' is not a number above 0", name, arg);
		return -EINVAL;
	}
	*value = v;
	return 0;
}

/* Seconds, maybe with a fraction; the bounds are milliseconds. */
int opts_millis(const char *name, const char *arg, int min, int max, int *ms)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(arg, &end);
	if (errno || end == arg || *end || !(s * 1000 >= min && s * 1000 <= max)) {
		err_usage("%s: '%s' is not a time from %g to %g seconds", name, arg,
			  min / 1000., max / 1000.);
		return -EINVAL;
	}
	*ms = s * 1000 + 0.5;
	return 0;
}

/* As the resolver reads it: decimal, whatever it begins with. */
int opts_port(const char *name, const char *arg, const char **port)
{
	unsigned long v;

	errno = 0;
	v = strtoul(arg, NULL, 10);
	if (errno || !*arg || arg[strspn(arg, "0123456789")] || v > 65535) {
		err_usage("%s: '%s' is not a port from 0 to 65535", name, arg);
		return -EINVAL;
	}
	*port = arg;
	return 0;
}

static int add_word(const char *name, const char *arg, unsigned char tag,
		    struct opts_many *many)
{
	if (many->nr == OPTS_MANY_MAX) {
		err_usage("%s is given more than %d times", name, OPTS_MANY_MAX);
		return -EINVAL;
	}
	many->tags[many->nr] = tag;
	many->words[many->nr++] = arg;
	return 0;
}

static int take(const struct opts_option *o, const char *arg, char *to)
{
	char name[32];

	snprintf(name, sizeof(name), "--%s", o->name);
	switch (o->kind) {
	case OPTS_SET:
	case OPTS_CLEAR:
		*(bool *)(to + o->at) = o->kind == OPTS_SET;
		return 0;
	case OPTS_TEXT:
		*(const char **)(to + o->at) = arg;
		return 0;
	case OPTS_MANY:
		return add_word(name, arg, o->min, (struct opts_many *)(to + o->at));
	case OPTS_PORT:
		return opts_port(name, arg, (const char **)(to + o->at));
	case OPTS_NUMBER:
		return opts_number(name, arg, o->min, o->max, (uint64_t *)(to + o->at));
	case OPTS_REAL:
		return opts_real(name, arg, (double *)(to + o->at));
	case OPTS_MILLIS:
		return opts_millis(name, arg, o->min, o->max, (int *)(to + o->at));
	}
	return -EINVAL;
}

static bool has_argument(const struct opts_option *o)
{
	return o->kind != OPTS_SET && o->kind != OPTS_CLEAR;
}

/* The tables that getopt_long() wants. Returns how many options there are. */
static int translate(const struct opts_option *options, struct option *longs, char *shorts)
{
	int i;

	for (i = 0; options[i].name && i < OPTIONS_MAX; i++) {
		longs[i] = (struct option){
			.name = options[i].name,
			.has_arg = has_argument(&options[i]),
			.val = FIRST_OPTION + i,
		};
		if (options[i].letter)
			*shorts++ = options[i].letter;
		if (options[i].letter && has_argument(&options[i]))
			*shorts++ = ':';
	}
	longs[i] = (struct option){ .name = "json", .val = JSON_OPTION };
	strcpy(shorts, "j");
	return i;
}

static int find(const struct opts_option *options, int nr, int c)
{
	int i;

	if (c >= FIRST_OPTION)
		return c - FIRST_OPTION;
	for (i = 0; i < nr; i++)
		if (options[i].letter == c)
			return i;
	return -1;
}

/* JSON also where main() did not see it: in a cluster of letters, or cut short. */
static int take_found(const struct opts_option *options, int nr, int c, void *to)
{
	int i;

	if (c == 'j' || c == JSON_OPTION) {
		out_want_json();
		return 0;
	}
	i = find(options, nr, c);
	if (i < 0) {
		err_usage("wrong option");
		return -EINVAL;
	}
	return take(&options[i], optarg, to);
}

int opts_parse(int argc, char **argv, const struct opts_option *options, void *to)
{
	struct option longs[OPTIONS_MAX + 2] = {};
	char shorts[2 * OPTIONS_MAX + 2];
	int nr = translate(options, longs, shorts), c;

	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		if (take_found(options, nr, c, to))
			return -EINVAL;
	return optind;
}

static int width_of(const struct opts_option *o)
{
	return strlen("  -x, --") + strlen(o->name) + (o->arg ? 1 + strlen(o->arg) : 0);
}

static void print_option(FILE *to, const struct opts_option *o, int column)
{
	const char *text = o->help, *end;
	int at;

	at = o->letter ? fprintf(to, "  -%c, ", o->letter) : fprintf(to, "      ");
	at += fprintf(to, o->arg ? "--%s %s" : "--%s", o->name, o->arg);
	for (; text; text = *end ? end + 1 : NULL) {
		end = strchrnul(text, '\n');
		fprintf(to, "%*s%.*s\n", column - at, "", (int)(end - text), text);
		at = 0;
	}
}

/* Options of all commands, with the texts that a command has for --json. */
#define COMMON_OPTIONS(_json, _json_doc)					\
	{									\
		{ .name = "json", .letter = 'j', .help = (_json), .doc = (_json_doc) },	\
		{ .name = "help", .letter = 'h', .help = "print this text",	\
		  .doc = "Print a summary of the options." },			\
		{ }								\
	}

void opts_print(FILE *to, const struct opts_option *options, const char *json)
{
	const struct opts_option common[] = COMMON_OPTIONS(json, NULL);
	const struct opts_option *o;
	int column = 0;

	for (o = options; o->name; o++)
		column = max(column, width_of(o) + 2);
	for (o = options; o->name; o++)
		print_option(to, o, column);
	for (o = common; o->name; o++)
		print_option(to, o, column);
}

static void print_rst(FILE *to, const struct opts_option *o)
{
	const char *text = o->doc, *end;

	fprintf(to, ".. option:: ");
	if (o->letter)
		fprintf(to, "-%c, ", o->letter);
	fprintf(to, o->arg ? "--%s %s\n\n" : "--%s\n\n", o->name, o->arg);
	for (; text; text = *end ? end + 1 : NULL) {
		end = strchrnul(text, '\n');
		fprintf(to, "   %.*s\n", (int)(end - text), text);
	}
	fputc('\n', to);
}

void opts_print_rst(FILE *to, const struct opts_option *options, const char *json_doc)
{
	const struct opts_option common[] = COMMON_OPTIONS(NULL, json_doc);
	const struct opts_option *o;

	for (o = options; o->name; o++)
		print_rst(to, o);
	for (o = common; o->name; o++)
		print_rst(to, o);
}

static void print_words(FILE *to, const struct opts_option *o)
{
	const char *colon = o->arg ? ":" : "", *arg = o->arg ? o->arg : "";

	if (o->letter)
		fprintf(to, "-%c%s%s ", o->letter, colon, arg);
	fprintf(to, "--%s%s%s ", o->name, colon, arg);
}

void opts_print_words(FILE *to, const struct opts_option *options)
{
	const struct opts_option common[] = COMMON_OPTIONS(NULL, NULL);
	const struct opts_option *o;

	for (o = options; o->name; o++)
		print_words(to, o);
	for (o = common; o->name; o++)
		print_words(to, o);
}
