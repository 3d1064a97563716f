// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: from the ring of buffers to receives on the device, and back. */
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "conn_cmd.h"
#include "fake_conn.h"
#include "fake_file.h"
#include "fake_qp.h"
#include "pool_cmd.h"
#include "pool_obj.h"
#include "region_cmd.h"
#include "submit.h"

#define ENTRIES		8
#define DEPTH		4
#define BUF		256
#define MEM		(4 * PAGE_SIZE)
#define CONN_DATA	0x1234

/**
 * struct pooled - a file with a ring, a pool and a region on a device
 * @test: the test, at whose end the file is closed
 * @hca: the device
 * @file: the file
 * @ring: the ring of all connections
 * @pool: the pool
 * @addr: MEM bytes of user memory, and a page for parameters
 * @region: region of the first MEM bytes
 * @nr_read: completions read
 */
struct pooled {
	struct kunit *test;
	struct fake_hca *hca;
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_pool_obj *pool;
	unsigned long addr;
	struct kverbs_region_obj *region;
	u32 nr_read;
};

static struct kverbs_region_obj *create_region(struct pooled *p, u32 flags)
{
	struct kverbs_cmd_region_create cmd = {
		.flags = flags, .addr = p->addr, .length = MEM,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_region_create(&ucmd));
	kverbs_object_publish(ucmd.new);
	return container_of(ucmd.new, struct kverbs_region_obj, obj);
}

static int try_create_pool(struct pooled *p, struct kverbs_cmd_pool_create *cmd)
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
	struct pooled *p = data;

	fake_iw_give_up(p->hca);
}

static struct pooled *create(struct kunit *test, u32 cq_entries)
{
	struct pooled *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct kverbs_cmd_pool_create cmd = { .entries = ENTRIES };

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->test = test;
	p->addr = kunit_vm_mmap(test, NULL, 0, MEM + PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, p->addr);
	p->hca = fake_device_create(test);
	p->file = fake_file_create(test);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, give_up, p));
	p->ring = fake_ring_create(test, p->file, 4, cq_entries);
	KUNIT_ASSERT_EQ(test, 0, try_create_pool(p, &cmd));
	p->region = create_region(p, 0);
	return p;
}

static struct kverbs_pool_user *user_of(struct pooled *p)
{
	return p->pool->user.addr;
}

static struct kverbs_pool_kernel *kernel_of(struct pooled *p)
{
	return p->pool->kernel.addr;
}

static u32 flags_of(struct pooled *p)
{
	return READ_ONCE(kernel_of(p)->flags);
}

static bool is_waiting(struct pooled *p)
{
	return flags_of(p) & KVERBS_POOL_KFLAG_WAITING;
}

static void add_buf(struct pooled *p, const struct kverbs_pool_buf *buf)
{
	struct kverbs_pool_user *user = user_of(p);
	struct kverbs_pool_buf *bufs = (struct kverbs_pool_buf *)(user + 1);

	bufs[user->tail & (ENTRIES - 1)] = *buf;
	/* The buffer is written before. */
	smp_store_release(&user->tail, user->tail + 1);
}

static struct kverbs_pool_buf a_buf(struct pooled *p, u16 id)
{
	return (struct kverbs_pool_buf) {
		.offset = id * BUF,
		.length = BUF,
		.region_id = p->region->obj.id,
		.id = id,
	};
}

/* Adds buffers whose ids count from @first. */
static void add(struct pooled *p, u16 first, unsigned int nr)
{
	struct kverbs_pool_buf buf;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		buf = a_buf(p, first + i);
		add_buf(p, &buf);
	}
}

