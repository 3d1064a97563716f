// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of a given page size. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include <cmocka.h>

#include "bench/pages.h"

static void allocated_memory_is_mapped_to_its_last_page(void **state)
{
	static const size_t sizes[] = { 1, 4096, 4097, 3 << 20 };
	struct pages p;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(pages_alloc(&p, PAGES_BASE, sizes[i]), 0);
		assert_int_equal((uintptr_t)p.addr % pages_bytes(PAGES_BASE), 0);
		assert_true(p.mapped >= sizes[i]);
		assert_true(p.mapped - sizes[i] < pages_bytes(PAGES_BASE));
		memset(p.addr, 7, p.mapped);
		pages_free(&p);
		assert_null(p.addr);
	}
}

/* The machine decides which of the two happens, but no other error may occur. */
static void huge_pages_are_huge_or_missing(void **state)
{
	struct pages p;
	int ret;

	(void)state;
	ret = pages_alloc(&p, PAGES_HUGE, 5000);
	if (ret) {
		assert_int_equal(ret, -ENODATA);
		return;
	}
	assert_int_equal((uintptr_t)p.addr % pages_bytes(PAGES_HUGE), 0);
	assert_int_equal(p.mapped, pages_bytes(PAGES_HUGE));
	memset(p.addr, 7, p.mapped);
	pages_free(&p);
}

static void without_huge_pages_allocating_them_fails(void **state)
{
	struct pages p;
	int ret;

	(void)state;
	assert_int_equal(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
	ret = pages_alloc(&p, PAGES_HUGE, 1);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	if (!ret) {
		/* Some huge pages are reserved on this machine. */
		pages_free(&p);
		skip();
	}
	assert_int_equal(ret, -ENODATA);
}

static void a_size_without_room_is_refused(void **state)
{
	struct pages p;

	(void)state;
	assert_int_equal(pages_alloc(&p, PAGES_BASE, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(pages_alloc(&p, PAGES_HUGE, SIZE_MAX / 2), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocated_memory_is_mapped_to_its_last_page),
		cmocka_unit_test(huge_pages_are_huge_or_missing),
		cmocka_unit_test(without_huge_pages_allocating_them_fails),
		cmocka_unit_test(a_size_without_room_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
