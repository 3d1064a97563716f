// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copy/filter.h"

/*
 * A pattern comes from the peer, and backtracking would take time without bound, so all places in
 * the pattern that the text so far may have led to are kept at once.
 */
#define PLACES (FILTER_PATTERN_MAX + 2)

/* Add a place and those that are reached from it without a character of the text. */
static void enter(const char *pattern, bool *places, size_t at)
{
	places[at] = true;
	/* "dir" and all in it: these four characters also match nothing. */
	if (!strcmp(pattern + at, "/***"))
		places[at + 4] = true;
	for (; pattern[at] == '*'; at++)
		places[at + 1] = true;
}

/* The length of a class "[...]" at @p, or 0 if there is none. @has: whether @c is in it */
static size_t match_class(const char *p, unsigned char c, bool *has)
{
	const char *at = p + 1;
	bool negated = *at == '!' || *at == '^';
	unsigned char from, to;

	*has = false;
	at += negated;
	do {
		if (!*at)
			return 0;
		if (*at == '\\' && at[1])
			at++;
		from = *at++;
		to = from;
		if (*at == '-' && at[1] && at[1] != ']') {
			at++;
			if (*at == '\\' && at[1])
				at++;
			to = *at++;
		}
		*has |= c >= from && c <= to;
	} while (*at != ']');
	*has ^= negated;
	return at + 1 - p;
}

/* Where @c leads from a place in the pattern: the next place, or 0 for nowhere. */
static size_t step(const char *pattern, size_t at, unsigned char c)
{
	size_t len;
	bool has;

	switch (pattern[at]) {
	case '\0':
		return 0;
	case '?':
		return c == '/' ? 0 : at + 1;
	case '[':
		len = match_class(pattern + at, c, &has);
		if (len)
			return has && c != '/' ? at + len : 0;
		return c == '[' ? at + 1 : 0;
	case '\\':
		if (pattern[at + 1])
			return c == (unsigned char)pattern[at + 1] ? at + 2 : 0;
		return c == '\\' ? at + 1 : 0;
	default:
		return c == (unsigned char)pattern[at] ? at + 1 : 0;
	}
}

static bool matches(const char *pattern, const char *text)
{
	bool a[PLACES] = { false }, b[PLACES], *now = a, *next = b, *swap;
	size_t len = strlen(pattern), i, to;
	bool doubled;

	enter(pattern, now, 0);
	for (; *text; text++) {
		memset(next, 0, len + 1);
		for (i = 0; i < len; i++) {
			if (!now[i])
				continue;
			if (pattern[i] == '*') {
				doubled = pattern[i + 1] == '*' || (i && pattern[i - 1] == '*');
				if (doubled || *text != '/')
					enter(pattern, next, i);
				continue;
			}
			to = step(pattern, i, *text);
			if (to)
				enter(pattern, next, to);
		}
		swap = now;
		now = next;
		next = swap;
	}
	return now[len];
}

static bool rule_matches(const struct filter_rule *r, const char *path, bool is_dir)
{
	const char *at = strrchr(path, '/');

	if (r->dir_only && !is_dir)
		return false;
	if (!r->path && !r->anchored)
		return matches(r->pattern, at ? at + 1 : path);
	if (r->anchored)
		return matches(r->pattern, path);
	for (at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (matches(r->pattern, at))
			return true;
	}
	return false;
}

bool filter_excludes(const struct filter *f, const char *path, bool is_dir)
{
	unsigned int i;

	while (!strncmp(path, "./", 2))
		path += 2;
	if (!strcmp(path, "."))
		return false;
	for (i = 0; f && i < f->nr; i++)
		if (rule_matches(&f->rules[i], path, is_dir))
			return !f->rules[i].include;
	return false;
}

int filter_add(struct filter *f, bool include, const char *pattern, size_t len)
{
	struct filter_rule r = { .include = include }, *rules;

	if (!len || len > FILTER_PATTERN_MAX || memchr(pattern, '\0', len))
		return -EINVAL;
	if (f->nr == FILTER_RULES_MAX)
		return -EFBIG;
	r.text = strndup(pattern, len);
	r.anchored = *pattern == '/';
	pattern += r.anchored;
	len -= r.anchored;
	r.dir_only = len && pattern[len - 1] == '/';
	len -= r.dir_only;
	r.pattern = strndup(pattern, len);
	rules = realloc(f->rules, (f->nr + 1) * sizeof(*rules));
	if (rules)
		f->rules = rules;
	if (!rules || !r.pattern || !r.text) {
		free(r.text);
		free(r.pattern);
		return -ENOMEM;
	}
	r.path = strchr(r.pattern, '/') || strstr(r.pattern, "**");
	f->rules[f->nr++] = r;
	return 0;
}

int filter_message(struct filter *f, const struct wire_msg *msg)
{
	const char *at = msg->tail, *end = at + msg->tail_len, *nul;
	int ret = 0;

	for (; at < end && !ret; at = nul + 1) {
		nul = memchr(at, '\0', end - at);
		if (!nul)
			return -EINVAL;
		ret = filter_add(f, msg->flags & WIRE_F_INCLUDE, at, nul - at);
	}
	return ret;
}

unsigned int filter_fill(const struct filter *f, unsigned int from, char *buf,
			 struct wire_msg *msg)
{
	bool include = f->rules[from].include;
	size_t len = 0, n;

	for (; from < f->nr && f->rules[from].include == include; from++) {
		n = strlen(f->rules[from].text) + 1;
		if (len + n > WIRE_TAIL_MAX)
			break;
		memcpy(buf + len, f->rules[from].text, n);
		len += n;
	}
	msg->flags = include ? WIRE_F_INCLUDE : 0;
	msg->tail = buf;
	msg->tail_len = len;
	return from;
}

void filter_free(struct filter *f)
{
	while (f->nr) {
		free(f->rules[--f->nr].text);
		free(f->rules[f->nr].pattern);
	}
	free(f->rules);
	f->rules = NULL;
}
