// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The traffic that the kernel makes: how much of it, and how it ends. */
#include <linux/sched/signal.h>

#include "fake_bench.h"

/* ---- a peer -------------------------------------------------------------------- */

static void tell(struct peer *peer, unsigned int i, u64 number, u32 length)
{
	__be64 note = cpu_to_be64(number);
	unsigned int k;

	for (k = 0; k < sizeof(note); k++)
		*kverbs_region_byte(peer->fake->region, INBOX + k) = ((u8 *)&note)[k];
	fake_wr_end(&peer->fake->hca->recvs[i], (struct ib_wc) { .byte_len = length });
}

/* Four at a time. */
static void give_credit(struct peer *peer, unsigned int i)
{
	if (i % 4 == 3)
		tell(peer, i / 4, i + 1, sizeof(__be64));
}

static void tell_number(struct peer *peer, unsigned int i)
{
	if (i == 3)
		tell(peer, 0, peer->number, sizeof(__be64));
}

static void tell_too_little(struct peer *peer, unsigned int i)
{
	tell(peer, i, 1, sizeof(__be64) - 1);
}

static void take_back(struct peer *peer, unsigned int i)
{
	if (i == 3)
		tell(peer, 0, 4, sizeof(__be64));
	if (i == 7)
		tell(peer, 1, 3, sizeof(__be64));
}

/* ---- bandwidth ------------------------------------------------------------------ */

static void bench_counts_what_follows_the_warm_up(struct kunit *test)
{
	const enum ib_poll_context *context = test->param_value;
	struct measured *m = measured_at(test, *context);

	m->plan.warm_up = 3;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_EQ(test, 10, m->result.ops);
	KUNIT_EXPECT_EQ(test, 13, m->result.sent);
	KUNIT_EXPECT_EQ(test, 0, m->result.received);
	KUNIT_EXPECT_EQ(test, 13, m->hca->nr_sends);
	KUNIT_EXPECT_GT(test, m->result.elapsed_ns, 0);
	/* User-mode Linux counts a CPU's time in ticks, and this takes less than one. */
	if (!IS_ENABLED(CONFIG_UML))
		KUNIT_EXPECT_GT(test, m->result.cpu_ns, 0);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, m->hca->sends[12].opcode);
	KUNIT_EXPECT_EQ(test, ADDR, m->hca->sends[12].remote_addr);
	KUNIT_EXPECT_EQ(test, RKEY, m->hca->sends[12].rkey);
	KUNIT_EXPECT_EQ(test, LENGTH, m->hca->sends[12].sges[0].length);
}

/* And what measured it can be measured again. */
static void bench_leaves_nothing_in_flight(struct kunit *test)
{
	struct measured *m = measured_create(test);

	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_FALSE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, m->fake->conn->queue.sq_depth, m->fake->conn->queue.sq_free);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 20, m->hca->nr_sends);
}

static void bench_writes_to_one_part_after_another(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->part[1] = (struct kverbs_bench_part) { .addr = 64, .length = 16, .rkey = 8 };
	m->plan.nr_parts = 2;
	m->plan.local.length = LENGTH + 16;
	m->plan.post_list = 3;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 10, m->result.ops);
	KUNIT_EXPECT_EQ(test, 20, m->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, LENGTH, m->hca->sends[2].sges[0].length);
	KUNIT_EXPECT_EQ(test, 16, m->hca->sends[3].sges[0].length);
	KUNIT_EXPECT_EQ(test, 8, m->hca->sends[3].rkey);
	KUNIT_EXPECT_EQ(test, m->hca->sends[2].sges[0].addr + LENGTH,
			m->hca->sends[3].sges[0].addr);
}

