// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations on a real device: every opcode, every byte. */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "live.h"

#define POISON	0xee
#define IMM	0x1badcafe
/* Offset of the peer's data in the export, except for atomics */
#define FAR	4099

static const struct part {
	const char *what;
	u64 offset;
	u64 length;
} parts[] = {
	{ "a page", PAGE_SIZE, PAGE_SIZE },
	{ "bytes at odd places", 8191, 1500 },
	{ "nothing", 0, 0 },
	{ "many pages", 12289, 300 * 1024 },
	{ "more than one MR covers", 1, LIVE_MEM - 8192 },
};

KUNIT_ARRAY_PARAM_DESC(parts, parts, what);

/**
 * struct picture - contents of the memory of both ends
 * @live: the ends
 * @source: memory of the end that the data comes from
 * @sink: expected memory of the other end
 * @seen: buffer for the actual memory
 */
struct picture {
	struct live *live;
	u8 *source;
	u8 *sink;
	u8 *seen;
};

static void free_buffer(void *room)
{
	kvfree(room);
}

static u8 *buffer(struct kunit *test)
{
	u8 *room = kvzalloc(LIVE_MEM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, room);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_buffer, room));
	return room;
}

static void paint(struct picture *p, struct live *live, struct live_end *source,
		  struct live_end *sink)
{
	struct kunit *test = live->test;

	*p = (struct picture) { live, buffer(test), buffer(test), buffer(test) };
	get_random_bytes(p->source, LIVE_MEM);
	memset(p->sink, POISON, LIVE_MEM);
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)source->addr, p->source,
					      LIVE_MEM));
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)sink->addr, p->sink,
					      LIVE_MEM));
}

/* @to and @from: offsets of the data in the sink and in the source. */
static void expect(struct picture *p, struct live_end *sink, u64 to, u64 from, u64 length)
{
	struct kunit *test = p->live->test;

	memcpy(p->sink + to, p->source + from, length);
	KUNIT_ASSERT_EQ(test, 0, copy_from_user(p->seen, (void __user *)sink->addr,
						LIVE_MEM));
	KUNIT_EXPECT_EQ(test, 0, memcmp(p->seen, p->sink, LIVE_MEM));
}

static void do_it(struct live *live, struct live_end *end, struct live_req *req)
{
	struct kunit *test = live->test;

	KUNIT_ASSERT_EQ(test, 0, live_post(live, end, req));
	KUNIT_ASSERT_TRUE(test, live_await(&req->done));
	KUNIT_EXPECT_EQ(test, 0, req->req.result);
}

static void await(struct live *live, struct live_req *req)
{
	KUNIT_ASSERT_TRUE(live->test, live_await(&req->done));
	KUNIT_EXPECT_EQ(live->test, 0, req->req.result);
}

static bool is_iwarp(struct live *live)
{
	return live->client.conn->transport == KVERBS_TRANSPORT_IWARP;
}

static void live_send_arrives(struct kunit *test)
{
	const struct part *part = test->param_value;
	struct live *live = live_open(test);
	struct live_req *recv, *send;
	struct picture p;
	int ret;

	paint(&p, live, &live->client, &live->server);
	recv = live_req(live, KVERBS_OP_RECV, &live->server, FAR, part->length);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	send = live_req(live, KVERBS_OP_SEND, &live->client, part->offset, part->length);
	if (is_iwarp(live) && part->length > live->client.conn->queue.max_msg) {
		ret = live_post(live, &live->client, send);
		KUNIT_EXPECT_EQ(test, -EMSGSIZE, ret);
		return;
	}
	do_it(live, &live->client, send);
	await(live, recv);
	KUNIT_EXPECT_EQ(test, part->length, recv->req.byte_len);
	expect(&p, &live->server, FAR, part->offset, part->length);
}

/* @part's length, limited by the end of the export's first segment. */
static u64 fitting(struct live *live, const struct part *part)
{
	return min(part->length, live->export->mrs[0]->ib->length - FAR);
}

