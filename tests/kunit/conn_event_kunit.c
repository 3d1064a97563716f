// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every CM event in every state of a connection. */
#include <linux/slab.h>

#include "fake_conn.h"
#include "fake_qp.h"
#include "workqueue.h"

/**
 * struct row - effect of an event
 * @what: the event and, if it matters, its status
 * @event: the event
 * @status: its status
 * @fates: a letter for each stage: '.' no effect, 'g' setup continues, 'u' it is
 *	established, 'x' it ends, 'l' it ends because the peer has left, 'i' it ends
 *	because the CM considers the event invalid
 * @type: type of the final event; 0 if it depends on the state
 * @error: error of the final event
 */
struct row {
	const char *what;
	enum rdma_cm_event_type event;
	int status;
	const char *fates;
	u8 type;
	int error;
};

#define EVENT(name)	RDMA_CM_EVENT_##name

static const struct row rows[] = {
	/*
	 *             not started
	 *             |address resolved
	 *             ||route resolved
	 *             |||asking
	 *             ||||requested
	 *             |||||accepting
	 *             ||||||established
	 *             |||||||established by the peer
	 *             ||||||||closing
	 *             |||||||||dead
	 */
	{ "address resolved", EVENT(ADDR_RESOLVED), 0,
	  ".g........" },
	{ "route resolved", EVENT(ROUTE_RESOLVED), 0,
	  "..g......." },
	{ "established", EVENT(ESTABLISHED), 0,
	  "...u.u...." },
	{ "address not resolved in time", EVENT(ADDR_ERROR), -ETIMEDOUT,
	  "gi........" },
	{ "address not resolved", EVENT(ADDR_ERROR), -ENETUNREACH,
	  "xxxxxxxx..", 0, -ENETUNREACH },
	{ "route not resolved", EVENT(ROUTE_ERROR), -EHOSTDOWN,
	  "xxxxxxxx..", 0, -EHOSTDOWN },
	{ "route not resolved by the fabric", EVENT(ROUTE_ERROR), 3,
	  "xxxxxxxx..", 0, -EHOSTUNREACH },
	{ "connect error", EVENT(CONNECT_ERROR), -EPROTO,
	  "xxxxxxxx..", 0, -EPROTO },
	{ "unreachable", EVENT(UNREACHABLE), -ETIMEDOUT,
	  "xxxxxxxx..", 0, -ETIMEDOUT },
	{ "unreachable without a reason", EVENT(UNREACHABLE), 0,
	  "xxxxxxxx..", 0, -EHOSTUNREACH },
	{ "rejected", EVENT(REJECTED), 28,
	  "xxxxxxll..", KVERBS_CQE_REJECTED, -ECONNREFUSED },
	{ "disconnected", EVENT(DISCONNECTED), 0,
	  "xxxxxxxx..", 0, -ECONNRESET },
	{ "address changed", EVENT(ADDR_CHANGE), 0,
	  "xxxxxxxx..", 0, -ECONNRESET },
	{ "device removal", EVENT(DEVICE_REMOVAL), 0,
	  "xxxxxxxx..", KVERBS_CQE_DEVICE_REMOVED, -ENODEV },
	{ "time wait over", EVENT(TIMEWAIT_EXIT), 0,
	  ".........." },
	{ "connect request", EVENT(CONNECT_REQUEST), 0,
	  ".........." },
	{ "connect response", EVENT(CONNECT_RESPONSE), 0,
	  ".........." },
	{ "multicast joined", EVENT(MULTICAST_JOIN), 0,
	  ".........." },
	{ "multicast error", EVENT(MULTICAST_ERROR), -EINVAL,
	  ".........." },
	{ "no event that there is", 99, 0,
	  ".........." },
};

/**
 * struct before - state before the event
 * @state: the connection's state
 * @nr_up: how often it was reported as established
 * @nr_ended: how often it was reported as ended
 * @nr_pds: number of protection domains
 * @nr_qps: number of queue pairs
 * @tenant: it was a tenant of the device
 */
