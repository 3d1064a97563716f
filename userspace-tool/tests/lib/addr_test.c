// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses: resolving and formatting */
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#include "addr.h"
#include "t.h"

static struct kverbs_addr addr(int family, const char *text, uint16_t port)
{
	struct kverbs_addr a = { .family = (uint16_t)family, .port = htons(port) };

	assert_int_equal(inet_pton(family, text, a.addr), 1);
	return a;
}

static void assert_formats(const struct kverbs_addr *a, const char *want)
{
	char buf[64];

	assert_ptr_equal(kverbs_addr_format(a, buf, sizeof(buf)), buf);
	assert_string_equal(buf, want);
}

static void formats_both_families(void **state)
{
	struct kverbs_addr v4 = addr(AF_INET, "192.0.2.1", 7472);
	struct kverbs_addr v6 = addr(AF_INET6, "2001:db8::1", 7472);

	(void)state;
	assert_formats(&v4, "192.0.2.1:7472");
	assert_formats(&v6, "[2001:db8::1]:7472");
}

static void formats_no_and_unknown_address_as_a_dash(void **state)
{
	struct kverbs_addr none = { 0 }, odd = { .family = AF_UNIX };

	(void)state;
	assert_formats(&none, "-");
	assert_formats(&odd, "-");
}

static void formats_scopes_by_name_or_number(void **state)
{
	struct kverbs_addr a = addr(AF_INET6, "fe80::1", 1);
	char want[64];

	(void)state;
	a.scope_id = if_nametoindex("lo");
	assert_int_not_equal(a.scope_id, 0);
	assert_formats(&a, "[fe80::1%lo]:1");
	a.scope_id = 0x7ffffff0;
	snprintf(want, sizeof(want), "[fe80::1%%%u]:1", a.scope_id);
	assert_formats(&a, want);
}

static void the_longest_address_fits_64_bytes(void **state)
{
	struct kverbs_addr a =
		addr(AF_INET6, "fe80:1111:2222:3333:4444:5555:6666:7777", 65535);

	(void)state;
	a.scope_id = UINT32_MAX;
	assert_formats(&a, "[fe80:1111:2222:3333:4444:5555:6666:7777%4294967295]:65535");
}

static void formatting_stays_within_the_buffer(void **state)
{
	struct kverbs_addr a = addr(AF_INET, "192.0.2.1", 7472);
	char buf[6] = "xxxxx";

	(void)state;
	kverbs_addr_format(&a, buf, 5);
	assert_string_equal(buf, "192.");
	assert_int_equal(buf[5], 0);
}

static void takes_both_families_of_sockaddr(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(5) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_scope_id = 3 };
	const uint8_t zero[12] = { 0 };
	struct kverbs_addr a;

	(void)state;
	in.sin_addr.s_addr = htonl(0xc0000201);
	assert_int_equal(kverbs_addr_from_sockaddr(&a, (void *)&in), 0);
	assert_formats(&a, "192.0.2.1:5");
	/* IPv4 does not use the other twelve bytes, which must be zero. */
	assert_memory_equal(a.addr + 4, zero, sizeof(zero));

	inet_pton(AF_INET6, "fe80::2", &in6.sin6_addr);
	assert_int_equal(kverbs_addr_from_sockaddr(&a, (void *)&in6), 0);
	assert_int_equal(a.scope_id, 3);
	assert_int_equal(a.addr[15], 2);
}

static void refuses_other_families(void **state)
{
	struct sockaddr sa = { .sa_family = AF_UNIX };
	struct kverbs_addr a;

	(void)state;
	assert_int_equal(kverbs_addr_from_sockaddr(&a, &sa), -EAFNOSUPPORT);
}

static void resolves_numbers_and_scopes(void **state)
{
	struct addrinfo *list;
	struct kverbs_addr a;

	(void)state;
	assert_int_equal(kverbs_addr_resolve("fe80::1%lo", "7472", AF_UNSPEC, 0,
					     &list), 0);
	assert_int_equal(kverbs_addr_from_sockaddr(&a, list->ai_addr), 0);
	freeaddrinfo(list);
	assert_formats(&a, "[fe80::1%lo]:7472");
}

static void a_name_that_does_not_resolve_gives_enxio(void **state)
{
	struct addrinfo *list;

	(void)state;
	errno = 4711;
	assert_int_equal(kverbs_addr_resolve("no such host", "1", AF_UNSPEC, 0,
					     &list), -ENXIO);
	assert_int_equal(kverbs_addr_resolve("127.0.0.1", "no such port", AF_UNSPEC,
					     false, &list), -ENXIO);
	assert_int_equal(kverbs_addr_resolve("::1", "1", AF_INET, 0, &list), -ENXIO);
	assert_int_equal(errno, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_both_families),
		cmocka_unit_test(formats_no_and_unknown_address_as_a_dash),
		cmocka_unit_test(formats_scopes_by_name_or_number),
		cmocka_unit_test(the_longest_address_fits_64_bytes),
		cmocka_unit_test(formatting_stays_within_the_buffer),
		cmocka_unit_test(takes_both_families_of_sockaddr),
		cmocka_unit_test(refuses_other_families),
		cmocka_unit_test(resolves_numbers_and_scopes),
		cmocka_unit_test(a_name_that_does_not_resolve_gives_enxio),
	};

	return cmocka_run_group_tests_name("addr", tests, NULL, NULL);
}
