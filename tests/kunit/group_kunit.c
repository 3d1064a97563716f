// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups of connections, and exports that are valid on all connections of a group. */
#include <linux/in.h>

#include "export.h"
#include "fake_conn.h"
#include "fake_qp.h"
#include "group.h"
#include "profile.h"

#define PARTS		4
#define BOTH_RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/* A device on which an export of a connection's whole memory needs PARTS registrations. */
static struct fake_hca *small_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);

	hca->limits.max_fast_reg_page_list_len = FAKE_MEM / PAGE_SIZE / PARTS;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	hca->work_queued = true;
	return hca;
}

static struct fake_conn *conn_in(struct kunit *test, struct fake_hca *hca,
				 struct kverbs_group *group, enum fake_stage stage)
{
	struct fake_conn *fake = fake_conn_create(test, hca);

	reinit_completion(&hca->asked);
	fake->group = group;
	fake_conn_go(fake, stage);
	return fake;
}

static struct fake_conn *member(struct kunit *test, struct fake_hca *hca,
				struct kverbs_group *group)
{
	return conn_in(test, hca, group, FAKE_UP);
}

static struct kverbs_export *export_in(struct kverbs_group *group, struct fake_conn *fake,
				       struct kverbs_segment *segs)
{
	const struct kverbs_export_range range = {
		.region = fake->region,
		.length = FAKE_MEM,
		.rights = BOTH_RIGHTS,
	};

	return kverbs_export_to_group(group, &range, segs);
}

static int try_export(struct kverbs_group *group, struct fake_conn *fake)
{
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, fake, segs);

	return PTR_ERR_OR_ZERO(export) ?: kverbs_export_destroy(export);
}

static void expect_unused(struct fake_conn *fake)
{
	KUNIT_EXPECT_EQ(fake->test, 0, atomic_long_read(&fake->region->uses));
}

/* ---- groups ------------------------------------------------------------- */

static void group_has_one_protection_domain_for_all_its_connections(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = conn_in(test, hca, group, FAKE_UP_PASSIVE);
	struct fake_conn *other;

	KUNIT_EXPECT_EQ(test, 1, atomic_read(&hca->nr_pds));
	KUNIT_EXPECT_PTR_EQ(test, group->pool.pd, first->conn->qp->pd);
	KUNIT_EXPECT_PTR_EQ(test, group->pool.pd, second->conn->qp->pd);
	other = member(test, hca, NULL);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&hca->nr_pds));
	KUNIT_EXPECT_PTR_NE(test, group->pool.pd, other->conn->qp->pd);
}

static void group_keeps_its_domain_when_connections_end(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = member(test, hca, group);

	kverbs_conn_close(fake->conn);
	KUNIT_EXPECT_TRUE(test, list_empty(&group->conns));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&hca->nr_pds));
	fake = member(test, hca, group);
	KUNIT_EXPECT_PTR_EQ(test, group->pool.pd, fake->conn->qp->pd);
}

static void group_leaves_nothing_on_the_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_group *group = kverbs_group_create(hca->ib.index, &init_net);

	KUNIT_ASSERT_FALSE(test, IS_ERR(group));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&hca->nr_pds));
	kverbs_group_destroy(group);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
	fake_device_remove(hca);
}

static void group_needs_a_device_that_kverbs_can_use(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_hca *unusable = fake_device_new(test);

	unusable->limits.max_fast_reg_page_list_len = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(unusable));
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR_OR_ZERO(kverbs_group_create(unusable->ib.index, &init_net)));
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR_OR_ZERO(kverbs_group_create(U32_MAX, &init_net)));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

static void group_without_a_domain_is_not_created(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);

	hca->errors[FAKE_ALLOC_PD] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			PTR_ERR_OR_ZERO(kverbs_group_create(hca->ib.index, &init_net)));
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

/* ---- groups of other devices -------------------------------------------- */

static void tell_route(struct fake_conn *fake)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };

	KUNIT_EXPECT_EQ(fake->test, 0, fake->handler(fake->conn->id, &event));
}

static void expect_no_device(struct fake_conn *fake)
{
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(fake->test, KVERBS_CQE_FAILED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(fake->test, -ENODEV, fake->conn->end.error);
}

/* The other device comes late, since the CM would find the address at either of them. */
static void group_of_another_device_lets_connecting_fail(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_ROUTED);
	struct kverbs_group *group = fake_group_create(test, fake_device_create(test));

	fake->conn->attr.group = group;
	tell_route(fake);
	expect_no_device(fake);
	KUNIT_EXPECT_TRUE(test, list_empty(&group->conns));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
	kverbs_conn_free(fake->conn);
	fake->conn = NULL;
}

