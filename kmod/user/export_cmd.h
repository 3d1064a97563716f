/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_EXPORT_CMD_H
#define KVERBS_EXPORT_CMD_H

struct kverbs_ucmd;

int kverbs_cmd_export(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_EXPORT_CMD_H */