static int wake(struct pooled *p)
{
	struct kverbs_cmd_submit cmd = {
		.ring_id = p->ring->obj.id, .pool_id = p->pool->obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	return kverbs_cmd_submit(&ucmd);
}

/* The next completion that is written. */
static struct kverbs_cqe next_cqe(struct pooled *p)
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

static void expect_event(struct pooled *p, enum kverbs_cqe_type type)
{
	struct kverbs_cqe cqe = next_cqe(p);

	KUNIT_EXPECT_EQ(p->test, type, cqe.type);
	KUNIT_EXPECT_EQ(p->test, 0, cqe.buf_id);
}

static void settle(struct kverbs_conn *conn)
{
	flush_work(&conn->work);
	mutex_lock(&conn->mutex);
	mutex_unlock(&conn->mutex);
}

static struct kverbs_conn_obj *start(struct pooled *p, unsigned int depth)
{
	struct kverbs_conn_param param = { .sq_depth = DEPTH, .rq_depth = depth };
	struct kverbs_cmd_connect cmd = {
		.ring_id = p->ring->obj.id,
		.user_data = CONN_DATA,
		.param_uptr = p->addr + MEM,
		.param_size = sizeof(param),
		.dst = { .family = AF_INET, .port = 7, .addr = { 198, 51, 100, 1 } },
		.pool_id = p->pool->obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_ASSERT_EQ(p->test, 0, copy_to_user((void __user *)cmd.param_uptr, &param,
						 sizeof(param)));
	KUNIT_ASSERT_EQ(p->test, 0, kverbs_cmd_connect(&ucmd));
	kverbs_object_publish(ucmd.new);
	ucmd.start(ucmd.new);
	KUNIT_ASSERT_TRUE(p->test, fake_await(&p->hca->asked));
	reinit_completion(&p->hca->asked);
	return container_of(ucmd.new, struct kverbs_conn_obj, obj);
}

static struct kverbs_conn_obj *establish(struct pooled *p, unsigned int depth)
{
	struct kverbs_conn_obj *conn_obj = start(p, depth);

	fake_iw_answer(p->hca, 0, NULL, 0);
	expect_event(p, KVERBS_CQE_ESTABLISHED);
	settle(conn_obj->conn);
	return conn_obj;
}

static struct fake_wr *next_recv(struct pooled *p, const struct kverbs_conn_obj *conn_obj,
				 unsigned int *nr)
{
	struct fake_wr *first = NULL;
	unsigned long flags;
	unsigned int i;

	*nr = 0;
	spin_lock_irqsave(&p->hca->lock, flags);
	for (i = 0; i < p->hca->nr_recvs; i++) {
		struct fake_wr *wr = &p->hca->recvs[i];

		if (wr->qp != conn_obj->conn->qp || wr->ended)
			continue;
		first = first ?: wr;
		++*nr;
	}
	spin_unlock_irqrestore(&p->hca->lock, flags);
	return first;
}

static unsigned int posted(struct pooled *p, const struct kverbs_conn_obj *conn_obj)
{
	unsigned int nr;

	next_recv(p, conn_obj, &nr);
	return nr;
}

/* Waits until the connection has so many receives posted, and does nothing more. */
static void expect_posted(struct pooled *p, struct kverbs_conn_obj *conn_obj, unsigned int nr)
{
	KUNIT_EXPECT_TRUE(p->test, FAKE_SOON(posted(p, conn_obj) == nr));
	settle(conn_obj->conn);
	KUNIT_EXPECT_EQ(p->test, nr, posted(p, conn_obj));
}

/* A message arrives; returns its completion. */
static struct kverbs_cqe arrive(struct pooled *p, struct kverbs_conn_obj *conn_obj, u32 bytes)
{
	const struct ib_wc wc = {
		.status = IB_WC_SUCCESS, .opcode = IB_WC_RECV, .byte_len = bytes,
	};
	unsigned int nr;
	struct fake_wr *wr = next_recv(p, conn_obj, &nr);
	struct kverbs_cqe cqe;

	KUNIT_ASSERT_NOT_NULL(p->test, wr);
	fake_wr_end(wr, wc);
	cqe = next_cqe(p);
	settle(conn_obj->conn);
	return cqe;
}

static void expect_flushed(struct pooled *p, u16 id)
{
	struct kverbs_cqe cqe = next_cqe(p);

	KUNIT_EXPECT_EQ(p->test, KVERBS_CQE_WORK, cqe.type);
	KUNIT_EXPECT_EQ(p->test, -EIO, cqe.result);
	KUNIT_EXPECT_EQ(p->test, IB_WC_WR_FLUSH_ERR, cqe.wc_status);
	KUNIT_EXPECT_EQ(p->test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER, cqe.flags);
	KUNIT_EXPECT_EQ(p->test, id, cqe.buf_id);
}

static long uses(struct pooled *p)
{
	return atomic_long_read(&p->region->region->uses);
}

/* ---- POOL_CREATE ---------------------------------------------------------- */

static const struct wish {
	const char *what;
	u32 flags;
	u32 entries;
	int expected;
} wishes[] = {
	{ "one buffer", 0, 1, 0 },
	{ "the most", 0, KVERBS_MAX_POOL_ENTRIES, 0 },
	{ "none", 0, 0, -EINVAL },
	{ "not a power of two", 0, 3, -EINVAL },
	{ "too many", 0, 2 * KVERBS_MAX_POOL_ENTRIES, -EINVAL },
	{ "a flag", 1, 1, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(wishes, wishes, what);

static void create_checks_every_field(struct kunit *test)
{
	const struct wish *wish = test->param_value;
	struct pooled *p = create(test, 16);
	struct kverbs_cmd_pool_create cmd = { .flags = wish->flags, .entries = wish->entries };
	const struct kverbs_pool_buf *bufs;

	KUNIT_EXPECT_EQ(test, wish->expected, try_create_pool(p, &cmd));
	if (wish->expected)
		return;
	KUNIT_EXPECT_EQ(test, wish->entries, kernel_of(p)->entries);
	KUNIT_EXPECT_EQ(test, sizeof(struct kverbs_pool_user), cmd.out_bufs_offset);
	KUNIT_EXPECT_LE(test, cmd.out_bufs_offset + array_size(wish->entries, sizeof(*bufs)),
			cmd.out_user_size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, cmd.out_kernel_size);
	KUNIT_EXPECT_NE(test, cmd.out_user_offset, cmd.out_kernel_offset);
}

static void file_has_a_limit_of_pools(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_cmd_pool_create cmd = { .entries = 1 };
	unsigned int i;

	for (i = 1; i < KVERBS_MAX_POOLS; i++)
		KUNIT_ASSERT_EQ(test, 0, try_create_pool(p, &cmd));
	KUNIT_EXPECT_EQ(test, -ENOMEM, try_create_pool(p, &cmd));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(p->file, p->pool->obj.id));
	KUNIT_EXPECT_EQ(test, 0, try_create_pool(p, &cmd));
}

/* ---- filling -------------------------------------------------------------- */

static void queue_is_filled_before_the_peer_is_asked(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, ENTRIES);
	conn_obj = start(p, DEPTH);
	KUNIT_EXPECT_EQ(test, DEPTH, posted(p, conn_obj));
	KUNIT_EXPECT_EQ(test, DEPTH, kernel_of(p)->head);
	KUNIT_EXPECT_EQ(test, DEPTH, uses(p));
}

static void completion_names_connection_and_buffer(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_cqe cqe;

	add(p, 5, 1);
	conn_obj = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, BUF, p->hca->recvs[0].sges[0].length);
	cqe = arrive(p, conn_obj, 17);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_WORK, cqe.type);
	KUNIT_EXPECT_EQ(test, 0, cqe.result);
	KUNIT_EXPECT_EQ(test, conn_obj->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, CONN_DATA, cqe.user_data);
	KUNIT_EXPECT_EQ(test, 5, cqe.buf_id);
	KUNIT_EXPECT_EQ(test, 17, cqe.byte_len);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER | KVERBS_CQE_F_MORE,
			cqe.flags);
	KUNIT_EXPECT_EQ(test, 0, uses(p));
}

