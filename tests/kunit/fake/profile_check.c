// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work requests as the adapter of a profile reads them. */
#include <linux/mm.h>

#include "fake_hca.h"
#include "fake_qp.h"
#include "profile.h"

/**
 * fake_misread() - note that the adapter does not do what kverbs means
 * @hca: the device
 * @why: what is wrong
 */
void fake_misread(struct fake_hca *hca, const char *why)
{
	if (cmpxchg(&hca->misread, NULL, why))
		return;
	pr_err("%s misreads: %s\n", hca->profile->name, why);
}

/**
 * fake_dma_lkey() - key of all memory
 * @hca: the device
 *
 * Return: the key.
 */
u32 fake_dma_lkey(struct fake_hca *hca)
{
	return hca->profile ? hca->profile->dma_lkey : FAKE_LKEY;
}

/**
 * fake_mr_find() - find an MR by the upper 24 bits of a key
 * @hca: the device
 * @key: the key
 *
 * Return: the MR, which need not be registered with this key, or NULL.
 */
struct fake_mr *fake_mr_find(struct fake_hca *hca, u32 key)
{
	return xa_load(&hca->mrs, key >> 8);
}

static bool is_pinned(const struct ib_sge *sge)
{
	u64 addr = sge->addr & PAGE_MASK;

	for (; addr < sge->addr + sge->length; addr += PAGE_SIZE)
		if (!virt_addr_valid((void *)(uintptr_t)addr) ||
		    !folio_maybe_dma_pinned(virt_to_folio((void *)(uintptr_t)addr)))
			return false;
	return true;
}

static const char *check_mr_sge(struct fake_hca *hca, struct ib_qp *qp,
				const struct ib_sge *sge, bool recv, int access)
{
	struct fake_mr *mr = fake_mr_find(hca, sge->lkey);
	u64 base, off;

	if (!mr || mr->ib.pd != qp->pd)
		return "an entry names no MR";
	/* Receives are not ordered behind registrations. */
	if (!mr->posted || (recv && !mr->valid))
		return "an entry names an MR that is not registered";
	if (mr->key != sge->lkey)
		return "an entry names an old key";
	base = hca->profile->ways & FAKE_LOCAL_BASE ? mr->base : mr->ib.iova;
	off = sge->addr - base;
	if (sge->addr < base || off + sge->length > mr->ib.length)
		return "an entry is outside of its MR";
	if (access & ~mr->access)
		return "an entry names an MR without the rights";
	return NULL;
}

static const char *check_sges(struct ib_qp *qp, const struct ib_sge *sges, int nr, bool recv,
			      int access, bool empty_is_2g)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	u32 mr_key = 0, dma = hca->profile->dma_lkey;
	const char *why;
	u64 sum = 0;
	int i;

	if (!nr && sges && hca->profile->ways & FAKE_TAKES_FIRST_SGE && sges->length)
		return "the first entry counts though there is none";
	for (i = 0; i < nr; i++) {
		if (!sges[i].length) {
			if (empty_is_2g)
				return "an empty entry means 2^31 bytes";
			continue;
		}
		sum += sges[i].length;
		if (sges[i].lkey == dma && access & IB_ACCESS_REMOTE_WRITE)
			return "the sink of a READ has no key for the peer";
		if (sges[i].lkey == dma && !is_pinned(&sges[i]))
			return "an entry names memory that is not pinned";
		if (sges[i].lkey == dma)
			continue;
		why = check_mr_sge(hca, qp, &sges[i], recv, access);
		if (why)
			return why;
		if (hca->profile->ways & FAKE_ONE_MR && i && mr_key != sges[i].lkey)
			return "entries name different MRs";
		mr_key = sges[i].lkey;
	}
	return sum > SZ_1G ? "a message is too long" : NULL;
}

