// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Peers of `kverbs serve` that violate its protocol, see Documentation/reference/protocol.rst. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve.h"
#include "dev.h"

#define MAGIC		0x4b564252
#define WIRE_VERSION	5
#define HELLO		24
#define HEAD		104
#define FILES_MAX	4200
#define LONGEST		65536
#define ECHO		1
#define FILES		2
#define LAST_TYPE	45
#define ENDLESS		7
#define LAZY		8
#define STRIDE		9

/* Messages to send are in the first half, receive buffers in the second. */
static unsigned char memory[2 * LONGEST] __aligned(4096);
static struct ring ring;
static uint32_t region;
static uint64_t random_state;

static uint64_t any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fill(unsigned char *bytes, size_t length)
{
	while (length--)
		*bytes++ = any();
}

static void put(unsigned char *to, uint64_t value, size_t size)
{
	while (size--) {
		to[size] = value;
		value >>= 8;
	}
}

/* TEST_SEED=N repeats the random choices of an earlier run. */
static void set_up(void)
{
	const char *seed = getenv("TEST_SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 20 | 1;
	test_note("seed %llu", (unsigned long long)random_state);
	serve_start();
	ring_open(&ring, dev_open(), 256, 4096);
	region = dev_region(ring.fd, memory, sizeof(memory), 0);
}

/* @length: length of the private data @priv */
static uint32_t call(const void *priv, uint32_t length, uint8_t rnr_retry)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = ring.id,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.dst = addr_of("a", serve_port()),
		CONN_PARAM(.valid = KVERBS_PARAM_RNR_RETRY, .rnr_retry = rnr_retry),
		.priv_uptr = (uintptr_t)priv,
		.priv_len = length,
	};

	CHECK_OK(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

static void expect_refused(uint32_t conn)
{
	struct kverbs_cqe cqe = ring_end_of(&ring, conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_REJECTED);
	CHECK_ERR(cqe.result, ECONNREFUSED);
	CHECK_OK(dev_destroy(ring.fd, conn));
}

/* Connect with a valid hello, then read the server's answer. */
static uint32_t enter(unsigned int service, uint32_t msg_max, uint32_t depth)
{
	unsigned char hello[HELLO] = { 0 };
	uint32_t conn;

	put(hello, MAGIC, 4);
	put(hello + 4, WIRE_VERSION, 2);
	put(hello + 6, service, 2);
	put(hello + 8, msg_max, 4);
	put(hello + 12, depth, 4);
	conn = call(hello, sizeof(hello), ENDLESS);
	CHECK_OK(ring_event(&ring, KVERBS_CQE_ESTABLISHED, conn).result);
	return conn;
}

static uint32_t enter_files(void)
{
	return enter(FILES, FILES_MAX, 64);
}

static void listen_to(uint32_t conn)
{
	struct kverbs_sqe sqe = sqe_recv(conn, region, LONGEST, FILES_MAX);
	int i;

	for (i = 0; i < 64; i++)
		CHECK_OK(ring_put(&ring, &sqe));
}

/* The server may have ended the connection already, so errors are ignored. */
static void say(uint32_t conn, uint32_t length)
{
	struct kverbs_sqe sqe = sqe_send(conn, length ? region : 0, 0, length);
	int ret;

	sqe.flags = 0;
	ret = ring_put(&ring, &sqe);
	if (ret)
		CHECK_ERR(ret, ENOTCONN);
}

static void leave(uint32_t conn)
{
	CHECK_OK(dev_destroy(ring.fd, conn));
	serve_await_gone(1);
	/* Drop the remaining completions of this connection. */
	ring.nr_stash = 0;
}

static void expect_thrown_out(uint32_t conn)
{
	struct kverbs_cqe cqe = ring_end_of(&ring, conn);

	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK(cqe.result);
	leave(conn);
}

static void expect_all_well(void)
{
	serve_expect_unharmed();
	serve_stop();
}

TEST(private_data_of_any_length_that_is_not_a_hello_is_refused)
{
	unsigned char priv[KVERBS_PRIV_CONNECT_MAX];
	uint32_t length;

	set_up();
	for (length = 0; length <= sizeof(priv); length++) {
		fill(priv, sizeof(priv));
		expect_refused(call(priv, length, 0));
	}
	expect_all_well();
}

TEST(a_hello_with_any_wrong_field_is_refused)
{
	static const struct {
		unsigned int at;
		unsigned int size;
		uint64_t value;
	} wrongs[] = {
		{ 0, 4, MAGIC + 1 }, { 4, 2, 0 }, { 4, 2, WIRE_VERSION - 1 },
		{ 4, 2, WIRE_VERSION + 1 }, { 6, 2, 0 }, { 6, 2, 3 },
		{ 8, 4, 0 }, { 8, 4, HEAD - 1 }, { 8, 4, FILES_MAX + 1 }, { 8, 4, ~0U },
		{ 12, 4, 0 }, { 12, 4, 65 }, { 12, 4, ~0U },
	};
	unsigned char hello[HELLO] = { 0 };
	size_t i;

	set_up();
	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		put(hello, MAGIC, 4);
		put(hello + 4, WIRE_VERSION, 2);
		put(hello + 6, FILES, 2);
		put(hello + 8, FILES_MAX, 4);
		put(hello + 12, 64, 4);
		put(hello + wrongs[i].at, wrongs[i].value, wrongs[i].size);
		expect_refused(call(hello, sizeof(hello), 0));
	}
	expect_all_well();
}