static void queue_is_refilled_without_a_system_call(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;
	unsigned int i;

	add(p, 0, ENTRIES);
	conn_obj = establish(p, DEPTH);
	for (i = 0; i < 5 * ENTRIES; i++) {
		struct kverbs_cqe cqe = arrive(p, conn_obj, BUF);

		KUNIT_EXPECT_EQ(test, i % ENTRIES, cqe.buf_id);
		expect_posted(p, conn_obj, DEPTH);
		add(p, cqe.buf_id, 1);
	}
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

static void large_queue_is_refilled_a_quarter_at_a_time(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, ENTRIES);
	conn_obj = establish(p, ENTRIES);
	add(p, 0, ENTRIES);
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_EQ(test, ENTRIES - 1, posted(p, conn_obj));
	arrive(p, conn_obj, 1);
	expect_posted(p, conn_obj, ENTRIES);
}

/* ---- exhaustion ------------------------------------------------------------ */

static void connection_with_half_its_receives_needs_no_wake(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 3);
	conn_obj = establish(p, DEPTH);
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_EQ(test, DEPTH / 2, posted(p, conn_obj));
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
	add(p, 3, 2);
	arrive(p, conn_obj, 1);
	expect_posted(p, conn_obj, 3);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

/* Without this a burst after a pause would find the few receives that were left. */
static void connection_with_fewer_is_topped_up_when_buffers_arrive(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 2);
	conn_obj = establish(p, DEPTH);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_EQ(test, 1, posted(p, conn_obj));
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	add(p, 2, ENTRIES - 2);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, conn_obj, DEPTH);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

