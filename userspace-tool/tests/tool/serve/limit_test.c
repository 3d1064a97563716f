// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limits for one address. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "peer/wire.h"
#include "serve/limit.h"

static const struct limit_need none;

static struct kverbs_addr host(unsigned int n)
{
	struct kverbs_addr addr = { .family = AF_INET, .port = n };

	addr.addr[0] = 10;
	addr.addr[2] = n >> 8;
	addr.addr[3] = n;
	return addr;
}

static unsigned int enter(struct limit *l, struct visit *v, unsigned int n, double now)
{
	struct kverbs_addr addr = host(n);

	return limit_enter(l, v, &addr, (struct limit_need){ .bytes = 100 }, false, now);
}

static void an_address_has_so_many_clients(void **state)
{
	struct limit l = { .clients = 2 };
	struct visit v[4];

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &v[0], 1, 0), 0);
	assert_int_equal(enter(&l, &v[1], 1, 0), 0);
	assert_int_equal(enter(&l, &v[2], 1, 0), WIRE_REFUSED_PEER);
	assert_int_equal(enter(&l, &v[3], 2, 0), 0);
	limit_leave(&v[0]);
	assert_int_equal(enter(&l, &v[2], 1, 0), 0);
	limit_leave(&v[1]);
	limit_leave(&v[2]);
	limit_leave(&v[3]);
	limit_free(&l);
}

static void ports_do_not_make_an_address(void **state)
{
	struct kverbs_addr addr = host(1), again = addr;
	struct limit l = { .clients = 1 };
	struct visit v, w;

	(void)state;
	again.port++;
	again.scope_id = 3;
	limit_init(&l);
	assert_int_equal(limit_enter(&l, &v, &addr, none, false, 0), 0);
	assert_int_equal(limit_enter(&l, &w, &again, none, false, 0), WIRE_REFUSED_PEER);
	limit_leave(&v);
	limit_free(&l);
}

static void who_was_refused_has_nothing_to_leave(void **state)
{
	struct limit l = { .clients = 1 };
	struct visit v, w;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &v, 1, 0), 0);
	assert_int_equal(enter(&l, &w, 1, 0), WIRE_REFUSED_PEER);
	limit_leave(&w);
	assert_int_equal(enter(&l, &w, 1, 0), WIRE_REFUSED_PEER);
	limit_leave(&v);
	limit_leave(&v);
	assert_int_equal(enter(&l, &w, 1, 0), 0);
	limit_leave(&w);
	limit_free(&l);
}

static void an_address_has_so_much_memory(void **state)
{
	struct limit l = { .clients = 9, .bytes = 250 };
	struct visit v[3], w;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &v[0], 1, 0), 0);
	assert_int_equal(enter(&l, &v[1], 1, 0), 0);
	assert_int_equal(enter(&l, &v[2], 1, 0), WIRE_REFUSED_MEMORY);
	assert_int_equal(limit_charge(&v[0], 51), -EDQUOT);
	assert_int_equal(limit_charge(&v[0], UINT64_MAX), -EDQUOT);
	assert_int_equal(limit_charge(&v[0], 50), 0);
	assert_int_equal(limit_charge(&v[1], 1), -EDQUOT);
	assert_int_equal(enter(&l, &w, 2, 0), 0);
	limit_uncharge(&v[0], 50);
	assert_int_equal(limit_charge(&v[1], 50), 0);
	limit_leave(&v[1]);
	assert_int_equal(limit_charge(&v[0], 150), 0);
	limit_leave(&v[0]);
	limit_leave(&w);
	limit_free(&l);
}

static void who_is_not_counted_may_have_anything(void **state)
{
	(void)state;
	assert_int_equal(limit_charge(NULL, UINT64_MAX), 0);
	limit_uncharge(NULL, UINT64_MAX);
}

static void an_address_comes_so_often(void **state)
{
	struct limit l = { .clients = 9, .rate = 2 };
	struct visit v;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &v, 1, 100), 0);
	limit_leave(&v);
	assert_int_equal(enter(&l, &v, 1, 100), 0);
	limit_leave(&v);
	assert_int_equal(enter(&l, &v, 1, 100.4), WIRE_REFUSED_RATE);
	assert_int_equal(enter(&l, &v, 2, 100.4), 0);
	limit_leave(&v);
	assert_int_equal(enter(&l, &v, 1, 100.5), 0);
	limit_leave(&v);
	assert_int_equal(enter(&l, &v, 1, 100.5), WIRE_REFUSED_RATE);
	limit_free(&l);
}

static void less_than_one_a_second_is_a_rate_too(void **state)
{
	struct limit l = { .clients = 9, .rate = 0.5 };
	struct visit v;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &v, 1, 100), 0);
	limit_leave(&v);
	assert_int_equal(enter(&l, &v, 1, 101), WIRE_REFUSED_RATE);
	assert_int_equal(enter(&l, &v, 1, 102), 0);
	limit_leave(&v);
	limit_free(&l);
}

