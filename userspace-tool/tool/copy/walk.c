// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "copy/part.h"
#include "copy/walk.h"

/**
 * struct walk - a walk on its way
 * @ops: what to do
 * @arg: for @ops
 * @path: where it is, from the top's name on
 * @len: of @path
 * @depth: directories that are open
 */
struct walk {
	const struct tree_ops *ops;
	void *arg;
	char path[PATH_MAX];
	size_t len;
	unsigned int depth;
};

static int visit(struct walk *w, int fd);

static int push(struct walk *w, const char *name)
{
	size_t n = strlen(name), slash = w->len > 0;

	if (w->len + slash + n >= sizeof(w->path))
		return -ENAMETOOLONG;
	if (slash)
		w->path[w->len] = '/';
	memcpy(w->path + w->len + slash, name, n + 1);
	w->len += slash + n;
	return 0;
}

/* Look before opening: to open a device may set something off. */
static int open_entry(int dir, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EOPNOTSUPP;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int enter(struct walk *w, int dir, const char *name)
{
	size_t len = w->len;
	int fd, ret;

	ret = push(w, name);
	if (ret)
		return w->ops->skip(w->arg, w->path, ret);
	fd = open_entry(dir, name);
	ret = fd < 0 ? w->ops->skip(w->arg, w->path, fd) : visit(w, fd);
	w->len = len;
	w->path[len] = '\0';
	return ret;
}

/* A part file is incomplete, and the sink would refuse its name. */
static int leave_out(struct walk *w, const char *name)
{
	size_t len = w->len;
	int ret;

	ret = push(w, name) ? 0 : w->ops->skip(w->arg, w->path, -ECANCELED);
	w->len = len;
	w->path[len] = '\0';
	return ret;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int list(struct walk *w, DIR *dir)
{
	struct dirent *de;
	int ret = 0;

	while (!ret) {
		errno = 0;
		de = readdir(dir);
		if (!de)
			return errno ? w->ops->skip(w->arg, w->path, -errno) : 0;
		if (part_is_name(de->d_name, strlen(de->d_name)))
			ret = leave_out(w, de->d_name);
		else if (!is_dots(de->d_name))
			ret = enter(w, dirfd(dir), de->d_name);
	}
	return ret;
}

static int visit_dir(struct walk *w, int fd, const struct stat *st)
{
	bool deep = w->ops->depth_max && w->depth == w->ops->depth_max;
	DIR *dir = deep ? NULL : fdopendir(fd);
	int ret;

	if (!dir) {
		ret = w->ops->skip(w->arg, w->path, deep ? -EMFILE : -errno);
		close(fd);
		return ret;
	}
	w->depth++;
	ret = w->ops->dir(w->arg, w->path, st);
	if (!ret)
		ret = list(w, dir);
	if (!ret)
		ret = w->ops->dir_end(w->arg, w->path, st);
	closedir(dir);
	w->depth--;
	return ret;
}

/* Takes @fd over. */
static int visit(struct walk *w, int fd)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		ret = w->ops->skip(w->arg, w->path, -errno);
	else if (S_ISDIR(st.st_mode))
		return visit_dir(w, fd, &st);
	else if (!S_ISREG(st.st_mode))
		ret = w->ops->skip(w->arg, w->path, -EOPNOTSUPP);
	else
		ret = w->ops->file(w->arg, fd, w->path, &st);
	close(fd);
	return ret;
}

/* Walk what @fd is, which is taken over; its copy is to be called @name. */
int tree_walk(int fd, const char *name, bool recursive, const struct tree_ops *ops,
	      void *arg)
{
	struct walk w = { .ops = ops, .arg = arg };
	struct stat st;
	int ret;

	ret = push(&w, name);
	if (!ret && fstat(fd, &st))
		ret = -errno;
	if (!ret && S_ISDIR(st.st_mode) && !recursive)
		ret = -EISDIR;
	if (!ret)
		return visit(&w, fd);
	close(fd);
	return ops->skip(arg, name, ret);
}

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
	const struct tree_ops ops = {
		.depth_max = copy ? copy->depth_max : 0,
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
		.depth_max = src->copy->depth_max,
		.file = send_file,
		.dir = send_dir,
		.dir_end = send_dir_end,
		.skip = skip ? skip : send_note,
	};

	return tree_walk(fd, name, recursive, &ops, src);
}
