// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_file.h"

/* A failed test may leave reserved slots in its ring. */
static void close_file(void *data)
{
	struct kverbs_file *file = data;
	struct kverbs_object *obj;
	unsigned long id;

	kverbs_object_destroy_all(file);
	xa_for_each(&file->objects.xa, id, obj) {
		container_of(obj, struct kverbs_ring, obj)->reserved = 0;
		kverbs_object_destroy(file, id);
	}
	kverbs_object_table_exit(&file->objects);
	xa_destroy(&file->rings);
	xa_destroy(&file->pools);
}

/**
 * fake_file_create() - open a file
 * @test: the test, at whose end it is closed
 *
 * Return: the file.
 */
struct kverbs_file *fake_file_create(struct kunit *test)
{
	struct kverbs_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	kverbs_object_table_init(&file->objects);
	xa_init_flags(&file->rings, XA_FLAGS_ALLOC);
	xa_init_flags(&file->pools, XA_FLAGS_ALLOC);
	init_waitqueue_head(&file->wait);
	refcount_set(&file->conns, 1);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_file, file));
	return file;
}

/**
 * fake_ring_try_create() - create a ring as the ioctl does
 * @file: the file
 * @cmd: the ioctl's struct
 * @ring: set to the ring, published
 *
 * Return: as kverbs_cmd_ring_create().
 */
int fake_ring_try_create(struct kverbs_file *file, struct kverbs_cmd_ring_create *cmd,
			 struct kverbs_ring **ring)
{
	struct kverbs_ucmd ucmd = { .file = file, .cmd = cmd };
	int ret;

	ret = kverbs_cmd_ring_create(&ucmd);
	if (ret)
		return ret;
	kverbs_object_publish(ucmd.new);
	*ring = container_of(ucmd.new, struct kverbs_ring, obj);
	return 0;
}

/**
 * fake_ring_create() - create a ring
 * @test: the test
 * @file: the file
 * @sq_entries: size of the submission ring
 * @cq_entries: size of the completion ring
 *
 * Return: the ring.
 */
struct kverbs_ring *fake_ring_create(struct kunit *test, struct kverbs_file *file,
				     u32 sq_entries, u32 cq_entries)
{
	struct kverbs_cmd_ring_create cmd = {
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
	};
	struct kverbs_ring *ring = NULL;

	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(file, &cmd, &ring));
	return ring;
}

/**
 * fake_ring_user() - indices of a ring that user space writes
 * @ring: the ring
 *
 * Return: the indices.
 */
struct kverbs_ring_user *fake_ring_user(struct kverbs_ring *ring)
{
	return ring->idx.addr;
}

/**
 * fake_ring_kernel() - indices of a ring that user space reads
 * @ring: the ring
 *
 * Return: the indices.
 */
struct kverbs_ring_kernel *fake_ring_kernel(struct kverbs_ring *ring)
{
	return ring->cq.addr;
}

/**
 * fake_ring_cqe() - completion of a ring as user space reads it
 * @ring: the ring
 * @n: number of the completion
 *
 * Return: the completion.
 */
struct kverbs_cqe *fake_ring_cqe(struct kverbs_ring *ring, u32 n)
{
	struct kverbs_ring_kernel *kernel = fake_ring_kernel(ring);
	struct kverbs_cqe *cqes = (struct kverbs_cqe *)(kernel + 1);

	return &cqes[n & (kernel->cq_entries - 1)];
}

/**
 * fake_ring_event() - reserve a slot and write an event to it
 * @ring: the ring
 * @user_data: identifies the event
 *
 * Return: as kverbs_ring_reserve().
 */
int fake_ring_event(struct kverbs_ring *ring, u64 user_data)
{
	const struct kverbs_cqe cqe = { .user_data = user_data };
	int ret = kverbs_ring_reserve(ring, 1);

	if (!ret)
		kverbs_ring_event(ring, &cqe);
	return ret;
}
