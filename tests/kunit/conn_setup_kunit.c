// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Resources that a connection needs, and the result if the device lacks them. */
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "conn_cmd.h"
#include "fake_conn.h"
#include "fake_file.h"
#include "fake_qp.h"
#include "fake_region.h"
#include "workqueue.h"

/* Work requests that a connection needs besides the user's slots */
#define OTHER_WRS	(KVERBS_SYNC_WRS + KVERBS_PROBE_WRS + 1)

/* ---- verbs that fail ---------------------------------------------------- */

/**
 * struct broken - a verb that fails during setup
 * @what: the verb, for the test's name
 * @verb: the verb
 * @error: its errno
 * @asked: on the active side; else on the passive side
 */
struct broken {
	const char *what;
	enum fake_verb verb;
	int error;
	bool asked;
};

static const struct broken broken[] = {
	{ "asking: the port cannot be queried", FAKE_QUERY_PORT, -EIO, true },
	{ "asking: no protection domain", FAKE_ALLOC_PD, -ENOSPC, true },
	{ "asking: no completion queue", FAKE_CREATE_CQ, -ENOSPC, true },
	{ "asking: no queue pair", FAKE_CREATE_QP, -EMFILE, true },
	{ "asking: a queue pair that stays in RESET", FAKE_MODIFY_QP, -EIO, true },
	{ "asking: the CM cannot connect", FAKE_CONNECT, -EADDRNOTAVAIL, true },
	{ "accepting: the port cannot be queried", FAKE_QUERY_PORT, -EIO, false },
	{ "accepting: no protection domain", FAKE_ALLOC_PD, -ENOSPC, false },
	{ "accepting: no completion queue", FAKE_CREATE_CQ, -ENOSPC, false },
	{ "accepting: no queue pair", FAKE_CREATE_QP, -EMFILE, false },
	{ "accepting: a queue pair that stays in RESET", FAKE_MODIFY_QP, -EIO, false },
	{ "accepting: the CM cannot accept", FAKE_ACCEPT, -ECONNABORTED, false },
};

KUNIT_ARRAY_PARAM_DESC(broken, broken, what);

static void begin(struct fake_conn *fake, const struct broken *broken)
{
	struct kverbs_conn_attr attr = fake_conn_attr(fake);

	if (!broken->asked) {
		fake_conn_go(fake, FAKE_REQUESTED);
		fake->hca->errors[broken->verb] = broken->error;
		KUNIT_EXPECT_EQ(fake->test, broken->error,
				kverbs_conn_accept(fake->conn, &attr));
		return;
	}
	fake->hca->errors[broken->verb] = broken->error;
	fake_conn_begin(fake);
	kverbs_conn_start(fake->conn);
}

static void conn_ends_with_the_error_of_a_verb(struct kunit *test)
{
	const struct broken *broken = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_create(test, hca);

	begin(fake, broken);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_FAILED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, broken->error, fake->conn->end.error);
	KUNIT_EXPECT_EQ(test, 0, fake->nr_up);
	fake_device_remove(hca);
	KUNIT_EXPECT_EQ(test, 1, fake->nr_ended);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

static void listener_returns_the_error_of_the_device(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(FAKE_ADDRESS),
	};
	const struct kverbs_listener_ops ops = {};
	struct kverbs_listener *listener;

	hca->errors[FAKE_LISTEN] = -ENOSPC;
	listener = kverbs_listener_create(&init_net, (struct sockaddr *)&addr, 4, &ops, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	KUNIT_EXPECT_EQ(test, -ENOSPC, kverbs_listener_start(listener));
	kverbs_listener_free(listener);
}

/* ---- a peer that refuses ------------------------------------------------ */

static void conn_refused_by_its_peer_has_the_private_data(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_ASKING);

	fake_iw_answer(hca, -ECONNREFUSED, "no room", 7);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_REJECTED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, fake->conn->end.error);
	KUNIT_EXPECT_EQ(test, 7, fake->conn->peer_priv_len);
	KUNIT_EXPECT_MEMEQ(test, "no room", fake->conn->peer_priv, 7);
}

