// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests of another module that are posted together. The fake device is an iWARP one. */
#include "conn.h"
#include "fake_k.h"
#include "fake_qp.h"
#include "k_conn.h"

static const struct kverbs_k_req_size plain;
static const struct kverbs_k_req_size exposing = { .expose_pages = 4 };
static const struct kverbs_k_req_size reading = { .read_pages = 1 };

/**
 * struct list - a list of requests
 * @fake: the module
 * @batch: where they are posted
 * @reqs: the requests
 * @nr: number of @reqs
 * @error: why not all were posted
 */
struct list {
	struct fake_k *fake;
	struct kverbs_k_batch *batch;
	struct fake_k_req *reqs[FAKE_K_REQS];
	unsigned int nr;
	int error;
};

static void free_batch(void *batch)
{
	kverbs_k_batch_free(batch);
}

static struct list *list_of(struct fake_k *fake, unsigned int room)
{
	struct kunit *test = fake->test;
	struct list *list = kunit_kzalloc(test, sizeof(*list), GFP_KERNEL);
	struct kverbs_k_batch *batch;

	KUNIT_ASSERT_NOT_NULL(test, list);
	list->fake = fake;
	batch = kverbs_k_batch_alloc(fake->conn, room, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(batch));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_batch, batch));
	list->batch = batch;
	return list;
}

static struct list *new_list(struct kunit *test, unsigned int room)
{
	return list_of(fake_k_up(test), room);
}

static struct kverbs_k_req *add(struct list *list, enum kverbs_k_opcode opcode,
				struct kverbs_k_req_size size)
{
	struct fake_k_req *req = fake_k_req(list->fake, opcode, size);

	list->reqs[list->nr++] = req;
	return req->k;
}

static void add_sends(struct list *list, unsigned int nr)
{
	while (nr--)
		add(list, KVERBS_K_SEND, plain)->length = 100;
}

static unsigned int post(struct list *list)
{
	struct kverbs_k_req *reqs[FAKE_K_REQS];
	unsigned int i;

	for (i = 0; i < list->nr; i++)
		reqs[i] = list->reqs[i]->k;
	return kverbs_k_post_list(list->batch, reqs, list->nr, &list->error);
}

/* From atomic context, where nothing may sleep. */
static unsigned int post_locked(struct list *list)
{
	static DEFINE_SPINLOCK(lock);
	unsigned int posted;

	spin_lock_bh(&lock);
	posted = post(list);
	spin_unlock_bh(&lock);
	return posted;
}

static void expect_done(struct list *list, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++)
		KUNIT_EXPECT_EQ(list->fake->test, i < nr, list->reqs[i]->nr_done);
}

static void k_batch_has_limits(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);

	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_batch_alloc(fake->conn, 0, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_batch_alloc(fake->conn, 4097, GFP_KERNEL));
}

static void k_list_takes_one_doorbell(struct kunit *test)
{
	struct list *list = new_list(test, FAKE_K_DEPTH);
	struct fake_wr *wrs = list->fake->hca->sends;
	unsigned int i;

	add_sends(list, 3);
	for (i = 0; i < 3; i++)
		list->reqs[i]->k->offset = i * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, 3, post_locked(list));
	KUNIT_EXPECT_EQ(test, 0, list->error);
	KUNIT_EXPECT_EQ(test, 1, list->fake->hca->nr_doorbells);
	KUNIT_ASSERT_EQ(test, 3, list->fake->hca->nr_sends);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, (uintptr_t)list->fake->memory + i * PAGE_SIZE,
				wrs[i].sges[0].addr);
	fake_k_succeed(list->fake, list->reqs[2]);
	expect_done(list, 3);
}

static void k_list_is_posted_as_far_as_there_is_room(struct kunit *test)
{
	struct list *list = new_list(test, 8);

	add_sends(list, FAKE_K_DEPTH + 1);
	KUNIT_EXPECT_EQ(test, FAKE_K_DEPTH, post_locked(list));
	KUNIT_EXPECT_EQ(test, -EAGAIN, list->error);
	fake_k_succeed(list->fake, list->reqs[FAKE_K_DEPTH - 1]);
	expect_done(list, FAKE_K_DEPTH);
}

