/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Output of cp: each failure, each file with --verbose, and a summary. */
#ifndef KVERBS_TOOL_REPORT_H
#define KVERBS_TOOL_REPORT_H

#include "copy/cp.h"

void report_init(struct copy *copy, const struct cp *cp);
/* While the session is there */
int report_end(struct copy *copy, const struct cp *cp, int status);
void report_clean(char *buf, size_t room, const char *name);

#endif /* KVERBS_TOOL_REPORT_H */
