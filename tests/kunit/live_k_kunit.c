// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A remote procedure call with data, by the exported functions alone, over a real device. */
#include <kverbs/kverbs.h>
#include <linux/bvec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "live.h"
#include "patience.h"

#define DATA_PAGES	20
#define DATA_BYTES	(DATA_PAGES * PAGE_SIZE)
#define REQS		3
#define LIST		16

/**
 * struct end - one end of the connection
 * @test: the test
 * @conn: the connection, or NULL
 * @up: signalled when it is established
 * @memory: DATA_PAGES of data and one page for messages
 * @data: region of the data, with its pages in reverse order, so that none are neighbours
 * @messages: region of the messages
 * @reqs: requests
 * @nr_reqs: number of @reqs
 */
struct end {
	struct kunit *test;
	struct kverbs_k_conn *conn;
	struct completion up;
	u8 *memory;
	struct kverbs_region *data;
	struct kverbs_region *messages;
	struct kverbs_k_req *reqs[REQS];
	unsigned int nr_reqs;
};

/**
 * struct rpc - the connection
 * @listener: listener of the server, or NULL
 * @client: the active end
 * @server: the passive end
 * @param: parameters of both ends
 */
struct rpc {
	struct kverbs_k_listener *listener;
	struct end client;
	struct end server;
	struct kverbs_k_conn_param param;
};

static void on_established(struct kverbs_k_conn *conn)
{
	struct end *end = kverbs_k_conn_context(conn);

	complete_all(&end->up);
}

static void on_ended(struct kverbs_k_conn *conn, int error)
{
}

static const struct kverbs_k_conn_ops conn_ops = {
	.established	= on_established,
	.ended		= on_ended,
};

static void on_request(struct kverbs_k_listener *listener, struct kverbs_k_conn *conn)
{
	struct rpc *rpc = kverbs_k_listener_context(listener);

	rpc->server.conn = conn;
	kverbs_k_conn_accept(conn, &conn_ops, &rpc->server, &rpc->param);
}

static const struct kverbs_k_listener_ops listener_ops = {
	.request	= on_request,
};

static void end_close(struct end *end)
{
	unsigned int i;

	if (end->conn)
		kverbs_k_conn_close(end->conn);
	for (i = 0; i < end->nr_reqs; i++)
		kverbs_k_req_free(end->reqs[i]);
	if (end->conn)
		kverbs_k_conn_free(end->conn);
	if (end->data)
		kverbs_k_region_destroy(end->data);
	if (end->messages)
		kverbs_k_region_destroy(end->messages);
	kfree(end->memory);
}

static void rpc_close(void *data)
{
	struct rpc *rpc = data;

	if (rpc->listener)
		kverbs_k_listener_free(rpc->listener);
	end_close(&rpc->client);
	end_close(&rpc->server);
}

static u8 *data_page(const struct end *end, unsigned int i)
{
	return end->memory + (DATA_PAGES - 1 - i) * PAGE_SIZE;
}

static void *message(const struct end *end)
{
	return end->memory + DATA_BYTES;
}

static void make_regions(struct kunit *test, struct end *end)
{
	struct bio_vec bvecs[DATA_PAGES];
	struct kverbs_region *region;
	unsigned int i;

	for (i = 0; i < DATA_PAGES; i++)
		bvecs[i] = (struct bio_vec) {
			.bv_page = virt_to_page(data_page(end, i)),
			.bv_len = PAGE_SIZE,
		};
	region = kverbs_k_region_of_bvecs(bvecs, DATA_PAGES, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	end->data = region;
	region = kverbs_k_region_of_buffer(message(end), PAGE_SIZE, true, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	end->messages = region;
}

static void end_open(struct kunit *test, struct end *end)
{
	end->test = test;
	init_completion(&end->up);
	end->memory = kzalloc(DATA_BYTES + PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, end->memory);
	get_random_bytes(end->memory, DATA_BYTES);
	make_regions(test, end);
}

static void map_regions(struct kunit *test, struct end *end)
{
	KUNIT_ASSERT_TRUE(test, live_await(&end->up));
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(end->conn, end->data));
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(end->conn, end->messages));
}

static void join(struct kunit *test, struct rpc *rpc)
{
	struct sockaddr_storage ss = {};
	struct kverbs_k_listener *listener;
	struct kverbs_k_conn *conn;

	live_address(test, (struct sockaddr_in *)&ss);
	listener = kverbs_k_listener_create(&init_net, &listener_ops, rpc,
					    (struct sockaddr *)&ss, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	rpc->listener = listener;
	conn = kverbs_k_conn_create(&init_net, &conn_ops, &rpc->client, &rpc->param, NULL,
				    (struct sockaddr *)&ss);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn));
	rpc->client.conn = conn;
	kverbs_k_conn_start(conn);
	map_regions(test, &rpc->client);
	map_regions(test, &rpc->server);
}

