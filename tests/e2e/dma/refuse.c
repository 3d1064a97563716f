// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An adapter that can reach memory only through copies of it is refused the memory. */
#include <stdio.h>

#include "adapter.h"
#include "transfer.h"

static struct link both;

static void set_up(void)
{
	adapter_forget();
	link_between(&both, memory_new(), memory_new());
}

static int try_export(void)
{
	struct kverbs_segment seg;
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = both.server.conn,
		.region_id = both.server.region,
		.access = KVERBS_REMOTE_READ,
		.inout_segs_len = 1,
		.length = PAGE,
		.segs_uptr = (uintptr_t)&seg,
	};

	return dev_cmd(both.server.ring.fd, KVERBS_EXPORT, &cmd);
}

static int try_rdma(uint8_t opcode)
{
	const struct kverbs_segment seg = { .rkey = 0x100 };
	struct kverbs_sqe sqe = sqe_rdma(opcode, both.client.conn, both.client.region, 0, PAGE,
					 &seg);

	return ring_put(&both.client.ring, &sqe);
}

/* ring_put() returns the error of a refused entry's completion. */
static void check_refused(void)
{
	struct kverbs_sqe recv, send;

	set_up();
	recv = sqe_recv(both.server.conn, both.server.region, 0, PAGE);
	send = sqe_send(both.client.conn, both.client.region, 0, PAGE);
	CHECK_ERR(ring_put(&both.server.ring, &recv), EOPNOTSUPP);
	CHECK_ERR(ring_put(&both.client.ring, &send), EOPNOTSUPP);
	CHECK_ERR(try_rdma(KVERBS_OP_WRITE), EOPNOTSUPP);
	CHECK_ERR(try_rdma(KVERBS_OP_READ), EOPNOTSUPP);
	CHECK_ERR(try_export(), EOPNOTSUPP);
	CHECK_EQ(adapter_count("recv") + adapter_count("send") + adapter_count("page"), 0);
}

static void all_memory_is_refused(const void *arg)
{
	(void)arg;
	check_refused();
}

static void the_connection_stays_usable(const void *arg)
{
	(void)arg;
	check_refused();
	both.client.region = 0;
	both.server.region = 0;
	CHECK_DONE(link_send(&both, 0, 0, 0));
}

static void refused_with(const char *parameter, const char *value, const char *usual)
{
	adapter_set(parameter, value);
	adapter_unbind();
	adapter_bind();
	check_refused();
	adapter_set(parameter, usual);
	side_close(&both.client);
	side_close(&both.server);
	adapter_unbind();
	adapter_bind();
}

static void memory_beyond_the_mask(const void *arg)
{
	(void)arg;
	refused_with("dma_bits", "32", "64");
}

static void untrusted(const void *arg)
{
	(void)arg;
	refused_with("untrusted", "Y", "N");
}

TEST_GROUP(refusals)
{
	if (adapter_bounces()) {
		test_add("swiotlb=force: all memory is refused", all_memory_is_refused, NULL);
		test_add("swiotlb=force: a connection that was refused memory stays usable",
			 the_connection_stays_usable, NULL);
	} else if (adapter_has_iommu()) {
		test_add("an untrusted adapter is refused memory", untrusted, NULL);
	} else {
		test_add("an adapter with addresses of 32 bits is refused higher memory",
			 memory_beyond_the_mask, NULL);
	}
}
