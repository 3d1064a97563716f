// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fake_conn.h"
#include "fake_pool.h"
#include "fake_qp.h"
#include "pool_cmd.h"
#include "quirks.h"
#include "submit.h"

#define SQ_DEPTH	4

/**
 * fake_pool_region() - create a region of the memory
 * @p: the pool
 * @flags: KVERBS_REGION_*
 *
 * Return: the region.
 */
struct kverbs_region_obj *fake_pool_region(struct fake_pool *p, u32 flags)
{
	struct kverbs_cmd_region_create cmd = {
		.flags = flags, .addr = p->addr, .length = FAKE_POOL_MEM,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_region_create(&ucmd));
	kverbs_object_publish(ucmd.new);
	return container_of(ucmd.new, struct kverbs_region_obj, obj);
}

/**
 * fake_pool_try_create() - create another pool, that later connections use
 * @p: the file
 * @cmd: the ioctl's struct
 *
 * Return: as kverbs_cmd_pool_create().
 */
int fake_pool_try_create(struct fake_pool *p, struct kverbs_cmd_pool_create *cmd)
{
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = cmd };
	int ret = kverbs_cmd_pool_create(&ucmd);

	if (ret)
		return ret;
	kverbs_object_publish(ucmd.new);
	p->pool = container_of(ucmd.new, struct kverbs_pool_obj, obj);
	return 0;
}

static void give_up(void *data)
{
	struct fake_pool *p = data;

	fake_iw_give_up(p->hca);
}

/**
 * fake_pool_create() - create a file with a ring, an empty pool and a region
 * @test: the test, at whose end the file is closed
 * @hca: the device of its connections
 * @cq_entries: size of the completion ring
 *
 * Return: the file.
 */
struct fake_pool *fake_pool_create(struct kunit *test, struct fake_hca *hca,
				   u32 cq_entries)
{
	struct fake_pool *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct kverbs_cmd_pool_create cmd = { .entries = FAKE_POOL_ENTRIES };

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->test = test;
	p->addr = kunit_vm_mmap(test, NULL, 0, FAKE_POOL_MEM + PAGE_SIZE,
				PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, p->addr);
	p->hca = hca;
	p->file = fake_file_create(test);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, give_up, p));
	p->ring = fake_ring_create(test, p->file, 4, cq_entries);
	KUNIT_ASSERT_EQ(test, 0, fake_pool_try_create(p, &cmd));
	p->region = fake_pool_region(p, 0);
	return p;
}

/**
 * fake_pool_user() - what user space writes of the pool
 * @p: the pool
 *
 * Return: the index, in front of the buffers.
 */
struct kverbs_pool_user *fake_pool_user(struct fake_pool *p)
{
	return p->pool->user.addr;
}

/**
 * fake_pool_kernel() - what the kernel writes of the pool
 * @p: the pool
 *
 * Return: the index and flags.
 */
struct kverbs_pool_kernel *fake_pool_kernel(struct fake_pool *p)
{
	return p->pool->kernel.addr;
}

/**
 * fake_pool_flags() - flags of the pool
 * @p: the pool
 *
 * Return: KVERBS_POOL_KFLAG_*.
 */
u32 fake_pool_flags(struct fake_pool *p)
{
	return READ_ONCE(fake_pool_kernel(p)->flags);
}

/**
 * fake_pool_is_waiting() - whether SUBMIT must name the pool
 * @p: the pool
 *
 * Return: true if so.
 */
bool fake_pool_is_waiting(struct fake_pool *p)
{
	return fake_pool_flags(p) & KVERBS_POOL_KFLAG_WAITING;
}

/**
 * fake_pool_put() - add a buffer as user space does
 * @p: the pool
 * @buf: the buffer
 */
void fake_pool_put(struct fake_pool *p, const struct kverbs_pool_buf *buf)
{
	struct kverbs_pool_user *user = fake_pool_user(p);
	struct kverbs_pool_buf *bufs = (struct kverbs_pool_buf *)(user + 1);

	bufs[user->tail & (FAKE_POOL_ENTRIES - 1)] = *buf;
	/* The buffer is written before. */
	smp_store_release(&user->tail, user->tail + 1);
}

static struct kverbs_pool_buf a_buf(struct fake_pool *p, u16 id)
{
	return (struct kverbs_pool_buf) {
		.offset = id * FAKE_POOL_BUF,
		.length = FAKE_POOL_BUF,
		.region_id = p->region->obj.id,
		.id = id,
	};
}

/**
 * fake_pool_add() - add buffers of the region
 * @p: the pool
 * @first: id of the first one, from which the others count
 * @nr: how many
 */
void fake_pool_add(struct fake_pool *p, u16 first, unsigned int nr)
{
	struct kverbs_pool_buf buf;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		buf = a_buf(p, first + i);
		fake_pool_put(p, &buf);
	}
}

/**
 * fake_pool_wake() - call SUBMIT with the pool
 * @p: the pool
 *
 * Return: as kverbs_cmd_submit().
 */
