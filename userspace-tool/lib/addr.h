/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Addresses: names to numbers, numbers to the kernel's form.
 */
#ifndef KVERBS_ADDR_H
#define KVERBS_ADDR_H

#include <stdbool.h>
#include <sys/socket.h>

#include <linux/kverbs.h>

struct addrinfo;

/* -EAFNOSUPPORT: neither IPv4 nor IPv6. */
int kverbs_addr_from_sockaddr(struct kverbs_addr *addr, const struct sockaddr *sa);
/*
 * Resolve; @flags: AI_PASSIVE: for a local address, where NULL for @host is any. Free
 * with freeaddrinfo(). -ENXIO: there is no such name or service.
 */
int kverbs_addr_resolve(const char *host, const char *port, int family, int flags,
			struct addrinfo **list);

#endif /* KVERBS_ADDR_H */
