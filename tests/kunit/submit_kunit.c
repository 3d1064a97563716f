// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From submission entries to work on the device, and back to completions. */
#include <linux/mman.h>

#include "conn_cmd.h"
#include "conn_io.h"
#include "fake_file.h"
#include "fake_queue.h"
#include "fake_region.h"
#include "opcode.h"
#include "region.h"
#include "region_cmd.h"
#include "ring.h"
#include "slot.h"
#include "submit.h"

#define SQ_SLOTS	4
#define CQ_SLOTS	8
#define LENGTH		(2 * PAGE_SIZE)

/**
 * struct submitter - a file with a ring, a connection and two regions
 * @hca: the connection's device
 * @conn: the connection, established
 * @conn_obj: its object
 * @region: a region
 * @region_obj: its object
 * @file: the file
 * @ring: the connection's ring
 * @cmd: the next SUBMIT
 */
struct submitter {
	struct fake_hca *hca;
	struct kverbs_conn conn;
	struct kverbs_conn_obj conn_obj;
	struct fake_region *region;
	struct kverbs_region_obj region_obj;
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_cmd_submit cmd;
};

static int conn_destroy(struct kverbs_object *obj)
{
	struct submitter *s = container_of(obj, struct submitter, conn_obj.obj);

	kverbs_queue_close(&s->conn.queue);
	kverbs_queue_flush_remaining(&s->conn.queue);
	kverbs_chain_free(s->conn.held_chain);
	return 0;
}

static const struct kverbs_object_ops conn_ops = {
	.shutdown = kverbs_rings_forget,
	.destroy = conn_destroy,
};

static int region_destroy(struct kverbs_object *obj)
{
	return 0;
}

static bool region_busy(struct kverbs_object *obj)
{
	return kverbs_region_is_busy(kverbs_region_of_obj(obj));
}

static const struct kverbs_object_ops region_ops = {
	.settle = kverbs_rings_forget,
	.busy = region_busy,
	.shutdown = kverbs_rings_forget,
	.destroy = region_destroy,
};

static void publish(struct kunit *test, struct submitter *s)
{
	struct kverbs_object *conn = &s->conn_obj.obj;
	struct kverbs_object *region = &s->region_obj.obj;

	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(s->file, conn, KVERBS_OBJ_CONN,
						       &conn_ops));
	kverbs_object_publish(conn);
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(s->file, region, KVERBS_OBJ_REGION,
						       &region_ops));
	kverbs_object_publish(region);
}

/* The file is created last, so that it is closed first. */
static int submit_init(struct kunit *test)
{
	struct submitter *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->hca = fake_hca_create(test);
	s->region = fake_region_create(test, &s->hca->ib, 0, LENGTH);
	fake_region_add_span(test, s->region, 0x10000, LENGTH);
	fake_queue_conn(&s->conn, s->hca, 3);
	s->file = fake_file_create(test);
	s->ring = fake_ring_create(test, s->file, SQ_SLOTS, CQ_SLOTS);
	s->conn_obj.conn = &s->conn;
	s->conn_obj.ring = s->ring;
	s->region_obj.region = &s->region->region;
	publish(test, s);
	test->priv = s;
	return 0;
}

static void put(struct submitter *s, const struct kverbs_sqe *sqe)
{
	struct kverbs_ring_user *user = fake_ring_user(s->ring);
	struct kverbs_sqe *sqes = s->ring->sq.addr;

	sqes[user->sq_tail++ & (SQ_SLOTS - 1)] = *sqe;
}

static void put_some(struct submitter *s, const struct kverbs_sqe *sqe, int nr)
{
	while (nr--)
		put(s, sqe);
}

static int submit(struct submitter *s, u32 nr)
{
	struct kverbs_ucmd ucmd = { .file = s->file, .cmd = &s->cmd };

	s->cmd.ring_id = s->ring->obj.id;
	s->cmd.to_submit = nr;
	return kverbs_cmd_submit(&ucmd);
}

/* Uses of the region, including those that the ring has counted. */
static long region_uses(struct submitter *s)
{
	kverbs_rings_forget(&s->region_obj.obj);
	return atomic_long_read(&s->region->region.uses);
}

/* The last completion as user space reads it. */
static const struct kverbs_cqe *last_cqe(struct submitter *s)
{
	return fake_ring_cqe(s->ring, fake_ring_kernel(s->ring)->cq_tail - 1);
}

static int submit_one(struct submitter *s, const struct kverbs_sqe *sqe)
{
	u32 tail = fake_ring_kernel(s->ring)->cq_tail;
	int ret;

	put(s, sqe);
	ret = submit(s, 1);
	if (ret || fake_ring_kernel(s->ring)->cq_tail == tail)
		return ret;
	/* The entry was refused: its completion is there, and is read. */
	fake_ring_user(s->ring)->cq_head++;
	return last_cqe(s)->result;
}

static struct kverbs_sqe a_send(struct submitter *s, u64 user_data)
{
	return (struct kverbs_sqe) {
		.opcode = KVERBS_OP_SEND,
		.flags = KVERBS_SQE_SIGNAL,
		.conn_id = s->conn_obj.obj.id,
		.user_data = user_data,
	};
}

