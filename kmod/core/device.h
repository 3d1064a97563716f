/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_DEVICE_H
#define KVERBS_DEVICE_H

#include <linux/kref.h>
#include <linux/kverbs.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "quota.h"

/**
 * enum kverbs_tenant_kind - in which order tenants leave a device
 * @KVERBS_TENANT_CM: connections and listeners, which leave first
 * @KVERBS_TENANT_GROUP: groups, whose protection domain connections use
 * @KVERBS_TENANT_MAP: DMA mappings, which connections and exports of groups use
 * @KVERBS_TENANT_KINDS: number of kinds
 */
enum kverbs_tenant_kind {
	KVERBS_TENANT_CM,
	KVERBS_TENANT_GROUP,
	KVERBS_TENANT_MAP,
	KVERBS_TENANT_KINDS,
};

/* Objects that a connection is on its device: CQ, QP and a PD, or an SRQ in a group. */
#define KVERBS_CONN_OBJECTS	3

/**
 * struct kverbs_moved - traffic of completed operations
 * @ops: operations that succeeded
 * @errors: operations that failed
 * @bytes_out: bytes to peers
 * @bytes_in: bytes from peers
 */
struct kverbs_moved {
	u64 ops;
	u64 errors;
	u64 bytes_out;
	u64 bytes_in;
};

/**
 * struct kverbs_device_use - use of a device
 * @name: of the device
 * @conns: connections on it
 * @moved: traffic of these and of all earlier connections
 */
struct kverbs_device_use {
	const char *name;
	unsigned int conns;
	struct kverbs_moved moved;
};

/**
 * struct kverbs_device - an RDMA device
 * @ib: the device
 * @unusable: why it has no tenants, for users in its network namespace as well
 * @ref: keeps this struct, not @ib
 * @entry: in the registry, by age
 * @reservations: of connections that may come to be on the device; guarded by the lock of
 *	the registry
 * @lock: guards @removing, @tenants and @moved; held around @evict and @count, so
 *	outside the locks that those take
 * @removing: no more tenants may enter
 * @no_atomics: it has refused an MR with the right to atomics
 * @tenants: by kind; all must leave before the device is removed
 * @moved: traffic of tenants that have left
 * @left: woken when a tenant leaves
 *
 * Created by ib_client.add and freed after ib_client.remove, which waits for all tenants:
 * a tenant may use @ib until it leaves.
 */
struct kverbs_device {
	struct ib_device *ib;
	enum kverbs_unusable unusable;
	struct kref ref;
	struct list_head entry;
	struct list_head reservations;
	spinlock_t lock;
	bool removing;
	bool no_atomics;
	struct list_head tenants[KVERBS_TENANT_KINDS];
	struct kverbs_moved moved;
	wait_queue_head_t left;
};

/**
 * struct kverbs_tenant - holder of resources of a device
 * @entry: in the device's list of its kind
 * @dev: the device, NULL when not on one
 * @evict: called once when the device is removed; must queue work that ends in
 *	kverbs_device_leave(), and not sleep
 * @revoke: the exporter of memory for which the tenant has a lease takes that back: ends access
 *	of the device in the tenant's name, by work that ends in kverbs_device_leave(); must not
 *	sleep, and may be called more than once. NULL if the tenant never has a lease.
 * @count: adds the traffic of the tenant; must not sleep. Set before the tenant enters;
 *	NULL if it has none
 * @evicted: @evict was called
 * @leases: struct kverbs_lease, under the lock of lease.c; end when the tenant leaves
 */
struct kverbs_tenant {
	struct list_head entry;
	struct kverbs_device *dev;
	void (*evict)(struct kverbs_tenant *tenant);
	void (*revoke)(struct kverbs_tenant *tenant);
	void (*count)(struct kverbs_tenant *tenant, struct kverbs_moved *sum);
	bool evicted;
	struct list_head leases;
};

int kverbs_device_enter(struct ib_device *ib, struct kverbs_tenant *tenant,
			enum kverbs_tenant_kind kind,
			void (*evict)(struct kverbs_tenant *tenant));
void kverbs_device_leave(struct kverbs_tenant *tenant);
int kverbs_device_reserve(struct list_head *reserved, unsigned int nr,
			  const struct ib_device *ib, const struct net *net);
int kverbs_device_claim(struct list_head *reserved, const struct ib_device *ib,
			struct kverbs_quota quotas[KVERBS_CONN_OBJECTS]);
void kverbs_device_unreserve(struct list_head *reserved);
struct ib_device *kverbs_device_next(u32 index, const struct net *net,
				     enum kverbs_unusable *unusable);

static inline void kverbs_device_put(struct ib_device *ib)
{
	ib_device_put(ib);
}

enum kverbs_unusable kverbs_device_judge(struct ib_device *ib);
u32 kverbs_device_count(const struct net *net);
void kverbs_device_for_each(void (*show)(const struct kverbs_device_use *use, void *arg),
			    void *arg);
u32 kverbs_mr_page_size(u64 cap, u32 page_size);
u64 kverbs_device_large_pages(const struct ib_device *ib);
u32 kverbs_device_mr_pages(struct ib_device *ib);
bool kverbs_device_has_atomics(struct ib_device *ib);

/* The two below are for a tenant that is on its device, and stays during the call. */
static inline void kverbs_device_note_no_atomics(struct kverbs_tenant *tenant)
{
	WRITE_ONCE(tenant->dev->no_atomics, true);
}

static inline bool kverbs_device_has_no_atomics(const struct kverbs_tenant *tenant)
{
	return READ_ONCE(tenant->dev->no_atomics);
}

int kverbs_device_init(void);
void kverbs_device_exit(void);

#endif /* KVERBS_DEVICE_H */
