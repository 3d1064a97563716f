/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names that the source has in the directories that are being copied, so that others can be
 * deleted. Of a name only a hash is kept: if two collide, a file stays that could go.
 */
#ifndef KVERBS_TOOL_NAMES_H
#define KVERBS_TOOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names that are kept for a peer, and directories in one another */
#define NAMES_MAX	(1u << 20)
#define NAMES_LEVELS	2048

/**
 * struct names_level - a directory
 * @path: hash of its path
 * @start: first of its names
 */
struct names_level {
	uint64_t path;
	size_t start;
};

/**
 * struct names - all of it
 * @hashes: of names; those of a directory follow those of the one that it is in
 * @nr: how many
 * @room: how many there is room for
 * @levels: directories, of which the last one is at hand
 * @depth: how many
 * @room_levels: how many there is room for
 * @full: there were more names than may be kept
 */
struct names {
	uint64_t *hashes;
	size_t nr;
	size_t room;
	struct names_level *levels;
	size_t depth;
	size_t room_levels;
	bool full;
};

/* Begin with a directory. */
int names_enter(struct names *n, const char *dir);
/* Note a name, if the directory at hand is @dir. */
int names_add(struct names *n, const char *dir, const char *name);
/* All names of @dir are there: false if it is not at hand, or some may be missing. */
bool names_complete(struct names *n, const char *dir);
bool names_has(const struct names *n, const char *name);
/* The directory is done. */
void names_leave(struct names *n, const char *dir);
void names_free(struct names *n);

#endif /* KVERBS_TOOL_NAMES_H */
