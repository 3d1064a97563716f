// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/err.h"
#include "copy/path.h"
#include "serve/share.h"

/* A name must be a component of a path as clients send it, and of one line. */
static bool is_name(const char *name, size_t len)
{
	size_t i;

	if (!len || len > SHARE_NAME_MAX || name[0] == '.')
		return false;
	for (i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' || name[i] == ':')
			return false;
	return true;
}

static bool add_right(struct share *share, const char *word, size_t len)
{
	if (len == 2 && !memcmp(word, "ro", 2))
		share->read_only = true;
	else if (len == 9 && !memcmp(word, "no-delete", 9))
		share->no_delete = true;
	else
		return false;
	return true;
}

static int parse(struct share *share, const char *word)
{
	size_t len = strcspn(word, ",="), left = strcspn(word, "=");
	const char *p = word + len;

	if (!is_name(word, len) || !word[left] || !word[left + 1])
		return err_usage("--share: '%s' is not NAME[,RIGHT]...=DIR", word);
	memcpy(share->name, word, len);
	while (*p == ',') {
		len = strcspn(++p, ",=");
		if (!add_right(share, p, len))
			return err_usage("--share: '%.*s' is neither ro nor no-delete", (int)len,
					 p);
		p += len;
	}
	share->dir = p + 1;
	return 0;
}

static int add(struct shares *shares, const char *word)
{
	struct share *share = &shares->list[shares->nr];
	unsigned int i;
	int status = parse(share, word);

	if (status)
		return status;
	for (i = 0; i < shares->nr; i++)
		if (!strcmp(shares->list[i].name, share->name))
			return err_usage("--share: '%s' is given twice", share->name);
	share->root = path_open_root(share->dir);
	if (share->root < 0)
		return err_report(ERR_LOCAL, share->root, "open %s", share->dir);
	shares->nr++;
	return 0;
}

int shares_open(struct shares *shares, const struct opts_many *words)
{
	unsigned int i;
	int status = 0;

	memset(shares, 0, sizeof(*shares));
	if (!words->nr)
		return 0;
	shares->list = calloc(words->nr, sizeof(*shares->list));
	if (!shares->list)
		return err_report(ERR_LOCAL, -ENOMEM, "open the shares");
	for (i = 0; i < words->nr && !status; i++)
		status = add(shares, words->words[i]);
	return status;
}

void shares_close(struct shares *shares)
{
	while (shares->nr)
		close(shares->list[--shares->nr].root);
	free(shares->list);
	shares->list = NULL;
}

const struct share *shares_find(const struct shares *shares, const char *path, const char **rest)
{
	size_t len = strcspn(path, "/");
	unsigned int i;

	*rest = path + len + (path[len] == '/');
	for (i = 0; i < shares->nr; i++)
		if (strlen(shares->list[i].name) == len && !memcmp(shares->list[i].name, path, len))
			return &shares->list[i];
	return NULL;
}
