/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The list of suites in the test module, from external.lds. */
#ifndef KVERBS_KUNIT_EXTERNAL_H
#define KVERBS_KUNIT_EXTERNAL_H

#include <kunit/test.h>

extern struct kunit_suite * const __kunit_suites_start[];
extern struct kunit_suite * const __kunit_suites_end[];

#endif /* KVERBS_KUNIT_EXTERNAL_H */
