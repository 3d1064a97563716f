/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_ADDR_H
#define KVERBS_ADDR_H

#include <linux/socket.h>

struct kverbs_addr;

int kverbs_addr_in(const struct kverbs_addr *addr, struct sockaddr_storage *ss);
void kverbs_addr_out(const struct sockaddr_storage *ss, struct kverbs_addr *addr);

#endif /* KVERBS_ADDR_H */
