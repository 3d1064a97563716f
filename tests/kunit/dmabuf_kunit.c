// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions of a dma-buf: mapped on first use, and revoked by the exporter at any time. */
#include <linux/fcntl.h>
#include <linux/in.h>

#include "export.h"
#include "fake_conn.h"
#include "fake_dmabuf.h"
#include "fake_pool.h"
#include "fake_qp.h"
#include "fault.h"
#include "group.h"
#include "group_cmd.h"
#include "memory.h"
#include "srq.h"
#include "workqueue.h"

/* Where a region begins that takes the last page of one piece, one piece, and a part of a third. */
#define OFFSET	(PAGE_SIZE + 100)
#define LENGTH	(4 * PAGE_SIZE)
#define RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/* ---- fixture ------------------------------------------------------------ */

static struct fake_hca *real_device(struct kunit *test)
{
	struct device *parent = fake_parent_create(test, NUMA_NO_NODE);
	struct fake_hca *hca = fake_device_create(test);

	fake_device_give_dma(hca, parent);
	return hca;
}

static struct kverbs_region *region_of(struct fake_dmabuf *buf)
{
	struct kverbs_region *region = kverbs_region_of_dmabuf(buf->fd, OFFSET, LENGTH, true);

	KUNIT_ASSERT_FALSE(buf->test, IS_ERR(region));
	return region;
}

static void drop_region(struct fake_conn *fake)
{
	kverbs_region_destroy(fake->region);
	fake->region = NULL;
}

/* The operations of the connection are on a region of the dma-buf. */
static struct fake_conn *conn_in(struct fake_hca *hca, struct fake_dmabuf *buf,
				 struct kverbs_group *group)
{
	struct fake_conn *fake = fake_conn_create(buf->test, hca);

	reinit_completion(&hca->asked);
	fake->group = group;
	drop_region(fake);
	fake->region = region_of(buf);
	fake_conn_go(fake, FAKE_UP);
	return fake;
}

static struct fake_conn *conn_of(struct fake_hca *hca, struct fake_dmabuf *buf)
{
	return conn_in(hca, buf, NULL);
}

/* The mapping of @region for the device, on behalf of the connection. */
static struct kverbs_map *get_for(struct fake_conn *fake, struct kverbs_region *region)
{
	struct kverbs_map *map;

	kverbs_region_use(region);
	map = kverbs_map_get(region, &fake->hca->ib, &fake->conn->tenant);
	kverbs_region_unuse(region);
	return map;
}

static int try_map(struct fake_conn *fake)
{
	return PTR_ERR_OR_ZERO(get_for(fake, fake->region));
}

static struct kverbs_map *map_of(struct fake_conn *fake)
{
	struct kverbs_map *map = get_for(fake, fake->region);

	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(map));
	return map;
}

static int nr(struct fake_dmabuf *buf, enum fake_dmabuf_step step)
{
	return atomic_read(&buf->nr[step]);
}

static void expect_mapped_once(struct fake_dmabuf *buf)
{
	KUNIT_EXPECT_EQ(buf->test, 1, nr(buf, FAKE_DMABUF_ATTACH));
	KUNIT_EXPECT_GE(buf->test, nr(buf, FAKE_DMABUF_PIN), 1);
	KUNIT_EXPECT_EQ(buf->test, 1, nr(buf, FAKE_DMABUF_MAP));
}

/* The last user has told that it ended shortly before the mapping goes. */
static void expect_unmapped(struct fake_conn *fake, struct fake_dmabuf *buf)
{
	KUNIT_EXPECT_TRUE(buf->test, FAKE_SOON(fake_dmabuf_is_unused(buf)));
	KUNIT_EXPECT_TRUE(buf->test, list_empty(&fake->region->maps));
}