static void conn_has_the_private_data_of_the_peer(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *asked = fake_conn_at(test, hca, FAKE_ASKING);
	struct fake_conn *fake;

	fake_iw_answer(hca, 0, "welcome", 7);
	KUNIT_ASSERT_TRUE(test, fake_await(&asked->up));
	KUNIT_EXPECT_EQ(test, 7, asked->conn->peer_priv_len);
	KUNIT_EXPECT_MEMEQ(test, "welcome", asked->conn->peer_priv, 7);
	fake = fake_conn_at(test, hca, FAKE_UP_PASSIVE);
	KUNIT_EXPECT_EQ(test, 5, fake->conn->peer_priv_len);
	KUNIT_EXPECT_MEMEQ(test, "hello", fake->conn->peer_priv, 5);
}

static void conn_closed_by_its_peer_ends(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);

	fake_iw_close(fake->conn->qp);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_DISCONNECTED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ECONNRESET, fake->conn->end.error);
	KUNIT_EXPECT_TRUE(test, completion_done(&recv->done));
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, recv->req.wc_status);
}

static void conn_ends_when_its_queue_pair_breaks(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	struct ib_qp *qp = fake->conn->qp;
	struct ib_event event = {
		.device = &hca->ib,
		.element.qp = qp,
		.event = IB_EVENT_QP_FATAL,
	};

	qp->event_handler(&event, qp->qp_context);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_DISCONNECTED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -EIO, fake->conn->end.error);
}

static const enum fake_stage almost_up[] = { FAKE_ASKING, FAKE_ACCEPTING };

static void stage_desc(const enum fake_stage *stage, char *desc)
{
	strscpy(desc, fake_stage_names[*stage], KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(almost_up, almost_up, stage_desc);

/* rxe does this if it has no memory for the change to RTR or RTS. */
static void conn_never_established_ends_without_a_flush(struct kunit *test)
{
	const enum fake_stage *stage = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, *stage);
	struct fake_work *recv = fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);

	hca->never_flushes = true;
	kverbs_conn_end(fake->conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	fake_iw_give_up(hca);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_TRUE(test, completion_done(&recv->done));
	KUNIT_EXPECT_TRUE(test, recv->req.result < 0);
	fake_device_remove(hca);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(hca));
}

/* The CM of InfiniBand moves the queue pair to ERR before it reports a rejection. */
static void conn_never_established_reports_the_cm_event(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_ASKING);

	fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	fake_wr_complete(&hca->recvs[0], IB_WC_WR_FLUSH_ERR);
	fake_cq_flush(fake->conn->cq->ib);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_CONNECTING, fake->conn->state);
	fake_iw_answer(hca, -ECONNREFUSED, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_REJECTED, fake->conn->end.type);
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, fake->conn->end.error);
}

/* ---- a peer that does not answer ------------------------------------------ */

/**
 * struct flusher - waits for a teardown
 * @work: runs it
 * @conn: the connection
 * @done: signalled when the work of the teardown has returned
 */
struct flusher {
	struct work_struct work;
	struct kverbs_conn *conn;
	struct completion done;
};

static void flush_teardown(struct work_struct *work)
{
	struct flusher *flusher = container_of(work, struct flusher, work);

	flush_work(&flusher->conn->close_work);
	complete_all(&flusher->done);
}

/* Neither a thread nor the mutex is taken while the iWARP CM waits for the peer. */
static void conn_awaits_the_answer_without_a_thread(struct kunit *test)
{
	const enum fake_stage *stage = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, *stage);
	struct flusher flusher = { .conn = fake->conn };
	bool free;

	init_completion(&flusher.done);
	INIT_WORK_ONSTACK(&flusher.work, flush_teardown);
	kverbs_conn_end(fake->conn, KVERBS_CQE_FAILED, -ETIMEDOUT, 0);
	queue_work(system_unbound_wq, &flusher.work);
	KUNIT_EXPECT_TRUE(test, fake_await(&flusher.done));
	free = mutex_trylock(&fake->conn->mutex);
	KUNIT_EXPECT_TRUE(test, free);
	if (free)
		mutex_unlock(&fake->conn->mutex);
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_CLOSING, fake->conn->state);
	KUNIT_EXPECT_FALSE(test, completion_done(&fake->ended));
	fake_iw_give_up(hca);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	flush_work(&flusher.work);
	destroy_work_on_stack(&flusher.work);
}

