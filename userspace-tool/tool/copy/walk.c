// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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
 * @shallow: directories come without what is in them
 */
struct walk {
	const struct tree_ops *ops;
	void *arg;
	char path[PATH_MAX];
	size_t len;
	unsigned int depth;
	bool shallow;
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

/* Open what has been looked at, and nothing that has got its name since. */
static int reopen(int fd)
{
	char path[40];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

static int other(struct walk *w, int dir, const char *name, const struct stat *st)
{
	if (w->ops->other)
		return w->ops->other(w->arg, dir, name, w->path, st);
	return w->ops->skip(w->arg, w->path, S_ISLNK(st->st_mode) ? -ELOOP : -EOPNOTSUPP);
}

static int visit_reopened(struct walk *w, int at)
{
	int fd = reopen(at);

	return fd < 0 ? w->ops->skip(w->arg, w->path, fd) : visit(w, fd);
}

/* Look before opening: to open a device may set something off. */
static int meet(struct walk *w, int dir, const char *name)
{
	int at = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), ret;
	struct stat st;

	if (at < 0)
		return w->ops->skip(w->arg, w->path, -errno);
	if (fstat(at, &st))
		ret = w->ops->skip(w->arg, w->path, -errno);
	else if (w->ops->wanted && !w->ops->wanted(w->arg, w->path, S_ISDIR(st.st_mode)))
		ret = 0;
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		ret = other(w, dir, name, &st);
	else
		ret = visit_reopened(w, at);
	close(at);
	return ret;
}

/*
 * Its directory calls it a file, so it is opened without a look before: that is half of the system
 * calls for a small file. An entry that has taken its place since then is met like any other; to
 * open a FIFO so has no effect, and only root can make a device.
 */
static int meet_file(struct walk *w, int dir, const char *name)
{
	struct stat st;
	int fd;

	if (w->ops->wanted && !w->ops->wanted(w->arg, w->path, false))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return w->ops->file(w->arg, fd, w->path, &st);
	if (fd >= 0)
		close(fd);
	return meet(w, dir, name);
}

static int enter(struct walk *w, int dir, const struct dirent *de)
{
	size_t len = w->len;
	int ret;

	ret = push(w, de->d_name);
	if (ret)
		ret = w->ops->skip(w->arg, w->path, ret);
	else if (de->d_type == DT_REG)
		ret = meet_file(w, dir, de->d_name);
	else
		ret = meet(w, dir, de->d_name);
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
			ret = enter(w, dirfd(dir), de);
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
	ret = w->ops->dir(w->arg, dirfd(dir), w->path, st);
	if (!ret && !w->shallow)
		ret = list(w, dir);
	if (!ret)
		ret = w->ops->dir_end(w->arg, dirfd(dir), w->path, st);
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
		return w->ops->file(w->arg, fd, w->path, &st);
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
	w.shallow = ops->shallow && !recursive;
	if (!ret && S_ISDIR(st.st_mode) && !recursive && !ops->shallow)
		ret = -EISDIR;
	if (!ret && (!ops->wanted || ops->wanted(arg, name, S_ISDIR(st.st_mode))))
		return visit(&w, fd);
	if (!ret) {
		close(fd);
		return 0;
	}
	close(fd);
	return ops->skip(arg, name, ret);
}

static int send_file(void *arg, int fd, const char *path, const struct stat *st)
{
	int ret = source_total(arg);

	if (!ret)
		return source_file(arg, fd, path, st);
	close(fd);
	return ret;
}

static int send_dir(void *arg, int fd, const char *path, const struct stat *st)
{
	return source_dir(arg, fd, path, st, false);
}

static int send_dir_end(void *arg, int fd, const char *path, const struct stat *st)
{
	return source_dir(arg, fd, path, st, true);
}

static int send_note(void *arg, const char *path, int err)
{
	return source_note(arg, path, err);
}

static bool is_wanted(void *arg, const char *path, bool is_dir)
{
	const struct source *src = arg;

	return !filter_excludes(src->copy->filter, path, is_dir);
}

int walk_send_other(struct source *src, int dir, const char *name, const char *path,
		    int (*skip)(void *arg, const char *path, int err))
{
	uint32_t opts = src->copy->opts;
	struct stat st;

	if (!skip)
		skip = send_note;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return skip(src, path, -errno);
	if (S_ISLNK(st.st_mode) && opts & WIRE_F_LINKS)
		return source_link(src, dir, name, path, &st);
	if (S_ISLNK(st.st_mode) || !(opts & WIRE_F_DEVICES))
		return skip(src, path, S_ISLNK(st.st_mode) ? -ELOOP : -EOPNOTSUPP);
	return source_node(src, path, &st);
}

static int send_other(void *arg, int dir, const char *name, const char *path,
		      const struct stat *st)
{
	struct source *src = arg;

	(void)st;
	return walk_send_other(src, dir, name, path, src->skip);
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
		.shallow = src->copy->opts & WIRE_F_RELATIVE,
		.wanted = is_wanted,
		.file = send_file,
		.other = send_other,
		.dir = send_dir,
		.dir_end = send_dir_end,
		.skip = skip ? skip : send_note,
	};

	src->skip = skip;
	return tree_walk(fd, name, recursive, &ops, src);
}
