// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table finds its entries and nothing else, however full it is. */
#include <stdlib.h>

#include "t.h"
#include "table.h"

#define MANY 20000u

static void an_object_is_found_until_it_is_deleted(void **state)
{
	struct kverbs_obj a = { .id = 1 }, b = { .id = 1 + (1u << 20) };
	struct kverbs_table t;

	(void)state;
	assert_int_equal(kverbs_table_init(&t), 0);
	kverbs_table_add(&t, &a);
	kverbs_table_add(&t, &b);	/* the same slot */
	assert_ptr_equal(kverbs_table_find(&t, a.id), &a);
	assert_ptr_equal(kverbs_table_find(&t, b.id), &b);
	kverbs_table_del(&t, &a);
	assert_null(kverbs_table_find(&t, a.id));
	assert_ptr_equal(kverbs_table_find(&t, b.id), &b);
	kverbs_table_del(&t, &b);
	assert_null(kverbs_table_find(&t, b.id));
	kverbs_table_destroy(&t);
}

static void deleting_an_absent_object_changes_nothing(void **state)
{
	struct kverbs_obj a = { .id = 1 }, b = { .id = 1 };
	struct kverbs_table t;

	(void)state;
	assert_int_equal(kverbs_table_init(&t), 0);
	kverbs_table_add(&t, &a);
	kverbs_table_del(&t, &b);
	assert_ptr_equal(kverbs_table_find(&t, 1), &a);
	assert_int_equal(t.nr, 1);
	kverbs_table_destroy(&t);
}

/* With and without memory to grow. */
static void fill_and_empty(bool may_grow)
{
	struct kverbs_obj *objs = calloc(MANY, sizeof(*objs));
	struct kverbs_table t;
	uint32_t i;

	fake_reset();
	assert_non_null(objs);
	assert_int_equal(kverbs_table_init(&t), 0);
	for (i = 0; i < MANY; i++) {
		objs[i].id = 3 * i + 1;
		fake_fail_nth(may_grow ? 0 : 1);
		kverbs_table_add(&t, &objs[i]);
	}
	fake_fail_nth(0);
	assert_int_equal(t.nr, MANY);
	for (i = 0; i < MANY; i += 7) {
		assert_ptr_equal(kverbs_table_find(&t, 3 * i + 1), &objs[i]);
		assert_null(kverbs_table_find(&t, 3 * i + 2));
	}
	for (i = 0; i < MANY; i++)
		kverbs_table_del(&t, &objs[i]);
	assert_int_equal(t.nr, 0);
	kverbs_table_destroy(&t);
	free(objs);
}

static void the_table_grows(void **state)
{
	(void)state;
	fill_and_empty(true);
}

static void the_table_works_without_memory_to_grow(void **state)
{
	(void)state;
	fill_and_empty(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_found_until_it_is_deleted),
		cmocka_unit_test(deleting_an_absent_object_changes_nothing),
		cmocka_unit_test(the_table_grows),
		cmocka_unit_test(the_table_works_without_memory_to_grow),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
