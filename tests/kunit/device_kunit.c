// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device registry: which devices can be used, and how tenants leave a removed one. */
#include <linux/sizes.h>

#include "device.h"
#include "fake_device.h"
#include "fake_qp.h"

/* ---- coming and going --------------------------------------------------- */

/* -1 if the device is not listed. */
static int verdict_on(struct fake_hca *hca)
{
	enum kverbs_unusable unusable;
	struct ib_device *ib = kverbs_device_next(hca->ib.index, &init_net, &unusable);

	if (ib)
		kverbs_device_put(ib);
	return ib == &hca->ib ? unusable : -1;
}

static bool is_known(struct fake_hca *hca)
{
	return verdict_on(hca) == KVERBS_USABLE;
}

static void device_is_listed_while_it_is_registered(struct kunit *test)
{
	u32 before = kverbs_device_count(&init_net);
	struct fake_hca *hca = fake_device_create(test);

	KUNIT_EXPECT_EQ(test, before + 1, kverbs_device_count(&init_net));
	KUNIT_EXPECT_TRUE(test, is_known(hca));
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, before, kverbs_device_count(&init_net));
	KUNIT_EXPECT_FALSE(test, is_known(hca));
}

static void devices_are_found_by_index(struct kunit *test)
{
	struct fake_hca *first = fake_device_create(test);
	struct fake_hca *second = fake_device_create(test);

	KUNIT_EXPECT_LT(test, first->ib.index, second->ib.index);
	KUNIT_EXPECT_TRUE(test, is_known(first));
	KUNIT_EXPECT_TRUE(test, is_known(second));
	fake_device_remove(first);
	KUNIT_EXPECT_FALSE(test, is_known(first));
	KUNIT_EXPECT_TRUE(test, is_known(second));
}

static void devices_may_come_and_go_in_any_order(struct kunit *test)
{
	u32 before = kverbs_device_count(&init_net);
	struct fake_hca *hcas[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hcas); i++)
		hcas[i] = fake_device_create(test);
	fake_device_remove(hcas[1]);
	fake_device_remove(hcas[0]);
	hcas[1] = fake_device_create(test);
	KUNIT_EXPECT_EQ(test, before + 2, kverbs_device_count(&init_net));
	KUNIT_EXPECT_TRUE(test, is_known(hcas[1]));
	KUNIT_EXPECT_TRUE(test, is_known(hcas[2]));
}

/* ---- which devices will do ---------------------------------------------- */

/**
 * struct kind - a device
 * @what: its special property
 * @unusable: why kverbs cannot use it
 * @driver: its driver
 * @user_only: it has no verbs for the kernel
 * @cap_flags: flags in its attributes
 * @mr_pages: pages of an MR
 * @port_caps: capabilities of its port
 */
struct kind {
	const char *what;
	enum kverbs_unusable unusable;
	enum rdma_driver_id driver;
	bool user_only;
	u64 cap_flags;
	u32 mr_pages;
	u32 port_caps;
};

#define FAST_REG	.cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS, .mr_pages = FAKE_MR_ROOM
#define HAS_CM		.port_caps = RDMA_CORE_PORT_IWARP
#define HAS_NO_CM	.port_caps = RDMA_CORE_CAP_PROT_IWARP

static const struct kind kinds[] = {
	{ "registers memory and has the CM of iWARP", KVERBS_USABLE, FAST_REG, HAS_CM },
	{ "has verbs for user space only", KVERBS_UNUSABLE_NO_KERNEL_VERBS,
	  .user_only = true, FAST_REG, HAS_CM },
	{ "registers no memory by work requests", KVERBS_UNUSABLE_NO_FAST_REG,
	  .mr_pages = FAKE_MR_ROOM, HAS_CM },
	{ "has MRs without pages", KVERBS_UNUSABLE_NO_MR_PAGES,
	  .cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS, HAS_CM },
	{ "has no CM", KVERBS_UNUSABLE_NO_CM, FAST_REG, HAS_NO_CM },
	{ "takes an offset from two addresses", KVERBS_UNUSABLE_FIXED_IOVA,
	  .driver = RDMA_DRIVER_OCRDMA, FAST_REG, HAS_CM },
	{ "has nothing of that", KVERBS_UNUSABLE_NO_FAST_REG, HAS_NO_CM },
};