static void group_of_another_device_is_refused_to_a_request(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	struct kverbs_conn_attr attr = fake_conn_attr(fake);

	attr.group = fake_group_create(test, fake_device_create(test));
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_conn_accept(fake->conn, &attr));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_REQUESTED, fake->conn->state);
	attr.group = NULL;
	KUNIT_EXPECT_EQ(test, 0, kverbs_conn_accept(fake->conn, &attr));
}

static void group_of_a_removed_device_lets_connecting_fail(struct kunit *test)
{
	struct fake_hca *gone = fake_device_create(test);
	struct kverbs_group *group = fake_group_create(test, gone);
	struct fake_conn *fake;

	fake_device_remove(gone);
	fake = fake_conn_create(test, fake_device_create(test));
	fake->group = group;
	fake_conn_begin(fake);
	kverbs_conn_start(fake->conn);
	expect_no_device(fake);
}

/* ---- exports ------------------------------------------------------------ */

static void group_export_is_one_registration_for_all_connections(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct kverbs_export *export;
	struct kverbs_segment seg;
	unsigned int before;

	member(test, hca, group);
	member(test, hca, group);
	hca->work_queued = true;
	before = hca->nr_sends;
	export = export_in(group, first, &seg);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_EXPECT_EQ(test, 1, export->nr);
	KUNIT_EXPECT_EQ(test, before + 1, hca->nr_sends);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, hca->sends[before].opcode);
	KUNIT_EXPECT_EQ(test, seg.rkey, hca->sends[before].key);
	KUNIT_EXPECT_PTR_EQ(test, group->pool.pd, hca->sends[before].mr->pd);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_EQ(test, before + 1, hca->nr_sends);
	expect_unused(first);
}

static void group_export_needs_an_established_connection(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = fake_conn_create(test, hca);

	KUNIT_EXPECT_EQ(test, -ENOTCONN, try_export(group, fake));
	member(test, hca, NULL);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, try_export(group, fake));
	conn_in(test, hca, group, FAKE_ASKING);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, try_export(group, fake));
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, FAKE_SOON(try_export(group, fake) == 0));
	expect_unused(fake);
}

static void group_export_outlives_its_connections(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, fake, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	kverbs_conn_free(fake->conn);
	fake->conn = NULL;
	KUNIT_EXPECT_EQ(test, PARTS, atomic_long_read(&fake->region->uses));
	KUNIT_EXPECT_EQ(test, PARTS, atomic_read(&hca->nr_mrs));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&hca->nr_mrs));
	expect_unused(fake);
}

static void group_spreads_its_registrations(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);
	unsigned int before = hca->nr_sends;

	KUNIT_EXPECT_EQ(test, 0, try_export(group, first));
	KUNIT_EXPECT_EQ(test, 0, try_export(group, first));
	KUNIT_ASSERT_EQ(test, before + 2 * PARTS, hca->nr_sends);
	KUNIT_EXPECT_PTR_NE(test, hca->sends[before].qp, hca->sends[before + PARTS].qp);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, second->conn->state);
}

/* ---- exports that fail -------------------------------------------------- */

static const struct {
	enum fake_verb verb;
	const char *what;
} steps[] = {
	{ FAKE_ALLOC_MR, "an MR is allocated" },
	{ FAKE_MAP_MR, "an MR is mapped" },
	{ FAKE_POST_SEND, "registrations are posted" },
};

KUNIT_ARRAY_PARAM_DESC(steps, steps, what);

static void group_export_that_fails_leaves_nothing_when(struct kunit *test)
{
	const typeof(steps[0]) *step = test->param_value;
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = member(test, hca, group);

	hca->errors[step->verb] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, try_export(group, fake));
	expect_unused(fake);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	hca->errors[step->verb] = 0;
	KUNIT_EXPECT_EQ(test, 0, try_export(group, fake));
}

/* Else one bad registration would end all of them. */
static void group_export_that_the_device_refuses_ends_one_connection(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);

	hca->work_bad = &first->conn->sync.last;
	KUNIT_EXPECT_EQ(test, -EIO, try_export(group, first));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, first->conn->state);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, second->conn->state);
	expect_unused(first);
	KUNIT_EXPECT_EQ(test, 0, try_export(group, first));
}

