/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_GROUP_H
#define KVERBS_GROUP_H

#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "device.h"
#include "mr.h"

struct kverbs_conn;

/**
 * struct kverbs_group - connections that share a protection domain
 * @use: read-locked by exports, write-locked while the domain is created or destroyed;
 *	outside all locks of a connection
 * @tenant: on the device, which it leaves after the connections and before the DMA mappings
 * @quota: what is charged for the domain
 * @pool: MRs of exports of the group; its @pd is the domain, NULL once the group is closed
 * @lock: guards @closed, @conns, and @lent of the connections; taken by completions: bottom
 *	halves off; outside the spinlocks of a connection and of its pool
 * @closed: no more connections may join
 * @conns: connections that have a queue pair in the domain, or are creating one
 * @changed: woken when a connection leaves or is given back
 * @evict_work: closes the group when the device is removed or memory is revoked
 *
 * Life: created on a device by kverbs_group_create(); connections join and leave. It is
 * closed by kverbs_group_destroy(), by the removal of the device, by the exporter of a dma-buf that
 * the group uses, and by the device if that does not deregister an MR. The owner keeps it until
 * the last of its connections and exports is freed.
 */
struct kverbs_group {
	struct rw_semaphore use;
	struct kverbs_tenant tenant;
	struct kverbs_quota quota;
	struct kverbs_mr_pool pool;
	spinlock_t lock;
	bool closed;
	struct list_head conns;
	wait_queue_head_t changed;
	struct work_struct evict_work;
};

struct kverbs_group *kverbs_group_create(u32 device_index, const struct net *net);
void kverbs_group_destroy(struct kverbs_group *group);
void kverbs_group_close(struct kverbs_group *group);
bool kverbs_group_is_on(struct kverbs_group *group, const struct ib_device *ib);
int kverbs_group_join(struct kverbs_group *group, struct kverbs_conn *conn);
void kverbs_group_leave(struct kverbs_group *group, struct kverbs_conn *conn);
struct kverbs_conn *kverbs_group_borrow(struct kverbs_group *group);
void kverbs_group_give_back(struct kverbs_group *group, struct kverbs_conn *conn);
void kverbs_group_reclaim(struct kverbs_conn *conn);
void kverbs_group_revoke(struct kverbs_group *group, u32 rkey);

#endif /* KVERBS_GROUP_H */
