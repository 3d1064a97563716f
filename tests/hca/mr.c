// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions. */
#include <linux/slab.h>

#include "hca.h"

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct hca *hca = to_hca(pd->device);
	struct hca_mr *mr;
	u32 index;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG || max_num_sg > HCA_MR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	mr->pages = kcalloc(max_num_sg, sizeof(*mr->pages), GFP_KERNEL);
	ret = -ENOMEM;
	if (!mr->pages)
		goto out_free_mr;
	ret = xa_alloc_cyclic(&hca->mrs, &index, mr, XA_LIMIT(1, GENMASK(23, 0)),
			      &hca->next_mr, GFP_KERNEL);
	if (ret < 0)
		goto out_free_pages;
	mr->ib.lkey = index << 8;
	mr->ib.rkey = mr->ib.lkey;
	return &mr->ib;

out_free_pages:
	kfree(mr->pages);
out_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

/* When this returns, no piece of a transfer uses the pages any more. */
static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct hca *hca = to_hca(ib->device);
	struct hca_mr *mr = to_hca_mr(ib);

	mutex_lock(&hca->fence);
	xa_erase(&hca->mrs, ib->lkey >> 8);
	mutex_unlock(&hca->fence);
	kfree(mr->pages);
	kfree(mr);
	return 0;
}

static int set_page(struct ib_mr *ib, u64 addr)
{
	struct hca_mr *mr = to_hca_mr(ib);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

static int map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nr, unsigned int *offset)
{
	struct hca_mr *mr = to_hca_mr(ib);
	int ret;

	mr->nr_pages = 0;
	ret = ib_sg_to_pages(ib, sg, nr, offset, set_page);
	mr->skip = ib->iova & (ib->page_size - 1);
	return ret;
}

/* ib_core calls neither, but without them the device is not fit for users in the kernel. */
static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr, int access,
				 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/**
 * hca_mr_find() - the memory region that a key is good for
 * @hca: the device, @fence held
 * @pd: protection domain of the queue pair that uses the key
 * @key: the key
 *
 * Return: the region, which stays while @fence is held, or NULL.
 */
struct hca_mr *hca_mr_find(struct hca *hca, const struct ib_pd *pd, u32 key)
{
	struct hca_mr *mr = xa_load(&hca->mrs, key >> 8);

	lockdep_assert_held(&hca->fence);
	return mr && mr->valid && mr->key == key && mr->ib.pd == pd ? mr : NULL;
}

const struct ib_device_ops hca_mr_ops = {
	.alloc_mr	= alloc_mr,
	.dereg_mr	= dereg_mr,
	.get_dma_mr	= get_dma_mr,
	.map_mr_sg	= map_mr_sg,
	.reg_user_mr	= reg_user_mr,
};