KUNIT_ARRAY_PARAM_DESC(kinds, kinds, what);

static struct fake_hca *create_kind(struct kunit *test, const struct kind *kind)
{
	struct fake_hca *hca = fake_device_new(test);

	hca->limits.device_cap_flags = kind->cap_flags;
	hca->limits.max_fast_reg_page_list_len = kind->mr_pages;
	hca->port_caps = kind->port_caps;
	if (kind->driver)
		hca->ib.ops.driver_id = kind->driver;
	if (kind->user_only)
		hca->ib.ops.get_dma_mr = NULL;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	return hca;
}

static void dont_leave(struct kverbs_tenant *tenant)
{
}

static void device_is_listed_with_the_reason_why_it_is_unusable(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct fake_hca *hca = create_kind(test, kind);

	KUNIT_EXPECT_EQ(test, kind->unusable, verdict_on(hca));
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, -1, verdict_on(hca));
}

static void be_no_switch(void *data)
{
	struct fake_hca *hca = data;

	hca->ib.is_switch = false;
}

/* Without a CM. It cannot be registered as such: ib_cm reads beyond the ports of a switch. */
static void switch_is_unusable_as_such(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);

	KUNIT_EXPECT_EQ(test, KVERBS_USABLE, kverbs_device_judge(&hca->ib));
	hca->ib.is_switch = true;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, be_no_switch, hca));
	KUNIT_EXPECT_EQ(test, KVERBS_UNUSABLE_SWITCH, kverbs_device_judge(&hca->ib));
}

static void count_name(const struct kverbs_device_use *use, void *arg)
{
	const char **name = arg;

	if (*name && !strcmp(use->name, *name))
		*name = NULL;
}

static void device_that_is_unusable_is_neither_used_nor_counted(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	u32 before = kverbs_device_count(&init_net);
	struct fake_hca *hca = create_kind(test, kind);
	const char *name = dev_name(&hca->ib.dev);
	struct kverbs_tenant tenant = {};

	KUNIT_EXPECT_EQ(test, before + !kind->unusable, kverbs_device_count(&init_net));
	KUNIT_EXPECT_EQ(test, kind->unusable ? -ENODEV : 0,
			kverbs_device_enter(&hca->ib, &tenant, KVERBS_TENANT_CM, dont_leave));
	kverbs_device_leave(&tenant);
	kverbs_device_for_each(count_name, &name);
	KUNIT_EXPECT_EQ(test, !kind->unusable, !name);
}

/**
 * struct pages - how many pages an MR can have
 * @driver: of the device
 * @can: with the device
 * @uses: with kverbs
 */
struct pages {
	enum rdma_driver_id driver;
	u32 can;
	u32 uses;
};

static const struct pages pages[] = {
	{ RDMA_DRIVER_IRDMA, 1, 1 }, { RDMA_DRIVER_IRDMA, 8, 8 },
	{ RDMA_DRIVER_IRDMA, 512, 512 }, { RDMA_DRIVER_IRDMA, 262144, 512 },
	{ RDMA_DRIVER_MLX5, 512, 512 }, { RDMA_DRIVER_MLX5, 4096, 4096 },
	{ RDMA_DRIVER_MLX5, 4097, 4096 }, { RDMA_DRIVER_MLX5, U32_MAX, 4096 },
};

static void pages_desc(const struct pages *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u pages of driver %u", p->can, p->driver);
}

KUNIT_ARRAY_PARAM(pages, pages, pages_desc);

static void device_limits_the_pages_of_an_mr(struct kunit *test)
{
	const struct pages *p = test->param_value;
	struct fake_hca *hca = fake_device_new(test);

	hca->ib.ops.driver_id = p->driver;
	hca->limits.max_fast_reg_page_list_len = p->can;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	KUNIT_EXPECT_EQ(test, p->uses, kverbs_device_mr_pages(&hca->ib));
}

/**
 * struct sizes - page sizes of a device and of a kernel
 * @what: which
 * @cap: those of the device
 * @kernel: of the kernel
 * @uses: of the MRs of kverbs
 */
struct sizes {
	const char *what;
	u64 cap;
	u32 kernel;
	u32 uses;
};