/**
 * struct victim - a thread that waits for a connection's mutex, and is killed
 * @conn: the connection
 * @call: takes the mutex
 * @file: file of @obj
 * @obj: the connection, as @file knows it
 * @ret: of @call
 * @begun: signalled when the thread can be killed
 * @done: signalled when it has returned
 */
struct victim {
	struct kverbs_conn *conn;
	int (*call)(struct victim *victim);
	struct kverbs_file *file;
	struct kverbs_conn_obj obj;
	int ret;
	struct completion begun;
	struct completion done;
};

static int be_killed(void *data)
{
	struct victim *victim = data;

	allow_signal(SIGKILL);
	complete(&victim->begun);
	victim->ret = victim->call(victim);
	complete_all(&victim->done);
	return 0;
}

static struct victim *victim_of(struct fake_conn *fake, int (*call)(struct victim *victim))
{
	struct victim *victim = kunit_kzalloc(fake->test, sizeof(*victim), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fake->test, victim);
	victim->conn = fake->conn;
	victim->call = call;
	init_completion(&victim->begun);
	init_completion(&victim->done);
	return victim;
}

static void kill_victim(struct kunit *test, struct victim *victim)
{
	struct task_struct *task = kthread_create(be_killed, victim, "victim");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	mutex_lock(&victim->conn->mutex);
	wake_up_process(task);
	wait_for_completion(&victim->begun);
	send_sig(SIGKILL, task, 1);
	KUNIT_EXPECT_TRUE(test, fake_await(&victim->done));
	mutex_unlock(&victim->conn->mutex);
	kthread_stop(task);
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, -EINTR, victim->ret);
}

static int reject(struct victim *victim)
{
	return kverbs_conn_reject(victim->conn, NULL, 0);
}

static int accept(struct victim *victim)
{
	struct kverbs_conn_attr attr = victim->conn->attr;

	return kverbs_conn_accept(victim->conn, &attr);
}

static void conn_reject_can_be_killed(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_REQUESTED);

	kill_victim(test, victim_of(fake, reject));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_REQUESTED, fake->conn->state);
}

static void conn_accept_can_be_killed(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_REQUESTED);

	kill_victim(test, victim_of(fake, accept));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_REQUESTED, fake->conn->state);
}

static int query(struct victim *victim)
{
	struct kverbs_cmd_conn_query cmd = {
		.size = sizeof(cmd),
		.conn_id = victim->obj.obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = victim->file, .cmd = &cmd };

	return kverbs_cmd_conn_query(&ucmd);
}

static int destroy_nothing(struct kverbs_object *obj)
{
	return 0;
}

static const struct kverbs_object_ops unowned = { .destroy = destroy_nothing };

/* A setup or a teardown may hold the mutex for as long as the device takes. */
static void conn_query_can_be_killed(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	struct victim *victim = victim_of(fake, query);

	victim->file = fake_file_create(test);
	victim->obj.conn = fake->conn;
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(victim->file, &victim->obj.obj,
						       KVERBS_OBJ_CONN, &unowned));
	kverbs_object_publish(&victim->obj.obj);
	KUNIT_EXPECT_EQ(test, 0, query(victim));
	kill_victim(test, victim);
	KUNIT_EXPECT_EQ(test, 0, query(victim));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, fake->conn->state);
}

static int killed_close(struct fake_conn *fake)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = kverbs_conn_close_killable(fake->conn, true);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

static void conn_closed_by_a_killed_task_ends_without_it(struct kunit *test)
{
	const enum fake_stage *stage = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, *stage);

	KUNIT_EXPECT_EQ(test, -EINTR, killed_close(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_CLOSING, fake->conn->state);
	fake_iw_give_up(hca);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, 0, killed_close(fake));
}

