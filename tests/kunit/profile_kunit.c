// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every opcode, exports, teardown and removal, on each adapter as its driver behaves. */
#include <linux/mman.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "device_query.h"
#include "export.h"
#include "fake_conn.h"
#include "fake_qp.h"
#include "opcode.h"
#include "profile.h"

/* The upper half of the memory is the peer's. */
#define FAR		(FAKE_MEM / 2)
#define IMM		0x1badcafe
#define BIG_PAGES	600
#define BIG		(BIG_PAGES * PAGE_SIZE)
#define ALL_RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/**
 * struct rig - a connection of an adapter to itself
 * @test: the test
 * @profile: the adapter
 * @hca: its device
 * @fake: the connection, or NULL
 * @export: export of the peer's half, or NULL
 * @seg: its only segment
 * @image: what the memory must contain
 * @seen: what it contains
 */
struct rig {
	struct kunit *test;
	const struct fake_profile *profile;
	struct fake_hca *hca;
	struct fake_conn *fake;
	struct kverbs_export *export;
	struct kverbs_segment seg;
	u8 *image;
	u8 *seen;
};

static struct rig *new_rig(struct kunit *test, const struct fake_profile *profile)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->test = test;
	rig->profile = profile;
	rig->image = kunit_kzalloc(test, FAKE_MEM, GFP_KERNEL);
	rig->seen = kunit_kzalloc(test, FAKE_MEM, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig->image);
	KUNIT_ASSERT_NOT_NULL(test, rig->seen);
	rig->hca = fake_profile_device(test, profile);
	test->priv = rig;
	return rig;
}

static void drop_export(struct rig *rig)
{
	if (rig->export)
		KUNIT_EXPECT_EQ(rig->test, 0, kverbs_export_destroy(rig->export));
	rig->export = NULL;
}

static void close_rig(struct rig *rig)
{
	drop_export(rig);
	if (rig->fake)
		fake_conn_destroy(rig->fake);
	rig->fake = NULL;
}

/* Whatever a case does, the adapter understands it, and nothing is left. */
static void profile_exit(struct kunit *test)
{
	struct rig *rig = test->priv;

	if (!rig)
		return;
	close_rig(rig);
	KUNIT_EXPECT_STREQ(test, "", rig->hca->misread ?: "");
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(rig->hca));
}

static void connect(struct rig *rig, enum fake_stage stage, u8 max_sge)
{
	rig->fake = fake_conn_create(rig->test, rig->hca);
	rig->fake->max_sge = max_sge;
	fake_conn_go(rig->fake, stage);
	if (stage == FAKE_UP || stage == FAKE_UP_PASSIVE)
		fake_conn_scatter(rig->fake);
}

/* As connect(), with completion queues that only kverbs polls. */
static void connect_polled(struct rig *rig)
{
	rig->fake = fake_conn_create(rig->test, rig->hca);
	kverbs_cq_set_exit(&rig->fake->cqs);
	kverbs_cq_set_init(&rig->fake->cqs, IB_POLL_DIRECT);
	fake_conn_go(rig->fake, FAKE_UP);
	fake_conn_scatter(rig->fake);
}

static struct rig *rig_at(struct kunit *test, const struct fake_profile *profile,
			  enum fake_stage stage)
{
	struct rig *rig = new_rig(test, profile);

	connect(rig, stage, 0);
	return rig;
}

static void paint(struct rig *rig)
{
	get_random_bytes(rig->image, FAKE_MEM);
	KUNIT_ASSERT_EQ(rig->test, 0, copy_to_user((void __user *)rig->fake->addr, rig->image,
						   FAKE_MEM));
}

static void expect_image(struct rig *rig)
{
	KUNIT_ASSERT_EQ(rig->test, 0, copy_from_user(rig->seen, (void __user *)rig->fake->addr,
						     FAKE_MEM));
	KUNIT_EXPECT_EQ(rig->test, 0, memcmp(rig->seen, rig->image, FAKE_MEM));
}