static struct kverbs_sqe a_recv(struct submitter *s, u64 user_data)
{
	return (struct kverbs_sqe) {
		.opcode = KVERBS_OP_RECV,
		.conn_id = s->conn_obj.obj.id,
		.user_data = user_data,
	};
}

/* The connection is looked up only for a well-formed entry. */
static const struct entry {
	const char *what;
	struct kverbs_sqe sqe;
	int expected;
} entries[] = {
	{ "SEND", { .opcode = KVERBS_OP_SEND }, -ENOENT },
	{ "RECV", { .opcode = KVERBS_OP_RECV }, -ENOENT },
	{ "WRITE", { .opcode = KVERBS_OP_WRITE, .remote_addr = 1, .rkey = 1 }, -ENOENT },
	{ "READ", { .opcode = KVERBS_OP_READ, .remote_addr = 1, .rkey = 1 }, -ENOENT },
	{ "WRITE_IMM", { .opcode = KVERBS_OP_WRITE_IMM, .rkey = 1, .imm = 1 }, -ENOENT },
	{ "SEND_IMM", { .opcode = KVERBS_OP_SEND_IMM, .imm = 1 }, -ENOENT },
	{ "SEND_INV", { .opcode = KVERBS_OP_SEND_INV, .rkey = 1 }, -ENOENT },
	{ "CMP_SWAP", { .opcode = KVERBS_OP_CMP_SWAP, .remote_addr = 8, .operand = 1,
			.swap = 2 }, -ENOENT },
	{ "FETCH_ADD", { .opcode = KVERBS_OP_FETCH_ADD, .remote_addr = 8, .operand = 1,
			 .length = 8 }, -ENOENT },
	{ "all flags", { .opcode = KVERBS_OP_SEND, .flags = 15, .length = 1 }, -ENOENT },
	{ "a RECV of a list", { .opcode = KVERBS_OP_RECV, .flags = KVERBS_SQE_LIST,
				.length = KVERBS_LIST_MAX }, -ENOENT },
	{ "opcode 0", { .opcode = 0 }, -EINVAL },
	{ "opcode 10", { .opcode = 10 }, -EINVAL },
	{ "opcode 255", { .opcode = 255 }, -EINVAL },
	{ "an unknown flag", { .opcode = KVERBS_OP_SEND, .flags = 16 }, -EINVAL },
	{ "RECV with a flag", { .opcode = KVERBS_OP_RECV, .flags = 1 }, -EINVAL },
	{ "a list of nothing", { .opcode = KVERBS_OP_SEND, .flags = KVERBS_SQE_LIST },
	  -EINVAL },
	{ "a list that is too long", { .opcode = KVERBS_OP_SEND, .flags = KVERBS_SQE_LIST,
				       .length = KVERBS_LIST_MAX + 1 }, -EINVAL },
	{ "a list with a region", { .opcode = KVERBS_OP_SEND, .flags = KVERBS_SQE_LIST,
				    .length = 1, .region_id = 1 }, -EINVAL },
	{ "an atomic with a list", { .opcode = KVERBS_OP_FETCH_ADD, .length = 8,
				     .flags = KVERBS_SQE_LIST }, -EINVAL },
	{ "an atomic that is not aligned", { .opcode = KVERBS_OP_CMP_SWAP,
					     .remote_addr = 4 }, -EINVAL },
	{ "FETCH_ADD of 4 bytes", { .opcode = KVERBS_OP_FETCH_ADD, .length = 4 }, -EINVAL },
	{ "SEND_INV with an address", { .opcode = KVERBS_OP_SEND_INV, .remote_addr = 8 },
	  -EINVAL },
	{ "SEND_INV with an immediate", { .opcode = KVERBS_OP_SEND_INV, .imm = 1 }, -EINVAL },
	{ "SEND with a key", { .opcode = KVERBS_OP_SEND, .rkey = 1 }, -EINVAL },
	{ "RECV with an address", { .opcode = KVERBS_OP_RECV, .remote_addr = 1 }, -EINVAL },
	{ "SEND with an immediate", { .opcode = KVERBS_OP_SEND, .imm = 1 }, -EINVAL },
	{ "WRITE with an immediate", { .opcode = KVERBS_OP_WRITE, .imm = 1 }, -EINVAL },
	{ "a region for nothing", { .opcode = KVERBS_OP_SEND, .region_id = 1 }, -EINVAL },
	{ "an offset for nothing", { .opcode = KVERBS_OP_SEND, .offset = 1 }, -EINVAL },
	{ "1st reserved", { .opcode = KVERBS_OP_SEND, .__reserved = 1 }, -EINVAL },
	{ "a stride of no list", { .opcode = KVERBS_OP_SEND, .piece_stride = 24 }, -EINVAL },
	{ "pieces that are too small", { .opcode = KVERBS_OP_SEND, .flags = KVERBS_SQE_LIST,
					  .length = 1, .piece_stride = 23 }, -EINVAL },
	{ "4 GiB", { .opcode = KVERBS_OP_SEND, .region_id = 1, .length = 1ULL << 32 },
	  -EMSGSIZE },
	{ "an operand of none", { .opcode = KVERBS_OP_READ, .operand = 1 }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(entries, entries, what);

static void submit_checks_every_field(struct kunit *test)
{
	const struct entry *entry = test->param_value;
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = entry->sqe;

	sqe.conn_id = 99;
	KUNIT_EXPECT_EQ(test, entry->expected, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_error);
	KUNIT_EXPECT_EQ(test, 1, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 1, fake_ring_kernel(s->ring)->sq_head);
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
}

static void submit_completes_with_the_result(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 77);

	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 1, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 1, fake_ring_kernel(s->ring)->sq_head);
	KUNIT_EXPECT_EQ(test, 1, s->ring->reserved);
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 1, kverbs_ring_unread(s->ring));
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 77, last_cqe(s)->user_data);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_WORK, last_cqe(s)->type);
	KUNIT_EXPECT_EQ(test, s->conn_obj.obj.id, last_cqe(s)->id);
	KUNIT_EXPECT_EQ(test, 0, last_cqe(s)->result);
}

