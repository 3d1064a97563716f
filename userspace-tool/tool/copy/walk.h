/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Walking a directory tree, or one file, without following links; trees into a source. */
#ifndef KVERBS_TOOL_WALK_H
#define KVERBS_TOOL_WALK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "copy/source.h"

/**
 * struct tree_ops - what to do with what is found; not 0 ends the walk
 * @depth_max: levels of directories, each of which takes a descriptor while what is in it is
 *	walked; 0: any. Those beneath are skipped with -EMFILE.
 * @shallow: a directory by itself is no error without recursion, but comes without what is in it
 * @wanted: whether what has this path is met at all, or NULL
 * @file: a regular file, open for reading, which is taken over
 * @other: a symbolic link or a special file in an open directory, or NULL: it is skipped
 * @dir: a directory, before what is in it
 * @dir_end: the same, after that
 * @skip: what is not copied: -ELOOP a symbolic link, -EOPNOTSUPP a special file,
 *	-ECANCELED a part file of an incomplete copy, another -errno could not be read
 */
struct tree_ops {
	unsigned int depth_max;
	bool shallow;
	bool (*wanted)(void *arg, const char *path, bool is_dir);
	int (*file)(void *arg, int fd, const char *path, const struct stat *st);
	int (*other)(void *arg, int dir, const char *name, const char *path,
		     const struct stat *st);
	int (*dir)(void *arg, int fd, const char *path, const struct stat *st);
	int (*dir_end)(void *arg, int fd, const char *path, const struct stat *st);
	int (*skip)(void *arg, const char *path, int err);
};

int tree_walk(int fd, const char *name, bool recursive, const struct tree_ops *ops,
	      void *arg);

/* Send a link or a special file in the open directory @dir as @path. */
int walk_send_other(struct source *src, int dir, const char *name, const char *path,
		    int (*skip)(void *arg, const char *path, int err));
int walk_send(struct source *src, int fd, const char *name, bool recursive,
	      int (*skip)(void *arg, const char *path, int err));

#endif /* KVERBS_TOOL_WALK_H */
