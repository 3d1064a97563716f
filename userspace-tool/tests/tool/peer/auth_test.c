// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A proof depends on each of its inputs, and on nothing else. */
#define _GNU_SOURCE
#include "tls_pair.h"

#include <sys/socket.h>

#include "peer/auth.h"

static struct key key = { .len = 16, .bytes = "0123456789abcdef" };
static const struct keyring ring = { .users = 1, .nr = 1, .keys = &key, .decoy = &key };

static const struct kverbs_addr v4 = {
	.family = AF_INET, .port = 0x301d, .addr = { 192, 0, 2, 1 },
}, v6 = {
	.family = AF_INET6, .port = 0x401d, .addr = { 0x20, 1, 0xd, 0xb8, [15] = 1 },
};

static struct auth any_auth(void)
{
	struct auth a;

	memset(&a, 5, sizeof(a));
	return a;
}

/* No byte of it is padding: all are compared. */
static void what_both_know_is_84_bytes(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct auth), 84);
	assert_int_equal(offsetof(struct auth, client), 48);
	assert_int_equal(offsetof(struct auth, server), 66);
}

static void both_ends_know_the_same(void **state)
{
	struct session client = { .local = v6, .addr = v4 }, server = { .local = v4, .addr = v6 };
	struct auth a, b;

	(void)state;
	client.hello.what = WIRE_SERVICE_FILES;
	client.welcome.flags = WIRE_F_KEY;
	server.hello = client.hello;
	server.welcome = client.welcome;
	auth_of(&a, &client, false);
	auth_of(&b, &server, true);
	assert_memory_equal(&a, &b, sizeof(a));
	auth_of(&b, &client, true);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

/* Otherwise a side could reflect the other side's proof. */
static void client_and_server_have_different_proofs(void **state)
{
	uint8_t client[WIRE_BIND_LEN], server[WIRE_BIND_LEN], theirs[WIRE_BIND_LEN];
	struct auth a = any_auth();
	struct pair p;

	(void)state;
	pair_open(&p, &key, &ring);
	pair_shake(&p);
	assert_int_equal(auth_proof(p.client, &a, false, client), 0);
	assert_int_equal(auth_proof(p.client, &a, true, server), 0);
	assert_memory_not_equal(client, server, sizeof(client));
	assert_int_equal(auth_proof(p.server, &a, false, theirs), 0);
	assert_memory_equal(client, theirs, sizeof(client));
	pair_close(&p);
}

static void another_session_of_the_key_gives_another_proof(void **state)
{
	uint8_t proof[WIRE_BIND_LEN], others[WIRE_BIND_LEN];
	struct auth a = any_auth();
	struct pair p, q;

	(void)state;
	pair_open(&p, &key, &ring);
	pair_shake(&p);
	pair_open(&q, &key, &ring);
	pair_shake(&q);
	assert_int_equal(auth_proof(p.client, &a, false, proof), 0);
	assert_int_equal(auth_proof(q.client, &a, false, others), 0);
	assert_memory_not_equal(proof, others, sizeof(proof));
	pair_close(&q);
	pair_close(&p);
}

static void every_byte_of_what_both_know_counts(void **state)
{
	uint8_t proof[WIRE_BIND_LEN], changed[WIRE_BIND_LEN];
	struct auth a = any_auth();
	struct pair p;
	size_t i;

	(void)state;
	pair_open(&p, &key, &ring);
	pair_shake(&p);
	assert_int_equal(auth_proof(p.server, &a, true, proof), 0);
	for (i = 0; i < sizeof(a); i++) {
		((uint8_t *)&a)[i] ^= 1;
		assert_int_equal(auth_proof(p.server, &a, true, changed), 0);
		assert_memory_not_equal(proof, changed, sizeof(proof));
		((uint8_t *)&a)[i] ^= 1;
	}
	pair_close(&p);
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
	assert_int_equal(hello.msg_max, WIRE_HEAD_LEN + WIRE_BIND_LEN);
	assert_int_equal(wire_hello_check(&hello), 0);
	hello.msg_max--;
	assert_int_equal(wire_hello_check(&hello), WIRE_REFUSED_PARAM);
	hello.msg_max = WIRE_MSG_MAX;
	auth_hello(&hello);
	assert_int_equal(hello.msg_max, WIRE_MSG_MAX);
}

/* As both ends of a connection see it: the CM may map IPv4 to IPv6 at one of them. */
static void an_address_is_the_same_at_both_ends(void **state)
{
	struct kverbs_addr mapped = {
		.family = AF_INET6, .port = 0x301d, .scope_id = 3,
		.addr = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	}, link = {
		.family = AF_INET6, .port = 0x301d, .scope_id = 3, .addr = { 0xfe, 0x80, [15] = 1 },
	}, elsewhere = link;
	struct auth_end a, b;

	(void)state;
	auth_end(&a, &v4);
	auth_end(&b, &mapped);
	assert_memory_equal(&a, &b, sizeof(a));
	/* An interface has another number on each host. */
	elsewhere.scope_id = 4;
	auth_end(&a, &link);
	auth_end(&b, &elsewhere);
	assert_memory_equal(&a, &b, sizeof(a));
	elsewhere.port++;
	auth_end(&b, &elsewhere);
	assert_memory_not_equal(&a, &b, sizeof(a));
	elsewhere = link;
	elsewhere.addr[15]++;
	auth_end(&b, &elsewhere);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_both_know_is_84_bytes),
		cmocka_unit_test(both_ends_know_the_same),
		cmocka_unit_test(client_and_server_have_different_proofs),
		cmocka_unit_test(another_session_of_the_key_gives_another_proof),
		cmocka_unit_test(every_byte_of_what_both_know_counts),
		cmocka_unit_test(a_hello_with_a_key_has_room_for_a_proof),
		cmocka_unit_test(an_address_is_the_same_at_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
