// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses, between the uAPI's form and the kernel's. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kverbs.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "addr.h"

static int inet_in(const struct kverbs_addr *addr, struct sockaddr_in *sin)
{
	if (addr->scope_id || memchr_inv(addr->addr + 4, 0, sizeof(addr->addr) - 4))
		return -EINVAL;
	sin->sin_family = AF_INET;
	sin->sin_port = (__force __be16)addr->port;
	memcpy(&sin->sin_addr, addr->addr, sizeof(sin->sin_addr));
	return 0;
}

static int inet6_in(const struct kverbs_addr *addr, struct sockaddr_in6 *sin6)
{
	const struct in6_addr *in6 = (const struct in6_addr *)addr->addr;

	/* Which link? rdma_cm would take any on some transports. */
	if (ipv6_addr_type(in6) & IPV6_ADDR_LINKLOCAL && !addr->scope_id)
		return -EINVAL;
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = (__force __be16)addr->port;
	sin6->sin6_scope_id = addr->scope_id;
	memcpy(&sin6->sin6_addr, addr->addr, sizeof(sin6->sin6_addr));
	return 0;
}

/**
 * kverbs_addr_in() - from the uAPI's form
 * @addr: the address
 * @ss: filled in
 *
 * Return: 0, or -EINVAL if it is neither IPv4 nor IPv6, link-local of no link, or has
 * reserved fields that are not zero.
 */
int kverbs_addr_in(const struct kverbs_addr *addr, struct sockaddr_storage *ss)
{
	memset(ss, 0, sizeof(*ss));
	if (memchr_inv(addr->__reserved, 0, sizeof(addr->__reserved)))
		return -EINVAL;
	switch (addr->family) {
	case AF_INET:
		return inet_in(addr, (struct sockaddr_in *)ss);
	case AF_INET6:
		return inet6_in(addr, (struct sockaddr_in6 *)ss);
	default:
		return -EINVAL;
	}
}

/**
 * kverbs_addr_out() - to the uAPI's form
 * @ss: the address, or family 0
 * @addr: filled in
 */
void kverbs_addr_out(const struct sockaddr_storage *ss, struct kverbs_addr *addr)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)ss;

	memset(addr, 0, sizeof(*addr));
	addr->family = ss->ss_family;
	switch (ss->ss_family) {
	case AF_INET:
		addr->port = (__force __u16)sin->sin_port;
		memcpy(addr->addr, &sin->sin_addr, sizeof(sin->sin_addr));
		break;
	case AF_INET6:
		addr->port = (__force __u16)sin6->sin6_port;
		addr->scope_id = sin6->sin6_scope_id;
		memcpy(addr->addr, &sin6->sin6_addr, sizeof(sin6->sin6_addr));
		break;
	default:
		addr->family = 0;
	}
}