static void submit_unsignalled_completes_only_if_it_fails(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 77);

	sqe.flags = 0;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(s->ring));
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	fake_wr_complete(&s->hca->sends[1], IB_WC_REM_OP_ERR);
	kverbs_queue_close(&s->conn.queue);
	kverbs_queue_flush_remaining(&s->conn.queue);
	KUNIT_ASSERT_EQ(test, 1, kverbs_ring_unread(s->ring));
	KUNIT_EXPECT_EQ(test, -EIO, last_cqe(s)->result);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_OP_ERR, last_cqe(s)->wc_status);
}

static void submit_of_a_receive_reports_the_message(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_recv(s, 5);

	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	fake_wr_end(&s->hca->recvs[0], (struct ib_wc) {
		.opcode = IB_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IB_WC_WITH_IMM,
		.ex.imm_data = (__force __be32)0xabcd,
		.byte_len = 9,
	});
	KUNIT_EXPECT_EQ(test, 5, last_cqe(s)->user_data);
	KUNIT_EXPECT_EQ(test, 9, last_cqe(s)->byte_len);
	KUNIT_EXPECT_EQ(test, 0xabcd, last_cqe(s)->imm);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE,
			last_cqe(s)->flags);
}

static void submit_cancels_what_follows_a_refusal(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);
	struct kverbs_sqe bad = a_send(s, 0);

	put(s, &sqe);
	put(s, &sqe);
	bad.rkey = 1;
	put(s, &bad);
	put(s, &sqe);
	KUNIT_EXPECT_EQ(test, 0, submit(s, 4));
	KUNIT_EXPECT_EQ(test, 4, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_error);
	KUNIT_EXPECT_EQ(test, 4, fake_ring_kernel(s->ring)->sq_head);
	KUNIT_EXPECT_EQ(test, 2, s->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_ring_cqe(s->ring, 0)->result);
	KUNIT_EXPECT_EQ(test, -ECANCELED, fake_ring_cqe(s->ring, 1)->result);
	KUNIT_EXPECT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 3, s->hca->nr_sends);
}

static void submit_takes_the_lesser_of_wanted_and_available(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	KUNIT_EXPECT_EQ(test, 0, submit(s, 1));
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_taken);
	put(s, &sqe);
	put(s, &sqe);
	KUNIT_EXPECT_EQ(test, 0, submit(s, 1));
	KUNIT_EXPECT_EQ(test, 1, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 0, submit(s, U32_MAX));
	KUNIT_EXPECT_EQ(test, 1, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_error);
}

static const u32 bad_tails[] = { SQ_SLOTS + 1, 1U << 31, U32_MAX };

static void describe_tail(const u32 *tail, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "tail %u", *tail);
}

KUNIT_ARRAY_PARAM(bad_tails, bad_tails, describe_tail);

static void submit_refuses_a_wrong_tail(struct kunit *test)
{
	const u32 *tail = test->param_value;
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	put(s, &sqe);
	fake_ring_user(s->ring)->sq_tail = *tail;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit(s, 1));
	KUNIT_EXPECT_EQ(test, 0, s->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 0, fake_ring_kernel(s->ring)->sq_head);
}

static void submit_numbers_wrap_at_2_to_the_32(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_recv(s, 0);
	u32 n;

	s->ring->sq_head = U32_MAX - 1;
	fake_ring_user(s->ring)->sq_tail = U32_MAX - 1;
	for (n = 0; n < 3; n++) {
		sqe.user_data = n;
		put(s, &sqe);
	}
	KUNIT_EXPECT_EQ(test, 0, submit(s, 3));
	KUNIT_EXPECT_EQ(test, 3, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 1, fake_ring_kernel(s->ring)->sq_head);
	for (n = 0; n < 3; n++) {
		fake_wr_complete(&s->hca->recvs[n], IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, n, last_cqe(s)->user_data);
	}
}

static void submit_needs_a_slot_for_the_completion(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(s->ring, CQ_SLOTS));
	KUNIT_EXPECT_EQ(test, -EAGAIN, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, s->hca->nr_sends);
	kverbs_ring_unreserve(s->ring, 1);
	KUNIT_EXPECT_EQ(test, 0, submit(s, 1));
	KUNIT_EXPECT_EQ(test, 1, s->hca->nr_sends);
	kverbs_ring_unreserve(s->ring, CQ_SLOTS - 1);
}

