/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From an id of the kernel's to the object that has it. A completion may name
 * an object that is gone already: it is not found, and that is all.
 */
#ifndef KVERBS_TABLE_H
#define KVERBS_TABLE_H

#include <stdint.h>

enum kverbs_obj_type {
	KVERBS_OBJ_CONN,
	KVERBS_OBJ_LISTENER,
};

/* Embedded in what the table holds. */
struct kverbs_obj {
	struct kverbs_obj *next;
	uint32_t id;
	enum kverbs_obj_type type;
};

struct kverbs_table {
	struct kverbs_obj **slots;
	unsigned int nr_slots;		/* a power of two */
	unsigned int nr;
};

int kverbs_table_init(struct kverbs_table *t);
void kverbs_table_destroy(struct kverbs_table *t);
void kverbs_table_add(struct kverbs_table *t, struct kverbs_obj *obj);
void kverbs_table_del(struct kverbs_table *t, struct kverbs_obj *obj);
struct kverbs_obj *kverbs_table_find(const struct kverbs_table *t, uint32_t id);

#endif /* KVERBS_TABLE_H */
