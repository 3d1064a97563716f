// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A proof depends on each of its inputs, and on nothing else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>

#include "peer/auth.h"

static const struct key key = { .len = 16, .bytes = "0123456789abcdef" };
static const struct key other = { .len = 17, .bytes = "0123456789abcdefg" };

static struct auth any_auth(void)
{
	struct auth a;

	memset(a.hello, 1, sizeof(a.hello));
	memset(a.welcome, 2, sizeof(a.welcome));
	memset(a.client, 3, sizeof(a.client));
	memset(a.server, 4, sizeof(a.server));
	memset(a.address, 5, sizeof(a.address));
	memset(a.port, 6, sizeof(a.port));
	memset(a.zero, 0, sizeof(a.zero));
	memset(a.flags, 7, sizeof(a.flags));
	memset(a.name, 8, sizeof(a.name));
	return a;
}

static bool same(const uint8_t a[WIRE_PROOF_LEN], const uint8_t b[WIRE_PROOF_LEN])
{
	return !memcmp(a, b, WIRE_PROOF_LEN);
}

/*
 * Computed according to Documentation/reference/protocol.rst with another program:
 *
 *	python3 -c 'import hmac; print(hmac.new(b"0123456789abcdef", b"kverbs client 2\0" +
 *		bytes([1])*24 + bytes([2])*24 + bytes([3])*32 + bytes([4])*32 + bytes([5])*16 +
 *		bytes([6])*2 + bytes(2) + bytes([7])*4 + bytes([8])*32, "sha256").hexdigest())'
 */
static void a_proof_is_what_the_protocol_says(void **state)
{
	static const uint8_t wanted[WIRE_PROOF_LEN] = {
		0x72, 0x40, 0x1d, 0xd8, 0x04, 0xe4, 0x88, 0x05, 0x00, 0xbf, 0xa5, 0xba,
		0xac, 0x52, 0x6b, 0x86, 0xa6, 0x51, 0xd9, 0x4e, 0x9f, 0xf2, 0x2f, 0x72,
		0x63, 0x9d, 0x74, 0x25, 0x78, 0xf7, 0xde, 0x95,
	};
	struct auth a = any_auth();
	uint8_t proof[WIRE_PROOF_LEN];

	(void)state;
	assert_int_equal(auth_proof(&a, &key, AUTH_CLIENT, proof), 0);
	assert_memory_equal(proof, wanted, sizeof(wanted));
}

/* Otherwise a side could reflect the other side's proof. */
static void client_and_server_have_different_proofs(void **state)
{
	uint8_t client[WIRE_PROOF_LEN], server[WIRE_PROOF_LEN];
	struct auth a = any_auth();

	(void)state;
	assert_int_equal(auth_proof(&a, &key, AUTH_CLIENT, client), 0);
	assert_int_equal(auth_proof(&a, &key, AUTH_SERVER, server), 0);
	assert_false(same(client, server));
}

static void another_key_gives_another_proof(void **state)
{
	uint8_t proof[WIRE_PROOF_LEN], others[WIRE_PROOF_LEN];
	struct auth a = any_auth();

	(void)state;
	assert_int_equal(auth_proof(&a, &key, AUTH_CLIENT, proof), 0);
	assert_int_equal(auth_proof(&a, &other, AUTH_CLIENT, others), 0);
	assert_false(same(proof, others));
}

static void every_byte_that_was_said_counts(void **state)
{
	uint8_t proof[WIRE_PROOF_LEN], changed[WIRE_PROOF_LEN];
	struct auth a = any_auth();
	size_t i;

	(void)state;
	assert_int_equal(auth_proof(&a, &key, AUTH_SERVER, proof), 0);
	for (i = 0; i < sizeof(a); i++) {
		((uint8_t *)&a)[i] ^= 1;
		assert_int_equal(auth_proof(&a, &key, AUTH_SERVER, changed), 0);
		assert_false(same(proof, changed));
		((uint8_t *)&a)[i] ^= 1;
	}
}

static void a_hello_with_a_key_has_room_for_a_proof(void **state)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO,
		.msg_max = WIRE_HEAD_LEN, .depth = 4,
	};

	(void)state;
	auth_hello(&hello);
	assert_int_equal(hello.flags, WIRE_F_KEY);
	assert_int_equal(hello.msg_max, WIRE_HEAD_LEN + WIRE_PROOF_LEN + WIRE_KEY_NAME_MAX);
	assert_int_equal(wire_hello_check(&hello), 0);
	hello.msg_max--;
	assert_int_equal(wire_hello_check(&hello), WIRE_REFUSED_PARAM);
	hello.msg_max = WIRE_MSG_MAX;
	auth_hello(&hello);
	assert_int_equal(hello.msg_max, WIRE_MSG_MAX);
}

/* As both ends of a connection see it: the CM may map IPv4 to IPv6 at one of them. */
static void the_address_of_a_server_is_the_same_at_both_ends(void **state)
{
	struct kverbs_addr v4 = {
		.family = AF_INET, .port = 0x301d, .addr = { 192, 0, 2, 1 },
	}, mapped = {
		.family = AF_INET6, .port = 0x301d, .scope_id = 3,
		.addr = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	}, link = {
		.family = AF_INET6, .port = 0x301d, .scope_id = 3, .addr = { 0xfe, 0x80, [15] = 1 },
	}, elsewhere = link;
	struct auth a = any_auth(), b = any_auth();

	(void)state;
	auth_address(&a, &v4);
	auth_address(&b, &mapped);
	assert_memory_equal(&a, &b, sizeof(a));
	/* An interface has another number on each host. */
	elsewhere.scope_id = 4;
	auth_address(&a, &link);
	auth_address(&b, &elsewhere);
	assert_memory_equal(&a, &b, sizeof(a));
	elsewhere.port++;
	auth_address(&b, &elsewhere);
	assert_memory_not_equal(&a, &b, sizeof(a));
	elsewhere = link;
	elsewhere.addr[15]++;
	auth_address(&b, &elsewhere);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proof_is_what_the_protocol_says),
		cmocka_unit_test(client_and_server_have_different_proofs),
		cmocka_unit_test(another_key_gives_another_proof),
		cmocka_unit_test(every_byte_that_was_said_counts),
		cmocka_unit_test(a_hello_with_a_key_has_room_for_a_proof),
		cmocka_unit_test(the_address_of_a_server_is_the_same_at_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
