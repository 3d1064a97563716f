/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Words for the numbers that kverbs dev shows, as other tools have them. */
#ifndef KVERBS_TOOL_DEV_NAMES_H
#define KVERBS_TOOL_DEV_NAMES_H

#include <stddef.h>

#include <kverbs.h>

/* Room for any of them. */
#define DEV_NAME_LEN 64

const char *dev_state(const struct kverbs_port *port);
const char *dev_phys_state(const struct kverbs_port *port);
const char *dev_link_layer(const struct kverbs_port *port);
const char *dev_gid_type(const struct kverbs_gid *gid, const struct kverbs_port *port);
const char *dev_gid(const struct kverbs_gid *gid, char buf[DEV_NAME_LEN]);
const char *dev_guid(const uint8_t guid[8], char buf[DEV_NAME_LEN]);
/* "-" if there is none. */
const char *dev_gid_netdev(const struct kverbs_gid *gid, const struct kverbs_port *port,
			   char buf[DEV_NAME_LEN]);
const char *dev_port_netdev(const struct kverbs_port *port, char buf[DEV_NAME_LEN]);

#endif /* KVERBS_TOOL_DEV_NAMES_H */
