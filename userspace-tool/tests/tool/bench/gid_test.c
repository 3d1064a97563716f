// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Finding the address of a GID index. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/gid.h"

#define V4_MAPPED { [10] = 0xff, 0xff, 192, 0, 2, 7 }

static struct kverbs_gid gids[] = {
	{ .index = 0, .port = 1, .type = KVERBS_GID_ROCE_V2, .ifindex = 1,
	  .gid = { 0xfe, 0x80, [15] = 1 } },
	{ .index = 1, .port = 1, .type = KVERBS_GID_ROCE_V2, .gid = V4_MAPPED },
	{ .index = 2, .port = 1, .type = KVERBS_GID_ROCE_V2,
	  .gid = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 } },
	{ .index = 3, .port = 1, .type = KVERBS_GID_ROCE_V1, .gid = V4_MAPPED },
	{ .index = 4, .port = 1, .type = KVERBS_GID_IB, .gid = { 0xfe, 0x80 } },
};

static struct kverbs_cmd_device_query attrs[2];

static struct kverbs_device devices[] = {
	{ .attr = &attrs[0], .gids = gids, .nr_gids = 5 },
	{ .attr = &attrs[1], .gids = gids, .nr_gids = 1 },
};

static void a_gid_index_selects_an_address(void **state)
{
	char addr[GID_ADDR_LEN];

	(void)state;
	assert_int_equal(gid_find(devices, 2, 1, addr), 0);
	assert_string_equal(addr, "192.0.2.7");
	assert_int_equal(gid_find(devices, 2, 2, addr), 0);
	assert_string_equal(addr, "2001:db8::9");
}

static void a_link_local_address_names_its_interface(void **state)
{
	char addr[GID_ADDR_LEN];

	(void)state;
	assert_int_equal(gid_find(devices, 1, 0, addr), 0);
	assert_string_equal(addr, "fe80::1%lo");
}

static void an_index_that_several_ports_have_is_refused(void **state)
{
	char addr[GID_ADDR_LEN];

	(void)state;
	assert_int_equal(gid_find(devices, 2, 0, addr), -ENOTUNIQ);
	assert_int_equal(gid_find(devices, 2, 5, addr), -ENOENT);
	assert_int_equal(gid_find(devices, 0, 1, addr), -ENOENT);
}

static void a_device_that_cannot_be_used_does_not_count(void **state)
{
	char addr[GID_ADDR_LEN];

	(void)state;
	attrs[1].out_unusable = KVERBS_UNUSABLE_NO_FAST_REG;
	assert_int_equal(gid_find(devices, 2, 0, addr), 0);
	attrs[1].out_unusable = KVERBS_USABLE;
}

static void only_roce_v2_gids_are_accepted(void **state)
{
	char addr[GID_ADDR_LEN];

	(void)state;
	assert_int_equal(gid_find(devices, 2, 3, addr), -EOPNOTSUPP);
	assert_int_equal(gid_find(devices, 2, 4, addr), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gid_index_selects_an_address),
		cmocka_unit_test(a_link_local_address_names_its_interface),
		cmocka_unit_test(an_index_that_several_ports_have_is_refused),
		cmocka_unit_test(a_device_that_cannot_be_used_does_not_count),
		cmocka_unit_test(only_roce_v2_gids_are_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
