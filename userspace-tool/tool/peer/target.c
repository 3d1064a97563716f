// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "peer/target.h"

static int set_host(struct target *target, const char *host, size_t len)
{
	if (!len || len >= sizeof(target->host))
		return -EINVAL;
	memcpy(target->host, host, len);
	target->host[len] = '\0';
	return 0;
}

static int parse_bracket(struct target *target, const char *arg)
{
	const char *end = strstr(arg, "]:");

	if (!end) {
		target->path = arg;
		return 0;
	}
	target->path = end + 2;
	return set_host(target, arg + 1, end - arg - 1);
}

/*
 * As scp reads it: a colon before the first slash ends a host. "./a:b" is a
 * local file, "[2001:db8::1]:b" one on a host given by IPv6 address.
 */
int target_parse(struct target *target, const char *arg)
{
	size_t len = strcspn(arg, ":/");

	target->host[0] = '\0';
	target->path = arg;
	if (!*arg)
		return -EINVAL;
	if (arg[0] == '[')
		return parse_bracket(target, arg);
	if (arg[len] != ':')
		return 0;
	target->path = arg + len + 1;
	return set_host(target, arg, len);
}

/*
 * The name that a copy of @path gets: "." if it has none of its own. As with rsync, a slash at the
 * end means what is in a directory, not the directory.
 */
const char *target_basename(const char *path, char *buf, unsigned long room)
{
	size_t end = strlen(path), start = end;

	while (start && path[start - 1] != '/')
		start--;
	if (start == end || end - start >= room)
		return ".";
	memcpy(buf, path + start, end - start);
	buf[end - start] = '\0';
	return strcmp(buf, "..") ? buf : ".";
}