static const struct sizes sizes[] = {
	{ "irdma, 4 KiB", SZ_4K | SZ_2M | SZ_1G, SZ_4K, SZ_4K },
	{ "irdma, 64 KiB", SZ_4K | SZ_2M | SZ_1G, SZ_64K, SZ_4K },
	{ "rxe, 4 KiB", 0xfffff000, SZ_4K, SZ_4K },
	{ "rxe, 64 KiB", 0xfffff000, SZ_64K, SZ_64K },
	{ "mlx5, 16 KiB", ~(u64)(SZ_4K - 1), SZ_16K, SZ_16K },
	{ "not known", 0, SZ_64K, SZ_64K },
	{ "only larger ones", SZ_2M, SZ_4K, SZ_4K },
};

KUNIT_ARRAY_PARAM_DESC(sizes, sizes, what);

static void device_has_mrs_of_its_own_pages(struct kunit *test)
{
	const struct sizes *s = test->param_value;

	KUNIT_EXPECT_EQ(test, s->uses, kverbs_mr_page_size(s->cap, s->kernel));
}

/* Pages of an MR are counted in those of the kernel, whatever those of the device are. */
static void device_with_small_pages_has_fewer_in_an_mr(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);

	hca->limits.page_size_cap = PAGE_SIZE / 16;
	hca->limits.max_fast_reg_page_list_len = 1024;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	KUNIT_EXPECT_EQ(test, 512 / 16, kverbs_device_mr_pages(&hca->ib));
}

/* ---- tenants ------------------------------------------------------------ */

/**
 * struct guest - a tenant that leaves when the test allows it
 * @tenant: the tenant
 * @moved: traffic so far
 * @nr_evicted: how often it was evicted
 * @evicted: signalled when it is evicted
 */
struct guest {
	struct kverbs_tenant tenant;
	struct kverbs_moved moved;
	unsigned int nr_evicted;
	struct completion evicted;
};

static void evict(struct kverbs_tenant *tenant)
{
	struct guest *guest = container_of(tenant, struct guest, tenant);

	guest->nr_evicted++;
	complete_all(&guest->evicted);
}

static int try_enter(struct guest *guest, struct fake_hca *hca, enum kverbs_tenant_kind kind)
{
	return kverbs_device_enter(&hca->ib, &guest->tenant, kind, evict);
}

static void leave(void *data)
{
	struct guest *guest = data;

	kverbs_device_leave(&guest->tenant);
}

static struct guest *enter(struct kunit *test, struct fake_hca *hca,
			   enum kverbs_tenant_kind kind)
{
	struct guest *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guest);
	init_completion(&guest->evicted);
	KUNIT_ASSERT_EQ(test, 0, try_enter(guest, hca, kind));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leave, guest));
	return guest;
}

static bool is_evicted(struct guest *guest)
{
	return wait_for_completion_timeout(&guest->evicted, FAKE_PATIENCE);
}

static void tenant_that_left_does_not_matter(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *guest = enter(test, hca, KVERBS_TENANT_CM);

	kverbs_device_leave(&guest->tenant);
	kverbs_device_leave(&guest->tenant);
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 0, guest->nr_evicted);
}

static void tenant_keeps_the_device_until_it_leaves(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *guest = enter(test, hca, KVERBS_TENANT_CM);

	fake_device_begin_remove(hca);
	KUNIT_ASSERT_TRUE(test, is_evicted(guest));
	KUNIT_EXPECT_FALSE(test, completion_done(&hca->removed));
	kverbs_device_leave(&guest->tenant);
	KUNIT_EXPECT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_EQ(test, 1, guest->nr_evicted);
}

static void maps_are_notified_after_the_connections_have_left(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *map = enter(test, hca, KVERBS_TENANT_MAP);
	struct guest *first = enter(test, hca, KVERBS_TENANT_CM);
	struct guest *second = enter(test, hca, KVERBS_TENANT_CM);

	fake_device_begin_remove(hca);
	KUNIT_ASSERT_TRUE(test, is_evicted(first));
	KUNIT_ASSERT_TRUE(test, is_evicted(second));
	kverbs_device_leave(&first->tenant);
	KUNIT_EXPECT_EQ(test, 0, map->nr_evicted);
	kverbs_device_leave(&second->tenant);
	KUNIT_ASSERT_TRUE(test, is_evicted(map));
	kverbs_device_leave(&map->tenant);
	KUNIT_EXPECT_TRUE(test, fake_device_is_removed(hca));
}

