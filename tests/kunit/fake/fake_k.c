// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/in.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "fake_k.h"
#include "fake_qp.h"

#define PORT	7473

/**
 * fake_k_await() - wait for an event that must happen
 * @what: the event
 *
 * Return: false if it has not happened in time.
 */
bool fake_k_await(struct completion *what)
{
	return wait_for_completion_timeout(what, FAKE_PATIENCE);
}

static void on_established(struct kverbs_k_conn *conn)
{
	struct fake_k *fake = kverbs_k_conn_context(conn);

	complete_all(&fake->up);
}

static void on_ended(struct kverbs_k_conn *conn, int error)
{
	struct fake_k *fake = kverbs_k_conn_context(conn);

	fake->error = error;
	fake->nr_ended++;
	complete_all(&fake->ended);
}

static const struct kverbs_k_conn_ops conn_ops = {
	.established	= on_established,
	.ended		= on_ended,
};

static void on_request(struct kverbs_k_listener *listener, struct kverbs_k_conn *conn)
{
	struct fake_k *fake = kverbs_k_listener_context(listener);

	fake->conn = conn;
	if (fake->answer > 0)
		fake->answered = kverbs_k_conn_accept(conn, &conn_ops, fake, &fake->param);
	else if (fake->answer < 0)
		fake->answered = kverbs_k_conn_reject(conn, "no", 2);
	complete_all(&fake->requested);
}

static void on_removed(struct kverbs_k_listener *listener)
{
	struct fake_k *fake = kverbs_k_listener_context(listener);

	complete_all(&fake->removed);
}

static const struct kverbs_k_listener_ops listener_ops = {
	.request	= on_request,
	.removed	= on_removed,
};

static void free_all(void *data)
{
	struct fake_k *fake = data;
	unsigned int i;

	fake_iw_give_up(fake->hca);
	if (fake->listener)
		kverbs_k_listener_free(fake->listener);
	if (fake->conn)
		kverbs_k_conn_close(fake->conn);
	for (i = 0; i < fake->nr_reqs; i++)
		kverbs_k_req_free(fake->reqs[i].k);
	if (fake->conn)
		kverbs_k_conn_free(fake->conn);
	if (fake->region)
		kverbs_k_region_destroy(fake->region);
}

/**
 * fake_k_create() - make a module that has memory and no connection
 * @test: the test, at whose end all of it is freed
 *
 * Return: the module.
 */
struct fake_k *fake_k_create(struct kunit *test)
{
	struct fake_k *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct kverbs_region *region;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->test = test;
	fake->memory = kunit_kzalloc(test, FAKE_K_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->memory);
	fake->hca = fake_device_create(test);
	fake->param.sq_depth = FAKE_K_DEPTH;
	fake->param.rq_depth = FAKE_K_DEPTH;
	fake->param.timeout_ms = FAKE_PATIENCE_MS;
	init_completion(&fake->requested);
	init_completion(&fake->removed);
	init_completion(&fake->up);
	init_completion(&fake->ended);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_all, fake));
	region = kverbs_k_region_of_buffer(fake->memory, FAKE_K_BYTES, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	fake->region = region;
	return fake;
}

static struct sockaddr_storage address(void)
{
	struct sockaddr_storage ss = {};

	*(struct sockaddr_in *)&ss = (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(FAKE_ADDRESS),
	};
	return ss;
}

/**
 * fake_k_try_listen() - create a listener
 * @fake: the module
 * @backlog: requests that may wait, 0: the default
 *
 * Return: 0 or what kverbs_k_listener_create() has returned.
 */
int fake_k_try_listen(struct fake_k *fake, unsigned int backlog)
{
	struct sockaddr_storage addr = address();
	struct kverbs_k_listener *listener;

	listener = kverbs_k_listener_create(&init_net, &listener_ops, fake,
					    (struct sockaddr *)&addr, backlog);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	fake->listener = listener;
	return 0;
}

/**
 * fake_k_listen() - let peers request connections
 * @fake: the module
 */
void fake_k_listen(struct fake_k *fake)
{
	KUNIT_ASSERT_EQ(fake->test, 0, fake_k_try_listen(fake, 0));
}

/**
 * fake_k_make() - create a connection
 * @fake: the module
 */
void fake_k_make(struct fake_k *fake)
{
	struct sockaddr_storage addr = address();
	struct kverbs_k_conn *conn;

	conn = kverbs_k_conn_create(&init_net, &conn_ops, fake, &fake->param, NULL,
				    (struct sockaddr *)&addr);
	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(conn));
	fake->conn = conn;
}

/**
 * fake_k_ask() - start a connection, until the peer has the request
 * @fake: the module, with a connection
 */
void fake_k_ask(struct fake_k *fake)
{
	kverbs_k_conn_start(fake->conn);
	KUNIT_ASSERT_TRUE(fake->test, fake_k_await(&fake->hca->asked));
}

/**
 * fake_k_connect() - establish the connection of a module, and map its memory
 * @fake: the module, whose parameters are set
 */
void fake_k_connect(struct fake_k *fake)
{
	fake_k_make(fake);
	fake_k_ask(fake);
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(fake->test, fake_k_await(&fake->up));
	KUNIT_ASSERT_EQ(fake->test, 0, kverbs_k_region_map(fake->conn, fake->region));
}

/**
 * fake_k_up() - make a module with a connection and memory that is mapped
 * @test: the test, at whose end all of it is freed
 *
 * Return: the module.
 */
struct fake_k *fake_k_up(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);

	fake_k_connect(fake);
	return fake;
}

static void on_done(struct kverbs_k_req *k)
{
	struct fake_k_req *req = k->context;

	req->nr_done++;
	req->in_softirq = in_serving_softirq();
	req->task = current;
	complete_all(&req->done);
}

/**
 * fake_k_req() - allocate a request for the first page of the memory
 * @fake: the module, with a connection
 * @opcode: of the request
 * @size: of the request
 *
 * Return: the request.
 */
struct fake_k_req *fake_k_req(struct fake_k *fake, enum kverbs_k_opcode opcode,
			      struct kverbs_k_req_size size)
{
	struct fake_k_req *req = &fake->reqs[fake->nr_reqs];

	KUNIT_ASSERT_LT(fake->test, fake->nr_reqs, FAKE_K_REQS);
	req->k = kverbs_k_req_alloc(fake->conn, &size, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(req->k));
	fake->nr_reqs++;
	init_completion(&req->done);
	req->k->opcode = opcode;
	req->k->region = fake->region;
	req->k->length = PAGE_SIZE;
	req->k->done = on_done;
	req->k->context = req;
	return req;
}

/**
 * fake_k_post_locked() - post a request from atomic context
 * @req: the request
 *
 * Return: as kverbs_k_post().
 */
int fake_k_post_locked(struct fake_k_req *req)
{
	static DEFINE_SPINLOCK(lock);
	int ret;

	reinit_completion(&req->done);
	spin_lock_bh(&lock);
	ret = kverbs_k_post(req->k);
	spin_unlock_bh(&lock);
	return ret;
}

/**
 * fake_k_succeed() - let the device complete all sends, and await one request
 * @fake: the module
 * @req: the request
 */
void fake_k_succeed(struct fake_k *fake, struct fake_k_req *req)
{
	schedule_work(&fake->hca->work);
	KUNIT_ASSERT_TRUE(fake->test, fake_k_await(&req->done));
	KUNIT_EXPECT_EQ(fake->test, 0, req->k->result);
}
