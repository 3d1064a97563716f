// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>

#include "copy/tree.h"
#include "copy/walk.h"

/* ---- how much it is ---------------------------------------------------- */

/**
 * struct count - a tree that is counted
 * @copy: whose peer waits for it, or NULL
 * @total: bytes so far
 */
struct count {
	struct copy *copy;
	uint64_t total;
};

static int beat(const struct count *count)
{
	return count->copy ? copy_beat(count->copy) : 0;
}

static int count_file(void *arg, int fd, const char *path, const struct stat *st)
{
	struct count *count = arg;

	(void)fd;
	(void)path;
	count->total += st->st_size;
	return beat(count);
}

static int ignore_dir(void *arg, const char *path, const struct stat *st)
{
	(void)path;
	(void)st;
	return beat(arg);
}

static int ignore_skip(void *arg, const char *path, int err)
{
	(void)path;
	(void)err;
	return beat(arg);
}

/*
 * Bytes of all files in what @fd is, which stays open. May take long: the peer of @copy,
 * if there is one, is told that we are still alive. 0 or why that failed.
 */
int walk_total(int fd, bool recursive, struct copy *copy, uint64_t *total)
{
	static const struct tree_ops ops = {
		.file = count_file,
		.dir = ignore_dir,
		.dir_end = ignore_dir,
		.skip = ignore_skip,
	};
	struct count count = { .copy = copy };
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int ret = 0;

	/* Not dup(): two would share their place in the directory. */
	if (again >= 0)
		ret = tree_walk(again, ".", recursive, &ops, &count);
	else if (!fstat(fd, &st))
		count.total = st.st_size;
	*total = count.total;
	return ret;
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