static void device_being_removed_accepts_no_tenants(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *guest = enter(test, hca, KVERBS_TENANT_CM);
	struct guest late = {};

	fake_device_begin_remove(hca);
	KUNIT_ASSERT_TRUE(test, is_evicted(guest));
	KUNIT_EXPECT_EQ(test, -ENODEV, try_enter(&late, hca, KVERBS_TENANT_CM));
	KUNIT_EXPECT_EQ(test, -ENODEV, try_enter(&late, hca, KVERBS_TENANT_MAP));
	KUNIT_EXPECT_NULL(test, late.tenant.dev);
	KUNIT_EXPECT_FALSE(test, is_known(hca));
	kverbs_device_leave(&guest->tenant);
	KUNIT_EXPECT_TRUE(test, fake_device_is_removed(hca));
}

static void device_removal_does_not_disturb_another(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_hca *other = fake_device_create(test);
	struct guest *guest = enter(test, other, KVERBS_TENANT_CM);

	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 0, guest->nr_evicted);
	KUNIT_EXPECT_TRUE(test, is_known(other));
	kverbs_device_leave(&guest->tenant);
}

/* ---- reservations ------------------------------------------------------- */

static int reserve_conn(struct list_head *reserved, const struct ib_device *ib)
{
	return kverbs_device_reserve(reserved, KVERBS_CONN_OBJECTS, ib, &init_net);
}

/* Kernel threads, as this test is, are not charged; tests/e2e/rights tests the charges. */
static void reservation_on_a_device_can_be_claimed_once(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_hca *other = fake_device_create(test);
	struct kverbs_quota quotas[KVERBS_CONN_OBJECTS] = {};
	LIST_HEAD(reserved);

	KUNIT_ASSERT_EQ(test, 0, reserve_conn(&reserved, NULL));
	KUNIT_EXPECT_EQ(test, 0, kverbs_device_claim(&reserved, &hca->ib, quotas));
	KUNIT_EXPECT_TRUE(test, list_empty(&reserved));
	KUNIT_EXPECT_EQ(test, -ENODEV, kverbs_device_claim(&reserved, &other->ib, quotas));
}

static void reservation_for_one_device_is_on_no_other(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_hca *other = fake_device_create(test);
	struct kverbs_quota quotas[KVERBS_CONN_OBJECTS] = {};
	LIST_HEAD(reserved);

	KUNIT_ASSERT_EQ(test, 0, reserve_conn(&reserved, &hca->ib));
	KUNIT_EXPECT_TRUE(test, list_is_singular(&reserved));
	KUNIT_EXPECT_EQ(test, -ENODEV, kverbs_device_claim(&reserved, &other->ib, quotas));
}

static void reservation_does_not_keep_a_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_quota quotas[KVERBS_CONN_OBJECTS] = {};
	LIST_HEAD(reserved);

	KUNIT_ASSERT_EQ(test, 0, reserve_conn(&reserved, &hca->ib));
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, list_empty(&reserved));
	KUNIT_EXPECT_EQ(test, -ENODEV, kverbs_device_claim(&reserved, &hca->ib, quotas));
	kverbs_device_unreserve(&reserved);
}

static void reservation_that_is_not_claimed_is_dropped(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	LIST_HEAD(reserved);

	KUNIT_ASSERT_EQ(test, 0, reserve_conn(&reserved, NULL));
	KUNIT_EXPECT_FALSE(test, list_empty(&reserved));
	kverbs_device_unreserve(&reserved);
	KUNIT_EXPECT_TRUE(test, list_empty(&reserved));
	fake_device_remove(hca);
}

/* ---- what is done with a device ------------------------------------------- */

static void count(struct kverbs_tenant *tenant, struct kverbs_moved *sum)
{
	struct guest *guest = container_of(tenant, struct guest, tenant);

	sum->ops += guest->moved.ops;
	sum->errors += guest->moved.errors;
	sum->bytes_out += guest->moved.bytes_out;
	sum->bytes_in += guest->moved.bytes_in;
}

