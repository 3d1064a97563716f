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

#define FAKE_DISK_ANY UINT64_MAX

/**
 * struct fake_disk - how the disk behaves; set it after fake_disk_reset()
 * @type: type of file system that fstatfs() reports, 0: the real one
 * @no_reserve: fallocate() reports EOPNOTSUPP
 * @room: bytes that pwrite() and fallocate() may still take, FAKE_DISK_ANY: no limit
 * @reserved: bytes that fallocate() has reserved; as on ext4, ftruncate() frees them
 * @unreserved: number of calls of pwrite() without a reservation
 */
struct fake_disk {
	uint64_t type;
	bool no_reserve;
	uint64_t room;
	uint64_t reserved;
	unsigned int unreserved;
};

extern struct fake_disk fake_disk;

void fake_disk_reset(void);
/* Returns true if fsync() was called for the file or directory @name in @dir. */
bool fake_disk_synced(int dir, const char *name);

#endif /* FAKE_DISK_H */
