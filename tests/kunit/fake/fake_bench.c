// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_bench.h"
#include "k_conn.h"

static void plan_it(struct measured *m)
{
	m->part[0] = (struct kverbs_bench_part) { .addr = ADDR, .length = LENGTH, .rkey = RKEY };
	m->plan = (struct kverbs_bench_plan) {
		.opcode = KVERBS_OP_WRITE,
		.local = { .region = m->fake->region, .length = LENGTH },
		.parts = m->part,
		.nr_parts = 1,
		.depth = 4,
		.post_list = 1,
		.count = 10,
		.timeout_ns = FAKE_PATIENCE_NS,
		.buckets = m->buckets,
	};
}

/**
 * measured_at() - create a connection to measure on
 * @test: the test
 * @context: where completions are polled
 *
 * Return: the measurement, with a plan of WRITEs.
 */
struct measured *measured_at(struct kunit *test, enum ib_poll_context context)
{
	struct measured *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->buckets = kunit_kcalloc(test, KVERBS_BENCH_BUCKETS, sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->buckets);
	m->hca = fake_device_create(test);
	m->fake = fake_conn_create(test, m->hca);
	m->fake->cqs.context = context;
	m->fake->cqs.direct = context == IB_POLL_DIRECT;
	fake_conn_go(m->fake, FAKE_UP);
	m->hca->work_queued = true;
	plan_it(m);
	return m;
}

/**
 * measured_create() - create a connection whose completions a workqueue polls
 * @test: the test
 *
 * Return: the measurement.
 */
struct measured *measured_create(struct kunit *test)
{
	return measured_at(test, IB_POLL_WORKQUEUE);
}

/**
 * measured_run() - run the plan of a measurement
 * @m: the measurement
 *
 * Return: as kverbs_bench_run().
 */
int measured_run(struct measured *m)
{
	struct kverbs_k_conn lent;

	kverbs_k_conn_lend(&lent, m->fake->conn);
	return kverbs_bench_run(&lent, &m->plan, &m->result);
}

/**
 * measured_is_over() - check whether the connection has ended
 * @m: the measurement
 *
 * Return: true if so.
 */
bool measured_is_over(const struct measured *m)
{
	return m->fake->conn->state == KVERBS_CONN_DEAD;
}

/* ---- a peer -------------------------------------------------------------------- */

static void peer_work(struct work_struct *work)
{
	struct peer *peer = container_of(work, struct peer, work);
	unsigned int i;

	for (i = 0; i < peer->nr; i++) {
		if (!FAKE_SOON(READ_ONCE(peer->fake->hca->nr_sends) > i))
			return;
		peer->act(peer, i);
	}
}

static void stop_peer(void *work)
{
	cancel_work_sync(work);
}

/**
 * measured_start_peer() - let the peer react to requests
 * @test: the test, at whose end the peer stops
 * @m: the measurement
 * @nr: number of requests to react to
 * @act: called when a request was posted
 */
void measured_start_peer(struct kunit *test, struct measured *m, unsigned int nr,
			 void (*act)(struct peer *peer, unsigned int i))
{
	m->peer.fake = m->fake;
	m->peer.act = act;
	m->peer.nr = nr;
	INIT_WORK(&m->peer.work, peer_work);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_peer, &m->peer.work));
	schedule_work(&m->peer.work);
}

/**
 * measured_disconnect() - act as a peer that disconnects
 * @peer: the peer
 * @i: ignored
 */
void measured_disconnect(struct peer *peer, unsigned int i)
{
	kverbs_conn_end(peer->fake->conn, KVERBS_CQE_DISCONNECTED, -ECONNRESET, 0);
}

static const enum ib_poll_context contexts[] = {
	IB_POLL_WORKQUEUE, IB_POLL_SOFTIRQ, IB_POLL_DIRECT,
};

static void describe_context(const enum ib_poll_context *context, char *desc)
{
	strscpy(desc, *context == IB_POLL_WORKQUEUE ? "workqueue" :
		*context == IB_POLL_SOFTIRQ ? "softirq" : "direct", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(contexts, contexts, describe_context);

/**
 * measured_contexts() - iterate over the contexts in which completions can be polled
 * @previous: the last one, or NULL
 * @desc: filled in with its name
 *
 * Return: the next one, an enum ib_poll_context, or NULL.
 */
const void *measured_contexts(GENERATOR_TEST const void *previous, char *desc)
{
	return contexts_gen_params(GENERATOR_PASS previous, desc);
}
