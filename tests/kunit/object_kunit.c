// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ids and their objects. */
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "fake_file.h"
#include "patience.h"
#include "workqueue.h"

/**
 * struct thing - an object that counts the calls of its operations
 * @obj: the object
 * @busy: it is busy
 * @busy_late: it is found to be busy in shutdown
 * @interrupted: a task is killed while it waits for what uses it
 * @hidden: its id was not found while it was tested for busy
 * @result: result of its destruction
 * @shutdowns: number of shutdowns
 * @restarts: number of restarts
 * @destroyed: position among all destroyed objects, from 1; 0: not destroyed
 * @ending: signalled by its shutdown
 */
struct thing {
	struct kverbs_object obj;
	bool busy;
	bool busy_late;
	bool interrupted;
	bool hidden;
	int result;
	unsigned int shutdowns;
	unsigned int restarts;
	unsigned int destroyed;
	struct completion ending;
};

static unsigned int nr_destroyed;

static struct thing *to_thing(struct kverbs_object *obj)
{
	return container_of(obj, struct thing, obj);
}

static bool thing_busy(struct kverbs_object *obj)
{
	to_thing(obj)->hidden = xa_load(&obj->file->objects.xa, obj->id) != obj;
	return to_thing(obj)->busy;
}

static void thing_shutdown(struct kverbs_object *obj)
{
	to_thing(obj)->shutdowns++;
	to_thing(obj)->busy |= to_thing(obj)->busy_late;
	complete_all(&to_thing(obj)->ending);
}

static void thing_restart(struct kverbs_object *obj)
{
	to_thing(obj)->restarts++;
}

static int thing_quiesce(struct kverbs_object *obj)
{
	return to_thing(obj)->interrupted ? -EINTR : 0;
}

static int thing_destroy(struct kverbs_object *obj)
{
	to_thing(obj)->destroyed = ++nr_destroyed;
	return to_thing(obj)->result;
}

static const struct kverbs_object_ops thing_ops = {
	.busy		= thing_busy,
	.shutdown	= thing_shutdown,
	.restart	= thing_restart,
	.quiesce	= thing_quiesce,
	.destroy	= thing_destroy,
};

static const struct kverbs_object_ops plain_ops = {
	.destroy	= thing_destroy,
};

static int object_init(struct kunit *test)
{
	nr_destroyed = 0;
	test->priv = fake_file_create(test);
	return 0;
}

/* Destroy the objects that a test has left before the file is closed. */
static void object_exit(struct kunit *test)
{
	struct kverbs_file *file = test->priv;

	xa_destroy(&file->objects.xa);
}

static struct thing *reserve(struct kunit *test, enum kverbs_object_type type)
{
	struct thing *thing = kunit_kzalloc(test, sizeof(*thing), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thing);
	init_completion(&thing->ending);
	KUNIT_ASSERT_EQ(test, 0,
			kverbs_object_reserve(test->priv, &thing->obj, type, &thing_ops));
	return thing;
}

static struct thing *publish(struct kunit *test, enum kverbs_object_type type)
{
	struct thing *thing = reserve(test, type);

	kverbs_object_publish(&thing->obj);
	return thing;
}

static bool found(struct kunit *test, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get(test->priv, id, KVERBS_OBJ_CONN);

	if (IS_ERR(obj))
		return false;
	kverbs_object_put(obj);
	return true;
}

static void object_ids_go_up_from_1(struct kunit *test)
{
	u32 id;

	for (id = 1; id <= 100; id++)
		KUNIT_EXPECT_EQ(test, id, publish(test, KVERBS_OBJ_CONN)->obj.id);
}

static void object_id_is_not_used_again_at_once(struct kunit *test)
{
	u32 id = publish(test, KVERBS_OBJ_CONN)->obj.id;

	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, id));
	KUNIT_EXPECT_GT(test, publish(test, KVERBS_OBJ_CONN)->obj.id, id);
}

static void object_id_is_not_used_again_after_a_failure(struct kunit *test)
{
	struct thing *thing = reserve(test, KVERBS_OBJ_CONN);

	kverbs_object_unreserve(&thing->obj);
	KUNIT_EXPECT_GT(test, publish(test, KVERBS_OBJ_CONN)->obj.id, thing->obj.id);
}