static void conn_closed_without_a_wait_ends_by_itself(struct kunit *test)
{
	const enum fake_stage *stage = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, *stage);

	KUNIT_EXPECT_EQ(test, -EINTR, kverbs_conn_close_killable(fake->conn, false));
	fake_iw_give_up(hca);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->ended));
	KUNIT_EXPECT_EQ(test, 0, kverbs_conn_close_killable(fake->conn, false));
}

static void conn_that_is_up_is_closed_even_by_a_killed_task(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);

	KUNIT_EXPECT_EQ(test, 0, killed_close(fake));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_DEAD, fake->conn->state);
}

/* ---- limits ------------------------------------------------------------- */

/**
 * struct limit - limits of a device, and whether FAKE_DEPTH slots and MAX_SGE fit
 * @what: description of the limits
 * @wrs: work requests of a queue pair
 * @sges: scatter/gather entries of a work request
 * @cqes: entries of a completion queue
 * @max_sge: scatter/gather entries that the user requests
 * @error: 0 if they fit
 */
struct limit {
	const char *what;
	int wrs;
	int sges;
	int cqes;
	u8 max_sge;
	int error;
};

static const struct limit limits[] = {
	{ "just enough", 2 * FAKE_DEPTH + OTHER_WRS, 1, 3 * FAKE_DEPTH + OTHER_WRS + 1, 1, 0 },
	{ "a slot too few", 2 * FAKE_DEPTH + OTHER_WRS - 1, 4, 4096, 0, -EINVAL },
	{ "an entry too few", 1024, 1, 4096, 2, -EINVAL },
	{ "a completion too few", 1024, 4, 3 * FAKE_DEPTH + OTHER_WRS, 0, -EINVAL },
	{ "fewer entries than usual", 1024, 1, 4096, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(limits, limits, what);

static void conn_keeps_to_the_limits_of_the_device(struct kunit *test)
{
	const struct limit *limit = test->param_value;
	struct fake_hca *hca = fake_device_new(test);
	struct kverbs_conn_attr attr;
	struct fake_conn *fake;

	hca->limits.max_qp_wr = limit->wrs;
	hca->limits.max_send_sge = limit->sges;
	hca->limits.max_recv_sge = limit->sges;
	hca->limits.max_cqe = limit->cqes;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	attr = fake_conn_attr(fake);
	attr.param.max_sge = limit->max_sge;
	KUNIT_EXPECT_EQ(test, limit->error, kverbs_conn_accept(fake->conn, &attr));
	if (limit->error)
		return;
	KUNIT_EXPECT_EQ(test, limit->sges, fake->conn->queue.max_sge);
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->up));
}

/* As erdma: a buffer of several pieces is sent as it is, whatever a receive can have. */
static void conn_may_have_more_send_than_receive_entries(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct kverbs_conn_attr attr;
	struct fake_conn *fake;

	hca->limits.max_send_sge = 6;
	hca->limits.max_recv_sge = 1;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	attr = fake_conn_attr(fake);
	attr.param.max_sge = 6;
	KUNIT_ASSERT_EQ(test, 0, kverbs_conn_accept(fake->conn, &attr));
	KUNIT_EXPECT_EQ(test, 6, fake->conn->queue.max_sge);
	KUNIT_EXPECT_EQ(test, 1, fake->conn->queue.max_recv_sge);
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->up));
}

/* One scatter/gather entry, four slots for the user, eight pages of an MR. */
static struct fake_conn *small(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct kverbs_conn_attr attr;
	struct fake_conn *fake;

	hca->limits.max_qp_wr = 2 * 4 + OTHER_WRS;
	hca->limits.max_send_sge = 1;
	hca->limits.max_recv_sge = 1;
	hca->limits.max_fast_reg_page_list_len = 8;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	attr = fake_conn_attr(fake);
	attr.param.sq_depth = 4;
	attr.param.rq_depth = 4;
	KUNIT_ASSERT_EQ(test, 0, kverbs_conn_accept(fake->conn, &attr));
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_await(&fake->up));
	return fake;
}

