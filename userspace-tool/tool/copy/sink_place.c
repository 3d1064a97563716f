// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where in the file system what comes goes to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "copy/sink.h"

static int set_base(struct sink *sink, int fd, const char *name)
{
	sink->base = fd;
	if (!name)
		return 0;
	sink->rename = strdup(name);
	return sink->rename ? 0 : -ENOMEM;
}

/* A directory that an earlier connection of the same copy made is not one that was there. */
static bool is_named(const struct sink *sink)
{
	return sink->copy->opts & WIRE_F_AS_NAMED;
}

/* A directory that is there takes things into it; else it is a name for one. */
int sink_target(struct sink *sink, int root, const struct path *path, bool must_be_dir)
{
	int fd = is_named(sink) ? -ENOENT : path_open(root, path->text, O_PATH | O_DIRECTORY);

	if (fd == -ENOENT && must_be_dir && sink->copy->opts & WIRE_F_MKPATH) {
		sink->missing = sink->dry;
		if (sink->dry)
			return 0;
		fd = path_make(root, path->text);
	}
	if (fd >= 0)
		return set_base(sink, fd, NULL);
	if ((fd != -ENOENT && fd != -ENOTDIR) || must_be_dir)
		return fd;
	fd = path_open_parent(root, path);
	if (fd == -ENOENT && sink->copy->opts & WIRE_F_MKPATH) {
		if (sink->dry) {
			sink->missing = true;
			return 0;
		}
		fd = path_make(root, path->dir);
	}
	return fd < 0 ? fd : set_base(sink, fd, path->name);
}

/* As mkdir -p does it */
static int make_local(char *dir)
{
	char *at = dir;

	do {
		at = strchrnul(at + 1, '/');
		if (*at) {
			*at = '\0';
			mkdir(dir, 0777);
			*at = '/';
		} else if (mkdir(dir, 0777) && errno != EEXIST) {
			return -errno;
		}
	} while (*at);
	return 0;
}

static int make_and_open(struct sink *sink, const char *path)
{
	char *dir = strdup(path);
	int ret;

	if (!dir)
		return -ENOMEM;
	if (sink->dry) {
		sink->missing = true;
		ret = 0;
	} else {
		ret = make_local(dir);
		if (!ret)
			ret = path_open_root(dir);
	}
	free(dir);
	return ret < 0 || sink->missing ? ret : set_base(sink, ret, NULL);
}

/* The same for a name that our own user gave: it may lead anywhere. */
int sink_target_local(struct sink *sink, const char *path, bool must_be_dir)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	fd = is_named(sink) ? -ENOENT : path_open_root(*path ? path : ".");
	if (fd >= 0)
		return set_base(sink, fd, NULL);
	if (fd != -ENOENT && fd != -ENOTDIR)
		return fd;
	if (must_be_dir || (slash && !slash[1])) {
		if (fd == -ENOENT && sink->copy->opts & WIRE_F_MKPATH)
			return make_and_open(sink, path);
		return fd;
	}
	if (!slash) {
		fd = path_open_root(".");
	} else {
		dir = strndup(path, slash == path ? 1 : slash - path);
		fd = dir ? path_open_root(dir) : -ENOMEM;
		if (fd == -ENOENT && sink->copy->opts & WIRE_F_MKPATH && sink->dry)
			sink->missing = true;
		else if (fd == -ENOENT && sink->copy->opts & WIRE_F_MKPATH)
			fd = make_local(dir) ? -errno : path_open_root(dir);
		free(dir);
		if (sink->missing)
			return 0;
	}
	return fd < 0 ? fd : set_base(sink, fd, slash ? slash + 1 : path);
}

/* @top may have several components. */
static int check_top(const struct sink *sink, const char *text)
{
	size_t len = sink->top ? strlen(sink->top) : 0;

	if (!sink->top)
		return 0;
	return !strncmp(sink->top, text, len) && (!text[len] || text[len] == '/') ? 0 : -EPERM;
}

/* A client must neither replace the part file of another copy nor take its name. */
static bool names_part(const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == '/')) {
		len = strcspn(text, "/");
		if (part_is_name(text, len))
			return true;
	}
	return false;
}

/*
 * sink_place() - map a name that the source sent to a path here
 *
 * Only names that were asked for are valid: a source must not choose what is overwritten.
 */
int sink_place(struct sink *sink, const struct wire_msg *msg, struct path *path)
{
	char renamed[PATH_MAX];
	size_t top;
	int ret;

	ret = path_parse(path, msg->tail, msg->tail_len);
	if (ret)
		return ret;
	ret = check_top(sink, path->text);
	if (ret)
		return ret;
	/* Only one file was asked for, so nothing is beneath a directory of its name. */
	if (sink->files_only && sink->top && path->text[strlen(sink->top)])
		return -EPERM;
	top = strcspn(path->text, "/");
	if (sink->files_only && !sink->top && path->text[top])
		return -EPERM;
	if (!sink->rename)
		return names_part(path->text) ? -EPERM : 0;
	ret = snprintf(renamed, sizeof(renamed), "%s%s", sink->rename, path->text + top);
	if (ret >= (int)sizeof(renamed))
		return -ENAMETOOLONG;
	ret = path_parse(path, renamed, ret);
	return !ret && names_part(path->text) ? -EPERM : ret;
}

int sink_room(const struct sink *sink, int fd, uint64_t size)
{
	uint64_t has, more, avail;
	struct statvfs fs;
	struct stat st;

	if (sink->max_size && size > sink->max_size)
		return -EFBIG;
	if (!sink->min_free)
		return 0;
	if (fstat(fd, &st) || fstatvfs(fd, &fs))
		return -errno;
	has = st.st_blocks * 512ull;
	more = size > has ? size - has : 0;
	avail = (uint64_t)fs.f_bavail * fs.f_frsize;
	return avail < more || avail - more < sink->min_free ? -ENOSPC : 0;
}

/*
 * A server that may send links could otherwise send one, and then files to where it leads: beneath
 * the destination, but not beneath the name that was asked for.
 */
int sink_open_beneath(const struct sink *sink, const char *path, int flags)
{
	if (sink->copy->user && sink->copy->opts & WIRE_F_LINKS)
		return path_open_plain(sink->base, path, flags);
	return path_open(sink->base, path, flags);
}

/* The directory that a name is in; the last one is kept open. */
int sink_parent(struct sink *sink, const struct path *path)
{
	if (sink->missing)
		return -ENOENT;
	if (sink->parent >= 0 && !strcmp(sink->parent_path, path->dir))
		return sink->parent;
	if (sink->parent >= 0)
		close(sink->parent);
	sink->parent = sink_open_beneath(sink, path->dir, O_PATH | O_DIRECTORY);
	if (sink->parent == -ENOENT && sink->copy->opts & WIRE_F_RELATIVE && !sink->dry)
		sink->parent = path_make(sink->base, path->dir);
	if (sink->parent >= 0)
		memcpy(sink->parent_path, path->dir, sizeof(sink->parent_path));
	return sink->parent;
}
