// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* After every test: nothing is left of it anywhere. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "teardown_peer.h"

#define SOMEBODY	65534
#define PAGES		16

static char baseline[512];

static const char list_all[] =
	"for what in pd cq qp mr cm_id; do rdma resource show $what; done";

static long module_users(void)
{
	long users = -1;
	FILE *file = fopen("/sys/module/kverbs/refcnt", "r");

	CHECK(file);
	CHECK_EQ(fscanf(file, "%ld", &users), 1);
	fclose(file);
	return users;
}

static void check_resources(void)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + 5000;
	char now[512];

	/* The CM lets go of the other side's ids in its own time. */
	do {
		dev_resources(now, sizeof(now));
		if (!strcmp(now, baseline))
			return;
		nanosleep(&soon, NULL);
	} while (test_now_ms() < end);
	test_shell("%s | sed 's/^/# /'", list_all);
	FAIL("left: %s, not %s", now, baseline);
}

/* Whoever has nothing locked can lock all that he may. */
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

/* What is there already is not made again. */
static const char restore_script[] =
	"exec >/dev/null 2>&1; p=${KVERBS_PROVIDER:-rxe}; d=$p; [ $p = siw ] || d=rdma_rxe\n"
	"modprobe $d; lsmod | grep -q ^kverbs || insmod $KVERBS_MODULES/kmod/kverbs.ko\n"
	"if ip link add dummy0 type dummy; then\n"
	"	ip link set dummy0 mtu 9000 up\n"
	"	ip addr add 192.0.2.1/24 dev dummy0\n"
	"	ip addr add 2001:db8::1/64 dev dummy0 nodad\n"
	"fi\n"
	"rdma link show ${p}0/1 || rdma link add ${p}0 type $p netdev dummy0\n";

/* Bring back what a test took away, even if it failed half-way. */
int device_restore(void)
{
	return -test_shell("%s", restore_script);
}

static void check_leaks(const void *arg)
{
	(void)arg;
	CHECK_OK(device_restore());
	CHECK_EQ(module_users(), 0);
	CHECK(test_shell("%s | grep '[[]kverbs[]]'", list_all));
	check_resources();
	check_memlock();
}

TEST_GROUP(leak_checks)
{
	dev_resources(baseline, sizeof(baseline));
	test_after_each(check_leaks);
}
