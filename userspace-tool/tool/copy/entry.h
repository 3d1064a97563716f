/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Entries of a directory in the answer to LIST. */
#ifndef KVERBS_TOOL_ENTRY_H
#define KVERBS_TOOL_ENTRY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * struct entry - a file
 * @name: its name
 * @target: of a symbolic link, else empty
 * @st: mode, size, modification time, owner, group and links of it
 */
struct entry {
	const char *name;
	const char *target;
	struct stat st;
};

/* Append it to an answer of at most WIRE_TAIL_MAX bytes, or return false. */
bool entry_put(const struct entry *entry, uint8_t *buf, size_t *len);
/* Read the one at @at. @text: for its strings. Returns the place of the next one, or -EPROTO. */
#define ENTRY_TEXT_LEN (NAME_MAX + PATH_MAX + 2)
ssize_t entry_get(struct entry *entry, char text[ENTRY_TEXT_LEN], const uint8_t *buf, size_t len,
		  size_t at);

#endif /* KVERBS_TOOL_ENTRY_H */
