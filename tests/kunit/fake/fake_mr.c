// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake device's MRs. */
#include <linux/slab.h>

#include "fake_hca.h"

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct fake_hca *hca = to_fake_hca(pd->device);
	struct fake_mr *mr;

	if (hca->errors[FAKE_ALLOC_MR])
		return ERR_PTR(hca->errors[FAKE_ALLOC_MR]);
	if (max_num_sg > FAKE_MR_LARGE)
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&hca->nr_mrs);
	mr->max_pages = max_num_sg;
	mr->ib.lkey = ++hca->nr_allocs << 8;
	mr->ib.rkey = mr->ib.lkey;
	/* The restrack of an unregistered device cannot list the MR. */
	mr->ib.res.no_track = !hca->registered;
	return &mr->ib;
}

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct fake_hca *hca = to_fake_hca(ib->device);

	if (hca->dereg_held) {
		complete_all(&hca->dereg_begun);
		wait_for_completion(&hca->dereg_let);
	}
	if (hca->errors[FAKE_DEREG_MR])
		return hca->errors[FAKE_DEREG_MR];
	atomic_dec(&hca->nr_mrs);
	kfree(to_fake_mr(ib));
	return 0;
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

	if (hca->errors[FAKE_MAP_MR])
		return hca->errors[FAKE_MAP_MR];
	to_fake_mr(ib)->nr_pages = 0;
	return ib_sg_to_pages(ib, sg, nr, offset, set_page);
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