/* A hostile network has more addresses than the server has memory for. */
static void addresses_that_have_nothing_are_forgotten(void **state)
{
	struct limit l = { .clients = 1, .rate = 1 };
	struct visit v, stays;
	unsigned int i;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter(&l, &stays, 0, 0), 0);
	for (i = 1; i < 3 * LIMIT_IDLE_MAX; i++) {
		assert_int_equal(enter(&l, &v, i, 0), 0);
		limit_leave(&v);
	}
	assert_int_equal(l.nr_idle, LIMIT_IDLE_MAX);
	/* The last address is remembered, an address with a client is, and the first one is not. */
	assert_int_equal(enter(&l, &v, i - 1, 0), WIRE_REFUSED_RATE);
	assert_int_equal(enter(&l, &v, 0, 0), WIRE_REFUSED_PEER);
	assert_int_equal(enter(&l, &v, 1, 0), 0);
	limit_leave(&v);
	limit_leave(&stays);
	assert_int_equal(l.nr_idle, LIMIT_IDLE_MAX);
	limit_free(&l);
}

static unsigned int enter_unproven(struct limit *l, struct visit *v, unsigned int n)
{
	struct kverbs_addr addr = host(n);

	return limit_enter(l, v, &addr, none, true, 0);
}

static void unproven_clients_are_few(void **state)
{
	struct visit v[LIMIT_UNPROVEN_MAX], w;
	struct limit l = { .clients = 1000 };
	unsigned int i;

	(void)state;
	limit_init(&l);
	for (i = 0; i < LIMIT_UNPROVEN_PEER_MAX; i++)
		assert_int_equal(enter_unproven(&l, &v[i], 1), 0);
	assert_int_equal(enter_unproven(&l, &w, 1), WIRE_REFUSED_BUSY);
	for (; i < LIMIT_UNPROVEN_MAX; i++)
		assert_int_equal(enter_unproven(&l, &v[i], i), 0);
	assert_int_equal(enter_unproven(&l, &w, 2), WIRE_REFUSED_BUSY);
	limit_proven(&v[0]);
	assert_int_equal(enter_unproven(&l, &w, 1), 0);
	limit_leave(&v[1]);
	limit_leave(&w);
	assert_int_equal(enter_unproven(&l, &v[1], 2), 0);
	for (i = 0; i < LIMIT_UNPROVEN_MAX; i++)
		limit_leave(&v[i]);
	assert_int_equal(l.unproven, 0);
	limit_free(&l);
}

static struct visit *evicted;

static void evict(struct visit *v)
{
	evicted = v;
}

/* A host that opens connections and says nothing must not lock out those that have the key. */
static void silent_strangers_make_room(void **state)
{
	struct limit l = { .clients = 1000, .evict = evict };
	struct visit v[LIMIT_UNPROVEN_MAX], w, x;
	unsigned int i;

	(void)state;
	limit_init(&l);
	for (i = 0; i < LIMIT_UNPROVEN_PEER_MAX; i++)
		assert_int_equal(enter_unproven(&l, &v[i], 1), 0);
	for (; i < LIMIT_UNPROVEN_MAX; i++)
		assert_int_equal(enter_unproven(&l, &v[i], 100 + i / 8), 0);
	evicted = NULL;
	assert_int_equal(enter_unproven(&l, &w, 2), 0);
	assert_ptr_equal(evicted, &v[0]);
	assert_int_equal(enter_unproven(&l, &x, 1), 0);
	assert_ptr_equal(evicted, &v[1]);
	assert_int_equal(l.unproven, LIMIT_UNPROVEN_MAX);
	/* A client may prove just when it is evicted. */
	assert_int_equal(limit_proven(&v[0]), WIRE_REFUSED_BUSY);
	assert_int_equal(limit_proven(&w), 0);
	for (i = 0; i < LIMIT_UNPROVEN_MAX; i++)
		limit_leave(&v[i]);
	limit_leave(&w);
	limit_leave(&x);
	assert_int_equal(l.unproven, 0);
	limit_free(&l);
}

static unsigned int enter_with(struct limit *l, struct visit *v, unsigned int n,
			       uint64_t bytes, uint64_t slots, bool unproven)
{
	const struct limit_need need = { .bytes = bytes, .slots = slots };
	struct kverbs_addr addr = host(n);

	return limit_enter(l, v, &addr, need, unproven, 0);
}