/**
 * struct context - where completions are handled
 * @name: of the context
 * @softirq: parameter of the connection
 * @polled: parameter of the connection
 */
struct context {
	const char *name;
	bool softirq;
	bool polled;
};

static const struct context contexts[] = {
	{ .name = "workqueue" },
	{ .name = "softirq", .softirq = true },
	{ .name = "polled", .polled = true },
};

KUNIT_ARRAY_PARAM_DESC(contexts, contexts, name);

static struct rpc *rpc_open(struct kunit *test)
{
	const struct context *context = test->param_value;
	struct rpc *rpc = kunit_kzalloc(test, sizeof(*rpc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rpc);
	rpc->param.timeout_ms = FAKE_PATIENCE_MS;
	rpc->param.softirq = context->softirq;
	rpc->param.polled = context->polled;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, rpc_close, rpc));
	end_open(test, &rpc->client);
	end_open(test, &rpc->server);
	join(test, rpc);
	return rpc;
}

static void on_done(struct kverbs_k_req *req)
{
	complete(req->context);
}

static struct kverbs_k_req *request(struct end *end, enum kverbs_k_opcode opcode,
				    struct kverbs_k_req_size size)
{
	struct completion *done = kunit_kzalloc(end->test, sizeof(*done), GFP_KERNEL);
	struct kverbs_k_req *req;

	KUNIT_ASSERT_NOT_NULL(end->test, done);
	KUNIT_ASSERT_LT(end->test, end->nr_reqs, REQS);
	init_completion(done);
	req = kverbs_k_req_alloc(end->conn, &size, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(end->test, IS_ERR(req));
	end->reqs[end->nr_reqs++] = req;
	req->opcode = opcode;
	req->region = end->messages;
	req->length = sizeof(struct kverbs_k_segment);
	req->done = on_done;
	req->context = done;
	return req;
}

static void post(struct kunit *test, struct kverbs_k_req *req)
{
	static DEFINE_SPINLOCK(lock);
	int ret;

	spin_lock_bh(&lock);
	ret = kverbs_k_post(req);
	spin_unlock_bh(&lock);
	KUNIT_ASSERT_EQ(test, 0, ret);
}

/* If completions are polled, those of both ends are. */
static bool poll_for(struct rpc *rpc, struct completion *done)
{
	unsigned long end = jiffies + FAKE_PATIENCE;

	while (!try_wait_for_completion(done)) {
		if (time_after(jiffies, end))
			return false;
		if (!kverbs_k_conn_poll(rpc->client.conn) && !kverbs_k_conn_poll(rpc->server.conn))
			cond_resched();
	}
	return true;
}

static void await(struct rpc *rpc, struct kverbs_k_req *req)
{
	struct kunit *test = rpc->client.test;

	KUNIT_ASSERT_TRUE(test, rpc->param.polled ? poll_for(rpc, req->context) :
						    live_await(req->context));
	KUNIT_ASSERT_EQ(test, 0, req->result);
}

/* The client asks, exposing its data; the server moves them and answers, revoking the key. */
static void call(struct kunit *test, struct rpc *rpc, enum kverbs_k_opcode opcode)
{
	const struct kverbs_k_req_size plain = {}, exposing = { .expose_pages = DATA_PAGES };
	const struct kverbs_k_req_size moving = { .sges = DATA_PAGES, .read_pages = DATA_PAGES };
	struct kverbs_k_req *question = request(&rpc->client, KVERBS_K_SEND, exposing);
	struct kverbs_k_req *answer = request(&rpc->client, KVERBS_K_RECV, plain);
	struct kverbs_k_req *asked = request(&rpc->server, KVERBS_K_RECV, plain);
	struct kverbs_k_req *move = request(&rpc->server, opcode, moving);
	struct kverbs_k_req *reply = request(&rpc->server, KVERBS_K_SEND_INV, plain);
	const struct kverbs_k_segment *segment = message(&rpc->server);

	answer->length = 0;
	post(test, asked);
	post(test, answer);
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_expose(question, rpc->client.data, 0, DATA_BYTES,
						 KVERBS_K_REMOTE_READ | KVERBS_K_REMOTE_WRITE,
						 message(&rpc->client)));
	post(test, question);
	await(rpc, asked);
	move->region = rpc->server.data;
	move->length = DATA_BYTES;
	move->remote_addr = segment->addr;
	move->rkey = segment->rkey;
	post(test, move);
	await(rpc, move);
	reply->length = 0;
	reply->rkey = segment->rkey;
	post(test, reply);
	await(rpc, answer);
	await(rpc, question);
	await(rpc, reply);
	KUNIT_EXPECT_EQ(test, KVERBS_K_HAS_REVOKED, answer->out_flags);
	KUNIT_EXPECT_EQ(test, segment->rkey, answer->out_revoked);
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conceal(question));
}

