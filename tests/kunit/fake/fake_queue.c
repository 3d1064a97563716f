// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_queue.h"

static struct fake_queue *to_fake(struct kverbs_queue *queue)
{
	return container_of(queue, struct fake_queue, queue);
}

static void broken(struct kverbs_queue *queue, enum ib_wc_status status)
{
	to_fake(queue)->broken++;
	to_fake(queue)->status = status;
}

static void kick(struct kverbs_queue *queue)
{
	to_fake(queue)->kicks++;
}

static void revoked(struct kverbs_queue *queue, u32 rkey)
{
	to_fake(queue)->revoked = rkey;
}

static void free_chain(void *chain)
{
	kverbs_chain_free(chain);
}

static const struct kverbs_queue_ops queue_ops = {
	.broken	= broken,
	.revoked = revoked,
	.kick	= kick,
};

/**
 * fake_queue_create() - create a queue without a queue pair
 * @test: the test, at whose end it is freed
 * @sq_depth: send slots
 * @rq_depth: receive slots
 *
 * Return: the queue.
 */
struct fake_queue *fake_queue_create(struct kunit *test, unsigned int sq_depth,
				     unsigned int rq_depth)
{
	struct fake_queue *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->hca = fake_hca_create(test);
	fake->chain = kverbs_chain_alloc(KVERBS_OP_WRS, KVERBS_OP_SGES, GFP_KERNEL | __GFP_ZERO,
					 NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, fake->chain);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_chain, fake->chain));
	kverbs_queue_init(&fake->queue, &queue_ops, sq_depth, rq_depth);
	fake->queue.max_sge = 4;
	fake->queue.max_recv_sge = 4;
	fake->queue.max_read_sge = 2;
	fake->queue.max_local = 4;
	fake->queue.max_msg = SZ_1G;
	fake->queue.max_recv = SZ_1G;
	return fake;
}

/**
 * fake_queue_up() - create a queue that accepts all operations
 * @test: the test, at whose end it is freed
 * @sq_depth: send slots
 * @rq_depth: receive slots
 *
 * Return: the queue.
 */
struct fake_queue *fake_queue_up(struct kunit *test, unsigned int sq_depth,
				 unsigned int rq_depth)
{
	struct fake_queue *fake = fake_queue_create(test, sq_depth, rq_depth);

	kverbs_queue_open(&fake->queue, &fake->hca->qp);
	KUNIT_ASSERT_EQ(test, 0, kverbs_queue_up(&fake->queue));
	return fake;
}

static void nobody_told(struct kverbs_queue *queue, enum ib_wc_status status)
{
}

static void nobody_kicked(struct kverbs_queue *queue)
{
}

static const struct kverbs_queue_ops conn_queue_ops = {
	.broken	= nobody_told,
	.kick	= nobody_kicked,
};

/**
 * fake_queue_conn() - set up the part of a connection that SUBMIT needs, established
 * @conn: the connection, zeroed
 * @hca: its device
 * @depth: slots of either queue
 */
void fake_queue_conn(struct kverbs_conn *conn, struct fake_hca *hca, unsigned int depth)
{
	init_rwsem(&conn->use);
	mutex_init(&conn->recv_lock);
	mutex_init(&conn->held_lock);
	kverbs_conn_init_waiters(conn);
	kverbs_mr_pool_init(&conn->pool);
	conn->pool.pd = &hca->pd;
	kverbs_lkey_cache_init(&conn->lkeys, &conn->pool);
	kverbs_queue_init(&conn->queue, &conn_queue_ops, depth, depth);
	conn->queue.max_sge = 4;
	conn->queue.max_recv_sge = 4;
	conn->queue.max_read_sge = 4;
	conn->queue.max_msg = SZ_1G;
	conn->queue.max_recv = SZ_1G;
	conn->initiator_depth = 16;
	kverbs_queue_open(&conn->queue, &hca->qp);
	kverbs_queue_up(&conn->queue);
}

static void op_done(struct list_head *over)
{
	struct kverbs_req *req;

	while ((req = kverbs_req_pop(over, op_done)))
		container_of(req, struct fake_op, req)->done++;
}

/**
 * fake_op_create() - create an operation without a buffer
 * @test: the test, at whose end it is freed
 * @opcode: KVERBS_OP_*
 * @length: bytes that it would move
 *
 * Return: the operation.
 */
struct fake_op *fake_op_create(struct kunit *test, u8 opcode, u64 length)
{
	struct fake_op *op = kunit_kzalloc(test, sizeof(*op), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, op);
	op->req.opcode = opcode;
	op->req.length = length;
	op->req.done = op_done;
	return op;
}

/**
 * fake_queue_post() - post an operation of plain work requests
 * @fake: the queue
 * @op: the operation
 * @nr_wrs: number of work requests
 *
 * Return: as kverbs_queue_post().
 */
int fake_queue_post(struct fake_queue *fake, struct fake_op *op, unsigned int nr_wrs)
{
	struct kverbs_chain *chain = fake->chain;
	unsigned int i;

	memset(chain->wrs, 0, chain->max_wrs * sizeof(*chain->wrs));
	for (i = 0; i < nr_wrs && i < KVERBS_OP_WRS; i++)
		chain->wrs[i].wr.opcode = IB_WR_SEND;
	chain->nr_wrs = nr_wrs;
	return kverbs_queue_post(&fake->queue, &op->req, chain);
}

/**
 * fake_queue_send() - post a SEND that must be accepted
 * @test: the test
 * @fake: the queue
 * @nr_wrs: number of work requests
 *
 * Return: the operation.
 */
struct fake_op *fake_queue_send(struct kunit *test, struct fake_queue *fake,
				unsigned int nr_wrs)
{
	struct fake_op *op = fake_op_create(test, KVERBS_OP_SEND, 0);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_post(fake, op, nr_wrs));
	return op;
}

/**
 * fake_queue_try_park() - defer a receive
 * @fake: the queue
 * @op: the receive
 *
 * Return: 0 or -errno.
 */
int fake_queue_try_park(struct fake_queue *fake, struct fake_op *op)
{
	struct kverbs_req *req = &op->req;
	u32 ticket;
	int error;

	kverbs_queue_defer(&fake->queue, &req, 1, &ticket, &error);
	return error;
}

/**
 * fake_queue_park() - defer a receive, which must be accepted
 * @test: the test
 * @fake: the queue
 *
 * Return: the receive.
 */
struct fake_op *fake_queue_park(struct kunit *test, struct fake_queue *fake)
{
	struct fake_op *op = fake_op_create(test, KVERBS_OP_RECV, 0);

	KUNIT_ASSERT_EQ(test, 0, fake_queue_try_park(fake, op));
	return op;
}

/**
 * fake_queue_first_deferred() - the receive that must be posted next
 * @queue: the queue
 *
 * Return: the receive, or NULL if there is none or it cannot be posted yet.
 */
struct kverbs_req *fake_queue_first_deferred(struct kverbs_queue *queue)
{
	struct kverbs_req *req;

	return kverbs_queue_peek_deferred(queue, &req, 1) ? req : NULL;
}

/**
 * fake_queue_post_parked() - post deferred receives until one is refused
 * @fake: the queue
 *
 * Return: 0, or the errno of the first receive that was refused.
 */
int fake_queue_post_parked(struct fake_queue *fake)
{
	struct kverbs_req *req;
	int ret = 0;

	while (!ret) {
		req = fake_queue_first_deferred(&fake->queue);
		if (!req)
			break;
		ret = kverbs_queue_post_recv(&fake->queue, req, NULL, 0);
	}
	return ret;
}
