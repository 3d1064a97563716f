// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy/part.h"
#include "copy/prune.h"
#include "lib/byteorder.h"

static int push(struct prune *p, int fd, size_t len)
{
	DIR *dir = p->depth < PRUNE_DEPTH ? fdopendir(fd) : NULL;

	if (!dir) {
		close(fd);
		return p->depth < PRUNE_DEPTH ? -errno : -EMFILE;
	}
	p->levels[p->depth++] = (struct prune_level){ dir, len };
	return 0;
}

int prune_open(struct prune *p, int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) || strlen(path) >= PATH_MAX) {
		close(fd);
		return -ENAMETOOLONG;
	}
	p->dev = st.st_dev;
	snprintf(p->path, sizeof(p->path), "%s", path);
	return push(p, fd, strlen(path));
}

void prune_init(struct prune *p)
{
	memset(p, 0, sizeof(*p));
	p->parent = -1;
}

static bool stays(const struct prune *p, const char *name, bool is_dir)
{
	/* Another copy may be writing this file, or resume it later. */
	if (part_is_name(name, strlen(name)))
		return true;
	if (p->depth == 1 && p->keep && p->keep(p->arg, name))
		return true;
	return filter_excludes(p->filter, p->path, is_dir);
}

static int open_dir(const struct prune *p, int dir, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dir, name, flags);

	if (fd >= 0 || errno != EACCES)
		return fd < 0 ? -errno : fd;
	/* The owner of a directory may have removed its own permission to read. */
	if (p->dry || fchmodat(dir, name, 0700, 0))
		return -EACCES;
	fd = openat(dir, name, flags);
	return fd < 0 ? -errno : fd;
}

static int descend(struct prune *p, int dir, const char *name)
{
	struct stat st;
	int fd;

	fd = open_dir(p, dir, name);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_dev != p->dev) {
		close(fd);
		return -EBUSY;
	}
	return push(p, fd, strlen(p->path));
}

static int remove_one(const struct prune *p, const char *name, int flags)
{
	if (p->dry)
		return 0;
	return unlinkat(dirfd(p->levels[p->depth - 1].dir), name, flags) ? -errno : 0;
}

static void say(const struct prune *p, char path[PATH_MAX], const char *slash)
{
	const char *from = strncmp(p->path, "./", 2) ? p->path : p->path + 2;

	if (snprintf(path, PATH_MAX, "%s%s", from, slash) >= PATH_MAX)
		path[PATH_MAX - 1] = '\0';
}

/* Leave the innermost directory. Returns whether it was the first. */
static bool ascend(struct prune *p)
{
	closedir(p->levels[--p->depth].dir);
	p->path[p->levels[p->depth].len] = '\0';
	return !p->depth;
}

/* Returns 1 if @name was removed, or could not be. */
static int take(struct prune *p, const char *name, char path[PATH_MAX], int *err)
{
	int dir = dirfd(p->levels[p->depth - 1].dir);
	size_t len = p->levels[p->depth - 1].len;
	struct stat st;

	if (len + 1 + strlen(name) >= PATH_MAX)
		return 0;
	snprintf(p->path + len, sizeof(p->path) - len, "/%s", name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || stays(p, name, S_ISDIR(st.st_mode)))
		return 0;
	*err = S_ISDIR(st.st_mode) ? descend(p, dir, name) : remove_one(p, name, 0);
	if (S_ISDIR(st.st_mode) && !*err)
		return 0;
	say(p, path, "");
	return 1;
}

static int remove_first(struct prune *p, char path[PATH_MAX], int *err)
{
	if (p->parent < 0)
		return 0;
	if (!p->dry && unlinkat(p->parent, p->name, AT_REMOVEDIR))
		*err = -errno;
	close(p->parent);
	p->parent = -1;
	say(p, path, "/");
	return 1;
}

int prune_next(struct prune *p, char path[PATH_MAX], int *err)
{
	struct dirent *de;
	const char *name;

	*err = 0;
	while (p->depth) {
		de = readdir(p->levels[p->depth - 1].dir);
		if (de && strcmp(de->d_name, ".") && strcmp(de->d_name, "..") &&
		    take(p, de->d_name, path, err))
			return 1;
		if (de)
			continue;
		if (ascend(p))
			return remove_first(p, path, err);
		name = strrchr(p->path, '/');
		*err = remove_one(p, name + 1, AT_REMOVEDIR);
		/* Entries that stay keep their directory. */
		if (*err == -ENOTEMPTY || *err == -EEXIST) {
			*err = 0;
			continue;
		}
		say(p, path, "/");
		return 1;
	}
	return 0;
}

#define RECORD_HEAD 4

static bool add_record(uint8_t *buf, size_t *len, const char *path, int err)
{
	size_t n = strlen(path);

	if (*len + RECORD_HEAD + n > WIRE_TAIL_MAX)
		return false;
	put_be(buf + *len, wire_status(err), 2);
	put_be(buf + *len + 2, n, 2);
	memcpy(buf + *len + RECORD_HEAD, path, n);
	*len += RECORD_HEAD + n;
	return true;
}

int prune_fill(struct prune *p, uint8_t *buf, size_t *len, int (*beat)(void *arg), void *arg)
{
	int ret = 0;

	*len = 0;
	while (!ret) {
		if (*p->unsaid && !add_record(buf, len, p->unsaid, p->unsaid_err))
			return 1;
		*p->unsaid = '\0';
		if (!prune_next(p, p->unsaid, &p->unsaid_err))
			return 0;
		ret = beat(arg);
	}
	return ret;
}

ssize_t prune_read(const void *buf, size_t len, size_t at, char path[PATH_MAX], int *err)
{
	const uint8_t *p = (const uint8_t *)buf + at;
	size_t n;

	if (len - at < RECORD_HEAD)
		return -EPROTO;
	*err = wire_errno(get_be(p, 2));
	n = get_be(p + 2, 2);
	if (n > len - at - RECORD_HEAD || n >= PATH_MAX)
		return -EPROTO;
	memcpy(path, p + RECORD_HEAD, n);
	path[n] = '\0';
	return at + RECORD_HEAD + n;
}

void prune_close(struct prune *p)
{
	if (p->parent >= 0)
		close(p->parent);
	p->parent = -1;
	*p->unsaid = '\0';
	while (p->depth)
		closedir(p->levels[--p->depth].dir);
}
