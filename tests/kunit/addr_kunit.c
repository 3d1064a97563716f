// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Conversion of addresses in both directions. */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kverbs.h>

#include "addr.h"

static const struct kverbs_addr ipv4 = {
	.family = AF_INET,
	.port = (__force __u16)htons(7471),
	.addr = { 192, 0, 2, 7 },
};

static const struct kverbs_addr ipv6 = {
	.family = AF_INET6,
	.port = (__force __u16)htons(7471),
	.scope_id = 3,
	.addr = { 0xfe, 0x80, [8] = 1, [15] = 2 },
};

static void addr_ipv4_is_converted_from_user_space(struct kunit *test)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

	KUNIT_ASSERT_EQ(test, 0, kverbs_addr_in(&ipv4, &ss));
	KUNIT_EXPECT_EQ(test, AF_INET, sin->sin_family);
	KUNIT_EXPECT_EQ(test, 7471, ntohs(sin->sin_port));
	KUNIT_EXPECT_EQ(test, 0xc0000207, ntohl(sin->sin_addr.s_addr));
}

static void addr_ipv6_keeps_its_scope(struct kunit *test)
{
	struct sockaddr_storage ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;

	KUNIT_ASSERT_EQ(test, 0, kverbs_addr_in(&ipv6, &ss));
	KUNIT_EXPECT_EQ(test, AF_INET6, sin6->sin6_family);
	KUNIT_EXPECT_EQ(test, 7471, ntohs(sin6->sin6_port));
	KUNIT_EXPECT_EQ(test, 3, sin6->sin6_scope_id);
	KUNIT_EXPECT_MEMEQ(test, ipv6.addr, &sin6->sin6_addr, sizeof(ipv6.addr));
}

static void addr_conversion_clears_the_destination(struct kunit *test)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

	memset(&ss, 0xa5, sizeof(ss));
	KUNIT_ASSERT_EQ(test, 0, kverbs_addr_in(&ipv4, &ss));
	KUNIT_EXPECT_NULL(test, memchr_inv(sin + 1, 0, sizeof(ss) - sizeof(*sin)));
	KUNIT_EXPECT_NULL(test, memchr_inv(sin->sin_zero, 0, sizeof(sin->sin_zero)));
}

static void addr_survives_a_round_trip(struct kunit *test)
{
	struct kverbs_addr out;
	struct sockaddr_storage ss;

	KUNIT_ASSERT_EQ(test, 0, kverbs_addr_in(&ipv4, &ss));
	kverbs_addr_out(&ss, &out);
	KUNIT_EXPECT_MEMEQ(test, &ipv4, &out, sizeof(out));
	KUNIT_ASSERT_EQ(test, 0, kverbs_addr_in(&ipv6, &ss));
	kverbs_addr_out(&ss, &out);
	KUNIT_EXPECT_MEMEQ(test, &ipv6, &out, sizeof(out));
}

static void addr_unknown_family_is_reported_as_none(struct kunit *test)
{
	struct sockaddr_storage ss = { .ss_family = AF_UNIX };
	struct kverbs_addr out;

	memset(&ss.__data, 0xa5, sizeof(ss.__data));
	kverbs_addr_out(&ss, &out);
	KUNIT_EXPECT_NULL(test, memchr_inv(&out, 0, sizeof(out)));
}

static void addr_without_family_is_reported_as_none(struct kunit *test)
{
	struct sockaddr_storage ss = {};
	struct kverbs_addr out;

	memset(&out, 0xa5, sizeof(out));
	kverbs_addr_out(&ss, &out);
	KUNIT_EXPECT_NULL(test, memchr_inv(&out, 0, sizeof(out)));
}

static const struct malformed {
	const char *what;
	struct kverbs_addr addr;
} malformed[] = {
	{ "no family", { .family = AF_UNSPEC } },
	{ "a family that is no address's", { .family = AF_UNIX } },
	{ "a family beyond 8 bits", { .family = 256 + AF_INET } },
	{ "a byte right behind IPv4", { .family = AF_INET, .addr = { [4] = 1 } } },
	{ "the last byte behind IPv4", { .family = AF_INET, .addr = { [15] = 1 } } },
	{ "a scope for IPv4", { .family = AF_INET, .scope_id = 1 } },
	{ "a link-local address of no link",
	  { .family = AF_INET6, .addr = { 0xfe, 0x80, [15] = 1 } } },
};

KUNIT_ARRAY_PARAM_DESC(malformed, malformed, what);

static void addr_malformed_is_refused(struct kunit *test)
{
	const struct malformed *bad = test->param_value;
	struct sockaddr_storage ss;

	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_addr_in(&bad->addr, &ss));
}

static struct kunit_case addr_cases[] = {
	KUNIT_CASE(addr_ipv4_is_converted_from_user_space),
	KUNIT_CASE(addr_ipv6_keeps_its_scope),
	KUNIT_CASE(addr_conversion_clears_the_destination),
	KUNIT_CASE(addr_survives_a_round_trip),
	KUNIT_CASE(addr_unknown_family_is_reported_as_none),
	KUNIT_CASE(addr_without_family_is_reported_as_none),
	KUNIT_CASE_PARAM(addr_malformed_is_refused, malformed_gen_params),
	{}
};

static struct kunit_suite addr_suite = {
	.name = "kverbs_addr",
	.test_cases = addr_cases,
};

kunit_test_suite(addr_suite);
