/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Patterns of names that are copied or left out, as rsync's --include and --exclude. */
#ifndef KVERBS_TOOL_FILTER_H
#define KVERBS_TOOL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "peer/wire.h"

/* Bounds of what a client may send to a server */
#define FILTER_RULES_MAX	1024
#define FILTER_PATTERN_MAX	1024

/**
 * struct filter_rule - one pattern
 * @text: all of its text
 * @pattern: the same, without the slash that anchors it and the one that means directories
 * @include: what matches is copied, else left out
 * @dir_only: only directories match
 * @anchored: it must match from the top on
 * @path: it has slashes or "**", so it is compared with the path, not the last component
 */
struct filter_rule {
	char *text;
	char *pattern;
	bool include;
	bool dir_only;
	bool anchored;
	bool path;
};

/**
 * struct filter - rules, of which the first that matches counts
 * @rules: in their order
 * @nr: how many
 */
struct filter {
	struct filter_rule *rules;
	unsigned int nr;
};

int filter_add(struct filter *f, bool include, const char *pattern, size_t len);
/* The patterns of a message FILTER, each ended by a NUL */
int filter_message(struct filter *f, const struct wire_msg *msg);
/*
 * Put patterns from the rule @from on into a message, as many as fit. Returns the next rule. @buf
 * has WIRE_TAIL_MAX bytes.
 */
unsigned int filter_fill(const struct filter *f, unsigned int from, char *buf,
			 struct wire_msg *msg);
/* Whether what has this path from the top on is left out. */
bool filter_excludes(const struct filter *f, const char *path, bool is_dir);
void filter_free(struct filter *f);

#endif /* KVERBS_TOOL_FILTER_H */
