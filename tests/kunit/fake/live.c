// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/inetdevice.h>
#include <linux/mman.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "live.h"
#include "patience.h"

/**
 * live_await() - wait for an event that must happen
 * @what: the event
 *
 * Return: false if it has not happened in time.
 */
bool live_await(struct completion *what)
{
	return wait_for_completion_timeout(what, FAKE_PATIENCE);
}

static void on_established(struct kverbs_conn *conn)
{
	struct live_end *end = conn->attr.owner;

	complete_all(&end->up);
}

static void on_ended(struct kverbs_conn *conn)
{
	struct live_end *end = conn->attr.owner;

	complete_all(&end->ended);
}

static const struct kverbs_conn_ops conn_ops = {
	.established	= on_established,
	.ended		= on_ended,
};

static struct kverbs_conn_attr end_attr(struct live *live, struct live_end *end)
{
	return (struct kverbs_conn_attr) {
		.ops = &conn_ops,
		.owner = end,
		.cqs = &live->cqs,
		.param = { .sq_depth = 64, .rq_depth = 64 },
		.timeout_ms = FAKE_PATIENCE_MS,
	};
}

static int on_request(struct kverbs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct live *live = listener->owner;
	struct kverbs_conn_attr attr = end_attr(live, &live->server);
	struct kverbs_conn *conn;
	int ret;

	conn = kverbs_conn_adopt(id, event, listener->backlog, &attr);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ret = kverbs_conn_enter(conn);
	if (ret) {
		kverbs_conn_abandon(conn);
		return ret;
	}
	live->server.conn = conn;
	complete_all(&live->requested);
	return 0;
}

static void on_removed(struct kverbs_listener *listener)
{
}

static const struct kverbs_listener_ops listener_ops = {
	.request	= on_request,
	.removed	= on_removed,
};

static void end_close(struct live_end *end)
{
	if (end->conn)
		kverbs_conn_free(end->conn);
	if (end->region)
		kverbs_region_destroy(end->region);
}

static void live_close(void *data)
{
	struct live *live = data;

	if (live->listener)
		kverbs_listener_free(live->listener);
	if (live->export)
		kverbs_export_destroy(live->export);
	end_close(&live->client);
	end_close(&live->server);
	kverbs_cq_set_exit(&live->cqs);
	kverbs_chain_free(live->chain);
}

static void end_open(struct kunit *test, struct live_end *end)
{
	init_completion(&end->up);
	init_completion(&end->ended);
	end->addr = kunit_vm_mmap(test, NULL, 0, LIVE_MEM, PROT_READ | PROT_WRITE,
				  MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, end->addr);
}

static void end_register(struct kunit *test, struct live_end *end)
{
	struct kverbs_region *region = kverbs_region_create(end->addr, LIVE_MEM, true);

	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	end->region = region;
}

/**
 * live_address() - find the address of the RDMA device
 * @test: the test
 * @sin: set to the address of the guest's only network interface, which has the RDMA device: 6.1
 *	does not tell modules which interface an iWARP device has
 */
void live_address(struct kunit *test, struct sockaddr_in *sin)
{
	struct net_device *netdev;

	*sin = (struct sockaddr_in) { .sin_family = AF_INET };
	rtnl_lock();
	for_each_netdev(&init_net, netdev)
		if (!(netdev->flags & IFF_LOOPBACK) && !sin->sin_addr.s_addr)
			sin->sin_addr.s_addr = inet_select_addr(netdev, 0, RT_SCOPE_UNIVERSE);
	rtnl_unlock();
	KUNIT_ASSERT_TRUE(test, sin->sin_addr.s_addr != htonl(INADDR_ANY));
}

static void start_listener(struct live *live, struct sockaddr *addr)
{
	struct kverbs_listener *listener;

	listener = kverbs_listener_create(&init_net, addr, 4, &listener_ops, live);
	KUNIT_ASSERT_FALSE(live->test, IS_ERR(listener));
	live->listener = listener;
	KUNIT_ASSERT_EQ(live->test, 0, kverbs_listener_start(listener));
}

