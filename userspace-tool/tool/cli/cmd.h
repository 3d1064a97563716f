/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands, one file each. */
#ifndef KVERBS_TOOL_CMD_H
#define KVERBS_TOOL_CMD_H

/**
 * struct command - a row of the table
 * @name: what one types
 * @summary: one line for the overview
 * @help: the whole of --help
 * @run: argv[0] is the name; returns an exit status
 */
struct command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_dev;
extern const struct command cmd_doctor;
extern const struct command cmd_serve;
extern const struct command cmd_ping;
extern const struct command cmd_bench;
extern const struct command cmd_cp;
extern const struct command cmd_stat;
extern const struct command cmd_top;

#endif /* KVERBS_TOOL_CMD_H */
