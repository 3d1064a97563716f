// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses, as libfabric and as the kernel has them.
 */
#include <string.h>

#include "fi_kverbs.h"

socklen_t kvf_addr_len(const union kvf_addr *addr)
{
	return addr->sa.sa_family == AF_INET ? sizeof(addr->in) : sizeof(addr->in6);
}

bool kvf_addr_set(union kvf_addr *addr, const void *sa)
{
	sa_family_t family;

	memset(addr, 0, sizeof(*addr));
	memcpy(&family, sa, sizeof(family));
	if (family != AF_INET && family != AF_INET6)
		return false;
	memcpy(addr, sa, family == AF_INET ? sizeof(addr->in) : sizeof(addr->in6));
	return true;
}

void kvf_addr_to_kernel(struct kverbs_addr *to, const union kvf_addr *from)
{
	memset(to, 0, sizeof(*to));
	to->family = from->sa.sa_family;
	if (from->sa.sa_family == AF_INET) {
		to->port = from->in.sin_port;
		memcpy(to->addr, &from->in.sin_addr, sizeof(from->in.sin_addr));
	} else {
		to->port = from->in6.sin6_port;
		to->scope_id = from->in6.sin6_scope_id;
		memcpy(to->addr, &from->in6.sin6_addr, sizeof(from->in6.sin6_addr));
	}
}

void kvf_addr_from_kernel(union kvf_addr *to, const struct kverbs_addr *from)
{
	memset(to, 0, sizeof(*to));
	to->sa.sa_family = from->family;
	if (from->family == AF_INET) {
		to->in.sin_port = from->port;
		memcpy(&to->in.sin_addr, from->addr, sizeof(to->in.sin_addr));
	} else {
		to->in6.sin6_port = from->port;
		to->in6.sin6_scope_id = from->scope_id;
		memcpy(&to->in6.sin6_addr, from->addr, sizeof(to->in6.sin6_addr));
	}
}

bool kvf_addr_same_host(const union kvf_addr *a, const union kvf_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

int kvf_addr_copy(const union kvf_addr *from, void *addr, size_t *addrlen)
{
	size_t room = *addrlen, len = kvf_addr_len(from);

	*addrlen = len;
	if (room)
		memcpy(addr, from, room < len ? room : len);
	return room < len ? -FI_ETOOSMALL : 0;
}