static void submit_refused_by_the_queue_keeps_no_slot(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	fake_hca_refuse(s->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(s->ring));
}

/* A BENCH has the queue to itself, also if it begins after the entry was looked at. */
static void submit_is_refused_while_the_queue_is_reserved(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe send = a_send(s, 1), recv = a_recv(s, 2);

	KUNIT_ASSERT_EQ(test, 0, kverbs_queue_reserve(&s->conn.queue));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_queue_reserve(&s->conn.queue));
	KUNIT_EXPECT_EQ(test, -EBUSY, submit_one(s, &send));
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 0, s->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, -EBUSY, submit_one(s, &recv));
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 0, s->hca->nr_recvs);
	kverbs_queue_unreserve(&s->conn.queue);
	KUNIT_EXPECT_EQ(test, 0, submit_one(s, &recv));
	KUNIT_EXPECT_EQ(test, 1, s->hca->nr_recvs);
}

static void queue_in_use_is_not_reserved(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe send = a_send(s, 1);

	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &send));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_queue_reserve(&s->conn.queue));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_reserve(&s->conn.queue));
	kverbs_queue_unreserve(&s->conn.queue);
	kverbs_queue_close(&s->conn.queue);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_reserve(&s->conn.queue));
}

/* A held receive has no slot: the connection's work posts it some time after one is free. */
static void queue_that_holds_a_receive_is_not_reserved(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_queue *queue = &s->conn.queue;
	struct kverbs_sqe recv = a_recv(s, 1);
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, &recv));
	KUNIT_ASSERT_EQ(test, 3, s->hca->nr_recvs);
	for (i = 0; i < 3; i++)
		fake_wr_complete(&s->hca->recvs[i], IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, queue->rq_depth, queue->rq_free);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_queue_reserve(queue));
	kverbs_conn_post_deferred(&s->conn, NULL);
	KUNIT_ASSERT_EQ(test, 4, s->hca->nr_recvs);
	fake_wr_complete(&s->hca->recvs[3], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, kverbs_queue_reserve(queue));
	kverbs_queue_unreserve(queue);
}

static void submit_needs_the_connections_own_ring(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	s->ring = fake_ring_create(test, s->file, SQ_SLOTS, CQ_SLOTS);
	KUNIT_EXPECT_EQ(test, -EINVAL, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, s->hca->nr_sends);
}

static void submit_uses_the_region_until_it_completes(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.offset = 10;
	sqe.length = LENGTH - 10;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 1, region_uses(s));
	KUNIT_EXPECT_EQ(test, 0x10000 + 10, s->hca->sends[0].sges[0].addr);
	KUNIT_EXPECT_EQ(test, LENGTH - 10, s->hca->sends[0].sges[0].length);
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, region_uses(s));
	KUNIT_EXPECT_EQ(test, LENGTH - 10, last_cqe(s)->byte_len);
}

static struct kverbs_sqe a_send_of_region(struct submitter *s)
{
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH;
	return sqe;
}

static void submit_touches_no_counter_of_the_region_that_it_keeps(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send_of_region(s);

	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&s->region->region.uses));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&s->region->region.uses));
	KUNIT_EXPECT_EQ(test, 1, s->ring->region_done);
}

static void submit_keeps_a_region_in_flight_from_being_destroyed(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send_of_region(s);

	put_some(s, &sqe, 2);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 2));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(s->file, sqe.region_id));
	fake_wr_complete(&s->hca->sends[1], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, sqe.region_id));
}

/* Entries of the first region complete while the ring counts another one, and itself again. */
static void submit_counts_uses_when_regions_alternate(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct fake_region *other = fake_region_create(test, &s->hca->ib, 0, LENGTH);
	struct kverbs_region_obj other_obj = { .region = &other->region };
	struct kverbs_sqe sqe = a_send_of_region(s);

	fake_region_add_span(test, other, 0x20000, LENGTH);
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(s->file, &other_obj.obj,
						       KVERBS_OBJ_REGION, &region_ops));
	kverbs_object_publish(&other_obj.obj);
	put(s, &sqe);
	sqe.region_id = other_obj.obj.id;
	put(s, &sqe);
	sqe.region_id = s->region_obj.obj.id;
	put(s, &sqe);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 3));
	KUNIT_ASSERT_EQ(test, 3, s->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&s->region->region.uses));
	KUNIT_EXPECT_EQ(test, 1, atomic_long_read(&other->region.uses));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&s->region->region.uses));
	KUNIT_EXPECT_EQ(test, 1, region_uses(s));
	fake_wr_complete(&s->hca->sends[1], IB_WC_SUCCESS);
	fake_wr_complete(&s->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, region_uses(s));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&other->region.uses));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, other_obj.obj.id));
}

