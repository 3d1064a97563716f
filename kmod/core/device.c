// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* All RDMA devices, the tenants of those that kverbs can use, and hot removal. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "device.h"
#include "lease.h"
#include "quirks.h"

/* Entries of one MR's list of pages, as many as other users in the kernel ask for at most. */
#define MR_ENTRIES_MAX	512U
/* With KVERBS_QUIRK_LARGE_MRS; bounds the scatterlist that registering it takes. */
#define LARGE_MR_ENTRIES_MAX	4096U

/* Guards the list; while it is held, no device in the list can be removed. */
static DEFINE_MUTEX(registry_lock);
static LIST_HEAD(registry);

/**
 * struct reservation - objects of a device, charged before the device is known to be the one
 * @entry: in the list of the device
 * @owned: in the list of the connection
 * @dev: the device
 * @quotas: what is charged
 * @error: why nothing is charged, or 0
 *
 * Only a task of the user can charge the user, but a worker learns which device a connection
 * will be on.
 */
struct reservation {
	struct list_head entry;
	struct list_head owned;
	struct kverbs_device *dev;
	struct kverbs_quota quotas[KVERBS_CONN_OBJECTS];
	int error;
};

static void device_release(struct kref *ref)
{
	kfree(container_of(ref, struct kverbs_device, ref));
}

static struct kverbs_device *find_device(struct ib_device *ib)
{
	struct kverbs_device *dev;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(dev, &registry, entry)
		if (dev->ib == ib)
			return dev;
	return NULL;
}

static int enter(struct kverbs_device *dev, struct kverbs_tenant *tenant,
		 enum kverbs_tenant_kind kind)
{
	int ret = -ENODEV;

	spin_lock(&dev->lock);
	if (!dev->removing) {
		tenant->dev = dev;
		list_add_tail(&tenant->entry, &dev->tenants[kind]);
		kref_get(&dev->ref);
		ret = 0;
	}
	spin_unlock(&dev->lock);
	return ret;
}

/**
 * kverbs_device_enter() - become a tenant of a device
 * @ib: the device, which the caller keeps from being removed
 * @tenant: the tenant; leaves by kverbs_device_leave()
 * @kind: decides when it must leave
 * @evict: called when it must leave
 *
 * Context: process, may sleep.
 * Return: 0, or -ENODEV if kverbs cannot use the device or it is being removed.
 */
int kverbs_device_enter(struct ib_device *ib, struct kverbs_tenant *tenant,
			enum kverbs_tenant_kind kind,
			void (*evict)(struct kverbs_tenant *tenant))
{
	struct kverbs_device *dev;
	int ret = -ENODEV;

	tenant->evict = evict;
	tenant->evicted = false;
	INIT_LIST_HEAD(&tenant->leases);
	mutex_lock(&registry_lock);
	dev = find_device(ib);
	if (dev && !dev->unusable)
		ret = enter(dev, tenant, kind);
	mutex_unlock(&registry_lock);
	return ret;
}

/**
 * kverbs_device_leave() - stop being a tenant
 * @tenant: holds nothing of the device any more; need not be on a device
 *
 * Context: process, may sleep.
 */
void kverbs_device_leave(struct kverbs_tenant *tenant)
{
	struct kverbs_device *dev = tenant->dev;

	if (!dev)
		return;
	kverbs_leases_end_of(tenant);
	spin_lock(&dev->lock);
	if (tenant->count)
		tenant->count(tenant, &dev->moved);
	list_del(&tenant->entry);
	tenant->dev = NULL;
	wake_up(&dev->left);
	spin_unlock(&dev->lock);
	kref_put(&dev->ref, device_release);
}

static bool is_usable(const struct kverbs_device *dev, const struct net *net)
{
	return !dev->unusable && rdma_dev_access_netns(dev->ib, net);
}

/* That a device is in another network namespace is only for the administrator of that. */
static bool may_see(const struct kverbs_device *dev, const struct net *net)
{
	return rdma_dev_access_netns(dev->ib, net) ||
	       ns_capable_noaudit(read_pnet(&dev->ib->coredev.rdma_net)->user_ns,
				  CAP_NET_ADMIN);
}

static struct kverbs_device *find_next(u32 index, const struct net *net)
{
	struct kverbs_device *dev, *best = NULL;

	lockdep_assert_held(&registry_lock);
	list_for_each_entry(dev, &registry, entry)
		if (dev->ib->index >= index &&
		    (!best || dev->ib->index < best->ib->index) && may_see(dev, net))
			best = dev;
	return best;
}

