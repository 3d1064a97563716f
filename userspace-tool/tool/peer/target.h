/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* HOST:PATH, as cp takes it. */
#ifndef KVERBS_TOOL_TARGET_H
#define KVERBS_TOOL_TARGET_H

/**
 * struct target - an argument of cp
 * @host: the host, or empty if it is a local path
 * @path: the path, in the argument itself
 */
struct target {
	char host[256];
	const char *path;
};

int target_parse(struct target *target, const char *arg);
const char *target_basename(const char *path, char *buf, unsigned long room);

#endif /* KVERBS_TOOL_TARGET_H */