static void submit_locks_a_ring_without_a_reference(struct kunit *test)
{
	struct submitter *s = test->priv;
	u32 id = s->ring->obj.id;

	KUNIT_ASSERT_PTR_EQ(test, s->ring, kverbs_ring_trylock(s->file, id));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&s->ring->obj.gets));
	KUNIT_EXPECT_NULL(test, kverbs_ring_trylock(s->file, id));
	kverbs_ring_unlock(s->ring);
	KUNIT_EXPECT_NULL(test, kverbs_ring_trylock(s->file, s->conn_obj.obj.id));
	KUNIT_EXPECT_NULL(test, kverbs_ring_trylock(s->file, 12345));
	refcount_set(&s->ring->obj.gets, 0);
	KUNIT_EXPECT_NULL(test, kverbs_ring_trylock(s->file, id));
	refcount_set(&s->ring->obj.gets, 1);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&s->ring->submit_lock));
}

static void submit_refused_does_not_use_the_region(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH;
	fake_hca_refuse(s->hca, 0, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, region_uses(s));
}

static void submit_keeps_connection_and_region_for_the_next(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);
	unsigned int i;

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH;
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
		KUNIT_EXPECT_EQ(test, 2, refcount_read(&s->conn_obj.obj.gets));
		KUNIT_EXPECT_EQ(test, 2, refcount_read(&s->region_obj.obj.gets));
		fake_wr_complete(&s->hca->sends[i], IB_WC_SUCCESS);
	}
}

/* After this the ring keeps the connection and the region. */
static struct kverbs_sqe submit_and_complete(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	return sqe;
}

static void submit_keeps_nothing_from_being_destroyed(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = submit_and_complete(test);

	fake_ring_user(s->ring)->cq_head++;
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, sqe.region_id));
	KUNIT_EXPECT_EQ(test, -ENOENT, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(s->file, sqe.conn_id));
	KUNIT_EXPECT_EQ(test, -ENOENT, submit_one(s, &sqe));
}

static void submit_keeps_nothing_when_its_ring_is_destroyed(struct kunit *test)
{
	struct submitter *s = test->priv;

	submit_and_complete(test);
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_destroy(s->file, s->ring->obj.id));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&s->conn_obj.obj.gets));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&s->region_obj.obj.gets));
}

/* A SEND of two pieces of the region. */
static struct kverbs_sqe a_list(struct kunit *test)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);
	const struct kverbs_piece pieces[] = {
		{ .region_id = s->region_obj.obj.id, .offset = 0, .length = 8 },
		{ .region_id = s->region_obj.obj.id, .offset = 64, .length = 8 },
	};

	KUNIT_ASSERT_NE(test, 0, addr);
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)addr, pieces, sizeof(pieces)));
	sqe.flags = KVERBS_SQE_LIST;
	sqe.offset = addr;
	sqe.length = ARRAY_SIZE(pieces);
	return sqe;
}

static unsigned int count_lists(const struct kverbs_list *list)
{
	unsigned int nr;

	for (nr = 0; list; list = list->next)
		nr++;
	return nr;
}

/* Lists of pieces that the ring keeps for entries to come. */
static unsigned int idle_lists(const struct kverbs_ring *ring)
{
	return count_lists(ring->spare_lists) + count_lists(ring->done_lists);
}

static void expect_list_sent(struct kunit *test, unsigned int idle)
{
	struct submitter *s = test->priv;
	struct fake_wr *send = &s->hca->sends[s->hca->nr_sends - 1];

	KUNIT_EXPECT_EQ(test, 2, send->num_sge);
	KUNIT_EXPECT_EQ(test, idle, idle_lists(s->ring));
	fake_wr_complete(send, IB_WC_SUCCESS);
}

static void submit_of_lists_reuses_the_memory_of_completed_ones(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_list(test);

	put_some(s, &sqe, 2);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 2));
	expect_list_sent(test, 0);
	KUNIT_EXPECT_EQ(test, 2, idle_lists(s->ring));
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	expect_list_sent(test, 1);
	KUNIT_EXPECT_EQ(test, 2, idle_lists(s->ring));
}

static void submit_of_a_list_that_is_refused_keeps_its_memory(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_list(test), bad = sqe;

	bad.length = 3;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit_one(s, &bad));
	KUNIT_EXPECT_EQ(test, 1, idle_lists(s->ring));
	KUNIT_EXPECT_EQ(test, 0, region_uses(s));
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	expect_list_sent(test, 0);
}

/* Else a burst would take memory until the ring is destroyed. */
static void submit_of_many_lists_keeps_the_memory_of_some(struct kunit *test)
{
	const unsigned int nr = 2 * KVERBS_SPARE_LISTS;
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_list(test);
	unsigned int i;

	s->ring = fake_ring_create(test, s->file, SQ_SLOTS, nr);
	s->conn_obj.ring = s->ring;
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, idle_lists(s->ring));
	kverbs_queue_close(&s->conn.queue);
	kverbs_queue_flush_remaining(&s->conn.queue);
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, KVERBS_SPARE_LISTS, idle_lists(s->ring));
}

static void submit_stays_within_the_region(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit_one(s, &sqe));
	sqe.region_id = s->conn_obj.obj.id;
	sqe.length = 1;
	KUNIT_EXPECT_EQ(test, -ENOENT, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&s->region->region.uses));
}

