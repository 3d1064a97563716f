// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The adapter finds each byte by the address that it was given. */
#include <stdio.h>
#include <string.h>

#include "adapter.h"
#include "buf.h"
#include "transfer.h"

#define FOUR_GIB	(1ULL << 32)
#define BOTH		(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

static struct link both;
static char *from, *to;

static void set_up(void)
{
	from = memory_new();
	to = memory_new();
	memory_fill(from, 1);
	memory_fill(to, 2);
	adapter_forget();
	link_between(&both, from, to);
	link_export(&both, BOTH);
}

static void write_moves_every_byte(void)
{
	set_up();
	link_check_write(&both, from, to);
}

static void read_moves_every_byte(void)
{
	set_up();
	link_check_read(&both, from, to);
}

static void send_moves_every_byte(void)
{
	set_up();
	link_check_send(&both, from, to);
}

static void many_pieces_arrive_in_order(void)
{
	struct buf source, sink;

	set_up();
	buf_open(&source, both.client.ring.fd, BUF_SCATTERED, 7 * PAGE);
	buf_open(&sink, both.server.ring.fd, BUF_SCATTERED, 7 * PAGE);
	buf_poison(&sink);
	both.client.region = source.region;
	both.server.region = sink.region;
	CHECK_DONE(link_send(&both, 5, 1234, 5 * PAGE));
	buf_check_moved(&sink, 1234, &source, 5, 5 * PAGE);
}

/* Memory that the adapter only reads is mapped for that alone. */
static void a_read_only_region_can_be_sent(void)
{
	struct buf source;

	set_up();
	buf_open(&source, both.client.ring.fd, BUF_READ_ONLY, PAGE);
	both.client.region = source.region;
	CHECK_DONE(link_write(&both, 0, 0, 100));
	CHECK(!memcmp(to, source.addr, 100));
}

static void an_address_of_4_gib_or_more(const char *memory, const char *what)
{
	if (memory_physical(memory) < FOUR_GIB)
		FAIL("the memory is at %#llx, too low to show anything",
		     (unsigned long long)memory_physical(memory));
	CHECK_EQ(adapter_address(what), memory_physical(memory));
}

/* Without an IOMMU */
static void an_address_is_that_of_the_memory(void)
{
	set_up();
	CHECK_DONE(link_write(&both, 0, 0, 100));
	an_address_of_4_gib_or_more(from, "send");
	an_address_of_4_gib_or_more(to, "page");
}

/* Behind an IOMMU */
static void scattered_pages_have_adjacent_addresses(void)
{
	struct buf source;

	set_up();
	buf_open(&source, both.client.ring.fd, BUF_SCATTERED, 7 * PAGE);
	both.client.region = source.region;
	CHECK_DONE(link_write(&both, 0, 0, 7 * PAGE));
	CHECK(!memcmp(to, source.addr, 7 * PAGE));
	CHECK_EQ(adapter_count("send"), 1);
}

static void an_adapter_with_32_bits_reaches_all_memory(void)
{
	struct addresses addresses;
	size_t i;

	adapter_set("dma_bits", "32");
	adapter_unbind();
	adapter_bind();
	write_moves_every_byte();
	CHECK(memory_physical(from) >= FOUR_GIB && memory_physical(to) >= FOUR_GIB);
	adapter_addresses(&addresses);
	CHECK(addresses.nr);
	for (i = 0; i < addresses.nr; i++)
		CHECK(addresses.list[i].addr + addresses.list[i].length <= FOUR_GIB);
	adapter_set("dma_bits", "64");
}

struct rule {
	const char *name;
	void (*run)(void);
};

static const struct rule everywhere[] = {
	{ "a WRITE moves every byte", write_moves_every_byte },
	{ "a READ moves every byte", read_moves_every_byte },
	{ "a SEND moves every byte", send_moves_every_byte },
	{ "scattered pages arrive in order", many_pieces_arrive_in_order },
	{ "a READ_ONLY region can be sent", a_read_only_region_can_be_sent },
};

static const struct rule direct[] = {
	{ "an address is that of the memory", an_address_is_that_of_the_memory },
};

static const struct rule translated[] = {
	{ "scattered pages have adjacent addresses", scattered_pages_have_adjacent_addresses },
	{ "an adapter with addresses of 32 bits reaches all memory",
	  an_adapter_with_32_bits_reaches_all_memory },
};

static void run(const void *arg)
{
	long faults = adapter_faults();

	((const struct rule *)arg)->run();
	CHECK_EQ(adapter_faults(), faults);
}

static void add(const struct rule *rules, size_t nr)
{
	const char *where = adapter_has_iommu() ? "behind an IOMMU" : "without an IOMMU";
	char name[128];

	for (; nr; nr--, rules++) {
		snprintf(name, sizeof(name), "%s, %s", rules->name, where);
		test_add(name, run, rules);
	}
}

TEST_GROUP(bytes)
{
	if (adapter_bounces())
		return;
	add(everywhere, ARRAY_SIZE(everywhere));
	if (adapter_has_iommu())
		add(translated, ARRAY_SIZE(translated));
	else
		add(direct, ARRAY_SIZE(direct));
}
