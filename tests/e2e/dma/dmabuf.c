// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions of a dma-buf: the adapter finds each byte, and when the region has ended its address
 * faults. The memory is seen through the memfd below the dma-buf.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapter.h"
#include "dmabuf.h"
#include "transfer.h"

#define BOTH	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)
#define PROBED	8

static struct link both;
static char *from, *to;
static int from_buf, to_buf;
static long faults;

static void use(struct side *side, int dmabuf)
{
	CHECK_OK(dev_destroy(side->ring.fd, side->region));
	side->region = dmabuf_region(side->ring.fd, dmabuf, 0, SIZE, 0);
}

/* Both sides have a region of a dma-buf. */
static void open_both(void)
{
	from_buf = dmabuf_open(&from, SIZE);
	to_buf = dmabuf_open(&to, SIZE);
	memory_fill(from, 1);
	memory_fill(to, 2);
	faults = adapter_faults();
	adapter_forget();
	link_between(&both, from, to);
	use(&both.client, from_buf);
	use(&both.server, to_buf);
}

static void set_up(void)
{
	open_both();
	link_export(&both, BOTH);
}

static void check_no_fault(void)
{
	CHECK_EQ(adapter_faults(), faults);
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

static void a_region_begins_at_its_offset(void)
{
	set_up();
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
	both.client.region = dmabuf_region(both.client.ring.fd, from_buf, MOVED_FROM,
					   MOVED_LENGTH, KVERBS_REGION_READ_ONLY);
	CHECK_DONE(link_write(&both, 0, MOVED_TO, MOVED_LENGTH));
	memory_check_moved(to, MOVED_TO, 2, MOVED_FROM, 1, MOVED_LENGTH);
}

/* With its descriptors the exporter is gone, but for the region. */
static void the_descriptors_may_be_closed(void)
{
	set_up();
	close(from_buf);
	close(to_buf);
	link_check_write(&both, from, to);
}

/* Without an IOMMU */
static void an_address_is_that_of_the_memory(void)
{
	set_up();
	CHECK_DONE(link_write(&both, 0, 0, 100));
	CHECK_EQ(adapter_address("send"), memory_physical(from));
	CHECK_EQ(adapter_address("page"), memory_physical(to));
}

/* ---- behind an IOMMU ----------------------------------------------------- */

static void write_a_page(void)
{
	set_up();
	CHECK_DONE(link_write(&both, 0, 0, PAGE));
	check_no_fault();
}

/* The other tests mean nothing if this fails. */
static void live_regions_are_reached(void)
{
	char bytes[PROBED], want[PROBED];

	memset(want, STRANGE_BYTE, PROBED);
	write_a_page();
	adapter_read(adapter_address("send"), bytes, PROBED);
	CHECK(!memcmp(bytes, from, PROBED));
	adapter_write(adapter_address("page") + 16, PROBED);
	CHECK(!memcmp(to + 16, want, PROBED));
	check_no_fault();
}

static void destroy_of_the_region(void)
{
	uint64_t addr;

	write_a_page();
	addr = adapter_address("send");
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
	check_no_fault();
	adapter_expect_no_access(addr, from);
}

static void destroy_of_the_region_after_its_descriptor(void)
{
	uint64_t addr;

	write_a_page();
	addr = adapter_address("send");
	close(from_buf);
	CHECK_OK(dev_destroy(both.client.ring.fd, both.client.region));
	check_no_fault();
	adapter_expect_no_access(addr, from);
}

static void close_of_the_file(void)
{
	uint64_t from_addr, to_addr;

	write_a_page();
	from_addr = adapter_address("send");
	to_addr = adapter_address("page");
	side_close(&both.client);
	side_close(&both.server);
	check_no_fault();
	adapter_expect_no_access(from_addr, from);
	adapter_expect_no_access(to_addr, to);
}

static void unbind_of_the_driver(void)
{
	uint64_t addr;

	write_a_page();
	addr = adapter_address("send");
	adapter_unbind();
	adapter_bind();
	check_no_fault();
	adapter_expect_no_access(addr, from);
}

/* ---- with bounce buffers ------------------------------------------------- */

static void a_dmabuf_is_refused(void)
{
	struct kverbs_sqe send;

	open_both();
	send = sqe_send(both.client.conn, both.client.region, 0, PAGE);
	CHECK_ERR(ring_put(&both.client.ring, &send), EOPNOTSUPP);
	CHECK_EQ(adapter_count("send"), 0);
}

static const struct rule {
	const char *name;
	void (*run)(void);
} everywhere[] = {
	{ "a WRITE moves every byte from a dma-buf to another", write_moves_every_byte },
	{ "a READ moves every byte from a dma-buf to another", read_moves_every_byte },
	{ "a SEND moves every byte from a dma-buf to another", send_moves_every_byte },
	{ "a region of a dma-buf begins at its offset", a_region_begins_at_its_offset },
	{ "the descriptor of a dma-buf may be closed", the_descriptors_may_be_closed },
}, direct[] = {
	{ "an address of a dma-buf is that of the memory", an_address_is_that_of_the_memory },
}, translated[] = {
	{ "the addresses of live regions of a dma-buf are reached", live_regions_are_reached },
	{ "after DESTROY of a region of a dma-buf its address faults", destroy_of_the_region },
	{ "after DESTROY of a region its address faults, also if the dma-buf has no other user",
	  destroy_of_the_region_after_its_descriptor },
	{ "after close the addresses of a dma-buf fault", close_of_the_file },
	{ "after unbind of the driver the address of a dma-buf faults", unbind_of_the_driver },
}, bounced[] = {
	{ "swiotlb=force: a dma-buf is refused", a_dmabuf_is_refused },
};

static void run(const void *arg)
{
	((const struct rule *)arg)->run();
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

TEST_GROUP(dmabufs)
{
	if (!dmabuf_is_supported())
		return;
	if (adapter_bounces()) {
		add(bounced, ARRAY_SIZE(bounced));
		return;
	}
	add(everywhere, ARRAY_SIZE(everywhere));
	if (adapter_has_iommu())
		add(translated, ARRAY_SIZE(translated));
	else
		add(direct, ARRAY_SIZE(direct));
}