static int try_export(struct rig *rig, u32 rights)
{
	struct kverbs_export *export;

	export = kverbs_export_create(rig->fake->conn, rig->fake->region, FAR, FAKE_MEM - FAR,
				      rights, &rig->seg);
	if (IS_ERR(export))
		return PTR_ERR(export);
	rig->export = export;
	return 0;
}

static void export(struct rig *rig, u32 rights)
{
	KUNIT_ASSERT_EQ(rig->test, 0, try_export(rig, rights));
}

static struct fake_work *work(struct rig *rig, u8 opcode, u64 offset, u64 length)
{
	struct fake_work *work;

	rig->fake->nr_works %= FAKE_OPS;
	work = fake_conn_work(rig->fake, opcode, offset, length);
	work->req.rkey = rig->seg.rkey;
	work->req.remote_addr = rig->seg.addr;
	work->req.imm = kverbs_opcode_has(opcode, KVERBS_OPF_IMM) ? IMM : 0;
	return work;
}

static void post(struct rig *rig, struct fake_work *work)
{
	KUNIT_ASSERT_EQ(rig->test, 0, fake_conn_try_post(rig->fake, work));
}

static void await(struct rig *rig, struct fake_work *work)
{
	KUNIT_ASSERT_TRUE(rig->test, fake_await(&work->done));
	KUNIT_EXPECT_EQ(rig->test, 0, work->req.result);
}

/* ---- life ---------------------------------------------------------------- */

static void expect_refused(struct kunit *test, const struct fake_profile *profile)
{
	struct rig *rig = new_rig(test, profile);

	rig->fake = fake_conn_create(test, rig->hca);
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_conn_try_listen(rig->fake, htonl(FAKE_ADDRESS)));
	fake_conn_begin(rig->fake);
	kverbs_conn_start(rig->fake->conn);
	KUNIT_ASSERT_TRUE(test, fake_await(&rig->fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_FAILED, rig->fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ENODEV, rig->fake->conn->end.error);
}

static void live(struct kunit *test, enum fake_stage stage)
{
	const struct fake_profile *profile = test->param_value;
	struct fake_work *recv, *send;
	struct kverbs_conn *conn;
	struct rig *rig;

	if (!fake_profile_is_usable(profile)) {
		expect_refused(test, profile);
		return;
	}
	rig = rig_at(test, profile, stage);
	conn = rig->fake->conn;
	KUNIT_EXPECT_EQ(test, profile->iwarp ? KVERBS_TRANSPORT_IWARP : KVERBS_TRANSPORT_ROCE,
			conn->transport);
	KUNIT_EXPECT_LE(test, conn->initiator_depth, profile->limits.max_qp_init_rd_atom);
	recv = work(rig, KVERBS_OP_RECV, FAR, 100);
	send = work(rig, KVERBS_OP_SEND, 0, 100);
	post(rig, recv);
	post(rig, send);
	await(rig, send);
	await(rig, recv);
	KUNIT_EXPECT_TRUE(test, kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, 0, 0));
	KUNIT_ASSERT_TRUE(test, fake_await(&rig->fake->ended));
	KUNIT_EXPECT_EQ(test, 1, rig->fake->nr_up);
	KUNIT_EXPECT_EQ(test, 1, rig->fake->nr_ended);
	KUNIT_EXPECT_EQ(test, profile->ways & FAKE_OWN_DRAIN ? 2 : 0, rig->hca->nr_drains);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&rig->fake->region->uses));
}

static void profile_connects(struct kunit *test)
{
	live(test, FAKE_UP);
}

static void profile_accepts(struct kunit *test)
{
	live(test, FAKE_UP_PASSIVE);
}

