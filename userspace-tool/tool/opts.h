/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Values of options. Each returns 0 or -EINVAL having said why. */
#ifndef KVERBS_TOOL_OPTS_H
#define KVERBS_TOOL_OPTS_H

#include <stdint.h>

int opts_number(const char *name, const char *arg, uint64_t min, uint64_t max,
		uint64_t *value);
int opts_millis(const char *name, const char *arg, int min, int max, int *ms);
int opts_port(const char *arg, const char **port);

#endif /* KVERBS_TOOL_OPTS_H */
