// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Behind an IOMMU that unmaps at once: when a region has ended, in whatever way, its addresses
 * fault and its memory stays as it was; until then they do not fault, even if the end comes in
 * the middle of a transfer.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adapter.h"
#include "buf.h"
#include "transfer.h"

#define BOTH		(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)
#define PROBED		8

static struct link both;
static char *from, *to;
static long faults;
static uint64_t from_addr, to_addr;

static void prepare(void)
{
	from = memory_new();
	to = memory_new();
	memory_fill(from, 1);
	memory_fill(to, 2);
	faults = adapter_faults();
	adapter_forget();
}

static void note_addresses(void)
{
	from_addr = adapter_address("send");
	to_addr = adapter_address("page");
}

/* A connection, after one WRITE of a page: the adapter has an address of each memory. */
static void set_up(void)
{
	prepare();
	link_between(&both, from, to);
	link_export(&both, BOTH);
	CHECK_DONE(link_write(&both, 0, 0, PAGE));
	note_addresses();
	memory_check_moved(to, 0, 2, 0, 1, PAGE);
}

static void check_no_fault(void)
{
	CHECK_EQ(adapter_faults(), faults);
}

static void expect_all_ended(void)
{
	check_no_fault();
	adapter_expect_no_access(from_addr, from);
	adapter_expect_no_access(to_addr, to);
}

/* The other tests mean nothing if this fails. */
static void live_regions_are_reached(void)
{
	char bytes[PROBED], want[PROBED];

	memset(want, STRANGE_BYTE, PROBED);
	set_up();
	adapter_read(from_addr, bytes, PROBED);
	CHECK(!memcmp(bytes, from, PROBED));
	adapter_write(to_addr + 16, PROBED);
	CHECK(!memcmp(to + 16, want, PROBED));
	adapter_write(from_addr + 16, PROBED);
	CHECK(!memcmp(from + 16, want, PROBED));
	check_no_fault();
}

static void never_mapped_addresses_fault(void)
{
	prepare();
	adapter_expect_write_fault(PAGE);
	adapter_expect_read_fault(PAGE);
}

/*
 * QEMU's IOMMU reports no fault for an address that it has just translated for a read, so the
 * probes are for the second page, which the WRITE has not used.
 */
static void read_only_region_cannot_be_written(void)
{
	unsigned char before[2 * PAGE];
	struct buf source;
	char bytes[PROBED];
	uint64_t addr;

	prepare();
	link_between(&both, from, to);
	link_export(&both, BOTH);
	buf_open(&source, both.client.ring.fd, BUF_READ_ONLY, 2 * PAGE);
	memcpy(before, source.addr, 2 * PAGE);
	both.client.region = source.region;
	CHECK_DONE(link_write(&both, 0, 0, 100));
	check_no_fault();
	addr = adapter_address("send") + PAGE;
	adapter_expect_write_fault(addr);
	faults = adapter_faults();
	adapter_read(addr, bytes, PROBED);
	CHECK(!memcmp(bytes, before + PAGE, PROBED));
	adapter_write(addr, PROBED);
	check_no_fault();
	CHECK(!memcmp(before, source.addr, 2 * PAGE));
}

static void destroy_of_the_region(void)
{
	set_up();
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
	check_no_fault();
	adapter_expect_no_access(from_addr, from);
}

/* The key ends with the export, the address with the region. */
static void destroy_of_the_export(void)
{
	set_up();
	CHECK_OK(dev_destroy(both.server.ring.fd, both.export));
	CHECK_EQ(link_write(&both, 0, PAGE, PAGE).result, -EIO);
	memory_check_moved(to, 0, 2, 0, 1, PAGE);
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.region));
	check_no_fault();
	adapter_expect_no_access(to_addr, to);
}

static void destroy_of_the_connection(void)
{
	set_up();
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.conn));
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.conn));
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.region));
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
	expect_all_ended();
}

static void close_while_idle(void)
{
	set_up();
	side_close(&both.client);
	check_no_fault();
	adapter_expect_no_access(from_addr, from);
	faults = adapter_faults();
	side_close(&both.server);
	check_no_fault();
	adapter_expect_no_access(to_addr, to);
}

/* Moving all of it takes half a minute. */
static void start_long_write(void)
{
	link_between(&both, from, to);
	link_export(&both, BOTH);
	link_start(&both, KVERBS_OP_WRITE, 1);
}

/* Wait until the first bytes have arrived in the sink, which was cleared. */
static void await_write(void)
{
	const struct timespec soon = { .tv_nsec = 1000000 };
	long long end = test_now_ms() + test_patience_ms();

	while (!__atomic_load_n(to, __ATOMIC_RELAXED)) {
		if (test_now_ms() > end)
			FAIL("nothing has arrived in %d ms", test_patience_ms());
		nanosleep(&soon, NULL);
	}
}

static void set_up_long_write(void)
{
	prepare();
	memset(to, 0, SIZE);
	start_long_write();
	await_write();
	note_addresses();
}

static void expect_half_moved(void)
{
	static const char zeros[PAGE];

	CHECK(to[0]);
	CHECK(!memcmp(to + SIZE - PAGE, zeros, PAGE));
}

