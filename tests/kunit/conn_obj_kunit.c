// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection as user space knows it. */
#include <linux/mman.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "conn_cmd.h"
#include "fake_conn.h"
#include "fake_file.h"

struct destroyer {
	struct work_struct work;
	struct kverbs_file *file;
	u32 id;
	int ret;
};

static void destroy(struct work_struct *work)
{
	struct destroyer *d = container_of(work, struct destroyer, work);

	d->ret = kverbs_object_destroy(d->file, d->id);
}

static struct kverbs_conn_obj *connect_on(struct kunit *test, struct kverbs_ring *ring)
{
	struct kverbs_conn_param param = {};
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = ring->obj.id,
		.param_uptr = addr,
		.param_size = sizeof(param),
		.dst = { .family = AF_INET, .port = 7, .addr = { 198, 51, 100, 1 } },
	};
	struct kverbs_ucmd ucmd = { .file = ring->obj.file, .cmd = &cmd };

	KUNIT_ASSERT_NE(test, 0, addr);
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)addr, &param, sizeof(param)));
	KUNIT_ASSERT_EQ(test, 0, kverbs_cmd_connect(&ucmd));
	kverbs_object_publish(ucmd.new);
	return container_of(ucmd.new, struct kverbs_conn_obj, obj);
}

/* DESTROY waits for an ioctl that uses the connection, and its teardown is faster. */
static void destroyed_connection_reports_no_event(struct kunit *test)
{
	struct kverbs_ring *ring = fake_ring_create(test, fake_file_create(test), 4, 8);
	struct kverbs_ring_kernel *shared = ring->cq.addr;
	struct kverbs_conn_obj *conn_obj = connect_on(test, ring);
	struct destroyer destroyer = { .file = ring->obj.file, .id = conn_obj->obj.id };

	KUNIT_ASSERT_PTR_EQ(test, &conn_obj->obj,
			    kverbs_object_get(ring->obj.file, destroyer.id, KVERBS_OBJ_CONN));
	INIT_WORK_ONSTACK(&destroyer.work, destroy);
	queue_work(system_unbound_wq, &destroyer.work);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(READ_ONCE(conn_obj->conn->state) ==
					  KVERBS_CONN_DEAD));
	flush_work(&conn_obj->conn->close_work);
	kverbs_object_put(&conn_obj->obj);
	flush_work(&destroyer.work);
	destroy_work_on_stack(&destroyer.work);
	KUNIT_EXPECT_EQ(test, 0, destroyer.ret);
	KUNIT_EXPECT_EQ(test, 0, shared->cq_tail);
}

static struct kunit_case conn_obj_cases[] = {
	KUNIT_CASE(destroyed_connection_reports_no_event),
	{}
};

static struct kunit_suite conn_obj_suite = {
	.name = "kverbs_conn_obj",
	.test_cases = conn_obj_cases,
};

kunit_test_suite(conn_obj_suite);
