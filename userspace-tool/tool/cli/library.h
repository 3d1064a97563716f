/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared libraries that a command loads when it needs them, so that kverbs runs without them. */
#ifndef KVERBS_TOOL_LIBRARY_H
#define KVERBS_TOOL_LIBRARY_H

#include <stddef.h>

/**
 * struct library_symbol - a function of a library
 * @name: of the function; the last entry has none
 * @at: offset of its pointer in the caller's table
 */
struct library_symbol {
	const char *name;
	size_t at;
};

/*
 * Load @soname with the libraries that it needs, and fill @table. -ENOENT: there is no such
 * library, or it lacks one of the functions.
 */
int library_load(const char *soname, const struct library_symbol *symbols, void *table);

#endif /* KVERBS_TOOL_LIBRARY_H */
