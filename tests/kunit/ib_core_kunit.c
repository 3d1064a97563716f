// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RDMA subsystem that the module was built for. */
#include <kunit/test.h>

#include "ib_core.h"

static void ib_core_is_the_one_that_the_module_was_built_for(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, kverbs_ib_core_check(kverbs_ib_core_is_replaced()));
}

static void ib_core_of_the_other_kind_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENOEXEC, kverbs_ib_core_check(!kverbs_ib_core_is_replaced()));
}

static struct kunit_case ib_core_cases[] = {
	KUNIT_CASE(ib_core_is_the_one_that_the_module_was_built_for),
	KUNIT_CASE(ib_core_of_the_other_kind_is_refused),
	{}
};

static struct kunit_suite ib_core_suite = {
	.name = "kverbs_ib_core",
	.test_cases = ib_core_cases,
};

kunit_test_suite(ib_core_suite);