static void group_export_that_is_refused_in_part_ends_one_connection(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);

	fake_hca_refuse(hca, 2, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_export(group, first));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, first->conn->state);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, second->conn->state);
	expect_unused(first);
	fake_hca_refuse(hca, FAKE_WRS, 0);
	KUNIT_EXPECT_EQ(test, 0, try_export(group, first));
}

static struct fake_conn *ending;
static int (*ending_map)(struct ib_mr *mr, struct scatterlist *sg, int nr,
			 unsigned int *offset);
static int (*ending_post)(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad);

static int map_and_end(struct ib_mr *mr, struct scatterlist *sg, int nr, unsigned int *offset)
{
	kverbs_conn_end(ending->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	return ending_map(mr, sg, nr, offset);
}

/* The registrations of @ending are flushed, those of another connection are done. */
static int post_and_end(struct ib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	bool first = wr->opcode == IB_WR_REG_MR && qp == ending->conn->qp;
	int ret;

	hca->work_queued = !first;
	ret = ending_post(qp, wr, bad);
	if (first)
		kverbs_conn_end(ending->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	return ret;
}

/* An export whose first connection ends as @let_end wants is made on the second one. */
static void expect_second_try(struct kunit *test, void (*let_end)(struct fake_hca *hca))
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);

	ending = first;
	ending_map = hca->ib.ops.map_mr_sg;
	ending_post = hca->ib.ops.post_send;
	let_end(hca);
	KUNIT_EXPECT_EQ(test, 0, try_export(group, first));
	KUNIT_EXPECT_TRUE(test, fake_await(&first->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, second->conn->state);
	expect_unused(first);
	hca->ib.ops.map_mr_sg = ending_map;
	hca->ib.ops.post_send = ending_post;
}

static void end_while_mapping(struct fake_hca *hca)
{
	hca->ib.ops.map_mr_sg = map_and_end;
}

static void group_export_is_repeated_when_its_connection_ends(struct kunit *test)
{
	expect_second_try(test, end_while_mapping);
}

static void end_after_posting(struct fake_hca *hca)
{
	hca->ib.ops.post_send = post_and_end;
}

static void group_export_is_repeated_when_its_registration_is_flushed(struct kunit *test)
{
	expect_second_try(test, end_after_posting);
}

/* The keys stay valid, so no connection may use them. */
static void group_is_closed_when_an_mr_cannot_be_deregistered(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, first, segs);
	struct kverbs_export *left = export_in(group, first, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_ASSERT_FALSE(test, IS_ERR(left));
	hca->errors[FAKE_DEREG_MR] = -EBUSY;
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	/* A connection leaves the group before it is DEAD. */
	KUNIT_ASSERT_TRUE(test, fake_await(&first->ended));
	KUNIT_ASSERT_TRUE(test, fake_await(&second->ended));
	expect_unused(first);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(left));
	KUNIT_EXPECT_EQ(test, -ENODEV, try_export(group, first));
	hca->errors[FAKE_DEREG_MR] = 0;
}

/* ---- keys, on each adapter ---------------------------------------------- */

static enum ib_wc_status read_over(struct fake_conn *fake, const struct kverbs_segment *seg)
{
	struct fake_work *work = fake_conn_work(fake, KVERBS_OP_READ, 0, 64);

	work->req.rkey = seg->rkey;
	work->req.remote_addr = seg->addr + PAGE_SIZE;
	KUNIT_ASSERT_EQ(fake->test, 0, fake_conn_try_post(fake, work));
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&work->done));
	return work->req.wc_status;
}

static void group_key_is_valid_on_all_its_connections_and_no_other(struct kunit *test)
{
	struct fake_hca *hca = fake_profile_device(test, test->param_value);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *before = member(test, hca, group);
	struct fake_conn *other = member(test, hca, NULL);
	const struct kverbs_export_range range = {
		.region = before->region,
		.length = 2 * PAGE_SIZE,
		.rights = BOTH_RIGHTS,
	};
	struct kverbs_export *export;
	struct fake_conn *after;
	struct kverbs_segment seg;

	export = kverbs_export_to_group(group, &range, &seg);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	after = member(test, hca, group);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, read_over(before, &seg));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, read_over(after, &seg));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, read_over(other, &seg));
	kverbs_conn_close(before->conn);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, read_over(after, &seg));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, read_over(after, &seg));
	KUNIT_EXPECT_STREQ(test, "", hca->misread ?: "");
}

