// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/in.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "fake_conn.h"
#include "fake_qp.h"
#include "group.h"
#include "profile.h"

#define PORT		7472

const char *const fake_stage_names[FAKE_STAGES] = {
	[FAKE_MADE]		= "not started",
	[FAKE_ADDRESSED]	= "address resolved",
	[FAKE_ROUTED]		= "route resolved",
	[FAKE_ASKING]		= "asking",
	[FAKE_REQUESTED]	= "requested",
	[FAKE_ACCEPTING]	= "accepting",
	[FAKE_UP]		= "established",
	[FAKE_UP_PASSIVE]	= "established by the peer",
	[FAKE_CLOSING]		= "closing",
	[FAKE_DEAD]		= "dead",
};

/**
 * fake_await() - wait for an event that must happen
 * @what: the event
 *
 * Return: false if it has not happened in time.
 */
bool fake_await(struct completion *what)
{
	return wait_for_completion_timeout(what, FAKE_PATIENCE);
}

static void on_established(struct kverbs_conn *conn)
{
	struct fake_conn *fake = conn->attr.owner;

	fake->nr_up++;
	complete_all(&fake->up);
}

static void on_ended(struct kverbs_conn *conn)
{
	struct fake_conn *fake = conn->attr.owner;

	fake->nr_ended++;
	complete_all(&fake->ended);
}

static const struct kverbs_conn_ops conn_ops = {
	.established	= on_established,
	.ended		= on_ended,
};

/**
 * fake_conn_attr() - attributes of the connection
 * @fake: its owner
 *
 * Return: the attributes.
 */
struct kverbs_conn_attr fake_conn_attr(struct fake_conn *fake)
{
	return (struct kverbs_conn_attr) {
		.ops = &conn_ops,
		.owner = fake,
		.cqs = &fake->cqs,
		.group = fake->group,
		.param = { .sq_depth = FAKE_DEPTH, .rq_depth = FAKE_DEPTH,
			   .max_sge = fake->max_sge },
		.timeout_ms = FAKE_PATIENCE_MS,
	};
}

static int spy(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_conn *conn = id->context;
	struct fake_conn *fake = conn->attr.owner;

	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		fake_conn_disguise(conn);
	if (fake->held == event->event) {
		complete_all(&fake->held_back);
		return 0;
	}
	return fake->handler(id, event);
}

static void take_conn(struct fake_conn *fake, struct kverbs_conn *conn)
{
	fake->conn = conn;
	if (conn->id) {
		fake->handler = conn->id->event_handler;
		conn->id->event_handler = spy;
	}
}

static int on_request(struct kverbs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct fake_conn *fake = listener->owner;
	struct kverbs_conn_attr attr = fake_conn_attr(fake);
	struct kverbs_conn *conn;
	int ret;

	if (fake->conn)
		return -EBUSY;
	conn = kverbs_conn_adopt(id, event, listener->backlog, &attr);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	fake_conn_disguise(conn);
	ret = kverbs_conn_enter(conn);
	if (ret) {
		kverbs_conn_abandon(conn);
		return ret;
	}
	take_conn(fake, conn);
	complete_all(&fake->requested);
	return 0;
}

static void on_removed(struct kverbs_listener *listener)
{
	struct fake_conn *fake = listener->owner;

	fake->nr_removed++;
}

static const struct kverbs_listener_ops listener_ops = {
	.request	= on_request,
	.removed	= on_removed,
};

static void close_conn(void *data)
{
	struct fake_conn *fake = data;

	fake_hca_let_dereg(fake->hca);
	fake_iw_give_up(fake->hca);
	if (fake->listener)
		kverbs_listener_free(fake->listener);
	if (fake->conn)
		kverbs_conn_free(fake->conn);
	if (fake->region)
		kverbs_region_destroy(fake->region);
	kverbs_cq_set_exit(&fake->cqs);
	kverbs_chain_free(fake->chain);
}

static void give_memory(struct fake_conn *fake)
{
	struct kverbs_region *region;

	fake->addr = kunit_vm_mmap(fake->test, NULL, 0, FAKE_MEM, PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(fake->test, 0, fake->addr);
	region = kverbs_region_create(fake->addr, FAKE_MEM, true);
	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(region));
	fake->region = region;
	fake->chain = kverbs_chain_alloc_max(NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(fake->test, fake->chain);
}

/**
 * fake_conn_create() - create an owner that has no connection yet
 * @test: the test, at whose end the owner is destroyed
 * @hca: the device
 *
 * Return: the owner.
 */
struct fake_conn *fake_conn_create(struct kunit *test, struct fake_hca *hca)
{
	struct fake_conn *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->test = test;
	fake->hca = hca;
	fake->held = -1;
	init_completion(&fake->held_back);
	init_completion(&fake->requested);
	init_completion(&fake->up);
	init_completion(&fake->ended);
	kverbs_cq_set_init(&fake->cqs, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_conn, fake));
	give_memory(fake);
	return fake;
}

