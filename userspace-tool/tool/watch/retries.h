/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What devices sent again, as their drivers count it. */
#ifndef KVERBS_TOOL_RETRIES_H
#define KVERBS_TOOL_RETRIES_H

#include <stdint.h>

#define RETRIES_SYS "/sys/class/infiniband"

/*
 * Of all ports of @device below @sys, -1 if its driver counts none. A queue pair's own are
 * in no driver's reach.
 */
int64_t retries_read(const char *sys, const char *device);

#endif /* KVERBS_TOOL_RETRIES_H */
