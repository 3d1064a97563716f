// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* dma_resv_wait_timeout() with the use that is waited for, since Linux 5.19 (7bc80a5462c3). */
#include <linux/dma-resv.h>

long probe(struct dma_resv *resv);
long probe(struct dma_resv *resv)
{
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, false, 0);
}
