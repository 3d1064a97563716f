/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of a memfd that is also a dma-buf, by udmabuf. */
#ifndef E2E_DMABUF_H
#define E2E_DMABUF_H

#include "dev.h"

bool dmabuf_is_supported(void);
int dmabuf_open(char **memory, size_t size);
int dmabuf_try_region(int fd, int dmabuf, uint64_t offset, uint64_t length, uint32_t flags,
		      uint32_t *id);
uint32_t dmabuf_region(int fd, int dmabuf, uint64_t offset, uint64_t length, uint32_t flags);

#endif /* E2E_DMABUF_H */
