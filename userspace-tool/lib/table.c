// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A hash of objects by id. Ids count up, so their low bits spread well.
 */
#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define TABLE_FIRST_SLOTS 64

static struct kverbs_obj **slot_of(const struct kverbs_table *t, uint32_t id)
{
	return &t->slots[id & (t->nr_slots - 1)];
}

static void link_obj(struct kverbs_table *t, struct kverbs_obj *obj)
{
	struct kverbs_obj **slot = slot_of(t, obj->id);

	obj->next = *slot;
	*slot = obj;
}

int kverbs_table_init(struct kverbs_table *t)
{
	t->slots = calloc(TABLE_FIRST_SLOTS, sizeof(*t->slots));
	if (!t->slots)
		return -ENOMEM;
	t->nr_slots = TABLE_FIRST_SLOTS;
	t->nr = 0;
	return 0;
}

void kverbs_table_destroy(struct kverbs_table *t)
{
	free(t->slots);
}

/* Without memory it stays as small as it is: slower, not wrong. */
static void grow(struct kverbs_table *t)
{
	struct kverbs_table old = *t;
	struct kverbs_obj *obj;
	unsigned int i;

	t->slots = calloc((size_t)old.nr_slots * 2, sizeof(*t->slots));
	if (!t->slots) {
		*t = old;
		return;
	}
	t->nr_slots = old.nr_slots * 2;
	for (i = 0; i < old.nr_slots; i++) {
		while ((obj = old.slots[i])) {
			old.slots[i] = obj->next;
			link_obj(t, obj);
		}
	}
	free(old.slots);
}

void kverbs_table_add(struct kverbs_table *t, struct kverbs_obj *obj)
{
	if (t->nr >= t->nr_slots)
		grow(t);
	link_obj(t, obj);
	t->nr++;
}

void kverbs_table_del(struct kverbs_table *t, struct kverbs_obj *obj)
{
	struct kverbs_obj **p;

	for (p = slot_of(t, obj->id); *p; p = &(*p)->next) {
		if (*p != obj)
			continue;
		*p = obj->next;
		t->nr--;
		return;
	}
}

struct kverbs_obj *kverbs_table_find(const struct kverbs_table *t, uint32_t id)
{
	struct kverbs_obj *obj;

	for (obj = *slot_of(t, id); obj; obj = obj->next)
		if (obj->id == id)
			break;
	return obj;
}
