// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cli/util.h"
#include "copy/store.h"

/* Below this a write through the page cache is done before a disk would be. */
#define DIRECT_MIN COPY_EAGER_SIZE

int store_set_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	flags = on ? flags | O_DIRECT : flags & ~O_DIRECT;
	return fcntl(fd, F_SETFL, flags) ? -errno : 0;
}

int store_read(int fd, char *p, size_t room, size_t len, uint64_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, p + done, room - done, at + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ESTALE;
		done += n;
	}
	return 0;
}

/*
 * How a file of @size bytes can be written where @fd is. Only file systems whose
 * files are memory let it be pinned for writing: with others the kernel could
 * not know that a page is being changed behind its back.
 */
enum method store_method(int fd, uint64_t size)
{
	struct statfs fs;

	if (size <= DIRECT_MIN || fstatfs(fd, &fs))
		return METHOD_BUFFERED;
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC)
		return METHOD_MAPPED;
	return store_set_direct(fd, true) ? METHOD_BUFFERED : METHOD_DIRECT;
}

/* Find out now rather than in the end that it does not fit. */
int store_reserve(int fd, uint64_t size)
{
	if (!size || !fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size))
		return 0;
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? -errno : 0;
}

static int write_full(int fd, const char *p, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; len -= n, p += n, at += n) {
		n = pwrite(fd, p, len, at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -errno;
		else if (!n)
			return -EIO;
	}
	return 0;
}

/* Let writing back begin, so that less of it is left for the end. */
static int write_buffered(int fd, const char *p, size_t len, uint64_t at)
{
	int ret = write_full(fd, p, len, at);

	if (!ret && len > DIRECT_MIN)
		sync_file_range(fd, at, len, SYNC_FILE_RANGE_WRITE);
	return ret;
}

/*
 * Write what comes next in the file; only its end may be no multiple of the
 * alignment, and goes through the page cache. @method becomes METHOD_BUFFERED
 * if the file system takes O_DIRECT only in name.
 */
int store_write(int fd, enum method *method, const void *data, size_t len, uint64_t at)
{
	size_t body = len / STORE_DIRECT_ALIGN * STORE_DIRECT_ALIGN;
	int ret;

	if (*method != METHOD_DIRECT)
		return write_buffered(fd, data, len, at);
	ret = body ? write_full(fd, data, body, at) : 0;
	if (ret == -EINVAL || ret == -EOPNOTSUPP) {
		store_set_direct(fd, false);
		*method = METHOD_BUFFERED;
		return write_buffered(fd, data, len, at);
	}
	if (ret || body == len)
		return ret;
	store_set_direct(fd, false);
	return write_full(fd, (const char *)data + body, len - body, at + body);
}

static bool is_zero(const char *p, size_t len)
{
	static const char zeros[STORE_DIRECT_ALIGN];

	return len == sizeof(zeros) && !memcmp(p, zeros, len);
}

/* The length of what begins at @p and is all zeros, or not: pages are told apart. */
static size_t run_length(const char *p, size_t len, bool zero)
{
	size_t at = 0, n;

	while (at < len) {
		n = min(len - at, (size_t)STORE_DIRECT_ALIGN);
		if (is_zero(p + at, n) != zero)
			break;
		at += n;
	}
	return at;
}

int store_write_sparse(int fd, enum method *method, const void *data, size_t len, uint64_t at)
{
	const char *p = data;
	int ret = 0;
	size_t n;

	for (; len && !ret; len -= n, p += n, at += n) {
		n = run_length(p, len, true);
		if (n)
			continue;
		n = run_length(p, len, false);
		ret = store_write(fd, method, p, n, at);
	}
	return ret;
}

void store_punch(int fd, const void *data, size_t len, uint64_t at)
{
	const char *p = data;
	size_t n;

	for (; len; len -= n, p += n, at += n) {
		n = run_length(p, len, true);
		if (n && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n))
			return;
		if (!n)
			n = run_length(p, len, false);
	}
}