/* Small ones before it in the list are told of together with it. */
static void bench_lets_the_last_of_a_list_tell(struct kunit *test)
{
	struct measured *m = measured_create(test);
	unsigned int i;

	m->plan.depth = 8;
	m->plan.post_list = 8;
	/* On iWARP all are told of. */
	m->fake->conn->queue.quirks = 0;
	m->plan.cq_mod = 4;
	m->plan.count = 18;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_EQ(test, 18, m->result.ops);
	for (i = 0; i < 18; i++)
		KUNIT_EXPECT_EQ(test, i == 7 || i == 15 || i == 17,
				!!(m->hca->sends[i].send_flags & IB_SEND_SIGNALED));
	KUNIT_EXPECT_EQ(test, m->fake->conn->queue.sq_depth, m->fake->conn->queue.sq_free);
}

static void bench_waits_when_the_queue_is_full(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->plan.depth = 2 * FAKE_DEPTH;
	m->plan.post_list = 2 * FAKE_DEPTH;
	m->plan.count = 4 * FAKE_DEPTH;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_EQ(test, 4 * FAKE_DEPTH, m->result.ops);
}

/* The fake device takes 160; each of them it completes some time later. */
static void bench_ends_when_the_time_is_over(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->plan.count = 0;
	m->plan.duration_ns = 1;
	m->plan.warm_up = 5;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_EQ(test, m->result.sent, m->result.ops + 5);
	KUNIT_EXPECT_LT(test, m->result.sent, FAKE_WRS);
}

/* Some devices work in whoever posts, and are done before he has posted more. */
static void bench_that_always_has_room_looks_at_the_time(struct kunit *test)
{
	struct measured *m = measured_at(test, IB_POLL_SOFTIRQ);

	m->hca->tasklet_scheduled = true;
	fake_hca_refuse(m->hca, 100000, -ENOMEM);
	m->plan.count = 0;
	m->plan.duration_ns = NSEC_PER_MSEC;
	KUNIT_ASSERT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_GE(test, m->result.elapsed_ns, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, m->result.sent, m->result.ops);
}

static void bench_refused_at_once_has_not_begun(struct kunit *test)
{
	struct measured *m = measured_create(test);

	fake_hca_refuse(m->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, measured_run(m));
	KUNIT_EXPECT_FALSE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
}

static void bench_refused_later_tells_how_far_it_came(struct kunit *test)
{
	struct measured *m = measured_create(test);

	fake_hca_refuse(m->hca, 6, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -ENOMEM, m->result.error);
	KUNIT_EXPECT_EQ(test, 6, m->result.sent);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
}

static void bench_of_what_the_transport_cannot_is_refused(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->plan.opcode = KVERBS_OP_WRITE_IMM;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, measured_run(m));
	m->plan.opcode = KVERBS_OP_FETCH_ADD;
	m->plan.local.length = 8;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, measured_run(m));
}

static void bench_tells_what_failed(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->hca->work_bad_nr = 5;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EIO, m->result.error);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, m->result.wc_status);
	KUNIT_EXPECT_GE(test, m->result.sent, 5);
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
}

static void bench_without_a_completion_gives_up(struct kunit *test)
{
	const enum ib_poll_context *context = test->param_value;
	struct measured *m = measured_at(test, *context);

	fake_hca_stop_work(m->hca);
	m->plan.timeout_ns = 20 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, m->result.error);
	KUNIT_EXPECT_EQ(test, 4, m->result.sent);
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
}

static void bench_is_ended_by_a_signal(struct kunit *test)
{
	const enum ib_poll_context *context = test->param_value;
	struct measured *m = measured_at(test, *context);

	fake_hca_stop_work(m->hca);
	allow_signal(SIGINT);
	send_sig(SIGINT, current, 0);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	flush_signals(current);
	disallow_signal(SIGINT);
	KUNIT_EXPECT_EQ(test, -EINTR, m->result.error);
	KUNIT_EXPECT_EQ(test, 4, m->result.sent);
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
}

static void bench_ends_with_its_connection(struct kunit *test)
{
	struct measured *m = measured_create(test);

	fake_hca_stop_work(m->hca);
	measured_start_peer(test, m, 1, measured_disconnect);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EIO, m->result.error);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, m->result.wc_status);
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, measured_run(m));
}

