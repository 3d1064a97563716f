// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A proof depends on each of its inputs, and on nothing else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "peer/auth.h"

static const struct key key = { .users = 1, .len = 16, .bytes = "0123456789abcdef" };
static const struct key other = { .users = 1, .len = 17, .bytes = "0123456789abcdefg" };

static struct auth any_auth(void)
{
	struct auth a;

	memset(a.hello, 1, sizeof(a.hello));
	memset(a.welcome, 2, sizeof(a.welcome));
	memset(a.client, 3, sizeof(a.client));
	memset(a.server, 4, sizeof(a.server));
	return a;
}

static bool same(const uint8_t a[WIRE_PROOF_LEN], const uint8_t b[WIRE_PROOF_LEN])
{
	return !memcmp(a, b, WIRE_PROOF_LEN);
}

/*
 * Computed according to Documentation/reference/protocol.rst with another program:
 *
 *	python3 -c 'import hmac; print(hmac.new(b"0123456789abcdef", b"kverbs client 1\0" +
 *		bytes([1])*24 + bytes([2])*24 + bytes([3])*32 + bytes([4])*32,
 *		"sha256").hexdigest())'
 */
static void a_proof_is_what_the_protocol_says(void **state)
{
	static const uint8_t wanted[WIRE_PROOF_LEN] = {
		0xbd, 0x2b, 0x03, 0x8c, 0x23, 0xab, 0x38, 0xbd, 0xcf, 0xc4, 0xaf, 0x95,
		0xa7, 0xf0, 0x92, 0xda, 0x7e, 0x38, 0x64, 0xdf, 0x50, 0x28, 0x23, 0xfc,
		0xf8, 0x1a, 0x1b, 0x38, 0xcf, 0xca, 0xe9, 0xa5,
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
	assert_int_equal(hello.msg_max, WIRE_HEAD_LEN + WIRE_PROOF_LEN);
	assert_int_equal(wire_hello_check(&hello), 0);
	hello.msg_max--;
	assert_int_equal(wire_hello_check(&hello), WIRE_REFUSED_PARAM);
	hello.msg_max = WIRE_MSG_MAX;
	auth_hello(&hello);
	assert_int_equal(hello.msg_max, WIRE_MSG_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proof_is_what_the_protocol_says),
		cmocka_unit_test(client_and_server_have_different_proofs),
		cmocka_unit_test(another_key_gives_another_proof),
		cmocka_unit_test(every_byte_that_was_said_counts),
		cmocka_unit_test(a_hello_with_a_key_has_room_for_a_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
