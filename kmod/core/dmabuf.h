/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_DMABUF_H
#define KVERBS_DMABUF_H

#include <linux/dma-direction.h>
#include <linux/err.h>
#include <linux/types.h>

struct device;
struct dma_buf;
struct dma_buf_attachment;
struct sg_table;

/**
 * struct kverbs_dmabuf - a dma-buf that is pinned and mapped for a device
 * @attach: the attachment, or NULL
 * @sgt: DMA addresses of the whole buffer, which belong to the exporter
 * @direction: of the mapping
 * @pinned: the exporter has promised not to move it; under the lock of the dma-buf
 * @revoked: the exporter has broken that; under the lock of the dma-buf
 * @revoke: called once, when @revoked is set, with the lock of the dma-buf held. Allocates
 *	nothing, and neither waits nor calls kverbs_dmabuf_detach().
 */
struct kverbs_dmabuf {
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	enum dma_data_direction direction;
	bool pinned;
	bool revoked;
	void (*revoke)(struct kverbs_dmabuf *dmabuf);
};

#ifdef CONFIG_DMA_SHARED_BUFFER
struct dma_buf *kverbs_dmabuf_get(int fd, u64 offset, u64 length, bool writable);
void kverbs_dmabuf_put(struct dma_buf *buf);
int kverbs_dmabuf_attach(struct kverbs_dmabuf *dmabuf, struct dma_buf *buf, struct device *dev,
			 enum dma_data_direction direction);
void kverbs_dmabuf_detach(struct kverbs_dmabuf *dmabuf);
#else
static inline struct dma_buf *kverbs_dmabuf_get(int fd, u64 offset, u64 length, bool writable)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void kverbs_dmabuf_put(struct dma_buf *buf)
{
}

static inline int kverbs_dmabuf_attach(struct kverbs_dmabuf *dmabuf, struct dma_buf *buf,
				       struct device *dev, enum dma_data_direction direction)
{
	return -EOPNOTSUPP;
}

static inline void kverbs_dmabuf_detach(struct kverbs_dmabuf *dmabuf)
{
}
#endif

#endif /* KVERBS_DMABUF_H */