static void k_list_longer_than_its_batch_takes_several_doorbells(struct kunit *test)
{
	struct list *list = new_list(test, 2);

	add_sends(list, 3);
	KUNIT_ASSERT_EQ(test, 3, post_locked(list));
	KUNIT_EXPECT_EQ(test, 2, list->fake->hca->nr_doorbells);
	fake_k_succeed(list->fake, list->reqs[2]);
	expect_done(list, 3);
}

static void k_list_ends_before_a_bad_request(struct kunit *test)
{
	struct list *list = new_list(test, 4);

	add_sends(list, 3);
	list->reqs[1]->k->flags = BIT(3);
	KUNIT_EXPECT_EQ(test, 1, post_locked(list));
	KUNIT_EXPECT_EQ(test, -EINVAL, list->error);
	KUNIT_EXPECT_EQ(test, 1, list->fake->hca->nr_sends);
	fake_k_succeed(list->fake, list->reqs[0]);
	expect_done(list, 1);
}

static void k_list_ends_before_memory_that_is_not_mapped(struct kunit *test)
{
	struct list *list = new_list(test, 4);
	struct kverbs_region *region;

	region = kverbs_k_region_of_buffer(list->fake->memory, PAGE_SIZE, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	add_sends(list, 3);
	list->reqs[1]->k->region = region;
	KUNIT_EXPECT_EQ(test, 1, post_locked(list));
	KUNIT_EXPECT_EQ(test, -ENXIO, list->error);
	/* Waits for ever if the request that was not posted still counts as a user. */
	kverbs_k_region_destroy(region);
	fake_k_succeed(list->fake, list->reqs[0]);
	expect_done(list, 1);
}

static void k_list_ends_before_what_the_device_refuses(struct kunit *test)
{
	struct list *list = new_list(test, 4);

	add_sends(list, 3);
	fake_hca_refuse(list->fake->hca, 2, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 2, post_locked(list));
	KUNIT_EXPECT_EQ(test, -ENOMEM, list->error);
	fake_hca_refuse(list->fake->hca, UINT_MAX, 0);
	fake_k_succeed(list->fake, list->reqs[1]);
	expect_done(list, 2);
}

/* A registration, and a READ on iWARP, which has one too, go alone. */
static void k_list_keeps_the_order_of_requests_that_go_alone(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_REG_MR, IB_WR_SEND, IB_WR_SEND,
	};
	struct list *list = new_list(test, 4);
	struct fake_hca *hca = list->fake->hca;
	struct kverbs_k_segment segment;
	struct kverbs_k_req *telling;
	unsigned int i;

	add_sends(list, 1);
	telling = add(list, KVERBS_K_SEND, exposing);
	add(list, KVERBS_K_RECV, plain);
	add_sends(list, 1);
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_expose(telling, list->fake->region, 0, PAGE_SIZE,
						 KVERBS_K_REMOTE_READ, &segment));
	KUNIT_ASSERT_EQ(test, 4, post_locked(list));
	KUNIT_EXPECT_EQ(test, 0, list->error);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(opcodes), hca->nr_sends);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		KUNIT_EXPECT_EQ(test, opcodes[i], hca->sends[i].opcode);
	KUNIT_EXPECT_EQ(test, 1, hca->nr_recvs);
	fake_k_succeed(list->fake, list->reqs[3]);
	KUNIT_EXPECT_EQ(test, 1, list->reqs[1]->nr_done);
	KUNIT_EXPECT_EQ(test, 0, list->reqs[2]->nr_done);
}

