// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Invalid submission entries: one test for each field. */
#include <sched.h>
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
	ENTRY("a length of 4 GiB or more gives EMSGSIZE", EMSGSIZE, SEND, HERE,
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

/* The entry completes with an error at once, and a valid entry behind it is accepted. */
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
	CHECK_EQ(ring->kernel->sq_head, head + 1);
	CHECK_EQ(ring_unread(ring), 0);
	good = sqe_recv(scene.pair.server, scene.region, 0, 64);
	CHECK_OK(ring_put(ring, &good));
	CHECK_EQ(ring->kernel->sq_head, head + 2);
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

TEST(an_invalid_entry_completes_with_its_error_and_delays_none_behind_it)
{
	struct ring *ring = &scene.pair.ring;
	struct kverbs_cmd_submit out;
	struct kverbs_sqe sqe;
	struct kverbs_cqe cqe;

	set_scene();
	sqe = sqe_recv(scene.pair.server, scene.region, 0, 64);
	ring_push(ring, &sqe);
	sqe.region_id = 0x7ffffff0;
	sqe.user_data = 0xbad;
	ring_push(ring, &sqe);
	sqe = sqe_recv(scene.pair.server, scene.region, 0, 64);
	ring_push(ring, &sqe);
	CHECK_OK(ring_submit(ring, 3, &out));
	CHECK_EQ(out.out_taken, 3);
	CHECK_EQ(out.out_error, 0);
	CHECK_EQ(out.out_ready, 1);
	cqe = ring_next(ring);
	CHECK_EQ(cqe.type, KVERBS_CQE_WORK);
	CHECK_EQ(cqe.user_data, 0xbad);
	CHECK_EQ(cqe.id, scene.pair.server);
	CHECK_EQ(cqe.result, -ENOENT);
	CHECK_EQ(cqe.wc_status, 0);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV);
	CHECK_EQ(dev_query(ring->fd, scene.pair.server).out_rq_used, 2);
}

TEST(what_follows_a_refused_operation_in_a_SUBMIT_is_cancelled_but_receives)
{
	struct ring *ring = &scene.pair.ring;
	struct kverbs_cmd_submit out;
	struct kverbs_sqe sqe;

	set_scene();
	sqe = sqe_recv(scene.pair.server, scene.region, 0, 64);
	CHECK_OK(ring_put(ring, &sqe));
	sqe = sqe_send(scene.pair.client, scene.region, SIZE, 1);
	sqe.user_data = 1;
	ring_push(ring, &sqe);
	sqe = sqe_send(scene.pair.client, scene.region, 0, 1);
	sqe.user_data = 2;
	ring_push(ring, &sqe);
	sqe = sqe_recv(scene.pair.client, scene.region, 0, 64);
	sqe.user_data = 3;
	ring_push(ring, &sqe);
	CHECK_OK(ring_submit(ring, 3, &out));
	CHECK_EQ(out.out_taken, 3);
	CHECK_EQ(out.out_ready, 2);
	CHECK_EQ(ring_work(ring, 1).result, -EINVAL);
	CHECK_EQ(ring_work(ring, 2).result, -ECANCELED);
	CHECK_EQ(dev_query(ring->fd, scene.pair.client).out_rq_used, 1);
	/* The next SUBMIT begins anew. */
	CHECK_DONE(ring_do(ring, sqe_send(scene.pair.client, scene.region, 0, 1)));
}

TEST(an_invalid_entry_completes_even_without_SIGNAL)
{
	struct ring *ring = &scene.pair.ring;
	struct kverbs_cmd_submit out;
	struct kverbs_sqe sqe;

	set_scene();
	sqe = sqe_send(scene.pair.client, scene.region, SIZE, 1);
	sqe.flags = 0;
	ring_push(ring, &sqe);
	CHECK_OK(ring_submit(ring, 1, &out));
	CHECK_EQ(out.out_taken, 1);
	CHECK_EQ(ring_next(ring).result, -EINVAL);
}