static void submit_writes_only_to_a_writable_region(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_recv(s, 0);

	s->region->region.writable = false;
	sqe.region_id = s->region_obj.obj.id;
	sqe.length = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit_one(s, &sqe));
	sqe.opcode = KVERBS_OP_READ;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit_one(s, &sqe));
	sqe.opcode = KVERBS_OP_SEND;
	KUNIT_EXPECT_EQ(test, 0, submit_one(s, &sqe));
}

static void submit_does_not_wait_for_more_than_fits(struct kunit *test)
{
	struct submitter *s = test->priv;

	s->cmd.timeout_ns = 1;
	s->cmd.min_complete = CQ_SLOTS;
	KUNIT_EXPECT_EQ(test, 0, submit(s, 0));
	s->cmd.min_complete = CQ_SLOTS + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit(s, 0));
}

static void submit_reports_how_many_are_unread(struct kunit *test)
{
	struct submitter *s = test->priv;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(s->ring, 1));
	KUNIT_ASSERT_EQ(test, 0, fake_ring_event(s->ring, 2));
	s->cmd.min_complete = 1;
	KUNIT_EXPECT_EQ(test, 0, submit(s, 0));
	KUNIT_EXPECT_EQ(test, 2, s->cmd.out_ready);
}

/* Consecutive entries of one direction are posted together. */
static void submit_keeps_the_order_of_sends_and_receives(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe send = a_send(s, 0), recv = a_recv(s, 0);

	put_some(s, &send, 2);
	put(s, &recv);
	put(s, &send);
	KUNIT_EXPECT_EQ(test, 0, submit(s, 4));
	KUNIT_EXPECT_EQ(test, 4, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 3, s->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 2, s->hca->nr_doorbells);
	KUNIT_EXPECT_EQ(test, 1, s->hca->nr_recvs);
}

static void submit_of_which_half_is_refused_posts_half(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.flags &= ~KVERBS_SQE_SIGNAL;
	sqe.region_id = s->region_obj.obj.id;
	sqe.length = LENGTH;
	put_some(s, &sqe, 3);
	fake_hca_refuse(s->hca, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 0, submit(s, 3));
	KUNIT_EXPECT_EQ(test, 3, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 3, fake_ring_kernel(s->ring)->sq_head);
	KUNIT_EXPECT_EQ(test, 1, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 1, region_uses(s));
	KUNIT_EXPECT_EQ(test, -ENOMEM, fake_ring_cqe(s->ring, 0)->result);
	KUNIT_EXPECT_EQ(test, -ECANCELED, fake_ring_cqe(s->ring, 1)->result);
	fake_hca_refuse(s->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 2, s->hca->nr_sends);
}

static void submit_of_more_than_the_queue_has_slots_for_waits_in_order(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	put_some(s, &sqe, SQ_SLOTS);
	KUNIT_EXPECT_EQ(test, 0, submit(s, SQ_SLOTS));
	KUNIT_EXPECT_EQ(test, SQ_SLOTS, s->cmd.out_taken);
	KUNIT_EXPECT_EQ(test, 0, s->cmd.out_error);
	KUNIT_EXPECT_EQ(test, SQ_SLOTS, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 3, s->hca->nr_sends);
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	/* There is a slot, but not for one that comes later. */
	KUNIT_EXPECT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 4, s->hca->nr_sends);
	fake_wr_complete(&s->hca->sends[1], IB_WC_SUCCESS);
	kverbs_conn_post_held(&s->conn);
	KUNIT_EXPECT_EQ(test, 5, s->hca->nr_sends);
}

static bool is_signalled(const struct fake_wr *wr)
{
	return wr->send_flags & IB_SEND_SIGNALED;
}

/* Two SUBMITs find the queue full, and are posted when there are two slots: sends 3 and 4. */
static void submit_two_that_are_held(struct kunit *test, const struct kverbs_sqe *sqe)
{
	struct submitter *s = test->priv;
	int i;

	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, sqe));
	KUNIT_ASSERT_EQ(test, 3, s->hca->nr_sends);
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	fake_wr_complete(&s->hca->sends[1], IB_WC_SUCCESS);
	kverbs_conn_post_held(&s->conn);
	KUNIT_ASSERT_EQ(test, 5, s->hca->nr_sends);
}

/* The peer may take no other message until it has heard that the first has completed. */
static void submit_of_one_that_is_held_completes_before_the_next(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	submit_two_that_are_held(test, &sqe);
	KUNIT_EXPECT_TRUE(test, is_signalled(&s->hca->sends[3]));
	KUNIT_EXPECT_TRUE(test, is_signalled(&s->hca->sends[4]));
}

static void submit_of_several_that_are_held_coalesces_them(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	put_some(s, &sqe, 3);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 3));
	for (i = 0; i < 3; i++)
		fake_wr_complete(&s->hca->sends[i], IB_WC_SUCCESS);
	kverbs_conn_post_held(&s->conn);
	KUNIT_ASSERT_EQ(test, 6, s->hca->nr_sends);
	KUNIT_EXPECT_FALSE(test, is_signalled(&s->hca->sends[3]));
	KUNIT_EXPECT_FALSE(test, is_signalled(&s->hca->sends[4]));
	KUNIT_EXPECT_TRUE(test, is_signalled(&s->hca->sends[5]));
}