/**
 * kverbs_device_next() - find a device by its index
 * @index: smallest index that will do
 * @net: network namespace of the caller
 * @unusable: set to the reason why kverbs cannot use the device there
 *
 * A device of another network namespace is found only with CAP_NET_ADMIN in the user
 * namespace that owns that.
 *
 * Return: the device or NULL. The reference keeps the device registered, so the caller
 * must call kverbs_device_put() soon.
 */
struct ib_device *kverbs_device_next(u32 index, const struct net *net,
				     enum kverbs_unusable *unusable)
{
	struct kverbs_device *dev;
	struct ib_device *ib = NULL;

	mutex_lock(&registry_lock);
	dev = find_next(index, net);
	if (dev && ib_device_try_get(dev->ib)) {
		ib = dev->ib;
		*unusable = rdma_dev_access_netns(ib, net) ? dev->unusable :
							    KVERBS_UNUSABLE_NETNS;
	}
	mutex_unlock(&registry_lock);
	return ib;
}

/**
 * kverbs_device_count() - how many devices kverbs can use now
 * @net: network namespace that must have access
 *
 * Return: their number.
 */
u32 kverbs_device_count(const struct net *net)
{
	struct kverbs_device *dev;
	u32 n = 0;

	mutex_lock(&registry_lock);
	list_for_each_entry(dev, &registry, entry)
		n += is_usable(dev, net);
	mutex_unlock(&registry_lock);
	return n;
}

static void drop(struct reservation *reservation)
{
	lockdep_assert_held(&registry_lock);
	kverbs_quota_uncharge(reservation->quotas, KVERBS_CONN_OBJECTS, reservation->dev->ib);
	list_del(&reservation->entry);
	list_del(&reservation->owned);
	kfree(reservation);
}

static void drop_all(struct list_head *reserved)
{
	struct reservation *reservation, *next;

	list_for_each_entry_safe(reservation, next, reserved, owned)
		drop(reservation);
}

static int reserve(struct list_head *reserved, unsigned int nr, struct kverbs_device *dev)
{
	struct reservation *reservation = kzalloc(sizeof(*reservation), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&registry_lock);
	if (!reservation)
		return -ENOMEM;
	reservation->dev = dev;
	reservation->error = kverbs_quota_charge(reservation->quotas, nr, dev->ib);
	list_add(&reservation->entry, &dev->reservations);
	list_add(&reservation->owned, reserved);
	return reservation->error;
}

/**
 * kverbs_device_reserve() - charge the caller for a connection to come
 * @reserved: an empty list, of the connection
 * @nr: objects that it will be, at most KVERBS_CONN_OBJECTS
 * @ib: its device, NULL if that is not known yet; then all of them are charged
 * @net: network namespace that must have access
 *
 * Context: process of the user, may sleep.
 * Return: 0; -EDQUOT if the control group of the caller permits no connection on any
 * device; -ENOMEM.
 */
int kverbs_device_reserve(struct list_head *reserved, unsigned int nr,
			  const struct ib_device *ib, const struct net *net)
{
	struct kverbs_device *dev;
	bool reserved_one = false;
	int ret = 0, err;

	mutex_lock(&registry_lock);
	list_for_each_entry(dev, &registry, entry) {
		if (!is_usable(dev, net) || (ib && dev->ib != ib))
			continue;
		err = reserve(reserved, nr, dev);
		reserved_one |= !err;
		ret = ret ?: err;
	}
	if (reserved_one)
		ret = 0;
	if (ret)
		drop_all(reserved);
	mutex_unlock(&registry_lock);
	return ret;
}

/**
 * kverbs_device_claim() - take the reservation on a device, and drop all others
 * @reserved: from kverbs_device_reserve()
 * @ib: the device; the caller is its tenant
 * @quotas: set to what is charged; the caller returns it before it leaves
 *
 * Context: process, may sleep.
 * Return: 0; -EDQUOT or -ENOMEM if nothing could be charged there; -ENODEV if the device
 * came after the reservation.
 */
int kverbs_device_claim(struct list_head *reserved, const struct ib_device *ib,
			struct kverbs_quota quotas[KVERBS_CONN_OBJECTS])
{
	struct reservation *reservation;
	int ret = -ENODEV;

	mutex_lock(&registry_lock);
	list_for_each_entry(reservation, reserved, owned) {
		if (reservation->dev->ib != ib)
			continue;
		ret = reservation->error;
		memcpy(quotas, reservation->quotas, sizeof(reservation->quotas));
		memset(reservation->quotas, 0, sizeof(reservation->quotas));
	}
	drop_all(reserved);
	mutex_unlock(&registry_lock);
	return ret;
}

