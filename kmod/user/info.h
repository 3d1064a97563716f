/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_INFO_H
#define KVERBS_INFO_H

struct kverbs_ucmd;

int kverbs_cmd_info(struct kverbs_ucmd *ucmd);
int kverbs_cmd_device_query(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_INFO_H */