static void expect_revoked(struct fake_conn *fake)
{
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(fake->test, KVERBS_CQE_DISCONNECTED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(fake->test, -ESTALE, fake->conn->end.error);
}

/* ---- creation ------------------------------------------------------------ */

static int try_region(int fd, u64 offset, u64 length, bool writable)
{
	struct kverbs_region *region = kverbs_region_of_dmabuf(fd, offset, length, writable);

	if (IS_ERR(region))
		return PTR_ERR(region);
	kverbs_region_destroy(region);
	return 0;
}

static void dmabuf_region_must_be_within_the_buffer(struct kunit *test)
{
	int fd = fake_dmabuf_create(test, O_RDWR)->fd;

	KUNIT_EXPECT_EQ(test, 0, try_region(fd, 0, FAKE_DMABUF_SIZE, true));
	KUNIT_EXPECT_EQ(test, 0, try_region(fd, FAKE_DMABUF_SIZE - 1, 1, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, try_region(fd, 0, 0, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, try_region(fd, 1, FAKE_DMABUF_SIZE, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, try_region(fd, FAKE_DMABUF_SIZE, 1, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, try_region(fd, U64_MAX, 2, true));
	KUNIT_EXPECT_EQ(test, -EINVAL, try_region(fd, 2, U64_MAX - 1, true));
}

static void dmabuf_descriptor_must_be_open(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EBADF, try_region(-1, 0, 1, true));
}

static void dmabuf_that_is_read_only_has_no_writable_region(struct kunit *test)
{
	int fd = fake_dmabuf_create(test, O_RDONLY)->fd;

	KUNIT_EXPECT_EQ(test, -EACCES, try_region(fd, 0, 1, true));
	KUNIT_EXPECT_EQ(test, 0, try_region(fd, 0, 1, false));
}

static void dmabuf_region_charges_nobody_and_maps_nothing(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	KUNIT_EXPECT_EQ(test, LENGTH, fake->region->length);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&current->mm->pinned_vm));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
}

/* ---- mapping ------------------------------------------------------------ */

static void dmabuf_is_mapped_when_it_is_first_used(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *fake = conn_of(hca, buf);

	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	fake_conn_post(fake, KVERBS_OP_SEND, 10, 20);
	fake_conn_post(fake, KVERBS_OP_RECV, PAGE_SIZE, 30);
	expect_mapped_once(buf);
	KUNIT_EXPECT_EQ(test, fake_dmabuf_addr(OFFSET + 10), hca->sends[0].sges[0].addr);
	KUNIT_EXPECT_EQ(test, 20, hca->sends[0].sges[0].length);
	KUNIT_EXPECT_EQ(test, fake_dmabuf_addr(OFFSET + PAGE_SIZE), hca->recvs[0].sges[0].addr);
	KUNIT_EXPECT_EQ(test, 30, hca->recvs[0].sges[0].length);
}

static void dmabuf_spans_are_the_pages_of_the_region(struct kunit *test)
{
	static const u64 pages[] = { 1, 2, 2 };
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);
	struct kverbs_map *map = map_of(fake);
	u64 start = 0;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(pages), map->nr_spans);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		KUNIT_EXPECT_EQ(test, start, map->spans[i].start);
		KUNIT_EXPECT_EQ(test, fake_dmabuf_addr(PAGE_SIZE + start), map->spans[i].addr);
		KUNIT_EXPECT_EQ(test, pages[i] * PAGE_SIZE, map->spans[i].length);
		start += pages[i] * PAGE_SIZE;
	}
	KUNIT_EXPECT_EQ(test, (u64)fake->region->npages * PAGE_SIZE, start);
}

static void dmabuf_is_refused_by_a_device_without_dma(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(fake_device_create(test), buf);

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, try_map(fake));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
}

/* A revocation must end all that use a mapping, so none may find it unnoticed. */
static void dmabuf_mapping_is_found_only_by_those_who_asked_for_it(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *first = conn_of(hca, buf);
	struct fake_conn *second = conn_of(hca, buf);
	struct kverbs_region *region = first->region;
	struct kverbs_map *map = map_of(first);

	KUNIT_EXPECT_PTR_EQ(test, map,
			    kverbs_map_lookup(region, &hca->ib, &first->conn->tenant));
	KUNIT_EXPECT_NULL(test, kverbs_map_lookup(region, &hca->ib, &second->conn->tenant));
	KUNIT_EXPECT_NULL(test, kverbs_map_lookup(region, &hca->ib, NULL));
	KUNIT_EXPECT_PTR_EQ(test, map, get_for(second, region));
	KUNIT_EXPECT_PTR_EQ(test, map,
			    kverbs_map_lookup(region, &hca->ib, &second->conn->tenant));
	expect_mapped_once(buf);
}

