// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* HOST:PATH: both parts are substrings of the argument, and together they make it up. */
#include <stdbool.h>

#include "copy/path.h"
#include "fuzz.h"
#include "peer/target.h"

static void check_host(const struct target *t, const char *arg)
{
	char whole[sizeof(t->host) + 4];
	bool bracket = *arg == '[';

	snprintf(whole, sizeof(whole), bracket ? "[%s]:" : "%s:", t->host);
	assert(!strncmp(arg, whole, strlen(whole)));
	assert(t->path == arg + strlen(whole));
	assert(bracket || !strpbrk(t->host, "/:"));
	assert(!bracket || !strstr(t->host, "]:"));
}

static void check_basename(const char *arg, unsigned long room)
{
	char *buf = fuzz_room(room);
	const char *name = target_basename(arg, buf, room);
	struct path path;

	assert(*name && !strchr(name, '/') && strcmp(name, ".."));
	assert(name != buf || strlen(name) < room);
	assert(name != buf || strstr(arg, name));
	/* A sink accepts the name. */
	assert(strlen(name) > NAME_MAX || !path_parse(&path, name, strlen(name)));
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *arg = fuzz_text(data, size);
	struct target t;

	if (!target_parse(&t, arg)) {
		assert(*arg);
		if (*t.host)
			check_host(&t, arg);
		else
			assert(t.path == arg);
		check_basename(t.path, NAME_MAX + 1);
		check_basename(t.path, size % 16 + 1);
	}
	free(arg);
	return 0;
}