/* InfiniBand and RoCE try again until there is a receive; on iWARP that is an error. */
static void profile_sends_before_there_is_a_receive(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *send = work(rig, KVERBS_OP_SEND, 0, 100), *recv;

	paint(rig);
	post(rig, send);
	if (rig->profile->ways & FAKE_NO_RNR) {
		KUNIT_ASSERT_TRUE(test, fake_await(&send->done));
		KUNIT_EXPECT_NE(test, 0, send->req.result);
		KUNIT_EXPECT_TRUE(test, fake_await(&rig->fake->ended));
		return;
	}
	KUNIT_ASSERT_TRUE(test, FAKE_SOON(READ_ONCE(rig->hca->stalled)));
	KUNIT_EXPECT_FALSE(test, completion_done(&send->done));
	recv = work(rig, KVERBS_OP_RECV, FAR, 100);
	post(rig, recv);
	await(rig, send);
	await(rig, recv);
	memcpy(rig->image + FAR, rig->image, 100);
	expect_image(rig);
}

/* ---- opcodes ------------------------------------------------------------- */

/**
 * struct usage - an opcode on an adapter
 * @profile: the adapter
 * @opcode: the opcode
 */
struct usage {
	const struct fake_profile *profile;
	u8 opcode;
};

static const struct {
	u8 opcode;
	const char *what;
} opcodes[] = {
	{ KVERBS_OP_SEND, "SEND" },
	{ KVERBS_OP_SEND_IMM, "SEND_IMM" },
	{ KVERBS_OP_SEND_INV, "SEND_INV" },
	{ KVERBS_OP_WRITE, "WRITE" },
	{ KVERBS_OP_WRITE_IMM, "WRITE_IMM" },
	{ KVERBS_OP_READ, "READ" },
	{ KVERBS_OP_CMP_SWAP, "CMP_SWAP" },
	{ KVERBS_OP_FETCH_ADD, "FETCH_ADD" },
};

static struct usage usages[32 * ARRAY_SIZE(opcodes)];

static const void *usages_gen_params(GENERATOR_TEST const void *prev, char *desc)
{
	struct usage *next = prev ? (struct usage *)prev + 1 : usages;
	unsigned int i = (next - usages) % ARRAY_SIZE(opcodes);
	const struct fake_profile *profile = prev ? next[-1].profile : NULL;

	if (!i)
		profile = fake_usable_profile_gen_params(GENERATOR_PASS profile, desc);
	if (!profile || next == usages + ARRAY_SIZE(usages))
		return NULL;
	*next = (struct usage) { profile, opcodes[i].opcode };
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s", profile->name, opcodes[i].what);
	return next;
}

/* Opcodes that the driver posts, without those that kverbs does not use on iWARP. */
static bool can_do(const struct usage *usage)
{
	if (usage->profile->iwarp &&
	    kverbs_opcode_has(usage->opcode, KVERBS_OPF_IMM | KVERBS_OPF_ATOMIC))
		return false;
	if (usage->opcode == KVERBS_OP_FETCH_ADD)
		return usage->profile->opcodes & BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD);
	if (usage->opcode == KVERBS_OP_CMP_SWAP)
		return usage->profile->opcodes & BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP);
	return true;
}

static const struct shape {
	u64 offset;
	u64 length;
} shapes[] = {
	{ 41, 100 },
	{ 0, 0 },
	{ PAGE_SIZE - 1, 2 },
	{ 100, FAR - 200 },
};

static void expect_recv(struct rig *rig, struct fake_work *recv, u8 opcode,
			const struct shape *shape)
{
	struct kunit *test = rig->test;

	await(rig, recv);
	KUNIT_EXPECT_EQ(test, shape->length, recv->req.byte_len);
	if (kverbs_opcode_has(opcode, KVERBS_OPF_IMM)) {
		KUNIT_EXPECT_EQ(test, IMM, recv->req.imm);
		KUNIT_EXPECT_TRUE(test, recv->req.flags & KVERBS_CQE_F_IMM);
	}
	if (opcode == KVERBS_OP_SEND_INV) {
		KUNIT_EXPECT_EQ(test, rig->seg.rkey, recv->req.imm);
		KUNIT_EXPECT_TRUE(test, recv->req.flags & KVERBS_CQE_F_INV);
		KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, rig->export->mrs[0]->state);
	}
}

