// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Invalid submission entries: one test for each field. */
#include <stdio.h>
#include <string.h>

#include "dev.h"

#define SIZE		8192
/* Placeholders for ids in the table below; the test replaces them. */
#define CLIENT		0xc0000001
#define SERVER		0xc0000002
#define REGION		0xc0000003
#define READ_ONLY	0xc0000004
#define REQUESTED	0xc0000005
#define ELSEWHERE	0xc0000006

static char memory[SIZE] __aligned(4096);

/**
 * struct bad_entry - an entry that must be refused
 * @what: what is wrong with it
 * @err: expected error
 * @sqe: the entry
 */
struct bad_entry {
	const char *what;
	int err;
	struct kverbs_sqe sqe;
};

#define ENTRY(_what, _err, _op, ...) {					\
		.what = _what, .err = _err,				\
		.sqe = { .opcode = KVERBS_OP_##_op, __VA_ARGS__ }	\
	}

#define HERE	.conn_id = SERVER, .region_id = REGION, .length = 64

static const struct bad_entry bad_entries[] = {
	ENTRY("opcode 0 gives EINVAL", EINVAL, SEND, .opcode = 0, HERE),
	ENTRY("opcode 10 gives EINVAL", EINVAL, SEND, .opcode = 10, HERE),
	ENTRY("opcode 255 gives EINVAL", EINVAL, SEND, .opcode = 255, HERE),
	ENTRY("flag 0x10 gives EINVAL", EINVAL, SEND, .flags = 0x10, HERE),
	ENTRY("flag 0x80 gives EINVAL", EINVAL, SEND, .flags = 0x80, HERE),
	ENTRY("RECV with SIGNAL gives EINVAL", EINVAL, RECV, .flags = KVERBS_SQE_SIGNAL, HERE),
	ENTRY("RECV with FENCE gives EINVAL", EINVAL, RECV, .flags = KVERBS_SQE_FENCE, HERE),
	ENTRY("RECV with SOLICITED gives EINVAL", EINVAL, RECV,
	      .flags = KVERBS_SQE_SOLICITED, HERE),
	ENTRY("__reserved gives EINVAL", EINVAL, RECV, .__reserved = 1, HERE),
	ENTRY("piece_stride without a list gives EINVAL", EINVAL, RECV,
	      .piece_stride = sizeof(struct kverbs_piece), HERE),
	ENTRY("RECV with an operand gives EINVAL", EINVAL, RECV, .operand = 1ULL << 63, HERE),
	ENTRY("READ with an operand gives EINVAL", EINVAL, READ, .operand = 1, HERE),
	ENTRY("SEND with remote_addr gives EINVAL", EINVAL, SEND, .remote_addr = 1, HERE),
	ENTRY("SEND with rkey gives EINVAL", EINVAL, SEND, .rkey = 1, HERE),
	ENTRY("SEND with imm gives EINVAL", EINVAL, SEND, .imm = 1, HERE),
	ENTRY("RECV with remote_addr gives EINVAL", EINVAL, RECV, .remote_addr = 1, HERE),
	ENTRY("RECV with rkey gives EINVAL", EINVAL, RECV, .rkey = 1, HERE),
	ENTRY("RECV with imm gives EINVAL", EINVAL, RECV, .imm = 1, HERE),
	ENTRY("WRITE with imm gives EINVAL", EINVAL, WRITE, .imm = 1, HERE),
	ENTRY("READ with imm gives EINVAL", EINVAL, READ, .imm = 1, HERE),
	ENTRY("SEND_IMM with rkey gives EINVAL", EINVAL, SEND_IMM, .rkey = 1, HERE),
	ENTRY("SEND_INV with imm gives EINVAL", EINVAL, SEND_INV, .imm = 1, HERE),
	ENTRY("SEND_INV with remote_addr gives EINVAL", EINVAL, SEND_INV, .remote_addr = 8,
	      HERE),
	ENTRY("CMP_SWAP with imm gives EINVAL", EINVAL, CMP_SWAP, .imm = 1, HERE),
	ENTRY("CMP_SWAP of a list gives EINVAL", EINVAL, CMP_SWAP, .flags = KVERBS_SQE_LIST,
	      HERE),
	ENTRY("CMP_SWAP at an odd remote_addr gives EINVAL", EINVAL, CMP_SWAP,
	      .remote_addr = 0x1004, HERE),
	ENTRY("CMP_SWAP into an odd offset gives EINVAL", EINVAL, CMP_SWAP, HERE,
	      .offset = 4),
	ENTRY("FETCH_ADD of more than 8 bytes gives EINVAL", EINVAL, FETCH_ADD, HERE),
	ENTRY("FETCH_ADD into a READ_ONLY region gives EINVAL", EINVAL, FETCH_ADD, HERE,
	      .length = 8, .region_id = READ_ONLY),

	ENTRY("conn_id 0 gives ENOENT", ENOENT, RECV, HERE, .conn_id = 0),
	ENTRY("unknown conn_id gives ENOENT", ENOENT, RECV, HERE, .conn_id = 0x7ffffff0),
	ENTRY("a region as conn_id gives ENOENT", ENOENT, RECV, HERE, .conn_id = REGION),
	ENTRY("region_id 0 gives ENOENT", ENOENT, RECV, HERE, .region_id = 0),
	ENTRY("unknown region_id gives ENOENT", ENOENT, RECV, HERE, .region_id = 0x7ffffff0),
	ENTRY("a connection as region_id gives ENOENT", ENOENT, RECV, HERE,
	      .region_id = CLIENT),
	ENTRY("a connection of another ring gives EINVAL", EINVAL, RECV, HERE,
	      .conn_id = ELSEWHERE),

	ENTRY("a length beyond the region gives EINVAL", EINVAL, RECV, HERE,
	      .length = SIZE + 1),
	ENTRY("an offset beyond the region gives EINVAL", EINVAL, RECV, HERE, .offset = SIZE),
	ENTRY("an end beyond the region gives EINVAL", EINVAL, SEND, HERE,
	      .offset = SIZE - 63),
	ENTRY("an offset that overflows gives EINVAL", EINVAL, SEND, HERE,
	      .offset = UINT64_MAX - 62),
	ENTRY("a length that overflows gives EINVAL", EINVAL, SEND, HERE,
	      .offset = 64, .length = UINT64_MAX - 62),
	ENTRY("a region without length gives EINVAL", EINVAL, SEND,
	      .conn_id = SERVER, .region_id = REGION),
	ENTRY("an offset without length gives EINVAL", EINVAL, SEND,
	      .conn_id = SERVER, .offset = 1),

	ENTRY("RECV into a READ_ONLY region gives EINVAL", EINVAL, RECV, HERE,
	      .region_id = READ_ONLY),
	ENTRY("READ into a READ_ONLY region gives EINVAL", EINVAL, READ, HERE,
	      .region_id = READ_ONLY),
	ENTRY("SEND before it is established gives ENOTCONN", ENOTCONN, SEND, HERE,
	      .conn_id = REQUESTED),
	ENTRY("WRITE before it is established gives ENOTCONN", ENOTCONN, WRITE, HERE,
	      .conn_id = REQUESTED),
	ENTRY("READ before it is established gives ENOTCONN", ENOTCONN, READ, HERE,
	      .conn_id = REQUESTED),
};

