// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The suites are in *_kunit.c; their fixtures are in fake/. */
#include <linux/module.h>

#include <kverbs/kverbs.h>

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("KUnit suites of kverbs");
MODULE_LICENSE("Dual BSD/GPL");
KVERBS_K_IMPORT();