static void live_k_call_fetches_data_that_are_exposed(struct kunit *test)
{
	struct rpc *rpc = rpc_open(test);

	call(test, rpc, KVERBS_K_READ);
	KUNIT_EXPECT_EQ(test, 0, memcmp(rpc->client.memory, rpc->server.memory, DATA_BYTES));
}

static void live_k_call_stores_data_into_memory_that_is_exposed(struct kunit *test)
{
	struct rpc *rpc = rpc_open(test);

	call(test, rpc, KVERBS_K_WRITE);
	KUNIT_EXPECT_EQ(test, 0, memcmp(rpc->client.memory, rpc->server.memory, DATA_BYTES));
}

/**
 * struct stream - WRITEs that are posted together
 * @rpc: the connection
 * @batch: where they are posted
 * @reqs: LIST of them, of which all but the last are unsignalled
 * @nr_done: how many have completed
 * @in_order: none has completed before its predecessor
 * @done: signalled when all have completed
 */
struct stream {
	struct rpc *rpc;
	struct kverbs_k_batch *batch;
	struct kverbs_k_req *reqs[LIST];
	unsigned int nr_done;
	bool in_order;
	struct completion done;
};

static void free_stream(void *data)
{
	struct stream *stream = data;
	unsigned int i;

	kverbs_k_conn_close(stream->rpc->client.conn);
	for (i = 0; i < LIST && stream->reqs[i]; i++)
		kverbs_k_req_free(stream->reqs[i]);
	kverbs_k_batch_free(stream->batch);
}

static void one_done(struct kverbs_k_req *req)
{
	struct stream *stream = req->context;

	stream->in_order &= req == stream->reqs[stream->nr_done] && !req->result;
	if (++stream->nr_done == LIST)
		complete(&stream->done);
}

static void add_writes(struct stream *stream, const struct kverbs_k_segment *segment)
{
	struct end *end = &stream->rpc->client;
	const struct kverbs_k_req_size size = {};
	struct kverbs_k_req *req;
	unsigned int i;

	for (i = 0; i < LIST; i++) {
		req = kverbs_k_req_alloc(end->conn, &size, GFP_KERNEL);
		KUNIT_ASSERT_FALSE(end->test, IS_ERR(req));
		stream->reqs[i] = req;
		req->opcode = KVERBS_K_WRITE;
		req->flags = i + 1 < LIST ? KVERBS_K_UNSIGNALLED : 0;
		req->region = end->data;
		req->offset = i * PAGE_SIZE;
		req->length = PAGE_SIZE;
		req->remote_addr = segment->addr + req->offset;
		req->rkey = segment->rkey;
		req->done = one_done;
		req->context = stream;
	}
}

static struct stream *open_stream(struct kunit *test, const struct kverbs_k_segment *segment,
				  struct rpc *rpc)
{
	struct stream *stream = kunit_kzalloc(test, sizeof(*stream), GFP_KERNEL);
	struct kverbs_k_batch *batch;

	KUNIT_ASSERT_NOT_NULL(test, stream);
	stream->rpc = rpc;
	stream->in_order = true;
	init_completion(&stream->done);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_stream, stream));
	batch = kverbs_k_batch_alloc(rpc->client.conn, LIST, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(batch));
	stream->batch = batch;
	add_writes(stream, segment);
	return stream;
}

static void live_k_list_of_writes_completes_in_order(struct kunit *test)
{
	struct rpc *rpc = rpc_open(test);
	struct kverbs_k_segment segment;
	struct kverbs_export *export;
	struct stream *stream;
	unsigned int nr = 1;
	int error;

	export = kverbs_k_export_create(rpc->server.conn, rpc->server.data, 0, DATA_BYTES,
					KVERBS_K_REMOTE_WRITE, &segment, &nr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	stream = open_stream(test, &segment, rpc);
	KUNIT_ASSERT_EQ(test, LIST, kverbs_k_post_list(stream->batch, stream->reqs, LIST, &error));
	KUNIT_EXPECT_EQ(test, 0, error);
	KUNIT_ASSERT_TRUE(test, rpc->param.polled ? poll_for(rpc, &stream->done) :
						    live_await(&stream->done));
	KUNIT_EXPECT_TRUE(test, stream->in_order);
	KUNIT_EXPECT_EQ(test, 0, memcmp(data_page(&rpc->client, LIST - 1),
					data_page(&rpc->server, LIST - 1), LIST * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_export_destroy(export));
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(live_k_call_fetches_data_that_are_exposed, contexts_gen_params),
	KUNIT_CASE_PARAM(live_k_call_stores_data_into_memory_that_is_exposed, contexts_gen_params),
	KUNIT_CASE_PARAM(live_k_list_of_writes_completes_in_order, contexts_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name		= "kverbs_live_k",
	.test_cases	= cases,
};

kunit_test_suite(suite);