/* On iWARP a WRITE completes when it is sent. A later message arrives after its data. */
static void live_write_arrives(struct kunit *test)
{
	const struct part *part = test->param_value;
	struct live *live = live_open(test);
	struct live_req *write, *recv;
	struct picture p;
	u64 length;

	paint(&p, live, &live->client, &live->server);
	recv = live_req(live, KVERBS_OP_RECV, &live->server, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	live_export(live, KVERBS_REMOTE_WRITE);
	length = fitting(live, part);
	write = live_req(live, KVERBS_OP_WRITE, &live->client, part->offset, length);
	write->req.remote_addr += FAR;
	do_it(live, &live->client, write);
	do_it(live, &live->client, live_req(live, KVERBS_OP_SEND, &live->client, 0, 0));
	await(live, recv);
	expect(&p, &live->server, FAR, part->offset, length);
}

static void live_read_fetches(struct kunit *test)
{
	const struct part *part = test->param_value;
	struct live *live = live_open(test);
	struct live_req *read;
	struct picture p;
	u64 length;

	paint(&p, live, &live->server, &live->client);
	live_export(live, KVERBS_REMOTE_READ);
	length = fitting(live, part);
	read = live_req(live, KVERBS_OP_READ, &live->client, part->offset, length);
	read->req.remote_addr += FAR;
	do_it(live, &live->client, read);
	KUNIT_EXPECT_EQ(test, length, read->req.byte_len);
	expect(&p, &live->client, part->offset, FAR, length);
}

/* ---- operations that iWARP lacks ----------------------------------------- */

static void expect_refused(struct live *live, u8 opcode)
{
	struct live_req *req = live_req(live, opcode, &live->client, 0, 8);

	KUNIT_EXPECT_EQ(live->test, -EOPNOTSUPP, live_post(live, &live->client, req));
}

static void live_send_carries_immediate_data(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *recv, *send;

	if (is_iwarp(live)) {
		expect_refused(live, KVERBS_OP_SEND_IMM);
		return;
	}
	recv = live_req(live, KVERBS_OP_RECV, &live->server, 0, 100);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	send = live_req(live, KVERBS_OP_SEND_IMM, &live->client, 0, 100);
	send->req.imm = IMM;
	do_it(live, &live->client, send);
	await(live, recv);
	KUNIT_EXPECT_EQ(test, IMM, recv->req.imm);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_IMM, recv->req.flags);
}

static void live_write_carries_immediate_data(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *recv, *write;
	struct picture p;

	if (is_iwarp(live)) {
		expect_refused(live, KVERBS_OP_WRITE_IMM);
		return;
	}
	paint(&p, live, &live->client, &live->server);
	recv = live_req(live, KVERBS_OP_RECV, &live->server, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	live_export(live, KVERBS_REMOTE_WRITE);
	write = live_req(live, KVERBS_OP_WRITE_IMM, &live->client, 5, 70000);
	write->req.remote_addr += FAR;
	write->req.imm = IMM;
	do_it(live, &live->client, write);
	await(live, recv);
	KUNIT_EXPECT_EQ(test, IMM, recv->req.imm);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE, recv->req.flags);
	expect(&p, &live->server, FAR, 5, 70000);
}

static u64 number_at(struct kunit *test, unsigned long addr)
{
	u64 number;

	KUNIT_ASSERT_EQ(test, 0, copy_from_user(&number, (void __user *)addr,
						sizeof(number)));
	return number;
}

static void live_atomics_change_the_memory_of_the_peer(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *add, *swap;
	u64 seven = 7;

	if (is_iwarp(live)) {
		expect_refused(live, KVERBS_OP_FETCH_ADD);
		expect_refused(live, KVERBS_OP_CMP_SWAP);
		return;
	}
	KUNIT_ASSERT_EQ(test, 0, copy_to_user((void __user *)live->server.addr, &seven,
					      sizeof(seven)));
	live_export(live, KVERBS_REMOTE_ATOMIC);
	add = live_req(live, KVERBS_OP_FETCH_ADD, &live->client, 64, 8);
	add->req.operand = 35;
	do_it(live, &live->client, add);
	KUNIT_EXPECT_EQ(test, 7, number_at(test, live->client.addr + 64));
	KUNIT_EXPECT_EQ(test, 42, number_at(test, live->server.addr));
	swap = live_req(live, KVERBS_OP_CMP_SWAP, &live->client, 128, 8);
	swap->req.operand = 42;
	swap->req.swap = 11;
	do_it(live, &live->client, swap);
	KUNIT_EXPECT_EQ(test, 42, number_at(test, live->client.addr + 128));
	KUNIT_EXPECT_EQ(test, 11, number_at(test, live->server.addr));
}

