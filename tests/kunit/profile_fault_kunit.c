// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of a connection on each adapter, in which each call of each verb fails in turn: the
 * error is reported, nothing hangs, and nothing is left.
 */
#include <linux/in.h>
#include <linux/mman.h>

#include "export.h"
#include "fake_conn.h"
#include "fake_qp.h"
#include "fault.h"
#include "profile.h"
#include "quirks.h"

/* The upper half of the memory is the peer's. */
#define FAR		(FAKE_MEM / 2)
/* Across a page boundary, so that a connection with one entry registers it. */
#define EDGE		(PAGE_SIZE - 50)
/* More calls of a verb than a life has. */
#define CALLS_MAX	64

/**
 * struct point - what fails
 * @what: its name
 * @verb: a verb of the driver, or FAKE_VERBS
 * @point: else a call of kverbs, which the driver does not see
 */
struct point {
	const char *what;
	enum fake_verb verb;
	enum kverbs_fault_point point;
};

#define CALL(name)	{ #name, FAKE_VERBS, KVERBS_FAULT_ ## name }

static const struct point points[] = {
	CALL(QUERY_PORT), CALL(ALLOC_PD), CALL(ALLOC_CQ), CALL(ALLOC_MR), CALL(MAP_MR_SG),
	CALL(DMA_MAP), CALL(POST_SEND), CALL(POST_RECV), CALL(CREATE_ID), CALL(CREATE_QP),
	CALL(RNR_TIMER), CALL(AFONLY), CALL(BIND), CALL(LISTEN), CALL(RESOLVE_ADDR),
	CALL(RESOLVE_ROUTE), CALL(CONNECT), CALL(ACCEPT),
	{ "a queue pair in RESET", FAKE_MODIFY_QP },
	{ "a key of all memory", FAKE_GET_DMA_MR },
	{ "a WR of a chain", FAKE_POST_SEND },
	{ "a deregistration", FAKE_DEREG_MR },
};

static bool can_fail(const struct fake_profile *profile, const struct point *point)
{
	if (point->verb == FAKE_GET_DMA_MR)
		return !(profile->limits.kernel_cap_flags & IBK_LOCAL_DMA_LKEY);
	if (point->verb == FAKE_DEREG_MR)
		return profile->ways & FAKE_KEEPS_MRS;
	return true;
}

static struct {
	enum kverbs_fault_point point;
	unsigned int fail_at;
	atomic_t nr_calls;
	bool failed;
} sabotage;

static int fail_at(enum kverbs_fault_point point)
{
	if (point != sabotage.point || atomic_inc_return(&sabotage.nr_calls) != sabotage.fail_at)
		return 0;
	WRITE_ONCE(sabotage.failed, true);
	return -ENOMEM;
}

static void end_sabotage(void *unused)
{
	static_branch_disable(&kverbs_fault_tested);
}

/**
 * struct life - a connection from its beginning to its end
 * @test: the test
 * @hca: its device
 * @fake: its owner
 * @export: export of the peer's half, or NULL
 * @seg: its only segment
 * @recv: receive that no message has consumed, or NULL
 * @errors: number of errors that were reported
 */
struct life {
	struct kunit *test;
	struct fake_hca *hca;
	struct fake_conn *fake;
	struct kverbs_export *export;
	struct kverbs_segment seg;
	struct fake_work *recv;
	unsigned int errors;
};

/* Returns true if there was none. */
static bool note(struct life *life, int error)
{
	life->errors += !!error;
	return !error;
}

static void arm(struct life *life, const struct point *point, unsigned int nth)
{
	atomic_set(&sabotage.nr_calls, 0);
	atomic_set(&life->hca->nr_calls, 0);
	sabotage.failed = false;
	life->hca->failed = false;
	sabotage.point = point->point;
	life->hca->fail_verb = point->verb;
	sabotage.fail_at = point->verb == FAKE_VERBS ? nth : 0;
	life->hca->fail_at = point->verb == FAKE_VERBS ? 0 : nth;
}