static struct guest *enter_worker(struct kunit *test, struct fake_hca *hca, u64 ops)
{
	struct guest *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guest);
	guest->moved = (struct kverbs_moved){ ops, 2 * ops, 3 * ops, 4 * ops };
	guest->tenant.count = count;
	init_completion(&guest->evicted);
	KUNIT_ASSERT_EQ(test, 0, try_enter(guest, hca, KVERBS_TENANT_CM));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leave, guest));
	return guest;
}

/**
 * struct look - search for a device among all
 * @name: name of the device
 * @found: how often it was found
 * @use: called with the device
 */
struct look {
	const char *name;
	unsigned int found;
	struct kverbs_device_use use;
};

static void look_at(const struct kverbs_device_use *use, void *arg)
{
	struct look *look = arg;

	if (!strcmp(use->name, look->name)) {
		look->use = *use;
		look->found++;
	}
}

static void expect_use(struct kunit *test, struct fake_hca *hca, unsigned int conns, u64 ops)
{
	struct look look = { .name = dev_name(&hca->ib.dev) };

	kverbs_device_for_each(look_at, &look);
	KUNIT_ASSERT_EQ(test, 1, look.found);
	KUNIT_EXPECT_EQ(test, conns, look.use.conns);
	KUNIT_EXPECT_EQ(test, ops, look.use.moved.ops);
	KUNIT_EXPECT_EQ(test, 2 * ops, look.use.moved.errors);
	KUNIT_EXPECT_EQ(test, 3 * ops, look.use.moved.bytes_out);
	KUNIT_EXPECT_EQ(test, 4 * ops, look.use.moved.bytes_in);
}

static void bytes_moved_count_for_the_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_hca *other = fake_device_create(test);

	enter_worker(test, hca, 7);
	enter_worker(test, hca, 10);
	expect_use(test, hca, 2, 17);
	expect_use(test, other, 0, 0);
}

static void bytes_of_a_tenant_that_left_still_count(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *first = enter_worker(test, hca, 7);

	enter_worker(test, hca, 10);
	kverbs_device_leave(&first->tenant);
	expect_use(test, hca, 1, 17);
	kverbs_device_leave(&first->tenant);
	expect_use(test, hca, 1, 17);
}

static void tenant_that_moves_nothing_is_no_connection(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct guest *guest = enter(test, hca, KVERBS_TENANT_CM);

	expect_use(test, hca, 0, 0);
	kverbs_device_leave(&guest->tenant);
	expect_use(test, hca, 0, 0);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(device_is_listed_while_it_is_registered),
	KUNIT_CASE(devices_are_found_by_index),
	KUNIT_CASE(devices_may_come_and_go_in_any_order),
	KUNIT_CASE_PARAM(device_is_listed_with_the_reason_why_it_is_unusable, kinds_gen_params),
	KUNIT_CASE(switch_is_unusable_as_such),
	KUNIT_CASE_PARAM(device_that_is_unusable_is_neither_used_nor_counted, kinds_gen_params),
	KUNIT_CASE_PARAM(device_limits_the_pages_of_an_mr, pages_gen_params),
	KUNIT_CASE_PARAM(device_has_mrs_of_its_own_pages, sizes_gen_params),
	KUNIT_CASE(device_with_small_pages_has_fewer_in_an_mr),
	KUNIT_CASE(tenant_that_left_does_not_matter),
	KUNIT_CASE(tenant_keeps_the_device_until_it_leaves),
	KUNIT_CASE(maps_are_notified_after_the_connections_have_left),
	KUNIT_CASE(device_being_removed_accepts_no_tenants),
	KUNIT_CASE(device_removal_does_not_disturb_another),
	KUNIT_CASE(reservation_on_a_device_can_be_claimed_once),
	KUNIT_CASE(reservation_for_one_device_is_on_no_other),
	KUNIT_CASE(reservation_does_not_keep_a_device),
	KUNIT_CASE(reservation_that_is_not_claimed_is_dropped),
	KUNIT_CASE(bytes_moved_count_for_the_device),
	KUNIT_CASE(bytes_of_a_tenant_that_left_still_count),
	KUNIT_CASE(tenant_that_moves_nothing_is_no_connection),
	{}
};

static struct kunit_suite device_suite = {
	.name = "kverbs_device",
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
