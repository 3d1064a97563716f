// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cli/util.h"
#include "copy/names.h"

#define ROOM_LEAST 64

static uint64_t hash_of(const char *text)
{
	return XXH64(text, strlen(text), 0);
}

static struct names_level *last(const struct names *n)
{
	return n->depth ? &n->levels[n->depth - 1] : NULL;
}

static bool is_at_hand(const struct names *n, const char *dir)
{
	return n->depth && last(n)->path == hash_of(dir);
}

int names_enter(struct names *n, const char *dir)
{
	struct names_level *levels;
	size_t room;

	if (n->depth == NAMES_LEVELS)
		return -EOVERFLOW;
	if (n->depth == n->room_levels) {
		room = max(2 * n->room_levels, (size_t)ROOM_LEAST);
		levels = realloc(n->levels, room * sizeof(*levels));
		if (!levels)
			return -ENOMEM;
		n->levels = levels;
		n->room_levels = room;
	}
	n->levels[n->depth++] = (struct names_level){ .path = hash_of(dir), .start = n->nr };
	return 0;
}

int names_add(struct names *n, const char *dir, const char *name)
{
	uint64_t *hashes;
	size_t room;

	if (!is_at_hand(n, dir))
		return 0;
	if (n->nr == NAMES_MAX) {
		n->full = true;
		return 0;
	}
	if (n->nr == n->room) {
		room = max(2 * n->room, (size_t)ROOM_LEAST);
		hashes = realloc(n->hashes, room * sizeof(*hashes));
		if (!hashes)
			return -ENOMEM;
		n->hashes = hashes;
		n->room = room;
	}
	n->hashes[n->nr++] = hash_of(name);
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool names_complete(struct names *n, const char *dir)
{
	if (!is_at_hand(n, dir) || n->full)
		return false;
	if (n->nr != last(n)->start)
		qsort(n->hashes + last(n)->start, n->nr - last(n)->start, sizeof(*n->hashes),
		      compare);
	return true;
}

bool names_has(const struct names *n, const char *name)
{
	size_t start = n->depth ? last(n)->start : 0;
	uint64_t hash = hash_of(name);

	return n->nr != start && bsearch(&hash, n->hashes + start, n->nr - start,
					 sizeof(*n->hashes), compare);
}

void names_leave(struct names *n, const char *dir)
{
	if (!is_at_hand(n, dir))
		return;
	n->nr = last(n)->start;
	n->depth--;
}

void names_free(struct names *n)
{
	free(n->hashes);
	free(n->levels);
	memset(n, 0, sizeof(*n));
}