static void move_data(struct rig *rig, u8 opcode, const struct shape *shape)
{
	u64 far = kverbs_opcode_has(opcode, KVERBS_OPF_REMOTE) ? 13 : 0;
	bool takes = kverbs_opcode_has(opcode, KVERBS_OPF_TAKES_RECV);
	struct fake_work *recv = NULL, *op;

	paint(rig);
	export(rig, ALL_RIGHTS);
	if (takes) {
		recv = work(rig, KVERBS_OP_RECV, FAR, far ? 0 : shape->length);
		post(rig, recv);
	}
	op = work(rig, opcode, shape->offset, shape->length);
	op->req.remote_addr += far;
	op->req.fence = true;
	op->req.solicited = true;
	post(rig, op);
	await(rig, op);
	if (recv)
		expect_recv(rig, recv, opcode, shape);
	if (opcode == KVERBS_OP_READ)
		memcpy(rig->image + shape->offset, rig->image + FAR + far, shape->length);
	else
		memcpy(rig->image + FAR + far, rig->image + shape->offset, shape->length);
	expect_image(rig);
	drop_export(rig);
}

static void do_atomic(struct rig *rig, u8 opcode)
{
	u64 *local = (u64 *)(rig->image + 64), *far = (u64 *)(rig->image + FAR + 8);
	struct fake_work *op;

	paint(rig);
	export(rig, ALL_RIGHTS | KVERBS_REMOTE_ATOMIC);
	op = work(rig, opcode, 64, 8);
	op->req.remote_addr += 8;
	op->req.operand = opcode == KVERBS_OP_FETCH_ADD ? 35 : *far;
	op->req.swap = 0x1122334455667788;
	post(rig, op);
	await(rig, op);
	*local = *far;
	*far = opcode == KVERBS_OP_FETCH_ADD ? *far + 35 : op->req.swap;
	expect_image(rig);
	drop_export(rig);
}

static void profile_moves_data(struct kunit *test)
{
	const struct usage *usage = test->param_value;
	struct rig *rig = new_rig(test, usage->profile);
	unsigned int max_sge, i;

	/* With one entry whatever crosses a page is registered. */
	for (max_sge = 0; max_sge < 2; max_sge++) {
		connect(rig, FAKE_UP, max_sge);
		if (!can_do(usage)) {
			export(rig, ALL_RIGHTS);
			KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
					fake_conn_try_post(rig->fake,
							   work(rig, usage->opcode, 0, 8)));
		} else if (kverbs_opcode_has(usage->opcode, KVERBS_OPF_ATOMIC)) {
			do_atomic(rig, usage->opcode);
		} else {
			for (i = 0; i < ARRAY_SIZE(shapes); i++)
				move_data(rig, usage->opcode, &shapes[i]);
		}
		KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, rig->fake->conn->state);
		close_rig(rig);
	}
}

/* The regions are mapped. */
static unsigned int post_list_now(struct kverbs_conn *conn, struct kverbs_req **reqs,
				  unsigned int nr, struct kverbs_chain *chain, int *error)
{
	unsigned int posted = 0, some;

	do {
		some = kverbs_conn_post_list_now(conn, reqs + posted, nr - posted, chain, error);
		posted += some;
		if (!some && !*error) {
			*error = kverbs_conn_post_now(conn, reqs[posted], chain, NULL);
			posted += !*error;
		}
	} while (posted < nr && !*error);
	return posted;
}

static void post_list(struct rig *rig, struct fake_work **works, unsigned int nr, bool now)
{
	struct kverbs_req *reqs[4];
	unsigned int i, posted;
	int error;

	for (i = 0; i < nr; i++) {
		reqs[i] = &works[i]->req;
		kverbs_req_use(reqs[i]);
	}
	posted = (now ? post_list_now : kverbs_conn_post_list)(rig->fake->conn, reqs, nr,
							       rig->fake->chain, &error);
	KUNIT_ASSERT_EQ(rig->test, nr, posted);
	KUNIT_EXPECT_EQ(rig->test, 0, error);
	for (i = 0; i < nr; i++)
		await(rig, works[i]);
}