static void connection_without_a_receive_waits_for_a_wake(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	conn_obj = establish(p, DEPTH);
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	add(p, 0, 3);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, conn_obj, 3);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
	arrive(p, conn_obj, 1);
	arrive(p, conn_obj, 1);
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_ESTABLISHED, conn_obj->conn->state);
	add(p, 0, 2);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, conn_obj, 2);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

static void wake_of_an_empty_pool_changes_nothing(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj = establish(p, DEPTH);

	KUNIT_EXPECT_EQ(test, 0, wake(p));
	settle(conn_obj->conn);
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	KUNIT_EXPECT_EQ(test, 0, posted(p, conn_obj));
}

static void wake_needs_a_pool(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_cmd_submit cmd = {
		.ring_id = p->ring->obj.id, .pool_id = p->region->obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };

	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_cmd_submit(&ucmd));
}

/* Two of the four slots are for the connection's events. */
static void connection_without_a_completion_slot_waits(struct kunit *test)
{
	struct pooled *p = create(test, 4);
	struct kverbs_conn_obj *conn_obj;
	unsigned int nr;

	add(p, 0, 5);
	conn_obj = start(p, DEPTH);
	KUNIT_EXPECT_EQ(test, 2, posted(p, conn_obj));
	fake_iw_answer(p->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, FAKE_SOON(fake_ring_kernel(p->ring)->cq_tail == 1));
	fake_wr_complete(next_recv(p, conn_obj, &nr), IB_WC_SUCCESS);
	fake_wr_complete(next_recv(p, conn_obj, &nr), IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, FAKE_SOON(fake_ring_kernel(p->ring)->cq_tail == 3));
	settle(conn_obj->conn);
	KUNIT_EXPECT_EQ(test, 0, posted(p, conn_obj));
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	expect_event(p, KVERBS_CQE_ESTABLISHED);
	next_cqe(p);
	next_cqe(p);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, conn_obj, 3);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

/* ---- several connections ---------------------------------------------------- */

static void connections_share_a_pool(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *first, *second;

	add(p, 0, ENTRIES);
	first = establish(p, DEPTH);
	second = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, DEPTH, posted(p, first));
	KUNIT_EXPECT_EQ(test, DEPTH, posted(p, second));
	KUNIT_EXPECT_EQ(test, DEPTH, arrive(p, second, 1).buf_id);
	KUNIT_EXPECT_EQ(test, 0, arrive(p, first, 1).buf_id);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&p->pool->users));
}

static void connection_without_a_receive_goes_first(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *rich, *poor;

	add(p, 0, DEPTH);
	rich = establish(p, DEPTH);
	poor = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, 0, posted(p, poor));
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	add(p, DEPTH, 1);
	arrive(p, rich, 1);
	KUNIT_EXPECT_EQ(test, DEPTH - 1, posted(p, rich));
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, poor, 1);
	KUNIT_EXPECT_EQ(test, DEPTH - 1, posted(p, rich));
}

static void connection_with_fewer_receives_goes_before_one_with_more(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *rich, *poor;

	add(p, 0, DEPTH);
	rich = establish(p, DEPTH - 1);
	arrive(p, rich, 1);
	poor = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, 0, posted(p, poor));
	add(p, DEPTH, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, poor, 1);
	arrive(p, rich, 1);
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	add(p, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, poor, 2);
	KUNIT_EXPECT_EQ(test, 2, posted(p, rich));
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