static void close_of_the_source_under_a_write(void)
{
	set_up_long_write();
	side_close(&both.client);
	side_close(&both.server);
	expect_half_moved();
	expect_all_ended();
}

static void close_of_the_sink_under_a_write(void)
{
	set_up_long_write();
	side_close(&both.server);
	check_no_fault();
	adapter_expect_no_access(to_addr, to);
	expect_half_moved();
}

static void destroy_of_an_export_under_a_write(void)
{
	set_up_long_write();
	CHECK_OK(dev_destroy(both.server.ring.fd, both.export));
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.region));
	check_no_fault();
	adapter_expect_no_access(to_addr, to);
	expect_half_moved();
}

static void own_and_wait(void)
{
	start_long_write();
	child_ready();
	pause();
}

static long module_users(void)
{
	FILE *file = fopen("/sys/module/kverbs/refcnt", "r");
	long users;

	CHECK(file);
	CHECK_EQ(fscanf(file, "%ld", &users), 1);
	fclose(file);
	return users;
}

static void sigkill_under_a_write(void)
{
	int pid, status;

	prepare();
	memset(to, 0, SIZE);
	pid = child_start(own_and_wait);
	await_write();
	note_addresses();
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(module_users(), 0);
	expect_half_moved();
	expect_all_ended();
}

static void expect_removed(struct side *side)
{
	CHECK(ring_end_of(&side->ring, side->conn).result);
	CHECK_EQ(dev_query(side->ring.fd, side->conn).out_state, KVERBS_CONN_DEAD);
}

/* The regions live on, but not their addresses. */
static void unbind_while_idle(void)
{
	set_up();
	adapter_unbind();
	expect_removed(&both.client);
	expect_removed(&both.server);
	adapter_bind();
	expect_all_ended();
}

static void unbind_under_a_write(void)
{
	set_up_long_write();
	adapter_unbind();
	expect_removed(&both.client);
	expect_removed(&both.server);
	adapter_bind();
	expect_half_moved();
	expect_all_ended();
}

static void need_hot_plug(void)
{
	if (!adapter_can_be_unplugged())
		test_skip("this kernel has no hot plug");
}

static void unplug_while_idle(void)
{
	need_hot_plug();
	set_up();
	adapter_unplug();
	expect_removed(&both.client);
	expect_removed(&both.server);
	adapter_plug();
	expect_all_ended();
}

static void unplug_under_a_write(void)
{
	need_hot_plug();
	set_up_long_write();
	adapter_unplug();
	expect_removed(&both.client);
	expect_removed(&both.server);
	adapter_plug();
	expect_half_moved();
	expect_all_ended();
}

/* A region that has lost its device is mapped anew on the next one. */
static void regions_are_used_again_after_unbind(void)
{
	set_up();
	adapter_unbind();
	expect_removed(&both.client);
	expect_removed(&both.server);
	adapter_bind();
	adapter_forget();
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.conn));
	CHECK_OK(dev_destroy(both.server.ring.fd, both.server.conn));
	CHECK_OK(dev_destroy(both.server.ring.fd, both.listener));
	link_connect(&both);
	link_export(&both, BOTH);
	memory_fill(to, 2);
	CHECK_DONE(link_write(&both, 0, 0, PAGE));
	memory_check_moved(to, 0, 2, 0, 1, PAGE);
	check_no_fault();
}

static const struct rule {
	const char *name;
	void (*run)(void);
} rules[] = {
	{ "the addresses of live regions are reached", live_regions_are_reached },
	{ "an address that was never mapped faults", never_mapped_addresses_fault },
	{ "a READ_ONLY region can be read and not written", read_only_region_cannot_be_written },
	{ "after DESTROY of the region its address faults", destroy_of_the_region },
	{ "after DESTROY of the export and the region their address faults",
	  destroy_of_the_export },
	{ "after DESTROY of the connection and the regions their addresses fault",
	  destroy_of_the_connection },
	{ "after close their addresses fault", close_while_idle },
	{ "after close of the source under a WRITE the addresses fault",
	  close_of_the_source_under_a_write },
	{ "after close of the sink under a WRITE its address faults",
	  close_of_the_sink_under_a_write },
	{ "after DESTROY of an export under a WRITE and of the region the address faults",
	  destroy_of_an_export_under_a_write },
	{ "after SIGKILL under a WRITE the addresses fault", sigkill_under_a_write },
	{ "after unbind of the driver the addresses fault", unbind_while_idle },
	{ "after unbind of the driver under a WRITE the addresses fault", unbind_under_a_write },
	{ "after hot unplug the addresses fault", unplug_while_idle },
	{ "after hot unplug under a WRITE the addresses fault", unplug_under_a_write },
	{ "after unbind and bind the regions are mapped anew",
	  regions_are_used_again_after_unbind },
};

static void run(const void *arg)
{
	((const struct rule *)arg)->run();
}

TEST_GROUP(fences)
{
	size_t i;

	if (!adapter_has_iommu())
		return;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		test_add(rules[i].name, run, &rules[i]);
}