/**
 * fake_conn_scatter() - map the memory as if no two of its pages were neighbours
 * @fake: the owner of a connection, which has posted nothing yet
 *
 * Which pages are neighbours is chance, and on it depends how many entries a range requires.
 */
void fake_conn_scatter(struct fake_conn *fake)
{
	unsigned long npages = fake->region->npages, page;
	struct kverbs_span *spans;
	struct kverbs_map *map;

	map = kverbs_map_get(fake->region, &fake->hca->ib, NULL);
	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(map));
	spans = kvcalloc(npages, sizeof(*spans), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(fake->test, spans);
	for (page = 0; page < npages; page++) {
		u64 start = page * PAGE_SIZE;
		const struct kverbs_span *span = kverbs_map_find(map, start);

		spans[page] = (struct kverbs_span) {
			.start = start,
			.addr = span->addr + (start - span->start),
			.length = PAGE_SIZE,
		};
	}
	kvfree(map->spans);
	map->spans = spans;
	map->nr_spans = npages;
}

static struct sockaddr_in address_of(__be32 address)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = address,
	};
}

/**
 * fake_conn_try_listen() - bind a listener
 * @fake: its owner
 * @address: where
 *
 * Return: 0 or -errno.
 */
int fake_conn_try_listen(struct fake_conn *fake, __be32 address)
{
	struct sockaddr_in addr = address_of(address);
	struct kverbs_listener *listener;

	listener = kverbs_listener_create(&init_net, (struct sockaddr *)&addr, 4,
					  &listener_ops, fake);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	fake->listener = listener;
	return 0;
}

/**
 * fake_conn_listen() - let the peer ask
 * @fake: who listens
 * @address: where
 */
void fake_conn_listen(struct fake_conn *fake, __be32 address)
{
	KUNIT_ASSERT_EQ(fake->test, 0, fake_conn_try_listen(fake, address));
	KUNIT_ASSERT_EQ(fake->test, 0, kverbs_listener_start(fake->listener));
	KUNIT_ASSERT_NOT_NULL(fake->test, fake->hca->listening);
}

/**
 * fake_conn_try_begin() - create an active connection
 * @fake: its owner
 * @bound: with a source address
 *
 * Return: 0 or -errno.
 */
int fake_conn_try_begin(struct fake_conn *fake, bool bound)
{
	struct sockaddr_in addr = address_of(htonl(FAKE_ADDRESS)), src = addr;
	struct kverbs_conn_attr attr = fake_conn_attr(fake);
	struct kverbs_conn *conn;

	src.sin_port = 0;
	conn = kverbs_conn_create(&init_net, &attr, bound ? (struct sockaddr *)&src : NULL,
				  (struct sockaddr *)&addr);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	/* The teardown destroys the id if the device has been removed already. */
	mutex_lock(&conn->mutex);
	take_conn(fake, conn);
	mutex_unlock(&conn->mutex);
	return 0;
}

/**
 * fake_conn_begin() - create an active connection
 * @fake: its owner
 */
void fake_conn_begin(struct fake_conn *fake)
{
	KUNIT_ASSERT_EQ(fake->test, 0, fake_conn_try_begin(fake, false));
}

/* Wait until the work and the handler that reported the last event have finished. */
static void settle(struct fake_conn *fake)
{
	rdma_lock_handler(fake->conn->id);
	rdma_unlock_handler(fake->conn->id);
	flush_work(&fake->conn->work);
	mutex_lock(&fake->conn->mutex);
	mutex_unlock(&fake->conn->mutex);
}

static void go_until(struct fake_conn *fake, int event)
{
	fake_conn_begin(fake);
	fake->held = event;
	kverbs_conn_start(fake->conn);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->held_back));
	fake->held = -1;
}

static void ask(struct fake_conn *fake)
{
	fake_conn_begin(fake);
	kverbs_conn_start(fake->conn);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->hca->asked));
}

static void be_asked(struct fake_conn *fake)
{
	fake_conn_listen(fake, htonl(FAKE_ADDRESS));
	fake_iw_request(fake->hca, "hello", 5);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->requested));
}

static void accept(struct fake_conn *fake)
{
	struct kverbs_conn_attr attr = fake_conn_attr(fake);

	be_asked(fake);
	KUNIT_ASSERT_EQ(fake->test, 0, kverbs_conn_accept(fake->conn, &attr));
}

static void come_up(struct fake_conn *fake)
{
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->up));
}

/* Start to close while the device does not release a registration. */
static void begin_to_end(struct fake_conn *fake)
{
	fake_conn_post(fake, KVERBS_OP_READ, 0, PAGE_SIZE);
	fake_hca_hold_dereg(fake->hca);
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->hca->dereg_begun));
}