static void each_waiting_connection_gets_a_buffer(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *first = establish(p, DEPTH);
	struct kverbs_conn_obj *second = establish(p, DEPTH);

	add(p, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, first, 1);
	KUNIT_EXPECT_EQ(test, 0, posted(p, second));
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	add(p, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, second, 1);
	KUNIT_EXPECT_EQ(test, 1, posted(p, first));
}

/* The buffers that one connection has no room for go to another one that waits for more. */
static void satisfied_connection_passes_on(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *rich, *poor;

	add(p, 0, 1);
	rich = establish(p, DEPTH);
	poor = establish(p, 1);
	KUNIT_EXPECT_EQ(test, 1, posted(p, rich));
	add(p, 1, DEPTH);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, poor, 1);
	expect_posted(p, rich, DEPTH);
}

/* ---- what user space writes --------------------------------------------------- */

static const struct lie {
	const char *what;
	struct kverbs_pool_buf buf;
	bool read_only;
	int expected;
} lies[] = {
	{ "no bytes", { .length = 0 }, false, -EINVAL },
	{ "beyond the end", { .offset = MEM, .length = 1 }, false, -EINVAL },
	{ "across the end", { .offset = MEM - 1, .length = 2 }, false, -EINVAL },
	{ "an offset that wraps", { .offset = U64_MAX, .length = 2 }, false, -EINVAL },
	{ "memory that is only read", { .length = 1 }, true, -EINVAL },
	{ "no such region", { .length = 1, .region_id = 99 }, false, -ENOENT },
	{ "1st reserved", { .length = 1, .__reserved = { 1 } }, false, -EINVAL },
	{ "3rd reserved", { .length = 1, .__reserved = { 0, 0, 1 } }, false, -EINVAL },
	{ "last reserved", { .length = 1, .__reserved2 = 1 }, false, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(lies, lies, what);

static void bad_buffer_completes_and_the_next_is_taken(struct kunit *test)
{
	const struct lie *lie = test->param_value;
	struct pooled *p = create(test, 16);
	struct kverbs_region_obj *read_only = create_region(p, KVERBS_REGION_READ_ONLY);
	struct kverbs_pool_buf buf = lie->buf;
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_cqe cqe;

	buf.id = 7;
	if (!buf.region_id)
		buf.region_id = (lie->read_only ? read_only : p->region)->obj.id;
	add_buf(p, &buf);
	add(p, 1, 1);
	conn_obj = start(p, DEPTH);
	cqe = next_cqe(p);
	KUNIT_EXPECT_EQ(test, lie->expected, cqe.result);
	KUNIT_EXPECT_EQ(test, 7, cqe.buf_id);
	KUNIT_EXPECT_EQ(test, conn_obj->obj.id, cqe.id);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER | KVERBS_CQE_F_MORE,
			cqe.flags);
	KUNIT_EXPECT_EQ(test, 1, posted(p, conn_obj));
	KUNIT_EXPECT_EQ(test, 1, uses(p));
}

/* Nothing but bad buffers: the work gives way after as many as the queue has room for. */
static void bad_buffers_do_not_occupy_the_work(struct kunit *test)
{
	struct pooled *p = create(test, 32);
	struct kverbs_conn_obj *conn_obj = establish(p, 1);
	struct kverbs_pool_buf bad = { .id = 3 };
	unsigned int i;

	for (i = 0; i < ENTRIES - 1; i++)
		add_buf(p, &bad);
	add(p, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	for (i = 0; i < ENTRIES - 1; i++)
		KUNIT_EXPECT_EQ(test, -EINVAL, next_cqe(p).result);
	expect_posted(p, conn_obj, 1);
}

static const struct index {
	const char *what;
	u32 ahead;
} indices[] = {
	{ "one more than the ring holds", ENTRIES + 1 },
	{ "half the range", 1U << 31 },
	{ "one back", U32_MAX },
};

KUNIT_ARRAY_PARAM_DESC(indices, indices, what);

static void bad_index_gives_no_buffer(struct kunit *test)
{
	const struct index *index = test->param_value;
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 1);
	user_of(p)->tail = index->ahead;
	conn_obj = establish(p, 1);
	KUNIT_EXPECT_EQ(test, 0, posted(p, conn_obj));
	KUNIT_EXPECT_EQ(test, KVERBS_POOL_KFLAG_WAITING | KVERBS_POOL_KFLAG_BAD_INDEX,
			flags_of(p));
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	settle(conn_obj->conn);
	KUNIT_EXPECT_EQ(test, 0, posted(p, conn_obj));
	user_of(p)->tail = 1;
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	expect_posted(p, conn_obj, 1);
	KUNIT_EXPECT_EQ(test, KVERBS_POOL_KFLAG_BAD_INDEX, flags_of(p));
}

static void written_head_is_not_believed(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 3);
	kernel_of(p)->head = 2;
	kernel_of(p)->entries = 1U << 31;
	conn_obj = start(p, DEPTH);
	KUNIT_EXPECT_EQ(test, 3, posted(p, conn_obj));
	KUNIT_EXPECT_EQ(test, 3, kernel_of(p)->head);
}