/* The next id is neither 0 nor one that is still in use. */
static void object_ids_wrap_after_the_last(struct kunit *test)
{
	struct kverbs_file *file = test->priv;

	publish(test, KVERBS_OBJ_CONN);
	file->objects.next = INT_MAX;
	KUNIT_EXPECT_EQ(test, INT_MAX, publish(test, KVERBS_OBJ_CONN)->obj.id);
	KUNIT_EXPECT_EQ(test, 2, publish(test, KVERBS_OBJ_CONN)->obj.id);
	KUNIT_EXPECT_EQ(test, 3, publish(test, KVERBS_OBJ_CONN)->obj.id);
}

static void object_is_found_by_id_and_type(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_REGION);
	struct kverbs_object *obj;

	obj = kverbs_object_get(test->priv, thing->obj.id, KVERBS_OBJ_REGION);
	KUNIT_ASSERT_PTR_EQ(test, &thing->obj, obj);
	kverbs_object_put(obj);
}

static void object_is_not_found_as_another_type(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_REGION);
	int type;

	for (type = 0; type < KVERBS_OBJ_TYPES; type++)
		if (type != KVERBS_OBJ_REGION)
			KUNIT_EXPECT_EQ(test, -ENOENT,
					PTR_ERR(kverbs_object_get(test->priv,
								  thing->obj.id, type)));
}

static void object_is_not_found_before_it_is_published(struct kunit *test)
{
	struct thing *thing = reserve(test, KVERBS_OBJ_CONN);

	KUNIT_EXPECT_FALSE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(test->priv, thing->obj.id));
	kverbs_object_publish(&thing->obj);
	KUNIT_EXPECT_TRUE(test, found(test, thing->obj.id));
}

static void object_is_not_found_after_it_is_destroyed(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_FALSE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 1, nr_destroyed);
}

static void object_found_before_is_not_found_after_it_is_destroyed(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	KUNIT_ASSERT_TRUE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_FALSE(test, found(test, thing->obj.id));
}

#define LOW_BITS	4

static void objects_whose_ids_share_low_bits_are_distinct(struct kunit *test)
{
	struct thing *things[(1 << LOW_BITS) + 1];
	struct thing *first, *last;
	struct kverbs_object *obj;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(things); i++)
		things[i] = publish(test, KVERBS_OBJ_CONN);
	first = things[0];
	last = things[1 << LOW_BITS];
	for (i = 0; i < 4; i++) {
		struct kverbs_object *it = i % 2 ? &last->obj : &first->obj;

		obj = kverbs_object_get(test->priv, it->id, KVERBS_OBJ_CONN);
		KUNIT_ASSERT_PTR_EQ(test, it, obj);
		kverbs_object_put(obj);
	}
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, first->obj.id));
	KUNIT_EXPECT_TRUE(test, found(test, last->obj.id));
	KUNIT_EXPECT_FALSE(test, found(test, first->obj.id));
}

#define ROUNDS	200

/**
 * struct looker - a task that looks up one object again and again
 * @file: the file
 * @id: the object's id
 * @found: signalled after the object was found
 * @stale: a destroyed object was found
 */
struct looker {
	struct kverbs_file *file;
	u32 id;
	struct completion found;
	bool stale;
};

static int look_up(void *arg)
{
	struct looker *looker = arg;
	struct kverbs_object *obj;

	while (!kthread_should_stop()) {
		obj = kverbs_object_get(looker->file, READ_ONCE(looker->id),
					KVERBS_OBJ_CONN);
		if (!IS_ERR(obj)) {
			looker->stale |= READ_ONCE(to_thing(obj)->destroyed);
			complete(&looker->found);
			kverbs_object_put(obj);
		}
		cond_resched();
	}
	return 0;
}

static void object_is_not_destroyed_while_a_look_up_holds_it(struct kunit *test)
{
	struct looker looker = { .file = test->priv };
	struct task_struct *task;
	unsigned int i;

	init_completion(&looker.found);
	task = kthread_run(look_up, &looker, "looker");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < ROUNDS; i++) {
		struct thing *thing = publish(test, KVERBS_OBJ_CONN);

		reinit_completion(&looker.found);
		WRITE_ONCE(looker.id, thing->obj.id);
		wait_for_completion(&looker.found);
		KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	}
	kthread_stop(task);
	KUNIT_EXPECT_FALSE(test, looker.stale);
	KUNIT_EXPECT_EQ(test, ROUNDS, nr_destroyed);
}

static const u32 strange_ids[] = { 0, 2, INT_MAX, (u32)INT_MAX + 1, U32_MAX };

static void describe_id(const u32 *id, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "id %u", *id);
}

