// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of connections and mappings is on the NUMA node of their device. */
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/topology.h>

#include "cq.h"
#include "device_query.h"
#include "fake_conn.h"
#include "fake_region.h"
#include "lkey.h"
#include "mr.h"

/* One that is not that of the CPU, if there is any: tests/kunit/run lets the guest have two. */
static int far_node(void)
{
	int node;

	for_each_node_state(node, N_MEMORY)
		if (node != numa_mem_id())
			return node;
	return numa_mem_id();
}

static int node_of(const void *object)
{
	return page_to_nid(is_vmalloc_addr(object) ? vmalloc_to_page(object) :
						     virt_to_page(object));
}

static struct fake_hca *create_far(struct kunit *test)
{
	struct device *parent;
	struct fake_hca *hca;

	if (!IS_ENABLED(CONFIG_NUMA))
		kunit_skip(test, "this kernel knows no NUMA nodes");
	parent = fake_parent_create(test, far_node());
	hca = fake_device_new(test);
	hca->ib.dev.parent = parent;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	return hca;
}

#define EXPECT_FAR(_test, _hca, _object)					\
	KUNIT_EXPECT_EQ_MSG(_test, ibdev_to_node(&(_hca)->ib), node_of(_object), #_object)

static void connection_of_a_peer_is_on_the_node_of_the_device(struct kunit *test)
{
	struct fake_hca *hca = create_far(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_REQUESTED);

	EXPECT_FAR(test, hca, fake->conn);
	KUNIT_EXPECT_EQ(test, ibdev_to_node(&hca->ib), fake->conn->node);
}

static void connection_knows_the_node_once_it_knows_the_device(struct kunit *test)
{
	struct fake_hca *hca = create_far(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_MADE);

	KUNIT_EXPECT_EQ(test, NUMA_NO_NODE, fake->conn->node);
	fake_conn_destroy(fake);
	fake = fake_conn_at(test, hca, FAKE_UP);
	KUNIT_EXPECT_EQ(test, ibdev_to_node(&hca->ib), fake->conn->node);
}

static void queues_maps_and_mrs_are_on_the_node_of_the_device(struct kunit *test)
{
	struct fake_hca *hca = create_far(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct kverbs_map *map;
	struct kverbs_mr *mr;

	/* The sink of an iWARP READ is registered. */
	fake_conn_post(fake, KVERBS_OP_READ, 0, PAGE_SIZE);
	EXPECT_FAR(test, hca, fake->conn->cq);
	map = list_first_entry_or_null(&fake->region->maps, struct kverbs_map, entry);
	KUNIT_ASSERT_NOT_NULL(test, map);
	EXPECT_FAR(test, hca, map);
	EXPECT_FAR(test, hca, map->spans);
	mr = list_first_entry_or_null(&fake->conn->pool.busy, struct kverbs_mr, entry);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	EXPECT_FAR(test, hca, mr);
}

static void registrations_for_local_access_are_on_the_node_of_the_device(struct kunit *test)
{
	struct fake_hca *hca = create_far(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct kverbs_lkey_cache *lkeys = &fake->conn->lkeys;
	struct kverbs_lkeys *local;

	mutex_lock(&lkeys->lock);
	local = kverbs_lkeys_get(lkeys, fake->region);
	mutex_unlock(&lkeys->lock);
	KUNIT_ASSERT_FALSE(test, IS_ERR(local));
	EXPECT_FAR(test, hca, local);
}

static void query_tells_the_node_of_the_device(struct kunit *test)
{
	struct kverbs_cmd_device_query cmd = {};
	struct fake_hca *hca = create_far(test);
	struct fake_hca *nowhere = fake_device_create(test);

	kverbs_device_query(&hca->ib, KVERBS_USABLE, &cmd);
	KUNIT_EXPECT_EQ(test, ibdev_to_node(&hca->ib), cmd.out_numa_node);
	kverbs_device_query(&nowhere->ib, KVERBS_USABLE, &cmd);
	KUNIT_EXPECT_EQ(test, NUMA_NO_NODE, cmd.out_numa_node);
}

static struct kunit_case node_cases[] = {
	KUNIT_CASE(connection_of_a_peer_is_on_the_node_of_the_device),
	KUNIT_CASE(connection_knows_the_node_once_it_knows_the_device),
	KUNIT_CASE(queues_maps_and_mrs_are_on_the_node_of_the_device),
	KUNIT_CASE(registrations_for_local_access_are_on_the_node_of_the_device),
	KUNIT_CASE(query_tells_the_node_of_the_device),
	{}
};

static struct kunit_suite node_suite = {
	.name = "kverbs_node",
	.test_cases = node_cases,
};

kunit_test_suite(node_suite);
