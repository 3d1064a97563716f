// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The list of devices is complete even if devices change while it is read. */
#include "t.h"

static void no_devices_is_an_empty_list(void **state)
{
	struct kverbs_device odd, *list = &odd;
	struct t *t = *state;

	assert_int_equal(kverbs_device_list(t->kv, &list), 0);
	assert_ptr_not_equal(list, &odd);
	kverbs_device_list_free(list, 0);
}

static void lists_all_with_their_ports_and_gids(void **state)
{
	struct kverbs_device *list;
	struct t *t = *state;

	fake_add_device(9, "mlx5_1", 2, 20);
	fake_add_device(2, "rxe0", 1, 0);
	assert_int_equal(kverbs_device_list(t->kv, &list), 2);
	assert_string_equal(list[0].attr->out_name, "rxe0");
	assert_int_equal(list[0].attr->out_index, 2);
	assert_int_equal(list[0].nr_ports, 1);
	assert_int_equal(list[0].nr_gids, 0);
	assert_string_equal(list[1].attr->out_name, "mlx5_1");
	assert_int_equal(list[1].nr_ports, 2);
	assert_int_equal(list[1].ports[1].port, 2);
	assert_int_equal(list[1].nr_gids, 20);
	assert_int_equal(list[1].gids[19].index, 19);
	assert_int_equal(list[1].attr->gids_uptr, 0);
	kverbs_device_list_free(list, 2);
}

static void gids_that_appear_while_listing_are_included(void **state)
{
	struct kverbs_device *list;
	struct t *t = *state;

	fake_add_device(0, "rxe0", 1, 1);
	fake_grow_gids(3);
	assert_int_equal(kverbs_device_list(t->kv, &list), 1);
	assert_int_equal(list[0].nr_gids, 4);
	assert_int_equal(list[0].gids[3].index, 3);
	kverbs_device_list_free(list, 1);
}

static void a_gid_table_that_keeps_changing_is_an_error(void **state)
{
	struct kverbs_device *list;
	struct t *t = *state;

	fake_add_device(0, "rxe0", 1, 1);
	fake_grow_gids(1000);
	assert_int_equal(kverbs_device_list(t->kv, &list), -EMSGSIZE);
}

static void a_failure_half_way_leaks_nothing(void **state)
{
	struct kverbs_device *list;
	struct t *t = *state;

	fake_add_device(0, "rxe0", 1, 1);
	fake_add_device(1, "rxe1", 1, 1);
	/* The first device takes two queries; this one fails. */
	fake_fail(KVERBS_DEVICE_QUERY, 3, -ENOMEM);
	assert_int_equal(kverbs_device_list(t->kv, &list), -ENOMEM);
	fake_fail(KVERBS_DEVICE_QUERY, 4, -EFAULT);
	assert_int_equal(kverbs_device_list(t->kv, &list), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(no_devices_is_an_empty_list),
		t_test(lists_all_with_their_ports_and_gids),
		t_test(gids_that_appear_while_listing_are_included),
		t_test(a_gid_table_that_keeps_changing_is_an_error),
		t_test(a_failure_half_way_leaks_nothing),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
