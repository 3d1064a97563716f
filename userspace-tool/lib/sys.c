// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * System calls: -errno in the return value, errno as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

#define NSEC_PER_SEC 1000000000u

/* The call that takes the struct timespec of the C library. */
#ifdef SYS_futex_time64
#define FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX_CALL SYS_futex
#endif

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

/* hugetlbfs reports the size of its pages as that of its blocks. */
size_t kverbs_sys_page_size(int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int saved = errno;
	struct stat st;

	if (!sys_ret(fstat(fd, &st), saved) && st.st_blksize > 0 &&
	    !(st.st_blksize & (st.st_blksize - 1)) && (size_t)st.st_blksize > size)
		size = (size_t)st.st_blksize;
	return size;
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

/*
 * A sleep with a deadline ends when a handler has run, even if it was installed with SA_RESTART,
 * as a sleep in SUBMIT does. Without one it would go on.
 */
int kverbs_sys_sleep(const uint32_t *word, uint64_t deadline)
{
	const struct timespec ts = {
		.tv_sec = deadline ? (time_t)(deadline / NSEC_PER_SEC) : INT32_MAX,
		.tv_nsec = (long)(deadline % NSEC_PER_SEC),
	};
	int saved = errno;

	return sys_ret((int)syscall(FUTEX_CALL, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
				    &ts, NULL, FUTEX_BITSET_MATCH_ANY), saved);
}

void kverbs_sys_wake(const uint32_t *word)
{
	int saved = errno;

	sys_ret((int)syscall(FUTEX_CALL, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0),
		saved);
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