KUNIT_ARRAY_PARAM(strange_ids, strange_ids, describe_id);

static void object_with_an_unknown_id_is_not_found(struct kunit *test)
{
	const u32 *id = test->param_value;

	publish(test, KVERBS_OBJ_CONN);
	KUNIT_EXPECT_FALSE(test, found(test, *id));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(test->priv, *id));
}

static void object_of_another_file_is_not_found(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);
	struct kverbs_file *other = fake_file_create(test);
	struct kverbs_object *obj;

	obj = kverbs_object_get(other, thing->obj.id, KVERBS_OBJ_CONN);
	KUNIT_EXPECT_EQ(test, -ENOENT, PTR_ERR(obj));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(other, thing->obj.id));
}

static void object_is_shut_down_before_it_is_destroyed(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 1, thing->shutdowns);
	KUNIT_EXPECT_EQ(test, 0, thing->restarts);
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void object_needs_no_operation_but_destroy(struct kunit *test)
{
	struct thing *thing = reserve(test, KVERBS_OBJ_CONN);

	thing->obj.ops = &plain_ops;
	kverbs_object_publish(&thing->obj);
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void object_returns_the_error_of_destroy(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	thing->result = -EINTR;
	KUNIT_EXPECT_EQ(test, -EINTR, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_FALSE(test, found(test, thing->obj.id));
}

static void object_that_is_busy_stays(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	thing->busy = true;
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_FALSE(test, thing->hidden);
	KUNIT_EXPECT_TRUE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 0, thing->shutdowns);
	thing->busy = false;
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
}

static void object_that_turns_out_to_be_busy_is_restarted(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	thing->busy_late = true;
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 1, thing->restarts);
	KUNIT_EXPECT_EQ(test, 0, thing->destroyed);
	KUNIT_EXPECT_TRUE(test, found(test, thing->obj.id));
	thing->busy_late = false;
	thing->busy = false;
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
}

/**
 * struct destroyer - a thread that destroys an object
 * @work: runs it
 * @obj: the object
 * @result: result of the destruction
 * @done: signalled when it has finished
 */
struct destroyer {
	struct work_struct work;
	struct kverbs_object *obj;
	int result;
	struct completion done;
};

static void run_destroyer(struct work_struct *work)
{
	struct destroyer *destroyer = container_of(work, struct destroyer, work);

	destroyer->result = kverbs_object_destroy(destroyer->obj->file,
						  destroyer->obj->id);
	complete(&destroyer->done);
}

static struct destroyer *start_destroyer(struct kunit *test, struct thing *thing)
{
	struct destroyer *destroyer = kunit_kzalloc(test, sizeof(*destroyer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, destroyer);
	INIT_WORK(&destroyer->work, run_destroyer);
	init_completion(&destroyer->done);
	destroyer->obj = &thing->obj;
	schedule_work(&destroyer->work);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&thing->ending, FAKE_PATIENCE));
	return destroyer;
}

static void expect_destroyed(struct kunit *test, struct destroyer *destroyer)
{
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&destroyer->done, FAKE_PATIENCE));
	flush_work(&destroyer->work);
	KUNIT_EXPECT_EQ(test, 0, destroyer->result);
}

static void object_is_destroyed_when_the_last_ioctl_puts_it(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);
	struct kverbs_file *file = test->priv;
	struct destroyer *destroyer;

	kverbs_object_get(file, thing->obj.id, KVERBS_OBJ_CONN);
	kverbs_object_get(file, thing->obj.id, KVERBS_OBJ_CONN);
	destroyer = start_destroyer(test, thing);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(wq_has_sleeper(&file->objects.released)));
	kverbs_object_put(&thing->obj);
	/* Waking takes the waiter off the queue; it queues again after checking its condition. */
	wake_up_all(&file->objects.released);
	KUNIT_EXPECT_TRUE(test, FAKE_SOON(wq_has_sleeper(&file->objects.released)));
	KUNIT_EXPECT_EQ(test, 0, READ_ONCE(thing->destroyed));
	kverbs_object_put(&thing->obj);
	expect_destroyed(test, destroyer);
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void object_is_not_found_while_its_destruction_waits(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);
	struct destroyer *destroyer;

	kverbs_object_get(test->priv, thing->obj.id, KVERBS_OBJ_CONN);
	destroyer = start_destroyer(test, thing);
	KUNIT_EXPECT_FALSE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, -ENOENT, kverbs_object_destroy(test->priv, thing->obj.id));
	kverbs_object_put(&thing->obj);
	expect_destroyed(test, destroyer);
}

