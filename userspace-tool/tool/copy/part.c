// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "copy/part.h"

#define SUFFIX ".kverbs-part"
#define TRIES 8
#define SALT_DIGITS 16
/* A part file with a salt that nothing has locked or changed for so long has no process. */
#define DEAD_SECONDS (24 * 60 * 60)
/* Bytes that any disk in use writes within seconds. */
#define FORCE_STEP (8 << 20)

/*
 * ".NAME.kverbs-part", and with a @salt ".NAME.SALT.kverbs-part". A name that
 * would be too long is cut and told apart by its hash.
 */
int part_name(char *buf, const char *final, uint64_t salt)
{
	char middle[20] = "";
	size_t room;

	if (strlen(final) > NAME_MAX)
		return -ENAMETOOLONG;
	if (salt)
		snprintf(middle, sizeof(middle), ".%016" PRIx64, salt);
	room = NAME_MAX - 1 - strlen(middle) - strlen(SUFFIX);
	if (strlen(final) <= room) {
		snprintf(buf, NAME_MAX + 1, ".%s%s%s", final, middle, SUFFIX);
		return 0;
	}
	room -= 17;
	snprintf(buf, NAME_MAX + 1, ".%.*s.%016" PRIx64 "%s%s", (int)room, final,
		 (uint64_t)XXH64(final, strlen(final), 0), middle, SUFFIX);
	return 0;
}

/* Case does not count: some directories do not tell it apart. */
bool part_is_name(const char *name, size_t len)
{
	size_t suffix = strlen(SUFFIX);

	return len > suffix && name[0] == '.' &&
	       !strncasecmp(name + len - suffix, SUFFIX, suffix);
}

