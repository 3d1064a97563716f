/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Options: a command has a table of them, and a struct that they fill. */
#ifndef KVERBS_TOOL_OPTS_H
#define KVERBS_TOOL_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Argument of an option, and the member that stores it. */
enum opts_kind {
	OPTS_SET,	/* none; bool, true */
	OPTS_CLEAR,	/* none; bool, false */
	OPTS_TEXT,	/* anything; const char * */
	OPTS_PORT,	/* a port; const char * */
	OPTS_NUMBER,	/* a number with K, M, G or T for powers of 1024; uint64_t */
	OPTS_REAL,	/* a number above 0, maybe with a fraction; double */
	OPTS_MANY,	/* anything, each time that it is given; struct opts_many */
	OPTS_MILLIS,	/* seconds, maybe with a fraction; int, milliseconds */
};

#define OPTS_MANY_MAX 256

/**
 * struct opts_many - what was given of an option that may stand several times
 * @words: in their order
 * @tags: the minimum of each word's option, so that several options can share a list
 * @nr: how many
 */
struct opts_many {
	const char *words[OPTS_MANY_MAX];
	unsigned char tags[OPTS_MANY_MAX];
	unsigned int nr;
};

/**
 * struct opts_option - an option
 * @name: without its dashes
 * @letter: its short form, 0: none
 * @kind: of its argument
 * @at: where in the command's struct it goes
 * @min: of a number or of milliseconds
 * @max: the same
 * @arg: name of its argument in the help, NULL: it has none
 * @help: text in the help, lines separated by a newline
 * @doc: text in the manual, reStructuredText
 * @values: all values of its argument, separated by blanks; NULL: there is no such list
 */
struct opts_option {
	const char *name;
	char letter;
	enum opts_kind kind;
	size_t at;
	uint64_t min;
	uint64_t max;
	const char *arg;
	const char *help;
	const char *doc;
	const char *values;
};

/* The last arguments of OPTS_OPTION() and OPTS_RANGE(). */
#define OPTS_HELP(_arg, _help)	.arg = (_arg), .help = (_help)
#define OPTS_DOC(_doc)		.doc = (_doc)
#define OPTS_VALUES(_values)	.values = (_values)

#define OPTS_OPTION(_name, _letter, _kind, _struct, _field, ...)		\
	{ .name = (_name), .letter = (_letter), .kind = (_kind),		\
	  .at = offsetof(_struct, _field), ##__VA_ARGS__ }

#define OPTS_RANGE(_name, _letter, _kind, _struct, _field, _min, _max, ...)	\
	{ .name = (_name), .letter = (_letter), .kind = (_kind),		\
	  .at = offsetof(_struct, _field), .min = (_min), .max = (_max), ##__VA_ARGS__ }

/*
 * Fill @to from the command line. @options ends with one without a name; --json is
 * known to all. Returns the index of the first word that is no option, or -EINVAL
 * having said why.
 */
int opts_parse(int argc, char **argv, const struct opts_option *options, void *to);

/* Print the help of @options, and of --json, for which @json is the text, and --help. */
void opts_print(FILE *to, const struct opts_option *options, const char *json);

/* Print the same options for the manual; @json_doc describes --json. */
void opts_print_rst(FILE *to, const struct opts_option *options, const char *json_doc);

/* Print the same options as words "--port:PORT" and "--quiet". */
void opts_print_words(FILE *to, const struct opts_option *options);

/* A value by itself: 0 or -EINVAL having said why. */
int opts_number(const char *name, const char *arg, uint64_t min, uint64_t max,
		uint64_t *value);
int opts_real(const char *name, const char *arg, double *value);
int opts_millis(const char *name, const char *arg, int min, int max, int *ms);
int opts_port(const char *name, const char *arg, const char **port);

#endif /* KVERBS_TOOL_OPTS_H */