static int killed_destroy(struct kverbs_object *obj)
{
	int ret;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	ret = kverbs_object_destroy(obj->file, obj->id);
	flush_signals(current);
	disallow_signal(SIGKILL);
	return ret;
}

static void object_is_found_again_if_its_destroyer_is_killed(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	kverbs_object_get(test->priv, thing->obj.id, KVERBS_OBJ_CONN);
	KUNIT_EXPECT_EQ(test, -EINTR, killed_destroy(&thing->obj));
	KUNIT_EXPECT_EQ(test, 1, thing->restarts);
	KUNIT_EXPECT_TRUE(test, found(test, thing->obj.id));
	kverbs_object_put(&thing->obj);
	KUNIT_EXPECT_TRUE(test, found(test, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(test->priv, thing->obj.id));
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void unused_object_is_destroyed_even_by_a_killed_task(struct kunit *test)
{
	struct thing *thing = publish(test, KVERBS_OBJ_CONN);

	KUNIT_EXPECT_EQ(test, 0, killed_destroy(&thing->obj));
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void objects_are_all_destroyed_in_the_order_of_types(struct kunit *test)
{
	struct thing *thing[2 * KVERBS_OBJ_TYPES];
	int type;

	for (type = KVERBS_OBJ_TYPES - 1; type >= 0; type--) {
		thing[2 * type] = publish(test, type);
		thing[2 * type + 1] = publish(test, type);
	}
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy_all(test->priv));
	KUNIT_EXPECT_EQ(test, 2 * KVERBS_OBJ_TYPES, nr_destroyed);
	for (type = 0; type < KVERBS_OBJ_TYPES; type++) {
		KUNIT_EXPECT_EQ(test, 2 * type + 1, thing[2 * type]->destroyed);
		KUNIT_EXPECT_EQ(test, 2 * type + 2, thing[2 * type + 1]->destroyed);
	}
}

/* An object that stays may use them. */
static void objects_of_later_types_stay_with_one_that_is_interrupted(struct kunit *test)
{
	struct thing *ring = publish(test, KVERBS_OBJ_RING);
	struct thing *first = publish(test, KVERBS_OBJ_CONN);
	struct thing *second = publish(test, KVERBS_OBJ_CONN);

	first->interrupted = true;
	KUNIT_EXPECT_EQ(test, -EINTR, kverbs_object_destroy_all(test->priv));
	KUNIT_EXPECT_EQ(test, 0, first->destroyed);
	KUNIT_EXPECT_EQ(test, 1, second->destroyed);
	KUNIT_EXPECT_EQ(test, 0, ring->destroyed);
	first->interrupted = false;
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy_all(test->priv));
	KUNIT_EXPECT_EQ(test, 2, first->destroyed);
	KUNIT_EXPECT_EQ(test, 3, ring->destroyed);
}

static void objects_are_all_destroyed_though_one_reports_a_killed_task(struct kunit *test)
{
	struct thing *ring = publish(test, KVERBS_OBJ_RING);
	struct thing *export = publish(test, KVERBS_OBJ_EXPORT);

	export->result = -EINTR;
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy_all(test->priv));
	KUNIT_EXPECT_EQ(test, 1, export->destroyed);
	KUNIT_EXPECT_EQ(test, 2, ring->destroyed);
}

static struct thing *publish_in(struct kunit *test, struct kverbs_file *file)
{
	struct thing *thing = kunit_kzalloc(test, sizeof(*thing), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thing);
	init_completion(&thing->ending);
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(file, &thing->obj, KVERBS_OBJ_CONN,
						       &thing_ops));
	kverbs_object_publish(&thing->obj);
	return thing;
}