static void dmabuf_must_be_mapped_in_whole_pages(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	buf->shift = 512;
	KUNIT_EXPECT_EQ(test, -EINVAL, try_map(fake));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	buf->shift = 0;
	KUNIT_EXPECT_EQ(test, 0, try_map(fake));
}

static void dmabuf_must_be_mapped_as_a_whole(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	buf->pieces = 2;
	KUNIT_EXPECT_EQ(test, -EINVAL, try_map(fake));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
}

static const struct failure {
	const char *what;
	enum fake_dmabuf_step step;
	enum kverbs_fault_point point;
} failures[] = {
	{ "attach", FAKE_DMABUF_ATTACH, KVERBS_FAULT_DMABUF_ATTACH },
	{ "pin", FAKE_DMABUF_PIN, KVERBS_FAULT_DMABUF_PIN },
	{ "map", FAKE_DMABUF_MAP, KVERBS_FAULT_DMABUF_MAP },
};

KUNIT_ARRAY_PARAM_DESC(failures, failures, what);

static void dmabuf_error_of_the_exporter_is_reported(struct kunit *test)
{
	const struct failure *failure = test->param_value;
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);
	struct fake_work *send = fake_conn_work(fake, KVERBS_OP_SEND, 0, 10);

	buf->errors[failure->step] = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_conn_try_post(fake, send));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	buf->errors[failure->step] = 0;
	KUNIT_EXPECT_EQ(test, 0, fake_conn_try_post(fake, send));
	expect_mapped_once(buf);
}

/* Callers would wait for another task, or be restarted. */
static void dmabuf_error_of_the_exporter_is_one_for_the_caller(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	buf->errors[FAKE_DMABUF_ATTACH] = -EAGAIN;
	KUNIT_EXPECT_EQ(test, -EBUSY, try_map(fake));
	buf->errors[FAKE_DMABUF_ATTACH] = 0;
	buf->errors[FAKE_DMABUF_MAP] = -EAGAIN;
	KUNIT_EXPECT_EQ(test, -EBUSY, try_map(fake));
	buf->errors[FAKE_DMABUF_MAP] = -ERESTARTSYS;
	KUNIT_EXPECT_EQ(test, -EINTR, try_map(fake));
}

static enum kverbs_fault_point sabotaged;

static int fail(enum kverbs_fault_point point)
{
	return point == sabotaged ? -ENOMEM : 0;
}

static void end_sabotage(void *unused)
{
	static_branch_disable(&kverbs_fault_tested);
}

static void dmabuf_is_mapped_or_not_at_all(struct kunit *test)
{
	const struct failure *failure = test->param_value;
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	sabotaged = failure->point;
	kverbs_fault_test = fail;
	static_branch_enable(&kverbs_fault_tested);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_sabotage, NULL));
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_map(fake));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
}

/* ---- life --------------------------------------------------------------- */

static void dmabuf_stays_as_long_as_a_region(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	fake_dmabuf_close(buf);
	KUNIT_EXPECT_EQ(test, 0, try_map(fake));
	expect_mapped_once(buf);
	KUNIT_EXPECT_FALSE(test, completion_done(&buf->released));
	drop_region(fake);
	KUNIT_EXPECT_TRUE(test, fake_await(&buf->released));
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
}

static void dmabuf_is_unmapped_when_its_region_is_destroyed(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	map_of(fake);
	drop_region(fake);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->conn->tenant.leases));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
}

static void dmabuf_is_unmapped_when_the_device_is_removed(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *fake = conn_of(hca, buf);

	fake_conn_post(fake, KVERBS_OP_RECV, 0, 10);
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_FALSE(test, fake->region->memory->revoked);
}

