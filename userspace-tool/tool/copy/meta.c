// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "copy/meta.h"
#include "peer/wire.h"

unsigned int meta_differs(const struct part_meta *meta, const struct stat *st)
{
	unsigned int bits = 0;

	if (st->st_mtim.tv_sec != meta->times[1].tv_sec ||
	    st->st_mtim.tv_nsec != meta->times[1].tv_nsec)
		bits |= WIRE_I_TIME;
	if (!S_ISLNK(st->st_mode) && (st->st_mode ^ meta->mode) & meta->mask)
		bits |= WIRE_I_PERMS;
	if (meta->set_owner && st->st_uid != meta->uid)
		bits |= WIRE_I_OWNER;
	if (meta->set_group && st->st_gid != meta->gid)
		bits |= WIRE_I_GROUP;
	return bits;
}

static uid_t owner(const struct part_meta *meta, unsigned int bits)
{
	return bits & WIRE_I_OWNER ? meta->uid : (uid_t)-1;
}

static gid_t group(const struct part_meta *meta, unsigned int bits)
{
	return bits & WIRE_I_GROUP ? meta->gid : (gid_t)-1;
}

/* A file that is open with O_PATH can be changed only by its name in /proc. */
static const char *name_of(int fd, char buf[40])
{
	snprintf(buf, 40, "/proc/self/fd/%d", fd);
	return buf;
}

static int set_mode(int fd, mode_t mode)
{
	char name[40];

	if (fchmod(fd, mode) && (errno != EBADF || chmod(name_of(fd, name), mode)))
		return -errno;
	return 0;
}

static int set_times(int fd, const struct timespec times[2])
{
	char name[40];

	if (futimens(fd, times) &&
	    (errno != EBADF || utimensat(AT_FDCWD, name_of(fd, name), times, 0)))
		return -errno;
	return 0;
}

/* Owners first: a change of owner clears set-user-ID bits and capabilities. Times last. */
int meta_apply(int fd, const struct part_meta *meta)
{
	unsigned int bits;
	struct stat st;
	int ret = 0;

	if (fstat(fd, &st))
		return -errno;
	bits = meta_differs(meta, &st);
	if (bits & (WIRE_I_OWNER | WIRE_I_GROUP) &&
	    (fchownat(fd, "", owner(meta, bits), group(meta, bits), AT_EMPTY_PATH) ||
	     fstat(fd, &st)))
		return -errno;
	/* Permissions may keep attributes from being set, and a list of access changes them. */
	if (meta->which) {
		ret = attrs_apply(fd, meta->attrs, meta->which);
		if (ret)
			return ret;
		if (fstat(fd, &st))
			return -errno;
	}
	if ((st.st_mode ^ meta->mode) & meta->mask)
		ret = set_mode(fd, (st.st_mode & 07777 & ~meta->mask) | (meta->mode & meta->mask));
	if (!ret && bits & WIRE_I_TIME)
		ret = set_times(fd, meta->times);
	return ret;
}

int meta_apply_link(int dir, const char *name, const struct part_meta *meta)
{
	unsigned int bits;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	bits = meta_differs(meta, &st);
	if (bits & (WIRE_I_OWNER | WIRE_I_GROUP) &&
	    fchownat(dir, name, owner(meta, bits), group(meta, bits), AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (bits & WIRE_I_TIME && utimensat(dir, name, meta->times, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return 0;
}
