/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Removing a tree, or what is too much in a directory, step by step. */
#ifndef KVERBS_TOOL_PRUNE_H
#define KVERBS_TOOL_PRUNE_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "copy/filter.h"

/* Directories in one another, each of which takes a descriptor */
#define PRUNE_DEPTH 64

/**
 * struct prune_level - a directory that is being read
 * @dir: the directory
 * @len: length of its path
 */
struct prune_level {
	DIR *dir;
	size_t len;
};

/**
 * struct prune - a removal on its way
 * @levels: open directories, from the first on
 * @depth: how many
 * @dev: device that it must not leave
 * @path: where it is
 * @dry: remove nothing
 * @filter: names that stay, or NULL
 * @parent: directory of the first one, which is removed in the end as well, or -1
 * @name: its name in @parent
 * @unsaid: one that is removed, but did not fit into an answer, or empty
 * @unsaid_err: why it was not, or 0
 * @keep: whether a name in the first directory stays, or NULL
 * @arg: for @keep
 */
struct prune {
	struct prune_level levels[PRUNE_DEPTH];
	unsigned int depth;
	dev_t dev;
	char path[PATH_MAX + NAME_MAX + 2];
	bool dry;
	const struct filter *filter;
	int parent;
	char name[NAME_MAX + 1];
	char unsaid[PATH_MAX];
	int unsaid_err;
	bool (*keep)(void *arg, const char *name);
	void *arg;
};

void prune_init(struct prune *p);
/* Begin in the directory @fd, which is taken over and is called @path. */
int prune_open(struct prune *p, int fd, const char *path);
/*
 * Remove one more. Returns 1, with its path in @path, and a slash after that of a directory;
 * 0 at the end. @err: why it could not be removed, or 0
 */
int prune_next(struct prune *p, char path[PATH_MAX], int *err);
/*
 * Remove all, and report it in @buf, as much as fits into an answer. Returns 1 if there is more,
 * or what @beat returns.
 */
int prune_fill(struct prune *p, uint8_t *buf, size_t *len, int (*beat)(void *arg), void *arg);
/* Read what that has put into @buf, at @at: the place of the next, or -EPROTO. */
ssize_t prune_read(const void *buf, size_t len, size_t at, char path[PATH_MAX], int *err);
void prune_close(struct prune *p);

#endif /* KVERBS_TOOL_PRUNE_H */
