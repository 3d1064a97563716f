// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Untrusted names: an accepted name leads nowhere but below its directory. */
#include "copy/path.h"
#include "fuzz.h"

static void check_component(const char *p, size_t len)
{
	assert(len >= 1 && len <= NAME_MAX);
	assert(!(len == 2 && !memcmp(p, "..", 2)));
}

static void check_text(const char *text)
{
	size_t len;

	assert(strlen(text) < PATH_MAX);
	do {
		len = strcspn(text, "/");
		check_component(text, len);
		text += len;
	} while (*text++);
}

static void check_split(const struct path *path)
{
	size_t len = strlen(path->dir);

	assert(!strchr(path->name, '/'));
	if (path->name == path->text) {
		assert(!strcmp(path->dir, "."));
		return;
	}
	assert(path->name == path->text + len + 1 && path->text[len] == '/');
	assert(!memcmp(path->dir, path->text, len));
	check_text(path->dir);
}

/* The name is accepted again in its normalized form. */
static void check_again(const struct path *path)
{
	struct path again;

	assert(!path_parse(&again, path->text, strlen(path->text)));
	assert(!strcmp(again.text, path->text) && !strcmp(again.dir, path->dir));
	assert(path_is_top(&again) == path_is_top(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct path path;

	if (path_parse(&path, data, size))
		return 0;
	assert(!size || !memchr(data, '\0', size));
	check_text(path.text);
	check_split(&path);
	check_again(&path);
	return 0;
}