static void dmabuf_is_mapped_again_for_another_region_of_the_same_memory(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);
	struct kverbs_region *other;

	other = kverbs_region_of_memory(fake->region->memory, false, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	map_of(fake);
	KUNIT_EXPECT_FALSE(test, IS_ERR(get_for(fake, other)));
	KUNIT_EXPECT_EQ(test, 2, nr(buf, FAKE_DMABUF_MAP));
	drop_region(fake);
	expect_mapped_once(buf);
	kverbs_region_destroy(other);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
}

/* ---- revocation ---------------------------------------------------------- */

static void revocation_ends_a_connection_with_an_operation_in_flight(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 10);

	fake_dmabuf_revoke(buf);
	expect_revoked(fake);
	KUNIT_EXPECT_TRUE(test, completion_done(&recv->done));
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, recv->req.wc_status);
	expect_unmapped(fake, buf);
}

/* A registration of the connection may outlast the operations that use it. */
static void revocation_ends_a_connection_whose_operations_are_over(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *fake = conn_of(hca, buf);
	struct fake_work *send = fake_conn_post(fake, KVERBS_OP_SEND, 0, 10);

	fake_wr_complete(&hca->sends[0], IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, fake_await(&send->done));
	fake_dmabuf_revoke(buf);
	expect_revoked(fake);
	expect_unmapped(fake, buf);
}

static struct kverbs_export *export_all(struct fake_conn *fake)
{
	struct kverbs_segment segs[FAKE_DMABUF_PAGES];

	return kverbs_export_create(fake->conn, fake->region, 0, LENGTH, RIGHTS, segs);
}

static void revocation_unmaps_when_the_device_has_stopped(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *fake = conn_of(hca, buf);
	struct kverbs_export *export;

	hca->work_queued = true;
	export = export_all(fake);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	fake_hca_hold_dereg(hca);
	fake_dmabuf_revoke(buf);
	KUNIT_ASSERT_TRUE(test, fake_await(&hca->dereg_begun));
	flush_workqueue(kverbs_workqueue);
	expect_mapped_once(buf);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	fake_hca_let_dereg(hca);
	expect_revoked(fake);
	expect_unmapped(fake, buf);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
}

static void revocation_spares_connections_that_never_used_the_memory(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *user = conn_of(hca, buf);
	struct fake_conn *other = conn_of(hca, buf);

	map_of(user);
	fake_dmabuf_revoke(buf);
	expect_revoked(user);
	expect_unmapped(user, buf);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, other->conn->state);
}

static void revocation_ends_each_connection_that_used_the_memory(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *first = conn_of(hca, buf);
	struct fake_conn *second = conn_of(hca, buf);

	map_of(first);
	KUNIT_ASSERT_FALSE(test, IS_ERR(get_for(second, first->region)));
	fake_dmabuf_revoke(buf);
	expect_revoked(first);
	expect_revoked(second);
	expect_unmapped(first, buf);
}

static void revocation_unmaps_at_once_what_no_connection_uses(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	map_of(fake);
	kverbs_conn_close(fake->conn);
	expect_mapped_once(buf);
	fake_dmabuf_revoke(buf);
	flush_workqueue(kverbs_workqueue);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
}

static void revocation_is_for_good(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *user = conn_of(hca, buf);
	struct fake_conn *late = conn_of(hca, buf);
	struct fake_work *send = fake_conn_work(late, KVERBS_OP_SEND, 0, 10);

	map_of(user);
	fake_dmabuf_revoke(buf);
	send->req.region = user->region;
	KUNIT_EXPECT_EQ(test, -ESTALE, fake_conn_try_post(late, send));
	expect_revoked(user);
	expect_unmapped(user, buf);
	KUNIT_EXPECT_EQ(test, -ESTALE, fake_conn_try_post(late, send));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, late->conn->state);
}

static void revocation_while_the_memory_is_mapped_is_noticed(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	buf->notify_in = FAKE_DMABUF_MAP;
	KUNIT_EXPECT_EQ(test, -ESTALE, try_map(fake));
	expect_unmapped(fake, buf);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
}

