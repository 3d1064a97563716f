// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Clients that --allow excludes, or that do not prove the key, gain nothing and cost nothing. */
#include <string.h>
#include <sys/random.h>

#include "peer.h"

#define MANY			30
#define REFUSED_BUSY		3
#define REFUSED_ADDRESS		5
#define REFUSED_KEY		6
#define REFUSED_PEER		7
#define REFUSED_RATE		9
#define UNPROVEN_PEER_MAX	16
/* A shell command: the server refuses a client with the key of a file. */
#define REJECTED	"kverbs ping -c 1 -W %d --key %s -p %u a 2>&1 | grep -q EKEYREJECTED"
#define PUT			16
#define GET			17

static void expect_all_well(void)
{
	serve_expect_unharmed();
	serve_stop();
}

/* The client uses IPv4, but the server allows only IPv6. */
TEST(a_peer_outside_of_the_list_is_refused_and_costs_nothing)
{
	static const char *const options[] = { "--allow", "2001:db8::/32", NULL };
	unsigned char hello[HELLO];
	int i;

	peer_set_up("a6", options);
	peer_hello(hello, FILES, 0);
	for (i = 0; i < MANY; i++)
		peer_expect_refused(peer_call(hello), REFUSED_ADDRESS);
	serve_await("refused: this server does not allow this address");
	/* The server does not parse the hello of an excluded client. */
	memset(hello, 0xff, sizeof(hello));
	peer_expect_refused(peer_call(hello), REFUSED_ADDRESS);
	expect_all_well();
}

TEST(a_peer_without_a_key_is_refused_and_costs_nothing)
{
	unsigned char hello[HELLO];
	int i;

	peer_set_up_keyed();
	for (i = 0; i < MANY; i++) {
		peer_hello(hello, 1 + i % 3, 0);
		if (i % 3 == 2)
			peer_put(hello + 12, 4, 4);
		peer_expect_refused(peer_call(hello), REFUSED_KEY);
	}
	serve_await("refused: this server requires a key");
	expect_all_well();
}

/* A message of the protocol that is not encrypted */
static uint32_t write_message(unsigned int slot, unsigned int type, unsigned int tail)
{
	unsigned char *at = peer_memory + slot * SLOT;

	memset(at, 0, HEAD);
	peer_put(at, type, 2);
	peer_put(at + 4, HEAD + tail, 4);
	peer_put(at + 12, ~0U, 4);
	CHECK_EQ(getrandom(at + HEAD, tail, 0), tail);
	return HEAD + tail;
}

/* A record of TLS with random contents, that tells @length of them. */
static uint32_t write_record(unsigned int slot, unsigned int type, unsigned int length,
			     unsigned int there)
{
	unsigned char *at = peer_memory + slot * SLOT;

	at[0] = type;
	peer_put(at + 1, 0x0303, 2);
	peer_put(at + 3, length, 2);
	CHECK_EQ(getrandom(at + 5, there, 0), there);
	return 5 + there;
}

TEST(a_client_with_another_key_or_an_unknown_one_is_refused_and_costs_nothing)
{
	int i;

	peer_set_up_keyed();
	for (i = 0; i < 4; i++) {
		CHECK(!test_shell(REJECTED, test_patience_ms() / 1000,
				  i & 1 ? OTHER_FILE : NAMED_FILE, serve_port()));
		serve_await("has another key");
		serve_await_gone(1);
	}
	expect_all_well();
}

static void expect_ended_by(const unsigned char *hello, uint32_t length)
{
	uint32_t conn = peer_enter(hello);

	peer_say(conn, 2, length);
	peer_expect_thrown_out(conn);
}

/* Requests, noise, truncated records, and more than the server has receives for */
TEST(whatever_is_said_in_place_of_a_handshake_ends_the_connection)
{
	static const unsigned int types[] = { ECHO, BIND, PUT, GET, 999 };
	static const unsigned int records[] = { 0, 20, ALERT, HANDSHAKE, ENCRYPTED, 24, 255 };
	unsigned char hello[HELLO];
	size_t i;

	peer_set_up_keyed();
	peer_hello(hello, FILES, WITH_KEY);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		expect_ended_by(hello, write_message(2, types[i], 32));
	for (i = 0; i < ARRAY_SIZE(records); i++) {
		expect_ended_by(hello, write_record(2, records[i], 200, 200));
		expect_ended_by(hello, write_record(2, records[i], 200, 199));
		expect_ended_by(hello, write_record(2, records[i], 0, 0));
		expect_ended_by(hello, write_record(2, records[i], 0xffff, 200));
	}
	expect_ended_by(hello, write_record(2, HANDSHAKE, FLIGHT - 4, FLIGHT - 4));
	expect_ended_by(hello, write_message(2, PUT, 4096));
	expect_ended_by(hello, 1);
	expect_ended_by(hello, 0);
	CHECK(!test_shell("test -z \"$(ls -A /tmp/served)\""));
	expect_all_well();
}

TEST(a_client_without_a_proof_is_disconnected_in_time)
{
	unsigned char hello[HELLO];
	uint32_t conn;

	peer_set_up_keyed();
	peer_hello(hello, ECHO, WITH_KEY);
	conn = peer_enter(hello);
	serve_await("does not prove that it has the key (ETIMEDOUT)");
	peer_expect_thrown_out(conn);
	expect_all_well();
}

TEST(the_newest_of_too_many_clients_without_a_proof_displaces_the_oldest)
{
	/* No client times out before the last one has connected, on however slow a host. */
	static const char *const options[] = {
		"--key", KEY_FILE, "--auth-timeout", "86400", "--idle-timeout", "86400", NULL,
	};
	uint32_t conns[UNPROVEN_PEER_MAX + 1];
	unsigned char hello[HELLO];
	size_t i;

	setenv("KVERBS_KEY_FILE", KEY_FILE, 1);
	peer_set_up("a", options);
	peer_hello(hello, ECHO, WITH_KEY);
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		conns[i] = peer_enter(hello);
	serve_await("does not prove that it has the key (ECANCELED)");
	peer_expect_thrown_out(conns[0]);
	for (i = 1; i < ARRAY_SIZE(conns); i++)
		peer_leave(conns[i]);
	expect_all_well();
}

TEST(an_address_has_no_more_than_it_may)
{
	static const char *const options[] = { "--peer-clients", "3", NULL };
	unsigned char hello[HELLO];
	uint32_t conns[3];
	size_t i;

	peer_set_up("a6", options);
	peer_hello(hello, ECHO, 0);
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		conns[i] = peer_enter(hello);
	for (i = 0; i < MANY; i++)
		peer_expect_refused(peer_call(hello), REFUSED_PEER);
	CHECK(!serve_ping("a6"));
	serve_await_gone(1);
	for (i = 0; i < ARRAY_SIZE(conns); i++)
		peer_leave(conns[i]);
	expect_all_well();
}

TEST(an_address_comes_no_more_often_than_it_may)
{
	static const char *const options[] = { "--rate", "0.000001", NULL };
	unsigned char hello[HELLO];
	int i;

	peer_set_up("a6", options);
	peer_hello(hello, ECHO, 0);
	peer_leave(peer_enter(hello));
	for (i = 0; i < MANY; i++)
		peer_expect_refused(peer_call(hello), REFUSED_RATE);
	expect_all_well();
}