/**
 * struct scene - objects of all types
 * @pair: a connection
 * @other: another ring
 * @region: a region
 * @read_only: a READ_ONLY region
 * @requested: a connection that is not accepted yet
 * @elsewhere: a connection on ring @other
 */
static struct scene {
	struct pair pair;
	struct ring other;
	uint32_t region;
	uint32_t read_only;
	uint32_t requested;
	uint32_t elsewhere;
} scene;

static void set_scene(void)
{
	struct pair *pair = &scene.pair;

	pair_open(pair);
	scene.region = dev_region(pair->fd, memory, SIZE, 0);
	scene.read_only = dev_region(pair->fd, memory, SIZE, KVERBS_REGION_READ_ONLY);
	ring_open(&scene.other, pair->fd, 8, 32);
	scene.elsewhere = dev_connect(&scene.other, &pair->addr);
	scene.requested = ring_event(&pair->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

static uint32_t real_id(uint32_t id)
{
	switch (id) {
	case CLIENT:
		return scene.pair.client;
	case SERVER:
		return scene.pair.server;
	case REGION:
		return scene.region;
	case READ_ONLY:
		return scene.read_only;
	case REQUESTED:
		return scene.requested;
	case ELSEWHERE:
		return scene.elsewhere;
	default:
		return id;
	}
}

static struct kverbs_sqe real_entry(const struct kverbs_sqe *sqe)
{
	struct kverbs_sqe real = *sqe;

	real.conn_id = real_id(sqe->conn_id);
	real.region_id = real_id(sqe->region_id);
	return real;
}

/* The entry is refused, and a valid entry in the same slot is then accepted. */
static void entry_refused(const void *arg)
{
	const struct bad_entry *bad = arg;
	struct ring *ring = &scene.pair.ring;
	struct kverbs_sqe sqe, good;
	uint32_t head;

	set_scene();
	sqe = real_entry(&bad->sqe);
	head = ring->kernel->sq_head;
	CHECK_ERR(ring_put(ring, &sqe), bad->err);
	CHECK_EQ(ring->kernel->sq_head, head);
	good = sqe_recv(scene.pair.server, scene.region, 0, 64);
	CHECK_OK(ring_put(ring, &good));
	CHECK_EQ(ring->kernel->sq_head, head + 1);
	CHECK_EQ(dev_query(ring->fd, scene.pair.server).out_rq_used, 1);
	CHECK_EQ(dev_query(ring->fd, scene.pair.server).out_sq_used, 0);
}

TEST_GROUP(entry_rules)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_entries); i++) {
		snprintf(name, sizeof(name), "entry: %s", bad_entries[i].what);
		test_add(name, entry_refused, &bad_entries[i]);
	}
}