static void end(struct fake_conn *fake)
{
	kverbs_conn_end(fake->conn, KVERBS_CQE_DISCONNECTED, 0, 0);
	KUNIT_ASSERT_TRUE(fake->test, fake_await(&fake->ended));
}

/**
 * fake_conn_go() - create a connection and bring it to a stage
 * @fake: its owner
 * @stage: the stage
 */
void fake_conn_go(struct fake_conn *fake, enum fake_stage stage)
{
	switch (stage) {
	case FAKE_MADE:
		fake_conn_begin(fake);
		break;
	case FAKE_ADDRESSED:
		go_until(fake, RDMA_CM_EVENT_ADDR_RESOLVED);
		break;
	case FAKE_ROUTED:
		go_until(fake, RDMA_CM_EVENT_ROUTE_RESOLVED);
		break;
	case FAKE_REQUESTED:
		be_asked(fake);
		break;
	case FAKE_ACCEPTING:
	case FAKE_UP_PASSIVE:
		accept(fake);
		break;
	default:
		ask(fake);
		break;
	}
	if (stage >= FAKE_UP)
		come_up(fake);
	settle(fake);
	if (stage == FAKE_CLOSING)
		begin_to_end(fake);
	if (stage == FAKE_DEAD)
		end(fake);
}

/**
 * fake_conn_destroy() - destroy a connection and its owner before the test ends
 * @fake: the owner; its device is reset afterwards
 */
void fake_conn_destroy(struct fake_conn *fake)
{
	struct fake_hca *hca = fake->hca;

	kunit_release_action(fake->test, close_conn, fake);
	fake_hca_forget(hca);
}

/**
 * fake_conn_at() - create an owner with a connection at a stage
 * @test: the test, at whose end the owner is destroyed
 * @hca: the device
 * @stage: stage of the connection
 *
 * Return: the owner.
 */
struct fake_conn *fake_conn_at(struct kunit *test, struct fake_hca *hca,
			       enum fake_stage stage)
{
	struct fake_conn *fake = fake_conn_create(test, hca);

	fake_conn_go(fake, stage);
	return fake;
}

static void work_done(struct list_head *over)
{
	struct kverbs_req *req;

	while ((req = kverbs_req_pop(over, work_done)))
		complete_all(&container_of(req, struct fake_work, req)->done);
}

/**
 * fake_conn_work() - prepare an operation
 * @fake: the owner
 * @opcode: enum kverbs_opcode
 * @offset: offset of the buffer in the memory
 * @length: bytes
 *
 * Return: the operation.
 */
struct fake_work *fake_conn_work(struct fake_conn *fake, u8 opcode, u64 offset, u64 length)
{
	struct fake_work *work = &fake->works[fake->nr_works++];

	KUNIT_ASSERT_LE(fake->test, fake->nr_works, FAKE_OPS);
	init_completion(&work->done);
	work->req = (struct kverbs_req) {
		.opcode = opcode,
		.region = length ? fake->region : NULL,
		.offset = offset,
		.length = length,
		.done = work_done,
	};
	return work;
}

/**
 * fake_conn_try_post() - post an operation
 * @fake: the owner
 * @work: the operation
 *
 * Return: 0, and the operation will complete; or -errno.
 */
int fake_conn_try_post(struct fake_conn *fake, struct fake_work *work)
{
	struct kverbs_req *req = &work->req;
	int ret;

	kverbs_req_use(&work->req);
	if (work->req.opcode == KVERBS_OP_RECV)
		ret = kverbs_conn_recv(fake->conn, &work->req);
	else
		kverbs_conn_post_list(fake->conn, &req, 1, fake->chain, &ret);
	if (ret)
		kverbs_req_unuse(&work->req);
	return ret;
}

/**
 * fake_conn_post() - post an operation that must be accepted
 * @fake: the owner
 * @opcode: enum kverbs_opcode
 * @offset: offset of the buffer in the memory
 * @length: bytes
 *
 * Return: the operation.
 */
struct fake_work *fake_conn_post(struct fake_conn *fake, u8 opcode, u64 offset, u64 length)
{
	struct fake_work *work = fake_conn_work(fake, opcode, offset, length);

	KUNIT_ASSERT_EQ(fake->test, 0, fake_conn_try_post(fake, work));
	return work;
}

static void destroy_group(void *group)
{
	kverbs_group_destroy(group);
}

/**
 * fake_group_create() - create a group that is destroyed after the test
 * @test: the test
 * @hca: its device
 *
 * Return: the group.
 */
struct kverbs_group *fake_group_create(struct kunit *test, struct fake_hca *hca)
{
	struct kverbs_group *group = kverbs_group_create(hca->ib.index, &init_net);

	KUNIT_ASSERT_FALSE(test, IS_ERR(group));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_group, group));
	return group;
}
