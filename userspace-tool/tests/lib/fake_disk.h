/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A disk for the unit tests that is full, or that records what reaches it: system calls on files,
 * redirected by the linker.
 */
#ifndef FAKE_DISK_H
#define FAKE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/vfs.h>

#define FAKE_DISK_ANY UINT64_MAX

/**
 * struct fake_disk - how the disk behaves; set it after fake_disk_reset()
 * @type: type of file system that fstatfs() reports, 0: the real one
 * @no_reserve: fallocate() reports EOPNOTSUPP
 * @room: bytes that pwrite() and fallocate() may still take, FAKE_DISK_ANY: no limit
 * @reserved: bytes that fallocate() has reserved; as on ext4, ftruncate() frees them
 * @when_full: called once in place of ENOSPC of pwrite(), after which there is room again
 * @unreserved: number of calls of pwrite() without a reservation
 */
struct fake_disk {
	uint64_t type;
	bool no_reserve;
	uint64_t room;
	uint64_t reserved;
	void (*when_full)(void);
	unsigned int unreserved;
};

extern struct fake_disk fake_disk;

void fake_disk_reset(void);
/* Returns true if fsync() was called for the file or directory @name in @dir. */
bool fake_disk_synced(int dir, const char *name);

/* With --wrap the linker resolves calls of x() to __wrap_x(), and __real_x() to x(). */
int __real_fallocate(int fd, int mode, off_t at, off_t len);
int __wrap_fallocate(int fd, int mode, off_t at, off_t len);
int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_ftruncate(int fd, off_t len);
int __wrap_ftruncate(int fd, off_t len);
ssize_t __real_pwrite(int fd, const void *buf, size_t len, off_t at);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t len, off_t at);

#endif /* FAKE_DISK_H */
