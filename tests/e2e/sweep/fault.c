// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fault injection with fail-nth and debugfs, see the kernel's fault-injection.rst. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "fault.h"

#define DEBUGFS "/sys/kernel/debug/"

static int nth_fd = -1;

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		FAIL("cannot open %s: %s", file, test_errno(errno));
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_number(const char *file, unsigned int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	put(file, text);
}

static long number_in(const char *file)
{
	char text[16] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtol(text, NULL, 0);
}

/*
 * Returns false if this kernel cannot inject faults; else sets it to fail any allocation, without
 * messages.
 */
bool fault_init(void)
{
	static const char * const quiet[] = {
		"failslab", "fail_page_alloc", "fail_usercopy", "fail_kverbs",
	};
	char file[64];
	size_t i;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || access(DEBUGFS "fail_kverbs", F_OK))
		return false;
	for (i = 0; i < ARRAY_SIZE(quiet); i++) {
		snprintf(file, sizeof(file), DEBUGFS "%s/verbose", quiet[i]);
		put(file, "0");
	}
	put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	put(DEBUGFS "fail_page_alloc/min-order", "0");
	put(DEBUGFS "fail_kverbs/times", "0");
	put(DEBUGFS "fail_kverbs/probability", "100");
	return true;
}

void fault_arm(enum fault fault, unsigned int nth)
{
	char text[16];
	int len;

	if (fault == FAULT_VERB) {
		put_number(DEBUGFS "fail_kverbs/space", nth);
		put(DEBUGFS "fail_kverbs/times", "1");
		return;
	}
	len = snprintf(text, sizeof(text), "%u", nth);
	CHECK_EQ(pwrite(nth_fd, text, len, 0), len);
}

/* Returns the number of calls left until the fault. */
unsigned int fault_left(void)
{
	char text[16] = "";

	CHECK(pread(nth_fd, text, sizeof(text) - 1, 0) > 0);
	return strtoul(text, NULL, 10);
}

/* Reading and ending the count may allocate, too, and so meet the fault. */
static bool memory_disarm(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0 || pwrite(nth_fd, "0", 1, 0) < 0)
		return false;
	return strtol(text, NULL, 10) == 0;
}

/* Returns true if a fault was injected. */
bool fault_disarm(enum fault fault)
{
	bool hit;

	if (fault == FAULT_MEMORY)
		return memory_disarm();
	hit = !number_in(DEBUGFS "fail_kverbs/times");
	put(DEBUGFS "fail_kverbs/times", "0");
	return hit;
}
