// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The suites are in the *_kunit.c files; what they stand on is in the fake_*.c. */
#include <linux/module.h>

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("KUnit suites of kverbs");
MODULE_LICENSE("Dual BSD/GPL");