/* A SEND of 16 bytes tells what the WRITEs before it have brought. */
static void post_lists(struct kunit *test, bool now)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *works[4], *recvs[2];
	unsigned int i, nr;

	paint(rig);
	export(rig, ALL_RIGHTS);
	for (nr = 2; nr <= 4; nr += 2) {
		for (i = 0; i < nr / 2; i++) {
			recvs[i] = work(rig, KVERBS_OP_RECV, FAR + 4096 + 16 * i, 16);
			post(rig, recvs[i]);
		}
		works[0] = work(rig, KVERBS_OP_WRITE, 0, 100);
		works[1] = work(rig, KVERBS_OP_SEND, 200, 16);
		works[2] = work(rig, KVERBS_OP_READ, 300, 0);
		works[3] = work(rig, KVERBS_OP_SEND, 400, 16);
		works[1]->req.fence = true;
		works[3]->req.solicited = true;
		post_list(rig, works, nr, now);
		for (i = 0; i < nr / 2; i++)
			await(rig, recvs[i]);
	}
	memcpy(rig->image + FAR, rig->image, 100);
	memcpy(rig->image + FAR + 4096, rig->image + 200, 16);
	memcpy(rig->image + FAR + 4096 + 16, rig->image + 400, 16);
	expect_image(rig);
}

static void profile_posts_lists(struct kunit *test)
{
	post_lists(test, false);
}

static void profile_posts_lists_without_sleeping(struct kunit *test)
{
	post_lists(test, true);
}

/* Drivers refuse more than that, and not all of them say then what they have taken. */
static void profile_is_given_no_more_work_than_it_has_room_for(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *reads[FAKE_DEPTH], *recvs[FAKE_DEPTH];
	unsigned int i;

	export(rig, ALL_RIGHTS);
	rig->hca->work_queued = false;
	flush_work(&rig->hca->work);
	for (i = 0; i < FAKE_DEPTH; i++) {
		reads[i] = work(rig, KVERBS_OP_READ, 8 * i, 8);
		recvs[i] = work(rig, KVERBS_OP_RECV, 8 * i, 8);
		post(rig, reads[i]);
		post(rig, recvs[i]);
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			fake_conn_try_post(rig->fake, work(rig, KVERBS_OP_READ, 0, 8)));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			fake_conn_try_post(rig->fake, work(rig, KVERBS_OP_RECV, 0, 8)));
	rig->hca->work_queued = true;
	schedule_work(&rig->hca->work);
	for (i = 0; i < FAKE_DEPTH; i++)
		await(rig, reads[i]);
}

/* ---- exports ------------------------------------------------------------- */

static void expect_no_access(struct rig *rig, u8 opcode)
{
	struct fake_work *op = work(rig, opcode, 0, 100);

	post(rig, op);
	KUNIT_ASSERT_TRUE(rig->test, fake_await(&op->done));
	KUNIT_EXPECT_EQ(rig->test, IB_WC_REM_ACCESS_ERR, op->req.wc_status);
	KUNIT_EXPECT_TRUE(rig->test, fake_await(&rig->fake->ended));
}

static void profile_revokes_an_export(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);

	export(rig, ALL_RIGHTS);
	drop_export(rig);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&rig->fake->region->uses));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, rig->fake->conn->state);
	expect_no_access(rig, KVERBS_OP_WRITE);
}

static void profile_exports_only_the_rights_asked_for(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);

	export(rig, KVERBS_REMOTE_WRITE);
	expect_no_access(rig, KVERBS_OP_READ);
}

static void profile_exports_again_and_again(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *op;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		export(rig, i % 2 ? KVERBS_REMOTE_READ : KVERBS_REMOTE_WRITE);
		op = work(rig, i % 2 ? KVERBS_OP_READ : KVERBS_OP_WRITE, i, 100);
		post(rig, op);
		await(rig, op);
		drop_export(rig);
	}
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, rig->fake->conn->state);
}

