// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports that fail leave nothing behind; others are where their keys are valid. */
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "export.h"
#include "fake_conn.h"
#include "profile.h"
#include "quirks.h"

#define PARTS	4

/* An export of its whole memory needs PARTS registrations. */
static struct fake_conn *exporter(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct fake_conn *fake;

	hca->limits.max_fast_reg_page_list_len = FAKE_MEM / PAGE_SIZE / PARTS;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake = fake_conn_at(test, hca, FAKE_UP);
	hca->work_queued = true;
	return fake;
}

static struct kverbs_export *export_all(struct fake_conn *fake, struct kverbs_segment *segs)
{
	return kverbs_export_create(fake->conn, fake->region, 0, FAKE_MEM,
				    KVERBS_REMOTE_READ, segs);
}

static int try_export(struct fake_conn *fake)
{
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_all(fake, segs);

	return PTR_ERR_OR_ZERO(export) ?: kverbs_export_destroy(export);
}

static void expect_unused(struct fake_conn *fake)
{
	KUNIT_EXPECT_EQ(fake->test, 0, atomic_long_read(&fake->region->uses));
}

static void export_holds_its_region_until_it_is_destroyed(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_all(fake, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_EXPECT_EQ(test, PARTS, atomic_long_read(&fake->region->uses));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	expect_unused(fake);
}

/* When the connection ends, the registrations are revoked. */
static void export_is_described_whole_before_the_connection_can_end(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	struct kverbs_segment segs[PARTS] = {};
	struct kverbs_export *export = export_all(fake, segs);
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	kverbs_conn_close(fake->conn);
	for (i = 0; i < PARTS; i++) {
		KUNIT_EXPECT_EQ(test, FAKE_MEM / PARTS, segs[i].length);
		KUNIT_EXPECT_NE(test, 0, segs[i].rkey);
	}
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
}

static void export_that_is_refused_at_once_leaves_nothing(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);

	fake_hca_refuse(fake->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_export(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	expect_unused(fake);
	fake_hca_refuse(fake->hca, FAKE_WRS, 0);
	KUNIT_EXPECT_EQ(test, 0, try_export(fake));
}

static void export_that_is_refused_in_part_ends_the_connection_first(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);

	fake_hca_refuse(fake->hca, 2, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -EIO, try_export(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, fake->conn->state);
	expect_unused(fake);
}

static void export_that_fails_ends_the_connection_first(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);

	fake->hca->work_bad = &fake->conn->sync.last;
	KUNIT_EXPECT_EQ(test, -EIO, try_export(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, fake->conn->state);
	KUNIT_EXPECT_EQ(test, -EIO, fake->conn->end.error);
	expect_unused(fake);
}

/* hns warns of a LOCAL_INV, and refuses it. */
static void export_ends_without_an_invalidation_where_there_is_none(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	unsigned int i;

	fake->conn->queue.quirks |= KVERBS_QUIRK_NO_LOCAL_INV;
	KUNIT_EXPECT_EQ(test, 0, try_export(fake));
	for (i = 0; i < fake->hca->nr_sends; i++)
		KUNIT_EXPECT_NE(test, IB_WR_LOCAL_INV, fake->hca->sends[i].opcode);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake->hca->nr_mrs));
	expect_unused(fake);
}

static struct fake_conn *ending;
static int (*ending_map)(struct ib_mr *mr, struct scatterlist *sg, int nr,
			 unsigned int *offset);

static int map_and_end(struct ib_mr *mr, struct scatterlist *sg, int nr, unsigned int *offset)
{
	kverbs_conn_end(ending->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	return ending_map(mr, sg, nr, offset);
}

/* Teardown waits for the export, which must not first make all its registrations. */
static void export_is_abandoned_when_the_connection_ends(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	unsigned int before = fake->hca->nr_allocs;

	ending = fake;
	ending_map = fake->hca->ib.ops.map_mr_sg;
	fake->hca->ib.ops.map_mr_sg = map_and_end;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, try_export(fake));
	KUNIT_EXPECT_EQ(test, before + 1, fake->hca->nr_allocs);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	expect_unused(fake);
}

static int killed_export(struct fake_conn *fake)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = try_export(fake);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

/* A large range takes so many registrations that a killed task would linger for minutes. */
static void export_can_be_killed_before_anything_is_posted(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	unsigned int allocs = fake->hca->nr_allocs, sends = fake->hca->nr_sends;

	KUNIT_EXPECT_EQ(test, -EINTR, killed_export(fake));
	KUNIT_EXPECT_EQ(test, allocs, fake->hca->nr_allocs);
	KUNIT_EXPECT_EQ(test, sends, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	expect_unused(fake);
	KUNIT_EXPECT_EQ(test, 0, try_export(fake));
}

/* The peer's SEND_INV may leave nothing to invalidate; LOCAL_INV would break the connection. */
static void export_that_the_peer_has_revoked_is_not_invalidated(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_all(fake, segs);
	unsigned int i, left = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	for (i = 1; i < PARTS; i++)
		kverbs_mr_revoke(&fake->conn->pool, segs[i].rkey);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	for (i = 0; i < fake->hca->nr_sends; i++)
		if (fake->hca->sends[i].opcode == IB_WR_LOCAL_INV) {
			KUNIT_EXPECT_EQ(test, segs[0].rkey, fake->hca->sends[i].imm);
			left++;
		}
	KUNIT_EXPECT_EQ(test, 1, left);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	expect_unused(fake);
}

/* Some mlx5 refuse that right, and log each refusal. */
static void export_for_atomics_is_tried_once_where_it_is_refused(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	unsigned int i, before = fake->hca->nr_doorbells;
	struct kverbs_segment segs[PARTS];

	fake->conn->queue.quirks = 0;
	fake->hca->ib.attrs.atomic_cap = IB_ATOMIC_HCA;
	fake_hca_refuse(fake->hca, 0, -EINVAL);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
				PTR_ERR(kverbs_export_create(fake->conn, fake->region, 0, 8,
							     KVERBS_REMOTE_ATOMIC, segs)));
		KUNIT_EXPECT_EQ(test, before + 1, fake->hca->nr_doorbells);
	}
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	expect_unused(fake);
	fake_hca_refuse(fake->hca, FAKE_WRS, 0);
	KUNIT_EXPECT_EQ(test, 0, try_export(fake));
}

