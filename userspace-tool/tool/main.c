// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <kverbs.h>

#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "commands.h"

static int overview(FILE *to)
{
	const struct command *cmd;
	unsigned int i;

	fputs("usage: kverbs COMMAND [HOST] [options]\n\n", to);
	for (i = 0; (cmd = cmd_at(i)); i++)
		fprintf(to, "  %-8s %s\n", cmd->name, cmd->summary);
	fputs("  help     Explain a command: kverbs help COMMAND\n\n"
	      "Every command takes --help and -j, --json.\n"
	      "Exit status: 0 done and verified, 1 failed or data differed, 2 usage,\n"
	      "3 cannot reach, 4 not permitted or no device.\n", to);
	return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int unknown(const char *name)
{
	const struct command *cmd = cmd_nearest(name);

	if (cmd)
		return err_usage("no command '%s', did you mean '%s'?", name, cmd->name);
	return err_usage("no command '%s'", name);
}

static int help(const char *name)
{
	const struct command *cmd;

	if (!name)
		return overview(stdout);
	cmd = cmd_find(name);
	if (!cmd)
		return unknown(name);
	printf("%s\n", cmd->usage);
	opts_print(stdout, cmd->options, cmd->json);
	printf("\n%s", cmd->notes);
	return EXIT_OK;
}

static int version(void)
{
	printf("kverbs %s\n", kverbs_version());
	return EXIT_OK;
}

static bool has_option(int argc, char **argv, const char *name, char letter)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], name))
			return true;
		if (letter && argv[i][0] == '-' && argv[i][1] == letter && !argv[i][2])
			return true;
	}
	return false;
}

static int run(const char *name, int argc, char **argv)
{
	const struct command *cmd = cmd_find(name);
	int status;

	if (cmd && (has_option(argc, argv, "--help", 0) ||
		    has_option(argc, argv, "-h", 0)))
		return help(name);
	/* Before the options are parsed: wrong ones shall give JSON too. */
	out_begin(name, has_option(argc, argv, "--json", 'j'));
	if (!cmd) {
		status = unknown(name);
	} else {
		err_command(name);
		status = cmd->run(argc, argv);
	}
	out_end(status);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return overview(stderr);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return version();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return overview(stdout);
	if (!strcmp(argv[1], "help"))
		return help(argc > 2 ? argv[2] : NULL);
	return run(argv[1], argc - 1, argv + 1);
}
