/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_DEVICE_QUERY_H
#define KVERBS_DEVICE_QUERY_H

#include <linux/kverbs.h>
#include <linux/types.h>

struct ib_device;

void kverbs_device_query(struct ib_device *ib, enum kverbs_unusable unusable,
			 struct kverbs_cmd_device_query *cmd);
u32 kverbs_device_first_port(const struct ib_device *ib);
u32 kverbs_device_nr_ports(const struct ib_device *ib);
int kverbs_device_query_port(struct ib_device *ib, u32 port, struct kverbs_port *out);
bool kverbs_device_query_gid(struct ib_device *ib, u32 port, u32 index, struct kverbs_gid *out);

#endif /* KVERBS_DEVICE_QUERY_H */