/* ---- credit ----------------------------------------------------------------------- */

static struct measured *with_credit(struct kunit *test)
{
	struct measured *m = measured_create(test);

	m->plan.opcode = KVERBS_OP_SEND;
	m->plan.parts = NULL;
	m->plan.credit = 4;
	m->plan.nr_recvs = 2;
	m->plan.answer = (struct kverbs_extent) {
		.region = m->fake->region, .offset = INBOX, .length = sizeof(__be64),
	};
	m->plan.depth = 8;
	return m;
}

static void bench_sends_as_much_as_it_has_credit_for(struct kunit *test)
{
	struct measured *m = with_credit(test);

	m->plan.timeout_ns = 20 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, m->result.error);
	KUNIT_EXPECT_EQ(test, 4, m->result.sent);
}

static void bench_goes_on_when_it_gets_credit(struct kunit *test)
{
	struct measured *m = with_credit(test);

	measured_start_peer(test, m, 8, give_credit);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, m->result.error);
	KUNIT_EXPECT_EQ(test, 10, m->result.ops);
	KUNIT_EXPECT_GE(test, m->result.received, 2);
	/* Its receives could not be taken back otherwise. */
	KUNIT_EXPECT_TRUE(test, measured_is_over(m));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, measured_run(m));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&m->fake->region->uses));
}

static void bench_takes_no_credit_for_what_was_not_sent(struct kunit *test)
{
	struct measured *m = with_credit(test);

	m->peer.number = 5;
	measured_start_peer(test, m, 4, tell_number);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EPROTO, m->result.error);
	KUNIT_EXPECT_EQ(test, 4, m->result.sent);
}

static void bench_keeps_the_credit_that_it_has(struct kunit *test)
{
	struct measured *m = with_credit(test);

	measured_start_peer(test, m, 8, take_back);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EPROTO, m->result.error);
	KUNIT_EXPECT_EQ(test, 8, m->result.sent);
}

static void bench_takes_a_short_message_for_no_credit(struct kunit *test)
{
	struct measured *m = with_credit(test);

	measured_start_peer(test, m, 1, tell_too_little);
	KUNIT_EXPECT_EQ(test, 0, measured_run(m));
	KUNIT_EXPECT_EQ(test, -EBADMSG, m->result.error);
}

static struct kunit_case bench_cases[] = {
	KUNIT_CASE_PARAM(bench_counts_what_follows_the_warm_up, measured_contexts),
	KUNIT_CASE(bench_leaves_nothing_in_flight),
	KUNIT_CASE(bench_writes_to_one_part_after_another),
	KUNIT_CASE(bench_lets_the_last_of_a_list_tell),
	KUNIT_CASE(bench_waits_when_the_queue_is_full),
	KUNIT_CASE(bench_ends_when_the_time_is_over),
	KUNIT_CASE(bench_that_always_has_room_looks_at_the_time),
	KUNIT_CASE(bench_refused_at_once_has_not_begun),
	KUNIT_CASE(bench_refused_later_tells_how_far_it_came),
	KUNIT_CASE(bench_of_what_the_transport_cannot_is_refused),
	KUNIT_CASE(bench_tells_what_failed),
	KUNIT_CASE_PARAM(bench_without_a_completion_gives_up, measured_contexts),
	KUNIT_CASE_PARAM(bench_is_ended_by_a_signal, measured_contexts),
	KUNIT_CASE(bench_ends_with_its_connection),
	KUNIT_CASE(bench_sends_as_much_as_it_has_credit_for),
	KUNIT_CASE(bench_goes_on_when_it_gets_credit),
	KUNIT_CASE(bench_takes_no_credit_for_what_was_not_sent),
	KUNIT_CASE(bench_keeps_the_credit_that_it_has),
	KUNIT_CASE(bench_takes_a_short_message_for_no_credit),
	{}
};

static struct kunit_suite bench_suite = {
	.name = "kverbs_bench",
	.test_cases = bench_cases,
};

kunit_test_suite(bench_suite);
