// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs serve with a client that sends arbitrary messages: the server reads and writes only below
 * its root, answers with valid messages, and leaks nothing.
 */
#include "jail.h"
#include "msgs.h"
#include "serve/files.h"

#define IN_MEMORY	(1u << 0)
#define READ_ONLY	(1u << 1)

/* Data that the server writes starts at the beginning of a window. */
static void check_windows(const struct link *l)
{
	char *at;
	int i;

	for (i = 0; i < LINK_WINDOWS; i++) {
		at = link_window(l, i);
		assert(memcmp(at, JAIL_SECRET, strlen(JAIL_SECRET)));
		memset(at, 0, strlen(JAIL_SECRET));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned int how = fuzz_take(&in, 1);
	struct jail *jail = jail_enter(how & IN_MEMORY);
	static struct link l;

	link_open(&l);
	msgs_send(&l, &in);
	assert(files_serve(&l.s, &(struct files_conf){
		.root = jail->root, .read_only = how & READ_ONLY, .depth_max = 16,
	}) <= 0);
	link_close(&l);
	check_windows(&l);
	jail_check(jail);
	if (how & READ_ONLY)
		assert(jail_is_untouched(jail));
	return 0;
}
