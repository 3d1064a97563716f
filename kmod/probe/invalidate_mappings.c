// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* dma_buf_attach_ops.invalidate_mappings, since Linux 7.1; before that it is move_notify. */
#include <linux/dma-buf.h>

void probe(struct dma_buf_attach_ops *ops);
void probe(struct dma_buf_attach_ops *ops)
{
	ops->invalidate_mappings = NULL;
}
