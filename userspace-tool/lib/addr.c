// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <kverbs.h>

#include "addr.h"

int kverbs_addr_from_sockaddr(struct kverbs_addr *addr, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	memset(addr, 0, sizeof(*addr));
	addr->family = sa->sa_family;
	switch (sa->sa_family) {
	case AF_INET:
		addr->port = in->sin_port;
		memcpy(addr->addr, &in->sin_addr, sizeof(in->sin_addr));
		return 0;
	case AF_INET6:
		addr->port = in6->sin6_port;
		addr->scope_id = in6->sin6_scope_id;
		memcpy(addr->addr, &in6->sin6_addr, sizeof(in6->sin6_addr));
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

static int resolve_error(int eai, int system_errno)
{
	switch (eai) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_SYSTEM:
		return system_errno ? -system_errno : -ENXIO;
	default:
		return -ENXIO;
	}
}

int kverbs_addr_resolve(const char *host, const char *port, int family, int flags,
			struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags,
	};
	int saved = errno, ret;

	errno = 0;
	ret = getaddrinfo(host, port, &hints, list);
	ret = resolve_error(ret, errno);
	errno = saved;
	return ret;
}

static const char *scope_name(uint32_t scope_id, char name[IF_NAMESIZE])
{
	int saved = errno;

	if (!if_indextoname(scope_id, name))
		snprintf(name, IF_NAMESIZE, "%u", scope_id);
	errno = saved;
	return name;
}

static void format_in6(const struct kverbs_addr *addr, char *buf, size_t len)
{
	char text[INET6_ADDRSTRLEN], scope[IF_NAMESIZE];

	inet_ntop(AF_INET6, addr->addr, text, sizeof(text));
	if (addr->scope_id)
		snprintf(buf, len, "[%s%%%s]:%u", text,
			 scope_name(addr->scope_id, scope), ntohs(addr->port));
	else
		snprintf(buf, len, "[%s]:%u", text, ntohs(addr->port));
}

const char *kverbs_addr_format(const struct kverbs_addr *addr, char *buf, size_t len)
{
	char text[INET_ADDRSTRLEN];

	switch (addr->family) {
	case AF_INET:
		inet_ntop(AF_INET, addr->addr, text, sizeof(text));
		snprintf(buf, len, "%s:%u", text, ntohs(addr->port));
		break;
	case AF_INET6:
		format_in6(addr, buf, len);
		break;
	default:
		snprintf(buf, len, "-");
		break;
	}
	return buf;
}