int fake_pool_wake(struct fake_pool *p)
{
	struct kverbs_cmd_submit cmd = {
		.ring_id = p->ring->obj.id, .pool_id = p->pool->obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	return kverbs_cmd_submit(&ucmd);
}

/**
 * fake_pool_cqe() - the next completion that is written
 * @p: the pool
 *
 * Return: the completion.
 */
struct kverbs_cqe fake_pool_cqe(struct fake_pool *p)
{
	struct kverbs_ring_kernel *kernel = fake_ring_kernel(p->ring);
	struct kverbs_cqe cqe;

	/* Pairs with the kernel's release. */
	KUNIT_ASSERT_TRUE(p->test, FAKE_SOON(smp_load_acquire(&kernel->cq_tail) !=
					     p->nr_read));
	cqe = *fake_ring_cqe(p->ring, p->nr_read);
	/* The completion is read before. */
	smp_store_release(&fake_ring_user(p->ring)->cq_head, ++p->nr_read);
	return cqe;
}

/**
 * fake_pool_expect_event() - expect an event of a connection as the next completion
 * @p: the pool
 * @type: of the event
 */
void fake_pool_expect_event(struct fake_pool *p, enum kverbs_cqe_type type)
{
	struct kverbs_cqe cqe = fake_pool_cqe(p);

	KUNIT_EXPECT_EQ(p->test, type, cqe.type);
	KUNIT_EXPECT_EQ(p->test, 0, cqe.buf_id);
}

/**
 * fake_pool_settle() - wait until a connection does nothing more by itself
 * @conn: the connection
 */
void fake_pool_settle(struct kverbs_conn *conn)
{
	/* The handler that reported the last event queues the work after that. */
	rdma_lock_handler(conn->id);
	rdma_unlock_handler(conn->id);
	flush_work(&conn->work);
	mutex_lock(&conn->mutex);
	mutex_unlock(&conn->mutex);
}

/* The handler of the CM's events, the same for all connections. */
static rdma_cm_event_handler real_handler;

/* The CM of the fake device is that of iWARP, so its limits say whether messages are retried. */
static int spy(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_conn *conn = id->context;

	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED &&
	    to_fake_hca(id->device)->limits.device_cap_flags & IB_DEVICE_RC_RNR_NAK_GEN)
		conn->queue.quirks &= ~KVERBS_QUIRK_NO_RNR;
	return real_handler(id, event);
}

static void watch(struct kverbs_conn *conn)
{
	real_handler = conn->id->event_handler;
	conn->id->event_handler = spy;
}

/**
 * fake_pool_connect() - let a connection with the pool begin
 * @p: the pool
 * @depth: its receives
 *
 * Return: the connection.
 */
struct kverbs_conn_obj *fake_pool_connect(struct fake_pool *p, unsigned int depth)
{
	struct kverbs_conn_param param = { .sq_depth = SQ_DEPTH, .rq_depth = depth };
	struct kverbs_cmd_connect cmd = {
		.ring_id = p->ring->obj.id,
		.user_data = FAKE_POOL_DATA,
		.param_uptr = p->addr + FAKE_POOL_MEM,
		.param_size = sizeof(param),
		.dst = { .family = AF_INET, .port = 7, .addr = { 198, 51, 100, 1 } },
		.pool_id = p->pool->obj.id,
		.group_id = p->group_id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };
	struct kverbs_conn_obj *conn_obj;

	KUNIT_ASSERT_EQ(p->test, 0, copy_to_user((void __user *)cmd.param_uptr, &param,
						 sizeof(param)));
	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_connect(&ucmd));
	kverbs_object_publish(ucmd.new);
	conn_obj = container_of(ucmd.new, struct kverbs_conn_obj, obj);
	watch(conn_obj->conn);
	ucmd.start(ucmd.new);
	return conn_obj;
}

/**
 * fake_pool_start() - let a connection with the pool ask its peer
 * @p: the pool
 * @depth: its receives
 *
 * Return: the connection.
 */
struct kverbs_conn_obj *fake_pool_start(struct fake_pool *p, unsigned int depth)
{
	struct kverbs_conn_obj *conn_obj = fake_pool_connect(p, depth);

	KUNIT_ASSERT_TRUE(p->test, fake_await(&p->hca->asked));
	reinit_completion(&p->hca->asked);
	return conn_obj;
}

/**
 * fake_pool_establish() - create an established connection with the pool
 * @p: the pool
 * @depth: its receives
 *
 * Return: the connection.
 */
struct kverbs_conn_obj *fake_pool_establish(struct fake_pool *p, unsigned int depth)
{
	struct kverbs_conn_obj *conn_obj = fake_pool_start(p, depth);

	fake_iw_answer(p->hca, 0, NULL, 0);
	fake_pool_expect_event(p, KVERBS_CQE_ESTABLISHED);
	fake_pool_settle(conn_obj->conn);
	return conn_obj;
}

/**
 * fake_pool_expect_flushed() - expect a buffer that comes back unused as the next completion
 * @p: the pool
 * @id: of the buffer
 */
void fake_pool_expect_flushed(struct fake_pool *p, u16 id)
{
	struct kverbs_cqe cqe = fake_pool_cqe(p);

	KUNIT_EXPECT_EQ(p->test, KVERBS_CQE_WORK, cqe.type);
	KUNIT_EXPECT_EQ(p->test, -EIO, cqe.result);
	KUNIT_EXPECT_EQ(p->test, IB_WC_WR_FLUSH_ERR, cqe.wc_status);
	KUNIT_EXPECT_EQ(p->test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER, cqe.flags);
	KUNIT_EXPECT_EQ(p->test, id, cqe.buf_id);
}

/**
 * fake_pool_uses() - operations that use the region
 * @p: the pool
 *
 * Return: how many.
 */
long fake_pool_uses(struct fake_pool *p)
{
	return atomic_long_read(&p->region->region->uses);
}
