// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>

#include "tree.h"
#include "walk.h"

/* ---- how much it is ---------------------------------------------------- */

static int count_file(void *arg, int fd, const char *path, const struct stat *st)
{
	uint64_t *total = arg;

	(void)fd;
	(void)path;
	*total += st->st_size;
	return 0;
}

static int ignore_dir(void *arg, const char *path, const struct stat *st)
{
	(void)arg;
	(void)path;
	(void)st;
	return 0;
}

static int ignore_skip(void *arg, const char *path, int err)
{
	(void)arg;
	(void)path;
	(void)err;
	return 0;
}

/* Bytes of all files in what @fd is, which stays open. */
uint64_t walk_total(int fd, bool recursive)
{
	static const struct tree_ops ops = {
		.file = count_file,
		.dir = ignore_dir,
		.dir_end = ignore_dir,
		.skip = ignore_skip,
	};
	uint64_t total = 0;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	/* Not dup(): two would share their place in the directory. */
	if (copy < 0)
		return fstat(fd, &st) ? 0 : st.st_size;
	tree_walk(copy, ".", recursive, &ops, &total);
	return total;
}

/* ---- sending it -------------------------------------------------------- */

static int send_file(void *arg, int fd, const char *path, const struct stat *st)
{
	return source_file(arg, fd, path, st);
}

static int send_dir(void *arg, const char *path, const struct stat *st)
{
	return source_dir(arg, path, st, false);
}

static int send_dir_end(void *arg, const char *path, const struct stat *st)
{
	return source_dir(arg, path, st, true);
}

static int send_note(void *arg, const char *path, int err)
{
	return source_note(arg, path, err);
}

/*
 * Send what @fd is, which is taken over, as @name. What is left out is told to
 * @skip, or else to the sink.
 */
int walk_send(struct source *src, int fd, const char *name, bool recursive,
	      int (*skip)(void *arg, const char *path, int err))
{
	const struct tree_ops ops = {
		.file = send_file,
		.dir = send_dir,
		.dir_end = send_dir_end,
		.skip = skip ? skip : send_note,
	};

	return tree_walk(fd, name, recursive, &ops, src);
}
