/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A directory for strangers, and around it those that they must not get at: a change
 * there is seen by their times.
 */
#ifndef JAIL_H
#define JAIL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define JAIL_SECRET "nobody reads this"

enum { JAIL_TOP, JAIL_A, JAIL_B, JAIL_THE_SECRET, JAIL_WALLS };

/**
 * struct jail - the directory, root, in b, in a, in one of its own
 * @path: name of root
 * @root: the same, open
 * @walls: what is around it, as it was
 */
struct jail {
	char path[PATH_MAX];
	int root;
	struct stat walls[JAIL_WALLS];
};

/* One in memory or on a disk, if there are both, empty but for what is always there. */
struct jail *jail_enter(bool in_memory);
/* Nothing around it has changed, and no more files are open than there were. */
void jail_check(const struct jail *jail);
/* Names in a directory of it, and how many of them begin as @prefix and end as @suffix. */
unsigned int jail_count(const struct jail *jail, const char *dir, const char *prefix,
			const char *suffix);
/* Whether its files are those that were put there. */
bool jail_is_untouched(const struct jail *jail);

#endif /* JAIL_H */
