/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * System calls of the library. The unit tests replace sys.c by a fake kernel.
 */
#ifndef KVERBS_SYS_H
#define KVERBS_SYS_H

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kverbs.h>

/* All return 0 (or a descriptor) or -errno, and leave errno alone. */
int kverbs_sys_open(const char *path);
void kverbs_sys_close(int fd);
int kverbs_sys_ioctl(int fd, unsigned long cmd, void *arg);
int kverbs_sys_mmap(int fd, uint64_t offset, size_t length, int prot, void **addr);
int kverbs_sys_mmap_anon(size_t length, void **addr);
void kverbs_sys_munmap(void *addr, size_t length);
/* A power of two of which offsets of mmap(2) must be multiples: more with huge pages. */
size_t kverbs_sys_page_size(int fd);
void kverbs_sys_madvise(void *addr, size_t length, int advice);
/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t kverbs_sys_now(void);
void kverbs_sys_nap(unsigned int ns);
/* A text file's first @room - 1 bytes, without the last newline. */
int kverbs_sys_read_text(const char *path, char *buf, size_t room);
/* NULL: there is no such directory. */
DIR *kverbs_sys_opendir(const char *path);
/* RLIMIT_MEMLOCK in bytes, UINT64_MAX: none. */
uint64_t kverbs_sys_memlock(void);
/*
 * Sleep while *@word is 0, until @deadline, 0: none. -EINTR: a signal handler has run; any other
 * return says nothing. Not a cancellation point.
 */
int kverbs_sys_sleep(const uint32_t *word, uint64_t deadline);
/* Wake the thread that sleeps on @word. */
void kverbs_sys_wake(const uint32_t *word);

/* KVERBS_DESTROY, restarted after a signal. */
static inline int kverbs_sys_destroy(int fd, uint32_t id)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd), .id = id };
	int ret;

	do {
		ret = kverbs_sys_ioctl(fd, KVERBS_DESTROY, &cmd);
	} while (ret == -EINTR);
	return ret;
}

#endif /* KVERBS_SYS_H */
