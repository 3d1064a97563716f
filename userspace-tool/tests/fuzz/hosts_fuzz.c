// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Descriptions of InfiniBand nodes, and strings of announcements: what gets into the list is
 * printable, and a host is a word that commands take as such.
 */
#include <ctype.h>

#include "fuzz.h"
#include "hosts/hosts.h"

static void check_text(const char *text, size_t room)
{
	size_t i, len = strnlen(text, room);

	assert(len < room);
	for (i = 0; i < len; i++)
		assert(text[i] >= ' ' && text[i] <= '~');
}

static void check_entry(const struct hosts_entry *e)
{
	check_text(e->host, sizeof(e->host));
	check_text(e->name, sizeof(e->name));
	check_text(e->device, sizeof(e->device));
	check_text(e->services, sizeof(e->services));
	assert(e->transport <= KVERBS_TRANSPORT_IWARP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hosts_entry node = { }, server = { };
	char *text = fuzz_text(data, size), *exact = fuzz_room(size);
	const char *c;

	hosts_describe(&node, text);
	check_entry(&node);
	for (c = node.host; *c; c++)
		assert(isalnum((unsigned char)*c) || (c > node.host && strchr("-.", *c)));
	memcpy(exact, data, size);
	hosts_txt(&server, exact, size);
	check_entry(&server);
	assert(!*server.host && !*server.name);
	free(exact);
	free(text);
	return 0;
}
