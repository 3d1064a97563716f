// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/err.h"
#include "copy/paths.h"

static int add(struct paths *paths, const char *word)
{
	char *host = strdup(word), *comma;

	if (!host)
		return err_report(ERR_LOCAL, -ENOMEM, "read the command line");
	comma = strchr(host, ',');
	if (comma)
		*comma = '\0';
	paths->host[paths->nr] = host;
	paths->source[paths->nr++] = comma ? comma + 1 : NULL;
	if (!*host || (comma && !comma[1]))
		return err_usage("--path: '%s' is neither ADDRESS nor ADDRESS,SOURCE", word);
	return 0;
}

int paths_init(struct paths *paths, const struct session_to *to, const struct opts_many *words)
{
	unsigned int i;
	int ret = 0;

	paths->nr = 1;
	paths->host[0] = to->host;
	paths->source[0] = to->source;
	if (words->nr >= PATHS_MAX)
		return err_usage("--path is given more than %d times", PATHS_MAX - 1);
	for (i = 0; i < words->nr && !ret; i++)
		ret = add(paths, words->words[i]);
	return ret;
}

void paths_free(struct paths *paths)
{
	while (paths->nr > 1)
		free((void *)paths->host[--paths->nr]);
}

void paths_use(const struct paths *paths, unsigned int i, struct session_to *to, bool last)
{
	to->host = paths->host[i];
	to->source = paths->source[i];
	to->keepalive_ms = paths->nr > 1 ? PATHS_KEEPALIVE_MS : 0;
	to->connect_ms = last || to->timeout_ms < PATHS_CONNECT_MS ? 0 : PATHS_CONNECT_MS;
}

void paths_next(struct paths *paths)
{
	unsigned int i, at = paths->at;

	for (i = 0; i < paths->nr && paths->lost[at]; i++)
		at = (at + 1) % paths->nr;
	if (paths->lost[at]) {
		memset(paths->lost, 0, sizeof(paths->lost));
		at = (at + 1) % paths->nr;
	}
	paths->at = at;
}
