/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the RDMA core counts, for whoever wants it back. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stddef.h>

void resources_count(char *text, size_t size);

#endif /* RESOURCES_H */
