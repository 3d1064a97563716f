/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The table of commands. */
#ifndef KVERBS_TOOL_COMMANDS_H
#define KVERBS_TOOL_COMMANDS_H

#include "cli/cmd.h"

const struct command *cmd_find(const char *name);
const struct command *cmd_nearest(const char *name);
const struct command *cmd_at(unsigned int i);
unsigned int cmd_distance(const char *a, const char *b);

#endif /* KVERBS_TOOL_COMMANDS_H */