static int submit_recv(struct pooled *p, u32 conn_id)
{
	struct kverbs_cmd_submit cmd = { .ring_id = p->ring->obj.id, .to_submit = 1 };
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };
	struct kverbs_sqe *sqe = p->ring->sq.addr;

	*sqe = (struct kverbs_sqe) { .opcode = KVERBS_OP_RECV, .conn_id = conn_id };
	fake_ring_user(p->ring)->sq_tail++;
	return kverbs_cmd_submit(&ucmd);
}

static void recv_of_a_connection_with_a_pool_is_refused(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj = establish(p, DEPTH);
	struct kverbs_cqe cqe;

	KUNIT_EXPECT_EQ(test, 0, submit_recv(p, conn_obj->obj.id));
	cqe = next_cqe(p);
	KUNIT_EXPECT_EQ(test, -EINVAL, cqe.result);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_RECV, cqe.flags);
	KUNIT_EXPECT_EQ(test, 0, posted(p, conn_obj));
}

static void queue_of_a_pool_is_never_reserved(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj = establish(p, DEPTH);

	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_queue_reserve(&conn_obj->conn->queue));
}

/* ---- ACCEPT --------------------------------------------------------------------- */

static int take_none(struct kverbs_recv_pool *pool, struct kverbs_conn *conn,
		     struct kverbs_req **reqs, unsigned int max, unsigned int *nr)
{
	return -ENOBUFS;
}

static unsigned int count_none(struct kverbs_recv_pool *pool)
{
	return 0;
}

static void waiting_ignored(struct kverbs_recv_pool *pool, bool waiting)
{
}

static const struct kverbs_recv_pool_ops empty_ops = {
	.take		= take_none,
	.count		= count_none,
	.waiting	= waiting_ignored,
};

static void accept_with_a_pool_allows_no_earlier_receive(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_recv_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	struct kverbs_conn_attr attr = fake_conn_attr(fake);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	kverbs_recv_pool_init(pool, &empty_ops);
	fake_conn_post(fake, KVERBS_OP_RECV, 0, 100);
	attr.recv_pool = pool;
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_conn_accept(fake->conn, &attr));
	KUNIT_EXPECT_EQ(test, KVERBS_CONN_REQUESTED, fake->conn->state);
	attr.recv_pool = NULL;
	KUNIT_EXPECT_EQ(test, 0, kverbs_conn_accept(fake->conn, &attr));
}

static void accepted_connection_waits_at_its_pool(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_recv_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_REQUESTED);
	struct kverbs_conn_attr attr = fake_conn_attr(fake);
	struct fake_work *recv = fake_conn_work(fake, KVERBS_OP_RECV, 0, 100);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	kverbs_recv_pool_init(pool, &empty_ops);
	attr.recv_pool = pool;
	KUNIT_ASSERT_EQ(test, 0, kverbs_conn_accept(fake->conn, &attr));
	KUNIT_EXPECT_TRUE(test, pool->is_wanted);
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_conn_try_post(fake, recv));
	fake_iw_give_up(hca);
	kverbs_conn_close(fake->conn);
	KUNIT_EXPECT_FALSE(test, pool->is_wanted);
}

