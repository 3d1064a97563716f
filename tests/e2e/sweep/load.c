// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loading the module, with each of its allocations failing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "fault.h"

/* More than the number of allocations */
#define ALL		1000000
/*
 * More than the module's own allocations, which are the last ones; the kernel's, for loading it,
 * precede them.
 */
#define LAST		200

static char image[8 << 20];
static size_t image_size;

/* Read the image now, since a file system need not survive faults while the module loads. */
static void read_image(void)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/kmod/kverbs.ko", getenv("KVERBS_MODULES"));
	file = fopen(path, "r");
	CHECK(file);
	image_size = fread(image, 1, sizeof(image), file);
	CHECK(image_size > 0 && image_size < sizeof(image));
	fclose(file);
}

static int load(void)
{
	return syscall(SYS_init_module, image, image_size, "") ? -errno : 0;
}

static void unload(void)
{
	/* A test before this one may have used the traffic engine. */
	syscall(SYS_delete_module, "kverbs_bench", O_NONBLOCK);
	CHECK_EQ(syscall(SYS_delete_module, "kverbs", O_NONBLOCK), 0);
}

static unsigned int count_chances(void)
{
	unsigned int left;

	fault_arm(FAULT_MEMORY, ALL);
	CHECK_OK(load());
	left = fault_left();
	CHECK(!fault_disarm(FAULT_MEMORY));
	unload();
	return ALL - left;
}

/* Returns true if the fault was injected. */
static bool load_and_unload(unsigned int nth)
{
	bool hit;
	int ret;

	fault_arm(FAULT_MEMORY, nth);
	ret = load();
	hit = fault_disarm(FAULT_MEMORY);
	if (!ret)
		unload();
	else if (!hit)
		FAIL("without a fault, loading gives %s", test_errno(ret));
	return hit;
}

TEST(loading_the_module_survives_every_allocation_failure)
{
	unsigned int nr, nth, faults = 0;

	if (!fault_init())
		test_skip("this kernel injects no faults");
	read_image();
	unload();
	nr = count_chances();
	CHECK(nr > LAST);
	for (nth = nr - LAST; nth <= nr; nth++)
		faults += load_and_unload(nth);
	CHECK(faults);
	CHECK_OK(load());
	test_note("swept loading the module, memory: %u faults", faults);
}