/* A buffer may be moved to where the device can reach it. */
static void move_before_the_memory_is_pinned_is_no_revocation(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	buf->notify_in = FAKE_DMABUF_PIN;
	KUNIT_EXPECT_EQ(test, 0, try_map(fake));
	KUNIT_EXPECT_EQ(test, FAKE_DMABUF_STEPS, buf->notify_in);
	KUNIT_EXPECT_FALSE(test, fake->region->memory->revoked);
	expect_mapped_once(buf);
}

static void revocation_may_be_told_twice(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	map_of(fake);
	fake_dmabuf_revoke(buf);
	fake_dmabuf_revoke(buf);
	expect_revoked(fake);
	expect_unmapped(fake, buf);
}

static void revocation_may_race_with_the_end_of_the_region(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_conn *fake = conn_of(real_device(test), buf);

	map_of(fake);
	fake_dmabuf_revoke(buf);
	drop_region(fake);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	flush_workqueue(kverbs_workqueue);
}

static void revocation_may_race_with_the_removal_of_the_device(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct fake_conn *fake = conn_of(hca, buf);

	fake_conn_post(fake, KVERBS_OP_RECV, 0, 10);
	fake_dmabuf_revoke(buf);
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, fake_dmabuf_is_unused(buf));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
}

/* ---- groups -------------------------------------------------------------- */

static struct kverbs_export *export_in(struct kverbs_group *group, struct fake_conn *fake)
{
	const struct kverbs_export_range range = {
		.region = fake->region,
		.length = LENGTH,
		.rights = RIGHTS,
	};
	struct kverbs_segment segs[FAKE_DMABUF_PAGES];

	return kverbs_export_to_group(group, &range, segs);
}

/* Peers of all connections may have the key. */
static void revocation_of_an_export_of_a_group_ends_all_its_connections(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = conn_in(hca, buf, group);
	struct fake_conn *second = conn_in(hca, buf, group);
	struct fake_conn *stranger = conn_of(hca, buf);
	struct kverbs_export *export;

	hca->work_queued = true;
	export = export_in(group, first);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	fake_dmabuf_revoke(buf);
	expect_revoked(first);
	expect_revoked(second);
	expect_unmapped(first, buf);
	KUNIT_EXPECT_NULL(test, group->pool.pd);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, stranger->conn->state);
}

static void revocation_ends_only_the_member_that_used_the_memory_by_itself(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_hca *hca = real_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *user = conn_in(hca, buf, group);
	struct fake_conn *other = conn_in(hca, buf, group);

	map_of(user);
	fake_dmabuf_revoke(buf);
	expect_revoked(user);
	expect_unmapped(user, buf);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, other->conn->state);
	KUNIT_EXPECT_NOT_NULL(test, group->pool.pd);
}

/* A device with shared receive queues, and messages that are retried. */
static struct fake_hca *sharing_device(struct kunit *test)
{
	struct device *parent = fake_parent_create(test, NUMA_NO_NODE);
	struct fake_hca *hca = fake_device_new(test);

	hca->limits.device_cap_flags |= IB_DEVICE_RC_RNR_NAK_GEN;
	hca->limits.max_srq = 4;
	hca->limits.max_srq_wr = 64;
	hca->limits.max_srq_sge = 2;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake_device_give_dma(hca, parent);
	return hca;
}

static u32 create_group(struct fake_pool *p)
{
	struct kverbs_cmd_group_create cmd = { .device_index = p->hca->ib.index };
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_group_create(&ucmd));
	kverbs_object_publish(ucmd.new);
	return ucmd.new->id;
}

static struct kverbs_region_obj *create_region(struct fake_pool *p, struct fake_dmabuf *buf)
{
	struct kverbs_cmd_region_create cmd = {
		.flags = KVERBS_REGION_DMABUF,
		.length = FAKE_DMABUF_SIZE,
		.fd = buf->fd,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_region_create(&ucmd));
	kverbs_object_publish(ucmd.new);
	return container_of(ucmd.new, struct kverbs_region_obj, obj);
}