static void profile_lets_the_peer_invalidate(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *recv, *send;

	export(rig, ALL_RIGHTS);
	recv = work(rig, KVERBS_OP_RECV, 0, 0);
	post(rig, recv);
	send = work(rig, KVERBS_OP_SEND_INV, 0, 0);
	post(rig, send);
	await(rig, send);
	await(rig, recv);
	drop_export(rig);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, rig->fake->conn->state);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&rig->fake->region->uses));
	expect_no_access(rig, KVERBS_OP_WRITE);
}

static void profile_exports_for_atomics_if_it_has_them(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	const struct fake_profile *profile = rig->profile;
	bool has = !profile->iwarp && profile->limits.atomic_cap != IB_ATOMIC_NONE &&
		   !(profile->ways & FAKE_NO_ATOMIC_MR);

	KUNIT_EXPECT_EQ(test, has ? 0 : -EOPNOTSUPP, try_export(rig, KVERBS_REMOTE_ATOMIC));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, rig->fake->conn->state);
}

/* Of the adapter's transport, though the device is registered with the CM of iWARP. */
static bool says_atomics(struct rig *rig)
{
	struct ib_port_immutable *port = &rig->hca->ib.port_data[1].immutable;
	struct kverbs_cmd_device_query cmd = {};
	u32 flags = port->core_cap_flags;

	port->core_cap_flags = rig->hca->guise->port_data[1].immutable.core_cap_flags;
	kverbs_device_query(&rig->hca->ib, KVERBS_USABLE, &cmd);
	port->core_cap_flags = flags;
	return cmd.out_caps & KVERBS_CAP_ATOMIC;
}

static void profile_says_whether_exports_may_have_atomics(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	bool before = says_atomics(rig);
	bool has = !try_export(rig, KVERBS_REMOTE_ATOMIC);

	KUNIT_EXPECT_EQ(test, has, says_atomics(rig));
	/* Before it is asked for, some mlx5 do not say that it would be refused. */
	KUNIT_EXPECT_EQ(test, has || rig->profile->ways & FAKE_NO_ATOMIC_MR, before);
}

static struct kverbs_region *big_region(struct kunit *test)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, BIG, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct kverbs_region *region;

	KUNIT_ASSERT_NE(test, 0, addr);
	region = kverbs_region_create(addr, BIG, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	return region;
}

/* As many MRs as the adapter needs, none of them larger than it copes with. */
static void profile_exports_what_takes_several_registrations(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	unsigned int i, nr, limit = rig->profile->limits.max_fast_reg_page_list_len;
	struct kverbs_region *region = big_region(test);
	const struct kverbs_export_range range = { .region = region, .length = BIG };
	struct kverbs_segment *segs;
	struct kverbs_export *all;
	struct fake_work *op;

	KUNIT_ASSERT_EQ(test, 0, kverbs_export_count(rig->fake->conn, &range, &nr));
	if (!(rig->profile->ways & FAKE_HUGE_PAGES))
		KUNIT_EXPECT_GE(test, nr, DIV_ROUND_UP(BIG_PAGES, limit));
	segs = kunit_kcalloc(test, nr, sizeof(*segs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, segs);
	kverbs_region_use(region);
	all = kverbs_export_create(rig->fake->conn, region, 0, BIG, ALL_RIGHTS, segs);
	kverbs_region_unuse(region);
	KUNIT_EXPECT_FALSE(test, IS_ERR(all));
	for (i = 0; !IS_ERR(all) && i < nr; i++) {
		op = work(rig, KVERBS_OP_WRITE, 5, 100);
		op->req.rkey = segs[i].rkey;
		op->req.remote_addr = segs[i].addr + segs[i].length - 100;
		post(rig, op);
		await(rig, op);
	}
	if (!IS_ERR(all))
		KUNIT_EXPECT_EQ(test, 0, kverbs_export_destroy(all));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	close_rig(rig);
	kverbs_region_destroy(region);
}

/* ---- registrations that stay ---------------------------------------------- */

/* A connection with one entry has registered its memory, and has exported half of it. */
static struct rig *registered_rig(struct kunit *test)
{
	struct rig *rig = new_rig(test, test->param_value);
	struct fake_work *op;

	connect(rig, FAKE_UP, 1);
	export(rig, ALL_RIGHTS);
	op = work(rig, KVERBS_OP_WRITE, PAGE_SIZE - 1, 2);
	post(rig, op);
	await(rig, op);
	return rig;
}

/* rdmavt, for instance, waits for five seconds. */
static void profile_deregisters_in_its_own_time(struct kunit *test)
{
	struct rig *rig = registered_rig(test);
	struct kverbs_region *region = rig->fake->region;

	fake_hca_hold_dereg(rig->hca);
	kverbs_conn_end(rig->fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_ASSERT_TRUE(test, fake_await(&rig->hca->dereg_begun));
	KUNIT_EXPECT_FALSE(test, completion_done(&rig->fake->ended));
	KUNIT_EXPECT_GT(test, atomic_long_read(&region->uses), 0);
	fake_hca_let_dereg(rig->hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&rig->fake->ended));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
}

/* The region stays pinned until the queue pair is gone, by which the adapter could reach it. */
static void profile_keeps_its_mrs(struct kunit *test)
{
	struct rig *rig = registered_rig(test);
	struct fake_conn *fake = rig->fake;

	rig->hca->errors[FAKE_DEREG_MR] = -EIO;
	kverbs_conn_forget(fake->conn, fake->region);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, fake->conn->state);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&fake->region->uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&fake->region->cached));
	KUNIT_EXPECT_GT(test, rig->hca->nr_lost, 0);
}

