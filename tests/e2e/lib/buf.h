/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of every kind, and checks of its contents. */
#ifndef DATA_BUF_H
#define DATA_BUF_H

#include "dev.h"

#define PAGE	4096UL
#define MIB	(1UL << 20)

/**
 * enum buf_kind - kind of memory
 * @BUF_ANON: private and anonymous
 * @BUF_SCATTERED: pages of a memfd, mapped in reverse order, so that none are adjacent
 * @BUF_SHMEM: a memfd, shared
 * @BUF_FILE: a file on tmpfs, private
 * @BUF_HUGE: huge pages
 * @BUF_READ_ONLY: a memfd, shared, mapped read-only
 * @BUF_FILE_READ_ONLY: a file, private, mapped read-only
 */
enum buf_kind {
	BUF_ANON,
	BUF_SCATTERED,
	BUF_SHMEM,
	BUF_FILE,
	BUF_HUGE,
	BUF_READ_ONLY,
	BUF_FILE_READ_ONLY,
};

/**
 * struct buf - registered memory between two guard pages
 * @addr: its start
 * @size: bytes, without the guard pages
 * @region: its region
 * @twin: a writable mapping of the same memory, if @addr is not writable
 */
struct buf {
	unsigned char *addr;
	size_t size;
	uint32_t region;
	unsigned char *twin;
};

void buf_open(struct buf *buf, int fd, enum buf_kind kind, size_t size);
void buf_fill(struct buf *buf, unsigned int seed);
void buf_poison(struct buf *buf);
void buf_check_moved(const struct buf *to, size_t to_offset, const struct buf *from,
		     size_t from_offset, size_t length);
void buf_check_untouched(const struct buf *buf);

#endif /* DATA_BUF_H */
