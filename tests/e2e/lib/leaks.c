// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Checks after every test that it has leaked nothing. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "resources.h"
#include "peer.h"

#define SOMEBODY	65534
#define PAGES		16
/* Rounds until caches are filled, and the variation of slab without a leak after that */
#define SETTLED		5
#define SLAB_NOISE_KB	2048

static char baseline[512];

/**
 * struct counts - values that must return to their start, or must not grow
 * @pinned: pinned pages of all processes
 * @slab_kb: largest size of slab in the first rounds of a test
 */
static struct counts {
	long pinned;
	long slab_kb;
} *counts;

/* The traffic engine, which stays loaded once it was used, is no user. */
static long module_users(void)
{
	long users = -1;
	FILE *file = fopen("/sys/module/kverbs/refcnt", "r");

	CHECK(file);
	CHECK_EQ(fscanf(file, "%ld", &users), 1);
	fclose(file);
	return users - !access("/sys/module/kverbs/holders/kverbs_bench", F_OK);
}

/* No event signals these conditions, so they are checked periodically. */
static bool come_true(bool (*condition)(void))
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + test_patience_ms();

	while (!condition()) {
		if (test_now_ms() > end)
			return false;
		nanosleep(&soon, NULL);
	}
	return true;
}

/* The CM frees the ids of the other side asynchronously. */
static bool resources_are_back(void)
{
	char now[512];

	resources_count(now, sizeof(now));
	return !strcmp(now, baseline);
}

/* The file of a killed task stays open until its connections end, which may wait for a peer. */
static bool module_is_unused(void)
{
	return !module_users();
}

static void check_module(void)
{
	if (!come_true(module_is_unused))
		FAIL("the module has %ld users", module_users());
}

static const char list_script[] =
	"for what in pd cq qp mr cm_id; do rdma resource show $what; done | sed 's/^/# /'\n";

static void check_resources(void)
{
	char now[512];

	if (come_true(resources_are_back))
		return;
	test_shell(list_script);
	resources_count(now, sizeof(now));
	FAIL("left: %s, not %s", now, baseline);
}

/* Returns the number after @name in a file of names and numbers. */
static long number_in(const char *path, const char *name)
{
	char format[64];
	long number = -1;
	char line[256];
	FILE *file = fopen(path, "r");

	CHECK(file);
	snprintf(format, sizeof(format), "%s %%ld", name);
	while (number < 0 && fgets(line, sizeof(line), file))
		sscanf(line, format, &number);
	fclose(file);
	CHECK(number >= 0);
	return number;
}

/* Each CPU counts on its own until vmstat is refreshed, which a kernel for one CPU lacks. */
static long pinned_pages(void)
{
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "w");

	if (file)
		CHECK(fputs("1", file) >= 0 && !fclose(file));
	else
		CHECK_EQ(errno, ENOENT);
	return number_in("/proc/vmstat", "nr_foll_pin_acquired") -
	       number_in("/proc/vmstat", "nr_foll_pin_released");
}

static bool pins_are_back(void)
{
	return pinned_pages() == counts->pinned;
}

static void check_pins(void)
{
	if (!come_true(pins_are_back))
		FAIL("%ld pages are pinned, not %ld", pinned_pages(), counts->pinned);
}

static long slab_kb(void)
{
	return number_in("/proc/meminfo", "SUnreclaim:");
}

static bool slab_is_back(void)
{
	return slab_kb() <= counts->slab_kb + SLAB_NOISE_KB;
}

/* A leak shows after some rounds of the same test. */
static void check_slab(unsigned int round)
{
	long now = slab_kb();

	if (round == 1)
		counts->slab_kb = 0;
	if (round > SETTLED && !come_true(slab_is_back))
		FAIL("%ld KiB of slab after %u rounds, first %ld", slab_kb(), round,
		     counts->slab_kb);
	if (round <= SETTLED && now > counts->slab_kb)
		counts->slab_kb = now;
}

/* If nothing is charged, the user can lock memory up to the limit. */
static void check_memlock(void)
{
	struct rlimit limit = { PAGES * 4096, PAGES * 4096 };
	int fd = dev_open();
	void *memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	CHECK_EQ(setuid(SOMEBODY), 0);
	CHECK_OK(dev_try_region(fd, memory, PAGES * 4096, 0, NULL));
	CHECK_EQ(test_status_kb(0, "VmPin"), PAGES * 4);
}

/* Devices that exist are not created again. */
static const char restore_script[] =
	"exec >/dev/null 2>&1; p=${KVERBS_PROVIDER:-rxe}; d=$p; [ $p = siw ] || d=rdma_rxe\n"
	"modprobe $d; lsmod | grep -q ^kverbs || insmod $KVERBS_MODULES/kmod/kverbs.ko\n"
	"if ip link add dummy0 type dummy; then\n"
	"	ip link set dummy0 mtu 9000\n"
	"	ip addr add 192.0.2.1/24 dev dummy0\n"
	"fi\n"
	"ip link set dummy0 up; ip addr replace 2001:db8::1/64 dev dummy0 nodad\n"
	"rdma link show ${p}0/1 || rdma link add ${p}0 type $p netdev dummy0\n";

static bool has_line(const char *path, const char *words)
{
	char line[256];
	bool found = false;
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, words);
	fclose(file);
	return found;
}

/* This check is much cheaper than the script, which runs ten programs. */
static bool nothing_is_missing(void)
{
	char port[64];

	snprintf(port, sizeof(port), "/sys/class/infiniband/%s0/ports/1/state",
		 dev_provider());
	return has_line(port, "ACTIVE") && has_line("/proc/modules", "kverbs ") &&
	       has_line("/proc/net/fib_trie", "192.0.2.1") &&
	       has_line("/proc/net/if_inet6", "20010db8000000000000000000000001");
}

/* Restore devices that a test has removed, even if the test failed half-way. */
int device_restore(void)
{
	return nothing_is_missing() ? 0 : -test_shell("%s", restore_script);
}

static void check_leaks(const void *round)
{
	CHECK_OK(device_restore());
	check_module();
	check_resources();
	check_pins();
	check_slab(*(const unsigned int *)round);
	check_memlock();
}

TEST_GROUP(leak_checks)
{
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(counts != MAP_FAILED);
	counts->pinned = pinned_pages();
	resources_count(baseline, sizeof(baseline));
	test_after_each(check_leaks);
}
