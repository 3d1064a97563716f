/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SUBMIT_H
#define KVERBS_SUBMIT_H

struct kverbs_ucmd;

int kverbs_cmd_submit(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_SUBMIT_H */
