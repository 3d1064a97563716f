// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "copy/links.h"

#define SLOTS_LEAST 256

/* The entry of the file, or the free one that it would get. */
static struct links_entry *slot_of(const struct links *l, dev_t dev, ino_t ino)
{
	uint64_t at = (ino * 0x9e3779b97f4a7c15ull) ^ dev;
	struct links_entry *e;

	for (at ^= at >> 32;; at++) {
		e = &l->slots[at & (l->nr_slots - 1)];
		if (!e->path || (e->dev == dev && e->ino == ino))
			return e;
	}
}

const struct links_entry *links_find(const struct links *l, const struct stat *st)
{
	struct links_entry *e;

	if (!l->nr)
		return NULL;
	e = slot_of(l, st->st_dev, st->st_ino);
	return e->path ? e : NULL;
}

/* So that at least half of the slots are free. */
static int grow(struct links *l)
{
	struct links more = { .nr_slots = l->nr_slots ? 2 * l->nr_slots : SLOTS_LEAST };
	struct links_entry *e;
	size_t i;

	if (2 * (l->nr + 1) <= l->nr_slots)
		return 0;
	more.slots = calloc(more.nr_slots, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	for (i = 0; i < l->nr_slots; i++) {
		e = &l->slots[i];
		if (e->path)
			*slot_of(&more, e->dev, e->ino) = *e;
	}
	free(l->slots);
	l->slots = more.slots;
	l->nr_slots = more.nr_slots;
	return 0;
}

int links_add(struct links *l, const struct stat *st, const char *path)
{
	size_t bytes = strlen(path) + 1 + 4 * sizeof(struct links_entry);
	struct links_entry *e;
	int ret;

	if (l->max && l->bytes + bytes > l->max)
		return 0;
	ret = grow(l);
	if (ret)
		return ret;
	e = slot_of(l, st->st_dev, st->st_ino);
	if (e->path)
		return 0;
	e->path = strdup(path);
	if (!e->path)
		return -ENOMEM;
	e->dev = st->st_dev;
	e->ino = st->st_ino;
	l->nr++;
	l->bytes += bytes;
	return 0;
}

void links_free(struct links *l)
{
	size_t i;

	for (i = 0; i < l->nr_slots; i++)
		free(l->slots[i].path);
	free(l->slots);
	memset(l, 0, sizeof(*l));
}