struct before {
	enum kverbs_conn_state state;
	unsigned int nr_up;
	unsigned int nr_ended;
	int nr_pds;
	int nr_qps;
	bool tenant;
};

static struct before look(const struct fake_conn *fake)
{
	return (struct before) {
		.state = READ_ONCE(fake->conn->state),
		.nr_up = fake->nr_up,
		.nr_ended = fake->nr_ended,
		.nr_pds = atomic_read(&fake->hca->nr_pds),
		.nr_qps = atomic_read(&fake->hca->nr_qps),
		.tenant = fake->conn->tenant.dev,
	};
}

/* An event may still be delivered when its connection no longer has an id. */
static int handle(struct fake_conn *fake, struct rdma_cm_event *event)
{
	struct rdma_cm_id gone = { .context = fake->conn };
	struct rdma_cm_id *id = fake->conn->id;
	int ret;

	if (!id)
		return fake->handler(&gone, event);
	rdma_lock_handler(id);
	ret = fake->handler(id, event);
	rdma_unlock_handler(id);
	return ret;
}

static void expect_nothing(struct fake_conn *fake, const struct before *before)
{
	struct kunit *test = fake->test;
	struct before after;

	/* The teardown waits for the connection's work, the device waits for the teardown. */
	if (before->state != KVERBS_CONN_CLOSING)
		flush_work(&fake->conn->work);
	after = look(fake);
	KUNIT_EXPECT_EQ(test, before->state, after.state);
	KUNIT_EXPECT_EQ(test, before->nr_up, after.nr_up);
	KUNIT_EXPECT_EQ(test, before->nr_ended, after.nr_ended);
	KUNIT_EXPECT_EQ(test, before->nr_pds, after.nr_pds);
	KUNIT_EXPECT_EQ(test, before->nr_qps, after.nr_qps);
	KUNIT_EXPECT_EQ(test, before->tenant, after.tenant);
}

static void expect_progress(struct fake_conn *fake, enum fake_stage stage)
{
	struct kunit *test = fake->test;

	switch (stage) {
	case FAKE_MADE:
	case FAKE_ADDRESSED:
		KUNIT_EXPECT_TRUE(test, fake_await(&fake->held_back));
		break;
	default:
		KUNIT_EXPECT_TRUE(test, fake_await(&fake->hca->asked));
		break;
	}
	flush_work(&fake->conn->work);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_CONNECTING, fake->conn->state);
	KUNIT_EXPECT_EQ(test, stage >= FAKE_ADDRESSED, !!fake->conn->tenant.dev);
	KUNIT_EXPECT_EQ(test, stage >= FAKE_ROUTED, !!fake->conn->qp);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_up + fake->nr_ended);
}

static void expect_up(struct fake_conn *fake)
{
	struct kunit *test = fake->test;

	flush_work(&fake->conn->work);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_up);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	KUNIT_EXPECT_EQ(test, KVERBS_QUEUE_UP, fake->conn->queue.state);
}

static u8 end_type(const struct row *row, enum fake_stage stage)
{
	bool up = stage == FAKE_UP || stage == FAKE_UP_PASSIVE;

	if (row->type && row->fates[stage] != 'l')
		return row->type;
	return up ? KVERBS_CQE_DISCONNECTED : KVERBS_CQE_FAILED;
}

static int end_error(const struct row *row, enum fake_stage stage)
{
	switch (row->fates[stage]) {
	case 'i':
		return -EINVAL;
	case 'l':
		return -ECONNRESET;
	default:
		return row->error;
	}
}

static u32 end_reason(const struct row *row, enum fake_stage stage)
{
	return end_type(row, stage) == KVERBS_CQE_REJECTED ? row->status : 0;
}

static void expect_end(struct fake_conn *fake, const struct row *row,
		       enum fake_stage stage, const struct before *before)
{
	const struct kverbs_conn_end *end = &fake->conn->end;
	struct kunit *test = fake->test;