static const char *check_reg(struct fake_hca *hca, struct ib_qp *qp, const struct ib_reg_wr *wr)
{
	struct fake_mr *mr = to_fake_mr(wr->mr);
	u64 mask = mr->ib.page_size - 1;
	unsigned int i;

	if (mr->ib.pd != qp->pd)
		return "REG_MR of another protection domain";
	if (mr->posted)
		return "REG_MR of an MR that is registered";
	if ((wr->key ^ mr->ib.rkey) >> 8)
		return "REG_MR with the index of another MR";
	if (!mr->nr_pages || mr->nr_pages > hca->limits.max_fast_reg_page_list_len)
		return "REG_MR with too few or too many pages";
	if (hca->profile->ways & FAKE_TWO_LEVELS && mr->max_pages > 512)
		return "REG_MR of a page list of two levels";
	if (((mr->ib.iova ^ mr->base) & mask) || (mr->ib.iova & mask) + mr->ib.length >
						  (u64)mr->nr_pages * mr->ib.page_size)
		return "REG_MR with an address that is not that of its pages";
	for (i = 0; i < mr->nr_pages; i++)
		if (mr->pages[i] & mask)
			return "REG_MR of an unaligned page";
	if (wr->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(wr->access & IB_ACCESS_LOCAL_WRITE))
		return "REG_MR for remote writes only";
	return NULL;
}

static const char *check_inv(struct fake_hca *hca, const struct ib_send_wr *wr)
{
	struct fake_mr *mr = fake_mr_find(hca, wr->ex.invalidate_rkey);

	if (!mr || !mr->posted || mr->key != wr->ex.invalidate_rkey)
		return "an MR that is invalidated is not registered";
	return NULL;
}

static const char *check_atomic(const struct ib_send_wr *wr)
{
	if (wr->num_sge != 1 || wr->sg_list->length != sizeof(u64) ||
	    !IS_ALIGNED(wr->sg_list->addr, sizeof(u64)))
		return "an atomic without a single aligned entry";
	if (!IS_ALIGNED(atomic_wr(wr)->remote_addr, sizeof(u64)))
		return "an atomic of an unaligned address";
	return NULL;
}

static const char *check_data(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	const struct fake_profile *profile = to_fake_hca(qp->device)->profile;
	bool inv = wr->opcode == IB_WR_RDMA_READ_WITH_INV;
	bool read = wr->opcode == IB_WR_RDMA_READ || inv, writes = read;
	u32 ways = profile->ways;
	const char *why = NULL;
	int access = 0;

	if (wr->num_sge > to_fake_qp(qp)->cap.max_send_sge ||
	    (read && wr->num_sge > profile->limits.max_sge_rd))
		return "too many entries";
	if (read && ways & FAKE_READ_HAS_ONE_SGE && wr->num_sge != 1)
		return "a READ without a single entry";
	if (read && ways & FAKE_READ_DEREFERENCES_LIST && !wr->sg_list)
		return "a READ without a list";
	if (read && ways & FAKE_NO_READ_FENCE && wr->send_flags & IB_SEND_FENCE)
		return "a READ with a fence";
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		writes = true;
		why = check_atomic(wr);
	}
	if (inv)
		why = wr->sg_list->lkey != wr->ex.invalidate_rkey ?
		      "a READ that invalidates another MR than its sink" :
		      check_inv(to_fake_hca(qp->device), wr);
	if (writes)
		access = IB_ACCESS_LOCAL_WRITE;
	if (read && ways & FAKE_READ_SINK)
		access |= IB_ACCESS_REMOTE_WRITE;
	return why ?: check_sges(qp, wr->sg_list, wr->num_sge, false, access,
				 ways & FAKE_EMPTY_SEND_SGE_IS_2G);
}

static unsigned int count_left(const struct ib_qp *qp, const struct fake_wr *wrs,
			       unsigned int nr)
{
	unsigned int i, left = 0;

	for (i = 0; i < nr; i++)
		left += wrs[i].qp == qp && !wrs[i].ended;
	return left;
}

static const char *check_any(struct fake_hca *hca, struct ib_qp *qp,
			     const struct ib_send_wr *wr)
{
	if (wr->send_flags & ~(IB_SEND_SIGNALED | IB_SEND_FENCE | IB_SEND_SOLICITED))
		return "unknown flags";
	if (count_left(qp, hca->sends, hca->nr_sends) >= to_fake_qp(qp)->cap.max_send_wr)
		return "more sends than the queue has room for";
	if (wr->opcode == IB_WR_REG_MR)
		return check_reg(hca, qp, reg_wr(wr));
	if (wr->opcode == IB_WR_LOCAL_INV)
		return check_inv(hca, wr);
	return check_data(qp, wr);
}

