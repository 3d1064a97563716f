// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/dma-resv.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "fake_conn.h"
#include "fake_dmabuf.h"

MODULE_INFO(import_ns, "DMA_BUF");

#define FIRST_ADDR	BIT_ULL(40)
#define PIECE_SIZE	(FAKE_PIECE_PAGES * PAGE_SIZE)

static int begin(struct dma_buf *buf, enum fake_dmabuf_step step)
{
	struct fake_dmabuf *fake = buf->priv;

	if (fake->errors[step])
		return fake->errors[step];
	if (fake->notify_in == step) {
		fake->notify_in = FAKE_DMABUF_STEPS;
		FAKE_NOTIFY(buf);
	}
	atomic_inc(&fake->nr[step]);
	return 0;
}

static void end(struct dma_buf *buf, enum fake_dmabuf_step step)
{
	struct fake_dmabuf *fake = buf->priv;

	atomic_dec(&fake->nr[step]);
}

static int attach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	return begin(buf, FAKE_DMABUF_ATTACH);
}

static void detach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	end(buf, FAKE_DMABUF_ATTACH);
}

static int pin(struct dma_buf_attachment *attach)
{
	return begin(attach->dmabuf, FAKE_DMABUF_PIN);
}

static void unpin(struct dma_buf_attachment *attach)
{
	end(attach->dmabuf, FAKE_DMABUF_PIN);
}

/**
 * fake_dmabuf_addr() - DMA address of a byte
 * @offset: its offset in the dma-buf
 *
 * Return: the address.
 */
u64 fake_dmabuf_addr(u64 offset)
{
	return FIRST_ADDR + offset / PIECE_SIZE * 2 * PIECE_SIZE + offset % PIECE_SIZE;
}

static struct sg_table *map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct fake_dmabuf *fake = attach->dmabuf->priv;
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, fake->pieces, GFP_KERNEL);
	if (ret)
		goto out_free;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg_dma_address(sg) = fake_dmabuf_addr(i * PIECE_SIZE) + fake->shift;
		sg_dma_len(sg) = PIECE_SIZE;
	}
	ret = begin(attach->dmabuf, FAKE_DMABUF_MAP);
	if (ret)
		goto out_free_table;
	return sgt;

out_free_table:
	sg_free_table(sgt);
out_free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		  enum dma_data_direction dir)
{
	end(attach->dmabuf, FAKE_DMABUF_MAP);
	sg_free_table(sgt);
	kfree(sgt);
}

static void release(struct dma_buf *buf)
{
	struct fake_dmabuf *fake = buf->priv;

	complete_all(&fake->released);
}

static const struct dma_buf_ops buf_ops = {
	.attach		= attach,
	.detach		= detach,
	.pin		= pin,
	.unpin		= unpin,
	.map_dma_buf	= map,
	.unmap_dma_buf	= unmap,
	.release	= release,
};

/**
 * fake_dmabuf_close() - let the exporter go away
 * @fake: the dma-buf; nothing is done if that was called before
 */
void fake_dmabuf_close(struct fake_dmabuf *fake)
{
	if (!fake->buf)
		return;
	close_fd(fake->fd);
	dma_buf_put(fake->buf);
	fake->buf = NULL;
}

static void give_up(void *data)
{
	struct fake_dmabuf *fake = data;

	fake_dmabuf_close(fake);
	KUNIT_EXPECT_TRUE(fake->test, fake_await(&fake->released));
}

/**
 * fake_dmabuf_create() - export a dma-buf
 * @test: the test, at whose end it is given up
 * @mode: O_RDWR or O_RDONLY
 *
 * Return: the dma-buf, created before the regions of it so that it outlives them.
 */
struct fake_dmabuf *fake_dmabuf_create(struct kunit *test, int mode)
{
	struct fake_dmabuf *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->test = test;
	fake->notify_in = FAKE_DMABUF_STEPS;
	fake->pieces = FAKE_PIECES;
	init_completion(&fake->released);
	info.ops = &buf_ops;
	info.size = FAKE_DMABUF_SIZE;
	info.flags = mode | O_CLOEXEC;
	info.priv = fake;
	fake->buf = dma_buf_export(&info);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->buf));
	get_dma_buf(fake->buf);
	fake->fd = dma_buf_fd(fake->buf, O_CLOEXEC);
	KUNIT_ASSERT_GE(test, fake->fd, 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, give_up, fake));
	return fake;
}

/**
 * fake_dmabuf_revoke() - tell the importers that the memory goes away
 * @fake: the dma-buf
 */
void fake_dmabuf_revoke(struct fake_dmabuf *fake)
{
	dma_resv_lock(fake->buf->resv, NULL);
	FAKE_NOTIFY(fake->buf);
	dma_resv_unlock(fake->buf->resv);
}

/**
 * fake_dmabuf_is_unused() - whether no device has the memory
 * @fake: the dma-buf
 *
 * Return: true if all steps are undone.
 */
bool fake_dmabuf_is_unused(struct fake_dmabuf *fake)
{
	unsigned int i;

	for (i = 0; i < FAKE_DMABUF_STEPS; i++)
		if (atomic_read(&fake->nr[i]))
			return false;
	return true;
}