	fake_iw_give_up(fake->hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	flush_work(&fake->conn->close_work);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, fake->conn->state);
	KUNIT_EXPECT_EQ(test, end_type(row, stage), end->type);
	KUNIT_EXPECT_EQ(test, end_error(row, stage), end->error);
	KUNIT_EXPECT_EQ(test, end_reason(row, stage), end->reason);
	KUNIT_EXPECT_EQ(test, before->nr_up, fake->nr_up);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_ended);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake->hca->nr_qps));
}

/* Hold back the CM event that would follow without the test. */
static void hold_next(struct fake_conn *fake, enum fake_stage stage)
{
	if (stage == FAKE_MADE)
		fake->held = RDMA_CM_EVENT_ADDR_RESOLVED;
	if (stage == FAKE_ADDRESSED)
		fake->held = RDMA_CM_EVENT_ROUTE_RESOLVED;
	reinit_completion(&fake->held_back);
}

static void give(struct fake_conn *fake, const struct row *row, enum fake_stage stage)
{
	struct rdma_cm_event event = { .event = row->event, .status = row->status };
	const struct before before = look(fake);

	hold_next(fake, stage);
	/* A nonzero result would make the CM destroy an id that the connection owns. */
	KUNIT_EXPECT_EQ(fake->test, 0, handle(fake, &event));
	switch (row->fates[stage]) {
	case '.':
		expect_nothing(fake, &before);
		break;
	case 'g':
		expect_progress(fake, stage);
		break;
	case 'u':
		expect_up(fake);
		break;
	default:
		expect_end(fake, row, stage, &before);
		break;
	}
}

static const void *next_stage(GENERATOR_TEST const void *prev, char *desc)
{
	static enum fake_stage stage;

	stage = prev ? stage + 1 : 0;
	if (stage == FAKE_STAGES)
		return NULL;
	strscpy(desc, fake_stage_names[stage], KUNIT_PARAM_DESC_SIZE);
	return &stage;
}

/* All events share one device, since registering one takes longer than all of them. */
static void conn_handles_any_event_in_any_state(struct kunit *test)
{
	const enum fake_stage stage = *(const enum fake_stage *)test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fake = fake_conn_at(test, hca, stage);
		give(fake, &rows[i], stage);
		fake_conn_destroy(fake);
		KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
		if (test->status != KUNIT_SUCCESS) {
			kunit_err(test, "the event was: %s", rows[i].what);
			return;
		}
	}
}

/**
 * struct others - what is left to do for others
 * @work: waits for all that is to be done now
 * @done: it is
 */
struct others {
	struct work_struct work;
	struct completion done;
};

static void await_others(struct work_struct *work)
{
	struct others *others = container_of(work, struct others, work);

	flush_workqueue(kverbs_workqueue);
	complete(&others->done);
}

/* The peer does not answer, and the driver does not give up. */
static void conn_that_waits_for_its_peer_delays_no_other(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_ASKING);
	struct others others;

	init_completion(&others.done);
	INIT_WORK_ONSTACK(&others.work, await_others);
	kverbs_conn_end(fake->conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	queue_work(system_unbound_wq, &others.work);
	KUNIT_EXPECT_TRUE(test, fake_await(&others.done));
	KUNIT_EXPECT_EQ(test, 0, fake->nr_ended);
	fake_iw_give_up(fake->hca);
	flush_work(&others.work);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	destroy_work_on_stack(&others.work);
}

static struct kunit_case conn_event_cases[] = {
	KUNIT_CASE_PARAM(conn_handles_any_event_in_any_state, next_stage),
	KUNIT_CASE(conn_that_waits_for_its_peer_delays_no_other),
	{}
};

static struct kunit_suite conn_event_suite = {
	.name = "kverbs_conn_event",
	.test_cases = conn_event_cases,
};

kunit_test_suite(conn_event_suite);
