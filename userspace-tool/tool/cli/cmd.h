/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands, one file each. */
#ifndef KVERBS_TOOL_CMD_H
#define KVERBS_TOOL_CMD_H

struct opts_option;

/**
 * struct command - a row of the table
 * @name: what one types
 * @summary: one line for the overview
 * @usage: the help before the options
 * @options: its options, up to one without a name
 * @json: help of --json
 * @json_doc: the same for the manual
 * @notes: the help after the options
 * @run: argv[0] is the name; returns an exit status
 */
struct command {
	const char *name;
	const char *summary;
	const char *usage;
	const struct opts_option *options;
	const char *json;
	const char *json_doc;
	const char *notes;
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_dev;
extern const struct command cmd_doctor;
extern const struct command cmd_hosts;
extern const struct command cmd_serve;
extern const struct command cmd_ping;
extern const struct command cmd_bench;
extern const struct command cmd_cp;
extern const struct command cmd_ls;
extern const struct command cmd_rm;
extern const struct command cmd_key;
extern const struct command cmd_stat;
extern const struct command cmd_top;

#endif /* KVERBS_TOOL_CMD_H */
