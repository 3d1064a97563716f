// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "peer/key.h"
#include "peer/service.h"

#define BLANKS " \t"

bool key_name_is_valid(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && !strchr("._-", name[i])))
			return false;
	return i && i <= WIRE_KEY_NAME_MAX;
}

/* Opening it does not lead out of the root either, but an error is better found when it is made. */
static bool leads_up(const char *path)
{
	size_t len;

	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (len == 2 && !memcmp(path, "..", 2))
			return true;
	}
	return false;
}

static int set_dir(struct key_rights *rights, const char *path)
{
	if (rights->dir || !*path || strlen(path) > WIRE_PATH_MAX || leads_up(path))
		return -EINVAL;
	rights->dir = strdup(path);
	return rights->dir ? 0 : -ENOMEM;
}

int key_add_right(struct key_rights *rights, const char *word)
{
	static const char services[] = "services=", dir[] = "dir=";

	if (!strcmp(word, "ro"))
		rights->read_only = true;
	else if (!strcmp(word, "no-delete"))
		rights->no_delete = true;
	else if (!strcmp(word, "no-super"))
		rights->no_super = true;
	else if (!strncmp(word, dir, strlen(dir)))
		return set_dir(rights, word + strlen(dir));
	else if (strncmp(word, services, strlen(services)) ||
		 service_parse(&rights->services, word + strlen(services)))
		return -EINVAL;
	return 0;
}

int key_parse(struct key *key, char *line)
{
	char *save, *word = strtok_r(line, BLANKS, &save);
	int ret = 0;

	if (!word || !key_name_is_valid(word))
		return -EINVAL;
	strcpy(key->name, word);
	word = strtok_r(NULL, BLANKS, &save);
	key->len = word ? strlen(word) : 0;
	if (key->len < KEY_MIN || key->len > KEY_MAX)
		return -EINVAL;
	memcpy(key->bytes, word, key->len);
	while (!ret && (word = strtok_r(NULL, BLANKS, &save)))
		ret = key_add_right(&key->rights, word);
	return ret;
}

void key_free(struct key *key)
{
	if (!key)
		return;
	free(key->rights.dir);
	OPENSSL_cleanse(key, sizeof(*key));
	free(key);
}
