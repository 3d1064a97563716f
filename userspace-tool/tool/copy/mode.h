/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Changes of permissions, as rsync's --chmod. */
#ifndef KVERBS_TOOL_MODE_H
#define KVERBS_TOOL_MODE_H

#include <sys/types.h>

/* Check @text: 0 or -EINVAL */
int mode_check(const char *text);
/* Apply @text to a mode, which includes the type of the file. NULL changes nothing. */
mode_t mode_change(const char *text, mode_t mode);

#endif /* KVERBS_TOOL_MODE_H */