/* No completion is expected that could come late. */
static void submit_without_SIGNAL_coalesces_all_that_is_held(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);

	sqe.flags &= ~KVERBS_SQE_SIGNAL;
	submit_two_that_are_held(test, &sqe);
	KUNIT_EXPECT_FALSE(test, is_signalled(&s->hca->sends[3]));
	KUNIT_EXPECT_TRUE(test, is_signalled(&s->hca->sends[4]));
}

static void submit_held_operation_that_fails_closes_the_queue(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 7);

	put_some(s, &sqe, SQ_SLOTS);
	KUNIT_ASSERT_EQ(test, 0, submit(s, SQ_SLOTS));
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_queue_reserve(&s->conn.queue));
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	fake_hca_refuse(s->hca, 0, -ENOMEM);
	kverbs_conn_post_held(&s->conn);
	KUNIT_EXPECT_EQ(test, -ENOMEM, last_cqe(s)->result);
	KUNIT_EXPECT_EQ(test, 7, last_cqe(s)->user_data);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_queue_check_up(&s->conn.queue));
}

static void submit_of_several_receives_posts_them_together(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_recv(s, 0);

	sqe.region_id = s->region_obj.obj.id;
	sqe.length = 8;
	put_some(s, &sqe, 3);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 3));
	KUNIT_EXPECT_EQ(test, 3, s->hca->nr_recvs);
	KUNIT_EXPECT_EQ(test, 1, s->hca->nr_recv_doorbells);
}

static void submit_of_more_receives_than_slots_waits_in_order(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_recv(s, 0);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	sqe.user_data = 3;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 3, s->hca->nr_recvs);
	fake_wr_complete(&s->hca->recvs[0], IB_WC_SUCCESS);
	/* There is a slot, but not for one that comes later. */
	sqe.user_data = 4;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, 4, s->hca->nr_recvs);
	fake_wr_complete(&s->hca->recvs[3], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 3, last_cqe(s)->user_data);
	kverbs_conn_post_deferred(&s->conn, NULL);
	KUNIT_EXPECT_EQ(test, 5, s->hca->nr_recvs);
}

static void submit_flushes_what_is_held_when_the_queue_goes(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 7);

	put_some(s, &sqe, SQ_SLOTS);
	KUNIT_ASSERT_EQ(test, 0, submit(s, SQ_SLOTS));
	kverbs_queue_close(&s->conn.queue);
	kverbs_queue_flush_remaining(&s->conn.queue);
	KUNIT_EXPECT_EQ(test, SQ_SLOTS, kverbs_ring_unread(s->ring));
	KUNIT_EXPECT_EQ(test, -EIO, last_cqe(s)->result);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, last_cqe(s)->wc_status);
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
}

static void submit_says_in_the_ring_why_it_stopped(struct kunit *test)
{
	struct submitter *s = test->priv;
	const struct kverbs_ring_kernel *shared = fake_ring_kernel(s->ring);
	struct kverbs_sqe sqe = a_send(s, 0);

	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(s->ring, CQ_SLOTS));
	KUNIT_EXPECT_EQ(test, -EAGAIN, submit_one(s, &sqe));
	KUNIT_EXPECT_EQ(test, KVERBS_KFLAG_FULL, shared->flags);
	KUNIT_EXPECT_FALSE(test, kverbs_ring_has_room(s->ring));
	kverbs_ring_unreserve(s->ring, CQ_SLOTS);
	KUNIT_EXPECT_TRUE(test, kverbs_ring_has_room(s->ring));
	KUNIT_EXPECT_EQ(test, 0, submit(s, 1));
	KUNIT_EXPECT_EQ(test, 0, shared->flags);
	fake_ring_user(s->ring)->sq_tail--;
	KUNIT_EXPECT_EQ(test, -EINVAL, submit(s, 1));
	KUNIT_EXPECT_EQ(test, KVERBS_KFLAG_BAD_INDEX, shared->flags);
}

static void submit_without_signals_completes_with_the_last(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 1);

	sqe.flags = 0;
	put_some(s, &sqe, 2);
	sqe.flags = KVERBS_SQE_SIGNAL;
	sqe.user_data = 2;
	put(s, &sqe);
	KUNIT_ASSERT_EQ(test, 0, submit(s, 3));
	KUNIT_EXPECT_EQ(test, 0, s->hca->sends[0].send_flags);
	KUNIT_EXPECT_EQ(test, 0, s->hca->sends[1].send_flags);
	KUNIT_EXPECT_EQ(test, 3, s->ring->reserved);
	fake_wr_complete(&s->hca->sends[2], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, s->ring->reserved);
	KUNIT_EXPECT_EQ(test, 1, kverbs_ring_unread(s->ring));
	KUNIT_EXPECT_EQ(test, 2, last_cqe(s)->user_data);
}

