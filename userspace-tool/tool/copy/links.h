/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Files with several links that a source has met, and under which name. */
#ifndef KVERBS_TOOL_LINKS_H
#define KVERBS_TOOL_LINKS_H

#include <stddef.h>
#include <sys/stat.h>

/* Bytes of names that a server keeps for a client; more links are copied as files. */
#define LINKS_BYTES_MAX (8u << 20)

struct links_entry;

/**
 * struct links - a hash table
 * @slots: entries, by device and inode
 * @nr_slots: how many, a power of two
 * @nr: entries in use
 * @bytes: of all names
 * @max: bound of @bytes, 0: none
 */
struct links {
	struct links_entry *slots;
	size_t nr_slots;
	size_t nr;
	size_t bytes;
	size_t max;
};

/**
 * struct links_entry - a file
 * @dev: its device
 * @ino: its inode
 * @path: its first name, NULL: the entry is free
 */
struct links_entry {
	dev_t dev;
	ino_t ino;
	char *path;
};

const struct links_entry *links_find(const struct links *l, const struct stat *st);
/* 0 also if there is no room for it within the bound */
int links_add(struct links *l, const struct stat *st, const char *path);
void links_free(struct links *l);

#endif /* KVERBS_TOOL_LINKS_H */
