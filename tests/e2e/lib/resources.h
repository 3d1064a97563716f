/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Number of objects that the RDMA core tracks, for leak checks. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stddef.h>

void resources_count(char *text, size_t size);

#endif /* RESOURCES_H */
