// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel keeps names beneath the root: openat2(2) with RESOLVE_BENEATH, which no
 * symbolic link and no concurrent rename can get around. The checks here only give
 * clearer and earlier errors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "copy/path.h"

#define RACE_TRIES 16

static bool component_is(const char *p, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(p, what, len);
}

static int check_components(const char *p)
{
	size_t len;

	for (; *p; p += len + (p[len] == '/')) {
		len = strcspn(p, "/");
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		if (component_is(p, len, ".."))
			return -EPERM;
	}
	return 0;
}

/* Slashes that separate nothing are left out; the root is ".". */
static void copy_components(char *text, const char *p, size_t len)
{
	char *to = text;

	for (; len; len--, p++)
		if (*p != '/' || (to != text && to[-1] != '/'))
			*to++ = *p;
	if (to != text && to[-1] == '/')
		to--;
	if (to == text)
		*to++ = '.';
	*to = '\0';
}

static void split(struct path *path)
{
	char *slash = strrchr(path->text, '/');

	if (!slash) {
		memcpy(path->dir, ".", 2);
		path->name = path->text;
		return;
	}
	memcpy(path->dir, path->text, slash - path->text);
	path->dir[slash - path->text] = '\0';
	path->name = slash + 1;
}

/*
 * Take a name as bytes. -EPERM for what can only mean to get out. The root is the
 * only tree there is, so a leading slash says no more than the root does.
 */
int path_parse(struct path *path, const void *bytes, size_t len)
{
	const char *p = bytes;
	int ret;

	if (len >= sizeof(path->text))
		return -ENAMETOOLONG;
	if (len && memchr(p, '\0', len))
		return -EINVAL;
	copy_components(path->text, p, len);
	ret = check_components(path->text);
	if (ret)
		return ret;
	split(path);
	return 0;
}

/* Whether it names the root itself, which has no parent to be changed in. */
int path_is_top(const struct path *path)
{
	return !strcmp(path->name, ".");
}

int path_open_root(const char *name)
{
	int fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_how(int root, const char *path, int flags, unsigned int resolve)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int tries, fd = -1;

	/* EAGAIN: a concurrent rename, so that the kernel could not tell whether it is beneath. */
	for (tries = 0; tries < RACE_TRIES; tries++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0)
		return fd;
	return errno == EXDEV ? -EPERM : -errno;
}

/* Open beneath @root. -EPERM: it leads out. */
int path_open(int root, const char *path, int flags)
{
	return open_how(root, path, flags, 0);
}

int path_open_plain(int root, const char *path, int flags)
{
	return open_how(root, path, flags, RESOLVE_NO_SYMLINKS);
}

static int make_one(int root, char *path)
{
	char *slash = strrchr(path, '/');
	int fd, ret;

	if (slash)
		*slash = '\0';
	fd = path_open(root, slash ? path : ".", O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	if (slash)
		*slash = '/';
	ret = mkdirat(fd, slash ? slash + 1 : path, 0777) && errno != EEXIST ? -errno : 0;
	close(fd);
	return ret;
}

int path_make(int root, const char *path)
{
	size_t len = strlen(path);
	char part[PATH_MAX];
	char *at = part;
	int ret = 0;

	if (len >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	do {
		at = strchrnul(at, '/');
		*at = '\0';
		/* A slash at the beginning */
		if (at != part && strcmp(part, "."))
			ret = make_one(root, part);
		if (at < part + len)
			*at++ = '/';
	} while (!ret && at < part + len);
	return ret ? ret : path_open(root, path, O_PATH | O_DIRECTORY);
}

int path_open_parent(int root, const struct path *path)
{
	return path_open(root, path->dir, O_PATH | O_DIRECTORY);
}
