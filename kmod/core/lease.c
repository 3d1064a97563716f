// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Leases of mappings that their exporter can revoke. Access by the local DMA lkey cannot be taken
 * from a queue pair for a range of memory, so the revocation ends the tenants that have a lease.
 */
#include <linux/mutex.h>
#include <linux/slab.h>

#include "device.h"
#include "lease.h"

/**
 * struct kverbs_lease - permission of a tenant to use a mapping
 * @entry: in the list of the tenant
 * @tenant: the tenant
 * @leases: of the mapping
 */
struct kverbs_lease {
	struct list_head entry;
	struct kverbs_tenant *tenant;
	struct kverbs_leases *leases;
};

/*
 * Guards all leases, which are few. Comes after all other mutexes, and before the spinlocks that
 * kverbs_tenant.revoke takes. The teardown of a connection takes it, which must not wait for
 * memory, so nothing is allocated with it held.
 */
static DEFINE_MUTEX(lease_lock);

/**
 * kverbs_leases_init() - grant nothing yet
 * @leases: of a mapping
 * @over: as in the struct
 */
void kverbs_leases_init(struct kverbs_leases *leases,
			void (*over)(struct kverbs_leases *leases))
{
	xa_init(&leases->tenants);
	leases->nr = 0;
	leases->revoked = false;
	leases->over = over;
}

/* The entry is reserved, so this allocates nothing. */
static int add_lease(struct kverbs_leases *leases, struct kverbs_tenant *tenant,
		     struct kverbs_lease *lease)
{
	int ret;

	lockdep_assert_held(&lease_lock);
	ret = xa_err(xa_store(&leases->tenants, (unsigned long)tenant, lease, GFP_NOWAIT));
	if (ret)
		return ret;
	lease->tenant = tenant;
	lease->leases = leases;
	list_add(&lease->entry, &tenant->leases);
	leases->nr++;
	return 0;
}

static int grant(struct kverbs_leases *leases, struct kverbs_tenant *tenant,
		 struct kverbs_lease *lease)
{
	int ret;

	mutex_lock(&lease_lock);
	if (leases->revoked)
		ret = -ESTALE;
	else if (kverbs_leases_have(leases, tenant))
		ret = -EEXIST;
	else
		ret = add_lease(leases, tenant, lease);
	mutex_unlock(&lease_lock);
	return ret;
}

/**
 * kverbs_leases_grant() - let a tenant use a mapping until it leaves the device
 * @leases: of the mapping
 * @tenant: the tenant, which does not leave during the call; it may have a lease already
 *
 * Context: process, may sleep.
 * Return: 0; -ESTALE if the mapping is revoked; -ENOMEM.
 */
int kverbs_leases_grant(struct kverbs_leases *leases, struct kverbs_tenant *tenant)
{
	struct kverbs_lease *lease;
	int ret;

	lease = kmalloc(sizeof(*lease), GFP_KERNEL_ACCOUNT);
	if (!lease)
		return -ENOMEM;
	ret = xa_reserve(&leases->tenants, (unsigned long)tenant, GFP_KERNEL_ACCOUNT);
	if (!ret)
		ret = grant(leases, tenant, lease);
	if (!ret)
		return 0;
	xa_release(&leases->tenants, (unsigned long)tenant);
	kfree(lease);
	return ret == -EEXIST ? 0 : ret;
}

/**
 * kverbs_leases_revoke() - grant no more leases, and tell the tenants that have one
 * @leases: of the mapping; may be revoked already
 *
 * Context: process, may sleep.
 * Return: true if there is no lease. Otherwise @over is called after the last one.
 */
bool kverbs_leases_revoke(struct kverbs_leases *leases)
{
	struct kverbs_lease *lease;
	unsigned long index;
	bool none;

	mutex_lock(&lease_lock);
	leases->revoked = true;
	xa_for_each(&leases->tenants, index, lease)
		lease->tenant->revoke(lease->tenant);
	none = !leases->nr;
	mutex_unlock(&lease_lock);
	return none;
}

static void end_lease(struct kverbs_lease *lease)
{
	lockdep_assert_held(&lease_lock);
	xa_erase(&lease->leases->tenants, (unsigned long)lease->tenant);
	lease->leases->nr--;
	list_del(&lease->entry);
	kfree(lease);
}

/**
 * kverbs_leases_end() - end all leases of a mapping that nothing uses
 * @leases: of the mapping; @over is not called
 *
 * Context: process, may sleep.
 */
void kverbs_leases_end(struct kverbs_leases *leases)
{
	struct kverbs_lease *lease;
	unsigned long index;

	mutex_lock(&lease_lock);
	xa_for_each(&leases->tenants, index, lease)
		end_lease(lease);
	mutex_unlock(&lease_lock);
}

/**
 * kverbs_leases_end_of() - end all leases of a tenant
 * @tenant: the tenant; nothing is on the device in its name any more
 *
 * Context: process, may sleep.
 */
void kverbs_leases_end_of(struct kverbs_tenant *tenant)
{
	struct kverbs_lease *lease, *next;

	mutex_lock(&lease_lock);
	list_for_each_entry_safe(lease, next, &tenant->leases, entry) {
		struct kverbs_leases *leases = lease->leases;

		end_lease(lease);
		if (leases->revoked && !leases->nr)
			leases->over(leases);
	}
	mutex_unlock(&lease_lock);
}