/* ---- chosen addresses ---------------------------------------------------- */

#define IOVA	0x7f1234560000ULL
#define SKIP	100

static struct kverbs_export *export_at(struct fake_conn *fake, u64 iova, u64 length,
				       struct kverbs_segment *segs)
{
	const struct kverbs_export_range range = {
		.region = fake->region,
		.offset = SKIP,
		.length = length,
		.rights = KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE,
		.has_iova = true,
		.iova = iova,
	};

	return kverbs_export_to_conn(fake->conn, &range, segs);
}

static void export_has_its_segments_where_the_caller_wants_them(struct kunit *test)
{
	struct fake_conn *fake = exporter(test);
	struct kverbs_segment segs[PARTS] = {};
	struct kverbs_export *export = export_at(fake, IOVA + SKIP, FAKE_MEM - SKIP, segs);
	u64 next = IOVA + SKIP;
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_EXPECT_EQ(test, PARTS, export->nr);
	for (i = 0; i < PARTS; i++) {
		KUNIT_EXPECT_EQ(test, next, segs[i].addr);
		next += segs[i].length;
	}
	KUNIT_EXPECT_EQ(test, IOVA + FAKE_MEM, next);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
}

static enum ib_wc_status read_at(struct fake_conn *fake, u32 rkey, u64 addr)
{
	struct fake_work *work = fake_conn_work(fake, KVERBS_OP_READ, FAKE_MEM / 2, SKIP);

	work->req.rkey = rkey;
	work->req.remote_addr = addr;
	KUNIT_ASSERT_EQ(fake->test, 0, fake_conn_try_post(fake, work));
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&work->done));
	return work->req.wc_status;
}

static void expect_equal(struct fake_conn *fake, u64 offset, u64 other)
{
	u8 one[SKIP], two[SKIP];

	KUNIT_ASSERT_EQ(fake->test, 0, copy_from_user(one, (void __user *)fake->addr + offset,
						      SKIP));
	KUNIT_ASSERT_EQ(fake->test, 0, copy_from_user(two, (void __user *)fake->addr + other,
						      SKIP));
	KUNIT_EXPECT_EQ(fake->test, 0, memcmp(one, two, SKIP));
}

/* Zero is an address like any other, and the last page of all is not. */
static void export_can_be_read_at_any_address(struct kunit *test)
{
	static const u64 iovas[] = { SKIP, IOVA + SKIP, -(u64)(8 * PAGE_SIZE) + SKIP };
	struct fake_hca *hca = fake_profile_device(test, test->param_value);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct kverbs_export *export;
	struct kverbs_segment seg;
	unsigned int i;

	fake_conn_scatter(fake);
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		KUNIT_ASSERT_EQ(test, 0, put_user(i + 1, (u8 __user *)fake->addr + SKIP +
							 PAGE_SIZE));
		export = export_at(fake, iovas[i], 2 * PAGE_SIZE, &seg);
		KUNIT_ASSERT_FALSE(test, IS_ERR(export));
		KUNIT_EXPECT_EQ(test, iovas[i], seg.addr);
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, read_at(fake, seg.rkey,
							     iovas[i] + PAGE_SIZE));
		expect_equal(fake, SKIP + PAGE_SIZE, FAKE_MEM / 2);
		KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	}
	KUNIT_EXPECT_STREQ(test, "", hca->misread ?: "");
}

static struct kunit_case export_cases[] = {
	KUNIT_CASE(export_holds_its_region_until_it_is_destroyed),
	KUNIT_CASE(export_is_described_whole_before_the_connection_can_end),
	KUNIT_CASE(export_that_is_refused_at_once_leaves_nothing),
	KUNIT_CASE(export_that_is_refused_in_part_ends_the_connection_first),
	KUNIT_CASE(export_that_fails_ends_the_connection_first),
	KUNIT_CASE(export_is_abandoned_when_the_connection_ends),
	KUNIT_CASE(export_can_be_killed_before_anything_is_posted),
	KUNIT_CASE(export_that_the_peer_has_revoked_is_not_invalidated),
	KUNIT_CASE(export_for_atomics_is_tried_once_where_it_is_refused),
	KUNIT_CASE(export_ends_without_an_invalidation_where_there_is_none),
	KUNIT_CASE(export_has_its_segments_where_the_caller_wants_them),
	KUNIT_CASE_PARAM(export_can_be_read_at_any_address, fake_usable_profile_gen_params),
	{}
};

static struct kunit_suite export_suite = {
	.name = "kverbs_export",
	.test_cases = export_cases,
};

kunit_test_suite(export_suite);