static void small_device_takes_as_much_as_it_has_slots(struct kunit *test)
{
	struct fake_conn *fake = small(test);
	struct fake_work *works[4], *more;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(works); i++)
		works[i] = fake_conn_post(fake, KVERBS_OP_SEND, 0, 1);
	more = fake_conn_work(fake, KVERBS_OP_SEND, 0, 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_conn_try_post(fake, more));
	KUNIT_EXPECT_EQ(test, 4, fake->hca->nr_sends);
	fake_wr_complete(&fake->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, fake_await(&works[0]->done));
	KUNIT_EXPECT_EQ(test, 0, fake_conn_try_post(fake, more));
	KUNIT_EXPECT_EQ(test, 5, fake->hca->nr_sends);
}

static void small_device_takes_as_many_receives(struct kunit *test)
{
	struct fake_conn *fake = small(test);
	struct fake_work *more;
	unsigned int i;

	for (i = 0; i < 4; i++)
		fake_conn_post(fake, KVERBS_OP_RECV, i, 1);
	more = fake_conn_work(fake, KVERBS_OP_RECV, 0, 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_conn_try_post(fake, more));
	KUNIT_EXPECT_EQ(test, 4, fake->hca->nr_recvs);
}

static void small_device_registers_buffers_of_many_pieces(struct kunit *test)
{
	struct fake_conn *fake = small(test);
	struct fake_wr *sends = fake->hca->sends;
	struct fake_work *work;

	fake_conn_scatter(fake);
	work = fake_conn_post(fake, KVERBS_OP_WRITE, 0, FAKE_MEM);
	KUNIT_ASSERT_EQ(test, 4, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[0].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, sends[1].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, sends[2].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, sends[3].opcode);
	KUNIT_EXPECT_EQ(test, 8, to_fake_mr(sends[0].mr)->nr_pages);
	KUNIT_EXPECT_EQ(test, 8, to_fake_mr(sends[1].mr)->nr_pages);
	KUNIT_EXPECT_EQ(test, 1, sends[2].num_sge);
	KUNIT_EXPECT_EQ(test, 1, sends[3].num_sge);
	fake->hca->work_queued = true;
	schedule_work(&fake->hca->work);
	KUNIT_ASSERT_TRUE(test, fake_await(&work->done));
	KUNIT_EXPECT_EQ(test, 0, work->req.result);
}

/* ---- operations that a device has not ----------------------------------- */

static void atomics_need_a_device_with_atomics(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	struct fake_work *add = fake_conn_work(fake, KVERBS_OP_FETCH_ADD, 0, 8);
	struct fake_work *swap = fake_conn_work(fake, KVERBS_OP_CMP_SWAP, 0, 8);

	/* As on RoCE, whose transport has atomics. */
	fake->conn->queue.quirks = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, fake_conn_try_post(fake, add));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, fake_conn_try_post(fake, swap));
	fake->hca->ib.attrs.atomic_cap = IB_ATOMIC_HCA;
	fake_conn_post(fake, KVERBS_OP_FETCH_ADD, 0, 8);
	KUNIT_EXPECT_EQ(test, IB_WR_ATOMIC_FETCH_AND_ADD, fake->hca->sends[0].opcode);
}

/* On some devices they would never complete. */
static void reads_need_a_peer_with_responder_resources(struct kunit *test)
{
	struct fake_conn *fake = fake_conn_at(test, fake_device_create(test), FAKE_UP);
	struct fake_work *add = fake_conn_work(fake, KVERBS_OP_FETCH_ADD, 0, 8);
	struct fake_work *read = fake_conn_work(fake, KVERBS_OP_READ, 0, 8);

	fake->conn->queue.quirks = 0;
	fake->hca->ib.attrs.atomic_cap = IB_ATOMIC_HCA;
	fake->conn->initiator_depth = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, fake_conn_try_post(fake, read));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, fake_conn_try_post(fake, add));
	fake->conn->initiator_depth = 1;
	fake_conn_post(fake, KVERBS_OP_READ, 0, 8);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ, fake->hca->sends[0].opcode);
}

static void post_and_start(struct fake_conn *fake)
{
	fake_conn_go(fake, FAKE_MADE);
	fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	kverbs_conn_start(fake->conn);
}