/* A waiter that is woken is no longer in the queue. */
static void submit_without_signals_wakes_tasks_that_want_room(struct kunit *test)
{
	struct submitter *s = test->priv;
	struct kverbs_sqe sqe = a_send(s, 0);
	DEFINE_WAIT(wait);

	sqe.flags = 0;
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	KUNIT_ASSERT_EQ(test, 0, submit_one(s, &sqe));
	prepare_to_wait(&s->ring->wait, &wait, TASK_INTERRUPTIBLE);
	fake_wr_complete(&s->hca->sends[0], IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, list_empty(&wait.entry));
	fake_ring_user(s->ring)->flags = KVERBS_UFLAG_WANT_ROOM;
	fake_wr_complete(&s->hca->sends[1], IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, list_empty(&wait.entry));
	finish_wait(&s->ring->wait, &wait);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(s->ring));
}

/* Even while the CPU wrongly guesses that the check of the entry succeeds. */
static void submit_reads_no_row_beyond_the_table_of_opcodes(struct kunit *test)
{
	u32 opcode;

	KUNIT_EXPECT_EQ(test, 0, kverbs_opdefs[0].flags);
	for (opcode = 0; opcode < ARRAY_SIZE(kverbs_opdefs); opcode++)
		KUNIT_EXPECT_EQ(test, opcode, kverbs_opcode_clamp(opcode));
	for (; opcode <= U8_MAX; opcode++)
		KUNIT_EXPECT_EQ(test, 0, kverbs_opcode_clamp(opcode));
	KUNIT_EXPECT_EQ(test, 0, kverbs_opcode_clamp(U32_MAX));
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE_PARAM(submit_checks_every_field, entries_gen_params),
	KUNIT_CASE(submit_reads_no_row_beyond_the_table_of_opcodes),
	KUNIT_CASE(submit_completes_with_the_result),
	KUNIT_CASE(submit_unsignalled_completes_only_if_it_fails),
	KUNIT_CASE(submit_of_a_receive_reports_the_message),
	KUNIT_CASE(submit_cancels_what_follows_a_refusal),
	KUNIT_CASE(submit_takes_the_lesser_of_wanted_and_available),
	KUNIT_CASE_PARAM(submit_refuses_a_wrong_tail, bad_tails_gen_params),
	KUNIT_CASE(submit_numbers_wrap_at_2_to_the_32),
	KUNIT_CASE(submit_needs_a_slot_for_the_completion),
	KUNIT_CASE(submit_refused_by_the_queue_keeps_no_slot),
	KUNIT_CASE(submit_is_refused_while_the_queue_is_reserved),
	KUNIT_CASE(queue_in_use_is_not_reserved),
	KUNIT_CASE(queue_that_holds_a_receive_is_not_reserved),
	KUNIT_CASE(submit_needs_the_connections_own_ring),
	KUNIT_CASE(submit_uses_the_region_until_it_completes),
	KUNIT_CASE(submit_touches_no_counter_of_the_region_that_it_keeps),
	KUNIT_CASE(submit_keeps_a_region_in_flight_from_being_destroyed),
	KUNIT_CASE(submit_counts_uses_when_regions_alternate),
	KUNIT_CASE(submit_locks_a_ring_without_a_reference),
	KUNIT_CASE(submit_refused_does_not_use_the_region),
	KUNIT_CASE(submit_keeps_connection_and_region_for_the_next),
	KUNIT_CASE(submit_keeps_nothing_from_being_destroyed),
	KUNIT_CASE(submit_keeps_nothing_when_its_ring_is_destroyed),
	KUNIT_CASE(submit_of_lists_reuses_the_memory_of_completed_ones),
	KUNIT_CASE(submit_of_a_list_that_is_refused_keeps_its_memory),
	KUNIT_CASE(submit_of_many_lists_keeps_the_memory_of_some),
	KUNIT_CASE(submit_stays_within_the_region),
	KUNIT_CASE(submit_writes_only_to_a_writable_region),
	KUNIT_CASE(submit_does_not_wait_for_more_than_fits),
	KUNIT_CASE(submit_reports_how_many_are_unread),
	KUNIT_CASE(submit_keeps_the_order_of_sends_and_receives),
	KUNIT_CASE(submit_of_which_half_is_refused_posts_half),
	KUNIT_CASE(submit_of_more_than_the_queue_has_slots_for_waits_in_order),
	KUNIT_CASE(submit_of_one_that_is_held_completes_before_the_next),
	KUNIT_CASE(submit_of_several_that_are_held_coalesces_them),
	KUNIT_CASE(submit_without_SIGNAL_coalesces_all_that_is_held),
	KUNIT_CASE(submit_held_operation_that_fails_closes_the_queue),
	KUNIT_CASE(submit_of_several_receives_posts_them_together),
	KUNIT_CASE(submit_of_more_receives_than_slots_waits_in_order),
	KUNIT_CASE(submit_flushes_what_is_held_when_the_queue_goes),
	KUNIT_CASE(submit_says_in_the_ring_why_it_stopped),
	KUNIT_CASE(submit_without_signals_completes_with_the_last),
	KUNIT_CASE(submit_without_signals_wakes_tasks_that_want_room),
	{}
};

static struct kunit_suite submit_suite = {
	.name = "kverbs_submit",
	.init = submit_init,
	.test_cases = submit_cases,
};

kunit_test_suite(submit_suite);
