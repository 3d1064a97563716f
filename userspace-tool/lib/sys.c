// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * System calls: -errno in the return value, errno as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

static int sys_ret(int ret, int saved_errno)
{
	if (ret < 0)
		ret = -errno;
	errno = saved_errno;
	return ret;
}

int kverbs_sys_open(const char *path)
{
	int saved = errno;

	return sys_ret(open(path, O_RDWR | O_CLOEXEC), saved);
}

void kverbs_sys_close(int fd)
{
	int saved = errno;

	sys_ret(close(fd), saved);
}

int kverbs_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	int saved = errno;

	return sys_ret(ioctl(fd, cmd, arg), saved);
}

static int map(int fd, uint64_t offset, size_t length, int prot, int flags,
	       void **addr)
{
	int saved = errno;
	void *p;

	p = mmap(NULL, length, prot, flags, fd, (off_t)offset);
	if (p == MAP_FAILED)
		return sys_ret(-1, saved);
	*addr = p;
	return 0;
}

int kverbs_sys_mmap(int fd, uint64_t offset, size_t length, int prot, void **addr)
{
	return map(fd, offset, length, prot, MAP_SHARED, addr);
}

int kverbs_sys_mmap_anon(size_t length, void **addr)
{
	return map(-1, 0, length, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, addr);
}

void kverbs_sys_munmap(void *addr, size_t length)
{
	int saved = errno;

	sys_ret(munmap(addr, length), saved);
}

void kverbs_sys_madvise(void *addr, size_t length, int advice)
{
	int saved = errno;

	sys_ret(madvise(addr, length, advice), saved);
}

void kverbs_sys_nap(unsigned int ns)
{
	const struct timespec ts = { .tv_nsec = ns };
	int saved = errno;

	sys_ret(nanosleep(&ts, NULL), saved);
}

uint64_t kverbs_sys_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int kverbs_sys_read_text(const char *path, char *buf, size_t room)
{
	int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*buf = '\0';
	if (fd < 0)
		return sys_ret(-1, saved);
	n = read(fd, buf, room - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	errno = saved;
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	if (n && buf[n - 1] == '\n')
		buf[n - 1] = '\0';
	return 0;
}

DIR *kverbs_sys_opendir(const char *path)
{
	int saved = errno;
	DIR *dir = opendir(path);

	errno = saved;
	return dir;
}

uint64_t kverbs_sys_memlock(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}
