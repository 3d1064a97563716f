// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limits for one address. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "peer/wire.h"
#include "serve/limit.h"

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

	return limit_enter(l, v, &addr, 100, false, now);
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
	assert_int_equal(limit_enter(&l, &v, &addr, 0, false, 0), 0);
	assert_int_equal(limit_enter(&l, &w, &again, 0, false, 0), WIRE_REFUSED_PEER);
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

	return limit_enter(l, v, &addr, 0, true, 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