static void connect_ends(struct live *live, struct sockaddr *addr)
{
	struct kverbs_conn_attr attr = end_attr(live, &live->client);
	struct kunit *test = live->test;
	struct kverbs_conn *conn;

	conn = kverbs_conn_create(&init_net, &attr, NULL, addr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(conn));
	live->client.conn = conn;
	kverbs_conn_start(conn);
	KUNIT_ASSERT_TRUE(test, live_await(&live->requested));
	attr = end_attr(live, &live->server);
	KUNIT_ASSERT_EQ(test, 0, kverbs_conn_accept(live->server.conn, &attr));
	KUNIT_ASSERT_TRUE(test, live_await(&live->client.up));
	KUNIT_ASSERT_TRUE(test, live_await(&live->server.up));
}

/**
 * live_open() - connect two ends
 * @test: the test, at whose end they are closed
 *
 * Return: both ends, established.
 */
struct live *live_open(struct kunit *test)
{
	struct live *live = kunit_kzalloc(test, sizeof(*live), GFP_KERNEL);
	struct sockaddr_storage ss = {};

	KUNIT_ASSERT_NOT_NULL(test, live);
	live->test = test;
	init_completion(&live->requested);
	end_open(test, &live->client);
	end_open(test, &live->server);
	kverbs_cq_set_init(&live->cqs, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, live_close, live));
	live->chain = kverbs_chain_alloc_max(NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, live->chain);
	end_register(test, &live->client);
	end_register(test, &live->server);
	live_address(test, (struct sockaddr_in *)&ss);
	start_listener(live, (struct sockaddr *)&ss);
	connect_ends(live, (struct sockaddr *)&ss);
	return live;
}

/**
 * live_export() - grant the client access to the server's memory
 * @live: both ends
 * @rights: KVERBS_REMOTE_*
 */
void live_export(struct live *live, u32 rights)
{
	const struct kverbs_export_range range = {
		.region = live->server.region, .length = LIVE_MEM,
	};
	struct kverbs_segment *segs;
	struct kverbs_export *export;
	unsigned int nr;

	KUNIT_ASSERT_EQ(live->test, 0, kverbs_export_count(live->server.conn, &range, &nr));
	segs = kunit_kcalloc(live->test, nr, sizeof(*segs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(live->test, segs);
	kverbs_region_use(live->server.region);
	export = kverbs_export_create(live->server.conn, live->server.region, 0, LIVE_MEM,
				      rights, segs);
	kverbs_region_unuse(live->server.region);
	KUNIT_ASSERT_FALSE(live->test, IS_ERR(export));
	live->export = export;
}

static void req_done(struct list_head *over)
{
	struct kverbs_req *req;

	while ((req = kverbs_req_pop(over, req_done)))
		complete_all(&container_of(req, struct live_req, req)->done);
}

/**
 * live_req() - prepare an operation
 * @live: both ends
 * @opcode: enum kverbs_opcode
 * @end: the end whose memory it uses
 * @offset: offset in that memory
 * @length: bytes
 *
 * Return: the operation, with the key of the export if there is one.
 */
struct live_req *live_req(struct live *live, u8 opcode, struct live_end *end,
			  u64 offset, u64 length)
{
	struct live_req *req = &live->reqs[live->nr_reqs++];

	KUNIT_ASSERT_LE(live->test, live->nr_reqs, LIVE_REQS);
	init_completion(&req->done);
	req->req = (struct kverbs_req) {
		.opcode = opcode,
		.region = length ? end->region : NULL,
		.offset = offset,
		.length = length,
		.done = req_done,
	};
	if (live->export) {
		req->req.rkey = live->export->mrs[0]->ib->rkey;
		req->req.remote_addr = live->export->mrs[0]->ib->iova;
	}
	return req;
}

/**
 * live_post() - post an operation
 * @live: both ends
 * @end: the end that posts it
 * @req: the operation
 *
 * Return: 0, and the operation will complete; or -errno.
 */
int live_post(struct live *live, struct live_end *end, struct live_req *req)
{
	struct kverbs_req *first = &req->req;
	int ret;

	kverbs_req_use(&req->req);
	if (req->req.opcode == KVERBS_OP_RECV)
		ret = kverbs_conn_recv(end->conn, &req->req);
	else
		kverbs_conn_post_list(end->conn, &first, 1, live->chain, &ret);
	if (ret)
		kverbs_req_unuse(&req->req);
	return ret;
}