TEST(the_length_of_an_entry_is_less_than_4_GiB)
{
	struct kverbs_sqe sqe;

	set_scene();
	sqe = sqe_send(scene.pair.client, scene.region, 0, 1ULL << 32);
	CHECK_ERR(ring_put(&scene.pair.ring, &sqe), EMSGSIZE);
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

TEST(receives_beyond_rq_depth_wait_for_those_before_them)
{
	struct kverbs_conn_param param = { .rq_depth = 4 };
	struct pair *pair = &scene.pair;
	struct kverbs_sqe sqe;
	int i;

	pair_open_with(pair, &param, 64);
	sqe = sqe_recv(pair->server, 0, 0, 0);
	for (i = 0; i < 20; i++) {
		sqe.user_data = 100 + i;
		CHECK_OK(ring_put(&pair->ring, &sqe));
	}
	CHECK_EQ(dev_query(pair->fd, pair->server).out_rq_used, 4);
	for (i = 0; i < 20; i++) {
		/* iWARP does not retry a message: without a receive, the connection ends. */
		while (dev_is_iwarp() && !dev_query(pair->fd, pair->server).out_rq_used)
			sched_yield();
		CHECK_DONE(ring_do(&pair->ring, sqe_send(pair->client, 0, 0, 0)));
		CHECK_EQ(ring_event(&pair->ring, KVERBS_CQE_WORK, pair->server).user_data,
			 100 + i);
	}
}

/* iWARP does not retry a message: without a receive, the connection ends. */
static void need_retries(void)
{
	if (dev_is_iwarp())
		test_skip("iWARP ends a connection whose peer has no receive");
}

static void fill_without_a_receive(struct pair *pair, unsigned int nr)
{
	struct kverbs_sqe sqe = sqe_send(pair->client, 0, 0, 0);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		sqe.user_data = 1000 + i;
		CHECK_OK(ring_put(&pair->ring, &sqe));
	}
}

TEST(a_connection_whose_peer_takes_nothing_delays_no_other_of_its_ring)
{
	struct kverbs_conn_param param = {
		.sq_depth = 4, .valid = KVERBS_PARAM_RNR_RETRY, .rnr_retry = 7,
	};
	struct pair *pair = &scene.pair;
	uint32_t client, server;
	struct kverbs_sqe recv;
	int i;

	need_retries();
	pair_open_with(pair, &param, 256);
	pair_join(pair, &client, &server);
	fill_without_a_receive(pair, 50);
	for (i = 0; i < 20; i++) {
		recv = sqe_recv(server, 0, 0, 0);
		recv.user_data = i;
		CHECK_OK(ring_put(&pair->ring, &recv));
		CHECK_DONE(ring_do(&pair->ring, sqe_send(client, 0, 0, 0)));
		CHECK_DONE(ring_work(&pair->ring, i));
	}
	/* And when the peer takes them, they arrive in order. */
	for (i = 0; i < 50; i++) {
		recv = sqe_recv(pair->server, 0, 0, 0);
		recv.user_data = 2000 + i;
		CHECK_OK(ring_put(&pair->ring, &recv));
		CHECK_EQ(ring_event(&pair->ring, KVERBS_CQE_WORK, pair->client).user_data,
			 1000 + i);
	}
}

TEST(what_waits_for_a_slot_completes_flushed_when_the_connection_ends)
{
	struct kverbs_conn_param param = {
		.sq_depth = 4, .rq_depth = 4, .valid = KVERBS_PARAM_RNR_RETRY, .rnr_retry = 7,
	};
	struct pair *pair = &scene.pair;
	struct kverbs_cqe cqe;
	uint32_t region;
	int i;

	need_retries();
	pair_open_with(pair, &param, 256);
	region = dev_region(pair->fd, memory, SIZE, 0);
	for (i = 0; i < 20; i++) {
		struct kverbs_sqe send = sqe_send(pair->client, region, 0, 1);
		struct kverbs_sqe recv = sqe_recv(pair->client, region, 0, 1);

		send.user_data = i;
		recv.user_data = 100 + i;
		CHECK_OK(ring_put(&pair->ring, &send));
		CHECK_OK(ring_put(&pair->ring, &recv));
	}
	CHECK_ERR(dev_destroy(pair->fd, region), EBUSY);
	CHECK_OK(dev_disconnect(pair->fd, pair->client));
	for (i = 0; i < 20; i++) {
		cqe = ring_work(&pair->ring, i);
		CHECK_EQ(cqe.result, -EIO);
		CHECK_EQ(cqe.wc_status, 5);
		CHECK_EQ(ring_work(&pair->ring, 100 + i).result, -EIO);
	}
	CHECK_EQ(ring_end_of(&pair->ring, pair->client).type, KVERBS_CQE_DISCONNECTED);
	CHECK_OK(dev_destroy(pair->fd, region));
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