static bool has_failed(const struct life *life)
{
	return READ_ONCE(sabotage.failed) || READ_ONCE(life->hca->failed);
}

/* ---- how it begins ------------------------------------------------------- */

static bool is_established(struct life *life)
{
	struct fake_conn *fake = life->fake;

	/* The probe would make calls at any time. */
	fake->conn->queue.quirks &= ~KVERBS_QUIRK_NUDGE;
	fake_iw_answer(life->hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(life->test, FAKE_SOON(completion_done(&fake->up) ||
						completion_done(&fake->ended)));
	return completion_done(&fake->up);
}

static bool asks(struct life *life)
{
	struct fake_conn *fake = life->fake;

	fake->max_sge = 1;
	if (!note(life, fake_conn_try_begin(fake, true)))
		return false;
	kverbs_conn_start(fake->conn);
	KUNIT_EXPECT_TRUE(life->test, FAKE_SOON(READ_ONCE(life->hca->pending) ||
						completion_done(&fake->ended)));
	return READ_ONCE(life->hca->pending) && is_established(life);
}

static void fail_over(struct life *life)
{
	struct kverbs_listener *listener = life->fake->listener;
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };

	listener->id->event_handler(listener->id, &event);
	flush_work(&listener->evict_work);
	note(life, life->fake->nr_removed);
}

static bool is_asked(struct life *life)
{
	struct fake_conn *fake = life->fake;
	struct kverbs_conn_attr attr = fake_conn_attr(fake);

	if (!note(life, fake_conn_try_listen(fake, htonl(FAKE_ADDRESS))) ||
	    !note(life, kverbs_listener_start(fake->listener)))
		return false;
	fail_over(life);
	if (!life->hca->listening)
		return false;
	fake_iw_request(life->hca, "hello", 5);
	KUNIT_EXPECT_TRUE(life->test, fake_await(&fake->requested));
	return note(life, kverbs_conn_accept(fake->conn, &attr)) && is_established(life);
}

/* ---- what is done -------------------------------------------------------- */

static struct fake_work *begin(struct life *life, u8 opcode, u64 offset)
{
	struct fake_work *work = fake_conn_work(life->fake, opcode, offset, 100);

	work->req.rkey = life->seg.rkey;
	work->req.remote_addr = life->seg.addr;
	return note(life, fake_conn_try_post(life->fake, work)) ? work : NULL;
}

static void finish(struct life *life, struct fake_work *work)
{
	KUNIT_EXPECT_TRUE(life->test, fake_await(&work->done));
	note(life, work->req.result);
}

static void do_rdma(struct life *life, u8 opcode, u64 offset)
{
	struct fake_work *work = life->export ? begin(life, opcode, offset) : NULL;

	if (work)
		finish(life, work);
}

/* Posts a receive unless one is left, which the next message would consume instead. */
static bool is_ready(struct life *life, u64 offset)
{
	if (!life->recv)
		life->recv = begin(life, KVERBS_OP_RECV, FAR + offset);
	/* A receive that has failed by now was never posted; nothing may be sent to it. */
	if (life->recv && completion_done(&life->recv->done)) {
		note(life, life->recv->req.result);
		life->recv = NULL;
	}
	return life->recv;
}

static void do_message(struct life *life, u64 offset)
{
	struct fake_work *send = is_ready(life, offset) ? begin(life, KVERBS_OP_SEND, offset) :
							  NULL;

	if (!send)
		return;
	finish(life, send);
	if (send->req.result)
		return;
	finish(life, life->recv);
	life->recv = NULL;
}

static void export(struct life *life)
{
	struct kverbs_export *export;

	export = kverbs_export_create(life->fake->conn, life->fake->region, FAR, FAKE_MEM - FAR,
				      KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &life->seg);
	if (note(life, PTR_ERR_OR_ZERO(export)))
		life->export = export;
}

static void revoke(struct life *life)
{
	if (life->export)
		note(life, kverbs_export_destroy(life->export));
	life->export = NULL;
}

