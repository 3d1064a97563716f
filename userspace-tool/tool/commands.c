// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "cli/util.h"
#include "commands.h"

static const struct command *const commands[] = {
	&cmd_dev,
	&cmd_doctor,
	&cmd_hosts,
	&cmd_serve,
	&cmd_ping,
	&cmd_bench,
	&cmd_cp,
	&cmd_ls,
	&cmd_rm,
	&cmd_key,
	&cmd_stat,
	&cmd_top,
};

#define NAME_MAX_LEN 32

const struct command *cmd_at(unsigned int i)
{
	return i < ARRAY_SIZE(commands) ? commands[i] : NULL;
}

const struct command *cmd_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Levenshtein's: letters to add, drop or change; long words are far away. */
unsigned int cmd_distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_LEN + 1];
	unsigned int i, j, diag, up;

	if (strlen(a) > NAME_MAX_LEN || strlen(b) > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (j = 0; j <= strlen(b); j++)
		row[j] = j;
	for (i = 1; i <= strlen(a); i++) {
		diag = row[0];
		row[0] = i;
		for (j = 1; j <= strlen(b); j++) {
			up = row[j];
			row[j] = min(up, row[j - 1]) + 1;
			diag += a[i - 1] != b[j - 1];
			row[j] = min(row[j], diag);
			diag = up;
		}
	}
	return row[strlen(b)];
}

/* The command that a mistyped name probably stands for, or NULL. */
const struct command *cmd_nearest(const char *name)
{
	const struct command *best = NULL;
	unsigned int i, d, min = 3;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		d = cmd_distance(name, commands[i]->name);
		if (d < min && d < strlen(commands[i]->name)) {
			min = d;
			best = commands[i];
		}
	}
	return best;
}
