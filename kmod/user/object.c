// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ids, and what they stand for. */
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "file.h"
#include "object.h"
#include "object_trace.h"
#include "wait.h"

/**
 * kverbs_object_table_init() - make an empty table
 * @table: the table
 */
void kverbs_object_table_init(struct kverbs_object_table *table)
{
	xa_init_flags(&table->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	table->next = 1;
	atomic_set(&table->count, 0);
	init_waitqueue_head(&table->released);
}

/**
 * kverbs_object_table_exit() - free an empty table
 * @table: the table
 */
void kverbs_object_table_exit(struct kverbs_object_table *table)
{
	xa_destroy(&table->xa);
}

/**
 * kverbs_object_reserve() - give an object an id that cannot be looked up yet
 * @file: where it will belong
 * @obj: the object
 * @type: its type
 * @ops: what its type does
 *
 * Ids go up, so that one is not seen again for a long time.
 *
 * Return: 0 or -ENOMEM.
 */
int kverbs_object_reserve(struct kverbs_file *file, struct kverbs_object *obj,
			  enum kverbs_object_type type,
			  const struct kverbs_object_ops *ops)
{
	struct kverbs_object_table *table = &file->objects;
	int ret;

	if (atomic_inc_return(&table->count) > KVERBS_MAX_OBJECTS) {
		atomic_dec(&table->count);
		return -ENOMEM;
	}
	ret = xa_alloc_cyclic(&table->xa, &obj->id, XA_ZERO_ENTRY, xa_limit_31b,
			      &table->next, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		atomic_dec(&table->count);
		return -ENOMEM;
	}
	obj->type = type;
	obj->ops = ops;
	obj->file = file;
	refcount_set(&obj->gets, 1);
	return 0;
}

/**
 * kverbs_object_unreserve() - give the id back
 * @obj: the object, not published
 */
void kverbs_object_unreserve(struct kverbs_object *obj)
{
	struct kverbs_object_table *table = &obj->file->objects;

	xa_erase(&table->xa, obj->id);
	atomic_dec(&table->count);
}

/* The slot is there, so this allocates nothing and cannot fail. */
static void store(struct kverbs_object *obj)
{
	xa_store(&obj->file->objects.xa, obj->id, obj, GFP_KERNEL_ACCOUNT);
}

/**
 * kverbs_object_publish() - let an object be found
 * @obj: the object, complete
 */
void kverbs_object_publish(struct kverbs_object *obj)
{
	trace_kverbs_object_new(obj);
	store(obj);
}

/**
 * kverbs_object_get_any() - look up an object of any type, and take a reference
 * @file: the file, which the caller keeps open
 * @id: its id
 *
 * Takes no lock, since each post looks up a ring, a connection and a region.
 *
 * Return: the object, or ERR_PTR(-ENOENT).
 */
struct kverbs_object *kverbs_object_get_any(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj;

	rcu_read_lock();
	obj = xa_load(&file->objects.xa, id);
	/* There is no reference left if it is being destroyed. */
	if (obj && !refcount_inc_not_zero(&obj->gets))
		obj = NULL;
	rcu_read_unlock();
	return obj ?: ERR_PTR(-ENOENT);
}

/**
 * kverbs_object_get() - find an object, and keep it for this ioctl
 * @file: where it belongs
 * @id: its id
 * @type: its type
 *
 * Return: the object, or ERR_PTR(-ENOENT).
 */
struct kverbs_object *kverbs_object_get(struct kverbs_file *file, u32 id,
					enum kverbs_object_type type)
{
	struct kverbs_object *obj = kverbs_object_get_any(file, id);

	if (IS_ERR(obj) || obj->type == type)
		return obj;
	kverbs_object_put(obj);
	return ERR_PTR(-ENOENT);
}

/**
 * kverbs_object_put() - let an object go again
 * @obj: from kverbs_object_get()
 */
void kverbs_object_put(struct kverbs_object *obj)
{
	struct kverbs_object_table *table = &obj->file->objects;

	if (refcount_dec_and_test(&obj->gets))
		wake_up_all(&table->released);
}

static bool is_busy(struct kverbs_object *obj)
{
	return obj->ops->busy && obj->ops->busy(obj);
}

static void settle(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get_any(file, id);

	if (IS_ERR(obj))
		return;
	if (obj->ops->settle)
		obj->ops->settle(obj);
	kverbs_object_put(obj);
}

/* Tests for busy under xa_lock, so that a DESTROY that fails with EBUSY never hides the id. */
static struct kverbs_object *unpublish(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj;

	xa_lock(&file->objects.xa);
	obj = xa_load(&file->objects.xa, id);
	if (!obj)
		obj = ERR_PTR(-ENOENT);
	else if (is_busy(obj))
		obj = ERR_PTR(-EBUSY);
	else
		__xa_store(&file->objects.xa, id, XA_ZERO_ENTRY, GFP_ATOMIC);
	xa_unlock(&file->objects.xa);
	return obj;
}

static void republish(struct kverbs_object *obj)
{
	if (obj->ops->restart)
		obj->ops->restart(obj);
	if (!refcount_inc_not_zero(&obj->gets))
		refcount_set(&obj->gets, 1);
	store(obj);
}

/*
 * Waits for ioctls, and shutdown made them come back; but one that faults on its user's memory
 * takes as long as that user likes.
 */
static int await_release(struct kverbs_object *obj)
{
	struct kverbs_object_table *table = &obj->file->objects;

	if (!refcount_dec_and_test(&obj->gets) &&
	    kverbs_wait_event(table->released, !refcount_read(&obj->gets)))
		return -EINTR;
	return obj->ops->quiesce ? obj->ops->quiesce(obj) : 0;
}

/**
 * kverbs_object_destroy() - end an object
 * @file: where it belongs
 * @id: its id
 *
 * Context: process, may sleep.
 * Return: 0, -ENOENT, -EBUSY, -EINTR.
 */
int kverbs_object_destroy(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj;
	int ret;

	settle(file, id);
	obj = unpublish(file, id);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	if (obj->ops->shutdown)
		obj->ops->shutdown(obj);
	ret = await_release(obj);
	/* An ioctl that was under way may have begun to use it. */
	if (!ret && is_busy(obj))
		ret = -EBUSY;
	if (ret) {
		republish(obj);
		return ret;
	}
	trace_kverbs_object_gone(obj);
	kverbs_object_unreserve(obj);
	return obj->ops->destroy(obj);
}

/* An export that could not be invalidated is gone nevertheless. */
static bool is_left(struct kverbs_file *file, u32 id)
{
	return xa_load(&file->objects.xa, id);
}

/**
 * kverbs_object_destroy_all() - end all objects of a closing file
 * @file: the file, which no ioctl uses any more
 *
 * Context: process, may sleep.
 * Return: 0, or -EINTR: some are left, and this is to be called once more.
 */
int kverbs_object_destroy_all(struct kverbs_file *file)
{
	struct kverbs_object *obj;
	unsigned long id;
	int type, ret = 0;

	/* Let all connections go down at once rather than one after another. */
	xa_for_each(&file->objects.xa, id, obj)
		if (obj->ops->shutdown)
			obj->ops->shutdown(obj);
	for (type = 0; type < KVERBS_OBJ_TYPES && !ret; type++)
		xa_for_each(&file->objects.xa, id, obj)
			if (obj->type == type && kverbs_object_destroy(file, id) == -EINTR &&
			    is_left(file, id))
				ret = -EINTR;
	return ret;
}