/* The work that makes the queue pair waits for the mutex until the receive is accepted. */
static void start_and_post(struct fake_conn *fake)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	struct kverbs_conn *conn;

	fake_conn_go(fake, FAKE_ROUTED);
	conn = fake->conn;
	mutex_lock(&conn->mutex);
	rdma_lock_handler(conn->id);
	KUNIT_EXPECT_EQ(fake->test, 0, fake->handler(conn->id, &event));
	rdma_unlock_handler(conn->id);
	fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	mutex_unlock(&conn->mutex);
}

static const struct starter {
	const char *what;
	void (*start)(struct fake_conn *fake);
} starters[] = {
	{ "for a receive from before the start", post_and_start },
	{ "for a receive from before the queue pair", start_and_post },
};

KUNIT_ARRAY_PARAM_DESC(starters, starters, what);

/* However long that takes, and however many connections wait for it */
static void connection_comes_up_while_a_region_is_mapped(struct kunit *test)
{
	const struct starter *starter = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *slow = fake_conn_create(test, hca), *fake;
	struct fake_mapper mapper;

	fake = fake_conn_create(test, hca);
	hca->work_queued = true;
	workqueue_set_max_active(kverbs_workqueue, 1);
	fake_mapper_begin(test, &mapper, slow->region);
	starter->start(slow);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(READ_ONCE(slow->conn->qp)));
	fake_conn_begin(fake);
	kverbs_conn_start(fake->conn);
	KUNIT_EXPECT_TRUE(test, fake_await(&hca->asked));
	fake_iw_answer(hca, 0, NULL, 0);
	KUNIT_EXPECT_TRUE(test, fake_await(&fake->up));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_CONNECTING, slow->conn->state);
	fake_mapper_end(&mapper);
	workqueue_set_max_active(kverbs_workqueue, WQ_DFL_ACTIVE);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(READ_ONCE(hca->pending)));
}

static struct kunit_case conn_setup_cases[] = {
	KUNIT_CASE_PARAM(conn_ends_with_the_error_of_a_verb, broken_gen_params),
	KUNIT_CASE(listener_returns_the_error_of_the_device),
	KUNIT_CASE(conn_refused_by_its_peer_has_the_private_data),
	KUNIT_CASE(conn_has_the_private_data_of_the_peer),
	KUNIT_CASE(conn_closed_by_its_peer_ends),
	KUNIT_CASE(conn_ends_when_its_queue_pair_breaks),
	KUNIT_CASE_PARAM(conn_never_established_ends_without_a_flush,
			 almost_up_gen_params),
	KUNIT_CASE(conn_never_established_reports_the_cm_event),
	KUNIT_CASE_PARAM(conn_awaits_the_answer_without_a_thread, almost_up_gen_params),
	KUNIT_CASE(conn_accept_can_be_killed),
	KUNIT_CASE(conn_reject_can_be_killed),
	KUNIT_CASE(conn_query_can_be_killed),
	KUNIT_CASE_PARAM(conn_closed_by_a_killed_task_ends_without_it, almost_up_gen_params),
	KUNIT_CASE_PARAM(conn_closed_without_a_wait_ends_by_itself, almost_up_gen_params),
	KUNIT_CASE(conn_that_is_up_is_closed_even_by_a_killed_task),
	KUNIT_CASE_PARAM(conn_keeps_to_the_limits_of_the_device, limits_gen_params),
	KUNIT_CASE(conn_may_have_more_send_than_receive_entries),
	KUNIT_CASE(small_device_takes_as_much_as_it_has_slots),
	KUNIT_CASE(small_device_takes_as_many_receives),
	KUNIT_CASE(small_device_registers_buffers_of_many_pieces),
	KUNIT_CASE(atomics_need_a_device_with_atomics),
	KUNIT_CASE(reads_need_a_peer_with_responder_resources),
	KUNIT_CASE_PARAM(connection_comes_up_while_a_region_is_mapped, starters_gen_params),
	{}
};

static struct kunit_suite conn_setup_suite = {
	.name = "kverbs_conn_setup",
	.test_cases = conn_setup_cases,
};

kunit_test_suite(conn_setup_suite);