/* Whatever has failed, the rest is tried. */
static void be_busy(struct life *life)
{
	do_message(life, 0);
	fake_conn_scatter(life->fake);
	export(life);
	do_rdma(life, KVERBS_OP_WRITE, EDGE);
	do_rdma(life, KVERBS_OP_READ, EDGE);
	kverbs_conn_forget(life->fake->conn, life->fake->region);
	do_message(life, EDGE);
	revoke(life);
}

/* ---- how it ends --------------------------------------------------------- */

static void expect_nothing_left(struct life *life)
{
	struct kverbs_region *region = life->fake->region;
	struct kunit *test = life->test;

	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->uses));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&region->cached));
	if (life->fake->listener)
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&life->fake->listener->backlog->waiting));
	flush_work(&life->hca->work);
	fake_conn_destroy(life->fake);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(life->hca));
	KUNIT_EXPECT_STREQ(test, "", life->hca->misread ?: "");
}

/* From here on no call reports a failure. */
static void end(struct life *life)
{
	struct fake_conn *fake = life->fake;
	bool must_report = has_failed(life);

	if (fake->conn) {
		note(life, !kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0));
		KUNIT_EXPECT_TRUE(life->test, fake_await(&fake->ended));
		flush_work(&fake->conn->close_work);
		KUNIT_EXPECT_EQ(life->test, 1, fake->nr_ended);
		KUNIT_EXPECT_EQ(life->test, KVERBS_CONN_DEAD, fake->conn->state);
	}
	revoke(life);
	if (must_report)
		KUNIT_EXPECT_GT(life->test, life->errors, 0);
	else
		KUNIT_EXPECT_EQ(life->test, 0, life->errors);
	expect_nothing_left(life);
}

/* Returns true if there was a call to fail. */
static bool live(struct kunit *test, struct fake_hca *hca, const struct point *point,
		 unsigned int nth, bool (*is_up)(struct life *life))
{
	struct life life = {
		.test = test,
		.hca = hca,
		.fake = fake_conn_create(test, hca),
	};

	arm(&life, point, nth);
	if (is_up(&life) && is_up == asks)
		be_busy(&life);
	end(&life);
	hca->fail_at = 0;
	sabotage.fail_at = 0;
	return has_failed(&life);
}

/* Returns how many calls have failed, each in a life of its own. */
static unsigned int sweep(struct kunit *test, struct fake_hca *hca, const struct point *point)
{
	bool (*const beginnings[])(struct life *life) = { asks, is_asked };
	unsigned int i, nth, failures = 0;

	for (i = 0; i < ARRAY_SIZE(beginnings); i++) {
		for (nth = 1; nth < CALLS_MAX; nth++) {
			if (!live(test, hca, point, nth, beginnings[i]))
				break;
			failures++;
		}
		KUNIT_EXPECT_LT(test, nth, CALLS_MAX);
	}
	return failures;
}

/* One device for all: to register one takes longer than many lives. */
static void profile_survives_each_failure(struct kunit *test)
{
	const struct fake_profile *profile = test->param_value;
	struct fake_hca *hca = fake_profile_device(test, profile);
	unsigned int i, failures;

	kverbs_fault_test = fail_at;
	static_branch_enable(&kverbs_fault_tested);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_sabotage, NULL));
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		if (!can_fail(profile, &points[i]))
			continue;
		failures = sweep(test, hca, &points[i]);
		KUNIT_EXPECT_GT_MSG(test, failures, 0, "%s", points[i].what);
		kunit_info(test, "%s: %u failures\n", points[i].what, failures);
	}
}

static struct kunit_case profile_fault_cases[] = {
	KUNIT_CASE_PARAM(profile_survives_each_failure, fake_usable_profile_gen_params),
	{}
};

static struct kunit_suite profile_fault_suite = {
	.name = "kverbs_profile_fault",
	.test_cases = profile_fault_cases,
};

kunit_test_suite(profile_fault_suite);