/**
 * kverbs_device_unreserve() - drop reservations that were not claimed
 * @reserved: from kverbs_device_reserve(), may be empty
 *
 * Context: process, may sleep.
 */
void kverbs_device_unreserve(struct list_head *reserved)
{
	mutex_lock(&registry_lock);
	drop_all(reserved);
	mutex_unlock(&registry_lock);
}

static void get_use(struct kverbs_device *dev, struct kverbs_device_use *use)
{
	struct kverbs_tenant *tenant;

	*use = (struct kverbs_device_use){ .name = dev_name(&dev->ib->dev) };
	spin_lock(&dev->lock);
	use->moved = dev->moved;
	list_for_each_entry(tenant, &dev->tenants[KVERBS_TENANT_CM], entry) {
		if (tenant->count) {
			tenant->count(tenant, &use->moved);
			use->conns++;
		}
	}
	spin_unlock(&dev->lock);
}

/**
 * kverbs_device_for_each() - report the use of all devices that kverbs can use
 * @show: called for each device
 * @arg: for @show
 *
 * The traffic of a tenant counts once, whether or not it has left.
 *
 * Context: process, may sleep.
 */
void kverbs_device_for_each(void (*show)(const struct kverbs_device_use *use, void *arg),
			    void *arg)
{
	struct kverbs_device_use use;
	struct kverbs_device *dev;

	mutex_lock(&registry_lock);
	list_for_each_entry(dev, &registry, entry) {
		if (dev->unusable)
			continue;
		get_use(dev, &use);
		show(&use, arg);
	}
	mutex_unlock(&registry_lock);
}

/**
 * kverbs_mr_page_size() - what an entry of an MR's list of pages covers
 * @cap: the page sizes that a device has, a bit for each, 0: not known
 * @page_size: of the kernel
 *
 * Not every device has the pages of a kernel with larger ones than 4 KiB: irdma takes any
 * size but 2 MiB and 1 GiB for 4 KiB, and would read and write other memory.
 *
 * Return: the largest of the device that is not larger than @page_size; else @page_size.
 */
u32 kverbs_mr_page_size(u64 cap, u32 page_size)
{
	cap &= 2ULL * page_size - 1;
	return cap ? BIT_ULL(fls64(cap) - 1) : page_size;
}

/**
 * kverbs_device_large_pages() - sizes of the pages of an MR that are larger than the kernel's
 * @ib: the device
 *
 * Return: a bit for each, up to 1 GiB.
 */
u64 kverbs_device_large_pages(const struct ib_device *ib)
{
	if (!(kverbs_driver_quirks(ib) & KVERBS_QUIRK_HUGE_PAGES))
		return 0;
	return ib->attrs.page_size_cap & (2ULL * SZ_1G - 1) & ~(2ULL * PAGE_SIZE - 1);
}

/**
 * kverbs_device_mr_pages() - pages that one memory region covers at most
 * @ib: the device
 *
 * Return: pages of PAGE_SIZE; 0 if the device cannot even cover one.
 */
u32 kverbs_device_mr_pages(struct ib_device *ib)
{
	bool large = kverbs_quirks(ib, rdma_start_port(ib)) & KVERBS_QUIRK_LARGE_MRS;

	u32 entries = min(ib->attrs.max_fast_reg_page_list_len,
			  large ? LARGE_MR_ENTRIES_MAX : MR_ENTRIES_MAX);

	return entries / (PAGE_SIZE / kverbs_mr_page_size(ib->attrs.page_size_cap, PAGE_SIZE));
}

static bool has_refused_atomics(struct ib_device *ib)
{
	struct kverbs_device *dev;
	bool refused;

	mutex_lock(&registry_lock);
	dev = find_device(ib);
	refused = dev && READ_ONCE(dev->no_atomics);
	mutex_unlock(&registry_lock);
	return refused;
}

/**
 * kverbs_device_has_atomics() - whether an export may have the right to atomics
 * @ib: the device
 *
 * Some mlx5 have atomics but cannot give that right, which shows only when it is first asked for.
 *
 * Context: process, may sleep.
 * Return: true unless the device, its driver or its transport has none, as far as is known.
 */
bool kverbs_device_has_atomics(struct ib_device *ib)
{
	u32 port;

	if (ib->attrs.atomic_cap == IB_ATOMIC_NONE || has_refused_atomics(ib))
		return false;
	rdma_for_each_port(ib, port)
		if (!(kverbs_quirks(ib, port) & KVERBS_QUIRK_NO_ATOMICS))
			return true;
	return false;
}

