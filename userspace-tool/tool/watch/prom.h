/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connections and devices in the exposition format of Prometheus, version 0.0.4. */
#ifndef KVERBS_TOOL_PROM_H
#define KVERBS_TOOL_PROM_H

#include <stdio.h>

struct snap;

void prom_print(FILE *to, const struct snap *snap);

#endif /* KVERBS_TOOL_PROM_H */