static void send_noise(unsigned int service, uint32_t length)
{
	uint32_t conn = enter(service, FILES_MAX, 64);

	if (any() & 1)
		listen_to(conn);
	fill(memory, length);
	say(conn, length);
	expect_thrown_out(conn);
}

/* Step between tested lengths: each round of the test covers other lengths. */
static unsigned int stride(void)
{
	return STRIDE / test_repeats(STRIDE);
}

static unsigned int some(void)
{
	return any() % stride();
}

/* This includes messages longer than the server's receives. */
TEST(noise_of_any_length_ends_only_its_connection)
{
	static const uint32_t lengths[] = {
		73, 127, 128, 129, 1000, 4095, 4096, 4097, FILES_MAX - 1, FILES_MAX,
		FILES_MAX + 1, 8192, LONGEST,
	};
	uint32_t length;
	size_t i;

	set_up();
	for (length = some(); length <= HEAD; length += stride())
		send_noise(length & 1 ? ECHO : FILES, length);
	for (i = some(); i < ARRAY_SIZE(lengths); i += stride()) {
		send_noise(ECHO, lengths[i]);
		send_noise(FILES, lengths[i]);
	}
	expect_all_well();
}

/* Prefer small numbers: they pass more of the server's checks than large ones. */
static uint64_t some_number(void)
{
	return any() >> (any() & 63);
}

/* Write a well-formed header with arbitrary values after it. */
static uint32_t write_message(unsigned int type)
{
	uint32_t tail = any() & 1 ? 0 : 1 + any() % 64;
	unsigned int at;

	put(memory, type, 2);
	put(memory + 2, any() & 1 ? 0 : some_number(), 2);
	put(memory + 4, HEAD + tail, 4);
	put(memory + 8, 1 + some_number(), 4);
	put(memory + 12, any() & 1 ? ~0U : some_number(), 4);
	for (at = 16; at < 64; at += 8)
		put(memory + at, some_number() >> 1, 8);
	put(memory + 64, any() % 1000000000, 4);
	put(memory + 68, any() % 1000000000, 4);
	put(memory + 72, any(), 4);
	put(memory + 76, any(), 4);
	put(memory + 80, any() & 1 ? 0 : any(), 8);
	put(memory + 88, any() & 1 ? 0 : any(), 8);
	put(memory + 96, any() & 1 ? 0 : any() % (tail + 1), 4);
	put(memory + 100, 0, 4);
	for (at = HEAD; at < HEAD + tail; at++)
		memory[at] = 'a' + any() % 26;
	return HEAD + tail;
}

TEST(valid_messages_out_of_sequence_end_only_their_connection)
{
	unsigned int type, i;
	uint32_t conn;

	set_up();
	for (type = 0; type <= LAST_TYPE + 1; type++) {
		conn = enter_files();
		listen_to(conn);
		for (i = 0; i < 8; i++)
			say(conn, write_message(i & 1 ? type : any() % LAST_TYPE + 1));
		leave(conn);
	}
	expect_all_well();
}

TEST(silent_clients_with_the_largest_requests_do_not_block_others)
{
	uint32_t conns[LAZY];
	int i;

	set_up();
	for (i = 0; i < LAZY; i++)
		conns[i] = enter(ECHO, 1 << 20, 16);
	CHECK(!serve_ping("a"));
	serve_await_gone(1);
	for (i = 0; i < LAZY; i++)
		leave(conns[i]);
	expect_all_well();
}

/* The server waits until it may send; otherwise its answer ends the connection. */
TEST(clients_that_read_no_answers_do_not_block_others)
{
	unsigned int i, length;
	uint32_t conns[LAZY];

	set_up();
	for (i = 0; i < LAZY; i++) {
		conns[i] = enter(ECHO, FILES_MAX, 64);
		length = write_message(ECHO);
		/* The server ends the connection for an ECHO that has any extra bytes. */
		put(memory + 96, 0, 4);
		CHECK_DONE(ring_do(&ring, sqe_send(conns[i], region, 0, length)));
	}
	CHECK(!serve_ping("a"));
	for (i = 0; i < LAZY; i++)
		CHECK_OK(dev_destroy(ring.fd, conns[i]));
	serve_await_gone(LAZY + 1);
	expect_all_well();
}
