// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake device's MRs. */
#include <linux/slab.h>

#include "fake_hca.h"

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct fake_hca *hca = to_fake_hca(pd->device);
	struct fake_mr *mr;

	if (hca->mr_error)
		return ERR_PTR(hca->mr_error);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	hca->nr_mrs++;
	mr->ib.lkey = ++hca->nr_allocs << 8;
	mr->ib.rkey = mr->ib.lkey;
	/* The device is not registered, so nobody could list it. */
	mr->ib.res.no_track = true;
	return &mr->ib;
}

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	to_fake_hca(ib->device)->nr_mrs--;
	kfree(to_fake_mr(ib));
	return 0;
}

static int set_page(struct ib_mr *ib, u64 addr)
{
	struct fake_mr *mr = to_fake_mr(ib);

	if (mr->nr_pages == FAKE_MR_PAGES)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

static int map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nr,
		     unsigned int *offset)
{
	to_fake_mr(ib)->nr_pages = 0;
	return ib_sg_to_pages(ib, sg, nr, offset, set_page);
}

/**
 * fake_hca_set_mr_ops() - let a device have MRs
 * @hca: the device
 */
void fake_hca_set_mr_ops(struct fake_hca *hca)
{
	hca->ib.ops.alloc_mr = alloc_mr;
	hca->ib.ops.map_mr_sg = map_mr_sg;
	hca->ib.ops.dereg_mr = dereg_mr;
}
