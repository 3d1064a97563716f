/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LEASE_H
#define KVERBS_LEASE_H

#include <linux/types.h>
#include <linux/xarray.h>

struct kverbs_tenant;

/**
 * struct kverbs_leases - tenants that may use a mapping which its exporter can revoke
 * @tenants: struct kverbs_lease, by the address of the tenant; read under RCU
 * @nr: leases; under the lock of lease.c
 * @revoked: no lease is granted any more; under the lock of lease.c
 * @over: called once, when the last lease has ended after @revoked was set; must not sleep. It
 *	runs under the lock of lease.c, so it calls none of these functions.
 *
 * A lease is granted when a tenant first uses the mapping, and ends when the tenant leaves its
 * device, since until then the device may use the addresses in the tenant's name. The mapping
 * stays as long as there is a lease, unless the region is destroyed, which nothing uses then.
 */
struct kverbs_leases {
	struct xarray tenants;
	unsigned int nr;
	bool revoked;
	void (*over)(struct kverbs_leases *leases);
};

void kverbs_leases_init(struct kverbs_leases *leases,
			void (*over)(struct kverbs_leases *leases));
int kverbs_leases_grant(struct kverbs_leases *leases, struct kverbs_tenant *tenant);
bool kverbs_leases_revoke(struct kverbs_leases *leases);
void kverbs_leases_end(struct kverbs_leases *leases);
void kverbs_leases_end_of(struct kverbs_tenant *tenant);

/**
 * kverbs_leases_have() - whether a tenant has been granted a lease
 * @leases: of the mapping
 * @tenant: the tenant, or NULL
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool kverbs_leases_have(struct kverbs_leases *leases,
				      const struct kverbs_tenant *tenant)
{
	return tenant && xa_load(&leases->tenants, (unsigned long)tenant);
}

#endif /* KVERBS_LEASE_H */
