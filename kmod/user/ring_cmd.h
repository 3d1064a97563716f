/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_RING_CMD_H
#define KVERBS_RING_CMD_H

struct kverbs_ucmd;

int kverbs_cmd_ring_create(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_RING_CMD_H */