/* ---- the end ---------------------------------------------------------------------- */

static void end_returns_the_buffers_before_the_last_completion(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 3);
	conn_obj = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(p->file, p->region->obj.id));
	fake_iw_close(conn_obj->conn->qp);
	expect_flushed(p, 0);
	expect_flushed(p, 1);
	expect_flushed(p, 2);
	expect_event(p, KVERBS_CQE_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(p->file, p->region->obj.id));
}

static void buffers_return_if_the_peer_refuses(struct kunit *test)
{
	struct pooled *p = create(test, 16);

	add(p, 0, 2);
	start(p, DEPTH);
	fake_iw_answer(p->hca, -ECONNREFUSED, NULL, 0);
	expect_flushed(p, 0);
	expect_flushed(p, 1);
	expect_event(p, KVERBS_CQE_REJECTED);
	KUNIT_EXPECT_EQ(test, 0, uses(p));
}

static void removal_returns_the_buffers(struct kunit *test)
{
	struct pooled *p = create(test, 16);

	add(p, 0, 2);
	establish(p, DEPTH);
	fake_device_remove(p->hca);
	expect_flushed(p, 0);
	expect_flushed(p, 1);
	expect_event(p, KVERBS_CQE_DEVICE_REMOVED);
	KUNIT_EXPECT_TRUE(test, fake_device_is_empty(p->hca));
	KUNIT_EXPECT_EQ(test, 0, uses(p));
}

static void removal_ends_the_wait_at_the_pool(struct kunit *test)
{
	struct pooled *p = create(test, 16);

	establish(p, DEPTH);
	KUNIT_EXPECT_TRUE(test, is_waiting(p));
	fake_device_remove(p->hca);
	expect_event(p, KVERBS_CQE_DEVICE_REMOVED);
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
	add(p, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	KUNIT_EXPECT_EQ(test, 0, kernel_of(p)->head);
}

static void pool_is_busy_while_a_connection_uses_it(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj = establish(p, DEPTH);
	u32 id = p->pool->obj.id;

	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(p->file, id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(p->file, conn_obj->obj.id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(p->file, id));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(p->file, id));
}

static void destroying_a_connection_returns_its_buffers(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;

	add(p, 0, 2);
	conn_obj = establish(p, DEPTH);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(p->file, conn_obj->obj.id));
	expect_flushed(p, 0);
	expect_flushed(p, 1);
	KUNIT_EXPECT_EQ(test, 0, p->ring->reserved);
}

/* ---- faults ------------------------------------------------------------------------- */

static void buffer_that_the_device_refuses_completes(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj;
	struct kverbs_cqe cqe;

	add(p, 0, 3);
	p->hca->fail_verb = FAKE_POST_RECV;
	p->hca->fail_at = 2;
	conn_obj = start(p, DEPTH);
	cqe = next_cqe(p);
	KUNIT_EXPECT_EQ(test, -EIO, cqe.result);
	KUNIT_EXPECT_EQ(test, 0, cqe.wc_status);
	KUNIT_EXPECT_EQ(test, 1, cqe.buf_id);
	KUNIT_EXPECT_TRUE(test, cqe.flags & KVERBS_CQE_F_MORE);
	KUNIT_EXPECT_EQ(test, 2, posted(p, conn_obj));
	KUNIT_EXPECT_EQ(test, 2, uses(p));
}

/* The largest message of the device is shorter than the buffer. */
static void buffer_that_can_never_be_posted_completes(struct kunit *test)
{
	struct pooled *p = create(test, 16);
	struct kverbs_conn_obj *conn_obj = establish(p, DEPTH);
	struct kverbs_cqe cqe;

	conn_obj->conn->queue.max_recv = BUF - 1;
	add(p, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, wake(p));
	cqe = next_cqe(p);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, cqe.result);
	KUNIT_EXPECT_TRUE(test, cqe.flags & KVERBS_CQE_F_MORE);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(is_waiting(p)));
}