static void file_is_closed_with_its_objects(struct kunit *test)
{
	struct kverbs_file *file = kverbs_file_open();
	struct thing *thing;

	KUNIT_ASSERT_NOT_NULL(test, file);
	thing = publish_in(test, file);
	kverbs_file_get_conn(file);
	kverbs_file_put_conn(file);
	kverbs_file_close(file, true);
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

/* The two connections end in any order, and the task that closed the file is gone. */
static void file_of_a_killed_task_is_closed_when_the_last_connection_has_ended(struct kunit *test)
{
	struct kverbs_file *file = kverbs_file_open();
	struct thing *thing;

	KUNIT_ASSERT_NOT_NULL(test, file);
	thing = publish_in(test, file);
	thing->interrupted = true;
	kverbs_file_get_conn(file);
	kverbs_file_get_conn(file);
	kverbs_file_close(file, true);
	kverbs_file_put_conn(file);
	KUNIT_EXPECT_EQ(test, 0, thing->destroyed);
	thing->interrupted = false;
	kverbs_file_put_conn(file);
	flush_workqueue(kverbs_teardown_workqueue);
	KUNIT_EXPECT_EQ(test, 1, thing->destroyed);
}

static void objects_of_a_file_are_limited(struct kunit *test)
{
	struct kverbs_file *file = test->priv;
	struct kverbs_object more;
	struct thing *last;

	atomic_set(&file->objects.count, KVERBS_MAX_OBJECTS - 1);
	last = publish(test, KVERBS_OBJ_CONN);
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			kverbs_object_reserve(file, &more, KVERBS_OBJ_CONN, &thing_ops));
	KUNIT_EXPECT_EQ(test, KVERBS_MAX_OBJECTS, atomic_read(&file->objects.count));
	KUNIT_EXPECT_EQ(test, 0, kverbs_object_destroy(file, last->obj.id));
	publish(test, KVERBS_OBJ_CONN);
}

static void objects_are_counted_while_they_have_an_id(struct kunit *test)
{
	struct kverbs_file *file = test->priv;
	struct thing *first = reserve(test, KVERBS_OBJ_CONN);
	struct thing *second = publish(test, KVERBS_OBJ_CONN);

	KUNIT_EXPECT_EQ(test, 2, atomic_read(&file->objects.count));
	kverbs_object_unreserve(&first->obj);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&file->objects.count));
	kverbs_object_destroy(file, second->obj.id);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&file->objects.count));
	KUNIT_EXPECT_TRUE(test, xa_empty(&file->objects.xa));
}

static struct kunit_case object_cases[] = {
	KUNIT_CASE(object_ids_go_up_from_1),
	KUNIT_CASE(object_id_is_not_used_again_at_once),
	KUNIT_CASE(object_id_is_not_used_again_after_a_failure),
	KUNIT_CASE(object_ids_wrap_after_the_last),
	KUNIT_CASE(object_is_found_by_id_and_type),
	KUNIT_CASE(object_is_not_found_as_another_type),
	KUNIT_CASE(object_is_not_found_before_it_is_published),
	KUNIT_CASE(object_is_not_found_after_it_is_destroyed),
	KUNIT_CASE(object_found_before_is_not_found_after_it_is_destroyed),
	KUNIT_CASE(objects_whose_ids_share_low_bits_are_distinct),
	KUNIT_CASE(object_is_not_destroyed_while_a_look_up_holds_it),
	KUNIT_CASE_PARAM(object_with_an_unknown_id_is_not_found, strange_ids_gen_params),
	KUNIT_CASE(object_of_another_file_is_not_found),
	KUNIT_CASE(object_is_shut_down_before_it_is_destroyed),
	KUNIT_CASE(object_needs_no_operation_but_destroy),
	KUNIT_CASE(object_returns_the_error_of_destroy),
	KUNIT_CASE(object_that_is_busy_stays),
	KUNIT_CASE(object_that_turns_out_to_be_busy_is_restarted),
	KUNIT_CASE(object_is_destroyed_when_the_last_ioctl_puts_it),
	KUNIT_CASE(object_is_not_found_while_its_destruction_waits),
	KUNIT_CASE(object_is_found_again_if_its_destroyer_is_killed),
	KUNIT_CASE(unused_object_is_destroyed_even_by_a_killed_task),
	KUNIT_CASE(objects_are_all_destroyed_in_the_order_of_types),
	KUNIT_CASE(objects_of_later_types_stay_with_one_that_is_interrupted),
	KUNIT_CASE(objects_are_all_destroyed_though_one_reports_a_killed_task),
	KUNIT_CASE(file_is_closed_with_its_objects),
	KUNIT_CASE(file_of_a_killed_task_is_closed_when_the_last_connection_has_ended),
	KUNIT_CASE(objects_of_a_file_are_limited),
	KUNIT_CASE(objects_are_counted_while_they_have_an_id),
	{}
};

static struct kunit_suite object_suite = {
	.name = "kverbs_object",
	.init = object_init,
	.exit = object_exit,
	.test_cases = object_cases,
};

kunit_test_suite(object_suite);