/* The driver's own view of what is registered changes when it is posted. */
static void note_posted(struct fake_hca *hca, const struct ib_send_wr *wr)
{
	struct fake_mr *mr;

	if (wr->opcode == IB_WR_REG_MR) {
		mr = to_fake_mr(reg_wr(wr)->mr);
		mr->posted = true;
		mr->key = reg_wr(wr)->key;
		mr->access = reg_wr(wr)->access;
	} else if (wr->opcode == IB_WR_LOCAL_INV || wr->opcode == IB_WR_RDMA_READ_WITH_INV) {
		mr = fake_mr_find(hca, wr->ex.invalidate_rkey);
		if (mr)
			mr->posted = false;
	}
}

static bool takes_recv(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/**
 * fake_check_send() - let the driver of the profile see a work request
 * @qp: its queue pair; in ERR everything is accepted
 * @wr: the work request
 *
 * Return: 0, or the errno of the driver.
 */
int fake_check_send(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	const char *why;

	lockdep_assert_held(&hca->lock);
	if (!hca->profile || fake_qp_is_broken(qp))
		return 0;
	if (!(hca->profile->opcodes & BIT_ULL(wr->opcode))) {
		fake_misread(hca, "an opcode that the driver refuses");
		return hca->profile->refusal;
	}
	if (wr->opcode == IB_WR_REG_MR && hca->profile->ways & FAKE_NO_ATOMIC_MR &&
	    reg_wr(wr)->access & IB_ACCESS_REMOTE_ATOMIC)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_SOLICITED && !takes_recv(wr->opcode) &&
	    hca->profile->ways & FAKE_SOLICITS_MESSAGES)
		return -EINVAL;
	why = check_any(hca, qp, wr);
	if (why)
		fake_misread(hca, why);
	note_posted(hca, wr);
	return 0;
}

static bool is_message(enum ib_wr_opcode opcode)
{
	return takes_recv(opcode) && opcode != IB_WR_RDMA_WRITE_WITH_IMM;
}

/**
 * fake_check_chain() - let the driver of the profile see what is posted by one call
 * @hca: the device
 * @first: the first work request
 */
void fake_check_chain(struct fake_hca *hca, const struct ib_send_wr *first)
{
	const struct ib_send_wr *second = first->next;

	if (!hca->profile || !(hca->profile->ways & FAKE_FUSES_SENDS))
		return;
	if (!second || second->next || first->opcode != IB_WR_RDMA_WRITE ||
	    !is_message(second->opcode))
		return;
	/* Both lists are looked at, whatever the number of entries. */
	if (!first->sg_list || !second->sg_list)
		fake_misread(hca, "a WRITE and a SEND of which one has no list");
	else if (first->sg_list->length && first->num_sge <= 4 && second->num_sge == 1 &&
		 second->sg_list->length == 16 &&
		 second->send_flags & (IB_SEND_FENCE | IB_SEND_SOLICITED))
		fake_misread(hca, "the flags of a SEND that is fused with a WRITE");
}

/**
 * fake_check_recv() - let the driver of the profile see a receive
 * @qp: its queue pair; in ERR everything is accepted
 * @wr: the receive
 *
 * Return: 0, or the errno of the driver.
 */
int fake_check_recv(struct ib_qp *qp, const struct ib_recv_wr *wr)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	const char *why;

	lockdep_assert_held(&hca->lock);
	if (!hca->profile || fake_qp_is_broken(qp))
		return 0;
	if (wr->num_sge > to_fake_qp(qp)->cap.max_recv_sge)
		why = "a receive with too many entries";
	else if (count_left(qp, hca->recvs, hca->nr_recvs) >= to_fake_qp(qp)->cap.max_recv_wr)
		why = "more receives than the queue has room for";
	else
		why = check_sges(qp, wr->sg_list, wr->num_sge, true, IB_ACCESS_LOCAL_WRITE,
				 hca->profile->ways & FAKE_EMPTY_RECV_SGE_IS_2G);
	if (why)
		fake_misread(hca, why);
	return 0;
}

/**
 * fake_check_map() - check an MR that gets its pages
 * @mr: the MR
 */
void fake_check_map(struct fake_mr *mr)
{
	struct fake_hca *hca = to_fake_hca(mr->ib.device);

	if (!hca->profile)
		return;
	if (!(hca->limits.page_size_cap & mr->ib.page_size))
		fake_misread(hca, "pages of a size that the adapter has not");
	if (mr->ib.page_size > PAGE_SIZE && !(hca->profile->ways & FAKE_HUGE_PAGES))
		fake_misread(hca, "pages of a size that the driver may ignore");
	if (mr->posted)
		fake_misread(hca, "new pages of an MR that is registered");
}
