/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tests that read as a list of rules. Each test runs in a process of its own: its files are closed
 * at the end, and a hanging test is killed. The output is KTAP.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patience.h"

#define __aligned(bytes)	__attribute__((__aligned__(bytes)))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __noreturn	__attribute__((__noreturn__))

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* True if the guest runs this kernel, by the name that scripts/vm has for it. */
bool test_kernel_is(const char *kernel);

typedef void (*test_fn)(const void *arg);

void test_add(const char *name, test_fn run, const void *arg);
void test_add_light(const char *name, test_fn run, const void *arg);
void test_add_idle(const char *name, test_fn run, const void *arg);

/*
 * Set a function that runs after each round of each test, when all processes of the test are dead.
 * It may fail the test. Its argument points to the number of the round, an unsigned int, from 1.
 */
void test_after_each(test_fn run);

/* Add tests from a table, or depending on the guest's kernel. */
void test_group(void (*add)(void));

void __noreturn __printf(3, 4) test_fail(const char *file, int line, const char *format, ...);
void __noreturn __printf(1, 2) test_skip(const char *format, ...);
void __printf(1, 2) test_note(const char *format, ...);

#define TEST_BY(add, rule)						\
	static void rule##_test(void);					\
	static void rule##_run(const void *arg)				\
	{								\
		(void)arg;						\
		rule##_test();						\
	}								\
	__attribute__((constructor)) static void rule##_add(void)	\
	{								\
		add(#rule, rule##_run, NULL);				\
	}								\
	static void rule##_test(void)

/* The name is the rule: underscores are printed as blanks. */
#define TEST(rule)	TEST_BY(test_add, rule)

/*
 * A test that only waits, for a long time: it runs while others do. It neither uses a CPU nor
 * disturbs them, nor do they disturb it.
 */
#define TEST_IDLE(rule)	TEST_BY(test_add_idle, rule)

#define TEST_GROUP(group)						\
	static void group##_group(void);				\
	__attribute__((constructor)) static void group##_add(void)	\
	{								\
		test_group(group##_group);				\
	}								\
	static void group##_group(void)

#define FAIL(...)	test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)						\
	do {								\
		if (!(condition))					\
			FAIL("not true: %s", #condition);		\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		long long got_ = (long long)(got);			\
		long long want_ = (long long)(want);			\
									\
		if (got_ != want_)					\
			FAIL("%s is %lld (%#llx), not %lld (%#llx)",	\
			     #got, got_, got_, want_, want_);		\
	} while (0)

/* For calls that return 0 or -errno. */
#define CHECK_ERR(got, want)						\
	do {								\
		int got_ = (got);					\
		int want_ = -(want);					\
									\
		if (got_ != want_)					\
			FAIL("%s gives %s, not %s", #got,		\
			     test_errno(got_), test_errno(want_));	\
	} while (0)

#define CHECK_OK(got)	CHECK_ERR(got, 0)

const char *test_errno(int err);
long long test_now_ms(void);
long long test_tick_ms(void);
int test_repeats(int nr);
int __printf(1, 2) test_shell(const char *format, ...);
long test_status_kb(int pid, const char *field);

#endif /* HARNESS_H */