/* The device may use a receive for any of the connections. */
static void revocation_of_a_shared_receive_ends_all_connections_of_the_group(struct kunit *test)
{
	struct fake_dmabuf *buf = fake_dmabuf_create(test, O_RDWR);
	struct fake_pool *p = fake_pool_create(test, sharing_device(test), 64);
	struct kverbs_conn *first, *second;

	p->group_id = create_group(p);
	p->region = create_region(p, buf);
	fake_pool_add(p, 0, 1);
	first = fake_pool_establish(p, 4)->conn;
	second = fake_pool_establish(p, 4)->conn;
	KUNIT_ASSERT_NOT_NULL(test, first->srq);
	KUNIT_ASSERT_PTR_EQ(test, first->srq, second->srq);
	expect_mapped_once(buf);
	fake_dmabuf_revoke(buf);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(first->state == KVERBS_CONN_DEAD));
	KUNIT_EXPECT_EQ(test, -ESTALE, first->end.error);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(second->state == KVERBS_CONN_DEAD));
	KUNIT_EXPECT_EQ(test, -ESTALE, second->end.error);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(fake_dmabuf_is_unused(buf)));
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(dmabuf_region_must_be_within_the_buffer),
	KUNIT_CASE(dmabuf_descriptor_must_be_open),
	KUNIT_CASE(dmabuf_that_is_read_only_has_no_writable_region),
	KUNIT_CASE(dmabuf_region_charges_nobody_and_maps_nothing),
	KUNIT_CASE(dmabuf_is_mapped_when_it_is_first_used),
	KUNIT_CASE(dmabuf_spans_are_the_pages_of_the_region),
	KUNIT_CASE(dmabuf_is_refused_by_a_device_without_dma),
	KUNIT_CASE(dmabuf_mapping_is_found_only_by_those_who_asked_for_it),
	KUNIT_CASE(dmabuf_must_be_mapped_in_whole_pages),
	KUNIT_CASE(dmabuf_must_be_mapped_as_a_whole),
	KUNIT_CASE_PARAM(dmabuf_error_of_the_exporter_is_reported, failures_gen_params),
	KUNIT_CASE(dmabuf_error_of_the_exporter_is_one_for_the_caller),
	KUNIT_CASE_PARAM(dmabuf_is_mapped_or_not_at_all, failures_gen_params),
	KUNIT_CASE(dmabuf_stays_as_long_as_a_region),
	KUNIT_CASE(dmabuf_is_unmapped_when_its_region_is_destroyed),
	KUNIT_CASE(dmabuf_is_unmapped_when_the_device_is_removed),
	KUNIT_CASE(dmabuf_is_mapped_again_for_another_region_of_the_same_memory),
	KUNIT_CASE(revocation_ends_a_connection_with_an_operation_in_flight),
	KUNIT_CASE(revocation_ends_a_connection_whose_operations_are_over),
	KUNIT_CASE(revocation_unmaps_when_the_device_has_stopped),
	KUNIT_CASE(revocation_spares_connections_that_never_used_the_memory),
	KUNIT_CASE(revocation_ends_each_connection_that_used_the_memory),
	KUNIT_CASE(revocation_unmaps_at_once_what_no_connection_uses),
	KUNIT_CASE(revocation_is_for_good),
	KUNIT_CASE(revocation_while_the_memory_is_mapped_is_noticed),
	KUNIT_CASE(move_before_the_memory_is_pinned_is_no_revocation),
	KUNIT_CASE(revocation_may_be_told_twice),
	KUNIT_CASE(revocation_may_race_with_the_end_of_the_region),
	KUNIT_CASE(revocation_may_race_with_the_removal_of_the_device),
	KUNIT_CASE(revocation_of_an_export_of_a_group_ends_all_its_connections),
	KUNIT_CASE(revocation_ends_only_the_member_that_used_the_memory_by_itself),
	KUNIT_CASE(revocation_of_a_shared_receive_ends_all_connections_of_the_group),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "kverbs_dmabuf",
	.test_cases = dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
