// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/gid.h"

/* An address that many interfaces have says which it means. */
static void add_scope(const struct kverbs_gid *gid, char addr[GID_ADDR_LEN])
{
	char name[IF_NAMESIZE];
	size_t len = strlen(addr);

	if (if_indextoname(gid->ifindex, name))
		snprintf(addr + len, GID_ADDR_LEN - len, "%%%s", name);
}

/* The connection manager takes RoCE v2 of its own accord, so v1 would be a promise. */
int gid_addr(const struct kverbs_gid *gid, char addr[GID_ADDR_LEN])
{
	const struct in6_addr *in6 = (const void *)gid->gid;

	if (gid->type != KVERBS_GID_ROCE_V2)
		return -EOPNOTSUPP;
	if (IN6_IS_ADDR_V4MAPPED(in6)) {
		inet_ntop(AF_INET, gid->gid + 12, addr, GID_ADDR_LEN);
		return 0;
	}
	inet_ntop(AF_INET6, gid->gid, addr, GID_ADDR_LEN);
	if (IN6_IS_ADDR_LINKLOCAL(in6))
		add_scope(gid, addr);
	return 0;
}

int gid_find(const struct kverbs_device *list, int nr, uint64_t index,
	     char addr[GID_ADDR_LEN])
{
	const struct kverbs_gid *gid, *found = NULL;
	int i;

	for (i = 0; i < nr; i++) {
		if (list[i].attr->out_unusable)
			continue;
		for (gid = list[i].gids; gid < list[i].gids + list[i].nr_gids; gid++) {
			if (gid->index != index)
				continue;
			if (found)
				return -ENOTUNIQ;
			found = gid;
		}
	}
	return found ? gid_addr(found, addr) : -ENOENT;
}
