/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LISTEN_CMD_H
#define KVERBS_LISTEN_CMD_H

struct kverbs_ucmd;

/* Requests that may wait for an answer at one listener. */
#define KVERBS_MAX_BACKLOG	4096

int kverbs_cmd_listen(struct kverbs_ucmd *ucmd);

#endif /* KVERBS_LISTEN_CMD_H */
