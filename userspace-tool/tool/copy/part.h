/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A file that is not complete yet: a hidden name beside the one it will have. */
#ifndef KVERBS_TOOL_PART_H
#define KVERBS_TOOL_PART_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "copy/meta.h"

/**
 * struct part - an incomplete file
 * @fd: open for reading and writing, and locked
 * @dir: its directory, a descriptor of its own, perhaps with O_PATH
 * @dev: device and inode of what @fd is
 * @ino: the same
 * @empty: it was empty when it was locked
 * @name: what it is called now
 * @final: what it will be called
 * @was: inode that @final had in the beginning, 0: there was none
 * @shared: @name is the one that a later run finds again
 */
struct part {
	int fd;
	int dir;
	dev_t dev;
	ino_t ino;
	bool empty;
	char name[NAME_MAX + 1];
	char final[NAME_MAX + 1];
	ino_t was;
	bool shared;
};

int part_open(struct part *part, int dir, const char *final);
int part_truncate(struct part *part);
int part_commit(struct part *part, const struct part_meta *meta);
void part_drop(struct part *part);
void part_leave(struct part *part);
void part_keep(struct part *part, uint64_t verified);
int part_name(char *buf, const char *final, uint64_t salt);
/* Whether a file of this name may be an incomplete one, on any file system. */
bool part_is_name(const char *name, size_t len);

#endif /* KVERBS_TOOL_PART_H */