/**
 * kverbs_device_judge() - whether kverbs can use a device at all
 * @ib: the device
 *
 * Some drivers take the limits of fast registration from the firmware or from the host. With
 * KVERBS_QUIRK_FIXED_IOVA an export would have to tell the peer DMA addresses.
 *
 * Return: KVERBS_USABLE, or the reason why not, whatever network namespace its user is in.
 */
enum kverbs_unusable kverbs_device_judge(struct ib_device *ib)
{
	u32 port;

	if (!ib->kverbs_provider)
		return KVERBS_UNUSABLE_NO_KERNEL_VERBS;
	if (!(ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return KVERBS_UNUSABLE_NO_FAST_REG;
	if (!kverbs_device_mr_pages(ib))
		return KVERBS_UNUSABLE_NO_MR_PAGES;
	if (kverbs_driver_quirks(ib) & KVERBS_QUIRK_FIXED_IOVA)
		return KVERBS_UNUSABLE_FIXED_IOVA;
	rdma_for_each_port(ib, port)
		if (rdma_cap_ib_cm(ib, port) || rdma_cap_iw_cm(ib, port))
			return KVERBS_USABLE;
	return rdma_cap_ib_switch(ib) ? KVERBS_UNUSABLE_SWITCH : KVERBS_UNUSABLE_NO_CM;
}

/* One that cannot be used is kept as well, so that users learn why. */
static int add_device(struct ib_device *ib)
{
	struct kverbs_device *dev;
	int kind;

	dev = kzalloc_node(sizeof(*dev), GFP_KERNEL, ibdev_to_node(ib));
	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	dev->unusable = kverbs_device_judge(ib);
	kref_init(&dev->ref);
	spin_lock_init(&dev->lock);
	init_waitqueue_head(&dev->left);
	INIT_LIST_HEAD(&dev->reservations);
	for (kind = 0; kind < KVERBS_TENANT_KINDS; kind++)
		INIT_LIST_HEAD(&dev->tenants[kind]);

	mutex_lock(&registry_lock);
	list_add_tail(&dev->entry, &registry);
	mutex_unlock(&registry_lock);
	pr_debug("%s is here, unusable %u\n", dev_name(&ib->dev), dev->unusable);
	return 0;
}

static void evict_all(struct kverbs_device *dev, enum kverbs_tenant_kind kind)
{
	struct kverbs_tenant *tenant;

	spin_lock(&dev->lock);
	list_for_each_entry(tenant, &dev->tenants[kind], entry) {
		if (!tenant->evicted) {
			tenant->evicted = true;
			tenant->evict(tenant);
		}
	}
	spin_unlock(&dev->lock);
}

static bool all_left(struct kverbs_device *dev, enum kverbs_tenant_kind kind)
{
	bool empty;

	spin_lock(&dev->lock);
	empty = list_empty(&dev->tenants[kind]);
	spin_unlock(&dev->lock);
	return empty;
}

/* Does not depend on user space: tenants leave by work that they queue. */
static void remove_device(struct ib_device *ib, void *client_data)
{
	struct reservation *reservation, *next;
	struct kverbs_device *dev;
	int kind;

	mutex_lock(&registry_lock);
	dev = find_device(ib);
	if (dev) {
		list_del(&dev->entry);
		list_for_each_entry_safe(reservation, next, &dev->reservations, entry)
			drop(reservation);
		spin_lock(&dev->lock);
		dev->removing = true;
		spin_unlock(&dev->lock);
	}
	mutex_unlock(&registry_lock);
	if (!dev)
		return;

	for (kind = 0; kind < KVERBS_TENANT_KINDS; kind++) {
		evict_all(dev, kind);
		wait_event(dev->left, all_left(dev, kind));
	}
	pr_debug("%s has gone\n", dev_name(&ib->dev));
	kref_put(&dev->ref, device_release);
}

static struct ib_client client = {
	.name	= KBUILD_MODNAME,
	.add	= add_device,
	.remove	= remove_device,
	.no_kverbs_req = true,
};

/**
 * kverbs_device_init() - register with ib_core
 *
 * Return: 0 or -errno.
 */
int kverbs_device_init(void)
{
	return ib_register_client(&client);
}

/**
 * kverbs_device_exit() - unregister from ib_core
 */
void kverbs_device_exit(void)
{
	ib_unregister_client(&client);
}