/* ---- keys that peers revoke --------------------------------------------- */

static void receive_revocation(struct fake_conn *fake, u32 rkey)
{
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 64);
	struct fake_hca *hca = fake->hca;

	fake_wr_end(&hca->recvs[hca->nr_recvs - 1], (struct ib_wc) {
		.opcode = IB_WC_RECV,
		.wc_flags = IB_WC_WITH_INVALIDATE,
		.ex.invalidate_rkey = rkey,
	});
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&recv->done));
}

static void group_notes_a_key_that_any_peer_revokes(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, first, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	receive_revocation(second, segs[1].rkey);
	receive_revocation(first, segs[2].rkey);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_VALID, export->mrs[0]->state);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, export->mrs[1]->state);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, export->mrs[2]->state);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	expect_unused(first);
}

/* An invalidation of an invalid key would break the connection that did nothing. */
static void group_notes_whose_key_a_peer_of_another_connection_revokes(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *first = member(test, hca, group);
	struct fake_conn *second = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export;

	export = kverbs_export_create(first->conn, first->region, 0, FAKE_MEM,
				      KVERBS_REMOTE_READ, segs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	receive_revocation(second, segs[0].rkey);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, export->mrs[0]->state);
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, first->conn->state);
}

/* ---- removal ------------------------------------------------------------ */

static void group_ends_with_its_device(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, fake, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	expect_unused(fake);
	KUNIT_EXPECT_NULL(test, group->tenant.dev);
	KUNIT_EXPECT_EQ(test, -ENODEV, try_export(group, fake));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
}

/* Connections first, then registrations, then mappings. */
static void group_leaves_after_connections_and_before_mappings(struct kunit *test)
{
	struct fake_hca *hca = small_device(test);
	struct kverbs_group *group = fake_group_create(test, hca);
	struct fake_conn *fake = member(test, hca, group);
	struct kverbs_segment segs[PARTS];
	struct kverbs_export *export = export_in(group, fake, segs);

	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	fake_hca_hold_dereg(hca);
	fake_device_begin_remove(hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&hca->dereg_begun));
	KUNIT_EXPECT_NULL(test, fake->conn->qp);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_FALSE(test, completion_done(&hca->removed));
	fake_hca_let_dereg(hca);
	KUNIT_ASSERT_TRUE(test, fake_device_is_removed(hca));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->region->maps));
	KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(export));
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE(group_has_one_protection_domain_for_all_its_connections),
	KUNIT_CASE(group_keeps_its_domain_when_connections_end),
	KUNIT_CASE(group_leaves_nothing_on_the_device),
	KUNIT_CASE(group_needs_a_device_that_kverbs_can_use),
	KUNIT_CASE(group_without_a_domain_is_not_created),
	KUNIT_CASE(group_of_another_device_lets_connecting_fail),
	KUNIT_CASE(group_of_another_device_is_refused_to_a_request),
	KUNIT_CASE(group_of_a_removed_device_lets_connecting_fail),
	KUNIT_CASE(group_export_is_one_registration_for_all_connections),
	KUNIT_CASE(group_export_needs_an_established_connection),
	KUNIT_CASE(group_export_outlives_its_connections),
	KUNIT_CASE(group_spreads_its_registrations),
	KUNIT_CASE_PARAM(group_export_that_fails_leaves_nothing_when, steps_gen_params),
	KUNIT_CASE(group_export_that_the_device_refuses_ends_one_connection),
	KUNIT_CASE(group_export_that_is_refused_in_part_ends_one_connection),
	KUNIT_CASE(group_export_is_repeated_when_its_connection_ends),
	KUNIT_CASE(group_export_is_repeated_when_its_registration_is_flushed),
	KUNIT_CASE(group_is_closed_when_an_mr_cannot_be_deregistered),
	KUNIT_CASE_PARAM(group_key_is_valid_on_all_its_connections_and_no_other,
			 fake_usable_profile_gen_params),
	KUNIT_CASE(group_notes_a_key_that_any_peer_revokes),
	KUNIT_CASE(group_notes_whose_key_a_peer_of_another_connection_revokes),
	KUNIT_CASE(group_ends_with_its_device),
	KUNIT_CASE(group_leaves_after_connections_and_before_mappings),
	{}
};

static struct kunit_suite group_suite = {
	.name = "kverbs_group",
	.test_cases = group_cases,
};

kunit_test_suite(group_suite);