/* ---- ends --------------------------------------------------------------- */

static void live_peer_invalidates_a_key(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *recv, *send;

	recv = live_req(live, KVERBS_OP_RECV, &live->server, 0, 100);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	live_export(live, KVERBS_REMOTE_READ);
	send = live_req(live, KVERBS_OP_SEND_INV, &live->client, 0, 100);
	do_it(live, &live->client, send);
	await(live, recv);
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_F_INV, recv->req.flags);
	KUNIT_EXPECT_EQ(test, send->req.rkey, recv->req.imm);
	KUNIT_EXPECT_EQ(test, KVERBS_MR_REVOKED, live->export->mrs[0]->state);
}

static void live_unknown_key_ends_the_connection(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *read;

	live_export(live, KVERBS_REMOTE_READ);
	read = live_req(live, KVERBS_OP_READ, &live->client, 0, 4096);
	KUNIT_ASSERT_EQ(test, 0, kverbs_export_destroy(live->export));
	live->export = NULL;
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->client, read));
	KUNIT_ASSERT_TRUE(test, live_await(&read->done));
	KUNIT_EXPECT_NE(test, 0, read->req.result);
	KUNIT_EXPECT_TRUE(test, live_await(&live->client.ended));
}

static void live_end_flushes_outstanding_work(struct kunit *test)
{
	struct live *live = live_open(test);
	struct live_req *recv;

	recv = live_req(live, KVERBS_OP_RECV, &live->server, 0, 4096);
	KUNIT_ASSERT_EQ(test, 0, live_post(live, &live->server, recv));
	KUNIT_EXPECT_TRUE(test, kverbs_conn_end(live->client.conn, KVERBS_CQE_DISCONNECTED,
						0, 0));
	KUNIT_EXPECT_TRUE(test, live_await(&live->client.ended));
	KUNIT_EXPECT_TRUE(test, live_await(&live->server.ended));
	KUNIT_EXPECT_TRUE(test, completion_done(&recv->done));
	KUNIT_EXPECT_NE(test, 0, recv->req.result);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&live->server.region->uses));
}

static void live_connection_ends_once(struct kunit *test)
{
	struct live *live = live_open(test);
	struct kverbs_conn *conn = live->client.conn;

	KUNIT_EXPECT_TRUE(test, kverbs_conn_end(conn, KVERBS_CQE_DEVICE_REMOVED, -ENODEV, 0));
	KUNIT_EXPECT_FALSE(test, kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, 0, 0));
	KUNIT_EXPECT_TRUE(test, live_await(&live->client.ended));
	KUNIT_EXPECT_EQ(test, KVERBS_CQE_DEVICE_REMOVED, conn->end.type);
	KUNIT_EXPECT_EQ(test, -ENODEV, conn->end.error);
}

static struct kunit_case live_cases[] = {
	KUNIT_CASE_PARAM(live_send_arrives, parts_gen_params),
	KUNIT_CASE_PARAM(live_write_arrives, parts_gen_params),
	KUNIT_CASE_PARAM(live_read_fetches, parts_gen_params),
	KUNIT_CASE(live_send_carries_immediate_data),
	KUNIT_CASE(live_write_carries_immediate_data),
	KUNIT_CASE(live_atomics_change_the_memory_of_the_peer),
	KUNIT_CASE(live_peer_invalidates_a_key),
	KUNIT_CASE(live_unknown_key_ends_the_connection),
	KUNIT_CASE(live_end_flushes_outstanding_work),
	KUNIT_CASE(live_connection_ends_once),
	{}
};

static struct kunit_suite live_suite = {
	.name = "kverbs_live",
	.test_cases = live_cases,
};

kunit_test_suite(live_suite);
