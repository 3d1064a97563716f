// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of another driver, as a dma-buf. The attachment is a dynamic one, since only that may be
 * to memory of another device, and pinned, since work in flight cannot follow a buffer that moves.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/overflow.h>

#include "compat.h"
#include "dmabuf.h"
#include "fault.h"

/* MODULE_IMPORT_NS() takes a string on some kernels, and a token on others. */
MODULE_INFO(import_ns, "DMA_BUF");

static bool covers(const struct dma_buf *buf, u64 offset, u64 length)
{
	u64 end;

	return length && !check_add_overflow(offset, length, &end) && end <= buf->size;
}

/**
 * kverbs_dmabuf_get() - the dma-buf of a descriptor of the current process
 * @fd: the descriptor
 * @offset: of the part that will be used, bytes
 * @length: of that part, bytes
 * @writable: whether it will be written to
 *
 * Return: the dma-buf, to be kverbs_dmabuf_put(), or an ERR_PTR: -EBADF if @fd is not open; -EINVAL
 * if it is of another kind, or if there is no such part; -EACCES if it is read-only and @writable
 * asks for more; -EOPNOTSUPP if the kernel has no dma-bufs.
 */
struct dma_buf *kverbs_dmabuf_get(int fd, u64 offset, u64 length, bool writable)
{
	struct dma_buf *buf = dma_buf_get(fd);
	int ret = 0;

	if (IS_ERR(buf))
		return buf;
	if (!covers(buf, offset, length))
		ret = -EINVAL;
	else if (writable && !(buf->file->f_mode & FMODE_WRITE))
		ret = -EACCES;
	if (!ret)
		return buf;
	dma_buf_put(buf);
	return ERR_PTR(ret);
}

/**
 * kverbs_dmabuf_put() - undo kverbs_dmabuf_get()
 * @buf: the dma-buf, which may be gone afterwards
 *
 * Context: process, may sleep.
 */
void kverbs_dmabuf_put(struct dma_buf *buf)
{
	dma_buf_put(buf);
}

/*
 * Pinned memory does not move, so the exporter takes it away for good. The device may access it
 * until kverbs_dmabuf_detach(): an exporter that would give the memory to others has to wait until
 * the mapping has ended, as vfio does, and not only for the fences of the buffer. A fence of
 * kverbs among these would be signalled by the teardown of connections, which allocates memory
 * and takes locks, and nothing that a fence waits for may do so.
 */
static void revoke(struct dma_buf_attachment *attach)
{
	struct kverbs_dmabuf *dmabuf = attach->importer_priv;

	if (!dmabuf->pinned || dmabuf->revoked)
		return;
	dmabuf->revoked = true;
	dmabuf->revoke(dmabuf);
}

static const struct dma_buf_attach_ops attach_ops = {
	.allow_peer2peer = true,
	.KVERBS_DMABUF_REVOKE = revoke,
};

static int attach(struct kverbs_dmabuf *dmabuf, struct dma_buf *buf, struct device *dev)
{
	struct dma_buf_attachment *attach;
	int ret = kverbs_fault(KVERBS_FAULT_DMABUF_ATTACH);

	if (ret)
		return ret;
	attach = dma_buf_dynamic_attach(buf, dev, &attach_ops, dmabuf);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	dmabuf->attach = attach;
	return 0;
}

static int pin(struct kverbs_dmabuf *dmabuf)
{
	int ret = kverbs_fault(KVERBS_FAULT_DMABUF_PIN) ?: dma_buf_pin(dmabuf->attach);

	dmabuf->pinned = !ret;
	return ret;
}

static void unpin(struct kverbs_dmabuf *dmabuf)
{
	dma_buf_unpin(dmabuf->attach);
	dmabuf->pinned = false;
}

static int map(struct kverbs_dmabuf *dmabuf)
{
	int ret = kverbs_fault(KVERBS_FAULT_DMABUF_MAP);
	struct sg_table *sgt;

	if (ret)
		return ret;
	sgt = dma_buf_map_attachment(dmabuf->attach, dmabuf->direction);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	dmabuf->sgt = sgt;
	return 0;
}

static void unmap(struct kverbs_dmabuf *dmabuf)
{
	dma_buf_unmap_attachment(dmabuf->attach, dmabuf->sgt, dmabuf->direction);
	dmabuf->sgt = NULL;
}

/* Pinning may move the buffer to where the device reaches it, by a copy that is not done yet. */
static int await_contents(struct dma_buf *buf)
{
	long left = kverbs_dma_resv_wait(buf->resv);

	return left < 0 ? left : 0;
}

static int pin_and_map(struct kverbs_dmabuf *dmabuf)
{
	int ret;

	dma_resv_assert_held(dmabuf->attach->dmabuf->resv);
	ret = pin(dmabuf);
	if (ret)
		return ret;
	ret = map(dmabuf);
	if (ret)
		goto out_unpin;
	ret = await_contents(dmabuf->attach->dmabuf);
	if (ret)
		goto out_unmap;
	return 0;

out_unmap:
	unmap(dmabuf);
out_unpin:
	unpin(dmabuf);
	return ret;
}

/*
 * To callers EAGAIN means that another task maps the region, and ERESTARTSYS is not for user space,
 * to which the error may go as the result of an operation.
 */
static int translate(int error)
{
	switch (error) {
	case -EAGAIN:
		return -EBUSY;
	case -ERESTARTSYS:
		return -EINTR;
	default:
		return error;
	}
}

/**
 * kverbs_dmabuf_attach() - pin a dma-buf and map it for a device
 * @dmabuf: zero but for @revoke
 * @buf: the dma-buf, to which the caller has a reference until kverbs_dmabuf_detach()
 * @dev: the device
 * @direction: of the accesses
 *
 * Waits until the exporter has filled the buffer.
 *
 * Context: process, may sleep.
 * Return: 0, or the error of the exporter if the device cannot reach the memory or if that cannot
 * be pinned, but never -EAGAIN.
 */
int kverbs_dmabuf_attach(struct kverbs_dmabuf *dmabuf, struct dma_buf *buf, struct device *dev,
			 enum dma_data_direction direction)
{
	int ret;

	dmabuf->direction = direction;
	ret = attach(dmabuf, buf, dev);
	if (ret)
		return translate(ret);
	dma_resv_lock(buf->resv, NULL);
	ret = pin_and_map(dmabuf);
	dma_resv_unlock(buf->resv);
	if (!ret)
		return 0;
	dma_buf_detach(buf, dmabuf->attach);
	dmabuf->attach = NULL;
	return translate(ret);
}

/**
 * kverbs_dmabuf_detach() - undo kverbs_dmabuf_attach()
 * @dmabuf: whose memory the device does not access any more; @revoke is not called after this
 *
 * Context: process, may sleep.
 */
void kverbs_dmabuf_detach(struct kverbs_dmabuf *dmabuf)
{
	struct dma_buf *buf = dmabuf->attach->dmabuf;

	dma_resv_lock(buf->resv, NULL);
	unmap(dmabuf);
	unpin(dmabuf);
	dma_resv_unlock(buf->resv);
	dma_buf_detach(buf, dmabuf->attach);
	dmabuf->attach = NULL;
}