static void what_all_have_is_bounded(void **state)
{
	struct limit l = { .clients = 1000, .bytes = 60, .all_bytes = 100, .all_slots = 100 };
	struct visit v[4];

	(void)state;
	limit_init(&l);
	assert_int_equal(enter_with(&l, &v[0], 1, 60, 0, false), 0);
	assert_int_equal(enter_with(&l, &v[1], 2, 41, 0, false), WIRE_REFUSED_BUSY);
	assert_int_equal(enter_with(&l, &v[1], 2, 30, 0, false), 0);
	assert_int_equal(limit_charge(&v[1], 11), -EDQUOT);
	assert_int_equal(limit_charge(&v[1], 10), 0);
	limit_leave(&v[0]);
	limit_leave(&v[1]);
	assert_int_equal(l.used.bytes, 0);

	assert_int_equal(enter_with(&l, &v[0], 1, 0, 50, false), 0);
	assert_int_equal(enter_with(&l, &v[1], 1, 0, 1, false), WIRE_REFUSED_PEER);
	assert_int_equal(enter_with(&l, &v[1], 2, 0, 40, false), 0);
	assert_int_equal(enter_with(&l, &v[2], 3, 0, 11, false), WIRE_REFUSED_BUSY);
	assert_int_equal(enter_with(&l, &v[2], 3, 0, 10, false), 0);
	limit_leave(&v[0]);
	limit_leave(&v[1]);
	limit_leave(&v[2]);
	assert_int_equal(l.used.slots, 0);
	limit_free(&l);
}

static void strangers_are_charged_for_nothing(void **state)
{
	struct limit l = { .clients = 1000, .bytes = 100, .all_slots = 200 };
	struct visit v[3];
	unsigned int i;

	(void)state;
	limit_init(&l);
	for (i = 0; i < 3; i++)
		assert_int_equal(enter_with(&l, &v[i], 1, 50, 50, true), 0);
	assert_int_equal(l.used.slots, 0);
	assert_int_equal(limit_proven(&v[0]), 0);
	assert_int_equal(limit_proven(&v[1]), 0);
	assert_int_equal(limit_proven(&v[2]), WIRE_REFUSED_MEMORY);
	assert_int_equal(l.used.bytes, 100);
	for (i = 0; i < 3; i++)
		limit_leave(&v[i]);
	assert_int_equal(l.used.bytes, 0);
	limit_free(&l);
}

static unsigned int enter6(struct limit *l, struct visit *v, uint32_t scope,
			   const char *text)
{
	struct kverbs_addr addr = { .family = AF_INET6, .scope_id = scope };

	assert_int_equal(inet_pton(AF_INET6, text, addr.addr), 1);
	return limit_enter(l, v, &addr, none, false, 0);
}

/* One host may have any number of addresses in a prefix of 64 bits. */
static void an_ipv6_prefix_is_one_host(void **state)
{
	struct kverbs_addr four = { .family = AF_INET, .addr = { 192, 0, 2, 1 } };
	struct limit l = { .clients = 1 };
	struct visit v[6], w;

	(void)state;
	limit_init(&l);
	assert_int_equal(enter6(&l, &v[0], 0, "2001:db8::1"), 0);
	assert_int_equal(enter6(&l, &w, 0, "2001:db8::ffff:2:3:4"), WIRE_REFUSED_PEER);
	assert_int_equal(enter6(&l, &v[1], 0, "2001:db8:0:1::1"), 0);
	assert_int_equal(enter6(&l, &v[2], 1, "fe80::1"), 0);
	assert_int_equal(enter6(&l, &w, 1, "fe80::2"), WIRE_REFUSED_PEER);
	assert_int_equal(enter6(&l, &v[3], 2, "fe80::1"), 0);
	assert_int_equal(limit_enter(&l, &v[4], &four, none, false, 0), 0);
	assert_int_equal(enter6(&l, &w, 0, "::ffff:192.0.2.1"), WIRE_REFUSED_PEER);
	assert_int_equal(enter6(&l, &v[5], 0, "::ffff:192.0.2.2"), 0);
	limit_leave(&v[0]);
	limit_leave(&v[1]);
	limit_leave(&v[2]);
	limit_leave(&v[3]);
	limit_leave(&v[4]);
	limit_leave(&v[5]);
	limit_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_so_many_clients),
		cmocka_unit_test(ports_do_not_make_an_address),
		cmocka_unit_test(who_was_refused_has_nothing_to_leave),
		cmocka_unit_test(an_address_has_so_much_memory),
		cmocka_unit_test(who_is_not_counted_may_have_anything),
		cmocka_unit_test(an_address_comes_so_often),
		cmocka_unit_test(less_than_one_a_second_is_a_rate_too),
		cmocka_unit_test(addresses_that_have_nothing_are_forgotten),
		cmocka_unit_test(unproven_clients_are_few),
		cmocka_unit_test(silent_strangers_make_room),
		cmocka_unit_test(what_all_have_is_bounded),
		cmocka_unit_test(strangers_are_charged_for_nothing),
		cmocka_unit_test(an_ipv6_prefix_is_one_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
