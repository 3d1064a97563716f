/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_QUOTA_H
#define KVERBS_QUOTA_H

struct ib_device;
struct rdma_cgroup;

/**
 * struct kverbs_quota - one object of a device, charged to a control group
 * @cg: the rdma control group, NULL if nothing is charged
 */
struct kverbs_quota {
	struct rdma_cgroup *cg;
};

int kverbs_quota_charge(struct kverbs_quota *quotas, unsigned int nr, struct ib_device *ib);
int kverbs_quota_settle(struct kverbs_quota *quota, struct ib_device *ib);
void kverbs_quota_uncharge(struct kverbs_quota *quotas, unsigned int nr, struct ib_device *ib);

#endif /* KVERBS_QUOTA_H */
