/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Changes of an entry, in the format of rsync's --itemize-changes. */
#ifndef KVERBS_TOOL_ITEM_H
#define KVERBS_TOOL_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first column */
enum item_action {
	ITEM_NOTHING,	/* but its attributes may change */
	ITEM_SENT,	/* to the other host */
	ITEM_RECEIVED,
	ITEM_CREATED,	/* without data */
	ITEM_LINKED,	/* to another name */
};

/**
 * struct item - an entry
 * @action: the first column
 * @type: f, d, L, D or S
 * @bits: what differs, WIRE_I_*
 * @path: its name
 * @target: of a link, or NULL
 */
struct item {
	enum item_action action;
	char type;
	uint32_t bits;
	const char *path;
	const char *target;
};

/* Whether a line is printed for the entry. */
bool item_matters(const struct item *item);
#define ITEM_TEXT_LEN 12
void item_text(const struct item *item, char text[ITEM_TEXT_LEN]);

#endif /* KVERBS_TOOL_ITEM_H */
