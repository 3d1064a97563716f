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

/* Owners first: a change of owner clears set-user-ID bits and capabilities. Times last. */
int meta_apply(int fd, const struct part_meta *meta)
{
	unsigned int bits;
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st))
		return -errno;
	bits = meta_differs(meta, &st);
	if (bits & (WIRE_I_OWNER | WIRE_I_GROUP) &&
	    (fchownat(fd, "", owner(meta, bits), group(meta, bits), AT_EMPTY_PATH) ||
	     fstat(fd, &st)))
		return -errno;
	/* Permissions may keep attributes from being set, and a list of access changes them. */
	if (meta->which) {
		int ret = attrs_apply(fd, meta->attrs, meta->which);

		if (ret)
			return ret;
		if (fstat(fd, &st))
			return -errno;
	}
	if ((st.st_mode ^ meta->mode) & meta->mask &&
	    chmod(path, (st.st_mode & 07777 & ~meta->mask) | (meta->mode & meta->mask)))
		return -errno;
	if (bits & WIRE_I_TIME && utimensat(AT_FDCWD, path, meta->times, 0))
		return -errno;
	return 0;
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
