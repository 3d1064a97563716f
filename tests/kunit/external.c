// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Runs the suites on kernels without KUnit, whose module does not see other modules. */
#include <linux/module.h>

#include "external.h"

static struct kunit_suite_set suites = { __kunit_suites_start, __kunit_suites_end };

static int __init run_suites(void)
{
	kunit_module_init(&suites);
	return 0;
}
module_init(run_suites);

static void __exit end_suites(void)
{
	kunit_module_exit(&suites);
}
module_exit(end_suites);
