// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Patterns and names that kverbs cp reads from files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/err.h"
#include "copy/cp.h"
#include "copy/cp_lists.h"

static FILE *open_list(const char *name)
{
	return strcmp(name, "-") ? fopen(name, "r") : stdin;
}

static void close_list(FILE *f)
{
	if (f != stdin)
		fclose(f);
}

/* The next line that is neither empty nor a comment, without its end */
static char *next_line(FILE *f, char **line, size_t *room)
{
	ssize_t n;

	while ((n = getline(line, room, f)) >= 0) {
		while (n && ((*line)[n - 1] == '\n' || (*line)[n - 1] == '\r'))
			(*line)[--n] = '\0';
		if (n && **line != '#' && **line != ';')
			return *line;
	}
	return NULL;
}

static int add_rule(struct cp *cp, bool include, const char *pattern)
{
	int ret = filter_add(&cp->filter, include, pattern, strlen(pattern));

	if (ret == -EINVAL)
		return err_usage("'%s' is no pattern of 1 to %d bytes", pattern,
				 FILTER_PATTERN_MAX);
	return ret ? err_report(ERR_LOCAL, ret, "add the pattern '%s'", pattern) : 0;
}

static int add_file(struct cp *cp, bool include, const char *name)
{
	FILE *f = open_list(name);
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!f)
		return err_report(ERR_LOCAL, -errno, "open %s", name);
	while (!ret && next_line(f, &line, &room))
		ret = add_rule(cp, include, line);
	free(line);
	close_list(f);
	return ret;
}

int cp_read_rules(struct cp *cp)
{
	const char *word;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < cp->rules.nr && !ret; i++) {
		word = cp->rules.words[i];
		switch (cp->rules.tags[i]) {
		case CP_EXCLUDE:
		case CP_INCLUDE:
			ret = add_rule(cp, cp->rules.tags[i] == CP_INCLUDE, word);
			break;
		default:
			ret = add_file(cp, cp->rules.tags[i] == CP_INCLUDE_FROM, word);
			break;
		}
	}
	return ret;
}

/* A name is beneath the source, whatever it begins with. */
static int add_name(struct cp *cp, const char *line)
{
	char **names;

	while (*line == '/' || !strncmp(line, "./", 2))
		line += *line == '/' ? 1 : 2;
	if (!*line)
		line = ".";
	names = realloc(cp->names, (cp->nr_names + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	cp->names = names;
	names[cp->nr_names] = strdup(line);
	return names[cp->nr_names++] ? 0 : -ENOMEM;
}

int cp_read_names(struct cp *cp)
{
	FILE *f = open_list(cp->files_from);
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!f)
		return err_report(ERR_LOCAL, -errno, "open %s", cp->files_from);
	while (!ret && next_line(f, &line, &room))
		ret = add_name(cp, line);
	free(line);
	close_list(f);
	return ret ? err_report(ERR_LOCAL, ret, "read %s", cp->files_from) : 0;
}
