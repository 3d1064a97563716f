// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake device's MRs. */
#include <linux/slab.h>

#include "fake_hca.h"
#include "profile.h"

static struct fake_mr *new_mr(struct fake_hca *hca, unsigned int pages)
{
	struct fake_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;
	mr->pages = kvcalloc(pages, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages || xa_err(xa_store_irq(&hca->mrs, hca->nr_allocs + 1, mr, GFP_KERNEL))) {
		kvfree(mr->pages);
		kfree(mr);
		return NULL;
	}
	atomic_inc(&hca->nr_mrs);
	mr->max_pages = pages;
	mr->ib.lkey = ++hca->nr_allocs << 8;
	mr->ib.rkey = mr->ib.lkey;
	/* The restrack of an unregistered device cannot list the MR. */
	mr->ib.res.no_track = !hca->registered;
	return mr;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct fake_hca *hca = to_fake_hca(pd->device);
	struct fake_mr *mr;
	int ret;

	ret = fake_hca_fails(hca, FAKE_ALLOC_MR);
	if (ret)
		return ERR_PTR(ret);
	if (max_num_sg > (hca->profile ? hca->limits.max_fast_reg_page_list_len : FAKE_MR_LARGE))
		return ERR_PTR(-EINVAL);
	mr = new_mr(hca, max_num_sg);
	return mr ? &mr->ib : ERR_PTR(-ENOMEM);
}

/**
 * fake_mr_get_dma() - the MR of all memory, where a device has no key for that
 * @pd: its protection domain
 * @access: IB_ACCESS_LOCAL_WRITE
 *
 * Return: the MR or an ERR_PTR.
 */
struct ib_mr *fake_mr_get_dma(struct ib_pd *pd, int access)
{
	struct fake_hca *hca = to_fake_hca(pd->device);
	struct fake_mr *mr;
	int ret;

	ret = fake_hca_fails(hca, FAKE_GET_DMA_MR);
	if (ret)
		return ERR_PTR(ret);
	mr = new_mr(hca, 1);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->dma = true;
	mr->ib.lkey = fake_dma_lkey(hca);
	return &mr->ib;
}

static void free_mr(struct fake_hca *hca, struct fake_mr *mr)
{
	xa_erase_irq(&hca->mrs, mr->ib.rkey >> 8);
	atomic_dec(&hca->nr_mrs);
	kvfree(mr->pages);
	kfree(mr);
}

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	struct fake_mr *mr = to_fake_mr(ib);
	int ret;

	if (mr->dma) {
		free_mr(hca, mr);
		return 0;
	}
	if (hca->dereg_held) {
		complete_all(&hca->dereg_begun);
		wait_for_completion(&hca->dereg_let);
	}
	ret = fake_hca_fails(hca, FAKE_DEREG_MR);
	hca->nr_lost += !!ret - mr->lost;
	mr->lost = ret;
	if (!ret)
		free_mr(hca, mr);
	return ret;
}

/**
 * fake_hca_free_lost() - free the MRs whose deregistration has failed
 * @hca: a device without users
 */
void fake_hca_free_lost(struct fake_hca *hca)
{
	struct fake_mr *mr;
	unsigned long key;

	xa_for_each(&hca->mrs, key, mr)
		free_mr(hca, mr);
	xa_destroy(&hca->mrs);
}

static int set_page(struct ib_mr *ib, u64 addr)
{
	struct fake_mr *mr = to_fake_mr(ib);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

static int map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nr,
		     unsigned int *offset)
{
	struct fake_hca *hca = to_fake_hca(ib->device);
	struct fake_mr *mr = to_fake_mr(ib);
	int ret;

	ret = fake_hca_fails(hca, FAKE_MAP_MR);
	if (ret)
		return ret;
	fake_check_map(mr);
	mr->nr_pages = 0;
	ret = ib_sg_to_pages(ib, sg, nr, offset, set_page);
	mr->base = ib->iova;
	return ret;
}

/**
 * fake_hca_set_mr_ops() - set a device's operations on MRs
 * @hca: the device
 */
void fake_hca_set_mr_ops(struct fake_hca *hca)
{
	hca->ib.ops.alloc_mr = alloc_mr;
	hca->ib.ops.map_mr_sg = map_mr_sg;
	hca->ib.ops.dereg_mr = dereg_mr;
}

/**
 * fake_hca_hold_dereg() - let deregistration of MRs wait
 * @hca: the device
 *
 * @dereg_begun is signalled when a task waits.
 */
void fake_hca_hold_dereg(struct fake_hca *hca)
{
	hca->dereg_held = true;
}

/**
 * fake_hca_let_dereg() - undo fake_hca_hold_dereg()
 * @hca: the device
 */
void fake_hca_let_dereg(struct fake_hca *hca)
{
	hca->dereg_held = false;
	complete_all(&hca->dereg_let);
}