static const struct fault {
	const char *what;
	enum fake_verb verb;
} faults[] = {
	{ "no protection domain", FAKE_ALLOC_PD },
	{ "no completion queue", FAKE_CREATE_CQ },
	{ "no queue pair", FAKE_CREATE_QP },
	{ "no request to the peer", FAKE_CONNECT },
};

KUNIT_ARRAY_PARAM_DESC(faults, faults, what);

/* Which buffers were posted when the setup failed depends on the step. */
static void failed_setup_returns_what_it_took(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	struct pooled *p = create(test, 16);
	struct kverbs_cmd_connect cmd = {
		.ring_id = p->ring->obj.id,
		.dst = { .family = AF_INET, .port = 7, .addr = { 198, 51, 100, 1 } },
		.pool_id = p->pool->obj.id,
	};
	struct kverbs_ucmd ucmd = { .file = p->file, .cmd = &cmd };
	u16 taken;

	p->hca->errors[fault->verb] = -ENOMEM;
	add(p, 0, 2);
	KUNIT_ASSERT_EQ(test, 0, kverbs_cmd_connect(&ucmd));
	kverbs_object_publish(ucmd.new);
	ucmd.start(ucmd.new);
	for (taken = 0; fault->verb == FAKE_CONNECT && taken < 2; taken++)
		expect_flushed(p, taken);
	expect_event(p, KVERBS_CQE_FAILED);
	KUNIT_EXPECT_EQ(test, taken, kernel_of(p)->head);
	KUNIT_EXPECT_EQ(test, 0, uses(p));
	KUNIT_EXPECT_FALSE(test, is_waiting(p));
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE_PARAM(create_checks_every_field, wishes_gen_params),
	KUNIT_CASE(file_has_a_limit_of_pools),
	KUNIT_CASE(queue_is_filled_before_the_peer_is_asked),
	KUNIT_CASE(completion_names_connection_and_buffer),
	KUNIT_CASE(queue_is_refilled_without_a_system_call),
	KUNIT_CASE(large_queue_is_refilled_a_quarter_at_a_time),
	KUNIT_CASE(connection_with_half_its_receives_needs_no_wake),
	KUNIT_CASE(connection_with_fewer_is_topped_up_when_buffers_arrive),
	KUNIT_CASE(connection_without_a_receive_waits_for_a_wake),
	KUNIT_CASE(wake_of_an_empty_pool_changes_nothing),
	KUNIT_CASE(wake_needs_a_pool),
	KUNIT_CASE(connection_without_a_completion_slot_waits),
	KUNIT_CASE(connections_share_a_pool),
	KUNIT_CASE(connection_without_a_receive_goes_first),
	KUNIT_CASE(connection_with_fewer_receives_goes_before_one_with_more),
	KUNIT_CASE(each_waiting_connection_gets_a_buffer),
	KUNIT_CASE(satisfied_connection_passes_on),
	KUNIT_CASE_PARAM(bad_buffer_completes_and_the_next_is_taken, lies_gen_params),
	KUNIT_CASE(bad_buffers_do_not_occupy_the_work),
	KUNIT_CASE_PARAM(bad_index_gives_no_buffer, indices_gen_params),
	KUNIT_CASE(written_head_is_not_believed),
	KUNIT_CASE(recv_of_a_connection_with_a_pool_is_refused),
	KUNIT_CASE(queue_of_a_pool_is_never_reserved),
	KUNIT_CASE(accept_with_a_pool_allows_no_earlier_receive),
	KUNIT_CASE(accepted_connection_waits_at_its_pool),
	KUNIT_CASE(end_returns_the_buffers_before_the_last_completion),
	KUNIT_CASE(buffers_return_if_the_peer_refuses),
	KUNIT_CASE(removal_returns_the_buffers),
	KUNIT_CASE(removal_ends_the_wait_at_the_pool),
	KUNIT_CASE(pool_is_busy_while_a_connection_uses_it),
	KUNIT_CASE(destroying_a_connection_returns_its_buffers),
	KUNIT_CASE(buffer_that_the_device_refuses_completes),
	KUNIT_CASE(buffer_that_can_never_be_posted_completes),
	KUNIT_CASE_PARAM(failed_setup_returns_what_it_took, faults_gen_params),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "kverbs_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