static const void *keepers_gen_params(GENERATOR_TEST const void *prev, char *desc)
{
	return fake_profile_gen_params_with(GENERATOR_PASS prev, desc, FAKE_KEEPS_MRS);
}

/* ---- teardown and removal ------------------------------------------------ */

#define OUTSTANDING	6

/* Fills the queues with work that the adapter does not begin. */
static void leave_work(struct rig *rig, struct fake_work **works)
{
	unsigned int nr = 0, i;

	export(rig, ALL_RIGHTS);
	works[nr++] = work(rig, KVERBS_OP_RECV, 0, 100);
	works[nr++] = work(rig, KVERBS_OP_RECV, FAR, 100);
	works[nr++] = work(rig, KVERBS_OP_SEND, 0, 100);
	works[nr++] = work(rig, KVERBS_OP_WRITE, 100, FAR - 200);
	works[nr++] = work(rig, KVERBS_OP_READ, 100, FAR - 200);
	works[nr++] = work(rig, KVERBS_OP_READ, 0, 0);
	rig->hca->work_queued = false;
	flush_work(&rig->hca->work);
	for (i = 0; i < nr; i++)
		post(rig, works[i]);
}

static void expect_over(struct rig *rig, struct fake_work **works)
{
	struct kunit *test = rig->test;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, fake_await(&rig->fake->ended));
	for (i = 0; i < OUTSTANDING; i++) {
		KUNIT_ASSERT_TRUE(test, completion_done(&works[i]->done));
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, works[i]->req.wc_status);
	}
	flush_work(&rig->fake->conn->close_work);
	KUNIT_EXPECT_EQ(test, 1, rig->fake->nr_ended);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&rig->fake->region->uses));
}

