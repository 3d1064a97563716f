/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Named directories that a server has in place of one root. */
#ifndef KVERBS_TOOL_SHARE_H
#define KVERBS_TOOL_SHARE_H

#include <stdbool.h>

#include "cli/opts.h"

#define SHARE_NAME_MAX 64

/**
 * struct share - a directory that clients know by a name
 * @name: first component of their paths
 * @dir: path of the directory
 * @root: the directory, open
 * @read_only: nothing is written there
 * @no_delete: nothing is deleted there, but files may be replaced
 */
struct share {
	char name[SHARE_NAME_MAX + 1];
	const char *dir;
	int root;
	bool read_only;
	bool no_delete;
};

/**
 * struct shares - all of a server
 * @list: an array
 * @nr: number of elements in @list
 */
struct shares {
	struct share *list;
	unsigned int nr;
};

/*
 * Parse and open "NAME[,RIGHT]...=DIR", each right being "ro" or "no-delete". Returns an exit
 * status, having said why. On an error, too, shares_close() them.
 */
int shares_open(struct shares *shares, const struct opts_many *words);
void shares_close(struct shares *shares);
/* The share that a normalized path begins with, or NULL. @rest: what follows it, perhaps "" */
const struct share *shares_find(const struct shares *shares, const char *path,
				const char **rest);

#endif /* KVERBS_TOOL_SHARE_H */
