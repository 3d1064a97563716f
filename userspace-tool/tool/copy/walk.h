/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Trees into a source. */
#ifndef KVERBS_TOOL_WALK_H
#define KVERBS_TOOL_WALK_H

#include "copy/source.h"

int walk_total(int fd, bool recursive, struct copy *copy, uint64_t *total);
int walk_send(struct source *src, int fd, const char *name, bool recursive,
	      int (*skip)(void *arg, const char *path, int err));

#endif /* KVERBS_TOOL_WALK_H */