static void k_list_of_reads_registers_each_buffer_where_it_must(struct kunit *test)
{
	struct list *list = new_list(test, 4);
	struct fake_hca *hca = list->fake->hca;

	add(list, KVERBS_K_READ, reading);
	add(list, KVERBS_K_READ, reading);
	KUNIT_ASSERT_EQ(test, 2, post_locked(list));
	KUNIT_ASSERT_EQ(test, 4, hca->nr_sends);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, hca->sends[2].opcode);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ_WITH_INV, hca->sends[3].opcode);
	fake_k_succeed(list->fake, list->reqs[1]);
	expect_done(list, 2);
	/* The sinks are free again. */
	KUNIT_EXPECT_EQ(test, 2, post_locked(list));
}

static void k_list_lacks_what_the_device_lacks(struct kunit *test)
{
	struct list *list = new_list(test, 4);
	struct kverbs_k_req *atomic;

	add_sends(list, 1);
	atomic = add(list, KVERBS_K_FETCH_ADD, plain);
	atomic->length = sizeof(u64);
	KUNIT_EXPECT_EQ(test, 1, post_locked(list));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, list->error);
}

static void k_list_is_flushed_with_its_connection(struct kunit *test)
{
	struct list *list = new_list(test, 4);

	add_sends(list, 3);
	KUNIT_ASSERT_EQ(test, 3, post_locked(list));
	kverbs_k_conn_close(list->fake->conn);
	expect_done(list, 3);
	KUNIT_EXPECT_EQ(test, -EIO, list->reqs[0]->k->result);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, list->reqs[2]->k->wc_status);
	KUNIT_EXPECT_EQ(test, 0, post_locked(list));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, list->error);
}

static void unreserve(void *queue)
{
	kverbs_queue_unreserve(queue);
}

/* Both as a command of user space does it, which sleeps and has the connection for itself. */
static void k_list_of_a_lent_connection_maps_memory_and_needs_no_turn(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct kverbs_k_conn *own = fake->conn, lent;
	struct kverbs_queue *queue = &own->conn->queue;
	struct kverbs_region *region;
	struct list *list;

	KUNIT_ASSERT_EQ(test, 0, kverbs_queue_reserve(queue));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unreserve, queue));
	region = kverbs_k_region_of_buffer(fake->memory, PAGE_SIZE, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	kverbs_k_conn_lend(&lent, own->conn);
	fake->conn = &lent;
	list = list_of(fake, 4);
	add(list, KVERBS_K_SEND, plain)->region = region;
	add(list, KVERBS_K_RECV, plain);
	fake->conn = own;
	KUNIT_EXPECT_EQ(test, 2, post(list));
	KUNIT_EXPECT_EQ(test, 0, list->error);
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_recvs);
	fake_k_succeed(fake, list->reqs[0]);
	kverbs_k_region_destroy(region);
	KUNIT_EXPECT_EQ(test, -EBUSY,
			fake_k_post_locked(fake_k_req(fake, KVERBS_K_SEND, plain)));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(k_batch_has_limits),
	KUNIT_CASE(k_list_takes_one_doorbell),
	KUNIT_CASE(k_list_is_posted_as_far_as_there_is_room),
	KUNIT_CASE(k_list_longer_than_its_batch_takes_several_doorbells),
	KUNIT_CASE(k_list_ends_before_a_bad_request),
	KUNIT_CASE(k_list_ends_before_memory_that_is_not_mapped),
	KUNIT_CASE(k_list_ends_before_what_the_device_refuses),
	KUNIT_CASE(k_list_keeps_the_order_of_requests_that_go_alone),
	KUNIT_CASE(k_list_of_reads_registers_each_buffer_where_it_must),
	KUNIT_CASE(k_list_lacks_what_the_device_lacks),
	KUNIT_CASE(k_list_is_flushed_with_its_connection),
	KUNIT_CASE(k_list_of_a_lent_connection_maps_memory_and_needs_no_turn),
	{}
};

static struct kunit_suite suite = {
	.name		= "kverbs_k_batch",
	.test_cases	= cases,
};

kunit_test_suite(suite);
