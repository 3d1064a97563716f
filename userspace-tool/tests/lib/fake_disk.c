// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fake_disk.h"

#define SYNCED_MAX 256

struct fake_disk fake_disk = { .room = FAKE_DISK_ANY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ino_t synced[SYNCED_MAX];
static unsigned int nr_synced;

void fake_disk_reset(void)
{
	fake_disk = (struct fake_disk){ .room = FAKE_DISK_ANY };
	nr_synced = 0;
}

bool fake_disk_synced(int dir, const char *name)
{
	bool found = false;
	struct stat st;
	unsigned int i;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_synced; i++)
		found |= synced[i] == st.st_ino;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Returns how many of @len bytes there is room for, at least @min: else none. */
static uint64_t take(uint64_t len, uint64_t min)
{
	pthread_mutex_lock(&lock);
	if (fake_disk.room != FAKE_DISK_ANY) {
		len = len < fake_disk.room ? len : fake_disk.room;
		len = len < min ? 0 : len;
		fake_disk.room -= len;
	}
	pthread_mutex_unlock(&lock);
	return len;
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t len)
{
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return __real_fallocate(fd, mode, at, len);
	if (fake_disk.no_reserve) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (take(len, len) < (uint64_t)len) {
		errno = ENOSPC;
		return -1;
	}
	fake_disk.reserved = len;
	return __real_fallocate(fd, mode, at, len);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t len, off_t at)
{
	void (*when_full)(void) = fake_disk.when_full;
	uint64_t n = take(len, 1);

	if (!fake_disk.reserved)
		fake_disk.unreserved++;
	if (!n && len && when_full) {
		fake_disk.when_full = NULL;
		fake_disk.room = FAKE_DISK_ANY;
		when_full();
		n = take(len, 1);
	}
	if (!n && len) {
		errno = ENOSPC;
		return -1;
	}
	return __real_pwrite(fd, buf, n, at);
}

int __wrap_ftruncate(int fd, off_t len)
{
	fake_disk.reserved = 0;
	return __real_ftruncate(fd, len);
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	int ret = __real_fstatfs(fd, fs);

	if (!ret && fake_disk.type)
		fs->f_type = fake_disk.type;
	return ret;
}

int __wrap_fsync(int fd)
{
	struct stat st;

	pthread_mutex_lock(&lock);
	if (!fstat(fd, &st) && nr_synced < SYNCED_MAX)
		synced[nr_synced++] = st.st_ino;
	pthread_mutex_unlock(&lock);
	return __real_fsync(fd);
}
