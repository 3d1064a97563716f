/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A directory for untrusted peers, and files around it that they must not reach: timestamps reveal
 * a change.
 */
#ifndef JAIL_H
#define JAIL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define JAIL_SECRET "nobody reads this"

enum { JAIL_TOP, JAIL_A, JAIL_B, JAIL_THE_SECRET, JAIL_WALLS };

/**
 * struct jail - the directory: root in b in a in a temporary directory
 * @path: path of root
 * @root: file descriptor of root
 * @walls: state of the surroundings at the start
 */
struct jail {
	char path[PATH_MAX];
	int root;
	struct stat walls[JAIL_WALLS];
};

/* Enter a jail in memory or on a disk, if both exist; only the fixed files are in it. */
struct jail *jail_enter(bool in_memory);
/* Check that the surroundings are unchanged and that no file was left open. */
void jail_check(const struct jail *jail);
/* Count the names in @dir, and those among them with this prefix and suffix. */
unsigned int jail_count(const struct jail *jail, const char *dir, const char *prefix,
			const char *suffix);
/* Returns true if the jail has exactly its fixed files. */
bool jail_is_untouched(const struct jail *jail);

#endif /* JAIL_H */