static void profile_disconnects_with_work_outstanding(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *works[OUTSTANDING];

	leave_work(rig, works);
	kverbs_conn_end(rig->fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	expect_over(rig, works);
}

static void profile_disconnects_while_its_queues_are_polled(struct kunit *test)
{
	struct rig *rig = new_rig(test, test->param_value);
	struct fake_work *works[OUTSTANDING];

	connect_polled(rig);
	leave_work(rig, works);
	kverbs_conn_end(rig->fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	expect_over(rig, works);
	KUNIT_EXPECT_EQ(test, 0, rig->hca->nr_drains);
}

/* Only its driver can drain it then, whether or not the completion queues are polled. */
static void profile_is_drained_by_its_driver_when_it_has_died(struct kunit *test)
{
	struct rig *rig = new_rig(test, test->param_value);
	struct fake_work *works[OUTSTANDING];
	unsigned int polled;

	for (polled = 0; polled < 2; polled++) {
		if (polled)
			connect_polled(rig);
		else
			connect(rig, FAKE_UP, 0);
		leave_work(rig, works);
		rig->hca->dead = true;
		rig->hca->nr_drains = 0;
		kverbs_conn_end(rig->fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
		expect_over(rig, works);
		KUNIT_EXPECT_EQ(test, 2, rig->hca->nr_drains);
		close_rig(rig);
		rig->hca->dead = false;
		rig->hca->work_queued = true;
	}
}

static const void *drainers_gen_params(GENERATOR_TEST const void *prev, char *desc)
{
	return fake_profile_gen_params_with(GENERATOR_PASS prev, desc, FAKE_OWN_DRAIN);
}

static void profile_is_left_by_the_peer_with_work_outstanding(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP_PASSIVE);
	struct fake_work *works[OUTSTANDING];

	leave_work(rig, works);
	fake_iw_close(rig->fake->conn->qp);
	expect_over(rig, works);
	KUNIT_EXPECT_EQ(test, -ECONNRESET, rig->fake->conn->end.error);
}

static void profile_is_destroyed_with_work_outstanding(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP);
	struct fake_work *works[OUTSTANDING];
	unsigned int i;

	leave_work(rig, works);
	kverbs_conn_close(rig->fake->conn);
	drop_export(rig);
	kverbs_conn_free(rig->fake->conn);
	rig->fake->conn = NULL;
	for (i = 0; i < OUTSTANDING; i++)
		KUNIT_EXPECT_TRUE(test, completion_done(&works[i]->done));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&rig->fake->region->uses));
}

static void profile_is_removed_with_everything_open(struct kunit *test)
{
	struct rig *rig = rig_at(test, test->param_value, FAKE_UP_PASSIVE);
	struct fake_work *works[OUTSTANDING];

	leave_work(rig, works);
	fake_device_begin_remove(rig->hca);
	KUNIT_ASSERT_TRUE(test, fake_device_is_removed(rig->hca));
	expect_over(rig, works);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_DEVICE_REMOVED, rig->fake->conn->end.type);
	flush_work(&rig->fake->listener->evict_work);
	KUNIT_EXPECT_EQ(test, 1, rig->fake->nr_removed);
	KUNIT_EXPECT_TRUE(test, list_empty(&rig->fake->region->maps));
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(rig->hca));
}

static struct kunit_case profile_cases[] = {
	KUNIT_CASE_PARAM(profile_connects, fake_profile_gen_params),
	KUNIT_CASE_PARAM(profile_accepts, fake_profile_gen_params),
	KUNIT_CASE_PARAM(profile_sends_before_there_is_a_receive,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_moves_data, usages_gen_params),
	KUNIT_CASE_PARAM(profile_posts_lists, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_posts_lists_without_sleeping, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_is_given_no_more_work_than_it_has_room_for,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_revokes_an_export, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_exports_only_the_rights_asked_for,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_exports_again_and_again, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_lets_the_peer_invalidate, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_exports_for_atomics_if_it_has_them,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_says_whether_exports_may_have_atomics,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_exports_what_takes_several_registrations,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_deregisters_in_its_own_time, fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_keeps_its_mrs, keepers_gen_params),
	KUNIT_CASE_PARAM(profile_disconnects_with_work_outstanding,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_disconnects_while_its_queues_are_polled,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_is_drained_by_its_driver_when_it_has_died,
			 drainers_gen_params),
	KUNIT_CASE_PARAM(profile_is_left_by_the_peer_with_work_outstanding,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_is_destroyed_with_work_outstanding,
			 fake_usable_profile_gen_params),
	KUNIT_CASE_PARAM(profile_is_removed_with_everything_open,
			 fake_usable_profile_gen_params),
	{}
};

static struct kunit_suite profile_suite = {
	.name = "kverbs_profile",
	.exit = profile_exit,
	.test_cases = profile_cases,
};

kunit_test_suite(profile_suite);
