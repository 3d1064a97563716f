// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "cli/util.h"
#include "copy/item.h"
#include "peer/wire.h"

bool item_matters(const struct item *item)
{
	return item->action != ITEM_NOTHING || item->bits & WIRE_I_CHANGES;
}

void item_text(const struct item *item, char text[ITEM_TEXT_LEN])
{
	static const char actions[] = {
		[ITEM_NOTHING] = '.', [ITEM_SENT] = '<', [ITEM_RECEIVED] = '>',
		[ITEM_CREATED] = 'c', [ITEM_LINKED] = 'h',
	};
	/* A column without a bit, that of access times, stays a dot. */
	static const struct {
		char letter;
		uint32_t bit;
	} columns[] = {
		{ 'c', WIRE_I_DATA }, { 's', WIRE_I_SIZE }, { 't', WIRE_I_TIME },
		{ 'p', WIRE_I_PERMS }, { 'o', WIRE_I_OWNER }, { 'g', WIRE_I_GROUP },
		{ 'u', 0 }, { 'a', WIRE_I_ACL }, { 'x', WIRE_I_XATTR },
	};
	unsigned int i;

	text[0] = actions[item->action];
	text[1] = item->type;
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		text[2 + i] = item->bits & WIRE_I_NEW ? '+' :
			      item->bits & columns[i].bit ? columns[i].letter : '.';
	text[2 + i] = '\0';
}