TEST(SUBMIT_says_how_many_it_took_and_what_refused_the_next)
{
	struct ring *ring = &scene.pair.ring;
	struct kverbs_cmd_submit out;
	struct kverbs_sqe sqe;

	set_scene();
	sqe = sqe_recv(scene.pair.server, scene.region, 0, 64);
	ring_push(ring, &sqe);
	ring_push(ring, &sqe);
	sqe.region_id = 0x7ffffff0;
	ring_push(ring, &sqe);
	CHECK_OK(ring_submit(ring, 3, &out));
	CHECK_EQ(out.out_taken, 2);
	CHECK_EQ(out.out_error, -ENOENT);
	CHECK_ERR(ring_submit(ring, 1, &out), ENOENT);
	CHECK_EQ(dev_query(ring->fd, scene.pair.server).out_rq_used, 2);
}

TEST(SUBMIT_takes_no_more_than_asked_and_no_more_than_there_are)
{
	struct ring *ring = &scene.pair.ring;
	struct kverbs_cmd_submit out;
	struct kverbs_sqe sqe;
	int i;

	set_scene();
	sqe = sqe_recv(scene.pair.server, scene.region, 0, 64);
	for (i = 0; i < 5; i++)
		ring_push(ring, &sqe);
	CHECK_OK(ring_submit(ring, 2, &out));
	CHECK_EQ(out.out_taken, 2);
	CHECK_OK(ring_submit(ring, 100, &out));
	CHECK_EQ(out.out_taken, 3);
	CHECK_OK(ring_submit(ring, 100, &out));
	CHECK_EQ(out.out_taken, 0);
}

TEST(receives_beyond_rq_depth_give_EAGAIN)
{
	struct kverbs_conn_param param = { .rq_depth = 4 };
	struct pair *pair = &scene.pair;
	struct kverbs_sqe sqe;
	int i;

	pair_open_with(pair, &param, 64);
	sqe = sqe_recv(pair->server, 0, 0, 0);
	for (i = 0; i < 4; i++)
		CHECK_OK(ring_put(&pair->ring, &sqe));
	CHECK_ERR(ring_put(&pair->ring, &sqe), EAGAIN);
	CHECK_EQ(dev_query(pair->fd, pair->server).out_rq_used, 4);
}

TEST(an_entry_for_a_connection_that_has_ended_gives_ENOTCONN)
{
	struct pair *pair = &scene.pair;
	struct kverbs_sqe recv, send;

	pair_open(pair);
	CHECK_OK(dev_disconnect(pair->fd, pair->client));
	ring_end_of(&pair->ring, pair->client);
	recv = sqe_recv(pair->client, 0, 0, 0);
	send = sqe_send(pair->client, 0, 0, 0);
	CHECK_ERR(ring_put(&pair->ring, &recv), ENOTCONN);
	CHECK_ERR(ring_put(&pair->ring, &send), ENOTCONN);
}