static bool is_called(const struct part *part, const char *name)
{
	struct stat st;

	return !fstatat(part->dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_dev == part->dev && st.st_ino == part->ino;
}

/* Whether the name is still that file's: another process may just have renamed it. */
static bool is_linked(const struct part *part)
{
	return is_called(part, part->name);
}

/* A file of another process that has the name by now must stay. */
static void unlink_own(const struct part *part)
{
	if (is_linked(part))
		unlinkat(part->dir, part->name, 0);
}

/* Returns false if it is no regular file, or the lock is another process's. */
static bool lock(struct part *part)
{
	struct stat st;

	if (flock(part->fd, LOCK_EX | LOCK_NB) || fstat(part->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	part->dev = st.st_dev;
	part->ino = st.st_ino;
	part->empty = !st.st_size;
	return true;
}

static int open_one(struct part *part, int flags)
{
	part->fd = openat(part->dir, part->name,
			  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
			  0600);
	if (part->fd < 0)
		return -errno;
	if (lock(part) && is_linked(part))
		return 0;
	close(part->fd);
	part->fd = -1;
	return -EBUSY;
}

/*
 * A file of another user, or with a second link, could be changed by its owner after the
 * copy. A file that open_one() has just created needs no check: some file systems report
 * another owner for it.
 */
static bool is_ours(const struct part *part)
{
	struct stat st;

	return !fstat(part->fd, &st) && st.st_uid == geteuid() && st.st_nlink == 1;
}

static int open_shared(struct part *part)
{
	int ret = open_one(part, O_EXCL);

	if (ret != -EEXIST)
		return ret;
	ret = open_one(part, 0);
	switch (ret) {
	case 0:
		if (is_ours(part))
			return 0;
		close(part->fd);
		part->fd = -1;
		return -EBUSY;
	/* No file, or none that can be written: the name is occupied. */
	case -EACCES:
	case -EISDIR:
	case -ELOOP:
	case -ENXIO:
	case -EPERM:
	case -ETXTBSY:
		return -EBUSY;
	default:
		return ret;
	}
}

/* Whether it is a part file of the same final name with some salt. */
static bool is_salted(const struct part *part, const char *name)
{
	char like[NAME_MAX + 1];
	size_t at, i;

	if (part_name(like, part->final, 1) || strlen(name) != strlen(like))
		return false;
	at = strlen(like) - strlen(SUFFIX) - SALT_DIGITS;
	for (i = 0; i < SALT_DIGITS; i++)
		if (!isxdigit((unsigned char)name[at + i]))
			return false;
	return !memcmp(name, like, at) && !strcmp(name + at + i, SUFFIX);
}

/* Remove the partial file that @old is called, unless it is another user's or in use. */
static void sweep_one(struct part *old, time_t before)
{
	struct stat st;

	old->fd = openat(old->dir, old->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (old->fd < 0)
		return;
	if (lock(old) && is_ours(old) && !fstat(old->fd, &st) &&
	    (!before || st.st_mtime < before))
		unlink_own(old);
	close(old->fd);
}

/* No copy resumes a part file with a salt, so one of a killed process would stay for ever. */
static void sweep_salted(const struct part *part)
{
	int fd = openat(part->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct part old = { .dir = part->dir };
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((de = readdir(dir))) {
		if (!is_salted(part, de->d_name))
			continue;
		memcpy(old.name, de->d_name, strlen(de->d_name) + 1);
		sweep_one(&old, time(NULL) - DEAD_SECONDS);
	}
	closedir(dir);
}

/* The name that all runs share, unless another is at it right now or left it. */
static int open_any(struct part *part)
{
	uint64_t salt;
	int i, ret;

	ret = part_name(part->name, part->final, 0);
	if (!ret)
		ret = open_shared(part);
	part->shared = !ret;
	if (ret == -EBUSY)
		sweep_salted(part);
	for (i = 0; i < TRIES && (ret == -EBUSY || ret == -EEXIST); i++) {
		if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
			return -EIO;
		part_name(part->name, part->final, salt | 1);
		ret = open_one(part, O_EXCL);
	}
	return ret;
}

/* Neither a directory nor a device is to be replaced by a file. */
static int check_final(struct part *part)
{
	struct stat st;

	if (fstatat(part->dir, part->final, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	part->was = st.st_ino;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -EEXIST;
}

int part_open(struct part *part, int dir, const char *final)
{
	int ret;

	memset(part, 0, sizeof(*part));
	part->fd = -1;
	if (strlen(final) > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part->final, final, strlen(final) + 1);
	part->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (part->dir < 0)
		return -errno;
	ret = check_final(part);
	if (!ret)
		ret = open_any(part);
	if (ret) {
		close(part->dir);
		part->dir = -1;
	}
	return ret;
}

/* Begin from nothing, whatever an earlier run left. */
int part_truncate(struct part *part)
{
	return !part->empty && ftruncate(part->fd, 0) ? -errno : 0;
}

static void shut(struct part *part)
{
	close(part->fd);
	close(part->dir);
	part->fd = -1;
	part->dir = -1;
}

/* Remove the partial file of an earlier run, unless another process has locked it. */
static void sweep(const struct part *part)
{
	struct part old = { .dir = part->dir };

	part_name(old.name, part->final, 0);
	sweep_one(&old, 0);
}

/*
 * One fsync() of a large file in the page cache may take longer than the peer waits, so
 * write it in steps with a heartbeat after each. A lost peer is noticed by the next send.
 * The kernel reports a disk error once, so it must be returned here. File systems that
 * do not support sync_file_range() are left to fsync().
 */
static int force_out(const struct part *part, const struct part_meta *meta)
{
	struct stat st;
	off_t at;

	if (fstat(part->fd, &st))
		return -errno;
	for (at = 0; at < st.st_size; at += FORCE_STEP) {
		if (sync_file_range(part->fd, at, FORCE_STEP, SYNC_FILE_RANGE_WRITE_AND_WAIT) &&
		    errno != EINVAL && errno != ESPIPE)
			return -errno;
		if (meta->beat)
			meta->beat(meta->arg);
	}
	return fsync(part->fd) ? -errno : 0;
}

/* The name must not be lost either. */
static int force_out_dir(const struct part *part)
{
	int fd = openat(part->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

static int finish(struct part *part, const struct part_meta *meta)
{
	int ret;

	ret = meta_apply(part->fd, meta);
	if (!ret && meta->sync)
		ret = force_out(part, meta);
	if (ret)
		return ret;
	if (!is_linked(part))
		return -ESTALE;
	if (renameat(part->dir, part->name, part->dir, part->final))
		return -errno;
	/* rename() goes by name: the file that has been verified must be what it moved. */
	if (!is_called(part, part->final))
		return -ESTALE;
	return meta->sync ? force_out_dir(part) : 0;
}

/* Give it its name. On an error it is removed. Closed either way. */
int part_commit(struct part *part, const struct part_meta *meta)
{
	int ret = finish(part, meta);

	if (ret) {
		part_drop(part);
		return ret;
	}
	if (!part->shared)
		sweep(part);
	shut(part);
	return 0;
}

void part_drop(struct part *part)
{
	if (part->fd < 0)
		return;
	unlink_own(part);
	shut(part);
}

/* Touch nothing that was there before us. */
void part_leave(struct part *part)
{
	struct stat st;

	if (part->fd < 0)
		return;
	if (!part->shared || fstat(part->fd, &st) || !st.st_size)
		unlink_own(part);
	shut(part);
}

/* True if another run has completed the file in the meantime. */
static bool is_overtaken(const struct part *part)
{
	struct stat st;

	return !fstatat(part->dir, part->final, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_ino != part->was;
}

/* Leave the beginning that is known to be right to a later run. */
void part_keep(struct part *part, uint64_t verified)
{
	if (part->fd < 0)
		return;
	if (!part->shared || !verified || is_overtaken(part) ||
	    ftruncate(part->fd, verified))
		unlink_own(part);
	shut(part);
}
