/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Number of objects that the RDMA core tracks, and memory of the kernel. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stddef.h>

void resources_count(char *text, size_t size);
/* Memory in use, without that of processes and without reclaimable memory. */
long resources_kernel_bytes(void);

#endif /* RESOURCES_H */
