// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Print the tables of options: for the manual in reStructuredText, for bash as the data of
 * the completion. Runs when kverbs is built, and is not installed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/param.h"
#include "cli/cmd.h"
#include "cli/opts.h"
#include "commands.h"
#include "watch/top_rows.h"

static int explain(void)
{
	fputs("reference rst DIR  write DIR/COMMAND.rst for each command\n"
	      "reference bash     print the data of the completion\n", stderr);
	return 2;
}

static int write_rst(const char *dir)
{
	const struct command *cmd;
	char path[4096];
	unsigned int i;
	FILE *to;

	for (i = 0; (cmd = cmd_at(i)); i++) {
		snprintf(path, sizeof(path), "%s/%s.rst", dir, cmd->name);
		to = fopen(path, "w");
		if (!to) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return 1;
		}
		fprintf(to, ".. program:: kverbs %s\n\n", cmd->name);
		opts_print_rst(to, cmd->options, cmd->json_doc);
		if (fclose(to)) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return 1;
		}
	}
	return 0;
}

/* Operands are the words in capitals of the first line of the usage: HOST, SRC..., DST. */
static void print_operands(const struct command *cmd)
{
	const char *at = strstr(cmd->usage, cmd->name), *end = strchr(at, '\n');
	const char *gap = " ";

	printf("\t[%s]=\"", cmd->name);
	for (at += strlen(cmd->name); at < end; at++) {
		if ((*at >= 'A' && *at <= 'Z') || *at == '.') {
			putchar(*at);
			gap = " ";
		} else if (gap) {
			fputs(gap, stdout);
			gap = NULL;
		}
	}
	printf("\"\n");
}

static void print_values(const struct command *cmd)
{
	const struct opts_option *o;

	for (o = cmd->options; o->name; o++)
		if (o->values)
			printf("\t[%s]=\"%s\"\n", o->arg, o->values);
}

static int print_bash(void)
{
	const struct command *cmd;
	unsigned int i;

	printf("\n# Made of the tables of the command.\n"
	       "# Options of each command, followed by a colon and the word for the value, if any.\n"
	       "declare -gA __kverbs_options=(\n");
	for (i = 0; (cmd = cmd_at(i)); i++) {
		printf("\t[%s]=\"", cmd->name);
		opts_print_words(stdout, cmd->options);
		printf("\"\n");
	}
	printf(")\n# Operands of each command.\ndeclare -gA __kverbs_operands=(\n");
	for (i = 0; (cmd = cmd_at(i)); i++)
		print_operands(cmd);
	printf(")\n# Values that a word stands for.\ndeclare -gA __kverbs_words=(\n\t[COMMAND]=\"");
	for (i = 0; (cmd = cmd_at(i)); i++)
		printf("%s ", cmd->name);
	printf("help\"\n\t[OP]=\"");
	for (i = 1; bench_rule(i); i++)
		printf("%s ", bench_rule(i)->name);
	printf("connect reg\"\n\t[ACTION]=\"new list extract\"\n\t[COLUMN]=\"");
	for (i = 0; i < TOP_COLUMNS; i++)
		printf(i ? " %s" : "%s", top_columns[i].title);
	printf("\"\n");
	for (i = 0; (cmd = cmd_at(i)); i++)
		print_values(cmd);
	printf(")\n");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "rst"))
		return write_rst(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "bash"))
		return print_bash();
	return explain();
}
