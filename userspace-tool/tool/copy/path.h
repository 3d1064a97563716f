/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names that a stranger gave, kept beneath a directory. */
#ifndef KVERBS_TOOL_PATH_H
#define KVERBS_TOOL_PATH_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct path - a checked name: relative, no "..", no empty component, no NUL, not
 *	too long
 * @text: all of it, NUL-terminated; "." if it was empty
 * @name: points to the last component in @text
 * @dir: what stands before it, "." if nothing does
 */
struct path {
	char text[PATH_MAX];
	char dir[PATH_MAX];
	const char *name;
};

int path_parse(struct path *path, const void *bytes, size_t len);
int path_is_top(const struct path *path);

int path_open_root(const char *name);
int path_open(int root, const char *path, int flags);
/* The same, but no component may be a symbolic link: -ELOOP. */
int path_open_plain(int root, const char *path, int flags);
/* Make a directory and its missing parents. Returns it, open with O_PATH. */
int path_make(int root, const char *path);
int path_open_parent(int root, const struct path *path);

#endif /* KVERBS_TOOL_PATH_H */
