/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* kverbs dev in its two forms. */
#ifndef KVERBS_TOOL_DEV_H
#define KVERBS_TOOL_DEV_H

#include <stdbool.h>

#include <kverbs.h>

/* One table; 0 or -ENOMEM. */
int dev_table(const struct kverbs_device *list, int nr, bool limits);
void dev_json(const struct kverbs_device *list, int nr);

/* Room for any of them. */
#define DEV_NAME_LEN 64

#endif /* KVERBS_TOOL_DEV_H */
