// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Charges objects of devices to the rdma control group of the caller, as uverbs does. */
#include <linux/cgroup_rdma.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "quota.h"

#ifdef CONFIG_CGROUP_RDMA
/* -EAGAIN would mean to users that reaping completions helps. */
static int charge(struct kverbs_quota *quota, struct ib_device *ib)
{
	int ret = rdmacg_try_charge(&quota->cg, &ib->cg_device, RDMACG_RESOURCE_HCA_OBJECT);

	return ret == -EAGAIN ? -EDQUOT : ret;
}

static void uncharge(struct kverbs_quota *quota, struct ib_device *ib)
{
	if (quota->cg)
		rdmacg_uncharge(quota->cg, &ib->cg_device, RDMACG_RESOURCE_HCA_OBJECT);
	quota->cg = NULL;
}
#else
static int charge(struct kverbs_quota *quota, struct ib_device *ib)
{
	return 0;
}

static void uncharge(struct kverbs_quota *quota, struct ib_device *ib)
{
}
#endif

/**
 * kverbs_quota_charge() - charge objects to the control group of the caller
 * @quotas: filled in, one for each object
 * @nr: number of objects
 * @ib: the device, which the caller keeps registered until kverbs_quota_uncharge()
 *
 * Kernel threads, which work for more than one user, are not charged; see
 * kverbs_quota_settle().
 *
 * Context: process, may sleep.
 * Return: 0; or, with nothing charged, -EDQUOT beyond the limit, or -ENOMEM.
 */
int kverbs_quota_charge(struct kverbs_quota *quotas, unsigned int nr, struct ib_device *ib)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++)
		quotas[i].cg = NULL;
	if (current->flags & PF_KTHREAD)
		return 0;
	for (i = 0; i < nr; i++) {
		ret = charge(&quotas[i], ib);
		if (ret) {
			kverbs_quota_uncharge(quotas, i, ib);
			return ret;
		}
	}
	return 0;
}

/**
 * kverbs_quota_settle() - charge the caller for an object that a kernel thread made for it
 * @quota: of kverbs_quota_charge()
 * @ib: the device
 *
 * Context: process, may sleep.
 * Return: 0, also if it is charged already, or by a kernel thread, which leaves it as it is;
 * else as kverbs_quota_charge().
 */
int kverbs_quota_settle(struct kverbs_quota *quota, struct ib_device *ib)
{
	return quota->cg ? 0 : kverbs_quota_charge(quota, 1, ib);
}

/**
 * kverbs_quota_uncharge() - give back what was charged
 * @quotas: of kverbs_quota_charge(), or zero
 * @nr: number of objects
 * @ib: the device
 *
 * Context: process, may sleep; any task.
 */
void kverbs_quota_uncharge(struct kverbs_quota *quotas, unsigned int nr, struct ib_device *ib)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		uncharge(&quotas[i], ib);
}
